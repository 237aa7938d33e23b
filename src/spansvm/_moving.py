"""From the solution in one box to a point of another, which is where the next solution starts."""

from __future__ import annotations

import numpy as np

from ._calls import MATRIX, ROW, reachable
from ._compile import njit
from ._descent import restore_sum
from ._linalg import add_row, add_rows

__all__ = ["move_bounds"]

_EPSILON = float(np.finfo(np.float64).eps)

#: Up to this many variables at their bounds are moved one by one.
_FEW = 16

#: Carried sums are recomputed before repeated factors take their scale out of range.
_SMALLEST_SCALE = 1e-9


@njit
def move_bounds(K, x, g, old_lo, old_hi, lo, hi, sums, shares, scale):
    """Move a solution in one box to a point of another with the same sum, in place.

    Variables at a bound move with it; the others are clipped.  If all those at upper (or lower)
    bounds move by one factor, as in a class whose weight changes, their contribution to the
    gradient does too: ``sums`` holds it for both sides, ``scale * shares`` being the variables, and
    at each step only the variables that reached or left a bound are added or subtracted.
    """
    n = x.size
    total = 0.0
    for t in range(n):
        total += x[t]
    rows, moved, change = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    n_moved = 0
    for side in range(2):
        old = old_hi if side == 0 else old_lo
        new = hi if side == 0 else lo
        count, least, most = 0, np.inf, -np.inf
        for t in range(n):
            if x[t] != 0.0 and x[t] == old[t]:
                ratio = new[t] / old[t]
                least, most = min(least, ratio), max(most, ratio)
                rows[count] = t
                count += 1
        if count == 0 or least == most == 1.0:
            continue
        together = most - least <= _EPSILON * 8.0 * most and count >= _FEW and least > 0.0
        if together:
            _gather(K, x, rows[:count], sums[side], shares[side], scale, side)
            add_row(g, (most - 1.0) * scale[side], sums[side])
            scale[side] *= most
        for k in range(count):
            t = rows[k]
            if not together:
                moved[n_moved], change[n_moved] = t, new[t] - x[t]
                n_moved += 1
            x[t] = new[t]
    for t in range(n):
        end = min(max(x[t], lo[t]), hi[t])
        if end != x[t]:  # it was inside its old box, so it has not moved yet
            moved[n_moved], change[n_moved] = t, end - x[t]
            n_moved += 1
            x[t] = end
    add_rows(g, K, moved[:n_moved], change[:n_moved])
    restore_sum(K, x, g, lo, hi, total)


@njit
def _gather(K, x, rows, sums, shares, scale, side):
    """Bring ``sums = shares @ K`` up to date with the variables in `rows`."""
    anew = not _SMALLEST_SCALE < scale[side] < 1.0 / _SMALLEST_SCALE  # 0 at the first step
    if anew:
        scale[side] = 1.0
    n = x.size
    wanted = np.empty(n)
    for t in range(n):
        wanted[t] = 0.0
    for k in range(rows.size):
        wanted[rows[k]] = x[rows[k]] / scale[side]
    different, change = np.empty(n, np.int64), np.empty(n)
    count = 0
    for t in range(n):
        if abs(wanted[t] - shares[t]) > 1e-12 * abs(wanted[t]):
            different[count], change[count] = t, wanted[t] - shares[t]
            count += 1
    if anew or count >= rows.size:
        count = rows.size
        for k in range(count):
            different[k], change[k] = rows[k], wanted[rows[k]]
        for t in range(n):
            sums[t] = 0.0
    add_rows(sums, K, different[:count], change[:count])
    for t in range(n):
        shares[t] = wanted[t]


reachable(move_bounds, lambda K: (K, ROW, ROW, ROW, ROW, ROW, ROW, MATRIX, MATRIX, ROW))
