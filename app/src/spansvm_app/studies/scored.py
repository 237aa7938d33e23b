"""Scores of left-out predictions, and of two models on the same rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from spansvm.blocks import LeftOutClassifier, Replayed, asked_by, scores_without_parts

from ..common.types import Array
from .paired import QUANTILE
from .subject import Subject

__all__ = [
    "PARTS",
    "Scored",
    "asked_of",
    "jackknife_error",
    "parts_of",
    "score_of",
]

#: Parts of the rows for the jackknife, and how many of them must have a score.
PARTS, _FEWEST_PARTS = 25, 10


def score_of(scorer: Callable[..., Any] | None, classifier: Any, y: np.ndarray) -> float | None:
    """A score of known predictions; None without them, or if the scorer needs more and fails."""
    if scorer is None or classifier is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a class that is never predicted has no precision
            # Predictions are known: there is nothing to predict from.
            value = float(scorer(classifier, sparse.csr_matrix((y.size, 1)), y))
    except Exception:  # scorers raise whatever they like
        return None
    return value if np.isfinite(value) else None


def asked_of(
    scorer: Callable[..., Any] | None, classifier: LeftOutClassifier, y: np.ndarray
) -> dict[str, np.ndarray] | None:
    """What a scorer asks of a classifier, by method; None without one, or if it fails."""
    if scorer is None:
        return None
    given, method = classifier.given_to(scorer), asked_by(scorer)
    try:
        if method is not None:
            getattr(given, method)(sparse.csr_matrix((y.size, 1)))
        elif score_of(scorer, given, y) is None:
            return None
    except Exception:  # a scorer may ask for what there is not
        return None
    return dict(given.asked)


def parts_of(units: np.ndarray) -> np.ndarray:
    """The part of every row, or group, for the jackknife."""
    return (np.random.default_rng(0).permutation(int(units.max()) + 1) % PARTS)[units]


def jackknife_error(values: Array) -> float | None:
    """Standard error of a value, from the same without each part; None if too few are known."""
    known = values[np.isfinite(values)]
    if known.size < _FEWEST_PARTS:
        return None
    return float(np.sqrt((known.size - 1) * known.var()))


class Scored:
    """The score of left-out predictions for the rows of a subject.

    Parameters
    ----------
    subject : Subject
    scorer : callable or None
        A scikit-learn scorer; without one, everything is None.
    classifier : LeftOutClassifier or Replayed
        Predicts the rows of the subject.
    """

    def __init__(
        self,
        subject: Subject,
        scorer: Callable[..., Any] | None,
        classifier: LeftOutClassifier | Replayed,
    ) -> None:
        self._subject, self._scorer, self._classifier = subject, scorer, classifier

    @cached_property
    def score(self) -> float | None:
        """The score, by :func:`score_of`; None if there is no scorer."""
        if self._scorer is None:
            return None
        own = self._classifier
        if isinstance(own, LeftOutClassifier):
            own = own.given_to(self._scorer)
        return score_of(self._scorer, own, self._subject.y)

    @cached_property
    def _without_parts(self) -> Array:
        """Scores without one part of the rows after the other; NaN where there is none."""
        subject, asked = self._subject, self._asked()
        if self._scorer is None or asked is None:
            return np.full(PARTS, np.nan)
        return scores_without_parts(
            self._scorer, [asked], subject.y, subject.classes, parts_of(subject.units), PARTS
        )[0, 1:]

    def _asked(self) -> dict[str, np.ndarray] | None:
        """The predictions that the scorer asks for."""
        own, method = self._classifier, asked_by(self._scorer)
        if isinstance(own, LeftOutClassifier):
            return asked_of(self._scorer, own, self._subject.y)
        asked = dict(own.responses) if method is None else {method: own.responses[method]}
        if "predict" in asked:
            asked["predict"] = own.classes_[asked["predict"]]
        return asked

    def difference(
        self, other: Scored, optimism: float = 0.0
    ) -> tuple[float, list[float]] | tuple[None, None]:
        """The score minus that of another model on the same rows, and its 95% CI.

        The standard error is that of the jackknife over parts of the rows, or of the groups.
        `optimism` is by how much the other score is too good, less this one's.
        """
        if self.score is None or other.score is None:
            return None, None
        differences = self._without_parts - other._without_parts
        error = jackknife_error(differences)
        if error is None:
            return None, None
        half, value = QUANTILE * error, self.score - other.score + optimism
        return value, [value - half, value + half]
