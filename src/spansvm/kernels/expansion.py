"""Sums of kernel values with support vectors: the functions that trained models predict by."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..common.types import Array
from .functions import Kernel, dense

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
        for start in range(0, X.shape[0], step):
            rows = X[start : start + step]
            values = (
                dense(rows[:, self.support]) if precomputed else self.kernel(rows, self.vectors)
            )
            result[start : start + step] = values @ self.coefficients + self.intercepts
        return result
