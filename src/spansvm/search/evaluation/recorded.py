"""Predictions of candidates as they are, for what is made of several candidates at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...common.types import Array, Rows
from ...multiclass.left_out import LeftOutClasses
from ...regression.left_out import LeftOutTargets
from ..scoring.kept import Kept
from .scored import Scoring
from .scored_targets import TargetScoring
from .trained import Trained

__all__ = ["RecordedClasses", "RecordedTargets"]


class RecordedClasses(Scoring):
    """Keeps probabilities of all classes, as a SpanSVC has them, in the place of scores."""

    needs_values = True

    def left_out(
        self, left_out: LeftOutClasses, trained: Trained, criterion: float | None = None
    ) -> dict[str, Any]:
        """Probabilities of all rows that count."""
        unshifted = left_out.unshifted()
        return self._recorded(unshifted.probabilities[unshifted.used], trained)

    def of_fold(self, left_out: LeftOutClasses, trained: Trained, test: Rows) -> dict[str, Any]:
        """Probabilities of the test rows of a fold."""
        return self._recorded(left_out.probabilities, trained)

    def of_left_out_fold(
        self, left_out: LeftOutClasses, trained: Trained, test: Rows
    ) -> dict[str, Any]:
        """The same if a model of all rows predicts them."""
        return self._recorded(left_out.probabilities, trained)

    def _recorded(self, probabilities: Array, trained: Trained) -> dict[str, Any]:
        """With a column for classes that the training rows of a fold lack."""
        classes = np.unique(self._y)
        every = np.zeros((probabilities.shape[0], classes.size))
        every[:, np.searchsorted(classes, trained.problems.classes)] = probabilities
        return {"kept": Kept(responses={"predict_proba": every}, values=True)}


class RecordedTargets(TargetScoring):
    """Keeps predicted targets in the place of scores."""

    def left_out(
        self, left_out: Any, trained: Trained, criterion: float | None = None
    ) -> dict[str, Any]:
        """Targets of all rows that count."""
        return _recorded(left_out)

    def of_fold(self, left_out: Any, trained: Trained, test: Rows) -> dict[str, Any]:
        """Targets of the test rows of a fold."""
        return _recorded(left_out)

    def of_left_out_fold(self, left_out: Any, trained: Trained, test: Rows) -> dict[str, Any]:
        """The same if a model of all rows predicts them."""
        return _recorded(left_out)


def _recorded(left_out: LeftOutTargets) -> dict[str, Any]:
    predicted = np.asarray(left_out.predictions, dtype=np.float64)[left_out.used]
    return {"kept": Kept(responses={"predict": predicted}, values=True)}
