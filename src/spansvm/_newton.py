"""Newton steps on the free variables: the bordered system is inverted once, and the step walks
to the box, dropping each variable that meets its bound on the way.
"""

from __future__ import annotations

import numpy as np

from ._compile import njit
from ._factor import eliminate, ridged_inverse
from ._linalg import add_row, add_rows

__all__ = ["newton"]

#: If this fraction of a slope remains after a Newton step, there was no curvature to reduce it.
_STEEP = 0.1

_EPSILON = float(np.finfo(np.float64).eps)


@njit(nogil=True, cache=True)
def _walk(P, direction, room_up, room_down):
    """Walk from 0 along the Newton direction, stopping at each bound on the way.

    `P` is the inverse of the free block projected on ``sum = 0``.  A variable that
    meets its bound is eliminated from `P`, which turns the rest of the direction
    towards the minimum over the variables that remain.  Returns the move and which
    variables are still free.
    """
    size = direction.size
    move = np.zeros(size)
    row = np.empty(size)
    alive = np.ones(size, np.bool_)
    for _ in range(size - 1):
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
    return move, alive


@njit(nogil=True, cache=True)
def _balance(move, alive):
    """Spread the rounding error in the sum of a move over the free variables."""
    total, count = 0.0, 0
    for a in range(move.size):
        total += move[a]
        count += alive[a]
    for a in range(move.size):
        if alive[a]:
            move[a] -= total / count


@njit(nogil=True, cache=True, error_model="numpy")
def _slide(K, P, x, g, lo, hi, free, alive, before):
    """Continue a Newton step that only the ridge has ended.

    Along directions without curvature, such as those between dependent vectors, the minimum is at
    the box, however far away; the ridge limits the length of a step.  The slope is then about as
    steep after the step as `before`.
    """
    size = free.size
    direction = np.empty(size)
    change = np.empty(x.size)
    for _ in range(size - 1):
        direction[:] = 0.0
        for a in range(size):
            if alive[a]:
                add_row(direction, -g[free[a]], P[a])
        for a in range(size):
            if not alive[a]:
                direction[a] = 0.0
        _balance(direction, alive)
        slope, curvature = 0.0, 0.0
        for a in range(size):
            slope += g[free[a]] * direction[a]
        if not slope < _STEEP * before:
            return
        change[:] = 0.0
        add_rows(change, K, free, direction)
        for a in range(size):
            curvature += change[free[a]] * direction[a]
        if -slope < 2.0 * curvature:
            return
        # No farther than the gradient is accurate: its rounding grows with the variables.
        top, bottom, rounding = -np.inf, np.inf, 0.0
        for a in range(size):
            if alive[a]:
                i = free[a]
                top, bottom = max(top, g[i]), min(bottom, g[i])
                rounding += _EPSILON * abs(K[i, i] * direction[a])
        times, blocking = (top - bottom) / rounding, -1
        if curvature > 0.0:
            times = min(times, -slope / curvature)
        for a in range(size):
            if direction[a] != 0.0:
                i = free[a]
                room = ((hi[i] if direction[a] > 0.0 else lo[i]) - x[i]) / direction[a]
                if room < times:
                    times, blocking = room, a
        if not np.isfinite(times):
            return
        for a in range(size):
            i = free[a]
            x[i] = min(max(x[i] + times * direction[a], lo[i]), hi[i])
        for t in range(x.size):
            g[t] += times * change[t]
        if blocking < 0 or not P[blocking, blocking] > 0.0:
            return
        i = free[blocking]
        x[i] = hi[i] if direction[blocking] > 0.0 else lo[i]
        alive[blocking] = False
        eliminate(P, P[blocking].copy(), 1.0 / P[blocking, blocking], alive)


@njit(nogil=True, cache=True)
def newton(K, x, g, lo, hi, free):
    """Move to the minimum over the free variables, or as far as the box allows."""
    size = free.size
    P, definite = ridged_inverse(K, free)
    if not definite:
        return
    direction = np.zeros(size)
    room_up = np.empty(size)
    room_down = np.empty(size)
    for a in range(size):
        i = free[a]
        add_row(direction, -g[i], P[a])
        room_up[a] = hi[i] - x[i]
        room_down[a] = lo[i] - x[i]
    move, alive = _walk(P, direction, room_up, room_down)
    _balance(move, alive)
    change = np.zeros(x.size)
    add_rows(change, K, free, move)
    slope, curvature = 0.0, 0.0
    for a in range(size):
        slope += g[free[a]] * move[a]
        curvature += change[free[a]] * move[a]
    if not slope < 0.0:
        return
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
    if fraction == 1.0:
        _slide(K, P, x, g, lo, hi, free, alive, slope)
