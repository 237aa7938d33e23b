"""The linear system of the in-bound vectors I, ``[[K_II, 1], [1', 0]]``, and how it is solved.

Everything that needs it is served by one of three eliminations:

* :func:`factorise`, Cholesky of ``K_II`` with a number added to all entries, once per trained
  machine, and kept with it (``DualSolution.factor``); see :mod:`spansvm.core.factor`.
* an inverse with a small ridge, for Newton steps (there too).
* :func:`bordered`, the inverse from which removals read multipliers and residuals.  It comes from
  the factor if that is well conditioned.  Otherwise kernel values are taken relative to the first
  vector, since the part common to all would swamp their differences, and there is no ridge:
  dependent vectors must be detected, not smoothed over.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy import linalg

from ..common.types import Array, Rows
from ..core import solver

__all__ = [
    "Blocks",
    "Bordered",
    "Factor",
    "bordered",
    "clipped_inverse",
    "factorise",
    "from_first",
    "independent_above",
    "inverse_of",
    "mean_diagonal",
    "no_factor",
    "positive",
    "regularised_inverse",
]

#: Smallest squared distance from the hull of others at which a vector is independent of them, as a
#: fraction of the largest diagonal entry; by precision.
_INDEPENDENT = {np.dtype(np.float64): 1e-11, np.dtype(np.float32): 1e-5}

#: Ridges that are tried one after the other, and the smallest squared pivot without one, as
#: fractions of the mean diagonal entry; by precision.
_RIDGES = {np.dtype(np.float64): (0.0, 1e-10, 1e-7), np.dtype(np.float32): (0.0, 1e-6, 1e-4)}
_REGULAR = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-5}

#: Smallest squared pivot of a factor that is accurate enough for the inverse that removals need.
_WELL_CONDITIONED = 1e-5

#: Eigenvalues of an indefinite block are raised to this fraction of the largest.
_CLIP = 1e-10

_TINY = float(np.finfo(np.float64).tiny)


class Factor(NamedTuple):
    """Cholesky factor of the shifted Gram matrix of some points, and how it was computed.

    Attributes
    ----------
    matrix : ndarray of shape (n, n)
        Lower triangle; empty if there is none.
    inside, kept : ndarray of int
        The points, and those that the factor covers: each set of equal points once.
    repeated : ndarray of bool
        Which of `inside` have an equal point.
    shift, ridge : float
        Numbers added to all entries and to the diagonal.
    """

    matrix: Array
    inside: np.ndarray
    kept: np.ndarray
    repeated: np.ndarray
    shift: float
    ridge: float


class Bordered(NamedTuple):
    """Inverse of the bordered system ``[[K_FF, 1], [1', 0]]`` of independent vectors.

    The point of their hull that is nearest to another one, p, has the weights
    ``projected @ (k_p - K_0p) + weights``, with ``k_p = K[F, p]`` and the first of them as base 0.
    Differences of kernel values are exact where the values themselves are nearly equal.

    Attributes
    ----------
    projected, weights
        The inverse without its border, and its border; empty if the vectors are dependent.
    """

    projected: Array
    weights: Array

    @property
    def independent(self) -> bool:
        """Whether there is an inverse."""
        return self.weights.size > 0


class Blocks(Protocol):
    """A Gram matrix, as far as its in-bound system needs it."""

    @property
    def dtype(self) -> np.dtype:
        """Precision of the entries."""

    @property
    def diagonal(self) -> Array:
        """``K(x_i, x_i)``."""

    def block(self, rows: Rows, columns: Rows) -> Array:
        """Some entries, in double precision."""


def no_factor(inside: Rows) -> Factor:
    """An empty factor, for points without one."""
    nothing = np.zeros(inside.size, dtype=np.bool_)
    return Factor(np.empty((0, 0)), inside, inside, nothing, 0.0, 0.0)


def factorise(K: np.ndarray, inside: Rows) -> Factor:
    """The :class:`Factor` of some points; empty if the kernel is not semidefinite on them."""
    return Factor(*solver.factorise(K, inside)) if inside.size else no_factor(inside)


def independent_above(gram: Blocks) -> float:
    """The squared distance from the hull of others at which a vector is independent of them."""
    return _INDEPENDENT[gram.dtype] * float(np.abs(gram.diagonal).max())


def bordered(gram: Blocks, free: Rows, known: Factor | None = None) -> Bordered:
    """The inverse for some vectors, from their factor if it is known and accurate enough."""
    if known is not None and known.matrix.size and np.array_equal(known.kept, free):
        pivots = np.diagonal(known.matrix) ** 2
        if known.ridge == 0.0 and pivots.min() >= _WELL_CONDITIONED * known.shift:
            inverse = inverse_of(known.matrix)
            u = inverse.sum(axis=1)
            weights = u / u.sum()
            inverse -= np.outer(u, weights)
            return Bordered(inverse, weights)
    apart, G, least = from_first(gram, free)
    size = free.size
    if size > 1:
        found, info = linalg.lapack.dpotrf(G, lower=1, clean=0)
        if info != 0 or (np.diagonal(found) ** 2 < least).any():
            return Bordered(np.empty((0, 0)), np.empty(0))
        G = inverse_of(found)
    projected, weights = np.empty((size, size)), np.empty(size)
    projected[1:, 1:] = G
    projected[0, 1:] = projected[1:, 0] = -G.sum(axis=0)
    projected[0, 0] = G.sum()
    weights[1:] = -G @ apart
    weights[0] = 1.0 - weights[1:].sum()
    return Bordered(projected, weights)


def from_first(gram: Blocks, points: Rows) -> tuple[Array, Array, float]:
    """The Gram matrix of points relative to the first of them.

    Returns the differences between their kernel values and those of the first, the matrix of all
    but the first, and the smallest squared pivot that it has if they are independent.
    """
    block = gram.block(points, points)
    apart = block - block[0]
    G = apart[1:, 1:] - apart[1:, :1]
    return apart[1:, 0], 0.5 * (G + G.T), independent_above(gram)


def inverse_of(factor: Array) -> Array:
    """The inverse of a matrix from its Cholesky factor, a lower triangle."""
    return solver.invert(np.ascontiguousarray(factor))


def mean_diagonal(block: Array) -> float:
    """The mean absolute value of the diagonal entries; 1 if they are all 0."""
    return float(np.abs(np.diagonal(block)).mean()) or 1.0 if block.size else 1.0


def regularised_inverse(block: Array, dtype: np.dtype) -> Array:
    """Inverse of a Gram matrix without the border, with a ridge if it needs one."""
    if block.size == 0:
        return block
    scale, every = mean_diagonal(block), np.arange(block.shape[0])
    for ridge in _RIDGES[dtype]:
        raised = block.copy()
        raised[every, every] += ridge * scale
        found, info = linalg.lapack.dpotrf(raised, lower=1, clean=0)
        if info == 0:
            least = float((np.diagonal(found) ** 2).min())
            if ridge > 0.0 or least >= _REGULAR[dtype] * scale:
                return inverse_of(found)
    return clipped_inverse(block)


def clipped_inverse(matrix: Array) -> Array:
    """Inverse of an indefinite matrix, its eigenvalues raised until they are positive."""
    if matrix.size == 0:
        return matrix
    values, vectors = linalg.eigh(matrix)
    least = _CLIP * (float(np.abs(values).max()) or 1.0)
    return (vectors / np.maximum(values, least)) @ vectors.T


def positive(values: Array | float) -> Array:
    """The values, with non-positive ones replaced by the smallest positive number."""
    return np.maximum(values, _TINY)
