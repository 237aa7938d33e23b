"""Scores of all candidates on drawn rows that follow from the order of their values.

Areas under ROC curves, for two classes and more, and the average precision.  The values of a
candidate are sorted once; a draw only changes how much each row weighs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np

from ...common.types import Array, Mask
from .bootstrap_scores import EachCandidate

__all__ = ["RankedClasses", "RankedValues", "area", "average_precision"]

#: From the weights of the rows of the other class, and of the own one, up to each different value,
#: of shape (n_draws, n_values), to scores; NaN without rows of a class that is needed.
Measure = Callable[[Array, Array], Array]


def area(others: Array, own: Array) -> Array:
    """Area under the ROC curve: the share of pairs, one of each class, in the right order."""
    at = np.diff(own, axis=1, prepend=0.0)
    middle = others - 0.5 * np.diff(others, axis=1, prepend=0.0)
    return _ratio((at * middle).sum(axis=1), others[:, -1] * own[:, -1])


def average_precision(others: Array, own: Array) -> Array:
    """The precision at every value that rows of the own class have, averaged over these rows."""
    at = np.diff(own, axis=1, prepend=0.0)
    found = own[:, -1:] - own + at  # with this value or a larger one
    wrong = others[:, -1:] - others + np.diff(others, axis=1, prepend=0.0)
    precision = found / np.maximum(found + wrong, np.finfo(np.float64).tiny)
    return _ratio((at * precision).sum(axis=1), own[:, -1])


def _ratio(part: Array, whole: Array) -> Array:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)


def _measured(measure: Measure, values: Array, own: Mask, drawn: Array) -> Array:
    """Scores of values, of which those of the class `own` should be the larger ones.

    `drawn`, of shape (n_draws, n), are the weights of the rows.
    """
    order = np.argsort(values, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(values[order])), values.size - 1)
    drawn, own = drawn[:, order], own[order]
    others, ours = (np.cumsum(np.where(some, drawn, 0.0), axis=1)[:, ends] for some in (~own, own))
    return measure(others, ours)


def _contributions(values: Array, own: Mask) -> Array:
    """To the area: the share of the other class that each row is on the right side of.

    Less the mean, for the rows of either class.
    """
    result = np.empty(values.size)
    for members, sign in ((own, 1.0), (~own, -1.0)):
        inner, others = values[members], np.sort(values[~members])
        # Equal values count half: the mean of the two sides.
        below = others.searchsorted(inner, "left") + others.searchsorted(inner, "right")
        beyond = 0.5 * below / max(others.size, 1)
        result[members] = sign * (beyond - beyond.mean()) / max(inner.size, 1)
    return result


class _Ranked(EachCandidate):
    """Scores of ranks; `weight` is that of every row in the score."""

    def __init__(
        self, responses: Sequence[Mapping[str, np.ndarray] | None], weight: Array | None
    ) -> None:
        super().__init__(responses)
        self._weight = weight

    def _drawn(self, counts: np.ndarray) -> Array:
        drawn = counts.astype(np.float64)
        return drawn if self._weight is None else drawn * self._weight


class RankedValues(_Ranked):
    """Scores of the ranks of two classes.

    Parameters
    ----------
    responses : sequence of (dict of str to ndarray, or None)
    positive : ndarray of bool of shape (n,)
        Which rows are of the second class.
    weight : ndarray of shape (n,), optional
    measure : {area, average_precision}
    """

    def __init__(
        self,
        responses: Sequence[Mapping[str, np.ndarray] | None],
        positive: Mask,
        weight: Array | None,
        measure: Measure = area,
    ) -> None:
        super().__init__(responses, weight)
        self._positive, self._measure = positive, measure

    def contributions(self) -> Array | None:
        """Those to the area; none to other scores."""
        own = self._responses[0]
        if own is None or self._weight is not None or self._measure is not area:
            return None
        (values,) = own.values()
        return _contributions(values, self._positive)

    def _scores(self, own: Mapping[str, np.ndarray], counts: np.ndarray) -> Array:
        (values,) = own.values()
        return _measured(self._measure, values, self._positive, self._drawn(counts))


class RankedClasses(_Ranked):
    """Areas under ROC curves, averaged over several classes.

    Parameters
    ----------
    responses : sequence of (dict of str to ndarray, or None)
        With a column for every class.
    indices : ndarray of shape (n,)
        The class of every row.
    n_classes : int
    weight : ndarray of shape (n,), optional
    by_pairs : bool
        Whether each class is ranked against each other one, instead of against the rest.
    by_size : bool
        Whether classes count by the weight of their rows, and pairs by those of both.
    """

    def __init__(
        self,
        responses: Sequence[Mapping[str, np.ndarray] | None],
        indices: np.ndarray,
        n_classes: int,
        weight: Array | None,
        by_pairs: bool,
        by_size: bool,
    ) -> None:
        super().__init__(responses, weight)
        self._members = [indices == one for one in range(n_classes)]
        self._by_pairs, self._by_size = by_pairs, by_size

    def contributions(self) -> Array | None:
        """The mean over classes that are ranked against the rest and count equally."""
        own = self._responses[0]
        if own is None or self._weight is not None or self._by_pairs or self._by_size:
            return None
        (values,) = own.values()
        each = [_contributions(values[:, c], members) for c, members in enumerate(self._members)]
        return np.mean(each, axis=0)

    def _scores(self, own: Mapping[str, np.ndarray], counts: np.ndarray) -> Array:
        (values,) = own.values()
        drawn = self._drawn(counts)
        rows = np.array([drawn[:, members].sum(axis=1) for members in self._members])
        areas, sizes = [], []
        if self._by_pairs:
            for a, b in combinations(range(len(self._members)), 2):
                both = np.flatnonzero(self._members[a] | self._members[b])
                each = [
                    _measured(area, values[both, c], self._members[c][both], drawn[:, both])
                    for c in (a, b)
                ]
                areas.append(0.5 * (each[0] + each[1]))
                sizes.append(rows[a] + rows[b])
        else:
            for c, members in enumerate(self._members):
                areas.append(_measured(area, values[:, c], members, drawn))
                sizes.append(rows[c])
        weights = np.array(sizes) if self._by_size else np.ones((len(sizes), 1))
        return (weights * np.array(areas)).sum(axis=0) / weights.sum(axis=0)
