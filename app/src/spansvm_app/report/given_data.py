"""Cautions about the data as they were given: features that nothing scales, labels that count."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from spansvm import SpanSVC, SpanSVR

from ..common.tasks import is_quantity

__all__ = ["caution_of_scales", "caution_of_target"]

#: Standard deviations of features that differ by this factor, as the SVM sees them.
_FAR_APART = 1000.0


def caution_of_scales(model: SpanSVC | SpanSVR, names: list[str]) -> list[str]:
    """A caution if features differ so much in scale that some of them do not count.

    `names` are those of the columns that were given; they are shown if the SVM sees as many.
    """
    rows: Any = model.machines_.X  # type: ignore[union-attr]
    if callable(model.kernel) or model.kernel == "precomputed" or sparse.issparse(rows):
        return []
    spread = np.std(np.asarray(rows, dtype=np.float64), axis=0)
    used = np.flatnonzero(spread > 0)
    if used.size < 2:
        return []
    small, large = used[np.argmin(spread[used])], used[np.argmax(spread[used])]
    if spread[large] < _FAR_APART * spread[small]:
        return []
    shown = names if len(names) == spread.size else [f"column {i}" for i in range(spread.size)]
    return [
        f"Features differ in scale, and nothing scales them: {shown[large]} has a standard "
        f"deviation of {spread[large]:.3g}, {shown[small]} one of {spread[small]:.3g}. The kernel "
        "hardly sees the smaller ones. Put a StandardScaler or MinMaxScaler before the SVM."
    ]


def caution_of_target(y: np.ndarray) -> list[str]:
    """A caution if labels look like a quantity."""
    if not is_quantity(y):
        return []
    n_labels = np.unique(y).size
    return [
        f"The {y.size} rows have {n_labels} different numbers as labels. If they are a quantity, "
        "this is a regression: a classifier does not know that neighbouring numbers are alike."
    ]
