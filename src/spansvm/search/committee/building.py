"""From a search to a committee: left-out predictions of all candidates, then the members.

The search has scored its candidates, mostly by labels.  The committee needs left-out
probabilities: all candidates are evaluated once more, by the same chains, and those that count are
trained on all rows, all of one kernel in one go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _check_feature_names, _check_n_features

from ...common.methods import predicts
from ...common.types import Array, Rows
from ...estimators.svr import SpanSVR
from ...estimators.weighting import weigh
from ...multiclass.group_left_out import groups_left_out
from ...multiclass.verified import verified_left_out
from ..candidates.building import candidate_estimator
from ..candidates.composite import rebuilt, unwrap
from ..candidates.fit_arguments import take_rows
from ..candidates.leaving import Leaving
from ..candidates.shared_data import SharedData
from ..evaluation.dispatch import plan, run
from ..evaluation.evaluator import train
from ..evaluation.trained import Trained
from ..evaluation.work import Outcome, Work
from ..scoring.corrected import predicted_rows
from ..scoring.quickest_scores import Sample
from .classifier import Committee
from .correction import Draws, Judge
from .members import Members, SharedExpansion, shared_expansion
from .pool import Pool, PoolBuilder
from .regressor import RegressionCommittee
from .weights import log_losses, squared_residuals

__all__ = ["Searched"]


@dataclass(eq=False)
class Searched:
    """What a search has evaluated, and on what.

    Attributes
    ----------
    work, X, y
        What its candidates share, and the data.
    candidates : list of dict
        Those that were evaluated.
    groups : array-like or None
        Rows that are drawn together.
    jobs : (int or None, int or str)
        How many chains run at a time, and how many are dispatched.
    scorer : str
        Name of the scorer that candidates are selected by.
    """

    work: Work
    X: Any
    y: np.ndarray
    candidates: Sequence[Mapping[str, Any]]
    groups: Any
    jobs: tuple[int | None, Any]
    scorer: str

    @cached_property
    def pool(self) -> Pool:
        """Left-out predictions of all candidates."""
        method = self.work.method if predicts(self.work.method) else "verified"
        work = replace(
            self.work, shared=SharedData(), method=method, recording=True, train_scores=False
        )
        predicted = predicted_rows(work, len(self.y))
        rows = np.concatenate(predicted)
        units = rows
        if self.groups is not None:
            units = np.unique(np.asarray(self.groups), return_inverse=True)[1][rows]
        builder = PoolBuilder(
            rows, np.unique(units, return_inverse=True)[1], classes=not self.work.regression
        )
        waiting: dict[int, dict[int, Outcome]] = {}
        try:
            for index, split, outcome in run(work, self.X, self.y, self.candidates, *self.jobs):
                own = waiting.setdefault(index, {})
                own.update(outcome.by_split(split, work.leaving))
                if len(own) == len(predicted):
                    parts = [own[k].kept for k in range(len(predicted))]
                    del waiting[index]
                    known = [next(iter(kept.responses.values())) for kept in parts if kept]
                    if len(known) == len(parts):
                        predictions = np.concatenate(known)
                        builder.add(
                            self.candidates[index], predictions, self._losses(predictions, rows)
                        )
        finally:
            work.shared.close()
        return builder.pool()

    def _losses(self, predictions: Array, rows: Rows) -> Array:
        if self.work.regression:
            return squared_residuals(predictions, self.y[rows])
        return log_losses(predictions, np.unique(self.y, return_inverse=True)[1][rows])

    def committee(self, max_members: int) -> Committee | RegressionCommittee:
        """The committee of at most so many members, trained on all rows."""
        pool = self.pool
        weights = pool.weights(max_members)
        chosen = np.flatnonzero(weights)
        chosen = chosen[np.argsort(-weights[chosen], kind="stable")]
        make = RegressionCommittee if self.work.regression else Committee
        result = make(max_members=max_members)
        result.members_ = [pool.candidates[i] for i in chosen]
        result.weights_ = weights[chosen]
        result.losses_ = pool.losses[chosen].mean(axis=1)
        _check_feature_names(result, self.X, reset=True)
        _check_n_features(result, self.X, reset=True)
        self._train(result)
        mean = pool.mean(weights)
        self._leave_out(result, mean)
        judge = self._judge()
        result.loo_score_ = judge.score(mean)
        result._correction = Draws(pool, judge, max_members, result.loo_score_)
        return result

    def _judge(self) -> Judge:
        work, name = self.work, self.scorer
        scorer = None if work.scorers is None else work.scorers[name]
        sample = Sample(self.pool.rows, self.y, self.X)
        return Judge(scorer, work.score_params.get(name, {}), name, sample, work.regression)

    def _leave_out(self, result: Any, mean: Array) -> None:
        """Left-out predictions of all rows; those of zero weight are simply predicted."""
        rows, n = self.pool.rows, len(self.y)
        left_out = result._from_left_out(mean, rows, n)
        weight = self.work.params.sample_weight
        counted = np.zeros(n, dtype=np.bool_)
        counted[rows] = True
        predict = result.predict if self.work.regression else result.predict_proba
        if not counted.all() and weight is not None:
            unseen = np.flatnonzero(~counted & (weight == 0))
            if unseen.size:
                left_out[unseen] = predict(take_rows(self.X, unseen))
        result._counted = counted
        if self.work.regression:
            result.loo_predict_ = left_out
            result._targets = self.y.astype(np.float64)
        else:
            result.loo_predict_proba_ = left_out
            result._indices = np.searchsorted(result.classes_, self.y)

    # Members ----------------------------------------------------------------------------------

    def _train(self, result: Any) -> None:
        """Train the members on all rows."""
        sets = self.work.leaving.sets if self.work.leaving.pooled else None
        # Trained as a SpanSVC trains itself, whose probabilities the members have.
        work = replace(
            self.work, shared=SharedData(), leaving=Leaving([None]), method="span_rule",
            scorers=None, train_scores=False,
        )  # fmt: skip
        if not work.regression:
            result.classes_ = np.unique(self.y)
        transformers: dict[str, int] = {}
        fitted: list[Mapping[str, Any]] = []
        kernels: list[tuple[int, SharedExpansion]] = []
        places: dict[int, tuple[int, int]] = {}
        further: dict[int, Any] = {}
        result._single = None
        try:
            for keys, indices, trained in _chains(work, self.X, self.y, result.members_):
                if keys[0] not in transformers:
                    transformers[keys[0]] = len(fitted)
                    fitted.append(dict(trained[0].problems.rows.fitted))
                rows = _numbers(trained[0])
                expansion = shared_expansion(rows, [own.machines[0] for own in trained])
                kernels.append((transformers[keys[0]], expansion))
                for place, (index, own) in enumerate(zip(indices, trained, strict=True)):
                    places[index] = len(kernels) - 1, place
                    further[index] = _target_transformer(own) if work.regression else (
                        _calibration(own, sets)
                    )  # fmt: skip
                if len(result.members_) == 1:
                    result._single = _alone(trained[0])
        finally:
            work.shared.close()
        every = range(len(result.members_))
        result._members = Members(fitted, kernels, [places[index] for index in every])
        name = "_target_transformers" if work.regression else "_calibrations"
        setattr(result, name, [further[index] for index in every])


def _chains(
    work: Work, X: Any, y: np.ndarray, members: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[tuple[str, str], list[int], list[Trained]]]:
    """Members with the same transformers and kernel, trained; and their places."""
    together: dict[tuple[str, str], list[Any]] = {}
    for chain in plan(work, members):
        together.setdefault((chain.transformers, chain.kernel), []).append(chain)
    for keys, chains in together.items():
        indices = [index for chain in chains for index in chain.indices]
        yield keys, indices, [own for chain in chains for own in train(work, X, y, chain)]


def _numbers(trained: Trained) -> Any:
    """The rows that machines were trained on; ValueError unless they are numbers."""
    own = trained.problems.sets[0]
    if own.rows is not trained.problems.rows:
        raise ValueError(
            "A committee needs rows that are numbers; the kernel of this search takes others."
        )
    return own.X


def _calibration(trained: Trained, sets: Sequence[Rows] | None) -> Any:
    """From values of a classifier to probabilities."""
    machines = trained.machines[0]
    with machines.holding_grams():
        left_out = verified_left_out(machines) if sets is None else groups_left_out(machines, sets)
        return replace(left_out.calibration, shifts=None)


def _target_transformer(trained: Trained) -> Any:
    """What the predictions of a regression are transformed back by; None for nothing."""
    wrapper = trained.problems.rows.wrapper
    return None if wrapper is None else wrapper.transformer_


def _alone(trained: Trained) -> Any:
    """The fitted estimator of a candidate, with a SpanSVC or SpanSVR that keeps no rows."""
    estimator = candidate_estimator(trained.given, trained.candidate)
    machines, own = trained.machines[0], trained.problems.sets[0]
    if isinstance(trained.machine, SpanSVR):
        if unwrap(estimator).wrapper is not None:
            return trained.fitted()
        model: Any = clone(trained.machine).hold(machines).without_training_rows(exact=False)
    else:
        given = trained.params.sample_weight, trained.params.scores
        weights, _ = weigh(trained.machine, own.y, *given)
        model = clone(trained.machine).hold(machines, own.classes, weights).without_training_rows()
    return rebuilt(estimator, trained.problems.rows.fitted, model)
