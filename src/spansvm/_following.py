"""Removals from one machine in one compiled call: its tableau, and the paths of all rows.

For machines whose free vectors have a well-conditioned matrix, or one that is made free where none
is; others are left to :mod:`spansvm.following`.
"""

from __future__ import annotations

import numpy as np

from ._calls import MARKS, MATRIX, POINTS, ROW, call, reachable
from ._compile import njit
from ._descent import EQUAL_SUMS, STALE
from ._doubt import is_regular, project
from ._factor import factorise_into
from ._linalg import lower_inverse, multiply, multiply_symmetric, square_lower
from ._removal import remove_all

__all__ = ["KERNEL_ROUNDING", "SINGULAR", "follow_rows"]

#: Pivots of the scaled system of the changed vectors that are smaller, or below the rounding of the
#: kernel, count as zero.
SINGULAR, KERNEL_ROUNDING = 1e-11, 1e-14

#: Values larger than what the objective allows by more than this factor are given up.
_BEYOND = 1.01

_EPSILON = float(np.finfo(np.float64).eps)


@njit
def follow_rows(K, y, C, alpha, f, first, rows, sums, limits, at, decision, shift, met):
    """Decision values of the support vectors in `rows`, each from the machine without it.

    Parameters
    ----------
    K, y, C, alpha, f
        The Gram matrix; labels, bounds, multipliers and decision values.
    first
        For every row, the first one equal to it.
    rows
        Which rows leave.
    sums
        For every row, the sum of its kernel values with all rows that take part.
    limits, at
        Thresholds of factors; addresses.
    decision, shift : ndarray, to be filled
        ``f^p(x_p)``, and the mean change of all other values; NaN if the path was given up.
    met : ndarray of bool, to be filled
        Whether a vector met its bound on the way.

    Returns
    -------
    float
        The largest distance of a free vector from its margin at the end of a path; NaN if the
        machine is not one of those that can be followed here.
    """
    n = y.size
    x, lo, hi, r = np.zeros(n), np.zeros(n), np.zeros(n), np.empty(n)
    number, most_kernel, objective, level = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        q = first[i]
        x[q] += y[i] * alpha[i]
        if y[i] > 0.0:
            hi[q] += C[i]
        else:
            lo[q] -= C[i]
        r[i] = f[i] - y[i]
        number += C[i] > 0.0
        most_kernel = max(most_kernel, abs(K[i, i]))
        level += _EPSILON * alpha[i] * abs(K[i, i])
        objective += alpha[i] * (1.0 - 0.5 * y[i] * f[i])
    free = _free_points(x, lo, hi)
    if level > STALE:
        _renew(K, x, y, free, r)
    offset = 0.0
    if free.size == 0:
        free = _adopt(x, lo, hi, r)
        offset = r[free[0]]
        for i in range(n):
            r[i] -= offset
    P, weights = _system(K, free, limits, at)
    if weights.size == 0:
        return np.nan
    values, scale = _relative_rows(K, free)
    place, slot = np.full(n, -1), np.full(n, -1)
    for a in range(free.size):
        place[free[a]] = a
    singular = max(SINGULAR, KERNEL_ROUNDING * most_kernel / scale)
    tableau, used = np.empty((n, n)), np.zeros(1, np.int64)
    points, amounts, stays = np.empty_like(rows), np.empty(rows.size), np.zeros(rows.size, np.bool_)
    moving = np.empty_like(rows)
    count = 0
    for k in range(rows.size):
        i = rows[k]
        q = first[i]
        # Equal rows take over what they have room for.
        room, size = hi[q] - lo[q] - C[i], abs(x[q])
        decision[k], shift[k], met[k] = f[i], 0.0, True
        if size > 0.0 and size - room >= -EQUAL_SUMS * size:  # otherwise they are still free
            points[count], amounts[count] = q, y[i] * max(size - room, 0.0)
            stays[count] = room > 0.0
            moving[count] = k
            count += 1
    _fill_rows(K, free, P, weights, values, points[:count], place, tableau, slot, used)
    result, growth, error = np.empty(count), np.empty(count), np.zeros(1)
    bounded = np.empty(count, np.bool_)
    call(
        remove_all, at, K, free, place, P, weights, values, scale, singular, tableau, slot, used,
        x, r, lo, hi, points[:count], amounts[:count], stays[:count], sums, number, result, growth,
        bounded, error,
    )  # fmt: skip
    # ||w||^2 / 2 without an instance is at most the objective with it, and |f| at most this.
    most = _BEYOND * (1.0 + 2.0 * np.sqrt(2.0 * max(objective, 0.0) * most_kernel))
    for c in range(count):
        k = moving[c]
        decision[k], shift[k], met[k] = y[rows[k]] + result[c], growth[c] - offset, bounded[c]
        if not abs(decision[k]) <= most:
            decision[k] = shift[k] = np.nan
    return error[0]


@njit
def _renew(K, x, y, free, r):
    """Compute residuals anew: those of training keep the rounding errors of all its steps."""
    n, first = r.size, free[0] if free.size > 0 else 0
    off = 0.0
    for i in range(n):
        row, own = K[i], -y[i]
        for j in range(n):
            if x[j] != 0.0:
                own += (row[j] - row[first]) * x[j]  # they sum to 0
        off += (own - r[i]) / n
        r[i] = own
    if free.size > 0:
        off = 0.0
        for a in range(free.size):
            off += r[free[a]] / free.size
    for i in range(n):
        r[i] -= off


@njit
def _free_points(x, lo, hi):
    """The points strictly inside their boxes."""
    free = np.empty(x.size, np.int64)
    count = 0
    for i in range(x.size):
        if lo[i] < x[i] < hi[i]:
            free[count] = i
            count += 1
    return free[:count].copy()


@njit
def _adopt(x, lo, hi, r):
    """If no vector is free, the first one to reach its margin as the intercept moves."""
    best, free = np.inf, np.zeros(1, np.int64)
    for i in range(x.size):
        if lo[i] < hi[i]:
            way = min(r[i] if x[i] < hi[i] else np.inf, -r[i] if x[i] > lo[i] else np.inf)
            if way < best:
                best, free[0] = way, i
    return free


@njit
def _system(K, free, limits, at):
    """The projected inverse of the free vectors and its border; empty if ill-conditioned."""
    size = free.size
    if size == 1:
        return np.zeros((1, 1)), np.ones(1)
    kept, repeated = np.empty_like(free), np.zeros(size, np.bool_)
    P, count, shift, ridge = call(factorise_into, at, K, free, limits, kept, repeated)
    if not is_regular(P, kept[:count], size, shift, ridge):
        return P, np.empty(0)
    lower_inverse(P, size)
    square_lower(P, size)
    return P, project(P)


@njit
def _relative_rows(K, free):
    """The kernel rows of the free vectors minus that of the first, and the largest distance."""
    n, base = K.shape[0], K[free[0]]
    values, scale = np.empty((free.size, n)), np.finfo(np.float64).tiny
    for a in range(free.size):
        row, target = K[free[a]], values[a]
        for i in range(n):
            target[i] = row[i] - base[i]
    for i in range(n):
        scale = max(scale, K[i, i] - 2.0 * base[i] + base[free[0]])
    return values, scale


@njit
def _fill_rows(K, free, P, weights, values, points, place, tableau, slot, used):
    """Compute rows of the tableau for several points at once; see :func:`_removal.compute_row`."""
    wanted = np.empty_like(points)
    count, n, size = 0, K.shape[0], free.size
    for k in range(points.size):
        q = points[k]
        if slot[q] < 0:
            wanted[count], slot[q] = q, count
            count += 1
    if count == 0:
        return
    used[0] = count
    kernel, lean = np.empty((count, size)), np.empty((count, size))
    for k in range(count):
        for a in range(size):
            kernel[k, a] = values[a, wanted[k]]
    multiply_symmetric(P, kernel, lean)
    for k in range(count):
        own = place[wanted[k]]
        for a in range(size):
            lean[k, a] = P[own, a] if own >= 0 else lean[k, a] + weights[a]
    multiply(lean, values, tableau)
    base = K[free[0]]
    for k in range(count):
        row, own = tableau[k], place[wanted[k]]
        if own >= 0:
            for i in range(n):
                row[i] += weights[own]
            for a in range(size):
                row[free[a]] = lean[k, a]
    for k in range(count):
        row, own = tableau[k], K[wanted[k]]
        if place[wanted[k]] >= 0:
            continue
        level = own[free[0]] - base[free[0]] - row[free[0]]
        for i in range(n):
            row[i] = (own[i] - base[i]) - row[i] - level
        for a in range(size):
            row[free[a]] = -lean[k, a]


reachable(
    remove_all,
    lambda K: (
        K, POINTS, POINTS, MATRIX, ROW, MATRIX, 0.0, 0.0, MATRIX, POINTS, POINTS, ROW, ROW, ROW,
        ROW, POINTS, ROW, MARKS, ROW, 0.0, ROW, ROW, MARKS, ROW,
    ),
)  # fmt: skip
