"""Leaving out one support vector exactly: its multiplier is driven to zero, and all others follow.

Along the way the solution is piecewise linear (Cauwenberghs and Poggio 2000): a free vector
meets its bound, or one at a bound reaches its margin, and the direction changes.  All removals
start from the same model, so they share one *tableau*: the matrix ``T`` of the model's own linear
system, swept on the free vectors F and the intercept,

    x_F = -T_FF r_F - T_FO x_O,     r_O = T_OF r_F + T_OO x_O,

where ``x`` are the signed multipliers and ``r = Kx - y + b``.  After a few turns, the current
direction follows from ``T`` and a small system of the vectors J that changed between free and
bound.  Rows of ``T`` are computed when a removal first needs them.

When the last free vector meets its bound, nothing fixes the intercept: it moves on by itself
until another vector reaches its margin and takes over.  If none is free at the end, the
intercept is the middle of its interval, as in training.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64

from ._changed import forget_changed, solve_changed
from ._compile import njit
from ._linalg import add_row, add_rows
from ._path_end import ASTRAY, read_off, refine, to_middle
from ._sweep import NO_NAN, larger, smaller

__all__ = [
    "SAME_PLACE",
    "STILL",
    "TURNS",
    "Tableau",
    "change_kind",
    "compute_row",
    "first_to_stop",
    "most_changed",
    "remove_all",
    "rooms",
    "sides",
]

#: Number of turns after which a removal is given up.
TURNS = 1000

#: How many vectors may have changed between free and bound: a share of all, within these limits.
#: Longer paths are no quicker than training (measured).
_CHANGED, _SHARE_CHANGED, _MOST_CHANGED = 150, 0.25, 600

#: Slopes below this fraction of the largest squared distance count as zero.
STILL = 1e-11

#: A vector that stops this close to the end of a path, as a fraction of its length, stops there:
#: many may do so at once.
SAME_PLACE = 1e-11

#: The end of a path is refined if free vectors are farther off their margins, this often at most.
_ACCURATE, _REFINED = 1e-8, 3

#: Vectors are searched in blocks of this many.
_BLOCK = 64


class Tableau(NamedTuple):
    """The linear system of a model.

    Attributes
    ----------
    K : ndarray of shape (l, l)
    free, place : ndarray of int
        The free vectors, and for every vector its position among them, or -1.
    projected, weights : ndarray
        As in :class:`~spansvm._factor.Bordered`.
    values : ndarray of shape (n, l)
        Rows of the Gram matrix for the free vectors, minus that of the first.
    scale, singular : float
        The largest squared distance from the first free vector, and the smallest pivot of a system
        scaled by it that does not count as zero.
    rows, slot, used
        Rows of the tableau computed so far, where each is, and how many there are.
    """

    K: np.ndarray
    free: np.ndarray
    place: np.ndarray
    projected: np.ndarray
    weights: np.ndarray
    values: np.ndarray
    scale: float
    singular: float
    rows: np.ndarray
    slot: np.ndarray
    used: np.ndarray


@njit
def remove_all(
    K, free, place, projected, weights, values, scale, singular, tableau, slot, used,
    x, r, lo, hi, rows, amounts, stays, sums, number, result, shift, met, error,
):  # fmt: skip
    """For each p in `rows`, its residual once its multiplier is reduced by `amounts`.

    Parameters
    ----------
    K, free, ..., used
        The :class:`Tableau` of the model's free vectors; rows computed here are kept in it.  Its
        parts, since old versions of numba confuse tuples of arrays of different precision.
    x, r, lo, hi : ndarray of shape (l,)
        Multipliers, residuals ``Kx - y + b``, and the box; ``lo = hi`` for vectors that take no
        part.
    rows, amounts : ndarray
        Which vectors to remove, and how much of each: all of it, unless an equal one stays.
    stays : ndarray of bool
        Whether an equal vector stays, at its bound.
    sums, number
        For every vector, the sum of its kernel values with all instances; the number of instances.
    result, shift : ndarray, to be filled
        ``r_p`` of the model without p, and the mean growth of the residuals of all others; NaN if
        the removal was given up.
    met : ndarray of bool, to be filled
        Whether a vector met a bound other than 0 on the way.
    error : ndarray of shape (1,), to be filled
        The largest distance of a free vector from its margin at the end of a path.
    """
    T = Tableau(K, free, place, projected, weights, values, scale, singular, tableau, slot, used)
    n = x.size
    start, now = np.empty((4, n)), np.empty((4, n))
    inverse = np.empty((most_changed(n), most_changed(n)))
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(x[i]))
        # The state of a free vector is its multiplier; that of any other is its residual.
        if T.place[i] >= 0:
            start[0, i], start[1, i], start[2, i] = x[i], lo[i], hi[i]
        else:
            start[0, i] = r[i]
            start[1, i], start[2, i] = sides(x[i], lo[i], hi[i])
        start[3, i] = STILL * (1.0 if T.place[i] >= 0 else T.scale)
    for k in range(rows.size):
        for a in range(4):
            target, source = now[a], start[a]
            for i in range(n):
                target[i] = source[i]
        result[k], shift[k], met[k] = _remove(
            T, rows[k], amounts[k], stays[k], now[0], now[1], now[2], now[3], lo, hi, x, r, sums,
            number, largest, inverse, error,
        )  # fmt: skip


@njit
def most_changed(n):
    """How many of n vectors may have changed before a removal is given up."""
    return min(max(_CHANGED, int(_SHARE_CHANGED * n)), _MOST_CHANGED)


@njit
def sides(x, lo, hi):
    """Limits of the residual of a vector at a bound: at the lower bound it must not be negative."""
    if lo == hi:
        return -np.inf, np.inf
    return (0.0, np.inf) if x <= lo else (-np.inf, 0.0)


@njit
def compute_row(T, q):
    """Compute a row of the tableau.

    Entries of free vectors have the opposite sign: along a path, the multipliers of free vectors
    and the residuals of all others then change by sums of rows.
    """
    slot = T.used[0]
    T.used[0] += 1
    T.slot[q] = slot
    row, a = T.rows[slot], T.place[q]
    lean = np.empty(T.free.size)
    for b in range(T.free.size):
        lean[b] = T.projected[a, b] if a >= 0 else -T.weights[b]
    if a < 0:
        for b in range(T.free.size):
            add_row(lean, -T.values[b, q], T.projected[b])
    for i in range(row.size):
        row[i] = T.weights[a] if a >= 0 else 0.0
    for b in range(T.free.size):
        add_row(row, lean[b], T.values[b])
    if a < 0:
        first = T.free[0]
        kernel, base = T.K[q], T.K[first]
        offset = row[first] + kernel[first] - base[first]
        for i in range(row.size):
            row[i] += (kernel[i] - base[i]) - offset
    for b in range(T.free.size):
        row[T.free[b]] = lean[b]


@njit(fastmath=NO_NAN)
def rooms(state, slope, least, most, still, room):
    """How far each may move; returns the smallest.  Vectorised."""
    shortest = np.inf
    for i in range(uint64(0), uint64(state.size)):
        moves = abs(slope[i]) > still[i]
        end = most[i] if slope[i] > 0.0 else least[i]
        free_way = larger((end - state[i]) / (slope[i] if moves else 1.0), 0.0)
        free_way = free_way if moves else np.inf
        room[i] = free_way
        shortest = smaller(shortest, free_way)
    return shortest


@njit(fastmath=NO_NAN)
def first_to_stop(room, slope, still, shortest):
    """The vector that ends a step; of several at the same place, the one that moves fastest."""
    limit, q, steepest = shortest * (1.0 + 1e-12), -1, 0.0
    for start in range(0, room.size, _BLOCK):
        end = min(start + _BLOCK, room.size)
        least = np.inf
        for i in range(uint64(start), uint64(end)):
            least = smaller(least, room[i])
        if least <= limit:
            for i in range(start, end):
                if room[i] <= limit:
                    steep = abs(slope[i]) / still[i]
                    if steep > steepest:
                        q, steepest = i, steep
    return q


@njit
def change_kind(T, q, was_free, slope, state, least, most, still, lo, hi):
    """A vector that ends a step becomes bound or free; returns by how much the free ones grow."""
    if was_free:  # it stops at its bound, and its residual begins to move
        bound = most[q] if slope[q] > 0.0 else least[q]
        state[q] = 0.0
        least[q], most[q] = sides(bound, lo[q], hi[q])
        still[q] = STILL * T.scale
        return -1
    state[q] = lo[q] if least[q] == 0.0 else hi[q]
    least[q], most[q] = lo[q], hi[q]
    still[q] = STILL
    return 1


@njit
def _remove(
    T, p, amount, stays, state, least, most, still, lo, hi, x, r, sums, number, largest, inverse,
    error,
):  # fmt: skip
    """Follow one removal.

    Returns the final residual of p, the mean growth of the others', and whether a bound other than
    0 was met.
    """
    n, most_of_all = state.size, inverse.shape[0]
    changed, position = np.empty(most_of_all, np.int64), np.empty(n, np.int64)  # J, without order
    for i in range(n):
        position[i] = -1
    size = 0
    driven_free = T.place[p] >= 0
    residual = 0.0 if driven_free else state[p]
    if driven_free:
        changed[0], position[p], size = p, 0, 1
    comes = p  # whose row of the tableau will be needed
    least[p], most[p] = -np.inf, np.inf
    n_free = T.free.size - driven_free
    slope, room = np.empty(n), np.empty(n)
    slots, weights = np.empty(most_of_all + 1, np.int64), np.empty(most_of_all + 1)
    z, known = np.empty(most_of_all), np.zeros(1, np.int64)
    met = False
    own, at_end = amount, SAME_PLACE * abs(amount)
    sign = -1.0 if hi[p] > 0.0 else 1.0
    for _ in range(TURNS):
        if abs(own) <= at_end:
            own = 0.0
            break
        if comes >= 0 and T.slot[comes] < 0:
            compute_row(T, comes)
        if n_free == 0:
            q = _next(state, least, most, lo, hi, p, sign)
            if q < 0:
                return np.nan, np.nan, True
            change = -state[q]
            for i in range(n):
                state[i] += change  # none is free: these are all residuals
            residual += change
        else:
            _aim_at_one(T, changed[:size], p, z)
            if not solve_changed(T, changed[:size], inverse, known, z):
                return np.nan, np.nan, True
            for a in range(size):
                slots[a], weights[a] = T.slot[changed[a]], sign * z[a]
            used = size
            if not driven_free:
                slots[size], weights[size] = T.slot[p], sign
                used += 1
            for i in range(n):
                slope[i] = 0.0
            add_rows(slope, T.rows, slots[:used], weights[:used])
            along = sign * z[position[p]] if driven_free else slope[p]
            for a in range(size):
                slope[changed[a]] = sign * z[a]
            slope[p] = 0.0
            shortest = rooms(state, slope, least, most, still, room)
            length = min(shortest, abs(own))
            residual += length * along
            add_row(state, length, slope)
            if shortest >= abs(own) - at_end:
                own = 0.0
                break
            own += sign * length
            q = first_to_stop(room, slope, still, shortest)
        was_free = (T.place[q] >= 0) != (position[q] >= 0)
        if was_free and (most[q] if slope[q] > 0.0 else least[q]) != 0.0:
            met = True
        n_free += change_kind(T, q, was_free, slope, state, least, most, still, lo, hi)
        if position[q] >= 0:
            forget_changed(inverse, known, position[q], size, T.singular)
            size -= 1
            last = changed[size]
            changed[position[q]], position[last] = last, position[q]
            position[q] = comes = -1
        else:
            if size == most_of_all:
                return np.nan, np.nan, True
            changed[size], position[q] = q, size
            comes = q
            size += 1
    if own != 0.0:
        return np.nan, np.nan, True
    if stays:
        state[p], least[p] = residual, (0.0 if sign > 0.0 else -np.inf)
    middle = to_middle(T, p, stays, state, least, lo, hi, largest, position)
    value, growth, astray = read_off(
        T, p, amount, state, least, lo, hi, x, r, sums, number, position, residual
    )
    for _ in range(_REFINED):
        if astray <= _ACCURATE:
            break
        refine(T, p, amount, state, least, lo, hi, x, r, position, changed[:size], inverse, known)
        value, growth, astray = read_off(
            T, p, amount, state, least, lo, hi, x, r, sums, number, position, residual
        )
    if not astray <= ASTRAY * max(1.0, abs(value)):
        return np.nan, np.nan, True
    error[0] = max(error[0], astray)
    return value + middle, growth + middle, met


@njit
def _next(state, least, most, lo, hi, p, sign):
    """The vector that reaches its margin first when the intercept moves as it must.

    It takes over from p, so its multiplier must be able to move by ``-sign``.
    """
    best, q = np.inf, -1
    for i in range(state.size):
        if i != p and lo[i] < hi[i]:
            at_lower = least[i] == 0.0
            if at_lower == (sign < 0.0) and abs(state[i]) < best:
                best, q = abs(state[i]), i
    return q


@njit
def _aim_at_one(T, changed, p, z):
    """Fill `z` with what a unit step of p demands of the changed vectors.

    If p is one of them (it was free), its own equation sets the step.
    """
    driven_free = T.place[p] >= 0
    for a in range(changed.size):
        z[a] = -T.rows[T.slot[changed[a]]][p]
        if driven_free:
            z[a] = -1.0 if changed[a] == p else 0.0
