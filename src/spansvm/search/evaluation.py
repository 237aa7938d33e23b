"""Candidates of a search, trained and evaluated chain by chain.

A chain is one worker's unit of work: candidates that share a Gram matrix, on all rows or on one
fold, ordered so that each starts from the solution of the one before.
"""

from __future__ import annotations

import pickle
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..criteria import CRITERIA
from ..following import EXACT_TOLERANCE
from ..group_left_out import folds_left_out, groups_left_out
from ..left_out import LeftOutClasses, exact_left_out, span_left_out, tested
from ..machines import PairPaths, TrainedMachines
from ..methods import predicts
from ..pairs import lost
from ..path import Models
from ..svc import SpanSVC
from .composite import Candidates, FitParams, has_rows, take_rows
from .kept import Keeping, Kept, Recorder, keep_errors, keep_responses
from .leaving import Leaving
from .responses import LeftOutClassifier
from .training_sets import Split, TrainingSet, cache_of

__all__ = ["Chain", "Outcome", "Work", "evaluate"]


@dataclass(frozen=True)
class Work:
    """Everything that the candidates of a search share, except the data.

    Attributes
    ----------
    token : str
        Unique per search, so that searches in one process do not share cached data.
    estimator : estimator
    method : str
        One of :data:`spansvm.methods.METHODS`.
    scorers : dict or None
        Scorers by name; None for accuracy.
    params : FitParams
    score_params : dict
        Keyword arguments by scorer.
    leaving : Leaving
        Which rows are left out.
    gram_budget : float, str or None
        Replaces that of the machine.
    config : dict
        scikit-learn's configuration, which other threads and processes do not inherit.
    keeping : Keeping or str
        What to keep of every candidate's predictions; or why nothing is.
    compares : bool
        Whether outcomes tell which rows are misclassified, to compare methods.
    """

    token: str
    estimator: Any
    method: str
    scorers: Mapping[str, Callable[..., Any]] | None
    params: FitParams
    score_params: Mapping[str, Mapping[str, Any]]
    leaving: Leaving
    gram_budget: float | str | None
    config: Mapping[str, Any]
    keeping: Keeping | str = ""
    compares: bool = False

    @property
    def splits(self) -> Sequence[Split]:
        """Folds that are trained one by one; otherwise one None, for all rows."""
        return self.leaving.splits


@dataclass(frozen=True)
class Chain:
    """Candidates that follow each other on one split.

    Attributes
    ----------
    split : int
        Index of the split.
    indices : list of int
        Indices of the candidates.
    candidates : list of dict
        Their parameters.
    transformers, kernel : str
        Keys of their transformers and of their kernel.
    """

    split: int
    indices: list[int]
    candidates: list[Mapping[str, Any]]
    transformers: str
    kernel: str


@dataclass(frozen=True)
class Outcome:
    """The result of a candidate on one split.

    ``exception`` is why it failed, or why a scorer did; ``error`` is the text for the user.
    ``scores`` holds the scores that were computed, ``kept`` the predictions that are needed again,
    and ``wrong`` which rows are misclassified, eight to a byte; ``folds`` the outcomes of single
    folds if one model predicts them all.
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
    kept: Kept | None = None
    wrong: np.ndarray | None = None
    folds: tuple[Outcome, ...] = ()

    @property
    def headline(self) -> float:
        """The first score, for the progress bar."""
        scores = self.folds[0].scores if self.folds else self.scores
        return float(next(iter(scores.values()), np.nan))

    def by_split(self, split: int, leaving: Leaving) -> dict[int, Outcome]:
        """The outcome of its split, or those of all folds that one model was to predict."""
        if leaving.sets is None or leaving.pooled:
            return {split: self}
        return dict(enumerate(self.folds or [self] * leaving.n_splits))


def evaluate(work: Work, X: Any, y: np.ndarray, chain: Chain) -> Iterator[Outcome]:
    """Train and evaluate the candidates of a chain in turn."""
    judge = _Judge(work, X, y, chain)
    builders = cache_of(work.token).builders
    candidates = _taken_from(builders) or Candidates(work.estimator)
    waiting: list[_Order] = []
    for params in chain.candidates:
        started = time.perf_counter()
        try:
            order = judge.order(*candidates.build(params))
        except KeyboardInterrupt:
            yield from judge.judge_all(waiting)
            raise
        except Exception as exception:
            yield from judge.judge_all(waiting)
            waiting, judge.paths = [], None
            candidates = Candidates(work.estimator)
            yield Outcome(fit_time=time.perf_counter() - started, **_failure(exception))
            continue
        if waiting and not order.follows(waiting[-1]):
            yield from judge.judge_all(waiting)
            waiting = []
        waiting.append(order)
    builders.append(candidates)
    yield from judge.judge_all(waiting)


def _taken_from(builders: deque[Candidates]) -> Candidates | None:
    try:
        return builders.pop()
    except IndexError:
        return None


def _failure(exception: Exception) -> dict[str, Any]:
    """An exception, or a substitute that can be sent between processes, and its description.

    The traceback is dropped: it would keep Gram matrices alive.
    """
    error = f"{type(exception).__name__}: {exception}\n{traceback.format_exc()}"
    exception = exception.with_traceback(None)
    exception.__cause__ = exception.__context__ = None
    try:
        pickle.loads(pickle.dumps(exception))
    except Exception:
        exception = RuntimeError(f"{type(exception).__name__}: {exception}")
    return {"exception": exception, "error": error}


@dataclass(frozen=True)
class _Order:
    """A candidate that is to be trained: its machine, weights, and tolerance."""

    machine: SpanSVC
    training_set: TrainingSet
    bounds: np.ndarray
    tol: float
    seconds: float

    def follows(self, other: _Order) -> bool:
        """Whether both can be trained in one go."""
        return (self.training_set, self.tol, self.machine.max_iter) == (
            other.training_set, other.tol, other.machine.max_iter,
        )  # fmt: skip


class _Judge:
    """Trains and evaluates the candidates of one chain; the next one starts from `paths`."""

    def __init__(self, work: Work, X: Any, y: np.ndarray, chain: Chain) -> None:
        self.work, self.X, self.y, self.chain = work, X, y, chain
        self.split = work.splits[chain.split]
        self.params = work.params
        if self.split is not None:
            self.params = work.params.take(self.split[0], y.size)
        weight = work.params.sample_weight
        self.counted = np.ones(y.size, dtype=np.bool_) if weight is None else weight != 0
        self.paths: PairPaths | None = None
        self.held: TrainingSet | None = None  # the cache keeps only what is in use

    def order(self, estimator: Any, machine: SpanSVC) -> _Order:
        """What is to be trained for a candidate."""
        work, chain = self.work, self.chain
        started = time.perf_counter()
        if work.gram_budget is not None:
            machine.gram_budget = work.gram_budget
        tol = min(machine.tol, EXACT_TOLERANCE) if work.method == "loo" else machine.tol
        if self.held is None:  # all candidates of a chain share it
            self.held = cache_of(work.token).training_set(
                (chain.transformers, chain.kernel, chain.split),
                estimator, machine, self.X, self.y, self.params, self.split,
            )  # fmt: skip
        training_set = self.held
        bounds = training_set.weigh(machine, self.params)
        seconds = time.perf_counter() - started
        return _Order(copy(machine), training_set, bounds, tol, seconds)

    def judge_all(self, orders: list[_Order]) -> Iterator[Outcome]:
        """Train and evaluate candidates that can be trained in one go."""
        done = 0
        while done < len(orders):
            for outcome in self._judge_some(orders[done:]):
                yield outcome
                done += 1

    def _judge_some(self, orders: list[_Order]) -> Iterator[Outcome]:
        """The same up to the first candidate that fails."""
        first, leaving = orders[0], self.work.leaving
        self.paths = self.paths or first.training_set.paths()
        trained = self.paths.train_each(
            [order.bounds for order in orders], tol=first.tol, max_iter=first.machine.max_iter,
            spans=self.split is None and leaving.sets is None and self.work.method != "loo",
        )  # fmt: skip
        for order in orders:
            started = time.perf_counter()
            try:
                outcome = self._judge(order, next(trained))
            except Exception as exception:
                self.paths = None
                yield Outcome(fit_time=time.perf_counter() - started, **_failure(exception))
                return
            yield outcome
            if not outcome.converged:
                self.paths = None
                return

    def _judge(self, order: _Order, found: Models) -> Outcome:
        machine, training_set = order.machine, order.training_set
        fitted = time.perf_counter()
        fit_time = order.seconds + found.seconds
        machines = training_set.machines(order.bounds, found)
        if not found.converged:
            error = _early_stop(machine, machines)
            return Outcome(exception=ValueError(error), error=error, fit_time=fit_time)
        leaving, folds = self.work.leaving, []
        if self.split is not None:
            judged = self._on_test_rows(machines, training_set, machine)
        elif leaving.sets is None or leaving.pooled:
            judged = self._on_all_rows(machines, training_set, machine)
        else:
            judged, folds = {}, self._on_folds(machines, training_set, machine)
        outcome = Outcome(
            n_in_bound=found.n_in_bound,
            n_bounded=found.n_bounded,
            n_empty=found.n_empty,
            converged=True,
            indefinite=found.indefinite,
            fit_time=fit_time,
            score_time=time.perf_counter() - fitted,
            **judged,
        )
        return replace(outcome, folds=tuple(_part(outcome, len(folds), own) for own in folds))

    def _on_all_rows(
        self, machines: TrainedMachines, training_set: TrainingSet, machine: SpanSVC
    ) -> dict[str, Any]:
        """Evaluate by the values of left-out rows or groups, or by a criterion."""
        exact, sets = self.work.method == "loo", self.work.leaving.sets
        if sets is not None:
            left_out = groups_left_out(machines, sets, self.counted, exact)
        else:
            left_out = (exact_left_out if exact else span_left_out)(machines, self.counted)
        wrong = left_out.wrong(machine.break_ties)[self.counted]
        error = float(wrong.mean())
        judged: dict[str, Any] = {"loo_error": error, "hinge": left_out.hinge}
        if self.work.compares:
            judged["wrong"] = np.packbits(wrong)
        if not predicts(self.work.method):
            return {**judged, "scores": {"score": 1.0 - self._criterion(machines)}}
        if self.work.scorers is None:
            weight = self._score_weight()
            if weight is not None:
                error = left_out.error(machine.break_ties, weight)
            return {**judged, "scores": {"score": 1.0 - error}, "kept": self._keep_errors(wrong)}
        rows = np.flatnonzero(self.counted)
        return {**judged, **self._score(left_out, training_set.classes, machine, rows)}

    def _score_weight(self) -> np.ndarray | None:
        """Weights of the rows in the default score, if metadata routing provides any."""
        weight = self.work.score_params.get("score", {}).get("sample_weight")
        return None if weight is None else np.asarray(weight)

    def _criterion(self, machines: TrainedMachines) -> float:
        """A criterion as a share of the counted rows.

        Rows of zero weight take no part in training: the machine's own prediction is their
        leave-one-out prediction.
        """
        model = machines.models()[0]
        solution = model.solution
        count = CRITERIA[self.work.method](model) * solution.n_instances
        aside = self.counted & ~solution.present
        count += int(lost(solution.y * solution.decision)[aside].sum())
        return float(count / self.counted.sum())

    def _on_test_rows(
        self, machines: TrainedMachines, training_set: TrainingSet, machine: SpanSVC
    ) -> dict[str, Any]:
        """Evaluate on the test rows of the fold."""
        assert self.split is not None
        _, test = self.split
        left_out = tested(
            machines, training_set.test_decisions(machines), training_set.test_rows(self.y[test])
        )
        return self._scored(left_out, training_set, machine, test)

    def _on_folds(
        self, machines: TrainedMachines, training_set: TrainingSet, machine: SpanSVC
    ) -> list[dict[str, Any]]:
        """Evaluate on the test rows of all folds, left out of one model."""
        sets = self.work.leaving.sets
        assert sets is not None
        return [
            {
                **self._scored(left_out, training_set, machine, test),
                "loo_error": left_out.error(machine.break_ties),
            }
            for test, left_out in zip(
                sets, folds_left_out(machines, sets, self.work.method == "loo"), strict=True
            )
        ]

    def _scored(
        self, left_out: LeftOutClasses, training_set: TrainingSet, machine: SpanSVC,
        test: np.ndarray,
    ) -> dict[str, Any]:  # fmt: skip
        """The hinge loss and the scores of the test rows of a fold."""
        if self.work.scorers is None:
            weight = self._score_weight()
            right = ~left_out.wrong(machine.break_ties)
            score = np.average(right, weights=None if weight is None else weight[test])
            kept = self._keep_errors(~right)
            return {"hinge": left_out.hinge, "scores": {"score": float(score)}, "kept": kept}
        classes = training_set.classes
        return {"hinge": left_out.hinge, **self._score(left_out, classes, machine, test)}

    def _keep_errors(self, wrong: np.ndarray) -> Kept | None:
        keeping = self.work.keeping
        return keep_errors(wrong, keeping) if isinstance(keeping, Keeping) else None

    def _score(
        self, left_out: LeftOutClasses, classes: np.ndarray, machine: SpanSVC, rows: np.ndarray
    ) -> dict[str, Any]:
        """Scores of predictions for some rows; a scorer that fails does not affect the others."""
        responses = LeftOutClassifier(left_out, classes, machine)
        every = rows.size == self.y.size and bool((rows == np.arange(rows.size)).all())
        X, y = (self.X, self.y) if every else (take_rows(self.X, rows), self.y[rows])
        scores: dict[str, float] = {}
        others: dict[str, Any] = {}
        keeping = self.work.keeping
        assert self.work.scorers is not None
        for name, scorer in self.work.scorers.items():
            params = {
                key: take_rows(value, rows) if has_rows(value, self.y.size) else value
                for key, value in self.work.score_params.get(name, {}).items()
            }
            try:
                classifier: Any = responses.given_to(scorer)
                if isinstance(keeping, Keeping) and name == keeping.scorer:
                    classifier = Recorder.of(classifier)
                value = scorer(classifier, X, y, **params)
                scores |= value if isinstance(value, dict) else {name: float(value)}
                if isinstance(classifier, Recorder) and isinstance(keeping, Keeping):
                    others["kept"] = keep_responses(classifier.asked, y, self.y, keeping)
            except Exception as exception:
                others |= _failure(exception)
        return {"scores": scores, **others}


def _part(outcome: Outcome, n_folds: int, judged: dict[str, Any]) -> Outcome:
    """The outcome of one of the folds that a model predicts; they share its time."""
    return replace(
        outcome,
        fit_time=outcome.fit_time / n_folds,
        score_time=outcome.score_time / n_folds,
        **judged,
    )


def _early_stop(machine: SpanSVC, machines: TrainedMachines) -> str:
    gap = machines.found.gap
    limit, advice = "", "raise tol"
    if machine.max_iter != -1:
        limit, advice = f" (max_iter={machine.max_iter})", "raise tol or max_iter"
    return (
        f"The solver stopped early{limit} with the KKT conditions violated by {gap:.2g}. "
        f"Scale the features, or {advice}."
    )
