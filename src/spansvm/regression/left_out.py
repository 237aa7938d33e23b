"""Predictions of a regression for rows that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..common.types import Array, Mask, Rows
from ..common.validation import check_rest
from ..machine.certificate import Certificate, certify, count_left_out
from ..machine.criteria import SolvedModel
from .machines import Changes, TrainedRegressions
from .paths import MOST_EXACT

__all__ = ["LeftOutTargets", "certificates", "leave_out_rows", "leave_out_sets"]


class LeftOutTargets:
    """Predictions for rows that were left out.

    Parameters
    ----------
    predictions, targets : ndarray of shape (n,) or (n, k)
    used : ndarray of bool of shape (n,)
        Which rows count.

    Attributes
    ----------
    changes : list of Changes, or None
        How the functions change without each set of rows, if sets were left out.
    """

    changes: list[Changes] | None = None

    def __init__(self, predictions: Array, targets: Array, used: Mask) -> None:
        self.predictions, self.targets, self.used = predictions, targets, used

    @property
    def residuals(self) -> Array:
        """Targets minus predictions; NaN for rows that do not count."""
        apart = self.targets - self.predictions
        apart[~self.used] = np.nan
        return apart

    @cached_property
    def loss(self) -> float:
        """Mean squared residual of the rows that count, in units of the variance of the targets."""
        apart = (self.targets - self.predictions)[self.used]
        spread = self.targets[self.used].var(axis=0)
        squares = (apart**2).mean(axis=0)
        return float(np.mean(squares / np.where(spread > 0.0, spread, 1.0)))

    @property
    def error(self) -> float:
        """Root of the mean squared residual of the rows that count."""
        apart = (self.targets - self.predictions)[self.used]
        return float(np.sqrt((apart**2).mean()))


def leave_out_rows(
    machines: TrainedRegressions, *, exact: bool | None = None, used: Mask | None = None
) -> LeftOutTargets:
    """All training rows, each from the regression without it.

    Parameters
    ----------
    machines : TrainedRegressions
    exact : bool, optional
        Whether every removal is followed exactly; if not, values are those that the span predicts.
        By default they are followed up to 4000 rows.
    used : ndarray of bool, optional
        Which rows count; by default those of positive weight.
    """
    check_rest(machines.bounds > 0)
    found = machines.known()
    if exact is None:
        exact = machines.targets.shape[0] <= MOST_EXACT
    values = found.exact_values if exact else found.span_values
    return _of_training_rows(machines, values, used)


def leave_out_sets(
    machines: TrainedRegressions, sets: Sequence[Rows], *, exact: bool = True,
    used: Mask | None = None,
) -> LeftOutTargets:  # fmt: skip
    """All training rows, each from the regression without its set; together the sets are all."""
    values = np.empty(machines.targets.shape)
    found, changes = machines.without_sets(sets, exact=exact)
    for rows, own in zip(sets, found, strict=True):
        values[rows] = own
    left_out = _of_training_rows(machines, values, used)
    left_out.changes = changes
    return left_out


def certificates(
    machines: TrainedRegressions, sets: Sequence[Rows] | None = None
) -> list[Certificate]:
    """The certificate of every target, with counts of left-out values as they are by default.

    `sets` are the rows that are left out together, if single rows are not; those are all exact.
    """
    found, result = machines.known(), []
    for own, unit in zip(found.solutions, found.units, strict=True):
        followed: Mask = np.zeros(own.y.size, dtype=np.bool_)
        if sets is not None:
            for rows in sets:
                followed[rows] = own.support[rows].any()
        elif own.y.size <= MOST_EXACT:
            followed = own.support
        counts = count_left_out(SolvedModel(found.gram, own), followed)
        result.append(certify(found.gram, own, unit.size, counts))
    return result


def _of_training_rows(
    machines: TrainedRegressions, values: Array, used: Mask | None
) -> LeftOutTargets:
    used = machines.bounds > 0 if used is None else used
    return LeftOutTargets(_flat(values), _flat(machines.targets), used)


def _flat(values: Array) -> Array:
    """Values of one target as a vector."""
    return values[:, 0] if values.shape[1] == 1 else values
