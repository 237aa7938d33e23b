"""Two models on the same rows: the difference of their errors, and how far chance can explain it.

Only rows that one model gets wrong and the other right tell the two apart (McNemar).  With `b` and
`c` of them the difference is ``(b - c) / n``; its interval is that of Bonett and Price (2012), who
add one row to each: it keeps its coverage if `b` and `c` are small.  Rows of a group are not
independent: the variance is then that of the sums over the groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..common.types import Mask

__all__ = ["QUANTILE", "Difference", "paired_difference"]

#: The normal distribution\'s 97.5 % quantile.
QUANTILE = 1.959963984540054


@dataclass(frozen=True)
class Difference:
    """The error of one model minus that of another on the same rows.

    Attributes
    ----------
    value, standard_error : float
    interval : list of float
        95% CI.
    n_only_first, n_only_second : int
        How many rows only the first model gets wrong, and only the second.
    """

    value: float
    standard_error: float
    interval: list[float]
    n_only_first: int
    n_only_second: int

    @property
    def clear(self) -> bool:
        """Whether the interval excludes 0."""
        return self.interval[0] > 0.0 or self.interval[1] < 0.0


def paired_difference(
    first: Mask, second: Mask, units: np.ndarray | None = None, optimism: float = 0.0
) -> Difference:
    """How much more often the first of two models is wrong.

    Parameters
    ----------
    first, second : ndarray of bool of shape (n,)
        Which rows each of them gets wrong.
    units : ndarray of int of shape (n,), optional
        Groups of rows that are not independent of each other.
    optimism : float
        By how much the error of the second is too small, as it was selected on the same rows; less
        that of the first.
    """
    n = first.size
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    value = (only_first - only_second) / n
    b, c, rows = only_first + 1.0, only_second + 1.0, n + 2.0
    middle = (b - c) / rows
    variance = (b + c - (b - c) ** 2 / rows) / rows**2
    if units is not None and np.unique(units).size < n:
        each = first.astype(float) - second - value
        sums = np.bincount(np.unique(units, return_inverse=True)[1], each)
        inflated = sums.size / max(sums.size - 1.0, 1.0)
        variance = max(variance, inflated * float((sums**2).sum()) / n**2)
    half = QUANTILE * float(np.sqrt(variance))
    value, middle = value - optimism, middle - optimism
    return Difference(
        value, float(np.sqrt(variance)), [max(middle - half, -1.0), min(middle + half, 1.0)],
        only_first, only_second,
    )  # fmt: skip
