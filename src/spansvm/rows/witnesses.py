"""Which training rows contradict the label, or target, of another, and which agree with it.

A row contradicts if it has the label that is predicted (of targets, lies on that side), and the
value of the doubted row would be nearer to its own label without it.  It agrees if it has the
label of the doubted row, and the value would be farther from it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..common.types import Array, Mask, Rows
from ..estimators.svr import SpanSVR
from .without import Without

__all__ = ["Judged", "Witnesses", "find_witnesses"]

#: Influences that are held at a time, at most.
_MOST_HELD = 10_000_000


class Judged(NamedTuple):
    """What is said of every row.

    Attributes
    ----------
    issue : ndarray of bool
        Whether its label is doubted.
    quality, margin : ndarray
        The left-out probability of its label, and that minus the largest of the other labels; of a
        target, ``exp(-|residual| / spread)``.
    given, predicted : ndarray
        Its label, or target, and what the others say.
    telling : bool
        Whether anything can be said about single labels.
    """

    issue: Mask
    quality: Array
    margin: Array
    given: np.ndarray
    predicted: np.ndarray
    telling: bool


class Witnesses(NamedTuple):
    """The rows that contradict the label of a row, and those that agree, the strongest first.

    Attributes
    ----------
    against, agreeing : ndarray of int
    against_by, agreeing_by : ndarray
        By how much the value that decides between the two labels would move to the given one
        without the row, or away from it; positive.
    """

    against: Rows
    against_by: Array
    agreeing: Rows
    agreeing_by: Array


def find_witnesses(fitted: Any, judged: Judged, doubted: Rows, number: int) -> list[Witnesses]:
    """For each doubted row, at most `number` rows that contradict its label, and that agree.

    Parameters
    ----------
    fitted : SpanSVC or SpanSVR
        With its training rows.
    judged : Judged
        What is said of them.
    doubted : ndarray of int
        Rows whose predicted label is not the given one.
    number : int
    """
    found: list[Witnesses] = []
    step = max(_MOST_HELD // judged.issue.size, 1)
    for first in range(0, doubted.size if number > 0 else 0, step):
        rows = doubted[first : first + step]
        pulls = _pulls(fitted, judged, rows)
        both = zip(rows, pulls.T, strict=True)
        found += [_witnesses(fitted, judged, row, pull, number) for row, pull in both]
    nobody = Witnesses(*(np.empty(0, dtype=kind) for kind in (np.intp, float, np.intp, float)))
    return found or [nobody] * doubted.size


def _witnesses(fitted: Any, judged: Judged, row: int, pull: Array, number: int) -> Witnesses:
    opposed = _opposed(fitted, judged, row)
    alike = ~opposed if isinstance(fitted, SpanSVR) else judged.given == judged.given[row]
    alike[row] = False
    parts: list[Any] = []
    for side, strength in ((opposed, pull), (alike, -pull)):
        own = np.where(side, strength, 0.0)
        order = np.argsort(-own, kind="stable")[:number]
        order = order[own[order] > 0.0]
        parts += [order, own[order]]
    return Witnesses(*parts)


def _pulls(fitted: Any, judged: Judged, doubted: Rows) -> Array:
    """By how much the values of doubted rows move to their labels without each training row."""
    without = Without(fitted, fitted.machines_.X[doubted], transformed=True)
    result = np.zeros((without.n_rows, doubted.size))
    for machine, (rows, change) in enumerate(without.each_row(exact=False)):
        result[rows] += change * _towards(fitted, judged, doubted, machine)
    return result


def _opposed(fitted: Any, judged: Judged, row: int) -> Mask:
    """The rows that are labelled as predicted, or whose targets are on that side."""
    if isinstance(fitted, SpanSVR):
        way = np.sign(judged.predicted - judged.given)[row]
        return way * (judged.given - judged.given[row]) > 0.0
    return judged.given == judged.predicted[row]


def _towards(fitted: Any, judged: Judged, doubted: Rows, machine: int) -> Array:
    """Of each row, which change of a machine's values would agree with its label: 1, -1 or 0."""
    if isinstance(fitted, SpanSVR):
        return np.sign(judged.given - judged.predicted)[doubted]
    pairs = fitted.machines_.pair_rows.pairs
    first, second = (fitted.classes_[own] for own in pairs[machine])
    given, predicted = judged.given[doubted], judged.predicted[doubted]
    between = ((given == first) & (predicted == second)) | (
        (given == second) & (predicted == first)
    )
    return np.where(between, np.where(given == second, 1.0, -1.0), 0.0)
