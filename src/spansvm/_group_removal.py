"""Leaving out several vectors at once, exactly: their multipliers go to zero in proportion.

The path is that of :mod:`spansvm._removal`, on the same tableau, with the column of the whole group
in place of that of one vector: its bounded members move together, and its free members are among
the changed vectors from the beginning, with their own equations.
"""

from __future__ import annotations

import numpy as np

from ._changed import forget_changed, solve_changed
from ._compile import njit
from ._linalg import add_row, add_rows
from ._path_end import ASTRAY, CHECKED, to_middle
from ._removal import (
    SAME_PLACE,
    STILL,
    TURNS,
    Tableau,
    change_kind,
    compute_row,
    first_to_stop,
    most_changed,
    rooms,
    sides,
)

__all__ = ["remove_group"]

#: A group is balanced if its multipliers sum to less than this fraction of their sizes.
_BALANCED = 1e-9

#: How far on the wrong side of its margin a vector at a bound may end.
_WRONG_SIDE = 1e-9


@njit
def remove_group(
    K, free, place, projected, weights, values, scale, singular, tableau, slot, used,
    x, r, lo, hi, rows, moves, column, change, found,
):  # fmt: skip
    """Follow the solution while the multipliers of `rows` change by `moves`; False if given up.

    Parameters
    ----------
    K, free, ..., used
        The :class:`~spansvm._removal.Tableau` of the model's free vectors.
    x, r : ndarray of shape (l,)
        Multipliers, and residuals ``Kx - y + b``.
    lo, hi : ndarray of shape (l,)
        The box without the group; ``lo = hi`` for vectors that take no part.
    rows, moves : ndarray
        The vectors whose multipliers are driven, and how far.  They end at a bound.
    column : ndarray of shape (l,)
        The sum of the rows of the tableau of those that are not free, times their moves.
    change : ndarray of shape (l,), to be filled
        The changes of all multipliers.
    found : ndarray of shape (2,), to be filled
        The change of the intercept, and the largest distance of a free vector from its margin.
    """
    T = Tableau(K, free, place, projected, weights, values, scale, singular, tableau, slot, used)
    n = x.size
    state, least, most, still = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    aim, driven = np.zeros(n), np.zeros(n, np.bool_)
    most_of_all = most_changed(n)
    changed, position = np.empty(most_of_all, np.int64), np.empty(n, np.int64)
    speed, net, total, largest = 0.0, 0.0, 0.0, 0.0
    for k in range(rows.size):
        driven[rows[k]], aim[rows[k]] = True, moves[k]
        speed = max(speed, abs(moves[k]))
        net += moves[k]
        total += abs(moves[k])
    size, n_free = 0, 0
    for i in range(n):
        largest = max(largest, abs(x[i]))
        position[i] = -1
        is_free = T.place[i] >= 0
        still[i] = STILL * (1.0 if is_free else T.scale)
        state[i] = x[i] if is_free else r[i]
        least[i], most[i] = (lo[i], hi[i]) if is_free else sides(x[i], lo[i], hi[i])
        if driven[i]:
            least[i], most[i] = -np.inf, np.inf
            if is_free:
                if size == most_of_all:
                    return False
                changed[size], position[i], state[i] = i, size, 0.0
                still[i] = STILL * T.scale
                size += 1
                if T.slot[i] < 0:
                    compute_row(T, i)
        elif is_free:
            n_free += 1
    slope, room = np.empty(n), np.empty(n)
    slots, z = np.empty(most_of_all, np.int64), np.empty(most_of_all)
    inverse, known = np.empty((most_of_all, most_of_all)), np.zeros(1, np.int64)
    left = speed
    for _ in range(TURNS):
        if n_free == 0:
            # The sum of all multipliers stays 0 only if another one moves.
            if abs(net) <= _BALANCED * total:
                return False
            q = _takes_over(state, least, lo, hi, driven, net)
            if q < 0:
                return False
            step = -state[q]
            for i in range(n):
                state[i] += step  # none is free: these are all residuals
        else:
            for a in range(size):
                i = changed[a]
                z[a] = (column[i] - aim[i] if T.place[i] >= 0 else -column[i]) / speed
                slots[a] = T.slot[i]
            if not solve_changed(T, changed[:size], inverse, known, z):
                return False
            for i in range(n):
                slope[i] = column[i] / speed
            add_rows(slope, T.rows, slots[:size], z[:size])
            for a in range(size):
                slope[changed[a]] = z[a]
            shortest = rooms(state, slope, least, most, still, room)
            add_row(state, min(shortest, left), slope)
            if shortest >= left - SAME_PLACE * speed:
                left = 0.0
                break
            left -= shortest
            q = first_to_stop(room, slope, still, shortest)
        was_free = (T.place[q] >= 0) != (position[q] >= 0)
        n_free += change_kind(T, q, was_free, slope, state, least, most, still, lo, hi)
        if position[q] >= 0:
            forget_changed(inverse, known, position[q], size, T.singular)
            size -= 1
            last = changed[size]
            changed[position[q]], position[last] = last, position[q]
            position[q] = -1
        else:
            if size == most_of_all:
                return False
            changed[size], position[q] = q, size
            size += 1
            if T.slot[q] < 0:
                compute_row(T, q)
    if left != 0.0:
        return False
    for k in range(rows.size):
        # What remains of a set of equal vectors is at its bound, and must want to be there.
        i = rows[k]
        if lo[i] < hi[i]:
            least[i], most[i] = sides(x[i] + moves[k], lo[i], hi[i])
            if not least[i] - _WRONG_SIDE <= state[i] <= most[i] + _WRONG_SIDE:
                return False
    middle = to_middle(T, -1, False, state, least, lo, hi, largest, position)
    found[0], found[1] = _read_off(T, state, least, lo, hi, x, r, driven, aim, position, change)
    found[0] += middle
    return found[1] <= ASTRAY


@njit
def _takes_over(state, least, lo, hi, driven, net):
    """The vector that reaches its margin first when the intercept moves as it must.

    Its multiplier must be able to move against `net`, the sum of the moves of the group.
    """
    best, q = np.inf, -1
    for i in range(state.size):
        if lo[i] < hi[i] and not driven[i]:
            at_lower = least[i] == 0.0
            if at_lower == (net < 0.0) and abs(state[i]) < best:
                best, q = abs(state[i]), i
    return q


@njit
def _read_off(T, state, least, lo, hi, x, r, driven, aim, position, change):
    """Fill `change`; returns that of the intercept, and how far free vectors are off their margins.

    Computed from the Gram matrix itself, as for a single vector.
    """
    rows, looked_at = np.empty(x.size, np.int64), np.empty(CHECKED, np.int64)
    moved, count, any_driven = 0, 0, -1
    for i in range(x.size):
        change[i] = 0.0
        if driven[i]:
            change[i], any_driven = aim[i], i
        elif (T.place[i] >= 0) != (position[i] >= 0):
            change[i] = state[i] - x[i]
            if count < CHECKED:
                looked_at[count] = i
                count += 1
        else:
            change[i] = (lo[i] if least[i] == 0.0 else hi[i]) - x[i]
        if change[i] != 0.0:
            rows[moved] = i
            moved += 1
    is_free = count > 0
    if not is_free:
        looked_at[0], count = any_driven, 1
    least_b, most_b, mean = np.inf, -np.inf, 0.0
    for a in range(count):
        kernel = T.K[looked_at[a]]
        level = kernel[rows[0]]  # the changes sum to 0
        needed = (0.0 if is_free else state[looked_at[a]]) - r[looked_at[a]]
        for k in range(moved):
            needed -= (kernel[rows[k]] - level) * change[rows[k]]
        least_b, most_b = min(least_b, needed), max(most_b, needed)
        mean += needed / count
    return mean, most_b - least_b
