"""Some of the rows, with every class in its share where there are classes."""

from __future__ import annotations

import numpy as np

from ...common.types import Rows

__all__ = ["drawn_rows", "stratified_rows", "tenths"]


def drawn_rows(n: int, n_rows: int, *, seed: int = 0) -> Rows:
    """Indices of `n_rows` of `n` rows, or of all if there are fewer, drawn at random.

    Subsets of different sizes drawn with the same seed contain each other.
    """
    return np.sort(np.random.default_rng(seed).permutation(n)[:n_rows])


def stratified_rows(y: np.ndarray, n_rows: int, *, seed: int = 0, fewest: int = 2) -> Rows:
    """Indices of about `n_rows` rows, drawn at random from each class according to its share.

    Subsets of different sizes drawn with the same seed contain each other.

    Parameters
    ----------
    y : ndarray of shape (l,)
    n_rows : int
    seed : int
    fewest : int
        A class has at least this many rows, if it has that many at all; so there can be more than
        `n_rows` in all.
    """
    indices, sizes = np.unique(y, return_inverse=True, return_counts=True)[1:]
    shares = sizes * min(n_rows / y.size, 1.0)
    drawn = np.floor(shares).astype(np.intp)
    # Whole rows are missing from rounding: the largest remainders get them.
    missing = min(n_rows, y.size) - int(drawn.sum())
    drawn[np.argsort(drawn - shares, kind="stable")[:missing]] += 1
    drawn = np.minimum(np.maximum(drawn, fewest), sizes)
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(np.flatnonzero(indices == label)) for label in range(sizes.size)]
    return np.sort(np.concatenate([o[:n] for o, n in zip(orders, drawn, strict=True)]))


def tenths(targets: np.ndarray) -> np.ndarray:
    """The tenth of the rows that every target is in, by size: what strata are for a regression."""
    if targets.size == 0:
        return np.zeros(0, dtype=np.intp)
    ends = np.quantile(targets, np.arange(1, 10) / 10)
    return np.searchsorted(ends, targets, side="left")
