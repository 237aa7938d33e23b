"""Cautions about the data as they were given: features that nothing scales, labels that count."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..estimators.svc import SpanSVC
from ..multiclass.machines import TrainedMachines

__all__ = ["caution_of_scales", "caution_of_target"]

#: Standard deviations of features that differ by this factor, as the SVM sees them.
_FAR_APART = 1000.0

#: So many different numbers as labels, with at most so many rows each on average.
_MANY_LABELS, _FEW_ROWS_EACH = 20, 10


def caution_of_scales(model: SpanSVC, names: list[str]) -> list[str]:
    """A caution if features differ so much in scale that some of them do not count.

    `names` are those of the columns that were given; they are shown if the SVM sees as many.
    """
    machines = model.machines_
    assert isinstance(machines, TrainedMachines)
    rows = machines.X
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
    if y.dtype.kind not in "iuf":
        return []
    n_labels = np.unique(y).size
    if n_labels < _MANY_LABELS or y.size > _FEW_ROWS_EACH * n_labels:
        return []
    return [
        f"The {y.size} rows have {n_labels} different numbers as labels. If they are a quantity, "
        "this is a regression: a classifier does not know that neighbouring numbers are alike."
    ]
