"""Scores of left-out predictions, and of two models on the same rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..common.types import Array
from ..search.scoring.intervals import QUANTILE
from ..search.scoring.kept import Replayed
from ..search.scoring.responses import LeftOutClassifier
from .subject import Subject

__all__ = ["Scored", "score_of"]

#: Parts of the rows for the jackknife, and how many of them must have a score.
_PARTS, _FEWEST_PARTS = 25, 10


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
        return score_of(self._scorer, self._replayed, self._subject.y)

    @cached_property
    def _replayed(self) -> Replayed | None:
        """The predictions that the scorer asks for."""
        if isinstance(self._classifier, Replayed):
            return self._classifier
        classifier = self._classifier.given_to(self._scorer)
        if score_of(self._scorer, classifier, self._subject.y) is None:
            return None
        classes, asked = self._subject.classes, dict(classifier.asked)
        if "predict" in asked:
            asked["predict"] = np.searchsorted(classes, asked["predict"])
        return Replayed(asked, classes, np.arange(self._subject.n_rows))

    @cached_property
    def _without_parts(self) -> Array:
        """Scores without one part of the rows after the other; NaN where there is none."""
        subject, own = self._subject, self._replayed
        scores = np.full(_PARTS, np.nan)
        parts = np.random.default_rng(0).permutation(int(subject.units.max()) + 1) % _PARTS
        for number in range(_PARTS):
            rows = np.flatnonzero(parts[subject.units] != number)
            if own is not None and 0 < rows.size < subject.n_rows:
                part = Replayed(own.responses, own.classes_, rows)
                value = score_of(self._scorer, part, subject.y[rows])
                scores[number] = np.nan if value is None else value
        return scores

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
        differences = differences[np.isfinite(differences)]
        n = differences.size
        if n < _FEWEST_PARTS:
            return None, None
        half = QUANTILE * float(np.sqrt((n - 1) * differences.var()))
        value = self.score - other.score + optimism
        return value, [value - half, value + half]
