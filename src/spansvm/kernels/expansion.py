"""Sums of kernel values with support vectors: the functions that trained models predict by."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..common.types import Array
from .functions import Kernel, dense
from .twins import equal_rows

__all__ = ["Expansion"]

#: Number of kernel values held at a time in prediction.
_BLOCK_NUMBERS = 8_000_000


class Expansion:
    """Several functions of the same support vectors.

    Attributes
    ----------
    kernel : Kernel
    support : ndarray of shape (n_SV,)
        Which training rows are support vectors.
    vectors : ndarray or sparse matrix of shape (n_SV, d)
        The support vectors; empty if the kernel is precomputed.
    coefficients : ndarray of shape (n_SV, n_functions)
        Their signed multipliers.
    intercepts : ndarray of shape (n_functions,)
    """

    kernel: Kernel
    support: np.ndarray
    vectors: Any
    coefficients: Array
    intercepts: Array

    def decide(self, X: Any) -> Array:
        """Values of all functions for rows; for a precomputed kernel, rows of kernel values."""
        result = np.empty((X.shape[0], self.intercepts.size))
        step = max(1, _BLOCK_NUMBERS // max(self.support.size, 1))
        precomputed = self.kernel.precomputed
        vectors, coefficients = self.points
        for start in range(0, X.shape[0], step):
            rows = X[start : start + step]
            values = dense(rows[:, self.support]) if precomputed else self.kernel(rows, vectors)
            result[start : start + step] = values @ coefficients + self.intercepts
        return result

    @cached_property
    def points(self) -> tuple[Any, Array]:
        """The support vectors without repetition, and the sums of their coefficients.

        Large multipliers of equal rows with unequal labels cancel; summed first, exactly.
        """
        kinds = None if self.kernel.precomputed else equal_rows(self.vectors)
        if kinds is None:
            return self.vectors, self.coefficients
        sums = np.zeros_like(self.coefficients)
        np.add.at(sums, kinds, self.coefficients)
        kept = np.unique(kinds)
        return self.vectors[kept], sums[kept]
