"""Prediction intervals of a fitted regression, alone or at the end of a pipeline."""

from __future__ import annotations

from typing import Any

from ..common.types import Array
from ..estimators.svr import SpanSVR
from .libsvm_file import transformed

__all__ = ["interval_of"]


def interval_of(model: Any, X: Any, level: float) -> Array | None:
    """Lower and upper ends for new rows, of shape (n, 2); None if the model has no intervals.

    Parameters
    ----------
    model : SpanSVR, or Pipeline that ends in one
    X : array-like, sparse matrix or data frame
        As the model itself takes it.
    level : float
        The share of new targets that intervals contain.
    """
    machine = model[-1] if hasattr(model, "steps") else model
    if not isinstance(machine, SpanSVR):
        return None
    return machine.predict_interval(transformed(model, X), confidence_level=level)
