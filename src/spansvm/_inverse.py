"""The inverse of the matrix of the in-bound vectors, carried from one solution to the next.

From one candidate to the next a few vectors enter or leave.  With the inverse M of
``K_II + shift`` at hand, these are a bordering and its reverse, in products of matrices: for a
tenth of the vectors several times quicker than a new factor and what the spans need of it, which M
contains.  Only for well-conditioned matrices without equal points; what M gives is checked by the
gradients after each step of the solver.

M is the lower triangle of the first rows of a larger array, its points in any order.
"""

from __future__ import annotations

import numpy as np

from ._calls import MATRIX, POINTS, ROW, reachable
from ._compile import njit
from ._factor import equalise
from ._linalg import (
    add_square,
    cholesky,
    cholesky_inverse,
    lower_inverse,
    lower_solve,
    multiply_symmetric,
    square_lower,
    subtract_products,
)

__all__ = ["change_points", "distances_by_inverse", "inverse_solve", "start_inverse"]

#: Smallest squared pivot, as a fraction of the shift, of a matrix whose inverse is carried along.
_REGULAR = 1e-3

#: Smaller sets are quicker factorised anew.
_SMALLEST = 48

#: The work of a vector that enters, relative to that of one that leaves; changes of more work than
#: one per vector are quicker factorised anew.
_ENTERING = 3


@njit
def start_inverse(factor, points, shift, ridge, known, M):
    """Fill M from a Cholesky factor; returns the number of `known` points, 0 if it is not fit."""
    n = points.size
    if n < _SMALLEST or ridge > 0.0 or factor.shape[0] != n:
        return 0
    for a in range(n):
        if not factor[a, a] * factor[a, a] >= _REGULAR * shift:
            return 0
    for a in range(n):
        known[a] = points[a]
        for b in range(a + 1):
            M[a, b] = factor[a, b]
    lower_inverse(M, n)
    square_lower(M, n)
    return n


@njit
def change_points(K, M, known, n, free, shift):
    """Make M, of `n` points, the inverse of the points `free`; returns their number.

    0 if that would take longer than a new factor, or would not be accurate; M is then lost.
    """
    stays = np.zeros(K.shape[0], np.bool_)
    for a in range(free.size):
        stays[free[a]] = True
    leaving, entering = np.empty(n, np.int64), np.empty(free.size, np.int64)
    n_leaving, n_entering = 0, 0
    for a in range(n):
        if not stays[known[a]]:
            leaving[n_leaving] = a
            n_leaving += 1
        stays[known[a]] = False
    for a in range(free.size):
        if stays[free[a]]:
            entering[n_entering] = free[a]
            n_entering += 1
    if free.size < _SMALLEST or n_leaving + _ENTERING * n_entering > free.size:
        return 0
    if n_leaving > 0:
        if not _remove(M, known, n, leaving[:n_leaving]):
            return 0
        n -= n_leaving
    if n_entering > 0:
        if not _append(K, M, known, n, entering[:n_entering], shift):
            return 0
        n += n_entering
    return n


@njit
def _remove(M, known, n, leaving):
    """Remove the points at some places; the last points take them."""
    count = leaving.size
    rows, corner = np.empty((count, n)), np.empty((count, count))
    for q in range(count):
        i = leaving[q]
        for b in range(n):
            rows[q, b] = M[i, b] if b <= i else M[b, i]
        for p in range(q + 1):
            corner[q, p] = rows[q, leaving[p]]
    if not cholesky(corner):
        return False
    lower_solve(corner, rows, False)
    add_square(M, n, -1.0, rows)
    last, unwanted = n - 1, count - 1
    for q in range(count):
        i = leaving[q]
        while unwanted >= 0 and leaving[unwanted] == last:
            last, unwanted = last - 1, unwanted - 1
        if i > last:
            break
        for b in range(n):
            value = M[last, b] if b <= last else M[b, last]
            if b == i:
                value = M[last, last]
            if b <= i:
                M[i, b] = value
            else:
                M[b, i] = value
        known[i] = known[last]
        last -= 1
    return True


@njit
def _append(K, M, known, n, entering, shift):
    """Append points; False if they are too close to the others."""
    count = entering.size
    rows, products = np.empty((count, n)), np.empty((count, n))
    corner = np.empty((count, count))
    for q in range(count):
        row = K[entering[q]]
        for b in range(n):
            rows[q, b] = row[known[b]] + shift
        for p in range(count):
            corner[q, p] = row[entering[p]] + shift
    multiply_symmetric(M, rows, products)
    subtract_products(corner, rows, products)
    if not cholesky(corner):
        return False
    for q in range(count):
        if not corner[q, q] * corner[q, q] >= _REGULAR * shift:
            return False
    lower_solve(corner, products, False)
    add_square(M, n, 1.0, products)
    lower_solve(corner, products, True)
    cholesky_inverse(corner)
    for q in range(count):
        target = M[n + q]
        for b in range(n):
            target[b] = -products[q, b]
        for p in range(q + 1):
            target[n + p] = corner[q, p]
        known[n + q] = entering[q]
    return True


@njit
def inverse_solve(K, x, g, lo, hi, M, points):
    """:func:`spansvm._factor.newton_solve` with the inverse."""
    size = points.size
    rows, products = np.empty((2, size)), np.empty((2, size))
    for a in range(size):
        rows[0, a], rows[1, a] = g[points[a]], 1.0
    multiply_symmetric(M, rows, products)
    return equalise(K, x, g, lo, hi, points, products)


@njit
def distances_by_inverse(K, diagonal, M, points, others, shift, squared):
    """:func:`spansvm._hull.fill_distances` with the inverse."""
    n, m = points.size, others.size
    rows, products = np.empty((m + 1, n)), np.empty((m + 1, n))
    for p in range(m):
        row, target = K[others[p]], rows[p]
        for b in range(n):
            target[b] = row[points[b]] + shift
    for b in range(n):
        rows[m, b] = 1.0
    multiply_symmetric(M, rows, products)
    u, s, farthest = products[m], 0.0, 0.0
    for b in range(n):
        s += u[b]
        farthest = max(farthest, 4.0 * diagonal[points[b]])
    for p in range(m):
        length, along = 0.0, 0.0
        for b in range(n):
            length += rows[p, b] * products[p, b]
            along += rows[p, b] * u[b]
        i, offset = others[p], 1.0 - along
        squared[i] = max(diagonal[i] + shift - length + offset * offset / s, 0.0)
    for b in range(n):
        squared[points[b]] = 1.0 / max(M[b, b] - u[b] * u[b] / s, 1.0 / farthest)


reachable(start_inverse, lambda K: (MATRIX, POINTS, 0.0, 0.0, POINTS, MATRIX))
reachable(change_points, lambda K: (K, MATRIX, POINTS, 0, POINTS, 0.0))
reachable(inverse_solve, lambda K: (K, ROW, ROW, ROW, ROW, MATRIX, POINTS))
reachable(distances_by_inverse, lambda K: (K, ROW, MATRIX, POINTS, POINTS, 0.0, ROW))
