"""Equal rows with the same label or target: the dual determines only the sum of their multipliers.

Any division of the sum among them is a solution, and which one a solver finds depends on its
starting point.  Here they are trained as one row whose bound is the sum of theirs, and share its
multiplier in proportion to their bounds, which depends only on the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..common.types import Array, Mask, Rows

__all__ = [
    "Twins",
    "equal_points",
    "equal_rows",
    "equal_training_rows",
    "equalise",
    "first_equal",
]

#: Entries of equal rows of a Gram matrix differ by less than this fraction of the largest entry.
_ROUNDING = 64 * float(np.finfo(np.float64).eps)

#: Numbers whose bits are summed at a time: few enough to stay in cache.
_BLOCK_NUMBERS = 100_000


class Twins:
    """Sets of equal rows that have the same label, or target.

    Parameters
    ----------
    kinds : ndarray of int of shape (l,)
        For every row, the first one equal to it.
    y : ndarray of shape (l,)

    Attributes
    ----------
    first : ndarray of int of shape (l,)
        For every row, the first one equal to it with the same label.
    several : ndarray of bool of shape (l,)
        Which rows have twins.
    """

    def __init__(self, kinds: Rows, y: Array) -> None:
        values, codes = np.unique(y, return_inverse=True)
        keys = values.size * kinds + codes
        first = first_equal(keys)
        self.first: Rows = np.arange(keys.size) if first is None else first
        self.several: Mask = np.bincount(self.first)[self.first] > 1

    def merge(self, values: Array) -> Array:
        """Sums over each set, at its first row; 0 at the others."""
        sums = np.zeros(values.size)
        np.add.at(sums, self.first, values)
        return sums

    def share(self, alpha: Array, C: Array) -> Array:
        """Divide the multipliers of the sets, held at their first rows, in proportion to `C`."""
        total, bound = alpha[self.first], self.merge(C)[self.first]
        part = np.divide(total, bound, out=np.zeros_like(total), where=bound > 0)
        shared = np.where(total >= bound, C, np.minimum(part * C, C))
        return np.where(self.several, shared, alpha)


def first_equal(keys: np.ndarray) -> Rows | None:
    """For every key, the position of its first occurrence; None if all differ."""
    known, start, group = np.unique(keys, return_index=True, return_inverse=True)
    return start[group] if known.size < keys.size else None


def equal_training_rows(machines: Any) -> Rows | None:
    """For every training row of fitted machines, the first one equal to it; None if all differ.

    Parameters
    ----------
    machines : TrainedMachines or TrainedRegressions
        ``machines_`` of a fitted SpanSVC or SpanSVR.

    Examples
    --------
    >>> from spansvm import SpanSVC
    >>> from spansvm.blocks import equal_training_rows
    >>> model = SpanSVC().fit([[0.0], [1.0], [0.0], [2.0]], [0, 1, 0, 1])
    >>> equal_training_rows(model.machines_).tolist()
    [0, 1, 0, 3]
    """
    return (equal_points if machines.kernel.precomputed else equal_rows)(machines.X)


def equal_rows(X: Any) -> Rows | None:
    """For every row, the first one equal to it; None if all differ."""
    if sparse.issparse(X):
        X = sparse.csr_matrix(X, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        compared = np.arange(X.shape[0])
        parts = (slice(*X.indptr[i : i + 2]) for i in compared)
        keys = (X.indices[part].tobytes() + X.data[part].tobytes() for part in parts)
    else:
        X = np.asarray(X)
        compared = _same_code(X)
        keys = (_numbers(X[i]).tobytes() for i in compared)
    first: dict[bytes, int] = {}
    kinds = np.arange(X.shape[0], dtype=np.intp)
    for i, key in zip(compared.tolist(), keys, strict=True):
        kinds[i] = first.setdefault(key, i)
    return kinds if len(first) < compared.size else None


def _numbers(X: np.ndarray) -> Array:
    """Numbers whose bytes are the same if they are equal: -0.0 becomes 0.0."""
    return np.asarray(X, dtype=np.float64, order="C") + 0.0


def _same_code(X: np.ndarray) -> Rows:
    """Rows that may have an equal: those whose code is also that of another row.

    The code is a sum over the bits of the numbers, in integers, and so exactly the same for equal
    rows.  It takes a few bytes per row where a copy of the rows would take as much as they do.
    """
    weights = np.random.default_rng(0).integers(2**64, size=X.shape[1], dtype=np.uint64)
    codes = np.empty(X.shape[0], dtype=np.uint64)
    step = max(_BLOCK_NUMBERS // max(X.shape[1], 1), 1)
    for start in range(0, X.shape[0], step):
        bits = _numbers(X[start : start + step]).view(np.uint64)
        bits ^= bits >> np.uint64(32)  # the last bits of small whole numbers are all 0
        codes[start : start + step] = bits @ (weights | np.uint64(1))
    _, group, count = np.unique(codes, return_inverse=True, return_counts=True)
    return np.flatnonzero(count[group] > 1)


def equalise(K: np.ndarray, kinds: Rows) -> None:
    """Give equal rows equal kernel values, in place.

    Computed from products, they differ by a few roundings: little, but not times multipliers of
    1e10, which cancel between equal rows with unequal labels.
    """
    repeated = np.flatnonzero(kinds != np.arange(kinds.size))
    for i in repeated:
        K[i] = K[kinds[i]]
    step = max(_BLOCK_NUMBERS // kinds.size, 1)
    for start in range(0, kinds.size, step):
        block = K[start : start + step]
        block[:, repeated] = block[:, kinds[repeated]]


def equal_points(K: np.ndarray) -> Rows | None:
    """The same for the points of a Gram matrix, whose rows are then equal up to rounding."""
    n = K.shape[0]
    if n == 0:
        return None
    slack = _ROUNDING * max(float(np.abs(K.diagonal()).max()), float(np.finfo(np.float64).tiny))
    if K.dtype == np.float32:
        slack *= 2.0**29
    # Equal rows have equal products with any vector; rows that differ there need not be compared.
    product = K @ np.cos(np.arange(n)).astype(K.dtype)
    order = np.argsort(product, kind="stable")
    close = np.diff(product[order]) <= n * slack
    kinds = np.arange(n, dtype=np.intp)
    for run in np.split(order, np.flatnonzero(~close) + 1):
        for k, i in enumerate(np.sort(run)):
            if kinds[i] == i:
                for j in np.sort(run)[k + 1 :]:
                    if kinds[j] == j and np.abs(K[i] - K[j]).max() <= slack:
                        kinds[j] = i
    return kinds if (kinds != np.arange(n)).any() else None
