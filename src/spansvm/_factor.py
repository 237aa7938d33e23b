"""The linear system of the in-bound vectors I, ``[[K_II, 1], [1', 0]]``, and how it is solved.

Everything that needs it is served here: Newton steps, the vertex at which training ends, spans
with and without the box, removals that are followed.  Three eliminations, for three uses:

* :func:`factorise`, Cholesky of ``K_II`` with a number added to all entries.  It is done once per
  trained machine and kept with it (``DualSolution.factor``).  If ``K_II`` is nearly singular,
  repeated points are included once and a ridge of one of two sizes is added.
* :func:`ridged_inverse`, for a Newton step while the free variables still change from step to
  step: the direction is checked anyway, so one small ridge and no second attempt.
* :func:`bordered`, the inverse from which removals read multipliers and residuals.  It comes from
  the factor if that is well conditioned.  Otherwise kernel values are taken relative to the first
  vector, since the part common to all would swamp their differences, and there is no ridge:
  dependent vectors must be detected, not smoothed over.

Adding the same number to all entries of K changes neither distances nor moves with ``sum = 0``;
it lifts the points off the origin, as K_II may be singular even if the points are affinely
independent, such as d + 1 points under a linear kernel.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy import linalg

from ._calls import MARKS, MATRIX, POINTS, ROW, reachable
from ._compile import FAST_MATH, njit
from ._linalg import (
    add_rows,
    cholesky,
    cholesky_inverse,
    cholesky_solve,
    lower_inverse,
    square_lower,
)
from ._typing import Array, Rows

__all__ = [
    "Blocks",
    "Bordered",
    "Factor",
    "bordered",
    "clipped_inverse",
    "eliminate",
    "factorise",
    "factorise_into",
    "from_first",
    "inverse_of",
    "limits_of",
    "mean_diagonal",
    "newton_solve",
    "no_factor",
    "positive",
    "regularised_inverse",
    "ridged_inverse",
]


class Limits(NamedTuple):
    """Thresholds for equal points and for regular matrices, by precision.

    Attributes
    ----------
    twin : float
        Squared distance below which points are the same.
    regular : float
        Smallest squared pivot of a factor without a ridge.
    ridge, large_ridge : float
        Number added to the diagonal at the second and at the third attempt.
    independent : float
        Smallest squared distance from the hull of others at which a vector is independent of them.

    All are fractions of the mean diagonal entry; the last, of the largest.
    """

    twin: float
    regular: float
    ridge: float
    large_ridge: float
    independent: float


_LIMITS = {
    np.dtype(np.float64): Limits(1e-12, 1e-9, 1e-10, 1e-7, 1e-11),
    np.dtype(np.float32): Limits(1e-6, 1e-5, 1e-6, 1e-4, 1e-5),
}

#: Ridge of a Newton step, whatever the precision of the kernel values.
_NEWTON_RIDGE = _LIMITS[np.dtype(np.float64)].ridge

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
    def dtype(self) -> np.dtype: ...
    @property
    def diagonal(self) -> Array: ...
    def block(self, rows: Rows, columns: Rows) -> Array: ...


def limits_of(dtype: np.dtype) -> Limits:
    """The thresholds for this precision, for :func:`factorise`."""
    return _LIMITS[dtype]


def no_factor(inside: Rows) -> Factor:
    """An empty factor, for points without one."""
    nothing = np.zeros(inside.size, dtype=np.bool_)
    return Factor(np.empty((0, 0)), inside, inside, nothing, 0.0, 0.0)


def factorise(K: np.ndarray, inside: Rows, limits: Limits) -> Factor:
    """The :class:`Factor` of some points; empty if the kernel is not semidefinite on them."""
    if inside.size == 0:
        return no_factor(inside)
    kept, repeated = np.empty_like(inside), np.zeros(inside.size, dtype=np.bool_)
    matrix, count, shift, ridge = factorise_into(K, inside, limits, kept, repeated)
    if matrix.size == 0:
        return no_factor(inside)
    return Factor(matrix, inside, kept[:count], repeated, shift, ridge)


@njit
def factorise_into(K, inside, limits, kept, repeated):
    """Fill `kept` and `repeated`; returns the factor, how many are kept, the shift, the ridge."""
    shift = 0.0
    for a in range(inside.size):
        shift += K[inside[a], inside[a]] / inside.size
    if shift < 0.0:
        return np.empty((0, 0)), 0, 0.0, 0.0
    if shift == 0.0:  # perhaps all at the origin: any lift will do
        shift = 1.0
    matrix = _shifted_block(K, inside, shift)
    count = _set_twins_aside(matrix, inside, limits.twin * shift, kept, repeated)
    if count < inside.size:
        matrix = _shifted_block(K, kept[:count], shift)
    matrix, ridge = _regularise(K, kept[:count], matrix, shift, shift, limits)
    return matrix, count, shift, ridge


@njit
def _regularise(K, index, matrix, shift, scale, limits):
    """Factor of ``matrix = K[index, index] + shift`` with the smallest ridge that it needs.

    The matrix is overwritten.  Returns the factor and the ridge; the factor is empty if the
    largest ridge is not enough.
    """
    added = 0.0
    for attempt in range(3):
        if attempt > 0:
            added = (limits.ridge if attempt == 1 else limits.large_ridge) * scale
            matrix = _shifted_block(K, index, shift)
        for a in range(index.size):
            matrix[a, a] += added
        if cholesky(matrix):
            least = np.inf
            for a in range(index.size):
                least = min(least, matrix[a, a] * matrix[a, a])
            if added > 0.0 or least >= limits.regular * scale:
                return matrix, added
    return np.empty((0, 0)), np.inf


@njit
def _shifted_block(K, index, shift):
    """Lower triangle of ``K[index, index] + shift``."""
    gram = np.empty((index.size, index.size))
    for a in range(index.size):
        row = K[index[a]]
        for b in range(a + 1):
            gram[a, b] = row[index[b]] + shift
    return gram


@njit
def _set_twins_aside(gram, points, closest, kept, repeated):
    """Fill `kept` with the first of each set of equal points; mark those that have an equal.

    Returns how many are kept.
    """
    count = 0
    place = np.empty(points.size, np.int64)  # of those that are kept
    for a in range(points.size):
        row, own = gram[a], gram[a, a] - closest
        first = True
        for k in range(count):
            b = place[k]
            if own + gram[b, b] <= 2.0 * row[b]:
                repeated[a] = repeated[b] = True
                first = False
                break
        if first:
            place[count], kept[count] = a, points[a]
            count += 1
    return count


@njit(fastmath=FAST_MATH)
def eliminate(P, row, scale, alive):
    """``P -= scale * row row'`` on the rows that are still alive."""
    for a in range(row.size):
        if alive[a]:
            weight = row[a] * scale
            target = P[a]
            for b in range(row.size):
                target[b] -= weight * row[b]


@njit
def ridged_inverse(K, index):
    """The inverse of the bordered system of some points, without the border, with a small ridge.

    With ``u = K_ff^-1 1`` that is ``K_ff^-1 - uu' / sum(u)``.  Returns it and whether the block
    was positive definite.
    """
    size = index.size
    shift = 0.0
    for a in range(size):
        shift += K[index[a], index[a]] / size
    P = _shifted_block(K, index, shift)
    for a in range(size):
        P[a, a] += _NEWTON_RIDGE * shift
    if not (shift > 0.0 and cholesky(P)):
        return P, False
    cholesky_inverse(P)
    u, every = np.empty(size), np.empty(size, np.bool_)
    total = 0.0
    for a in range(size):
        own = 0.0
        for b in range(size):
            own += P[a, b]
        u[a], every[a] = own, True
        total += own
    if not total > 0.0:  # spoilt by rounding
        return P, False
    eliminate(P, u, 1.0 / total, every)
    return P, True


@njit
def newton_solve(K, x, g, lo, hi, matrix, points):
    """Move the points of a factor, with ``sum = 0``, to where their gradients are equal.

    Returns False, without a move, if that is outside the box.
    """
    size = points.size
    rows = np.empty((2, size))
    for a in range(size):
        rows[0, a], rows[1, a] = g[points[a]], 1.0
    cholesky_solve(matrix, rows)
    total, ones = 0.0, 0.0
    for a in range(size):
        total += rows[0, a]
        ones += rows[1, a]
    move = np.empty(size)
    left = 0.0
    for a in range(size):
        move[a] = rows[1, a] * (total / ones) - rows[0, a]
        left += move[a]
    for a in range(size):
        move[a] -= left / size
        i = points[a]
        if not lo[i] < x[i] + move[a] < hi[i]:
            return False
    for a in range(size):
        x[points[a]] += move[a]
    add_rows(g, K, points, move)
    return True


reachable(factorise_into, lambda K: (K, POINTS, limits_of(K.dtype), POINTS, MARKS))
reachable(newton_solve, lambda K: (K, ROW, ROW, ROW, ROW, MATRIX, POINTS))


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
        if not cholesky(G) or (np.diagonal(G) ** 2 < least).any():
            return Bordered(np.empty((0, 0)), np.empty(0))
        G = inverse_of(G)
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
    least = _LIMITS[gram.dtype].independent * float(np.abs(gram.diagonal).max())
    return apart[1:, 0], 0.5 * (G + G.T), least


def inverse_of(factor: Array) -> Array:
    """The inverse of a matrix from its Cholesky factor."""
    inverse = factor.copy()
    lower_inverse(inverse, inverse.shape[0])
    square_lower(inverse, inverse.shape[0])
    lower = np.tril(inverse, -1)
    lower += lower.T
    np.fill_diagonal(lower, inverse.diagonal())
    return lower


def mean_diagonal(block: Array) -> float:
    """The mean absolute value of the diagonal entries; 1 if they are all 0."""
    return float(np.abs(np.diagonal(block)).mean()) or 1.0 if block.size else 1.0


def regularised_inverse(block: Array, dtype: np.dtype) -> Array:
    """Inverse of a Gram matrix without the border, with a ridge if it needs one."""
    if block.size == 0:
        return block
    block, every = np.ascontiguousarray(block), np.arange(block.shape[0])
    matrix, _ = _regularise(block, every, block.copy(), 0.0, mean_diagonal(block), _LIMITS[dtype])
    return inverse_of(matrix) if matrix.size else clipped_inverse(block)


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
