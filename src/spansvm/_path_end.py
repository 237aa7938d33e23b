"""The end of a path (:mod:`spansvm._removal`): what is read off there, and how it is made accurate.

Multipliers along a path come from one tableau, whose rounding errors grow with the size of the
multipliers.  At the end, values are computed from the Gram matrix itself.  If they show that the
free vectors are off their margins, the multipliers are corrected by the same tableau: each time,
the error is multiplied by the relative error of the tableau.
"""

from __future__ import annotations

import numpy as np

from ._changed import solve_changed
from ._compile import njit
from ._descent import OFF_BOUND
from ._linalg import add_row

__all__ = ["ASTRAY", "CHECKED", "read_off", "refine", "to_middle"]

#: How many free vectors are checked at the end, and how far off their margins they may be.
CHECKED, ASTRAY = 8, 1e-7


@njit
def read_off(T, p, amount, state, least, lo, hi, x, r, sums, number, position, residual):
    """The residual of p and the mean growth of the others', from the multipliers at the end.

    Computed from the Gram matrix itself: along the path, rounding in the inverse of a nearly
    singular system accumulates.  Also returns how far free vectors are from their margins.
    """
    rows, change = np.empty(x.size, np.int64), np.empty(x.size)
    free = np.empty(CHECKED, np.int64)
    moved, count = 0, 0
    for i in range(x.size):
        if i == p:
            now = x[i] - amount
        elif (T.place[i] >= 0) != (position[i] >= 0):
            now = state[i]
            if count < CHECKED:
                free[count] = i
                count += 1
        else:
            now = lo[i] if least[i] == 0.0 else hi[i]
        if now != x[i]:
            rows[moved], change[moved] = i, now - x[i]
            moved += 1
    own, level = 0.0, sums[p] / number
    total = 0.0  # of the growth of all, without the intercept; the changes sum to 0
    for k in range(moved):
        own += (T.K[p, rows[k]] - level) * change[k]
        total += (sums[rows[k]] / number - level) * change[k]
    if count == 0:
        intercept, astray = residual - r[p] - own, 0.0
    else:
        least_b, most_b, intercept = np.inf, -np.inf, 0.0
        for a in range(count):
            values, needed = T.K[free[a]], -r[free[a]]
            for k in range(moved):
                needed -= (values[rows[k]] - level) * change[k]
            least_b, most_b = min(least_b, needed), max(most_b, needed)
            intercept += needed / count
        astray = most_b - least_b
    growth = (number * total - own) / max(number - 1.0, 1.0)
    return r[p] + own + intercept, growth + intercept, astray


@njit
def to_middle(T, p, stays, state, least, lo, hi, largest, position):
    """How far the intercept is from the middle of its interval; 0 if a free vector fixes it."""
    below, above = np.inf, np.inf
    for i in range(state.size):
        if lo[i] == hi[i] or (i == p and not stays):
            continue
        if i != p and (T.place[i] >= 0) != (position[i] >= 0):
            low, high = state[i] - lo[i], hi[i] - state[i]
            if min(low, high) > OFF_BOUND * min(low + high, largest):
                return 0.0
            if low < high:  # a hair off its bound
                below = 0.0
            else:
                above = 0.0
        elif least[i] == 0.0:
            below = min(below, state[i])
        else:
            above = min(above, -state[i])
    if np.isinf(below) and np.isinf(above):
        return 0.0
    if np.isinf(below):
        return above
    if np.isinf(above):
        return -below
    return 0.5 * (above - below)


@njit
def refine(T, p, amount, state, least, lo, hi, x, r, position, changed, inverse, known):
    """Correct the multipliers of the free vectors, in place, so that they lie on their margins.

    With the residuals ``rho`` that they have, the vectors that were free all along move by
    ``-P rho``, and those that changed by what the system of :mod:`spansvm._changed` then demands.
    The sum of all changes becomes 0.
    """
    n, size = x.size, changed.size
    change, free = np.zeros(n), np.zeros(n, np.bool_)
    for i in range(n):
        if i == p:
            change[i] = -amount
        elif (T.place[i] >= 0) != (position[i] >= 0):
            free[i] = True
            change[i] = state[i] - x[i]
        else:
            change[i] = (lo[i] if least[i] == 0.0 else hi[i]) - x[i]
    rho, mean, count = np.zeros(n), 0.0, 0
    level, excess = T.K[p, p], 0.0  # of the sum, which should be 0
    for i in range(n):
        excess += change[i]
        if free[i]:
            kernel, own = T.K[i], r[i]
            for j in range(n):
                own += (kernel[j] - level) * change[j]
            rho[i] = own
            mean += own
            count += 1
    if count == 0:
        return
    # Along the weights, the residuals of the free vectors stay equal.
    base, step, along = T.K[T.free[0]], np.zeros(T.free.size), 0.0
    for b in range(T.free.size):
        step[b] = -excess * T.weights[b]
        along += excess * T.weights[b] * base[T.free[b]]
    for i in range(n):
        if free[i]:
            rho[i] -= mean / count
            if T.place[i] >= 0:
                add_row(step, -rho[i], T.projected[T.place[i]])
                along -= rho[i] * T.weights[T.place[i]]
    z = np.empty(size)
    for a in range(size):
        q = changed[a]
        if T.place[q] >= 0:
            z[a] = step[T.place[q]]
        else:
            z[a] = -rho[q] - along + excess * base[q]
            for b in range(T.free.size):
                z[a] -= step[b] * T.values[b, q]
    if not solve_changed(T, changed, inverse, known, z):
        return
    for i in range(n):
        if free[i] and T.place[i] >= 0:
            state[i] += step[T.place[i]]
            for a in range(size):
                state[i] += z[a] * T.rows[T.slot[changed[a]], i]
    for a in range(size):
        if T.place[changed[a]] < 0:
            state[changed[a]] += z[a]
