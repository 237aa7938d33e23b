"""Errors of predicted quantities, with their intervals, and those of two models on the same rows.

Root mean squared error, mean absolute error and R2 are functions of means over the rows: of squared
and absolute residuals, of the target and its square.  Their 95% CIs are percentiles over draws of
the rows (or of groups of them) with replacement, always the same draws.

Two models on the same rows: the difference of their root mean squared errors, with the standard
error of the delta method: that of the mean of ``(a_i^2 / A - b_i^2 / B) / 2``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..common.types import Array
from .paired import QUANTILE

__all__ = ["ErrorDifference", "TargetErrors", "error_difference", "errors_of"]

#: Draws of the rows, and numbers held at a time.
_DRAWS, _BLOCK_NUMBERS = 2000, 4_000_000


@dataclass(frozen=True)
class TargetErrors:
    """How far predictions are off, with 95% CIs.

    Attributes
    ----------
    n_rows : int
    rmse, mae : float
        Root mean squared and mean absolute error, in units of the target.
    r2 : float or None
        None if all targets are equal.
    rmse_interval, mae_interval, r2_interval : list of float
    """

    n_rows: int
    rmse: float
    mae: float
    r2: float | None
    rmse_interval: list[float]
    mae_interval: list[float]
    r2_interval: list[float] | None


def errors_of(actual: Array, predicted: Array, units: np.ndarray | None = None) -> TargetErrors:
    """The errors of predictions; `units` number groups of rows that are not independent."""
    n = actual.size
    residuals, centred = actual - predicted, actual - actual.mean()
    terms = np.column_stack((residuals**2, np.abs(residuals), centred, centred**2, np.ones(n)))
    if units is not None:
        codes = np.unique(units, return_inverse=True)[1]
        terms = np.column_stack([np.bincount(codes, column) for column in terms.T])
    squares, sizes, _, spread, _ = terms.sum(axis=0) / n
    drawn = _drawn_means(terms)
    variance = np.maximum(drawn[:, 3] - drawn[:, 2] ** 2, 1e-14 * max(spread, 1e-300))
    r2 = None if spread <= 0.0 else float(1.0 - squares / spread)
    return TargetErrors(
        n,
        float(np.sqrt(squares)),
        float(sizes),
        r2,
        _ends(np.sqrt(drawn[:, 0])),
        _ends(drawn[:, 1]),
        None if r2 is None else _ends(1.0 - drawn[:, 0] / variance),
    )


def _drawn_means(terms: Array) -> Array:
    """Means of the columns over rows drawn with replacement, of shape (draws, columns)."""
    n, rng = terms.shape[0], np.random.default_rng(0)
    result = np.empty((_DRAWS, terms.shape[1]))
    step = max(1, _BLOCK_NUMBERS // n)
    for start in range(0, _DRAWS, step):
        part = result[start : start + step]
        counts = rng.multinomial(n, np.full(n, 1.0 / n), size=part.shape[0])
        part[:] = counts @ terms
    return result / result[:, -1:]


def _ends(values: Array) -> list[float]:
    return [float(end) for end in np.quantile(values, (0.025, 0.975))]


@dataclass(frozen=True)
class ErrorDifference:
    """The root mean squared error of one model minus that of another, with its 95% CI."""

    value: float
    standard_error: float
    interval: list[float]

    @property
    def clear(self) -> bool:
        """Whether the interval excludes 0."""
        return self.interval[0] > 0.0 or self.interval[1] < 0.0


def error_difference(
    first: Array, second: Array, units: np.ndarray | None = None, optimism: float = 0.0
) -> ErrorDifference:
    """How much larger the error of the first of two models is.

    Parameters
    ----------
    first, second : ndarray of shape (n,)
        Residuals on the same rows.
    units : ndarray of int of shape (n,), optional
        Groups of rows that are not independent of each other.
    optimism : float
        By how much the error of the second is too small, as it was selected on the same rows.
    """
    n = first.size
    a, b = (float(np.sqrt((own**2).mean())) for own in (first, second))
    each: Array = 0.5 * (first**2 / max(a, 1e-300) - second**2 / max(b, 1e-300))
    each = each - each.mean()
    size = n
    if units is not None:
        each = np.bincount(np.unique(units, return_inverse=True)[1], each).astype(np.float64)
        size = each.size
    error = float(np.sqrt((each**2).sum() * size / max(size - 1, 1))) / n
    value, half = a - b - optimism, QUANTILE * error
    return ErrorDifference(value, error, [value - half, value + half])
