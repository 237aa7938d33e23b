"""Influence of features on a quantity: how left-out predictions suffer from permuted values.

As :mod:`spansvm_app.studies.influence`: row p, left out, gets the value that another row has in one
column, and the function without p, which is known for any place, predicts it again.  The influence
is by how much the root mean squared error grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from spansvm.blocks import stratified_rows, take_rows

from ..common.types import Array, Rows
from .columns import column_of, with_column
from .influence import ALARM
from .target_errors import error_difference
from .target_subject import TargetSubject

__all__ = ["TargetFeature", "TargetInfluence", "measure_target_influence"]

#: Kernel values that may be computed; how often a feature is permuted; rows at least and at most.
_KERNEL_VALUES, _REPEATS, _FEWEST_REPEATS, _FEWEST_ROWS, _MOST_ROWS = 4 * 10**7, 5, 2, 200, 1000

#: Kernel values held at a time.
_BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True)
class TargetFeature:
    """How much the root mean squared error grows if a feature is permuted.

    Attributes
    ----------
    column : int
    name : str
    increase, standard_error : float
    spoiled : float
        Which part of the luck of the selection permuted predictions lose, from 0 to 1.
    interval : list of float
        It holds for all features at once, and its lower end allows for the luck of the selection.
    clear : bool
        Whether the interval is above 0.
    """

    column: int
    name: str
    increase: float
    standard_error: float
    spoiled: float
    interval: list[float]
    clear: bool


@dataclass(frozen=True)
class TargetInfluence:
    """The influence of all permuted features, the greatest first.

    Attributes
    ----------
    features : list of TargetFeature
    error : float
        Left-out root mean squared error of the rows that are permuted.
    n_rows, n_repeats, n_features : int
        How many rows are permuted, how often each, and how many features there are.
    """

    features: list[TargetFeature]
    error: float
    n_rows: int
    n_repeats: int
    n_features: int


@threadpool_limits.wrap(limits=1, user_api="blas")
def measure_target_influence(
    subject: TargetSubject,
    *,
    columns: Sequence[int] | None = None,
    optimism: float = 0.0,
    seed: int = 0,
) -> TargetInfluence:
    """Permute one feature after the other.

    Parameters
    ----------
    subject : TargetSubject
    columns : sequence of int, optional
        Which ones; all by default.
    optimism : float
        By how much the left-out error is too small, as the model was selected on the same rows.
    seed : int
        Of the rows that are drawn, and of the permutations.
    """
    chosen = list(range(len(subject.names)) if columns is None else columns)
    rows, n_repeats = _affordable(subject, len(chosen), seed)
    rng = np.random.default_rng(seed)
    y = subject.y[rows]
    groups = None if subject.groups is None else subject.groups[rows]
    own = y - _values(subject, subject.machines.X[rows], rows, 1)[:, 0]
    quantile = float(norm.isf(ALARM / max(len(chosen), 1)))
    found = []
    for column in chosen:
        values = column_of(subject.X, column)
        drawn = np.array([rng.permutation(rows.size) for _ in range(n_repeats)])
        several = np.repeat(rows, n_repeats)
        X = with_column(take_rows(subject.X, several), column, values[rows][drawn.T.ravel()])
        permuted = y[:, None] - _values(subject, subject.transformed(X), rows, n_repeats)
        size = np.sqrt((permuted**2).mean(axis=1))  # of every row, over the repeats
        difference = error_difference(size, own, groups)
        error = difference.standard_error
        spoiled = _spoiled(y - own, y[:, None] - permuted)
        low = difference.value - optimism * spoiled - quantile * error
        found.append(
            TargetFeature(
                column, subject.names[column], difference.value, error, spoiled,
                [low, difference.value + quantile * error], error > 0.0 and low > 0.0,
            )
        )  # fmt: skip
    found.sort(key=lambda one: (-one.increase, one.column))
    error = float(np.sqrt((own**2).mean()))
    return TargetInfluence(found, error, rows.size, n_repeats, len(subject.names))


def _spoiled(predicted: Array, permuted: Array) -> float:
    """Which part of the luck is lost: all of it if predictions have become unrelated.

    Unrelated predictions differ by the sum of their variances, on average of the squares.
    """
    unrelated = float(predicted.var() + permuted.var())
    changed = float(((permuted - predicted[:, None]) ** 2).mean())
    return min(changed / unrelated, 1.0) if unrelated > 0.0 else 0.0


def _affordable(subject: TargetSubject, n_features: int, seed: int) -> tuple[Rows, int]:
    """The rows to permute, and how often: as many as the time allows."""
    of_one = max(n_features * subject.jackknife.support.size, 1)
    most = max(min(_KERNEL_VALUES // (of_one * _FEWEST_REPEATS), _MOST_ROWS), _FEWEST_ROWS)
    rows = np.arange(subject.n_rows)
    if most < subject.n_rows:
        rows = stratified_rows(subject.strata, most, seed=seed)
    affordable = _KERNEL_VALUES // (of_one * rows.size)
    return rows, min(_REPEATS, max(affordable, _FEWEST_REPEATS))


def _values(subject: TargetSubject, points: Any, rows: Rows, n_repeats: int) -> Array:
    """Predictions without each row, or its group, of shape (n_rows, n_repeats).

    `points` holds `n_repeats` places for each of the rows, row by row.
    """
    without = subject.jackknife
    numbers = without.numbers[rows]
    result = np.empty((rows.size, n_repeats))
    step = max(1, _BLOCK_NUMBERS // max(without.support.size * n_repeats, 1))
    for start in range(0, rows.size, step):
        stop = min(start + step, rows.size)
        part = points[start * n_repeats : stop * n_repeats]
        plain = subject.machines.decide(part)[:, 0].reshape(-1, n_repeats)
        kernel = np.asarray(without.kernel(part, without.vectors))
        kernel = kernel.reshape(stop - start, n_repeats, -1)
        change = np.einsum("irm,mi->ir", kernel, without.coefficients[:, numbers[start:stop]])
        result[start:stop] = plain + change + without.intercepts[numbers[start:stop], None]
    return result
