"""Leaks of a regression: columns that alone put the rows in the order of the targets.

The counterpart of :mod:`spansvm_app.studies.leaks`, which has classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

from .columns import as_numbers, column_of
from .leaks import settings_without
from .target_subject import TargetSubject

__all__ = ["TargetLeak", "TargetLeaks", "find_target_leaks"]

#: A column with at least this rank correlation with the target gives it away.
_COPY = 0.9995

#: With more columns than this, none is looked at.
_MOST_COLUMNS = 2000


@dataclass(frozen=True)
class TargetLeak:
    """A column that gives the target away, and its rank correlation with it."""

    column: int
    name: str
    order: float


@dataclass(frozen=True)
class TargetLeaks:
    """All leaks that were found.

    Attributes
    ----------
    found : list of TargetLeak
    error : float
        Left-out root mean squared error with all columns.
    error_without_all : float or None
        The same without any of the leaks: the least of the selected setting and four others.
    """

    found: list[TargetLeak]
    error: float
    error_without_all: float | None


@threadpool_limits.wrap(limits=1, user_api="blas")
def find_target_leaks(subject: TargetSubject) -> TargetLeaks | str:
    """The leaks among the columns of a subject, or why none was looked for."""
    if len(subject.names) > _MOST_COLUMNS:
        return f"No leaks were looked for: there are more than {_MOST_COLUMNS} columns."
    found = []
    for column, name in enumerate(subject.names):
        values = as_numbers(column_of(subject.X, column))
        if values is None or not np.isfinite(values).all() or np.unique(values).size < 3:
            continue
        order = abs(float(spearmanr(values, subject.y).statistic))
        if order >= _COPY:
            found.append(TargetLeak(column, name, order))
    without = _error_without(subject, [leak.column for leak in found]) if found else None
    return TargetLeaks(found, subject.left_out.error, without)


def _error_without(subject: TargetSubject, columns: list[int]) -> float:
    """The left-out error without these columns, in the best of a few settings."""
    if len(columns) == len(subject.names):
        return float(subject.y.std())
    points = subject.without_columns(columns)
    return min(
        subject.train(points, subject.y, bounds, subject.sets, **kernel)[1].error
        for kernel, bounds in settings_without(subject, float(subject.y.std()))
    )
