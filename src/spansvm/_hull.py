"""The affine hull of a set of points in feature space: distances from it, and weights in it.

With ``K_II = L L'`` the Gram matrix of the points that make the hull (see
:mod:`spansvm._factor`), ``u = K_II^-1 1`` and ``s = sum(u)``, the squared distance of a point p
from the hull of the others is

    p among them:  1 / ((K_II^-1)_pp - u_p^2 / s)
    p elsewhere:   K_pp - |L^-1 k_p|^2 + (1 - u'k_p)^2 / s,   k_p = K[I, p]

A ridge on ``K_II`` increases every squared distance by ``ridge |lambda|^2`` to first order, and
that of a point among them by another ``ridge``; both are subtracted again.
"""

from __future__ import annotations

import numpy as np

from ._calls import MARKS, MATRIX, POINTS, ROW, reachable
from ._compile import njit
from ._factor import (
    Blocks,
    Factor,
    clipped_inverse,
    inverse_of,
    mean_diagonal,
    positive,
)
from ._linalg import cholesky_inverse, lower_inverse, lower_solve
from ._typing import Array, Rows

__all__ = ["AffineHull", "fill_distances", "hull_distances"]


def hull_distances(
    K: np.ndarray, diagonal: Array, others: Rows, factor: Factor, squared: Array
) -> None:
    """Fill `squared` with squared distances from the hull of a factor's points.

    It is filled for `others` and for the points of the factor, each measured from the rest.
    """
    fill_distances(
        K, diagonal, factor.matrix, factor.kept, others, factor.shift, factor.ridge,
        factor.inside, factor.repeated, squared,
    )  # fmt: skip


@njit
def fill_distances(
    K, diagonal, factor, kept, others, shift, ridge, inside, repeated, squared
):  # fmt: skip
    """:func:`hull_distances` with the parts of the factor."""
    farthest = 0.0  # a limit on rounding: no two points are farther apart than twice the longest
    for a in range(inside.size):
        farthest = max(farthest, 4.0 * diagonal[inside[a]])
    n, m = kept.size, others.size
    columns = np.empty((n, m + 1))
    for a in range(n):
        row = K[kept[a]]
        for p in range(m):
            columns[a, p] = row[others[p]] + shift
        columns[a, m] = 1.0
    lower_solve(factor, columns, False)
    length, along = np.empty(m), np.empty(m)
    for p in range(m):
        length[p] = along[p] = 0.0
    inverse = np.empty((n, n))
    s = 0.0
    for a in range(n):
        column, own = columns[a], columns[a, m]
        s += own * own
        for p in range(m):
            length[p] += column[p] * column[p]
            along[p] += column[p] * own
        for b in range(a + 1):
            inverse[a, b] = factor[a, b]
    for p in range(m):
        i = others[p]
        offset = 1.0 - along[p]
        squared[i] = max(diagonal[i] + shift - length[p] + offset * offset / s, 0.0)
    lower_inverse(inverse, n)
    own_length, u = np.empty(n), np.empty(n)
    for a in range(n):
        own_length[a] = u[a] = 0.0
    for a in range(n):
        row, own = inverse[a], columns[a, m]
        for b in range(a + 1):
            own_length[b] += row[b] * row[b]
            u[b] += row[b] * own
    for a in range(n):
        squared[kept[a]] = 1.0 / max(own_length[a] - u[a] * u[a] / s, 1.0 / farthest)
    if ridge > 0.0:
        _subtract_ridge(factor, kept, others, ridge, columns, along, s, u, squared)
    for a in range(inside.size):
        if repeated[a]:
            squared[inside[a]] = 0.0


@njit
def _subtract_ridge(factor, kept, others, ridge, columns, along, s, u, squared):
    """Subtract what the ridge has added; `columns` is overwritten."""
    n, m = kept.size, others.size
    for a in range(n):
        own = columns[a, m]
        for p in range(m):
            columns[a, p] += own * (1.0 - along[p]) / s
    lower_solve(factor, columns, True)  # now the weights of the others in the hull
    added = np.empty(m)
    for p in range(m):
        added[p] = 0.0
    for a in range(n):
        row = columns[a]
        for p in range(m):
            added[p] += row[p] * row[p]
    for p in range(m):
        squared[others[p]] = max(squared[others[p]] - ridge * added[p], 0.0)
    # A row of the projected inverse, divided by its own entry, holds the weights (and -1).
    projected = factor.copy()
    cholesky_inverse(projected)
    for a in range(n):
        row, own, i = projected[a], 0.0, kept[a]
        for b in range(n):
            entry = row[b] - u[a] * u[b] / s
            own += entry * entry
        squared[i] = max(squared[i] - ridge * own * squared[i] * squared[i], 0.0)


reachable(
    fill_distances,
    lambda K: (K, ROW, MATRIX, POINTS, POINTS, 0.0, 0.0, POINTS, MARKS, ROW),
)


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
