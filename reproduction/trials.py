"""Training and evaluation of candidates, on all training rows of a problem or on those of a fold.

The candidates of a chain start from their neighbours.  A chain begun in an earlier run is trained
again from its first candidate, so that every result is the same as without the interruption;
known candidates are not evaluated again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event
from typing import Any

import numpy as np
from sklearn.model_selection import LeaveOneGroupOut, StratifiedKFold

from spansvm.algebra.blas import one_blas_thread
from spansvm.common.types import Array
from spansvm.core.solver import add_rows
from spansvm.kernels.gram import Gram, HeldGram
from spansvm.machine.criteria import CRITERIA, SolvedModel, span_bound
from spansvm.machine.dual import DualSolution
from spansvm.multiclass.path import Path
from spansvm.search.candidates.grid import chains

from .problems import Key, Problem, candidate_name
from .store import Store

__all__ = ["SUBJECTS", "Trial", "estimates_of", "five_fold", "n_folds", "run_trial"]

#: The scheme that leaves out one subject at a time.
SUBJECTS = "subjects"


@dataclass(frozen=True)
class Trial:
    """All candidates of a problem, on all its training rows or on those of a fold.

    Attributes
    ----------
    key : Key
    scheme : str
        How rows are left out: :func:`five_fold` or :data:`SUBJECTS`; empty if none are.
    fold : int
    """

    key: Key
    scheme: str = ""
    fold: int = 0

    @property
    def table(self) -> str:
        """The store's table that its rows belong to."""
        return "folds" if self.scheme else "models"

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of that table that are equal in all its rows."""
        return {"scheme": self.scheme, "fold": self.fold} if self.scheme else {}


def five_fold(partition: int) -> str:
    """The scheme of 5-fold cross-validation with one random partition."""
    return f"5-fold {partition}"


def n_folds(scheme: str) -> int:
    """Number of folds of a scheme; the subjects are those of Parkinson's speech."""
    return 20 if scheme == SUBJECTS else 5


def _fold_rows(problem: Problem, scheme: str, fold: int) -> tuple[np.ndarray, np.ndarray]:
    data = problem.data
    if scheme == SUBJECTS:
        cut = LeaveOneGroupOut().split(data.X_train, data.y_train, data.groups_train)
    else:
        folds = StratifiedKFold(5, shuffle=True, random_state=int(scheme.split()[1]))
        cut = folds.split(data.X_train, data.y_train)
    train, test = list(cut)[fold]
    return train, test


class _Rows:
    """Training rows and test rows, and the results of a solution on them."""

    def __init__(self, problem: Problem, trial: Trial) -> None:
        data = problem.data
        self.problem, self.trial = problem, trial
        if trial.scheme:
            self.train, test = _fold_rows(problem, trial.scheme, trial.fold)
            X, self.y = data.X_train[self.train], data.y_train[self.train]
            X_test, self.y_test = data.X_train[test], data.y_train[test]
        else:
            self.train = np.arange(data.y_train.size)
            X, self.y, X_test, self.y_test = data.X_train, data.y_train, data.X_test, data.y_test
        self.gram = HeldGram(problem.kernel(X), kernel_range=problem.kernel.range)
        self.to_test = np.ascontiguousarray(problem.kernel(X, X_test))

    def test_decision(self, solution: DualSolution) -> Array:
        support = np.flatnonzero(solution.support)
        values = np.full(self.y_test.size, solution.intercept)
        add_rows(values, self.to_test, support, solution.beta[support])
        return values

    def row_of(self, solution: DualSolution, seconds: float) -> dict[str, Any]:
        """A row of the store."""
        margin = self.y_test * self.test_decision(solution)
        # A decision value of 0 predicts the class -1.
        wrong = int(np.where(self.y_test > 0, margin <= 0, margin < 0).sum())
        if self.trial.scheme:
            hinge = float(np.maximum(0.0, 1.0 - margin).sum())
            return {"wrong": wrong, "tested": self.y_test.size, "hinge": hinge}
        row = estimates_of(self.gram, solution)
        return {**row, "test_error": wrong / self.y_test.size, "train_seconds": seconds}


def estimates_of(gram: Gram, solution: DualSolution) -> dict[str, Any]:
    """All estimates for a model, and its numbers of support vectors."""
    model = SolvedModel(gram, solution)
    started = time.perf_counter()
    left_out = model.spans
    seconds = time.perf_counter() - started
    own = {name: criterion(model) for name, criterion in CRITERIA.items()}
    return {
        **own,
        "span_bound_radius": span_bound(model, ball="radius"),
        "hinge": float(np.maximum(0.0, 1.0 - solution.y * left_out.decision).mean()),
        "n_in_bound": int(solution.in_bound.sum()),
        "n_support": int(solution.support.sum()),
        "n_empty": model.n_empty,
        "n_empty_bounded": int((solution.bounded & ~model.span_exists).sum()),
        "span_seconds": seconds,
    }


def run_trial(store: Store, trial: Trial, problem: Problem, jobs: int) -> Iterator[int]:
    """Compute what the store lacks and store it; yield how many candidates are done.

    Chains run in `jobs` threads; every row is stored as soon as it is known.
    """
    names = [candidate_name(candidate) for candidate in problem.candidates]
    known = store.known(trial.table, trial.key, **trial.columns)
    cut = chains(problem.candidates)
    waiting = [chain for chain in cut if any(names[i] not in known for i in chain)]
    yield sum(name in known for name in names)
    if not waiting:
        return
    rows = _Rows(problem, trial)
    finished: SimpleQueue[tuple[int, dict[str, Any]] | BaseException | None] = SimpleQueue()
    stop = Event()

    def work(chain: Sequence[int]) -> None:
        try:
            for index, row in _follow(rows, problem, chain, names, known, stop):
                finished.put((index, row))
            finished.put(None)
        except BaseException as error:
            finished.put(error)

    with one_blas_thread, ThreadPoolExecutor(jobs) as pool:
        try:
            for chain in waiting:
                pool.submit(work, chain)
            running = len(waiting)
            while running:
                result = finished.get()
                if result is None:
                    running -= 1
                elif isinstance(result, BaseException):
                    raise result
                else:
                    index, row = result
                    store.add(trial.table, trial.key, {**row, **trial.columns,
                                                       "candidate": names[index]})  # fmt: skip
                    yield 1
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def _follow(
    rows: _Rows,
    problem: Problem,
    chain: Sequence[int],
    names: Sequence[str],
    known: set[str],
    stop: Event,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Train the candidates of a chain up to the last unknown one; evaluate the unknown ones."""
    last = max(k for k, index in enumerate(chain) if names[index] not in known)
    path = Path(rows.gram, rows.y)
    for index in chain[: last + 1]:
        if stop.is_set():
            return
        C = problem.weights(problem.candidates[index])[rows.train]
        started = time.perf_counter()
        solution = path.step(C, tol=problem.tol).solution
        seconds = time.perf_counter() - started
        if names[index] not in known:
            yield index, rows.row_of(solution, seconds)
