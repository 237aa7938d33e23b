"""What single columns say about the classes, numbers and texts alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from .._typing import Array, Mask

__all__ = ["as_numbers", "association", "codes_of", "strongest", "wrong_alone"]

#: Numbers are cut into this many parts of equal size; more texts than this are rarely a pattern.
_PARTS = 16


def as_numbers(values: np.ndarray) -> Array | None:
    """A column as floats, NaN where missing; None if it holds texts."""
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    try:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
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
    return "" if value is None or value != value else f"={value}"


def association(values: np.ndarray, indices: np.ndarray) -> float:
    """How much of the classes a column tells: Goodman and Kruskal's tau, from 0 to 1.

    The share by which knowing the value lowers the chance that two rows with that value differ in
    their class.  Numbers are cut into parts of equal size.  What chance alone would give is
    subtracted.
    """
    codes, n, k = _few_codes(values), indices.size, int(indices.max()) + 1
    m = int(codes.max()) + 1
    table = np.bincount(codes * k + indices, minlength=m * k).reshape(m, k).astype(float)
    shares = table.sum(axis=0) / n
    before = 1.0 - float((shares**2).sum())
    if before <= 0.0 or m == 1:
        return 0.0
    sizes = table.sum(axis=1)
    within = 1.0 - float(((table**2).sum(axis=1) / np.maximum(sizes, 1.0)).sum()) / n
    tau, chance = 1.0 - within / before, (m - 1) / max(n - 1, 1)
    return max((tau - chance) / (1.0 - chance), 0.0) if chance < 1.0 else 0.0


def _few_codes(values: np.ndarray) -> np.ndarray:
    codes, numbers = codes_of(values), as_numbers(values)
    if numbers is None or codes.max() < _PARTS:
        return codes
    known = ~np.isnan(numbers)
    edges = np.unique(np.quantile(numbers[known], np.arange(1, _PARTS) / _PARTS))
    parts = np.searchsorted(edges, np.where(known, numbers, 0.0), side="right")
    return np.unique(np.where(known, parts, _PARTS), return_inverse=True)[1]


def strongest(columns: Sequence[np.ndarray], indices: np.ndarray, number: int) -> list[int]:
    """The columns that tell most about the classes, by :func:`association`."""
    each = [association(values, indices) for values in columns]
    return sorted(np.argsort(-np.array(each), kind="stable")[:number].tolist())


def wrong_alone(
    values: np.ndarray, indices: np.ndarray, folds: Sequence[tuple[np.ndarray, np.ndarray]],
    most: float,
) -> Mask | None:  # fmt: skip
    """Which rows a column alone gets wrong when they are left out; None if more than `most`.

    By a tree with few leaves for numbers, by the commonest class of each value for texts and for
    few different numbers.
    """
    n, k = indices.size, int(indices.max()) + 1
    numbers, codes = as_numbers(values), codes_of(values)
    few = int(codes.max()) + 1 <= max(2 * k, _PARTS)
    wrong = np.zeros(n, dtype=np.bool_)
    if numbers is not None and not few:
        if _turns(codes, indices) > 2.0 * most + 4 * k:
            return None
        for train, test in folds:
            tree = DecisionTreeClassifier(max_leaf_nodes=max(2 * k, 4), random_state=0)
            tree.fit(numbers[train, None], indices[train])
            wrong[test] = tree.predict(numbers[test, None]) != indices[test]
    else:
        m = int(codes.max()) + 1
        every = np.bincount(codes * k + indices, minlength=m * k).reshape(m, k)
        if n - every.max(axis=1).sum() > most:  # left out, they are not predicted better
            return None
        for train, test in folds:
            table = np.bincount(codes[train] * k + indices[train], minlength=m * k).reshape(m, k)
            said = np.where(
                table.any(axis=1), table.argmax(axis=1), np.bincount(indices[train]).argmax()
            )
            wrong[test] = said[codes[test]] != indices[test]
    return wrong if wrong.sum() <= most else None


def _turns(codes: np.ndarray, indices: np.ndarray) -> int:
    """How often the class changes along the values: a wrong row changes it at most twice."""
    order = np.lexsort((indices, codes))
    return int((np.diff(indices[order]) != 0).sum())
