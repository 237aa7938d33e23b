"""Experiments 5 and 6, measured: seconds of whole searches, of one model, of LibSVM's folds.

Everything runs in one thread, one after the other.  LibSVM's folds are too slow for whole grids:
they are timed for a regular sample of the candidates, and the mean of the sample stands for that
of the grid.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from .._linalg import one_blas_thread
from ..dual import DualSolution, solve_dual
from ..gram import Gram
from ..search import SpanSearch
from ..span import span_leave_one_out
from ..svc import SpanSVC
from .problems import Candidate, Problem, candidate_name
from .provenance import versions
from .store import Store

__all__ = ["FOLDS_BY_LIBSVM", "OUR_FOLDS", "SEARCH", "SPANS", "TRAINING", "measure"]

#: Names of what is timed; those of LibSVM's folds and of single models go on with a candidate.
SEARCH = "SpanSearch"
OUR_FOLDS = "SpanSearch 5-fold"
TRAINING = "training"
SPANS = "spans"
FOLDS_BY_LIBSVM = "LibSVM 5-fold"

#: Up to this many training rows 16 candidates are sampled, beyond it 4.
_SMALL = 2000


def measure(store: Store, problem: Problem) -> Iterator[str]:
    """Time what the store lacks and put it there; yield the name of each as it begins."""
    works: dict[str, Callable[[], dict[str, Any]]] = {
        SEARCH: partial(_search, problem, "span_rule"),
        OUR_FOLDS: partial(_search, problem, "kfold"),
    }
    for candidate in sample(problem):
        name = candidate_name(candidate)
        works[f"{TRAINING} {name}"] = partial(_training, problem, candidate)
        works[f"{SPANS} {name}"] = partial(_spans, problem, candidate)
        works[f"{FOLDS_BY_LIBSVM} {name}"] = partial(_libsvm_folds, problem, candidate)
    known = {row[0] for row in store.rows("times", ["method"], problem.key)}
    with one_blas_thread:
        if set(works) - known:
            _warm_up(problem)
        for method, work in works.items():
            yield method
            if method not in known:
                empty = {"models": 1, "n_in_bound": None, "n_support": None}
                row = {**empty, **work(), "method": method, "versions": versions()}
                store.add("times", problem.key, row)


def sample(problem: Problem) -> list[Candidate]:
    """Candidates on a coarse regular lattice of the grid."""
    large = problem.data.y_train.size > _SMALL
    sizes = {"positive": 2 if large else 4, "negative": 2 if large else 4}
    sizes |= {"steepness": 2, "midpoint": 2, "ceiling": 4}
    chosen = {}
    for name in problem.candidates[0]:
        values = sorted({candidate[name] for candidate in problem.candidates})
        count = min(sizes[name], len(values))
        middles = (np.arange(count) + 0.5) * len(values) / count
        chosen[name] = {values[int(place)] for place in middles}
    return [
        candidate
        for candidate in problem.candidates
        if all(candidate[name] in values for name, values in chosen.items())
    ]


def _warm_up(problem: Problem) -> None:
    """Have everything compiled that is timed, on a part of the rows."""
    _search(problem, "span_rule", rows=80, candidates=40)
    _search(problem, "kfold", rows=80, candidates=40)


def _search(
    problem: Problem, method: str, rows: int | None = None, candidates: int | None = None
) -> dict[str, Any]:
    data = problem.data
    part = np.arange(data.y_train.size)
    if rows is not None:  # some of each class
        part = np.concatenate([np.flatnonzero(data.y_train == s)[: rows // 2] for s in (-1.0, 1.0)])
    grid = [
        {f"weighting__{name}": value for name, value in candidate.items()}
        for candidate in problem.candidates[:candidates]
    ]
    model = SpanSVC(gamma="auto", weighting=problem.weighting, tol=problem.tol)
    folds = StratifiedKFold(5, shuffle=True, random_state=0) if method == "kfold" else None
    search = SpanSearch(model, grid, method=method, cv=folds, refit=False, n_jobs=1)
    scores = None if data.scores_train is None else data.scores_train[part]
    started = time.perf_counter()
    search.fit(data.X_train[part], data.y_train[part], scores=scores)
    seconds = time.perf_counter() - started
    table = search.cv_results_
    return {
        "seconds": seconds,
        "models": len(grid),
        "n_in_bound": float(np.mean(table["n_in_bound"])),
        "n_support": float(np.mean(table["n_in_bound"] + table["n_bounded"])),
    }


def _training(problem: Problem, candidate: Candidate) -> dict[str, Any]:
    """Seconds of one training from nothing, on a Gram matrix that is there."""
    gram = _gram(problem)
    started = time.perf_counter()
    _solve(problem, candidate, gram)
    return {"seconds": time.perf_counter() - started}


def _spans(problem: Problem, candidate: Candidate) -> dict[str, Any]:
    """Seconds of the spans of a trained model."""
    gram = _gram(problem)
    solution = _solve(problem, candidate, gram)
    started = time.perf_counter()
    span_leave_one_out(gram, solution)
    return {"seconds": time.perf_counter() - started}


def _solve(problem: Problem, candidate: Candidate, gram: Gram) -> DualSolution:
    return solve_dual(gram, problem.data.y_train, problem.weights(candidate), tol=problem.tol)


_latest: list[tuple[Problem, Gram]] = []


def _gram(problem: Problem) -> Gram:
    if not _latest or _latest[0][0] is not problem:
        _latest[:] = [(problem, Gram(problem.kernel(problem.data.X_train)))]
    return _latest[0][1]


def _libsvm_folds(problem: Problem, candidate: Candidate) -> dict[str, Any]:
    data, C = problem.data, problem.weights(candidate)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    seconds = 0.0
    for train, test in folds.split(data.X_train, data.y_train):
        X, y, X_test = data.X_train[train], data.y_train[train], data.X_train[test]
        svc = SVC(gamma=problem.kernel.gamma, tol=problem.tol, cache_size=100)
        started = time.perf_counter()
        svc.fit(X, y, sample_weight=C[train]).predict(X_test)
        seconds += time.perf_counter() - started
    return {"seconds": seconds}
