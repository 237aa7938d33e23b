"""Scores of left-out predictions, and of two models on the same drawn rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .._typing import Array
from ..search.kept import Recorder, Replayed
from ..search.responses import LeftOutClassifier
from .paired import QUANTILE
from .subject import Subject

__all__ = ["Scored"]

#: How often rows are drawn with replacement, and how many draws must have a score.
_DRAWS, _FEWEST_DRAWS = 100, 50


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
        """The score; None if the scorer fails, as it may need what a model cannot give."""
        return None if self._scorer is None else self._of(self._replayed, self._subject.y)

    @cached_property
    def _replayed(self) -> Replayed | None:
        """The predictions that the scorer asks for."""
        if isinstance(self._classifier, Replayed):
            return self._classifier
        recorder = Recorder.of(self._classifier.given_to(self._scorer))
        if self._of(recorder, self._subject.y) is None:
            return None
        classes, asked = self._subject.classes, dict(recorder.asked)
        if "predict" in asked:
            asked["predict"] = np.searchsorted(classes, asked["predict"])
        return Replayed(asked, classes, np.arange(self._subject.n_rows))

    def _of(self, classifier: Any, y: np.ndarray) -> float | None:
        if classifier is None or self._scorer is None:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a class that is never predicted has no precision
                # Predictions are known: there is nothing to predict from.
                value = float(self._scorer(classifier, sparse.csr_matrix((y.size, 1)), y))
        except Exception:  # scorers raise whatever they like
            return None
        return value if np.isfinite(value) else None

    @cached_property
    def _drawn(self) -> Array:
        """Scores of rows, or groups, that are drawn with replacement; NaN where there is none."""
        subject, rng = self._subject, np.random.default_rng(0)
        sets = subject.sets or np.arange(subject.n_rows)[:, None]
        scores = []
        for _ in range(_DRAWS):
            drawn = rng.integers(len(sets), size=len(sets))
            rows = np.concatenate([sets[number] for number in drawn])
            own = self._replayed
            part = None if own is None else Replayed(own.responses, own.classes, rows)
            value = self._of(part, subject.y[rows])
            scores.append(np.nan if value is None else value)
        return np.array(scores)

    def interval_of_difference(self, other: Scored) -> list[float] | None:
        """95% CI of this score minus that of another model on the same rows."""
        if self.score is None or other.score is None:
            return None
        differences = self._drawn - other._drawn
        differences = differences[np.isfinite(differences)]
        if differences.size < _FEWEST_DRAWS:
            return None
        value, half = self.score - other.score, QUANTILE * float(differences.std(ddof=1))
        return [value - half, value + half]
