"""The affine hull of a set of points in feature space: distances from it, and weights in it.

Distances are computed as in :mod:`spansvm.core.hull`, from the Gram matrix of the points that make
the hull (:mod:`spansvm.algebra.systems`).
"""

from __future__ import annotations

import numpy as np

from ..common.types import Array, Rows
from ..core import solver
from .systems import Blocks, Factor, clipped_inverse, inverse_of, mean_diagonal, positive

__all__ = ["AffineHull", "hull_distances"]


def hull_distances(
    K: np.ndarray, diagonal: Array, others: Rows, factor: Factor, squared: Array
) -> None:
    """Fill `squared` with squared distances from the hull of a factor's points.

    It is filled for `others` and for the points of the factor, each measured from the rest.
    """
    solver.hull_distances(K, diagonal, others, factor, squared)


class AffineHull:
    """The hull with the weights of points in it; :func:`hull_distances` gives only distances.

    Points that are equal up to rounding are one point of it.

    Parameters
    ----------
    source : Gram
    inside : ndarray of int
        The vectors that make the hull, in order.
    factor : Factor
        Their factor.  If it is empty, because the kernel is not positive semidefinite, negative
        eigenvalues are clipped.

    Attributes
    ----------
    inside, points : ndarray of int
        The vectors, and the points: the first of each set of equal ones.
    place : ndarray of int
        For each vector, its position among the points.
    count : ndarray of int
        For each point, the number of vectors there.
    block : ndarray of shape (n, n)
        The Gram matrix of the points.
    inverse, projected : ndarray of shape (n, n)
        ``K_II^-1`` of the shifted Gram matrix of the points, and ``K_II^-1 - uu' / s``.
    shift, ridge : float
        Numbers added to all entries and to the diagonal; the ridge is infinity if eigenvalues
        were clipped.
    """

    def __init__(self, source: Blocks, inside: Rows, factor: Factor) -> None:
        self.inside, self._source = inside, source
        self.points = factor.kept if factor.matrix.size else inside
        self.block = source.block(self.points, self.points)
        if factor.matrix.size:
            self.shift, self.ridge = factor.shift, factor.ridge
            self.inverse = inverse_of(factor.matrix)
        else:
            self.shift = mean_diagonal(self.block)
            self.inverse, self.ridge = clipped_inverse(self.block + self.shift), np.inf
        self.place = np.arange(inside.size)
        if not np.array_equal(self.points, inside):
            between = source.block(inside, self.points)
            self.place = (source.diagonal[self.points] - 2.0 * between).argmin(axis=1)
        self.count = np.bincount(self.place, minlength=self.points.size)
        self.u = self.inverse.sum(axis=1)
        self.s = float(positive(self.u.sum()))
        self.projected = self.inverse - np.outer(self.u, self.u) / self.s

    def alone_at(self, p: int) -> int:
        """The position of a vector if it belongs to the hull and has no equal; otherwise -1."""
        position = np.flatnonzero(self.inside == p)
        if position.size and self.count[self.place[position[0]]] == 1:
            return int(self.place[position[0]])
        return -1

    def weights(self, rows: Rows) -> Array:
        """For each p in `rows`, the weights, summing to 1, of the point of the hull nearest to it.

        A p that is alone at one of the points has -1 there, as in eq. Sp_calc, and its weights
        at the others.
        """
        inside = np.isin(rows, self.inside)
        place = self.place[np.searchsorted(self.inside, rows[inside])]
        alone = self.count[place] == 1
        own, equal = np.flatnonzero(inside)[alone], np.flatnonzero(inside)[~alone]
        weights = np.zeros((rows.size, self.points.size))

        steps = self.projected[place[alone]]
        pivots = positive(steps[np.arange(own.size), place[alone]])[:, None]
        weights[own] = -steps / pivots

        values = self._source.block(rows[~inside], self.points) + self.shift
        weights[~inside] = values @ self.inverse
        weights[~inside] += np.outer((1.0 - values @ self.u) / self.s, self.u)
        if self.ridge > 0.0:
            # Solve once more for the residual that the ridge left; p itself stays at -1.
            left = -(weights @ (self.block + self.shift))
            left[~inside] += values
            correction = left @ self.projected
            kept = correction[own, place[alone]][:, None]
            correction[own] -= steps * (kept / pivots)
            weights += correction
        weights[equal] = 0.0
        weights[equal, place[~alone]] = 1.0
        return weights

    def together(self, values: Array) -> Array:
        """For each point, the sum of the values of the vectors there."""
        sums = np.bincount(self.place, values, minlength=self.points.size)
        return np.asarray(sums, dtype=np.float64)

    def shared(self, rows: Rows, weights: Array) -> Array:
        """The point weights of :meth:`weights`, converted to weights of the vectors.

        Equal vectors share equally; a p that is one of them has -1.
        """
        inside = np.flatnonzero(np.isin(rows, self.inside))
        position = np.searchsorted(self.inside, rows[inside])
        sharers = np.tile(self.count[self.place], (rows.size, 1))
        sharers[inside] -= self.place == self.place[position][:, None]
        result = weights[:, self.place] / np.maximum(sharers, 1)
        result[inside, position] = -1.0
        return result

    def distances(self, others: Rows, diagonal: Array, squared: Array) -> None:
        """Fill `squared` as :func:`hull_distances` does, for kernels on which that fails.

        With an indefinite kernel these are not distances, but finite and non-negative.
        """
        squared[self.inside] = 1.0 / positive(np.diagonal(self.projected))
        values = self._source.block(others, self.inside) + self.shift
        length = np.einsum("pi,pi->p", values @ self.inverse, values)
        offset = (1.0 - values @ self.u) ** 2 / self.s
        squared[others] = np.maximum(diagonal[others] + self.shift - length + offset, 0.0)
