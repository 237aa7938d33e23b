"""The Gram matrix of a training set with several classes, and those of the pairs of classes."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..common.pairs import PairRows
from ..common.types import Array, Rows
from .functions import Kernel
from .gram import Gram
from .lazy import gram_of
from .twins import Twins, equal_rows

__all__ = ["Grams", "Points"]

#: The matrices of pairs are kept if they take no more than this, or than that of all rows.
_FEW_BYTES = 1e8


class Points:
    """Training rows in the order of their Gram matrix, and what does not depend on the kernel.

    Parameters
    ----------
    X : array-like, sparse matrix, or a Gram matrix
    pair_rows : PairRows
        Every pair of classes, with the rows that belong to it.
    precomputed : bool, default=False
        Whether `X` is a Gram matrix.

    Attributes
    ----------
    X
        With more than two classes, the rows class by class.
    places : list of ndarray of int
        For every pair, where its rows are in that order.
    labels : list of ndarray
        For every pair, -1.0 or 1.0 for its rows.
    """

    def __init__(self, X: Any, pair_rows: PairRows, precomputed: bool = False) -> None:
        self.X, self.pair_rows = X, pair_rows
        self.labels: list[Array] = pair_rows.split(pair_rows.sign)
        self.places = pair_rows.rows
        if pair_rows.n_classes > 2:
            # Class by class, the values of a class with some rows need not be gathered.
            order = pair_rows.class_by_class
            self.X = X[order][:, order] if precomputed else X[order]
            self.places = [pair_rows.place[own] for own in self.places]

    @cached_property
    def kinds(self) -> Rows | None:
        """For every row, the first one equal to it; None if all differ."""
        return equal_rows(self.X)

    def first_twins(self, kinds: Rows | None) -> Rows:
        """The first twin of the rows of all pairs, one pair after the other, within each pair."""
        if kinds is None:
            return np.concatenate([np.arange(own.size) for own in self.places])
        if kinds is not self.kinds:
            return self._first_twins(kinds)
        if self._known is None:
            self._known = self._first_twins(kinds)
        return self._known

    _known: Rows | None = None

    def _first_twins(self, kinds: Rows) -> Rows:
        twins = map(Twins, (kinds[own] for own in self.places), self.labels)
        return np.concatenate([own.first for own in twins])


class Grams:
    """The Gram matrix of a training set, and those of the pairs of classes.

    It is computed from the rows unless `whole` is given.

    Attributes
    ----------
    whole : Gram
        Of the rows in the order of `points`.
    points : Points
    pair_rows, places, labels
        Those of `points`.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        indices: np.ndarray,
        budget: float | str | None = None,
        pair_rows: PairRows | None = None,
        points: Points | None = None,
        whole: Gram | None = None,
    ) -> None:
        self.kernel = kernel
        if points is None:
            pair_rows = pair_rows or PairRows(indices, int(indices.max()) + 1)
            points = Points(X, pair_rows, kernel.precomputed)
        self.points, self.pair_rows = points, points.pair_rows
        self.labels, self.places = points.labels, points.places
        if whole is None:
            whole = gram_of(kernel, points.X, budget, kinds=lambda: points.kinds)
        self.whole = whole
        self._of_pairs: dict[int, Gram] = {}
        self._bytes = 0

    def of_pair(self, pair: int) -> Gram:
        """The Gram matrix of a pair; with two classes, the whole matrix itself."""
        if pair in self._of_pairs:
            return self._of_pairs[pair]
        own = self.whole.subset(self.places[pair])
        if own is not self.whole and own.values is not None:
            self._bytes += own.values.nbytes
        if self._bytes <= max(self.whole.dtype.itemsize * len(self.whole) ** 2, _FEW_BYTES):
            self._of_pairs[pair] = own
        return own

    @property
    def of_pairs(self) -> list[Gram]:
        """The Gram matrices of all pairs."""
        return [self.of_pair(pair) for pair in range(len(self.places))]

    @cached_property
    def indefinite(self) -> bool:
        """Whether the kernel was found not to be positive semidefinite."""
        return not self.kernel.definite and self.whole.indefinite
