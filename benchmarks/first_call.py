"""``python -m benchmarks.first_call``: what the first search of a new process costs.

Seconds of fresh processes, as a user waits for them: what importing spansvm adds to importing
scikit-learn, a first search (12 candidates on 569 rows, by accuracy and by roc_auc), the same with
GridSearchCV, and ``spansvm tune`` on a file, to its first line and to its end.  Each is the median
of several rounds in which all take turns; the first round, in which files come from the disk, is
not counted.  Before a search Python's garbage is collected: that of the imports falls due at some
time, 0.07 s, and by chance within either search.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

from .measure import write

_SKLEARN = "import sklearn.svm, sklearn.model_selection, sklearn.datasets, sklearn.pipeline"

#: Where the searches are.
_SEARCHES = {"SpanSearch": "spansvm", "GridSearchCV": "sklearn.model_selection"}

#: Each prints the seconds that it has measured.
_IMPORT = """
import time
begin = time.perf_counter()
{imports}
print(time.perf_counter() - begin)
"""
_FIT = """
import gc, time
import sklearn.datasets, sklearn.model_selection
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from {module} import {name}
X, y = sklearn.datasets.load_breast_cancer(return_X_y=True)
grid = {{"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.001, 0.01, 0.1]}}
search = {name}(make_pipeline(StandardScaler(), SVC()), grid, scoring={scoring!r})
gc.collect()
begin = time.perf_counter()
search.fit(X, y)
print(time.perf_counter() - begin)
"""


def printed(code: str) -> float:
    """What a fresh process prints."""
    command = [sys.executable, "-W", "ignore", "-c", code]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def tuned(folder: Path, *, first_line: bool) -> float:
    """Seconds until ``spansvm tune`` prints its first line, or ends."""
    command = [sys.executable, "-m", "spansvm", "tune", "data.csv", "--force"]
    begin = time.perf_counter()
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        line = time.perf_counter() - begin
        process.stdout.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return line if first_line else time.perf_counter() - begin


def measures(folder: Path) -> dict[str, Callable[[], float]]:
    """What is measured, by name."""
    both = _SKLEARN + "\nimport spansvm; spansvm.SpanSearch, spansvm.SpanSVC"
    found: dict[str, Callable[[], float]] = {
        "import of scikit-learn": lambda: printed(_IMPORT.format(imports=_SKLEARN)),
        "import of both": lambda: printed(_IMPORT.format(imports=both)),
    }
    for scoring in ("accuracy", "roc_auc"):
        for name, module in _SEARCHES.items():
            code = _FIT.format(module=module, name=name, scoring=scoring)
            found[f"first search, {name}, {scoring}"] = partial(printed, code)
    found["spansvm tune, first line"] = lambda: tuned(folder, first_line=True)
    found["spansvm tune, end"] = lambda: tuned(folder, first_line=False)
    return found


def table(spent: dict[str, list[float]]) -> Iterator[dict[str, object]]:
    """One line per measure, and the import of spansvm alone."""
    both, alone = spent["import of both"], spent["import of scikit-learn"]
    own = [a - b for a, b in zip(both, alone, strict=True)]
    for what, seconds in {**spent, "import of spansvm beyond scikit-learn's": own}.items():
        yield {
            "what": what,
            "seconds": round(float(np.median(seconds)), 3),
            "lowest": round(min(seconds), 3),
            "highest": round(max(seconds), 3),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame = load_breast_cancer(as_frame=True).frame
        frame.to_csv(folder / "data.csv", index=False)
        found = measures(folder)
        spent: dict[str, list[float]] = {what: [] for what in found}
        for number in range(options.rounds + 1):
            for what, measure in found.items():
                seconds = measure()
                if number:
                    spent[what].append(seconds)
    lines = list(table(spent))
    for line in lines:
        print(f"{line['what']:44}{line['seconds']:8.3f} s", flush=True)
    write("first_call", lines)


if __name__ == "__main__":
    main()
