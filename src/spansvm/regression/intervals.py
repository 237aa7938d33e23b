"""Prediction intervals from one training: the jackknife+ (Barber, Candes, Ramdas, Tibshirani 2021).

With ``f^-i`` the function without row i (or without its group) and ``r_i`` the residual of row i
there, the interval for a new row x reaches from the lower quantile of ``f^-i(x) - |r_i|`` to the
upper one of ``f^-i(x) + |r_i|``.  Elsewhere that takes a training per row; here the removal of
every row is followed exactly, and all ``f^-i(x)`` are one matrix product with the kernel values of
x.

If rows are exchangeable, intervals of level 1 - a cover at least 1 - 2a of new targets whatever
their distribution, and about 1 - a in practice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..common.memory import parse_budget
from ..common.types import Array, Rows
from ..common.validation import check_rest
from ..kernels.expansion import Expansion
from .left_out import leave_out_sets
from .machines import RegressionMachines, TrainedRegressions

__all__ = ["Jackknife", "jackknife", "same_everywhere"]

#: Number of values held at a time.
_BLOCK_NUMBERS = 8_000_000


class Jackknife(Expansion):
    """The functions without each set of rows, as changes of the function with all rows.

    Parameters
    ----------
    machines : Expansion
        The trained regression of one target.
    vectors : ndarray or sparse matrix of shape (m, d)
        Rows whose multipliers change; empty if the kernel is precomputed.
    support : ndarray of shape (m,)
        Which rows these are.
    coefficients : ndarray of shape (m, n_sets)
        How their multipliers change without each set.
    intercepts : ndarray of shape (n_sets,)
        How the intercept does.
    numbers, residuals : ndarray
        For every row that counts, its set, and the size of its residual without that.
    """

    def __init__(
        self, machines: Expansion, support: np.ndarray, vectors: Any, coefficients: Array,
        intercepts: Array, numbers: Rows, residuals: Array,
    ) -> None:  # fmt: skip
        self.kernel, self.support, self.vectors = machines.kernel, support, vectors
        self.coefficients, self.intercepts = coefficients, intercepts
        self.machines, self.numbers, self.residuals = machines, numbers, residuals

    def interval(self, X: Any, level: float) -> Array:
        """Lower and upper ends for new rows, of shape (n, 2).

        They are infinite if there are too few rows for the level.
        """
        ends, size = np.empty((X.shape[0], 2)), self.residuals.size
        # The lower end is this value, counted from the smallest, the upper one from the largest; a
        # level is meant as it is written: 0.1 * 20 is 2.
        outside = int(np.floor((1.0 - level) * (size + 1) * (1.0 + 1e-12)))
        if outside == 0:
            ends[:] = (-np.inf, np.inf)
            return ends
        step = max(1, _BLOCK_NUMBERS // max(size, 1))
        for start in range(0, X.shape[0], step):
            rows = X[start : start + step]
            values = self.machines.decide(rows)[:, :1] + self.decide(rows)
            values = values[:, self.numbers]
            low, high = values - self.residuals, values + self.residuals
            part = ends[start : start + step]
            part[:, 0] = np.partition(low, outside - 1, axis=1)[:, outside - 1]
            part[:, 1] = np.partition(high, size - outside, axis=1)[:, size - outside]
        return ends


def jackknife(machines: TrainedRegressions, sets: Sequence[Rows] | None) -> Jackknife:
    """Follow the removal of every set of rows, or of every row; of a regression of one target."""
    n, counted = machines.targets.shape[0], machines.bounds > 0
    if sets is None:
        check_rest(counted)
        sets = [np.array([row]) for row in np.flatnonzero(counted)]
        sets.extend(np.array([row]) for row in np.flatnonzero(~counted))
    if 8.0 * n * len(sets) > parse_budget(None, 8.0 * n * len(sets)):
        raise MemoryError(
            f"Prediction intervals from {len(sets)} left-out sets of {n} rows need "
            f"{8e-9 * n * len(sets):.1f} GB. Fit on fewer rows, or pass groups to fit."
        )
    left_out = leave_out_sets(machines, sets)
    assert left_out.changes is not None
    numbers = np.empty(n, dtype=np.intp)
    for number, rows in enumerate(sets):
        numbers[rows] = number
    residuals, change = np.abs(left_out.residuals), left_out.changes[0]
    used = change.used.astype(np.int32)
    vectors = np.empty((0, 0)) if machines.kernel.precomputed else machines.X[used]
    return Jackknife(
        machines.without_rows(), used, vectors, change.weights.T, change.shifts,
        numbers[counted], residuals[counted],
    )  # fmt: skip


def same_everywhere(machines: RegressionMachines, residuals: Array) -> Jackknife:
    """Intervals of one width around the predictions, from left-out residuals (NaN if not counted).

    That is the jackknife without the plus: what the above becomes where no single row matters, as
    among thousands of them.  It needs nothing but the residuals.
    """
    sizes = np.abs(residuals[~np.isnan(residuals)])
    return Jackknife(
        machines, machines.support[:1], machines.vectors[:1],
        np.zeros((machines.support[:1].size, 1)), np.zeros(1),
        np.zeros(sizes.size, dtype=np.intp), sizes,
    )  # fmt: skip
