"""The score of a committee, corrected for having been weighted by the rows that it is scored on.

Rows are drawn with replacement, candidates are weighted by their losses on them, and the committee
that follows is scored on the rows that were not drawn, as in
:mod:`spansvm.search.scoring.bootstrap` for a single selected candidate.  Nothing is trained.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ...common.types import Array
from ..candidates.fit_arguments import has_rows, take_rows
from ..scoring.bootstrap import N_DRAWS, Repeated, draws
from ..scoring.bootstrap_scores import BLOCK, BootstrapScores
from ..scoring.corrected import Correction
from ..scoring.intervals import interval_of_score, interval_of_share
from ..scoring.kept import Keeping, Kept, keep_responses, keep_values
from ..scoring.label_scores import accuracy, count_score, only_errors
from ..scoring.quickest_scores import Sample, quickest_scores
from .means import log_odds
from .pool import Pool

__all__ = ["Draws", "Judge"]


class _Classes(ClassifierMixin, BaseEstimator):
    """Probabilities of some rows behind the interface of a classifier; notes what is asked."""

    def __init__(self, probabilities: Array, classes: np.ndarray) -> None:
        self.probabilities, self.classes_ = probabilities, classes
        self.asked: dict[str, np.ndarray] = {}

    def predict(self, X: Any) -> np.ndarray:
        self.asked["predict"] = self.classes_[self.probabilities.argmax(axis=1)]
        return self.asked["predict"]

    def decision_function(self, X: Any) -> Array:
        self.asked["decision_function"] = log_odds(self.probabilities)
        return self.asked["decision_function"]

    def predict_proba(self, X: Any) -> Array:
        self.asked["predict_proba"] = self.probabilities
        return self.probabilities

    def predict_log_proba(self, X: Any) -> Array:
        self.asked["predict_log_proba"] = np.log(self.probabilities)
        return self.asked["predict_log_proba"]


class _Targets(RegressorMixin, BaseEstimator):
    """The same for targets."""

    def __init__(self, predictions: Array) -> None:
        self.predictions = predictions
        self.asked: dict[str, np.ndarray] = {}

    def predict(self, X: Any) -> Array:
        self.asked["predict"] = self.predictions
        return self.predictions


@dataclass(frozen=True, eq=False)
class Judge:
    """Scores predictions as the search does.

    Attributes
    ----------
    scorer : callable or None
        None for accuracy.
    params : dict
        Its keyword arguments; arrays are for all rows.
    name : str
        Which score it is, if the scorer returns several.
    sample : Sample
        The rows that are predicted.
    regression : bool
    """

    scorer: Callable[..., Any] | None
    params: Mapping[str, Any]
    name: Any
    sample: Sample
    regression: bool

    def score(self, predictions: Array) -> float:
        """The score of predictions for all rows."""
        model = self._model(predictions)
        if self.scorer is not None:
            return self._called(model)
        weight = self._given().get("sample_weight")
        return float(np.average(model.predict(None) == self.sample.labels, weights=weight))

    def asked(self, predictions: Array) -> list[str]:
        """The methods that the scorer calls."""
        model = self._model(predictions)
        if self.scorer is None:
            model.predict(None)
        else:
            self._called(model)
        return list(model.asked)

    def on_draws(self, several: list[Array], methods: list[str]) -> BootstrapScores:
        """Scores of several predictions on drawn rows."""
        kept = [self._kept(own, methods) for own in several]
        return quickest_scores(self.scorer, self.params, kept, self.sample, self.name)

    @property
    def counts_errors(self) -> bool:
        """Whether the score is the share of rows that are right."""
        return not self.regression and count_score(self.scorer, self.sample.classes) is accuracy

    @property
    def weighted(self) -> bool:
        """Whether rows count differently."""
        return self.params.get("sample_weight") is not None

    def _model(self, predictions: Array) -> Any:
        if self.regression:
            return _Targets(predictions)
        return _Classes(predictions, self.sample.classes)

    def _given(self) -> dict[str, Any]:
        rows, n = self.sample.rows, len(self.sample.y)
        return {
            key: take_rows(value, rows) if has_rows(value, n) else value
            for key, value in self.params.items()
        }

    def _called(self, model: Any) -> float:
        assert self.scorer is not None
        value = self.scorer(model, self.sample.points, self.sample.labels, **self._given())
        return float(value[self.name] if isinstance(value, dict) else value)

    def _kept(self, predictions: Array, methods: list[str]) -> Kept | None:
        model = self._model(predictions)
        for method in methods:
            getattr(model, method)(None)
        if self.regression:
            return keep_values(model.asked, Keeping(self.name, False, sys.maxsize, np.float64))
        classes = self.sample.classes
        errors = only_errors(self.scorer, self.params, classes)
        keeping = Keeping(self.name, errors, sys.maxsize, np.float64)
        return keep_responses(model.asked, self.sample.labels, classes, keeping)


@dataclass(frozen=True, eq=False)
class Draws:
    """What the corrected score of a committee is computed from."""

    pool: Pool
    judge: Judge
    max_members: int
    score: float

    def correct(self) -> Correction | str:
        """The correction, or why there is none."""
        repeated = self.repeat()
        if not repeated.drawn.size:
            return (
                "no draw of the rows gives a score, as they are too few, or as the scorer looks at "
                "more than predictions"
            )
        # Below 0 only by the chance of the draws.
        score = float(self.score - max(repeated.optimism, 0.0))
        units, n_rows = self.pool.units, np.unique(self.pool.rows).size
        if self.judge.counts_errors:
            independent = not self.judge.weighted and int(units.max()) + 1 == n_rows
            interval = interval_of_share(score, repeated, n_rows, independent)
        else:
            interval = interval_of_score(score, repeated, self._limits())
        return Correction(score, interval, repeated.drawn.size)

    def repeat(self, n_draws: int = N_DRAWS) -> Repeated:
        """Weigh candidates on drawn rows, and score the committee on the others."""
        pool, judge = self.pool, self.judge
        own = pool.mean(pool.weights(self.max_members))
        methods = judge.asked(own)
        affordable = judge.on_draws([own], methods).most_draws // 2
        size = max(1, BLOCK // own.size)
        found = []
        for counts in draws(pool.units, min(n_draws, max(affordable, 1)), size):
            drawn = pool.mean(pool.weights(self.max_members, counts))
            several = judge.on_draws([own, *drawn], methods)
            n = len(counts)
            first = np.zeros((n + 1, n), dtype=np.bool_)
            first[0] = True
            both = first.copy()
            both[np.arange(1, n + 1), np.arange(n)] = True
            inside = several(counts, first)[0]
            outside = several((counts == 0).astype(counts.dtype), both)
            found.append(np.array([inside, outside[0], np.diagonal(outside[1:])]))
        every = np.concatenate(found, axis=1)
        return Repeated(*every[:, np.isfinite(every).all(axis=0)])

    def _limits(self) -> tuple[float, float]:
        own = self.pool.mean(self.pool.weights(self.max_members))
        return self.judge.on_draws([own], self.judge.asked(own)).limits
