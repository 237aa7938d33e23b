"""Predictions for rows that a wrapped classifier did not see, from those of its machines.

:class:`sklearn.multiclass.OneVsRestClassifier` has one machine per class, against all others, and
predicts the class with the largest value.  :class:`sklearn.calibration.CalibratedClassifierCV`
predicts the most probable class.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..common.pairs import shaped
from ..common.types import Array, Mask
from .left_out import LeftOutClasses

__all__ = ["ProbableClasses", "RestClasses"]


class RestClasses(LeftOutClasses):
    """Predictions of one machine per class, or of the only one for two classes.

    Parameters
    ----------
    machines : sequence of LeftOutClasses
        Of every class against the rest; for two classes, of the second against the first.
    indices : ndarray of shape (n,)
        The class of every row; -1 for a class that the classifier does not know.
    threshold : float, default=0.0
        Of two classes, the second is predicted for values above it.
    """

    def __init__(
        self, machines: Sequence[LeftOutClasses], indices: np.ndarray, threshold: float = 0.0
    ) -> None:
        self.machines, self.indices, self._threshold = machines, indices, threshold
        self.n_classes, self.used = max(len(machines), 2), machines[0].used

    def _predicted(self, break_ties: bool) -> np.ndarray:
        if self.n_classes == 2:
            return (self.machines[0].values.counted[:, 0] > self._threshold).astype(np.intp)
        values = np.column_stack([own.values.counted[:, 0] for own in self.machines])
        # Of equal values the last counts, as in scikit-learn.
        return self.n_classes - 1 - np.argmax(values[:, ::-1], axis=1)

    def unshifted(self) -> LeftOutClasses:
        """The same for scores; see :meth:`LeftOutClasses.unshifted`."""
        machines = [own.unshifted() for own in self.machines]
        result = RestClasses(machines, self.indices, self._threshold)
        result.used = self.used
        return result

    def wrong(self, break_ties: bool = False) -> Mask:
        """Which rows are misclassified."""
        if self.n_classes == 2 and self._threshold == 0:
            return self.machines[0].wrong() | (self.indices < 0)
        return self._predicted(break_ties) != self.indices

    @property
    def hinge(self) -> float:
        """Mean hinge loss; a row counts for each machine."""
        return float(np.mean([own.hinge for own in self.machines]))

    def decision_function(self, shape: str, ranks: bool = False) -> Array:
        """Decision values: one column per class, whatever the shape; one for two classes."""
        every = [own.decision_function(shape, ranks) for own in self.machines]
        return every[0] if self.n_classes == 2 else np.column_stack(every)

    @property
    def probabilities(self) -> Array:
        """Class probabilities: those of the machines, divided by their sum."""
        return self._normalised([own.probabilities for own in self.machines])

    @property
    def calibrated_probabilities(self) -> Array:
        """The same from probabilities that need not agree with what a machine predicts."""
        return self._normalised([own.calibrated_probabilities for own in self.machines])

    def _normalised(self, parts: Sequence[Array]) -> Array:
        if self.n_classes == 2:
            return parts[0]
        every = np.column_stack([own[:, 1] for own in parts])
        return every / every.sum(axis=1, keepdims=True)


class ProbableClasses(LeftOutClasses):
    """The same predictions, with the most probable class as label."""

    def __init__(self, left_out: LeftOutClasses) -> None:
        vars(self).update(vars(left_out))
        self.zero_is_lost = False

    @property
    def probabilities(self) -> Array:
        """Class probabilities as they are calibrated: here they decide."""
        return self.calibrated_probabilities

    def unshifted(self) -> LeftOutClasses:
        """The same: probabilities are those of comparable values."""
        return self

    def _predicted(self, break_ties: bool) -> np.ndarray:
        return np.argmax(self.probabilities, axis=1)

    def decision_function(self, shape: str, ranks: bool = False) -> Array:
        """Decision values of the machine; comparable ones, as the probabilities are."""
        return shaped(self.values.comparable, self.n_classes, shape)
