"""Scores that follow from the confusion matrix: averages over classes, and correlations.

Any score of labels does in principle; these are the ones of scikit-learn that are computed here for
many draws at once, instead of by calling the scorer for each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import (
    cohen_kappa_score,
    f1_score,
    jaccard_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)

from .._typing import Array

__all__ = ["LabelScore", "label_score"]

#: From confusion matrices of shape (..., k, k), true classes in rows, to scores of shape (...).
LabelScore = Callable[[Array], Array]


def label_score(scorer: Any) -> LabelScore | None:
    """The score of a scorer as a function of confusion matrices; None if it is none of these."""
    function = getattr(scorer, "_score_func", None)
    if getattr(scorer, "_sign", 0) != 1 or scorer._response_method != "predict":
        return None
    settings = dict(scorer._kwargs)
    if function in (matthews_corrcoef, cohen_kappa_score):
        formula = _correlation if function is matthews_corrcoef else _kappa
        return None if settings else formula
    average = settings.pop("average", "binary")
    settings.pop("pos_label", None)  # these averages do not look at it
    empty = settings.pop("zero_division", "warn")
    if function not in _RATIOS or average not in _AVERAGES or settings:
        return None
    return partial(_averaged, ratio=_RATIOS[function], average=average) if empty in _EMPTY else None


#: Values of zero_division for which a ratio without rows is 0.
_EMPTY = ("warn", 0, 0.0)

_AVERAGES = ("macro", "micro", "weighted")

#: From the weights of rows that are rightly a class, predicted as it, and of it, to a ratio.
_RATIOS: dict[Any, Callable[[Array, Array, Array], Array]] = {
    precision_score: lambda right, predicted, true: _ratio(right, predicted),
    recall_score: lambda right, predicted, true: _ratio(right, true),
    f1_score: lambda right, predicted, true: _ratio(2.0 * right, predicted + true),
    jaccard_score: lambda right, predicted, true: _ratio(right, predicted + true - right),
}


def _ratio(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _averaged(
    matrices: Array, *, ratio: Callable[[Array, Array, Array], Array], average: str
) -> Array:
    right = np.diagonal(matrices, axis1=-2, axis2=-1)
    predicted, true = matrices.sum(axis=-2), matrices.sum(axis=-1)
    if average == "micro":
        return ratio(right.sum(axis=-1), predicted.sum(axis=-1), true.sum(axis=-1))
    # Classes that do not occur do not count.
    weights = true if average == "weighted" else (predicted + true > 0).astype(np.float64)
    return _ratio((weights * ratio(right, predicted, true)).sum(axis=-1), weights.sum(axis=-1))


def _correlation(matrices: Array) -> Array:
    """The correlation of Matthews, for any number of classes; 0 where one side is constant."""
    predicted, true = matrices.sum(axis=-2), matrices.sum(axis=-1)
    total = true.sum(axis=-1)
    right = np.trace(matrices, axis1=-2, axis2=-1)
    covariance = right * total - (true * predicted).sum(axis=-1)
    spread = (total**2 - (predicted**2).sum(axis=-1)) * (total**2 - (true**2).sum(axis=-1))
    return _ratio(covariance, np.sqrt(np.maximum(spread, 0.0)))


def _kappa(matrices: Array) -> Array:
    """Cohen's kappa: agreement beyond chance; NaN where there can be none."""
    predicted, true = matrices.sum(axis=-2), matrices.sum(axis=-1)
    total = true.sum(axis=-1)
    by_chance = (true * predicted).sum(axis=-1) / total
    right = np.trace(matrices, axis1=-2, axis2=-1)
    with np.errstate(invalid="ignore"):
        return (right - by_chance) / (total - by_chance)
