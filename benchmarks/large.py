"""``python -m benchmarks.large``: an RBF kernel on many rows, exact and through landmarks.

Whole searches over gamma and C: the exact kernel, landmark features (scikit-learn's Nystroem) with
our linear machine and its predicted leave-one-out error, and the same features with LinearSVC under
GridSearchCV with 5 folds.  Our search is complete.  Of the opponent, some candidates of the same
grid are evaluated, and their mean time is extrapolated to all; its errors are those of the best.
Every search runs in a process of its own, on one thread.  What is in the file of results is not
measured again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row, read_rows, to_csv, write_text
from reproduction.datasets.loading import all_rows
from spansvm import SpanSearch, SpanSVC

from .datasets import Pool, Split
from .measure import RESULTS, machine

FILE = RESULTS / "large.csv"

#: Values of C; the opponent's squared hinge loss is on a similar scale.
WEIGHTS = 2.0 ** np.arange(-4, 9, 2)

#: Candidates of the opponent that are evaluated.
SAMPLED = 3

#: Clusters of each class, and columns.
CLUSTERS, COLUMNS = 12, 20


def adult(train: int) -> Split:
    """`train` rows of the 32,561 of adult; the others are for testing."""
    every = all_rows("adult")
    X, y = every.X, np.where(every.y > 0, 1, -1)
    order = np.random.default_rng(0).permutation(y.size)
    rows, test = order[:train], order[train:]
    return X[rows], y[rows], X[test], y[test]


def clusters(train: int, test: int = 20_000) -> Split:
    """Several normal clusters of each class, overlapping, like the cover types of a forest."""
    X, y = _clusters(train + test)
    return X[:train], y[:train], X[train:], y[train:]


def _clusters(n: int) -> Pool:
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((2 * CLUSTERS, COLUMNS))
    own = rng.integers(2 * CLUSTERS, size=n)
    return centres[own] + rng.standard_normal((n, COLUMNS)), np.where(own % 2, 1, -1)


@dataclass(frozen=True)
class Problem:
    """Rows to train and to test on, and the values of gamma to search."""

    name: str
    make: Callable[[], Split]
    gammas: tuple[float, ...]


ADULT_GAMMAS, CLUSTER_GAMMAS = (2.0**-7, 2.0**-5, 2.0**-3), (0.5, 2.0, 8.0)

PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem("adult 8000", partial(adult, 8000), ADULT_GAMMAS),
        Problem("adult 24000", partial(adult, 24_000), ADULT_GAMMAS),
        Problem("clusters 100000", partial(clusters, 100_000), CLUSTER_GAMMAS),
        Problem("clusters 1000000", partial(clusters, 1_000_000), CLUSTER_GAMMAS[1:2]),
    )
}


@dataclass(frozen=True)
class Result:
    """What a search took and found; seconds are of the whole grid."""

    candidates: int
    evaluated: int
    wall_seconds: float
    process_seconds: float
    gamma: float
    C: float
    predicted_error: float
    test_error: float
    peak_gib: float = 0.0


def _timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    wall, process = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - process


def exact(problem: Problem) -> Result:
    """The exact kernel."""
    X, y, X_test, y_test = problem.make()
    model = make_pipeline(MinMaxScaler(), SpanSVC())
    grid = {"spansvc__gamma": problem.gammas, "spansvc__C": WEIGHTS}
    search, *times = _timed(lambda: SpanSearch(model, grid).fit(X, y))
    wrong = float((search.predict(X_test) != y_test).mean())
    count, best = len(search.cv_results_["params"]), search.best_params_
    return Result(
        count, count, *times, best["spansvc__gamma"], best["spansvc__C"],
        1.0 - search.best_score_, wrong,
    )  # fmt: skip


def landmarks(problem: Problem, components: int) -> Result:
    """Landmark features, and our linear machine."""
    X, y, X_test, y_test = problem.make()
    model = make_pipeline(MinMaxScaler(), _features(components), SpanSVC(kernel="linear"))
    grid = {"nystroem__gamma": problem.gammas, "spansvc__C": WEIGHTS}
    search, *times = _timed(lambda: SpanSearch(model, grid).fit(X, y))
    count, best = len(search.cv_results_["params"]), search.best_params_
    return Result(
        count, count, *times, best["nystroem__gamma"], best["spansvc__C"],
        1.0 - search.best_score_, _error(search.best_estimator_, X_test, y_test),
    )  # fmt: skip


def folds(problem: Problem, components: int) -> Result:
    """The same features, LinearSVC, and 5 folds."""
    X, y, X_test, y_test = problem.make()
    model = make_pipeline(MinMaxScaler(), _features(components), LinearSVC())
    grid = {"nystroem__gamma": problem.gammas, "linearsvc__C": WEIGHTS}
    every = list(ParameterGrid(grid))
    chosen = np.random.default_rng(1).permutation(len(every))[:SAMPLED]
    listed = [{name: [value] for name, value in every[index].items()} for index in chosen]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search = GridSearchCV(model, listed, cv=5, refit=False)
        search, *times = _timed(lambda: search.fit(X, y))
        best = search.best_params_
        model.set_params(**best).fit(X, y)
    whole = len(every) / len(listed)
    return Result(
        len(every), len(listed), *(whole * seconds for seconds in times),
        best["nystroem__gamma"], best["linearsvc__C"],
        1.0 - search.best_score_, _error(model, X_test, y_test),
    )  # fmt: skip


def _features(components: int) -> Nystroem:
    return Nystroem(n_components=components, random_state=0)


def _error(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Test error of a pipeline that ends in a linear machine."""
    values = model[:-1].transform(X) @ model[-1].coef_.ravel() + model[-1].intercept_
    return float((np.where(values > 0, 1, -1) != y).mean())


METHODS: dict[str, Callable[[Problem], Result]] = {
    "exact": exact,
    "landmarks 300": partial(landmarks, components=300),
    "landmarks 500": partial(landmarks, components=500),
    "folds 300": partial(folds, components=300),
}


def _alone(problem: str, method: str) -> Result:
    """Measure in this process; the first search only compiles."""
    with threadpool_limits(1):
        X, y = _clusters(100)
        SpanSearch(SpanSVC(), {"C": [1.0, 2.0]}).fit(X, y)
        result = METHODS[method](PROBLEMS[problem])
    kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return replace(result, peak_gib=kib / 2**20)


def measure(problem: str, method: str) -> Row:
    """A row of the table, from a process of its own."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as alone:
        found = alone.submit(_alone, problem, method).result()
    numbers = {name: float(f"{value:.4g}") for name, value in vars(found).items()}
    return {"problem": problem, "method": method, **numbers}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large", description=__doc__)
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    options = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    rows, notes = read_rows(FILE) if FILE.exists() else ([], [parser.prog, machine()])
    for problem in options.problems:
        for method in options.methods:
            exact_too = problem.startswith("adult") or method != "exact"
            known = any((row["problem"], row["method"]) == (problem, method) for row in rows)
            if known or not exact_too:
                continue
            rows.append(measure(problem, method))
            print(*(f"{name} {value}" for name, value in rows[-1].items()), sep=", ", flush=True)
            write_text(FILE, to_csv(rows, notes))


if __name__ == "__main__":
    main()
