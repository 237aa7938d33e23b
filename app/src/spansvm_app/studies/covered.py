"""Prediction intervals of the selected setting for rows that its models have not seen.

Among training rows the share that intervals cover is what it should be by construction.  So the
rows are cut into folds; models of the other folds, with their own intervals from their own left-out
rows, predict each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..common.types import Array
from .target_subject import TargetSubject

__all__ = ["LEVELS", "Covered", "cover"]

#: Confidence levels.
LEVELS = (0.5, 0.8, 0.9, 0.95)

#: Folds, and rows at most.
_FOLDS, _MOST_ROWS = 5, 600


@dataclass(frozen=True, eq=False)
class Covered:
    """Rows and their intervals.

    Attributes
    ----------
    actual, predicted : ndarray of shape (n,)
    ends : ndarray of shape (n, 2, n_levels)
        Lower and upper ends for :data:`LEVELS`.
    n_folds : int
    """

    actual: Array
    predicted: Array
    ends: Array
    n_folds: int


def cover(subject: TargetSubject) -> Covered | str:
    """Intervals for rows of a subject in folds, or why there are none."""
    if subject.machines.kernel.precomputed:
        return "Prediction intervals were not tested: the kernel was given, not the rows."
    subject = subject.sampled_to(_MOST_ROWS)
    folds = subject.folds(_FOLDS)
    if not folds:
        return "Prediction intervals were not tested: there are too few rows for folds."
    n = subject.n_rows
    predicted, ends = np.empty(n), np.empty((n, 2, len(LEVELS)))
    for train, test in folds:
        part = subject.of_rows(train)
        points = subject.machines.X[test]
        predicted[test] = part.machines.decide(points)[:, 0]
        own = part.jackknife
        for number, level in enumerate(LEVELS):
            ends[test, :, number] = own.interval(points, level)
    return Covered(subject.y.astype(np.float64), predicted, ends, len(folds))
