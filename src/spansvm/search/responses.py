"""Left-out predictions behind the interface of a classifier, as scorers expect it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from .._typing import Array
from .._validation import n_rows
from ..left_out import LeftOutClasses
from ..pairs import shaped
from ..svc import SpanSVC

__all__ = ["LeftOutClassifier"]


class LeftOutClassifier(ClassifierMixin, BaseEstimator):
    """Predictions for rows that the machines did not see, with the interface of a classifier.

    This is the estimator that scorers receive.  It predicts the rows that count and no others.
    `ranks` is for scorers that rank decision values.
    """

    def __init__(
        self, left_out: LeftOutClasses, classes: np.ndarray, settings: SpanSVC, ranks: bool = False
    ) -> None:
        self.left_out, self.settings, self.ranks = left_out, settings, ranks
        self.classes = self.classes_ = classes

    def given_to(self, scorer: Any) -> LeftOutClassifier:
        """These predictions as the scorer needs them."""
        methods = getattr(scorer, "_response_method", None)
        methods = [methods] if isinstance(methods, str) else list(methods or ())
        ranks = "decision_function" in methods
        return LeftOutClassifier(self.left_out, self.classes, self.settings, ranks)

    def _of(self, X: Any, values: np.ndarray) -> np.ndarray:
        """Values of the rows that count; ValueError if `X` has another number of rows."""
        n = int(self.left_out.used.sum())
        if n_rows(X) != n:
            raise ValueError(
                f"Left-out predictions are for {n} rows, but a scorer asked for {n_rows(X)}. In a "
                "search, a scorer must predict exactly the rows it is given."
            )
        return values[self.left_out.used]

    def decision_function(self, X: Any) -> Array:
        """Decision values of the rows."""
        values, n_classes = self.left_out.values, self.classes.size
        if self.ranks and n_classes == 2:
            return self._of(X, values.comparable)[:, 0]
        shape = self.settings.decision_function_shape
        return shaped(self._of(X, values.decision), n_classes, shape)

    def predict(self, X: Any) -> np.ndarray:
        """Labels of the rows."""
        return self._of(X, self.left_out.labels(self.classes, self.settings.break_ties))

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities, from sigmoids fitted on leave-one-out values."""
        return self._of(X, self.left_out.probabilities)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of :meth:`predict_proba`."""
        return np.log(self.predict_proba(X))
