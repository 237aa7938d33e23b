"""Predictions of several labels per row, for rows that a classifier did not see.

Every label, a column of ``y``, has machines of its own: one in
:class:`sklearn.multiclass.OneVsRestClassifier`, where a row has the label or not, and those of all
pairs of classes in :class:`sklearn.multioutput.MultiOutputClassifier`.  Machines of different
labels know nothing of each other, so the left-out predictions of a row are those of its labels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..common.types import Array, Mask
from .left_out import LeftOutClasses

__all__ = ["ConstantClass", "LeftOutLabels"]


class ConstantClass(LeftOutClasses):
    """Predictions of a label that all training rows have, or none: there is no machine for it.

    Parameters
    ----------
    present : bool
        Whether all training rows have it.
    indices : ndarray of shape (n,)
        1 for the rows that have it, 0 for the others.
    """

    def __init__(self, present: bool, indices: np.ndarray) -> None:
        self._present, self.indices, self.n_classes = present, indices, 2
        self.used = np.ones(indices.size, dtype=np.bool_)

    def _predicted(self, break_ties: bool) -> np.ndarray:
        return np.full(self.indices.size, int(self._present), dtype=np.intp)

    def wrong(self, break_ties: bool = False) -> Mask:
        """Which rows are misclassified."""
        return self._predicted(break_ties) != self.indices

    def unshifted(self) -> LeftOutClasses:
        """The same: there is no intercept."""
        return self

    @property
    def hinge(self) -> float:
        """NaN: without a machine there are no margins."""
        return np.nan

    def decision_function(self, shape: str, ranks: bool = False) -> Array:
        """As in scikit-learn, 1 if all rows have the label, and otherwise 0."""
        return np.full(self.indices.size, float(self._present))

    @property
    def probabilities(self) -> Array:
        """The prediction is certain."""
        return np.eye(2)[self._predicted(False)]

    @property
    def calibrated_probabilities(self) -> Array:
        """The same."""
        return self.probabilities


class LeftOutLabels:
    """Predictions of all labels.

    Parameters
    ----------
    columns : sequence of LeftOutClasses
        Those of every label.
    used : ndarray of bool of shape (n,)
        Which rows count.
    """

    def __init__(self, columns: Sequence[LeftOutClasses], used: Mask) -> None:
        self.columns, self.used = columns, used

    def unshifted(self) -> LeftOutLabels:
        """The same for scores; see :meth:`LeftOutClasses.unshifted`."""
        return LeftOutLabels([own.unshifted() for own in self.columns], self.used)

    def labels(self, classes: Sequence[np.ndarray], break_ties: bool = False) -> np.ndarray:
        """The predicted labels, a column each; `classes` are those of every column."""
        every = zip(self.columns, classes, strict=True)
        return np.asarray([own.labels(known, break_ties) for own, known in every]).T

    def wrong(self, break_ties: bool = False) -> Mask:
        """Which rows have a wrong label."""
        return np.any([own.wrong(break_ties) for own in self.columns], axis=0)

    def error(self, break_ties: bool = False) -> float:
        """Share of rows with a wrong label among those that count."""
        return float(self.wrong(break_ties)[self.used].mean())

    @property
    def hinge(self) -> float:
        """Mean hinge loss; a row counts for each machine."""
        losses = [own.hinge for own in self.columns if not isinstance(own, ConstantClass)]
        return float(np.mean(losses))

    def decision_function(self, shape: str, ranks: bool = False) -> Array:
        """Decision values of labels that a row has or has not, a column each."""
        return np.column_stack([own.decision_function(shape, ranks) for own in self.columns])

    @property
    def probabilities(self) -> list[Array]:
        """Class probabilities of every label."""
        return [own.probabilities for own in self.columns]

    @property
    def calibrated_probabilities(self) -> list[Array]:
        """The same from probabilities that need not agree with what a machine predicts."""
        return [own.calibrated_probabilities for own in self.columns]
