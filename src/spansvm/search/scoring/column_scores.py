"""Scores of several labels per row that are computed for many draws of the rows at once.

A row has each label or not, and averages of precision, recall, F1 and Jaccard's index over labels
follow from three numbers for each: of the rows that have it, that are predicted to have it, and
both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import precision_score, recall_score

from ...algebra.blas import one_blas_thread
from ...common.types import Array
from .bootstrap_scores import EachCandidate
from .label_scores import averaged_ratio, ratio_of

__all__ = ["ColumnScore", "ColumnScores", "column_score", "is_indicator", "lacks_a_label"]

#: From the weights of rows that rightly have each label, are predicted to have it, and have it,
#: each of shape (..., k), to a score of shape (...).
ColumnScore = Callable[[Array, Array, Array], Array]


def is_indicator(y: np.ndarray) -> bool:
    """Whether labels are 0 or 1 in several columns."""
    return y.ndim == 2 and y.shape[1] > 1 and y.dtype.kind in "biuf" and bool(
        ((y == 0) | (y == 1)).all()
    )  # fmt: skip


def column_score(scorer: Any) -> ColumnScore | None:
    """The score of a scorer as a function of counts for each label; None if it needs more."""
    found = ratio_of(scorer)
    if found is None:
        return None
    ratio, average = found

    def score(right: Array, predicted: Array, true: Array) -> Array:
        return averaged_ratio(
            right, predicted, true, np.ones(true.shape), ratio=ratio, average=average
        )

    return score


def lacks_a_label(scorer: Any, true: np.ndarray, predicted: np.ndarray) -> bool:
    """Whether a ratio of some label has no rows, which scikit-learn warns of."""
    function = getattr(scorer, "_score_func", None)
    rows = {recall_score: true != 0, precision_score: predicted != 0}.get(
        function, (true != 0) | (predicted != 0)
    )
    return ratio_of(scorer) is not None and not rows.any(axis=0).all()


class ColumnScores(EachCandidate):
    """Scores from counts for each label.

    Parameters
    ----------
    responses : sequence of (dict of str to ndarray, or None)
        Predicted labels of every candidate, as 0 and 1.
    labels : ndarray of shape (n, k)
        The true ones.
    weight : ndarray of shape (n,), or None
    score : callable
    """

    def __init__(
        self, responses: Sequence[Mapping[str, np.ndarray] | None], labels: np.ndarray,
        weight: Array | None, score: ColumnScore,
    ) -> None:  # fmt: skip
        super().__init__(responses)
        self._true, self._weight, self._score = labels.astype(np.float64), weight, score

    def _scores(self, own: Mapping[str, np.ndarray], counts: np.ndarray) -> Array:
        drawn = counts.astype(np.float64)
        if self._weight is not None:
            drawn = drawn * self._weight
        predicted = own["predict"].astype(np.float64)
        with one_blas_thread:
            right, all_predicted, true = (
                drawn @ some for some in (predicted * self._true, predicted, self._true)
            )
        return np.where(counts.any(axis=1), self._score(right, all_predicted, true), np.nan)
