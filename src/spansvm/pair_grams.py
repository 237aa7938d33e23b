"""The Gram matrix of a training set with several classes, and those of the pairs of classes."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ._typing import Array
from .gram import Gram
from .kernels import Kernel
from .lazy import gram_of
from .pairs import PairRows

__all__ = ["Grams"]


class Grams:
    """The Gram matrix of a training set, and those of the pairs of classes.

    Attributes
    ----------
    whole : Gram
        With more than two classes, of the rows class by class.
    pair_rows : PairRows
        Every pair of classes, with the rows that belong to it.
    places : list of ndarray of int
        For every pair, where its rows are in the whole matrix.
    labels : list of ndarray
        For every pair, -1.0 or 1.0 for its rows.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        indices: np.ndarray,
        budget: float | str | None = None,
        pair_rows: PairRows | None = None,
    ) -> None:
        self.kernel = kernel
        self.pair_rows = pair_rows or PairRows(indices, int(indices.max()) + 1)
        self.labels: list[Array] = self.pair_rows.split(self.pair_rows.sign)
        self.places = self.pair_rows.rows
        if self.pair_rows.n_classes > 2:
            # Class by class, the values of a class with some rows need not be gathered.
            order = self.pair_rows.class_by_class
            X = X[order][:, order] if kernel.precomputed else X[order]
            self.places = [self.pair_rows.place[own] for own in self.places]
        self.whole = gram_of(kernel, X, budget)
        self._of_pairs: dict[int, Gram] = {}

    def of_pair(self, pair: int) -> Gram:
        """The Gram matrix of a pair; with two classes, the whole matrix itself."""
        if pair not in self._of_pairs:
            self._of_pairs[pair] = self.whole.subset(self.places[pair])
        return self._of_pairs[pair]

    @property
    def of_pairs(self) -> list[Gram]:
        """The Gram matrices of all pairs."""
        return [self.of_pair(pair) for pair in range(len(self.places))]

    @cached_property
    def indefinite(self) -> bool:
        """Whether the kernel was found not to be positive semidefinite."""
        return not self.kernel.definite and self.whole.indefinite
