"""The inverse of the matrix of the in-bound vectors, carried from one solution to the next.

From one candidate to the next a few vectors enter or leave.  With the inverse M of
``K_II + shift`` at hand, these are a bordering and its reverse, in products of matrices: for a
tenth of the vectors several times quicker than a new factor and what the spans need of it, which M
contains.  Only for well-conditioned matrices without equal points; what M gives is checked by the
gradients after each step of the solver.

M is the lower triangle of the first rows of a larger array, its points in any order.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ._calls import MATRIX, POINTS, ROW, reachable
from ._compile import njit
from ._linalg import (
    add_row,
    add_rows,
    add_square,
    cholesky,
    cholesky_inverse,
    lower_inverse,
    lower_solve,
    multiply_symmetric,
    square_lower,
    subtract_products,
)

__all__ = [
    "ACCURATE",
    "SIZE",
    "change_points",
    "distances_by_inverse",
    "inverse_walk",
    "start_inverse",
]

#: Smallest squared pivots, as fractions of the shift, of a matrix whose inverse is carried along,
#: and of one whose inverse is accurate enough for distances.
_REGULAR, _ACCURATE = 1e-6, 1e-3

#: What is known of M: how many points it has, and whether it is accurate enough for distances.
SIZE, ACCURATE = range(2)

#: Smaller sets are quicker factorised anew.
_SMALLEST = 48

#: The work of a vector that enters, relative to that of one that leaves; changes of more work than
#: one per vector are quicker factorised anew.
_ENTERING = 3


@njit
def start_inverse(factor, points, shift, ridge, known, M, held):
    """Fill M from a Cholesky factor, unless that is not fit."""
    n = points.size
    held[SIZE] = 0
    if n < _SMALLEST or ridge > 0.0 or factor.shape[0] != n:
        return
    held[ACCURATE] = True
    for a in range(n):
        pivot = factor[a, a] * factor[a, a]
        if not pivot >= _REGULAR * shift:
            return
        held[ACCURATE] &= pivot >= _ACCURATE * shift
    for a in range(n):
        known[a] = points[a]
        for b in range(a + 1):
            M[a, b] = factor[a, b]
    lower_inverse(M, n)
    square_lower(M, n)
    held[SIZE] = n


@njit
def change_points(K, M, known, held, free, shift):
    """Make M the inverse of the points `free`.

    M is lost if that would take longer than a new factor, or would not be accurate.
    """
    n = held[SIZE]
    held[SIZE] = 0
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
        return
    if n_leaving > 0:
        if not _remove(M, known, n, leaving[:n_leaving]):
            return
        n -= n_leaving
    if n_entering > 0 and not _append(K, M, known, n, entering[:n_entering], shift, held):
        return
    held[SIZE] = n + n_entering


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
    _close_gaps(M, known, n, leaving)
    return True


@njit
def _close_gaps(M, known, n, leaving):
    """Let the last points take the places of those that leave."""
    count = leaving.size
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


@njit
def _append(K, M, known, n, entering, shift, held):
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
        pivot = corner[q, q] * corner[q, q]
        if not pivot >= _REGULAR * shift:
            return False
        held[ACCURATE] &= pivot >= _ACCURATE * shift
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
def inverse_walk(K, x, g, lo, hi, M, known, held):
    """Move the points of M to their minimum, dropping each that meets its bound on the way.

    As :func:`spansvm._newton.newton` does; what is dropped leaves M too.
    """
    n = held[SIZE]
    held[SIZE] = 0
    rows, products = np.empty((2, n)), np.empty((2, n))
    for a in range(n):
        rows[0, a], rows[1, a] = g[known[a]], 1.0
    multiply_symmetric(M, rows, products)
    u, direction, move = products[1], products[0], np.zeros(n)
    total, ones = 0.0, 0.0
    for a in range(n):
        total += direction[a]
        ones += u[a]
    for a in range(n):
        direction[a] = u[a] * (total / ones) - direction[a]
    alive = np.ones(n, np.bool_)
    # For every point that is dropped its row of what is left of M, by the root of its own entry.
    dropped, ends, places = np.empty((n, n)), np.empty(n), np.empty(n, np.int64)
    count = 0
    while count < n - 1:
        fraction, blocking = 1.0, -1
        for a in range(n):
            if alive[a] and direction[a] != 0.0:
                i = known[a]
                end = hi[i] if direction[a] > 0.0 else lo[i]
                share = (end - (x[i] + move[a])) / direction[a]
                if share < fraction:
                    fraction, blocking, ends[count] = max(share, 0.0), a, end
        for a in range(n):
            move[a] += fraction * direction[a]
        if blocking < 0:
            break
        row = dropped[count]
        for b in range(n):
            row[b] = M[blocking, b] if b <= blocking else M[b, blocking]
        for k in range(count):
            add_row(row, -dropped[k, blocking], dropped[k])
        pivot = row[blocking]
        projected = pivot - u[blocking] * u[blocking] / ones
        if not (pivot > 0.0 and projected > 0.0):  # spoilt by rounding
            return
        alive[blocking], places[count] = False, blocking
        # The others take over what the point that is held would have done.
        rest = 1.0 - fraction
        turn = rest * direction[blocking] / projected
        root, weight, total = sqrt(pivot), u[blocking] / ones, 0.0
        for b in range(n):
            direction[b] = rest * direction[b] - turn * (row[b] - weight * u[b])
            row[b] /= root
            total += row[b]
        ones = 0.0
        for b in range(n):
            u[b] -= row[b] * total
            if alive[b]:
                ones += u[b]
            else:
                direction[b] = 0.0
        if not ones > 0.0:
            return
        count += 1
    left = 0.0
    for a in range(n):
        left += move[a]
    for a in range(n):
        if alive[a]:
            move[a] -= left / (n - count)
    add_rows(g, K, known[:n], move)
    for a in range(n):
        i = known[a]
        x[i] = min(max(x[i] + move[a], lo[i]), hi[i])
    for k in range(count):
        x[known[places[k]]] = ends[k]
    if count > 0:
        add_square(M, n, -1.0, dropped[:count])
        _close_gaps(M, known, n, np.sort(places[:count]))
    held[SIZE] = n - count


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


reachable(start_inverse, lambda K: (MATRIX, POINTS, 0.0, 0.0, POINTS, MATRIX, POINTS))
reachable(change_points, lambda K: (K, MATRIX, POINTS, POINTS, POINTS, 0.0))
reachable(inverse_walk, lambda K: (K, ROW, ROW, ROW, ROW, MATRIX, POINTS, POINTS))
reachable(distances_by_inverse, lambda K: (K, ROW, MATRIX, POINTS, POINTS, 0.0, ROW))
