"""Predictions for rows that the machines did not see: what a candidate is judged by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from .._typing import Array, Mask
from .._validation import n_rows
from ..left_out import LeftOut as LeftOutPair
from ..machines import Machines
from ..pairs import class_pairs, labels, shaped
from ..svc import SpanSVC

__all__ = ["LeftOut", "Values", "hinge_loss"]


@dataclass(frozen=True, eq=False)
class Values:
    """Values of all pairs for rows that the machines did not see, each for its purpose.

    Attributes
    ----------
    counted : ndarray of shape (n, n_pairs)
        To predict labels from.
    decision, comparable : callable without arguments
        To be decision values; and to be ranked, or made probabilities of.  Functions, as they
        may take longer and are not always needed.
    """

    counted: Array
    decision: Callable[[], Array]
    comparable: Callable[[], Array]

    @classmethod
    def left_out(cls, machines: Machines, rows: Mask) -> Values:
        """Of the training rows, each left out."""
        return cls(
            machines.rule[rows],
            lambda: machines.leave_one_out[rows],
            lambda: machines.comparable[rows],
        )

    @classmethod
    def exact(cls, machines: Machines, pairs: Sequence[LeftOutPair], rows: Mask) -> Values:
        """The same, all of them followed exactly."""
        values = machines.of_all_rows([pair.decision for pair in pairs])[rows]
        comparable = machines.of_all_rows([pair.ranking for pair in pairs])[rows]
        return cls(values, lambda: values, lambda: comparable)

    @classmethod
    def tested(cls, values: Array) -> Values:
        """Of test rows: one model says all of them, so they are comparable as they are."""
        return cls(values, lambda: values, lambda: values)


class LeftOut(ClassifierMixin, BaseEstimator):
    """Predictions for rows that the machines did not see, in the shape of a classifier.

    This is what scorers are given.  It predicts these rows and no others, whatever it is
    asked.  `ranks` is for scorers that rank decision values.
    """

    def __init__(
        self,
        values: Values,
        machines: Machines,
        classes: np.ndarray,
        settings: SpanSVC,
        ranks: bool = False,
    ) -> None:
        self.values, self.machines, self.settings = values, machines, settings
        self.classes = self.classes_ = classes
        self.ranks = ranks

    def given_to(self, scorer: Any) -> LeftOut:
        """These predictions as the scorer needs them."""
        methods = getattr(scorer, "_response_method", None)
        methods = [methods] if isinstance(methods, str) else list(methods or ())
        return LeftOut(
            self.values, self.machines, self.classes, self.settings, "decision_function" in methods
        )

    def _check(self, X: Any) -> None:
        n = self.values.counted.shape[0]
        if n_rows(X) != n:
            raise ValueError(
                f"Left-out predictions are for {n} rows, but a scorer asked "
                f"for {n_rows(X)}. Scorers of a search must predict the rows that they are given."
            )

    def decision_function(self, X: Any) -> Array:
        """Decision values of the rows."""
        self._check(X)
        if self.ranks and self.classes.size == 2:
            return self.values.comparable()[:, 0]
        values = self.values.decision()
        return shaped(values, self.classes.size, self.settings.decision_function_shape)

    def predict(self, X: Any) -> np.ndarray:
        """Labels of the rows."""
        self._check(X)
        return labels(self.values.counted, self.classes, self.settings.break_ties)

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, by sigmoids fitted on leave-one-out values."""
        self._check(X)
        return self.machines.probabilities(self.values.comparable())

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
