"""Predictions for rows that the machines did not see: what a candidate is judged by."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from .._validation import n_rows
from ..machines import Machines
from ..pairs import class_pairs, labels, shaped
from ..qp import Array
from ..svc import SpanSVC

__all__ = ["LeftOut", "hinge_loss"]


class LeftOut(ClassifierMixin, BaseEstimator):
    """Predictions for rows that the machines did not see, in the shape of a classifier.

    This is what scorers are given.  It predicts these rows and no others, whatever it is
    asked.
    """

    def __init__(
        self, values: Array, machines: Machines, classes: np.ndarray, settings: SpanSVC
    ) -> None:
        self.values, self.machines, self.settings = values, machines, settings
        self.classes = self.classes_ = classes

    def _check(self, X: Any) -> None:
        if n_rows(X) != self.values.shape[0]:
            raise ValueError(
                f"Left-out predictions are for {self.values.shape[0]} rows, but a scorer asked "
                f"for {n_rows(X)}. Scorers of a search must predict the rows that they are given."
            )

    def decision_function(self, X: Any) -> Array:
        """Decision values of the rows."""
        self._check(X)
        return shaped(self.values, self.classes.size, self.settings.decision_function_shape)

    def predict(self, X: Any) -> np.ndarray:
        """Labels of the rows."""
        self._check(X)
        return labels(self.values, self.classes, self.settings.break_ties)

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, by sigmoids fitted on leave-one-out values."""
        self._check(X)
        return self.machines.probabilities(self.values)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of :meth:`predict_proba`."""
        return np.log(self.predict_proba(X))


def hinge_loss(values: Array, indices: np.ndarray, n_classes: int) -> float:
    """Mean hinge loss of the values of all pairs; a row counts in the pairs that have its class."""
    if n_classes == 2:
        signed = np.where(indices == 1, values[:, 0], -values[:, 0])
        return float(np.maximum(0.0, 1.0 - signed).mean()) if signed.size else np.nan
    total, number = 0.0, 0
    for column, (first, second) in enumerate(class_pairs(n_classes)):
        sign = np.where(indices == second, 1.0, -1.0)
        rows = (indices == first) | (indices == second)
        total += float(np.maximum(0.0, 1.0 - sign * values[:, column])[rows].sum())
        number += int(rows.sum())
    return total / number if number else np.nan
