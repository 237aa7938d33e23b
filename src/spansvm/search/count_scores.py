"""Scores that follow from how many rows of each class are misclassified.

Accuracy and balanced accuracy do for any number of classes.  With two classes a row that is not
predicted as its own class is predicted as the other, so that precision, recall and F1 do as well.
One bit per row and candidate is then all that has to be kept of the predictions, and the scores of
all candidates on any choice of rows are one product of matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    precision_score,
    recall_score,
)

from .._typing import Array

__all__ = ["CountScore", "accuracy", "count_score", "only_errors"]

#: From the weight of the rows of each class, of shape (..., k), and that of the misclassified ones
#: to a score of shape (...).
CountScore = Callable[[Array, Array], Array]


def accuracy(rows: Array, wrong: Array) -> Array:
    """Share of the rows that are not misclassified; NaN without rows."""
    return 1.0 - _ratio(wrong.sum(axis=-1), rows.sum(axis=-1), np.nan)


def balanced_accuracy(rows: Array, wrong: Array) -> Array:
    """The mean over the classes that have rows; NaN without rows."""
    shares = np.where(rows > 0, 1.0 - _ratio(wrong, rows, 0.0), 0.0)
    return _ratio(shares.sum(axis=-1), (rows > 0).sum(axis=-1), np.nan)


def _of_two_classes(
    rows: Array, wrong: Array, *, formula: Callable[..., Array], positive: int | None
) -> Array:
    """Precision, recall or F1 of class `positive`, or their mean over the classes that occur."""
    values = formula(rows - wrong, wrong[..., ::-1], wrong)
    if positive is not None:
        return np.where(rows.sum(axis=-1) > 0, values[..., positive], np.nan)
    occurs = rows + wrong[..., ::-1] > 0
    return _ratio(np.where(occurs, values, 0.0).sum(axis=-1), occurs.sum(axis=-1), np.nan)


# As in scikit-learn, a ratio without rows is 0.
def _precision(true: Array, false: Array, missed: Array) -> Array:
    return _ratio(true, true + false, 0.0)


def _recall(true: Array, false: Array, missed: Array) -> Array:
    return _ratio(true, true + missed, 0.0)


def _f1(true: Array, false: Array, missed: Array) -> Array:
    return _ratio(2.0 * true, 2.0 * true + false + missed, 0.0)


def _ratio(part: Array, whole: Array, empty: float) -> Array:
    some = whole > 0
    return np.where(some, part / np.where(some, whole, 1.0), empty)


_FORMULAS = {precision_score: _precision, recall_score: _recall, f1_score: _f1}


def only_errors(scorer: Any, params: Mapping[str, Any], classes: np.ndarray) -> bool:
    """Whether which rows are misclassified is all that a score depends on; `params` as given."""
    return set(params) <= {"sample_weight"} and count_score(scorer, classes) is not None


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
    function = getattr(scorer, "_score_func", None)
    if getattr(scorer, "_sign", 0) != 1 or scorer._response_method != "predict":
        return None
    settings = dict(scorer._kwargs)
    if function in (accuracy_score, balanced_accuracy_score) and not settings:
        return accuracy if function is accuracy_score else balanced_accuracy
    if function not in _FORMULAS or classes.size != 2:
        return None
    average, label = settings.pop("average", "binary"), settings.pop("pos_label", 1)
    of_two = partial(_of_two_classes, formula=_FORMULAS[function])
    if settings or average not in ("binary", "macro"):
        return None
    if average == "macro":
        return partial(of_two, positive=None)
    position = np.flatnonzero(classes == label)
    return partial(of_two, positive=int(position[0])) if position.size else None
