"""The affine hull of a set of points in feature space: distances from it, and weights in it.

With ``K_II = L L'`` the Gram matrix of the points that make the hull, ``u = K_II^-1 1``
and ``s = sum(u)``, the squared distance of a point p from the hull of the others is

    p among them:  1 / ((K_II^-1)_pp - u_p^2 / s)
    p elsewhere:   K_pp - |L^-1 k_p|^2 + (1 - u'k_p)^2 / s,   k_p = K[I, p]

Distances do not change if the same number is added to all entries of K: that lifts
the points off the origin.  It is done before factorising, for K_II may be singular
where the points are affinely independent, as d + 1 points under a linear kernel are.

Points that repeat one another, the usual reason for a singular K_II, are taken once.
If that is not enough a ridge is added; it makes every squared distance larger by
``ridge (1 + |lambda|^2)`` to first order, which is taken off again.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy import linalg

from ._compile import njit
from ._linalg import cholesky, cholesky_inverse, lower_inverse, lower_solve
from ._typing import Array

__all__ = [
    "AffineHull",
    "Factor",
    "factorise",
    "hull_distances",
    "limits_of",
    "no_factor",
    "positive",
    "regularised_inverse",
]


class Factor(NamedTuple):
    """Cholesky factor of the shifted Gram matrix of some points, and how it came about.

    Attributes
    ----------
    matrix : ndarray of shape (n, n)
        Lower triangle; empty if there is none.
    inside, kept : ndarray of int
        The points, and those of them that the factor is of: each set of equal points once.
    repeated : ndarray of bool
        Which of `inside` have another like them.
    shift, ridge : float
        What was added to all entries, and to the diagonal.
    """

    matrix: Array
    inside: np.ndarray
    kept: np.ndarray
    repeated: np.ndarray
    shift: float
    ridge: float


_TINY = float(np.finfo(np.float64).tiny)

#: By dtype, as fractions of the mean diagonal: squared distance of points that count as
#: the same, least pivot without a ridge, first ridge, second ridge.
_LIMITS = {
    np.dtype(np.float64): (1e-12, 1e-9, 1e-10, 1e-7),
    np.dtype(np.float32): (1e-6, 1e-5, 1e-6, 1e-4),
}

#: Eigenvalues of an indefinite block are raised to this fraction of the largest.
_CLIP = 1e-10


@njit(nogil=True, cache=True)
def no_factor(inside):
    """For points of which no factor is known."""
    nothing = np.zeros(inside.size, np.bool_)
    return Factor(np.empty((0, 0)), inside, inside, nothing, 0.0, 0.0)


@njit(nogil=True, cache=True)
def factorise(K, inside, limits):
    """The :class:`Factor` of some points; empty if the kernel is not semidefinite on them."""
    twin, regular, ridge, large_ridge = limits
    shift = 0.0
    for a in range(inside.size):
        shift += K[inside[a], inside[a]] / inside.size
    if shift < 0.0:
        return no_factor(inside)
    if shift == 0.0:  # all at the origin, perhaps: any lift will do
        shift = 1.0
    matrix = _shifted_block(K, inside, shift)
    first, repeated = _twins(matrix, twin * shift)
    kept = inside[first]
    for added in (0.0, ridge * shift, large_ridge * shift):
        if added > 0.0 or kept.size < inside.size:
            matrix = _shifted_block(K, kept, shift)
        for a in range(kept.size):
            matrix[a, a] += added
        if cholesky(matrix) and (added > 0.0 or _least_pivot(matrix) >= regular * shift):
            return Factor(matrix, inside, kept, repeated, shift, added)
    return no_factor(inside)


def limits_of(dtype: np.dtype) -> tuple[float, float, float, float]:
    """What counts as equal and as regular in this precision, for :func:`factorise`."""
    return _LIMITS[dtype]


def hull_distances(
    K: np.ndarray,
    diagonal: Array,
    inside: np.ndarray,
    others: np.ndarray,
    squared: Array,
    known: Factor | None = None,
) -> bool:
    """Fill `squared` at `inside` and `others` with squared distances from the hull of `inside`.

    Each point of `inside` is measured from the hull of the rest.  `known` is what
    :func:`factorise` gave for `inside`, if that has been done.  Returns False, with `squared` as
    it was, if the kernel is not positive semidefinite on these points.
    """
    factor = known
    if factor is None or factor.matrix.size == 0:
        factor = factorise(K, inside, _LIMITS[K.dtype])
    if factor.matrix.size == 0:
        return False
    _hull_distances(K, diagonal, others, factor, squared)
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def _hull_distances(K, diagonal, others, factor, squared):
    longest = 0.0
    for i in factor.inside:
        longest = max(longest, diagonal[i])
    matrix, kept, ridge = factor.matrix, factor.kept, factor.ridge
    z = _from_outside(K, diagonal, matrix, kept, others, factor.shift, ridge, squared)
    _from_within(matrix.copy(), z, kept, ridge, 4.0 * longest, squared)
    for a in range(factor.inside.size):
        if factor.repeated[a]:
            squared[factor.inside[a]] = 0.0


@njit(nogil=True, cache=True)
def _shifted_block(K, index, shift):
    """Lower triangle of ``K[index, index] + shift``."""
    gram = np.empty((index.size, index.size))
    for a in range(index.size):
        row = K[index[a]]
        for b in range(a + 1):
            gram[a, b] = row[index[b]] + shift
    return gram


@njit(nogil=True, cache=True)
def _twins(gram, closest):
    """Which points are the first of their kind, and which have another like them."""
    n = gram.shape[0]
    first = np.ones(n, np.bool_)
    repeated = np.zeros(n, np.bool_)
    for a in range(n):
        row, own = gram[a], gram[a, a] - closest
        for b in range(a):
            if own + gram[b, b] <= 2.0 * row[b] and first[b]:
                first[a] = False
                repeated[a] = repeated[b] = True
                break
    return first, repeated


@njit(nogil=True, cache=True)
def _least_pivot(factor):
    least = np.inf
    for a in range(factor.shape[0]):
        least = min(least, factor[a, a] ** 2)
    return least


@njit(nogil=True, cache=True, error_model="numpy")
def _from_outside(K, diagonal, factor, inside, others, shift, ridge, squared):
    """Distances of `others` from the hull; returns ``z = L^-1 1``, so that ``u = L^-T z``."""
    n, m = inside.size, others.size
    columns = np.empty((n, m + 1))
    for a in range(n):
        row = K[inside[a]]
        for p in range(m):
            columns[a, p] = row[others[p]] + shift
        columns[a, m] = 1.0
    lower_solve(factor, columns, False)
    z = columns[:, m].copy()
    length = np.zeros(m)
    along = np.zeros(m)
    s = 0.0
    for a in range(n):
        column, own = columns[a], z[a]
        s += own * own
        for p in range(m):
            length[p] += column[p] * column[p]
            along[p] += column[p] * own
    for p in range(m):
        i = others[p]
        squared[i] = max(diagonal[i] + shift - length[p] + (1.0 - along[p]) ** 2 / s, 0.0)
    if ridge > 0.0:
        for a in range(n):
            for p in range(m):
                columns[a, p] += z[a] * (1.0 - along[p]) / s
        lower_solve(factor, columns, True)  # now the weights of each point
        for a in range(n):
            for p in range(m):
                squared[others[p]] -= ridge * columns[a, p] ** 2
        for p in range(m):
            squared[others[p]] = max(squared[others[p]] - ridge, 0.0)
    return z


@njit(nogil=True, cache=True, error_model="numpy")
def _from_within(factor, z, inside, ridge, farthest, squared):
    """Distance of each point from the hull of the rest; `factor` is overwritten."""
    n = inside.size
    inverse = np.empty((0, 0))
    if ridge > 0.0:
        inverse = factor.copy()
        cholesky_inverse(inverse)
    lower_inverse(factor)
    diagonal = np.zeros(n)
    u = np.zeros(n)
    s = 0.0
    for a in range(n):
        row, own = factor[a], z[a]
        s += own * own
        for b in range(a + 1):
            diagonal[b] += row[b] * row[b]
            u[b] += row[b] * own
    for a in range(n):
        # No two of the points are farther apart than twice the longest, whatever rounding says.
        value = 1.0 / max(diagonal[a] - u[a] * u[a] / s, 1.0 / farthest)
        if ridge > 0.0:
            # A row of the projected inverse, divided by its own entry, holds the weights (and -1).
            length = 0.0
            for b in range(n):
                length += (inverse[a, b] - u[a] * u[b] / s) ** 2
            value = max(value - ridge * length * value**2, 0.0)
        squared[inside[a]] = value


class Blocks(Protocol):
    """A Gram matrix, as far as hulls need it."""

    @property
    def dtype(self) -> np.dtype: ...
    def block(self, rows: np.ndarray, columns: np.ndarray) -> Array: ...


class AffineHull:
    """The hull with the weights of points in it, where :func:`hull_distances` gives distances only.

    Attributes
    ----------
    inverse, projected : ndarray of shape (n, n)
        ``K_II^-1`` of the shifted Gram matrix, and ``K_II^-1 - uu' / s``.
    ridge : float
        What had to be added to the diagonal before; infinity if the kernel is indefinite.
    """

    def __init__(self, source: Blocks, inside: np.ndarray) -> None:
        self.inside, self._source = inside, source
        self.gram = source.block(inside, inside)
        self.shift = float(np.abs(np.diagonal(self.gram)).mean()) or 1.0
        self.gram += self.shift
        self.inverse, self.ridge = regularised_inverse(self.gram, source.dtype)
        self.u = self.inverse.sum(axis=1)
        self.s = float(positive(self.u.sum()))
        self.projected = self.inverse - np.outer(self.u, self.u) / self.s

    def weights(self, rows: np.ndarray) -> Array:
        """For each p in `rows` the weights, summing to 1, of the point of the hull nearest to it.

        A p that is one of the points has -1 at its own place, as in eq. Sp_calc, and its
        weights over the rest.
        """
        own = np.isin(rows, self.inside)
        weights = np.empty((rows.size, self.inside.size))

        position = np.searchsorted(self.inside, rows[own])
        steps = self.projected[position]
        pivots = positive(steps[np.arange(position.size), position])[:, None]
        weights[own] = -steps / pivots

        values = self._source.block(rows[~own], self.inside) + self.shift
        weights[~own] = values @ self.inverse
        weights[~own] += np.outer((1.0 - values @ self.u) / self.s, self.u)
        if self.ridge > 0.0:
            # Solve once more for what the ridge left over; p itself stays at -1.
            left = -(weights @ self.gram)
            left[~own] += values
            correction = left @ self.projected
            kept = correction[np.flatnonzero(own), position][:, None]
            correction[own] -= steps * (kept / pivots)
            weights += correction
        return weights

    def distances(self, others: np.ndarray, diagonal: Array, squared: Array) -> None:
        """Fill `squared` as :func:`hull_distances` does, for kernels on which that fails.

        With an indefinite kernel these are no distances, but finite and not negative.
        """
        squared[self.inside] = 1.0 / positive(np.diagonal(self.projected))
        values = self._source.block(others, self.inside) + self.shift
        length = np.einsum("pi,pi->p", values @ self.inverse, values)
        offset = (1.0 - values @ self.u) ** 2 / self.s
        squared[others] = np.maximum(diagonal[others] + self.shift - length + offset, 0.0)


def positive(values: Array | float) -> Array:
    """The values, raised to the smallest positive number where they are not positive."""
    return np.maximum(values, _TINY)


def regularised_inverse(gram: Array, dtype: np.dtype) -> tuple[Array, float]:
    """Inverse of a Gram matrix, and the ridge it took; infinity if eigenvalues were clipped."""
    if gram.shape[0] == 0:
        return gram, 0.0
    scale = float(np.abs(np.diagonal(gram)).mean()) or 1.0
    identity = np.eye(gram.shape[0])
    _, regular, ridge, large_ridge = _LIMITS[dtype]
    for added in (0.0, ridge * scale, large_ridge * scale):
        try:
            factor = linalg.cholesky(gram + added * identity, lower=True)
        except linalg.LinAlgError:
            continue
        if added == 0.0 and (np.diagonal(factor) ** 2).min() < regular * scale:
            continue
        return linalg.cho_solve((factor, True), identity), added
    values, vectors = linalg.eigh(gram)
    least = _CLIP * (float(np.abs(values).max()) or 1.0)
    return (vectors / np.maximum(values, least)) @ vectors.T, np.inf
