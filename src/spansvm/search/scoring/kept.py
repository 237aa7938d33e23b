"""Left-out predictions of the candidates of a search, kept in little memory.

They are what the score of the selected model is corrected from.  Of a score that follows from the
numbers of misclassified rows, one bit per row and candidate is kept; of any other, what its scorer
asked of the classifier: labels, or values in single precision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from ...common.types import Mask, Rows
from ...common.validation import n_rows
from .responses import TrainedAttributes

__all__ = [
    "BUDGET",
    "Keeping",
    "Kept",
    "Replayed",
    "ReplayedLabels",
    "ReplayedValues",
    "keep_errors",
    "keep_responses",
    "keep_values",
]

#: Memory for the predictions of all candidates, in bytes.
BUDGET = 2**28


@dataclass(frozen=True)
class Keeping:
    """What is kept of every candidate.

    Attributes
    ----------
    scorer : str
        Name of the scorer to select by.
    only_errors : bool
        Whether its score follows from the numbers of misclassified rows.
    most_bytes : int
        More than this, for one candidate on one split, is not kept.
    dtype : type
        Of values.
    """

    scorer: str
    only_errors: bool
    most_bytes: int
    dtype: type = np.float32


@dataclass(frozen=True, eq=False)
class Kept:
    """Predictions of one candidate for the rows of one split.

    Attributes
    ----------
    wrong : ndarray of uint8, or None
        Which rows are misclassified, eight to a byte.
    responses : dict of str to ndarray
        What each method of the classifier returned; labels as indices of the classes.
    values : bool
        Whether responses are as they were returned: numbers, or several labels per row.
    """

    wrong: np.ndarray | None = None
    responses: Mapping[str, np.ndarray] = field(default_factory=dict)
    values: bool = False

    @property
    def n_bytes(self) -> int:
        """How much memory they take."""
        arrays = [*self.responses.values(), *([] if self.wrong is None else [self.wrong])]
        return sum(array.nbytes for array in arrays)


def keep_errors(wrong: Mask, keeping: Keeping) -> Kept | None:
    """Which rows are misclassified; None if that takes too much memory."""
    kept = Kept(np.packbits(wrong))
    return kept if kept.n_bytes <= keeping.most_bytes else None


def keep_responses(
    asked: Mapping[str, np.ndarray], y: np.ndarray, classes: np.ndarray, keeping: Keeping
) -> Kept | None:
    """What a scorer asked of the classifier; None if that takes too much memory.

    `y` holds the labels of these rows, and `classes` those of all rows, in order.
    """
    if keeping.only_errors:
        return keep_errors(asked["predict"] != y, keeping)
    responses = {}
    for method, values in asked.items():
        if method == "predict":
            responses[method] = np.searchsorted(classes, values).astype(
                np.min_scalar_type(classes.size)
            )
        else:
            responses[method] = values.astype(keeping.dtype)
    kept = Kept(responses=responses)
    return kept if kept.n_bytes <= keeping.most_bytes else None


def keep_values(asked: Mapping[str, np.ndarray], keeping: Keeping) -> Kept | None:
    """What a scorer asked of an estimator that does not predict classes; None if it is too much."""
    numbers = {method: values for method, values in asked.items() if values.dtype.kind in "biuf"}
    kept = Kept(
        responses={
            method: values.astype(keeping.dtype) if values.dtype.kind == "f" else _small(values)
            for method, values in numbers.items()
        },
        values=True,
    )
    return kept if kept.n_bytes <= keeping.most_bytes else None


def _small(numbers: np.ndarray) -> np.ndarray:
    """Whole numbers in as few bytes as they need."""
    ends = [np.min_scalar_type(end) for end in (numbers.min(initial=0), numbers.max(initial=0))]
    return numbers.astype(np.result_type(*ends))


class Replayed(TrainedAttributes):
    """Kept predictions of some rows behind the interface of a classifier."""

    def __init__(
        self,
        responses: Mapping[str, np.ndarray],
        classes: np.ndarray,
        rows: Rows,
        fitted: Callable[[], Any] | None = None,
    ) -> None:
        super().__init__(fitted)
        self.responses, self.rows = responses, rows
        self.classes_ = classes

    def _of_last_step(self) -> Replayed:
        return Replayed(
            self.responses, self.classes_, self.rows, lambda: self._model().steps[-1][1]
        )

    def _answer(self, method: str, X: Any) -> np.ndarray:
        if method not in self.responses or n_rows(X) != self.rows.size:
            raise ValueError(f"The scorer asks for other predictions than before: {method}.")
        values = self.responses[method][self.rows]
        return self.classes_[values] if method == "predict" else values


class ReplayedValues(BaseEstimator):
    """Kept predictions of some rows that are no classes, behind the interface of an estimator."""

    def __init__(self, responses: Mapping[str, np.ndarray], rows: Rows) -> None:
        self.responses, self.rows = responses, rows

    def predict(self, X: Any) -> np.ndarray:
        """What the estimator predicted for the rows."""
        if "predict" not in self.responses or n_rows(X) != self.rows.size:
            raise ValueError("The scorer asks for other predictions than before.")
        return self.responses["predict"][self.rows]


def _has(method: str) -> Callable[[Any], bool]:
    """Whether predictions of a method were kept, for ``available_if``."""
    return lambda replayed: method in replayed.responses


class ReplayedLabels(ClassifierMixin, BaseEstimator):
    """Kept predictions of several labels per row, behind the interface of a classifier.

    It has the methods that were asked for, and no others.
    """

    def __init__(self, responses: Mapping[str, np.ndarray], rows: Rows) -> None:
        self.responses, self.rows = responses, rows
        n_labels = max(values.shape[-1] for values in responses.values())
        self.classes_ = [np.arange(2)] * n_labels

    @available_if(_has("predict"))
    def predict(self, X: Any) -> np.ndarray:
        """What the classifier predicted for the rows."""
        return self.responses["predict"][self.rows]

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values of every label."""
        return self.responses["decision_function"][self.rows]

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities that rows have each label."""
        return self.responses["predict_proba"][self.rows]
