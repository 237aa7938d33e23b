"""Candidates of a search, trained and judged chain by chain.

A chain is what one worker does at a time: candidates that share a Gram matrix, in an order in
which each starts from the one before.  What chains share (transformed rows, Gram matrices) is
computed by the first that needs it in a process.
"""

from __future__ import annotations

import pickle
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from .._validation import n_rows
from ..criteria import CRITERIA, SolvedModel
from ..dual import DualSolution
from ..loo import EXACT_TOLERANCE, exact_loo_decision
from ..machines import Machines
from ..pairs import labels
from ..qp import Array
from ..svc import SpanSVC
from .composite import FitParams, as_span_svc, set_candidate, take_rows, unwrap
from .left_out import LeftOut, hinge_loss
from .training_sets import TrainingSet, training_sets

__all__ = ["BOUNDS", "METHODS", "Chain", "Outcome", "Work", "evaluate"]

#: How a candidate can be judged.
METHODS = ("span_rule", "span_bound", "span_count", "xi_alpha", "sv_count", "loo", "kfold")

#: Those that give no predictions, only a number.
BOUNDS = ("span_bound", "span_count", "xi_alpha", "sv_count")

Scorers = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class Work:
    """What all candidates of a search have in common, except the data.

    Attributes
    ----------
    token : str
        Another for each search: results of one are not taken for those of another.
    estimator : estimator
    method : str
        One of :data:`METHODS`.
    scorers : dict or None
        From names to scorers; None for the error rate of the method.
    params : FitParams
    score_params : dict
        For each scorer its own keyword arguments.
    splits : list of (train, test)
        The folds of ``method="kfold"``.
    """

    token: str
    estimator: Any
    method: str
    scorers: Scorers | None
    params: FitParams
    score_params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    splits: Sequence[tuple[np.ndarray, np.ndarray]] = ()


@dataclass(frozen=True)
class Chain:
    """Candidates that follow each other.

    Attributes
    ----------
    indices : list of int
        Which candidates they are.
    candidates : list of dict
        Their parameters.
    transformers, kernel : str
        What tells their transformers, and their Gram matrix, from those of other chains.
    """

    indices: list[int]
    candidates: list[Mapping[str, Any]]
    transformers: str
    kernel: str


@dataclass(frozen=True)
class Outcome:
    """What is known of a candidate.

    ``scores`` holds for every scorer the score of every split.  If a candidate failed there are
    none; ``exception`` is why, and ``error`` says it to the user.
    """

    scores: Mapping[str, list[float]] = field(default_factory=dict)
    loo_error: float = np.nan
    hinge: float = np.nan
    n_in_bound: int = 0
    n_bounded: int = 0
    n_empty: int = 0
    converged: bool = False
    indefinite: bool = False
    fit_time: float = 0.0
    score_time: float = 0.0
    exception: Exception | None = None
    error: str = ""


def evaluate(work: Work, X: Any, y: np.ndarray, chain: Chain) -> Iterator[Outcome]:
    """Train and judge the candidates of a chain, one after the other."""
    judge = _Judge(work, X, y, chain)
    estimator, names = None, None
    for params in chain.candidates:
        started = time.perf_counter()
        try:
            if params.keys() != names:  # else all that one candidate sets, the next sets too
                estimator, names = clone(work.estimator), params.keys()
            outcome = judge(set_candidate(estimator, params))
        except Exception as exception:
            judge.start_afresh()
            names = None
            outcome = Outcome(
                exception=_portable(exception),
                error=traceback.format_exc(),
                fit_time=time.perf_counter() - started,
            )
        yield outcome


def _portable(exception: Exception) -> Exception:
    """The exception, or one in its place that can be sent between processes."""
    try:
        pickle.loads(pickle.dumps(exception))
    except Exception:
        return RuntimeError(f"{type(exception).__name__}: {exception}")
    return exception


class _Judge:
    """Trains and judges candidates of one chain; remembers where the next may start."""

    def __init__(self, work: Work, X: Any, y: np.ndarray, chain: Chain) -> None:
        self.work, self.X, self.y, self.chain = work, X, y, chain
        weight = work.params.sample_weight
        self.counted = np.ones(y.size, dtype=np.bool_) if weight is None else weight != 0
        self.params = [work.params] + [work.params.take(train, y.size) for train, _ in work.splits]
        self.sets: list[TrainingSet] = []
        self.start_afresh()

    def start_afresh(self) -> None:
        """Let the next candidate start from nothing."""
        self.before: list[list[DualSolution] | None] = [None] * (1 + len(self.work.splits))

    def __call__(self, estimator: Any) -> Outcome:
        work = self.work
        started = time.perf_counter()
        machine = as_span_svc(unwrap(estimator)[2])
        tol = min(machine.tol, EXACT_TOLERANCE) if work.method == "loo" else machine.tol
        self.sets = sets = training_sets(
            (work.token, self.chain.transformers, self.chain.kernel),
            estimator, machine, self.X, self.y, self.params, work.splits,
        )  # fmt: skip
        trained = [
            training_set.train(machine, params, tol, before)
            for training_set, params, before in zip(sets, self.params, self.before, strict=True)
        ]
        self.before = [machines.solutions for machines in trained]
        fitted = time.perf_counter()
        solutions = [solution for machines in trained for solution in machines.solutions]
        if not all(solution.converged for solution in solutions):
            gap = max(solution.gap for solution in solutions)
            error = (
                f"The solver stopped early (max_iter={machine.max_iter}) with the KKT conditions "
                f"violated by {gap:.2g}. Scale the features, or raise tol or max_iter."
            )
            return Outcome(exception=ValueError(error), error=error, fit_time=fitted - started)
        whole = trained[0]
        values = whole.leave_one_out
        if work.method == "loo":
            values = whole.left_out(exact_loo_decision)
        loo_error = self._error_rate(values, sets[0], machine)
        if work.method == "kfold":
            scores, hinge = self._score_folds(trained[1:], sets[1:], machine)
        else:
            hinge = hinge_loss(values[self.counted], whole.indices[self.counted], whole.n_classes)
            if work.method in BOUNDS:
                scores = {"score": [1.0 - self._bound(whole)]}
            elif work.scorers is None:
                scores = {"score": [1.0 - loo_error]}
            else:
                left_out = LeftOut(values[self.counted], whole, sets[0].classes, machine)
                scores = self._score(left_out, np.flatnonzero(self.counted))
        return Outcome(
            scores=scores,
            loo_error=loo_error,
            hinge=hinge,
            n_in_bound=sum(int(s.in_bound.sum()) for s in whole.solutions),
            n_bounded=sum(int(s.bounded.sum()) for s in whole.solutions),
            n_empty=sum(
                SolvedModel(gram, s).n_empty
                for gram, s in zip(whole.grams().of_pairs, whole.solutions, strict=True)
            ),
            converged=True,
            indefinite=whole.solutions[0].indefinite,
            fit_time=fitted - started,
            score_time=time.perf_counter() - fitted,
        )

    def _error_rate(self, values: Array, training_set: TrainingSet, machine: SpanSVC) -> float:
        """Share of the counted rows on the wrong side."""
        wrong = labels(values, training_set.classes, machine.break_ties) != self.y
        if values.shape[1] == 1:
            wrong |= values[:, 0] == 0.0
        return float(wrong[self.counted].mean())

    def _bound(self, machines: Machines) -> float:
        """A bound as a share of the counted rows.

        Rows to which the candidate gives no weight are no part of its machine: what it says of
        them is their leave-one-out value, and they count as they are.
        """
        solution = machines.solutions[0]
        count = CRITERIA[self.work.method](SolvedModel(machines.grams().whole, solution))
        count *= solution.n_instances
        aside = self.counted & ~solution.present
        count += int((solution.y * solution.decision <= 0)[aside].sum())
        return float(count / self.counted.sum())

    def _score_folds(
        self, trained: list[Machines], sets: list[TrainingSet], machine: SpanSVC
    ) -> tuple[dict[str, list[float]], float]:
        scores: dict[str, list[float]] = {}
        losses, counts = [], []
        for machines, training_set, (_, test) in zip(trained, sets, self.work.splits, strict=True):
            kernel_values = training_set.test_values[:, machines.support]
            values = kernel_values @ machines.coefficients + machines.intercepts
            left_out = LeftOut(values, machines, training_set.classes, machine)
            for name, score in self._score(left_out, test).items():
                scores.setdefault(name, []).extend(score)
            known = np.isin(self.y[test], training_set.classes)
            indices = np.searchsorted(training_set.classes, self.y[test][known])
            losses.append(hinge_loss(values[known], indices, machines.n_classes))
            counts.append(int(known.sum()))
        return scores, float(np.average(losses, weights=counts))

    def _score(self, left_out: LeftOut, rows: np.ndarray) -> dict[str, list[float]]:
        """Scores of predictions for some rows."""
        every = rows.size == self.y.size and bool((rows == np.arange(rows.size)).all())
        X, y = (self.X, self.y) if every else (take_rows(self.X, rows), self.y[rows])
        if self.work.scorers is None:
            return {"score": [float((left_out.predict(X) == y).mean())]}
        result: dict[str, list[float]] = {}
        for name, scorer in self.work.scorers.items():
            params = {
                key: take_rows(value, rows) if n_rows(value) == self.y.size else value
                for key, value in self.work.score_params.get(name, {}).items()
            }
            value = scorer(left_out, X, y, **params)
            for own, number in value.items() if isinstance(value, dict) else [(name, value)]:
                result[own] = [float(number)]
        return result
