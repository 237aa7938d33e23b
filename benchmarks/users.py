"""``python -m benchmarks.users``: the searches people run, against GridSearchCV.

C and gamma of ``make_pipeline(MinMaxScaler(), SVC())``, two classes and many.  Our search is
complete; of GridSearchCV (5 folds), 16 candidates drawn at random are run and extrapolated.  Both
on one thread, in the same process, in turns; processor time decides, wall time is shown too.  At
the end our search with two threads against one.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from spansvm import SpanSearch

from . import keel
from .measure import geometric_mean, machine, write

Data = tuple[np.ndarray, np.ndarray]

GRID = {"svc__C": 2.0 ** np.arange(-4, 10), "svc__gamma": 2.0 ** np.arange(-8, 3)}
SMALLER = {"svc__C": 2.0 ** np.arange(-4, 12), "svc__gamma": 2.0 ** np.arange(-5, 3)}

#: How many candidates of GridSearchCV are run.
SAMPLED = 16


def _some(name: str, count: int) -> Data:
    X, y = keel.load(name)
    chosen = np.random.default_rng(0).permutation(y.size)[:count]
    return X[chosen], y[chosen]


#: How each set is read, and its grid.
SETS: dict[str, tuple[Callable[[], Data], dict[str, np.ndarray]]] = {
    "heart": (lambda: keel.load("heart"), GRID),
    "ionosphere": (lambda: keel.load("ionosphere"), GRID),
    "german credit": (lambda: keel.load("german"), GRID),
    "spambase (1500)": (lambda: _some("spambase", 1500), GRID),
    "magic (3000)": (lambda: _some("magic", 3000), GRID),
    "glass": (lambda: keel.load("glass"), GRID),
    "segment": (lambda: keel.load("segment"), GRID),
    "digits": (lambda: load_digits(return_X_y=True), GRID),
    "vehicle": (lambda: keel.load("vehicle"), SMALLER),
    "vowel": (lambda: keel.load("vowel"), SMALLER),
    "letter (2500)": (lambda: _some("letter", 2500), SMALLER),
}


def pipeline() -> Pipeline:
    """The model of the searches."""
    return make_pipeline(MinMaxScaler(), SVC())


def spent(work: Callable[[], Any]) -> tuple[float, float]:
    """Processor time and wall time of one call."""
    gc.collect()
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - processor, time.perf_counter() - wall


def compared(name: str, method: str, repeats: int) -> dict[str, object]:
    """One line of the table."""
    read, grid = SETS[name]
    X, y = read()
    candidates = list(ParameterGrid(grid))
    drawn = np.random.default_rng(0).permutation(len(candidates))[:SAMPLED]
    halves = [[{k: [v] for k, v in candidates[i].items()} for i in drawn[h::2]] for h in (0, 1)]

    def theirs(part: list[dict[str, list[float]]]) -> Any:
        return GridSearchCV(pipeline(), part, cv=5, refit=False).fit(X, y)

    def ours() -> Any:
        options = {"cv": 5} if method == "kfold" else {}
        return SpanSearch(pipeline(), grid, method=method, refit=False, **options).fit(X, y)

    own = [spent(ours)]
    other = [spent(lambda part=part: theirs(part)) for part in halves]
    own += [spent(ours) for _ in range(repeats - 1)]
    unit = len(candidates) / (SAMPLED / 2)
    processor, wall = np.median(own, axis=0)
    scaled = unit * np.array(other)
    ratios = scaled[:, 0] / processor
    line = {
        "work": method,
        "problem": name,
        "rows": y.size,
        "features": X.shape[1],
        "classes": np.unique(y).size,
        "candidates": len(candidates),
        "ours_processor": round(float(processor), 3),
        "ours_wall": round(float(wall), 3),
        "gridsearchcv_processor": round(float(scaled[:, 0].mean()), 2),
        "gridsearchcv_wall": round(float(scaled[:, 1].mean()), 2),
        "ratio": round(float(ratios.mean()), 1),
        "ratio_low": round(float(ratios.min()), 1),
        "ratio_high": round(float(ratios.max()), 1),
        "ratio_wall": round(float(scaled[:, 1].mean() / wall), 1),
    }
    print(
        f"{method:10} {name:16} {y.size:5} rows {line['classes']:3} classes  ours "
        f"{line['ours_processor']:8} s  GridSearchCV {line['gridsearchcv_processor']:9} s  "
        f"x{line['ratio']} ({line['ratio_low']} to {line['ratio_high']})",
        flush=True,
    )
    return line


def threaded(name: str, repeats: int) -> dict[str, object]:
    """Two threads against one, both ours, in turns; wall time."""
    read, grid = SETS[name]
    X, y = read()

    def search(n_jobs: int) -> tuple[float, float]:
        return spent(lambda: SpanSearch(pipeline(), grid, n_jobs=n_jobs, refit=False).fit(X, y))

    search(2)
    both = np.array([[search(1), search(2)] for _ in range(repeats)])
    ratios = both[:, 0, 1] / both[:, 1, 1]
    one, two = np.median(both[:, :, 1], axis=0)
    print(f"two threads {name:16} {one:.3f} s to {two:.3f} s  x{np.median(ratios):.2f}", flush=True)
    return {
        "work": "two threads over one",
        "problem": name,
        "rows": y.size,
        "features": X.shape[1],
        "classes": np.unique(y).size,
        "candidates": len(ParameterGrid(grid)),
        "ours_wall": round(float(two), 3),
        "ratio_wall": round(float(np.median(ratios)), 2),
    }


def rows(names: list[str], methods: list[str], repeats: int) -> Iterator[dict[str, object]]:
    for method in methods:
        for name in names:
            yield (
                threaded(name, repeats) if method == "threads" else compared(name, method, repeats)
            )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.users", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(SETS)}; by default all")
    parser.add_argument("--methods", nargs="+", default=["verified", "kfold", "threads"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--dry", action="store_true", help="do not write the table")
    options = parser.parse_args()
    with threadpool_limits(1):
        SpanSearch(SVC(), {"C": [1.0, 2.0]}).fit(*load_digits(n_class=3, return_X_y=True))
        table = list(rows(options.names or list(SETS), options.methods, options.repeats))
    print(f"\n{machine()}")
    for method in dict.fromkeys(str(line["work"]) for line in table):
        own = [line for line in table if line["work"] == method]
        ratios = [float(line.get("ratio", line["ratio_wall"])) for line in own]  # type: ignore[arg-type]
        print(f"{method}: geometric mean x{geometric_mean(ratios):.2f}")
    if not options.dry:
        print(f"written to {write('users', table)}")


if __name__ == "__main__":
    main()
