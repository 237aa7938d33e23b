"""The measurements of Experiments 5 and 6: times of whole searches, one model, LibSVM's folds.

Everything runs sequentially in one thread.  LibSVM's folds are too slow for whole grids: they are
timed for a regular sample of the candidates, whose mean is used for the grid.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from spansvm.algebra.blas import one_blas_thread
from spansvm.estimators.svc import SpanSVC
from spansvm.kernels.gram import Gram, HeldGram
from spansvm.machine.dual import solve_dual
from spansvm.machine.span import find_spans
from spansvm.search import SpanSearch

from .problems import Candidate, Problem, candidate_name
from .provenance import versions
from .store import Store

__all__ = ["FOLDS_BY_LIBSVM", "OUR_FOLDS", "SEARCH", "SPANS", "TRAINING", "measure", "works"]

#: Names of what is timed; for LibSVM's folds and single models, a candidate follows the name.
SEARCH = "SpanSearch"
OUR_FOLDS = "SpanSearch 5-fold"
TRAINING = "training"
SPANS = "spans"
FOLDS_BY_LIBSVM = "LibSVM 5-fold"

#: 16 candidates are sampled up to the first number of training rows, 4 up to the second, and 2
#: beyond that; our own folds are timed up to the second.
_SMALL, _MEDIUM = 2000, 5000


def works(candidates: Sequence[Candidate], n_rows: int) -> dict[str, tuple[str, Candidate]]:
    """What is timed for a problem: the kind and the candidate of each, by name."""
    result: dict[str, tuple[str, Candidate]] = {SEARCH: (SEARCH, {})}
    if n_rows <= _MEDIUM:
        result[OUR_FOLDS] = (OUR_FOLDS, {})
    for kind in (TRAINING, SPANS, FOLDS_BY_LIBSVM):
        for candidate in sample(candidates, n_rows):
            result[f"{kind} {candidate_name(candidate)}"] = (kind, candidate)
    return result


def sample(candidates: Sequence[Candidate], n_rows: int) -> list[Candidate]:
    """Candidates on a coarse regular lattice of the grid."""
    count = 4 if n_rows <= _SMALL else 2
    sizes = {"positive": count, "negative": count if n_rows <= _MEDIUM else 1}
    sizes |= {"steepness": 2, "midpoint": 2, "ceiling": 4}
    chosen = {}
    for name in candidates[0]:
        values = sorted({candidate[name] for candidate in candidates})
        count = min(sizes[name], len(values))
        middles = (np.arange(count) + 0.5) * len(values) / count
        chosen[name] = {values[int(place)] for place in middles}
    return [
        candidate
        for candidate in candidates
        if all(candidate[name] in values for name, values in chosen.items())
    ]


def measure(store: Store, problem: Problem) -> Iterator[str]:
    """Time what the store lacks and store it; yield the kind of each as it begins."""
    known = {row[0] for row in store.rows("times", ["method"], problem.key)}
    todo = works(problem.candidates, problem.data.y_train.size)
    todo = {name: work for name, work in todo.items() if name not in known}
    gram: Gram | None = None
    with one_blas_thread:
        if todo:
            _warm_up(problem)
        for name, (kind, candidate) in todo.items():
            yield kind
            if kind in (TRAINING, SPANS) and gram is None:
                gram = HeldGram(problem.kernel(problem.data.X_train))
            if kind == SEARCH:
                row = _search(problem, "span_rule")
            elif kind == OUR_FOLDS:
                row = _search(problem, "kfold")
            elif gram is not None and kind in (TRAINING, SPANS):
                row = _model(problem, candidate, gram, kind)
            else:
                gram = None  # frees the memory for LibSVM
                row = _libsvm_folds(problem, candidate)
            empty = {"models": 1, "n_in_bound": None, "n_support": None}
            store.add("times", problem.key, {**empty, **row, "method": name,
                                             "versions": versions()})  # fmt: skip


def _warm_up(problem: Problem) -> None:
    """Compile everything that is timed, by running it on some of the rows."""
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


def _model(problem: Problem, candidate: Candidate, gram: Gram, kind: str) -> dict[str, Any]:
    """Seconds of one training from scratch on a Gram matrix, or of the spans of the model."""
    C = problem.weights(candidate)
    started = time.perf_counter()
    solution = solve_dual(gram, problem.data.y_train, C, tol=problem.tol)
    trained = time.perf_counter()
    if kind == TRAINING:
        return {"seconds": trained - started}
    find_spans(gram, solution)
    return {"seconds": time.perf_counter() - trained}


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
