"""Candidates of a search, trained and evaluated chain by chain.

A chain is one worker's unit of work: candidates that share a Gram matrix, on all rows or on one
fold, ordered so that each starts from the solution of the one before.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import numpy as np

from ...common.methods import predicts
from ...common.stopping import check_stop
from ...machine.criteria import CRITERIA
from ...machine.following import EXACT_TOLERANCE
from ...multiclass.machines import TrainedMachines
from ..candidates.building import Candidates
from ..candidates.composite import Machine
from ..candidates.label_sets import LabelProblems
from ..candidates.regression_sets import RegressionProblems
from ..candidates.training_sets import Problems
from .recorded import RecordedClasses, RecordedTargets
from .scored import Scoring, failure
from .scored_labels import LabelScoring
from .scored_targets import TargetScoring
from .trained import Trained
from .work import Chain, Outcome, Work

__all__ = ["evaluate", "train"]


def evaluate(work: Work, X: Any, y: np.ndarray, chain: Chain) -> Iterator[Outcome]:
    """Train and evaluate the candidates of a chain in turn."""
    evaluator = _Evaluator(work, X, y, chain)
    builders = work.shared.builders
    candidates = _taken_from(builders) or Candidates(work.estimator)
    waiting: list[_Prepared] = []
    for params in chain.candidates:
        started = time.perf_counter()
        try:
            one = evaluator.prepare(params, candidates)
        except KeyboardInterrupt:
            yield from evaluator.evaluate_all(waiting)
            raise
        except Exception as exception:
            yield from evaluator.evaluate_all(waiting)
            waiting, evaluator.paths = [], None
            candidates = Candidates(work.estimator)
            yield Outcome(fit_time=time.perf_counter() - started, **failure(exception))
            continue
        if waiting and not one.follows(waiting[-1]):
            yield from evaluator.evaluate_all(waiting)
            waiting = []
        waiting.append(one)
    builders.append(candidates)
    yield from evaluator.evaluate_all(waiting)


def train(work: Work, X: Any, y: np.ndarray, chain: Chain) -> list[Trained]:
    """Train the candidates of a chain, and do not evaluate them; what fails raises."""
    evaluator, builder = _Evaluator(work, X, y, chain), Candidates(work.estimator)
    prepared = [evaluator.prepare(params, builder) for params in chain.candidates]
    evaluator.paths = [own.paths() for own in prepared[0].problems.sets]
    found: list[Trained] = []
    while len(found) < len(prepared):
        first = prepared[len(found)]
        part = list(takewhile(first.follows, prepared[len(found) :]))
        found += evaluator._train(part)
    return found


def _scoring_of(work: Work, y: np.ndarray) -> type[Scoring]:
    """What becomes of the predictions of candidates."""
    if work.recording:
        return RecordedTargets if work.regression else RecordedClasses
    if work.regression:
        return TargetScoring
    return LabelScoring if y.ndim > 1 else Scoring


def _taken_from(builders: deque[Candidates]) -> Candidates | None:
    try:
        return builders.pop()
    except IndexError:
        return None


@dataclass(frozen=True)
class _Prepared:
    """A candidate that is to be trained: its machine, weights in each problem, and tolerance.

    `agrees` tells whether the probabilities of its machine agree with the labels.
    """

    candidate: Mapping[str, Any]
    machine: Machine
    agrees: bool
    problems: Problems | LabelProblems | RegressionProblems
    bounds: list[Any]
    tol: float
    seconds: float

    def follows(self, other: _Prepared) -> bool:
        """Whether both can be trained in one go."""
        return (self.problems, self.tol, self.machine.max_iter) == (
            other.problems, other.tol, other.machine.max_iter,
        )  # fmt: skip


class _Evaluator:
    """Trains and evaluates the candidates of one chain; the next one starts from `paths`."""

    def __init__(self, work: Work, X: Any, y: np.ndarray, chain: Chain) -> None:
        self.work, self.X, self.y, self.chain = work, X, y, chain
        self.split = work.splits[chain.split]
        self.params = work.params
        if self.split is not None:
            self.params = work.params.take(self.split[0], len(y))
        weight = work.params.sample_weight
        self.counted = np.ones(len(y), dtype=np.bool_) if weight is None else weight != 0
        self.scoring = _scoring_of(work, y)(work, X, y, self.counted)
        self.paths: list[Any] | None = None
        self.held: Any = None  # of shared data, only what is in use is kept

    def prepare(self, candidate: Mapping[str, Any], builder: Candidates) -> _Prepared:
        """What is to be trained for a candidate."""
        work, chain = self.work, self.chain
        started = time.perf_counter()
        builder.build(candidate)
        machine = builder.machine
        if work.gram_budget is not None:
            machine.gram_budget = work.gram_budget
        if self.held is None:  # all candidates of a chain share it
            self.held = work.shared.problems(
                (chain.transformers, chain.kernel, chain.split),
                builder.estimator, machine, self.X, self.y, self.params, self.split,
            )  # fmt: skip
        tol = machine.tol
        if self._method(self.held) == "loo":
            tol = min(tol, EXACT_TOLERANCE)
        bounds = self.held.weigh(machine, self.params)
        seconds = time.perf_counter() - started
        return _Prepared(candidate, copy(machine), builder.agrees, self.held, bounds, tol, seconds)

    def evaluate_all(self, prepared: list[_Prepared]) -> Iterator[Outcome]:
        """Train and evaluate candidates that can be trained in one go."""
        done = 0
        while done < len(prepared):
            for outcome in self._evaluate_some(prepared[done:]):
                yield outcome
                done += 1

    def _evaluate_some(self, prepared: list[_Prepared]) -> Iterator[Outcome]:
        """The same up to the first candidate that fails or stops early."""
        first = prepared[0]
        self.paths = self.paths or [own.paths() for own in first.problems.sets]
        at_once = min(paths.at_once(first.machine.max_iter) for paths in self.paths)
        for start in range(0, len(prepared), at_once):
            part = prepared[start : start + at_once]
            check_stop()
            started = time.perf_counter()
            try:
                trained = self._train(part)
                fitted = time.perf_counter()
                tested = self._test(trained)
                seconds = (time.perf_counter() - fitted) / len(part)
                for one, own, predicted in zip(part, trained, tested, strict=True):
                    check_stop()
                    started = time.perf_counter()
                    outcome = self._evaluate(one, own, predicted, seconds)
                    yield outcome
                    if not outcome.converged:
                        self.paths = None
                        return
            except Exception as exception:
                self.paths = None
                yield Outcome(fit_time=time.perf_counter() - started, **failure(exception))
                return

    def _train(self, prepared: list[_Prepared]) -> list[Trained]:
        """Train candidates in one go."""
        assert self.paths is not None
        first, method = prepared[0], self._method(prepared[0].problems)
        spans = self.split is None and self.work.leaving.sets is None and method != "loo"
        found = [
            paths.train_each(
                [one.bounds[number] for one in prepared],
                tol=first.tol, max_iter=first.machine.max_iter, spans=spans,
                drops=method == "verified", values=self.scoring.needs_values,
            )
            for number, paths in enumerate(self.paths)
        ]  # fmt: skip
        return [
            Trained(
                self.work.estimator, one.candidate, one.machine, one.agrees, one.problems,
                self.params, one.problems.machines(one.bounds, own),
            )
            for one, own in zip(prepared, zip(*found, strict=True), strict=True)
        ]  # fmt: skip

    def _test(self, trained: list[Trained]) -> Sequence[Any]:
        """What candidates predict for the test rows; None for each if all rows are trained on."""
        if self.split is None:
            return [None] * len(trained)
        every = [one.machines for one in trained]
        return trained[0].problems.on_test_rows(every, self.y[self.split[1]])

    def _evaluate(
        self, one: _Prepared, trained: Trained, predicted: Any, seconds: float
    ) -> Outcome:
        """Evaluate a candidate; its predictions for test rows, if any, took so many `seconds`."""
        fitted = time.perf_counter()
        leaving, folds = self.work.leaving, []
        if self.split is not None and predicted is not None:
            evaluated = self.scoring.of_fold(predicted, trained, self.split[1])
        elif leaving.sets is None or leaving.pooled:
            evaluated = self._on_all_rows(trained)
        else:
            evaluated, folds = {}, self._on_folds(trained)
        if self.work.train_scores and not folds:
            evaluated["train_scores"] = self._on_training_rows(trained)
        found = [machines.known() for machines in trained.machines]
        converged = all(own.converged for own in found)
        outcome = Outcome(
            n_in_bound=sum(own.n_in_bound for own in found),
            n_bounded=sum(own.n_bounded for own in found),
            n_empty=sum(own.n_empty for own in found),
            converged=converged,
            gap=0.0 if converged else max(own.gap for own in found),
            indefinite=any(own.indefinite for own in found),
            fit_time=one.seconds + sum(own.seconds for own in found),
            score_time=seconds + time.perf_counter() - fitted,
            **evaluated,
        )
        if folds:
            parts = tuple(_part(outcome, len(folds), own) for own in folds)
            outcome = replace(outcome, folds=parts)
        return outcome

    def _on_all_rows(self, trained: Trained) -> dict[str, Any]:
        """Evaluate by the values of left-out rows or groups, or by a criterion."""
        by_criterion = not predicts(self.work.method)
        criterion = self._criterion(trained.machines[0]) if by_criterion else None
        return self.scoring.left_out(self._left_out(trained), trained, criterion)

    def _method(self, problems: Any) -> str:
        """The method for some machines: where their values are compared, by one-vs-rest, signs are
        not enough.
        """
        verified = self.work.method == "verified" and problems.compares
        return "loo" if verified and self.split is None else self.work.method

    def _left_out(self, trained: Trained) -> Any:
        method = self._method(trained.problems)
        return trained.problems.leave_out(
            trained.machines, method, self.work.leaving.sets, self.counted
        )

    def _criterion(self, machines: TrainedMachines) -> float:
        """A criterion as a share of the counted rows.

        Rows of zero weight take no part in training: the machine's own prediction is their
        leave-one-out prediction.
        """
        model = machines.models()[0]
        solution = model.solution
        count = CRITERIA[self.work.method](model) * solution.n_instances
        aside = self.counted & ~solution.present
        count += int(solution.wrong(solution.decision)[aside].sum())
        return float(count / self.counted.sum())

    def _on_folds(self, trained: Trained) -> list[dict[str, Any]]:
        """Evaluate on the test rows of all folds, left out of one model."""
        sets = self.work.leaving.sets
        assert sets is not None
        evaluated: list[dict[str, Any]] = []
        every = trained.problems.leave_out_folds(trained.machines, self.work.method, sets)
        seen = None
        for test, left_out in zip(sets, every, strict=True):
            own = self.scoring.of_left_out_fold(left_out, trained, test)
            if self.work.train_scores:
                seen = seen or self._on_training_rows(trained)
                own["train_scores"] = seen
            evaluated.append(own)
        return evaluated

    def _on_training_rows(self, trained: Trained) -> dict[str, float]:
        """Scores of the rows that the model was trained on."""
        predicted = trained.problems.on_training_rows(trained.machines)
        if self.split is None:
            rows, predicted.used = self.scoring.rows, self.counted
        else:
            rows = self.split[0]
        return self.scoring.of_training_rows(predicted, trained, rows)


def _part(outcome: Outcome, n_folds: int, evaluated: dict[str, Any]) -> Outcome:
    """The outcome of one of the folds that a model predicts; they share its time."""
    return replace(
        outcome,
        fit_time=outcome.fit_time / n_folds,
        score_time=outcome.score_time / n_folds,
        **evaluated,
    )
