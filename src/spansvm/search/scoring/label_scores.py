"""Scores of labels that are computed for many draws of the rows at once, without the scorer.

Some follow from how many rows of each class are misclassified (:func:`count_score`): accuracy and
balanced accuracy do for any number of classes.  With two classes a row that is not predicted as its
own class is predicted as the other, so that precision, recall and F1 do as well.  One bit per row
and candidate is then all that has to be kept of the predictions, and the scores of all candidates
on any choice of rows are one product of matrices.  Others follow from the confusion matrix
(:func:`label_score`): averages over classes, and correlations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    jaccard_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)

from ...common.types import Array

__all__ = [
    "CountScore",
    "LabelScore",
    "accuracy",
    "averaged_ratio",
    "count_score",
    "label_score",
    "only_errors",
    "ratio_of",
    "same_digits",
    "warns",
]

#: From the weight of the rows of each class, of shape (..., k), and that of the misclassified ones
#: to a score of shape (...).
CountScore = Callable[[Array, Array], Array]

#: From confusion matrices of shape (..., k, k), true classes in rows, to scores of shape (...).
LabelScore = Callable[[Array], Array]


def only_errors(scorer: Any, params: Mapping[str, Any], classes: np.ndarray) -> bool:
    """Whether which rows are misclassified is all that a score depends on; `params` as given."""
    return set(params) <= {"sample_weight"} and count_score(scorer, classes) is not None


def warns(scorer: Any, predicted: np.ndarray, n_classes: int) -> bool:
    """Whether a scorer may warn of predictions for rows of all classes: some have no precision."""
    function, _ = _of_labels(scorer)
    return function is precision_score and np.unique(predicted).size < n_classes


def same_digits(scorer: Any, params: Mapping[str, Any]) -> bool:
    """Whether scores that are computed here have the scorer's digits, to the last one.

    They are then quotients of the same whole numbers, and averages of these in the same order.
    """
    function, _ = _of_labels(scorer)
    return not params and function in _SAME


def count_score(scorer: Any, classes: np.ndarray) -> CountScore | None:
    """The score of a scorer as a function of counts; None if it needs more.

    Parameters
    ----------
    scorer : callable or None
        None for the default, accuracy.
    classes : ndarray
        Labels of the classes.
    """
    if scorer is None:
        return accuracy
    function, settings = _of_labels(scorer)
    if function in (accuracy_score, balanced_accuracy_score) and not settings:
        return accuracy if function is accuracy_score else balanced_accuracy
    if function not in _COUNTED or classes.size != 2:
        return None
    average, label = settings.pop("average", "binary"), settings.pop("pos_label", 1)
    of_two = partial(_of_two_classes, ratio=_RATIOS[function])
    if settings or average not in ("binary", "macro"):
        return None
    if average == "macro":
        return partial(of_two, positive=None)
    position = np.flatnonzero(classes == label)
    return partial(of_two, positive=int(position[0])) if position.size else None


def label_score(scorer: Any) -> LabelScore | None:
    """The score of a scorer as a function of confusion matrices; None if it is none of these."""
    function, settings = _of_labels(scorer)
    if function in (matthews_corrcoef, cohen_kappa_score):
        formula = _correlation if function is matthews_corrcoef else _kappa
        return None if settings else formula
    found = ratio_of(scorer)
    return None if found is None else partial(_averaged, ratio=found[0], average=found[1])


def ratio_of(scorer: Any) -> tuple[Ratio, str] | None:
    """The ratio that a scorer averages over classes or labels, and how; None if it does not."""
    function, settings = _of_labels(scorer)
    average = settings.pop("average", "binary")
    settings.pop("pos_label", None)  # these averages do not look at it
    empty = settings.pop("zero_division", "warn")
    if function not in _RATIOS or average not in _AVERAGES or settings or empty not in _EMPTY:
        return None
    return _RATIOS[function], average


def _of_labels(scorer: Any) -> tuple[Any, dict[str, Any]]:
    """The function of labels that a scorer calls, and its settings; None if it does not."""
    if getattr(scorer, "_sign", 0) != 1 or scorer._response_method != "predict":
        return None, {}
    return scorer._score_func, dict(scorer._kwargs)


def accuracy(rows: Array, wrong: Array) -> Array:
    """Share of the rows that are not misclassified; NaN without rows."""
    total = rows.sum(axis=-1)
    return _ratio(total - wrong.sum(axis=-1), total, np.nan)


def balanced_accuracy(rows: Array, wrong: Array) -> Array:
    """The mean over the classes that have rows; NaN without rows."""
    return _ratio(_ratio(rows - wrong, rows).sum(axis=-1), (rows > 0).sum(axis=-1), np.nan)


#: From the weights of rows that are rightly a class, predicted as it, and of it, to a ratio.
Ratio = Callable[[Array, Array, Array], Array]

_RATIOS: dict[Any, Ratio] = {
    precision_score: lambda right, predicted, true: _ratio(right, predicted),
    recall_score: lambda right, predicted, true: _ratio(right, true),
    f1_score: lambda right, predicted, true: _ratio(2.0 * right, predicted + true),
    jaccard_score: lambda right, predicted, true: _ratio(right, predicted + true - right),
}

#: Those of two classes that are computed from the numbers of misclassified rows.
_COUNTED = (precision_score, recall_score, f1_score)

#: Scores that are computed as scikit-learn does.
_SAME = (*_RATIOS, accuracy_score, balanced_accuracy_score)

#: Values of zero_division for which a ratio without rows is 0.
_EMPTY = ("warn", 0, 0.0)

_AVERAGES = ("macro", "micro", "weighted")


def _of_two_classes(rows: Array, wrong: Array, *, ratio: Ratio, positive: int | None) -> Array:
    """A ratio of class `positive`, or its mean over the classes that occur."""
    right = rows - wrong
    values = ratio(right, right + wrong[..., ::-1], right + wrong)
    if positive is not None:
        return np.where(rows.sum(axis=-1) > 0, values[..., positive], np.nan)
    occurs = rows + wrong[..., ::-1] > 0
    return _ratio(np.where(occurs, values, 0.0).sum(axis=-1), occurs.sum(axis=-1), np.nan)


def _averaged(matrices: Array, *, ratio: Ratio, average: str) -> Array:
    right = np.diagonal(matrices, axis1=-2, axis2=-1)
    predicted, true = matrices.sum(axis=-2), matrices.sum(axis=-1)
    # Classes that do not occur do not count.
    occurs = (predicted + true > 0).astype(np.float64)
    return averaged_ratio(right, predicted, true, occurs, ratio=ratio, average=average)


def averaged_ratio(
    right: Array, predicted: Array, true: Array, counts: Array, *, ratio: Ratio, average: str
) -> Array:
    """An average of the ratios of classes or labels, of which `counts` tells which count."""
    if average == "micro":
        return ratio(right.sum(axis=-1), predicted.sum(axis=-1), true.sum(axis=-1))
    weights = true if average == "weighted" else counts
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


def _ratio(part: Array, whole: Array, empty: float = 0.0) -> Array:
    """A ratio; without rows it is 0, as in scikit-learn, or `empty`."""
    some = whole > 0
    return np.where(some, part / np.where(some, whole, 1.0), empty)
