"""Other tools, each in its own environment that the benchmark creates.

An adapter is a script that runs there: it reads a problem (``problem.npz``: X, y, gamma, and the
weights of the two classes for some candidates), evaluates each candidate with 5 folds on one
thread, and prints the seconds per candidate as JSON.  That of TorchKM has a job of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

from ..problems import Problem

HERE = Path(__file__).parent
ENVIRONMENTS = Path(".venv-bench")


@dataclass(frozen=True)
class Opponent:
    """A package to measure against.

    Attributes
    ----------
    name : str
        Its name, and that of its adapter.
    packages : tuple of tuple of str
        Arguments of each call of ``pip install``.
    pythons : tuple of str
        Interpreters it works with; the first one found is used.  Empty for the current one.
    """

    name: str
    packages: tuple[tuple[str, ...], ...]
    pythons: tuple[str, ...] = ()

    def python(self) -> Path | None:
        """The interpreter of its environment, created if missing; None if that fails."""
        folder = ENVIRONMENTS / self.name
        python = folder / "bin" / "python"
        if (folder / "ready").exists():
            return python
        base = _find(self.pythons) if self.pythons else sys.executable
        if base is None:
            print(f"{self.name} is left out: none of {', '.join(self.pythons)} is installed")
            return None
        shutil.rmtree(folder, ignore_errors=True)
        commands = [[base, "-m", "venv", str(folder)]]
        commands += [[str(python), "-m", "pip", "install", "-q", *call] for call in self.packages]
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{self.name} is left out: {' '.join(command)} failed\n{done.stderr[-500:]}")
                return None
        (folder / "ready").touch()
        return python

    def seconds(self, problem: Problem, candidates: np.ndarray) -> list[float] | None:
        """Time of 5 folds per candidate (rows: weight of the negative class, of the positive)."""
        return self.run(
            problem.name, X=problem.X, y=problem.y, gamma=problem.gamma, candidates=candidates
        )

    def run(self, name: str, **arrays: npt.ArrayLike) -> Any:
        """What the adapter prints for the problem `name` made of `arrays`; None if that fails."""
        python = self.python()
        if python is None:
            return None
        with TemporaryDirectory() as folder:
            file = Path(folder) / "problem.npz"
            np.savez(file, **arrays)
            done = subprocess.run(
                [str(python), str(HERE / f"{self.name}.py"), str(file)],
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )
        if done.returncode:
            print(f"{self.name} failed on {name}\n{done.stderr[-500:]}")
            return None
        return json.loads(done.stdout.strip().splitlines()[-1])


def _find(names: tuple[str, ...]) -> str | None:
    for name in names:
        installed = Path.home().glob(f".pyenv/versions/{name.removeprefix('python')}*/bin/python")
        for python in [shutil.which(name), *map(str, sorted(installed))]:
            # pyenv puts commands on the path that do not run.
            if python and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0:
                return python
    return None


LIBSVM = Opponent("libsvm", (("scikit-learn",),))
INTELEX = Opponent("intelex", (("scikit-learn", "scikit-learn-intelex"),))
THUNDERSVM = Opponent("thundersvm", (("scikit-learn", "thundersvm-cpu"),))
LIQUIDSVM = Opponent(
    "liquidsvm",
    (("numpy<1.20", "setuptools", "wheel"), ("--no-build-isolation", "liquidSVM")),
    ("python3.8", "python3.7"),
)
# A torch without CUDA is enough, if pip knows of one; that with CUDA takes several gigabytes.
TORCHKM = Opponent("torchkm", (("torch==2.13.*", "torchkm==4.3.2"),))
MAPIE = Opponent("mapie", (("scikit-learn", "mapie==1.*"),))
CLEANLAB = Opponent("cleanlab", (("scikit-learn", "cleanlab==2.9.*"),))
CLEANLEARNING = Opponent("cleanlearning", CLEANLAB.packages)
PYDVL = Opponent("pydvl", (("scikit-learn", "pydvl==0.10.*"),))
