"""Leaving one support vector out exactly: its multiplier is driven to zero, and all others follow.

Along the way the solution is piecewise linear (Cauwenberghs and Poggio 2000): a free vector
meets its bound, or one at a bound gets to its margin, and the direction turns.  All removals start
from the same model, so they share one *tableau*: the matrix ``T`` of the model's own linear
system, swept on the free vectors F (and the intercept),

    x_F = -T_FF r_F - T_FO x_O,     r_O = T_OF r_F + T_OO x_O,

where ``x`` are the signed multipliers and ``r = Kx - y + b``.  After a few turns only a small
system, of the vectors J that changed their kind, stands between ``T`` and the present direction.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ._hull import AffineHull
from ._linalg import FAST_MATH, add_row
from .qp import Array

__all__ = ["remove_all", "tableau"]

#: Turns after which a removal is given up.
_TURNS = 500

#: Vectors that may have changed their kind.
_CHANGED = 150

#: Squared distance of equal points, as a fraction of the largest squared norm.
_EQUAL = 1e-12

#: Slopes below this, as a fraction of the largest kernel value, are none.
_STILL = 1e-10

#: A pivot below this fraction of the diagonal of the system is none.
_SINGULAR = 1e-11


def tableau(hull: AffineHull, K: np.ndarray) -> Array:
    """The matrix ``T`` of a model whose free vectors make the hull."""
    n = K.shape[0]
    free = np.zeros(n, dtype=np.bool_)
    free[hull.inside] = True
    others = np.flatnonzero(~free)
    T = np.empty((n, n))
    weights = hull.weights(others)
    values = K[np.ix_(others, hull.inside)] + hull.shift
    T[np.ix_(hull.inside, hull.inside)] = -hull.projected
    T[np.ix_(others, hull.inside)] = weights
    T[np.ix_(hull.inside, others)] = weights.T
    inner = K[np.ix_(others, others)] + hull.shift
    inner -= values @ weights.T
    inner += (1.0 - values @ hull.u) / hull.s
    T[np.ix_(others, others)] = inner
    return T


@njit(nogil=True, cache=True)
def remove_all(T, free, present, x, r, lo, hi, scale, rows, result):
    """For each p in `rows`, ``r_p`` of the model without it, into `result`; NaN if given up."""
    n = x.size
    # What moves is the multiplier of a free vector, and the residual of any other.
    state, least, most = np.empty(n), np.empty(n), np.empty(n)
    still, turn = np.empty(n), np.empty(n)
    for i in range(n):
        turn[i] = -1.0 if free[i] else 1.0
        if free[i]:
            state[i], least[i], most[i], still[i] = x[i], lo[i], hi[i], _STILL
        else:
            state[i], still[i] = r[i], _STILL * scale
            least[i], most[i] = _sides(x[i], lo[i], present[i])
    for k in range(rows.size):
        result[k] = _remove(
            T, free, present, x[rows[k]], state.copy(), least.copy(), most.copy(), still, turn,
            lo, hi, rows[k],
        )  # fmt: skip


@njit(nogil=True, cache=True)
def _sides(x, lo, present):
    """Ends of the residual of a vector at a bound: it may not fall below 0 at the lower one."""
    if not present:
        return -np.inf, np.inf
    return (0.0, np.inf) if x <= lo else (-np.inf, 0.0)


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FAST_MATH)
def _rooms(state, slope, least, most, still, room):
    """How far each may go; the smallest."""
    shortest = np.inf
    for i in range(state.size):
        end = most[i] if slope[i] > 0.0 else least[i]
        free_way = max((end - state[i]) / slope[i], 0.0)
        room[i] = free_way if abs(slope[i]) > still[i] else np.inf
        shortest = min(shortest, room[i])
    return shortest


@njit(nogil=True, cache=True)
def _remove(T, free, present, own, state, least, most, still, turn, lo, hi, p):
    n = state.size
    changed = np.empty(_CHANGED, np.int64)  # J, without order
    position = np.full(n, -1, np.int64)
    size = 0
    residual = state[p]
    if free[p]:
        changed[0], position[p], size, residual = p, 0, 1, 0.0
    least[p], most[p] = -np.inf, np.inf
    slope, room = np.empty(n), np.empty(n)
    sign = 1.0 if own < 0.0 else -1.0
    for _ in range(_TURNS):
        z = np.empty(size)
        if not _directions(T, free, changed[:size], p, z):
            return np.nan
        slope[:] = 0.0
        if not free[p]:
            add_row(slope, sign, T[p])
        for a in range(size):
            add_row(slope, sign * z[a], T[changed[a]])
        along = slope[p] if not free[p] else sign * z[position[p]]
        for i in range(n):
            slope[i] *= turn[i]
        for a in range(size):
            slope[changed[a]] = sign * z[a]
        shortest = _rooms(state, slope, least, most, still, room)
        length = min(shortest, abs(own))
        residual += length * along
        if shortest >= abs(own):
            return residual
        own += sign * length
        add_row(state, length, slope)
        blocking = 0
        while room[blocking] != shortest:
            blocking += 1
        q = blocking
        bound = most[q] if slope[q] > 0.0 else least[q]
        was_free = free[q] != (position[q] >= 0)
        if was_free:  # it stops at its bound, and its residual begins to move
            state[q] = 0.0
            least[q], most[q] = _sides(bound, lo[q], present[q])
        else:  # it leaves the bound that it was at
            state[q] = lo[q] if least[q] == 0.0 else hi[q]
            least[q], most[q] = lo[q], hi[q]
        if position[q] >= 0:
            size -= 1
            last = changed[size]
            changed[position[q]], position[last] = last, position[q]
            position[q] = -1
        else:
            if size == _CHANGED:
                return np.nan
            changed[size], position[q] = q, size
            size += 1
    return np.nan


@njit(nogil=True, cache=True)
def _directions(T, free, changed, p, z):
    """Solve the system of the changed vectors for a unit step of p; False if it is singular.

    Where p is one of them (it was free), its own equation sets the step.
    """
    size = changed.size
    A = np.empty((size, size))
    largest = 0.0
    for a in range(size):
        row = T[changed[a]]
        for b in range(size):
            A[a, b] = row[changed[b]]
        largest = max(largest, abs(A[a, a]))
        z[a] = -T[changed[a], p]
        if free[p]:
            z[a] = -1.0 if changed[a] == p else 0.0
    for a in range(size):
        best = a
        for b in range(a + 1, size):
            if abs(A[b, a]) > abs(A[best, a]):
                best = b
        if not abs(A[best, a]) > _SINGULAR * largest:
            return False
        if best != a:
            for c in range(size):
                A[a, c], A[best, c] = A[best, c], A[a, c]
            z[a], z[best] = z[best], z[a]
        for b in range(a + 1, size):
            factor = A[b, a] / A[a, a]
            if factor != 0.0:
                for c in range(a, size):
                    A[b, c] -= factor * A[a, c]
                z[b] -= factor * z[a]
    for a in range(size - 1, -1, -1):
        for c in range(a + 1, size):
            z[a] -= A[a, c] * z[c]
        z[a] /= A[a, a]
    return True


def gather_twins(K: np.ndarray, x: Array, lo: Array, hi: Array, inside: np.ndarray) -> Array:
    """The same model with at most one free vector of each set of equal points.

    Equal points share what they weigh in any way they like; here all but one go to a bound.
    """
    x = x.copy()
    block = K[np.ix_(inside, inside)].astype(np.float64)
    diagonal = np.diagonal(block)
    apart = diagonal[:, None] + diagonal - 2.0 * block
    equal = apart <= _EQUAL * max(float(np.abs(diagonal).max()), np.finfo(float).tiny)
    left = np.ones(inside.size, dtype=np.bool_)
    for a in np.flatnonzero(equal.sum(axis=1) > 1):
        if left[a]:
            members = np.flatnonzero(equal[a] & left)
            left[members] = False
            rows = inside[members]
            total = float(x[rows].sum())
            for row in rows:
                x[row] = min(max(total, lo[row]), hi[row])
                total -= x[row]
    return x
