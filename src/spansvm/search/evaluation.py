"""Candidates of a search, trained and judged chain by chain.

A chain is what one worker does at a time: candidates that share a Gram matrix, on all rows or
on one fold, in an order in which each starts from the one before.
"""

from __future__ import annotations

import pickle
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..criteria import CRITERIA, SolvedModel
from ..following import EXACT_TOLERANCE
from ..loo import exact_left_out
from ..machines import Machines
from ..pairs import errors, labels
from ..svc import SpanSVC
from .composite import Candidates, FitParams, has_rows, take_rows
from .left_out import LeftOut, Values, hinge_loss
from .training_sets import Split, TrainingSet, cache_of

__all__ = ["BOUNDS", "METHODS", "Chain", "Outcome", "Work", "evaluate"]

#: How a candidate can be judged.
METHODS = ("span_rule", "span_bound", "span_count", "xi_alpha", "sv_count", "loo", "kfold")

#: Those that give no predictions, only a number.
BOUNDS = ("span_bound", "span_count", "xi_alpha", "sv_count")


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
        From names to scorers; None for the share of right predictions.
    params : FitParams
    score_params : dict
        For each scorer its own keyword arguments.
    splits : list of (train, test), or of None
        The folds of ``method="kfold"``; else one None, for all rows.
    gram_budget : float, str or None
        In place of that of the machine.
    config : dict
        scikit-learn's configuration, which is not the same in other threads and processes.
    """

    token: str
    estimator: Any
    method: str
    scorers: Mapping[str, Callable[..., Any]] | None
    params: FitParams
    score_params: Mapping[str, Mapping[str, Any]]
    splits: Sequence[Split]
    gram_budget: float | str | None
    config: Mapping[str, Any]


@dataclass(frozen=True)
class Chain:
    """Candidates that follow each other on one split.

    Attributes
    ----------
    split : int
        Which of the splits it is.
    indices : list of int
        Which candidates they are.
    candidates : list of dict
        Their parameters.
    transformers, kernel : str
        What tells their transformers, and their Gram matrix, from those of other chains.
    """

    split: int
    indices: list[int]
    candidates: list[Mapping[str, Any]]
    transformers: str
    kernel: str


@dataclass(frozen=True)
class Outcome:
    """What is known of a candidate on one split.

    ``exception`` is why it failed, or why a scorer did, and ``error`` tells it to the user.
    ``scores`` holds what there is.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
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
    candidates = Candidates(work.estimator)
    for params in chain.candidates:
        started = time.perf_counter()
        try:
            outcome = judge(*candidates.build(params))
        except Exception as exception:
            judge.before = None
            candidates = Candidates(work.estimator)
            outcome = Outcome(fit_time=time.perf_counter() - started, **_failure(exception))
        yield outcome


def _failure(exception: Exception) -> dict[str, Any]:
    """An exception, or one in its place that can be sent between processes, and its story.

    Without its traceback, which would keep Gram matrices alive.
    """
    error = f"{type(exception).__name__}: {exception}\n{traceback.format_exc()}"
    exception = exception.with_traceback(None)
    exception.__cause__ = exception.__context__ = None
    try:
        pickle.loads(pickle.dumps(exception))
    except Exception:
        exception = RuntimeError(f"{type(exception).__name__}: {exception}")
    return {"exception": exception, "error": error}


class _Judge:
    """Trains and judges the candidates of one chain; `before` is where the next may start."""

    def __init__(self, work: Work, X: Any, y: np.ndarray, chain: Chain) -> None:
        self.work, self.X, self.y, self.chain = work, X, y, chain
        self.split = work.splits[chain.split]
        self.params = work.params
        if self.split is not None:
            self.params = work.params.take(self.split[0], y.size)
        weight = work.params.sample_weight
        self.counted = np.ones(y.size, dtype=np.bool_) if weight is None else weight != 0
        self.before: Machines | None = None
        self.held: TrainingSet | None = None  # the cache keeps what somebody holds

    def __call__(self, estimator: Any, machine: SpanSVC) -> Outcome:
        work, chain = self.work, self.chain
        started = time.perf_counter()
        if work.gram_budget is not None:
            machine.gram_budget = work.gram_budget
        tol = min(machine.tol, EXACT_TOLERANCE) if work.method == "loo" else machine.tol
        self.held = training_set = cache_of(work.token).training_set(
            (chain.transformers, chain.kernel, chain.split),
            estimator, machine, self.X, self.y, self.params, self.split,
        )  # fmt: skip
        before = self.before
        machines = training_set.train(
            machine, self.params, tol, None if before is None else before.solutions
        )
        self.before = machines
        fitted = time.perf_counter()
        if not all(solution.converged for solution in machines.solutions):
            error, self.before = _early_stop(machine, machines), None
            return Outcome(exception=ValueError(error), error=error, fit_time=fitted - started)
        if self.split is None:
            if before is not None and self.work.method != "loo":
                machines.follow(before)
            judged = self._on_all_rows(machines, training_set, machine)
        else:
            judged = self._on_test_rows(machines, training_set, machine)
        return Outcome(
            n_in_bound=sum(int(s.in_bound.sum()) for s in machines.solutions),
            n_bounded=sum(int(s.bounded.sum()) for s in machines.solutions),
            n_empty=sum(
                SolvedModel(gram, s).n_empty
                for gram, s in zip(machines.grams().of_pairs, machines.solutions, strict=True)
            ),
            converged=True,
            indefinite=machines.solutions[0].indefinite,
            fit_time=fitted - started,
            score_time=time.perf_counter() - fitted,
            **judged,
        )

    def _on_all_rows(
        self, machines: Machines, training_set: TrainingSet, machine: SpanSVC
    ) -> dict[str, Any]:
        """Judge by leave-one-out values, or by a bound."""
        counted = self.counted
        if self.work.method == "loo":
            grams = machines.grams().of_pairs
            pairs = [exact_left_out(*each) for each in zip(grams, machines.solutions, strict=True)]
            values = Values.exact(machines, pairs, counted)
        else:
            values = Values.left_out(machines, counted)
        indices, n_classes = machines.indices[counted], machines.n_classes
        wrong = errors(values.counted, indices, n_classes, machine.break_ties)
        judged: dict[str, Any] = {
            "loo_error": float(wrong.mean()),
            "hinge": hinge_loss(values.counted, indices, n_classes),
        }
        if self.work.method in BOUNDS:
            return {**judged, "scores": {"score": 1.0 - self._bound(machines)}}
        if self.work.scorers is None:
            weight = self.work.score_params.get("score", {}).get("sample_weight")
            error = judged["loo_error"]
            if weight is not None:
                error = float(np.average(wrong, weights=np.asarray(weight)[counted]))
            return {**judged, "scores": {"score": 1.0 - error}}
        left_out = LeftOut(values, machines, training_set.classes, machine)
        return {**judged, **self._score(left_out, np.flatnonzero(counted))}

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

    def _on_test_rows(
        self, machines: Machines, training_set: TrainingSet, machine: SpanSVC
    ) -> dict[str, Any]:
        """Judge by the test rows of the fold."""
        assert self.split is not None
        _, test = self.split
        values = training_set.test_decisions(machines)
        classes = training_set.classes
        known = np.isin(self.y[test], classes)
        indices = np.searchsorted(classes, self.y[test][known])
        hinge = hinge_loss(values[known], indices, machines.n_classes)
        if self.work.scorers is None:
            weight = self.work.score_params.get("score", {}).get("sample_weight")
            weight = None if weight is None else np.asarray(weight)[test]
            right = labels(values, classes, machine.break_ties) == self.y[test]
            return {"hinge": hinge, "scores": {"score": float(np.average(right, weights=weight))}}
        left_out = LeftOut(Values.tested(values), machines, classes, machine)
        return {"hinge": hinge, **self._score(left_out, test)}

    def _score(self, left_out: LeftOut, rows: np.ndarray) -> dict[str, Any]:
        """Scores of predictions for some rows; a scorer that fails leaves the others alone."""
        every = rows.size == self.y.size and bool((rows == np.arange(rows.size)).all())
        X, y = (self.X, self.y) if every else (take_rows(self.X, rows), self.y[rows])
        scores: dict[str, float] = {}
        failure: dict[str, Any] = {}
        assert self.work.scorers is not None
        for name, scorer in self.work.scorers.items():
            params = {
                key: take_rows(value, rows) if has_rows(value, self.y.size) else value
                for key, value in self.work.score_params.get(name, {}).items()
            }
            try:
                value = scorer(left_out.given_to(scorer), X, y, **params)
                scores |= value if isinstance(value, dict) else {name: float(value)}
            except Exception as exception:
                failure = _failure(exception)
        return {"scores": scores, **failure}


def _early_stop(machine: SpanSVC, machines: Machines) -> str:
    gap = max(solution.gap for solution in machines.solutions)
    limit, advice = "", "raise tol"
    if machine.max_iter != -1:
        limit, advice = f" (max_iter={machine.max_iter})", "raise tol or max_iter"
    return (
        f"The solver stopped early{limit} with the KKT conditions violated by {gap:.2g}. "
        f"Scale the features, or {advice}."
    )
