"""Learning curve of a regression: the left-out error of the selected setting on fewer rows.

The parts are those of :mod:`spansvm_app.studies.learning`, with every tenth of the targets in its
share; the same ``C`` and a larger one are tried on each size, and the better one counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from ..common.types import Array, Rows
from .learning import HALVINGS, pieces_of
from .paired import QUANTILE
from .target_errors import ErrorDifference, error_difference
from .target_subject import TargetSubject

__all__ = ["TargetCurve", "TargetPoint", "target_learning_curve"]

#: A part has at least this many rows.
_FEWEST_ROWS = 20


@dataclass(frozen=True)
class TargetPoint:
    """The left-out root mean squared error of models of so many rows, with its 95% CI.

    That of all rows is corrected for the selection, where that is known.
    """

    n_rows: int
    n_models: int
    error: float
    interval: list[float]


@dataclass(frozen=True)
class TargetCurve:
    """Left-out errors on nested parts of the rows.

    Attributes
    ----------
    points : list of TargetPoint
        From few rows to all.
    gain : ErrorDifference
        The error with half of the rows minus that with all of them.
    """

    points: list[TargetPoint]
    gain: ErrorDifference

    @property
    def verdict(self) -> str:
        """``"falling"``, ``"flat"`` or ``"unknown"``: what the last doubling of the rows did."""
        if self.gain.interval[0] > 0.0:
            return "falling"
        # Flat: even the best gain that is compatible with the rows is small.
        return "flat" if self.gain.interval[1] <= 0.05 * self.points[-1].error else "unknown"


@threadpool_limits.wrap(limits=1, user_api="blas")
def target_learning_curve(
    subject: TargetSubject, *, optimism: float = 0.0, seed: int = 0
) -> TargetCurve | str:
    """The curve of a subject, or why there is none.

    Parameters
    ----------
    subject : TargetSubject
    optimism : float
        By how much its left-out error is too small, as it was selected on the same rows.
    seed : int
        Of the parts.
    """
    residuals: dict[int, Array] = {1: subject.residuals}
    for halving in range(1, HALVINGS + 1):
        pieces = pieces_of(subject, 2**halving, seed)
        if not all(_suffices(subject, rows) for rows in pieces):
            break
        tried = [_left_out_of(subject, pieces, factor) for factor in (1.0, 2.0**halving)]
        residuals[2**halving] = min(tried, key=lambda own: float((own**2).sum()))
    if len(residuals) == 1:
        return (
            "There is no learning curve: half of the rows would be fewer than "
            f"{_FEWEST_ROWS}, or a single group."
        )
    points = []
    for n_parts, own in sorted(residuals.items(), reverse=True):
        alone = error_difference(own, np.zeros(own.size), subject.groups)
        error = alone.value + (optimism if n_parts == 1 else 0.0)
        half = QUANTILE * alone.standard_error
        points.append(
            TargetPoint(
                round(subject.n_rows / n_parts), n_parts, error,
                [max(error - half, 0.0), error + half],
            )
        )  # fmt: skip
    gain = error_difference(residuals[2], residuals[1], subject.groups, optimism)
    return TargetCurve(points, gain)


def _suffices(subject: TargetSubject, rows: Rows) -> bool:
    return rows.size >= _FEWEST_ROWS and np.unique(subject.units[rows]).size > 1


def _left_out_of(subject: TargetSubject, pieces: list[Rows], factor: float) -> Array:
    """Residuals of rows left out of the piece that contains them; `factor` is that of C."""
    residuals = np.empty(subject.n_rows)
    for rows in pieces:
        residuals[rows] = subject.of_rows(rows, factor).residuals
    return residuals
