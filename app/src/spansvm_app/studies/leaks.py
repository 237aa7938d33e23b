"""Leaks: columns that give the target away.

A strong feature is no leak.  What is suspicious is one of these, each checked on left-out rows:

- a **copy**: as many different values as there are classes, each of which stands for one class in
  (nearly) all rows, whatever they are called;
- a **counter**: different whole numbers that number the rows, and tell the classes, as in a file
  that was sorted by the target before it was numbered;
- a column that **alone** is (nearly) always right, while a model without it and without all others
  of this kind is clearly worse.  Where the other features do as well, as a petal's length does for
  its width, nothing is said.

With few rows and many columns some column fits by chance: nothing is said unless the chance that
one of them does is below one in a million.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom
from threadpoolctl import threadpool_limits

from ..common.types import Array, Mask
from .alone import wrong_alone
from .columns import as_numbers, codes_of, column_of
from .folds import folds_of
from .paired import paired_difference
from .subject import StudiedRows, Subject

__all__ = ["Leak", "Leaks", "find_leaks", "settings_without"]

#: A column is nearly always right if it is wrong in no more than this share of the rows, and of
#: the rows that the largest class gets wrong.
_SHARE, _OF_MAJORITY = 0.03, 0.25

#: A counter tells the classes if it is wrong in no more than this share of the latter.
_COUNTER_OF_MAJORITY = 0.5

#: The model without the column must be wrong this many times as often.
_TIMES = 3.0

#: Factors of C that are tried without a column.
_LARGER = (10.0, 100.0)

#: The chance that some column fits by chance alone.
_CHANCE = 1e-6

#: With more columns than this, none is looked at.
_MOST_COLUMNS = 2000


@dataclass(frozen=True)
class Leak:
    """A column that gives the target away.

    Attributes
    ----------
    column : int
    name : str
    kind : {"copy", "counter", "alone"}
    n_wrong : int
        How many rows it gets wrong alone.
    accuracy : float
        The share of those it gets right.
    error_without : float
        Left-out error without this column: the least of the selected setting and four others.
    """

    column: int
    name: str
    kind: str
    n_wrong: int
    accuracy: float
    error_without: float


@dataclass(frozen=True)
class Leaks:
    """All leaks that were found.

    Attributes
    ----------
    found : list of Leak
    error : float
        Left-out error with all columns.
    error_without_all : float or None
        The same without any of the leaks.
    n_columns : int
        How many columns were looked at.
    """

    found: list[Leak]
    error: float
    error_without_all: float | None
    n_columns: int


@threadpool_limits.wrap(limits=1, user_api="blas")
def find_leaks(subject: Subject) -> Leaks | str:
    """The leaks among the columns of a subject, or why none was looked for."""
    n_columns = len(subject.names)
    if n_columns == 0:
        return "The columns of a Gram matrix are not features: no leaks were looked for."
    if n_columns > _MOST_COLUMNS:
        return f"No leaks were looked for: there are more than {_MOST_COLUMNS} columns."
    folds = folds_of(subject)
    if not folds:
        return "No leaks were looked for: there are too few rows."
    n, of_majority = subject.n_rows, subject.majority_error * subject.n_rows
    nearly = min(_SHARE * n, _OF_MAJORITY * of_majority)
    kinds: dict[int, str] = {}
    wrong: dict[int, Mask] = {}
    for column in range(n_columns):
        values = column_of(subject.X, column)
        counts = _counts(values, subject.n_all)
        most = _COUNTER_OF_MAJORITY * of_majority if counts else nearly
        own = wrong_alone(values, subject.indices, folds, most)
        if own is None or not _beyond_chance(int(own.sum()), subject, n_columns):
            continue
        wrong[column] = own
        if counts:
            kinds[column] = "counter"
        elif _is_copy(values, subject.indices, nearly):
            kinds[column] = "copy"
    kinds |= _alone(subject, wrong, kinds)
    without = {column: _error_without(subject, [column]) for column in sorted(kinds)}
    found = [
        Leak(
            column, subject.names[column], kinds[column], int(wrong[column].sum()),
            1.0 - float(wrong[column].mean()), without[column],
        )
        for column in without
    ]  # fmt: skip
    found.sort(key=lambda leak: leak.n_wrong)
    together = None
    if len(found) > 1:
        together = _error_without(subject, [leak.column for leak in found])
    elif found:
        together = found[0].error_without
    return Leaks(found, float(subject.wrong.mean()), together, n_columns)


def _alone(subject: Subject, wrong: dict[int, Mask], known: dict[int, str]) -> dict[int, str]:
    """Columns that do much better alone than all others that do not do well alone."""
    others = [column for column in wrong if column not in known]
    if not others or len(wrong) == len(subject.names):
        return {}
    without = _wrong_without(subject, sorted(wrong))
    units = None if subject.sets is None else subject.units
    return {
        column: "alone"
        for column in others
        if without.sum() >= _TIMES * wrong[column].sum()
        and paired_difference(without, wrong[column], units).interval[0] > 0.0
    }


def _error_without(subject: Subject, columns: list[int]) -> float:
    if len(columns) == len(subject.names):
        return subject.majority_error
    return float(_wrong_without(subject, columns).mean())


def _wrong_without(subject: Subject, columns: list[int]) -> Mask:
    """Which left-out rows are wrong without these columns, in the best of a few settings."""
    points = subject.without_columns(columns)
    tried = []
    for kernel, bounds in settings_without(subject):
        _, left_out = subject.train(points, subject.y, bounds, subject.sets, **kernel)
        tried.append(left_out.wrong(subject.model.break_ties))
    return min(tried, key=lambda wrong: int(wrong.sum()))


def settings_without(
    subject: StudiedRows, usual_C: float = 1.0
) -> list[tuple[dict[str, Any], Array]]:
    """Kernels and bounds to try where a leak is gone.

    The selected setting suits the leak: a tiny C and gamma are enough for a copy of the target, and
    not for anything else.  So larger C are tried, and the default `gamma` of an SVM.
    """
    own, bounds = subject.machines.kernel, subject.machines.bounds
    settings: list[tuple[float | str, Array]]
    settings = [(own.gamma, factor * bounds) for factor in (1.0, *_LARGER)]
    if "gamma" in own.parameters:
        usual = usual_C * bounds / bounds.mean()
        settings += [("scale", factor * usual) for factor in (1.0, _LARGER[0])]
    same = {"kernel": own.name, "degree": own.degree, "coef0": own.coef0}
    # Texts that became one are encoded in fewer columns: the centre of the kernel is another.
    return [({**same, "gamma": gamma}, weights) for gamma, weights in settings]


def _is_copy(values: np.ndarray, indices: np.ndarray, most: float) -> bool:
    """Whether each value stands for a class of its own, but for a few rows."""
    codes, k = codes_of(values), int(indices.max()) + 1
    if int(codes.max()) + 1 != k:
        return False
    table = np.bincount(codes * k + indices, minlength=k * k).reshape(k, k)
    said = table.argmax(axis=1)
    return np.unique(said).size == k and bool(indices.size - table.max(axis=1).sum() <= most)


def _counts(values: np.ndarray, n_all: int) -> bool:
    """Whether a column numbers the rows: whole numbers, all different, in order or dense."""
    numbers = as_numbers(values)
    if numbers is None or np.isnan(numbers).any() or (numbers != np.round(numbers)).any():
        return False
    steps = np.diff(numbers)
    if (steps > 0).all() or (steps < 0).all():
        return True
    return np.unique(numbers).size == numbers.size and bool(np.ptp(numbers) < 2 * n_all)


def _beyond_chance(n_wrong: int, subject: Subject, n_columns: int) -> bool:
    """Whether no column of noise would be wrong so seldom."""
    classes = math.lgamma(subject.classes.size + 1)  # any value may stand for any class
    chance = binom.logcdf(n_wrong, subject.n_rows, subject.majority_error)
    return bool(chance + math.log(n_columns) + classes < math.log(_CHANCE))
