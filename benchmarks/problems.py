"""The training sets that are measured on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import minmax_scale


@dataclass(frozen=True)
class Problem:
    """A training set as in the paper: features in [0, 1], RBF kernel with gamma = 1 / d."""

    name: str
    X: np.ndarray
    y: np.ndarray

    @property
    def gamma(self) -> float:
        """The heuristic of the paper."""
        return 1.0 / self.X.shape[1]


def ringnorm(n: int, d: int, seed: int = 0, *, named: bool = False) -> Problem:
    """The synthetic set of Experiment 6: N(1, I) with probability 0.3, else N(0, 4 I)."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    noise = rng.standard_normal((n, d))
    X = np.where(y[:, None] > 0, 1.0 + noise, 2.0 * noise)
    name = f"ringnorm {n} x {d}" if named else f"ringnorm {n}"
    return Problem(name, minmax_scale(X), y)


def core_problems() -> Iterator[Problem]:
    """Ringnorm of two sizes, and splice and adult where the data folder is known."""
    yield ringnorm(1024, 20)
    yield ringnorm(4096, 20)
    folder = os.environ.get("SPANSVM_DATA")
    if not folder:
        print("SPANSVM_DATA is not set: splice and adult are left out")
        return
    for name, file in (("splice", "splice/splice.gz"), ("adult", "adult_a1a/a1a")):
        X, y = load_svmlight_file(str(Path(folder) / file))
        yield Problem(name, minmax_scale(X.toarray()), y)
