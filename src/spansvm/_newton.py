"""Newton steps on the free variables: the bordered system is inverted once, and the step walks
to the box, dropping each variable that meets its bound on the way.
"""

from __future__ import annotations

import numpy as np

from ._calls import POINTS, ROW, reachable
from ._compile import njit
from ._factor import eliminate, ridged_inverse
from ._linalg import add_row, add_rows
from ._typing import Array

__all__ = ["newton", "slide"]

#: If this fraction of a slope remains after a Newton step, there was no curvature to reduce it.
_STEEP = 0.1

_EPSILON = float(np.finfo(np.float64).eps)


@njit
def _walk(P, direction, room_up, room_down, alive):
    """Walk from 0 along the Newton direction, stopping at each bound on the way.

    `P` is the inverse of the free block projected on ``sum = 0``.  A variable that
    meets its bound is eliminated from `P` and from `alive`, which turns the rest of the direction
    towards the minimum over the variables that remain.  Returns the move.
    """
    size = direction.size
    move, row = np.empty(size), np.empty(size)
    for a in range(size):
        move[a], alive[a] = 0.0, True
    for _ in range(size - 1):
        _balance(direction, alive)
        fraction, blocking = 1.0, -1
        for a in range(size):
            if not alive[a] or direction[a] == 0.0:
                continue
            room = (room_up[a] if direction[a] > 0.0 else room_down[a]) - move[a]
            if room / direction[a] < fraction:
                fraction, blocking = room / direction[a], a
        for a in range(size):
            move[a] += fraction * direction[a]
        if blocking < 0 or not P[blocking, blocking] > 0.0:
            break
        move[blocking] = room_up[blocking] if direction[blocking] > 0.0 else room_down[blocking]
        for a in range(size):
            row[a] = P[blocking, a]
        alive[blocking] = False
        rest = 1.0 - fraction
        turn = rest * direction[blocking] / row[blocking]
        for a in range(size):
            direction[a] = rest * direction[a] - turn * row[a] if alive[a] else 0.0
        eliminate(P, row, 1.0 / row[blocking], alive)
    _balance(move, alive)
    return move


@njit
def _balance(values, alive):
    """Make values sum to 0: what rounding has left is spread over those that are alive.

    Each time a variable is held, most of a steep direction may cancel, and with it the digits that
    kept its sum at 0.
    """
    total, count = 0.0, 0
    for a in range(values.size):
        total += values[a]
        count += alive[a]
    for a in range(values.size):
        if alive[a]:
            values[a] -= total / count


@njit
def _slope_left(P, g, free, alive):
    """The slope of a further Newton step."""
    left = 0.0
    for a in range(free.size):
        if alive[a]:
            for b in range(free.size):
                if alive[b]:
                    left -= P[a, b] * g[free[a]] * g[free[b]]
    return left


@njit
def newton(K, x, g, lo, hi, free):
    """Move to the minimum over the free variables, or as far as the box allows.

    Returns the slope before the move if only the ridge has ended it: then a :func:`slide` goes
    farther.  Otherwise 0.
    """
    size = free.size
    P, definite = ridged_inverse(K, free)
    if not definite:
        return 0.0
    alive = np.empty(size, np.bool_)
    direction, room_up, room_down = np.empty(size), np.empty(size), np.empty(size)
    for a in range(size):
        i = free[a]
        direction[a], room_up[a], room_down[a] = 0.0, hi[i] - x[i], lo[i] - x[i]
    for a in range(size):
        add_row(direction, -g[free[a]], P[a])
    move = _walk(P, direction, room_up, room_down, alive)
    change = np.empty(x.size)
    for t in range(x.size):
        change[t] = 0.0
    add_rows(change, K, free, move)
    slope, curvature = 0.0, 0.0
    for a in range(size):
        slope += g[free[a]] * move[a]
        curvature += change[free[a]] * move[a]
    if not slope < 0.0:
        return 0.0
    # The ridge and rounding make the step slightly inaccurate; a very inaccurate one is shortened.
    fraction = 1.0
    if curvature > 0.0 and -slope < 0.999 * curvature:
        fraction = -slope / curvature
    for a in range(size):
        i = free[a]
        if fraction == 1.0 and not alive[a]:
            x[i] = hi[i] if move[a] > 0.0 else lo[i]
        else:
            x[i] = min(max(x[i] + fraction * move[a], lo[i]), hi[i])
    for t in range(x.size):
        g[t] += fraction * change[t]
    if fraction == 1.0 and _slope_left(P, g, free, alive) < _STEEP * slope:
        return slope
    return 0.0


reachable(newton, lambda K: (K, ROW, ROW, ROW, ROW, POINTS))


def slide(K: np.ndarray, x: Array, g: Array, lo: Array, hi: Array, before: float) -> None:
    """Continue a Newton step that only the ridge has ended.  Rare, and so not compiled.

    Along directions without curvature, such as those between dependent vectors, the minimum is at
    the box, however far away; the ridge limits the length of a step.  The slope is then about as
    steep after the step as `before`.
    """
    free = np.flatnonzero((lo < x) & (x < hi))
    P, definite = ridged_inverse(K, free)
    if not definite:
        return
    alive = np.ones(free.size, dtype=np.bool_)
    rows, diagonal = K[free].astype(np.float64), K[free, free].astype(np.float64)
    for _ in range(free.size - 1):
        here = x[free]
        direction = np.where(alive, -(P @ np.where(alive, g[free], 0.0)), 0.0)
        direction[alive] -= direction.sum() / alive.sum()
        slope = g[free] @ direction
        if not slope < _STEEP * before:
            return
        change = direction @ rows
        curvature = change[free] @ direction
        if -slope < 2.0 * curvature:
            return
        moving = np.flatnonzero(direction)
        ends = np.where(direction > 0.0, hi[free], lo[free])
        rooms = (ends - here)[moving] / direction[moving]
        # No farther than the gradient is accurate: its rounding grows with the variables.
        rounding = _EPSILON * np.abs(diagonal * direction).sum()
        steepness = np.ptp(g[free[alive]])
        times, blocking = steepness / rounding if rounding > 0.0 else np.inf, -1
        if curvature > 0.0:
            times = min(times, -slope / curvature)
        if rooms.min() < times:
            times, blocking = rooms.min(), moving[rooms.argmin()]
        if not np.isfinite(times):
            return
        x[free] = np.clip(here + times * direction, lo[free], hi[free])
        g += times * change
        if blocking < 0 or not P[blocking, blocking] > 0.0:
            return
        x[free[blocking]] = ends[blocking]
        alive[blocking] = False
        row = P[blocking].copy()
        P -= np.where(alive, row, 0.0)[:, None] * (row / row[blocking])
