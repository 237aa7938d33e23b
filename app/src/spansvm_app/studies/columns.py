"""Columns of rows of any kind: numbers, texts, and what is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..common.types import Array

__all__ = ["as_numbers", "codes_of", "column_of", "is_missing", "with_column"]


def column_of(X: Any, column: int) -> np.ndarray:
    """One column of an array, a sparse matrix or a data frame."""
    if hasattr(X, "iloc"):
        values = X.iloc[:, column]
        plain = isinstance(values.dtype, np.dtype) and values.dtype.kind in "fiub"
        return np.asarray(values, dtype=values.dtype if plain else object)
    if sparse.issparse(X):
        return np.asarray(X[:, [column]].toarray()[:, 0])
    return np.asarray(X)[:, column]


def with_column(X: Any, column: int, values: np.ndarray) -> Any:
    """A copy with other values in one column."""
    if hasattr(X, "iloc"):
        frame, series = X.copy(deep=False), X.iloc[:, column].copy()
        series.iloc[:] = values  # of the same type as before: a category, say
        frame.isetitem(column, series.array)
        return frame
    if sparse.issparse(X):
        parts = [X[:, :column], sparse.csr_matrix(values[:, None]), X[:, column + 1 :]]
        return sparse.hstack(parts, format="csr")
    result = np.array(X)
    result[:, column] = values
    return result


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or pandas.NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA is neither equal to itself nor different
        return True


def as_numbers(values: np.ndarray) -> Array | None:
    """A column as floats, NaN where missing; None if it holds texts."""
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    try:
        known = [np.nan if is_missing(value) else value for value in values]
        return np.array(known, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def codes_of(values: np.ndarray) -> np.ndarray:
    """For every row the number of its value among all different ones; missing is one of them."""
    numbers = as_numbers(values)
    if numbers is not None:
        return np.unique(numbers, return_inverse=True)[1]
    texts = [_text(value) for value in values]
    return np.unique(np.array(texts, dtype=str), return_inverse=True)[1]


def _text(value: Any) -> str:
    return "" if is_missing(value) else f"={value}"
