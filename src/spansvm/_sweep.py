"""Sequential minimal optimisation: two variables at a time, the pair chosen by second-order gain.

The inner loop of the library.  Both searches run over blocks of lanes with one running maximum
per lane, which lets the compiler vectorise them.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from ._calls import MARKS, ROW, reachable
from ._compile import FAST_MATH, njit

__all__ = ["INDEFINITE", "STALLED", "sweep"]

#: Means "not available" in the vectorised searches; far beyond any gradient.
_BARRED = -1e300

#: Width of the blocks in which maxima are searched: one running maximum per lane.
_LANES = 64

#: Curvature below minus this many times the flat threshold is a sign of an indefinite matrix.
_NEGATIVE = 1e4

#: Positions in the array of flags that a sweep sets.
STALLED, INDEFINITE = 0, 1


@njit(fastmath=FAST_MATH)
def _best_partner(row, g, low, diag, own_diag, top, flat, gain, lanes):
    """Index j with the largest second-order gain ``(g_j - g_i)^2 / (K_ii + K_jj - 2 K_ij)``."""
    n = g.size
    blocks = n // _LANES
    for k in range(_LANES):
        lanes[k] = 0.0
    for block in range(blocks):
        start = uint64(block * _LANES)
        for k in range(_LANES):
            t = start + uint64(k)
            slope = max(top + g[t] + low[t], 0.0)
            value = slope * slope / max(own_diag + diag[t] - 2.0 * row[t], flat)
            gain[t] = value
            lanes[k] = max(lanes[k], value)
    best, lane, partner = 0.0, -1, -1
    for k in range(_LANES):
        if lanes[k] > best:
            best, lane = lanes[k], k
    if lane >= 0:
        for t in range(lane, blocks * _LANES, _LANES):
            if gain[t] == best:
                partner = t
                break
    for t in range(blocks * _LANES, n):
        slope = max(top + g[t] + low[t], 0.0)
        value = slope * slope / max(own_diag + diag[t] - 2.0 * row[t], flat)
        if value > best:
            best, partner = value, t
    return partner


@njit(fastmath=FAST_MATH)
def _move_pair(row_i, row_j, step, g, up, low, up_lanes, low_lanes):
    """Update the gradient for ``x_i += step, x_j -= step``; return the next i and both extremes."""
    n = g.size
    blocks = n // _LANES
    for k in range(_LANES):
        up_lanes[k] = _BARRED
        low_lanes[k] = _BARRED
    for block in range(blocks):
        start = uint64(block * _LANES)
        for k in range(_LANES):
            t = start + uint64(k)
            moved = g[t] + step * (row_i[t] - row_j[t])
            g[t] = moved
            up_lanes[k] = max(up_lanes[k], up[t] - moved)
            low_lanes[k] = max(low_lanes[k], low[t] + moved)
    top, bottom, lane, index = _BARRED, _BARRED, 0, -1
    for k in range(_LANES):
        if up_lanes[k] > top:
            top, lane = up_lanes[k], k
        bottom = max(bottom, low_lanes[k])
    for t in range(lane, blocks * _LANES, _LANES):
        if up[t] - g[t] == top:
            index = t
            break
    for t in range(blocks * _LANES, n):
        moved = g[t] + step * (row_i[t] - row_j[t])
        g[t] = moved
        if up[t] - moved > top:
            top, index = up[t] - moved, t
        bottom = max(bottom, low[t] + moved)
    return index, top, bottom


@njit
def sweep(K, diag, x, g, lo, hi, tol, max_iter, flat, flags):
    """Sequential minimal optimisation until the KKT gap ``top + bottom`` is at most `tol`.

    ``top`` is the largest ``-g`` among the variables that may increase, ``bottom`` the largest
    ``g`` among those that may decrease.

    Returns
    -------
    steps : int
    top, bottom : float
    progress, size : float
        By how much the steps lowered the objective, and the sum of ``|x g|``.
    free, active : int
        How many variables are free, and how many are free or not yet held at their bounds by
        their gradients.
    """
    n = x.size
    up = np.empty(n)
    low = np.empty(n)
    gain = np.empty(n)
    up_lanes = np.empty(_LANES)
    low_lanes = np.empty(_LANES)
    for t in range(n):
        up[t] = 0.0 if x[t] < hi[t] else _BARRED
        low[t] = 0.0 if x[t] > lo[t] else _BARRED
    row = other = K[0]
    steps, step, progress = 0, 0.0, 0.0
    while True:
        i, top, bottom = _move_pair(row, other, step, g, up, low, up_lanes, low_lanes)
        if not (steps < max_iter and top + bottom > tol):
            break
        row = K[i]
        j = _best_partner(row, g, low, diag, diag[i], top, flat, gain, up_lanes)
        if i < 0 or j < 0 or not np.isfinite(top + bottom):  # the matrix is not finite
            flags[STALLED] = True
            break
        curvature = diag[i] + diag[j] - 2.0 * row[j]
        if curvature < -_NEGATIVE * flat:
            flags[INDEFINITE] = True
        slope = top + g[j]
        step = slope / max(curvature, flat)
        room_i = hi[i] - x[i]
        room_j = x[j] - lo[j]
        if step < room_i and step < room_j:
            if x[i] + step == x[i] and x[j] - step == x[j]:
                flags[STALLED] = True
                break
            x[i] = min(x[i] + step, hi[i])
            x[j] = max(x[j] - step, lo[j])
        elif room_i <= room_j:
            step = room_i
            x[i] = hi[i]
            x[j] = max(x[j] - step, lo[j])
        else:
            step = room_j
            x[i] = min(x[i] + step, hi[i])
            x[j] = lo[j]
        up[i] = 0.0 if x[i] < hi[i] else _BARRED
        low[i] = 0.0 if x[i] > lo[i] else _BARRED
        up[j] = 0.0 if x[j] < hi[j] else _BARRED
        low[j] = 0.0 if x[j] > lo[j] else _BARRED
        other = K[j]
        steps += 1
        progress += step * (slope - 0.5 * step * curvature)
    size, free, active = 0.0, 0, 0
    for t in range(n):
        size += abs(x[t] * g[t])
        free += lo[t] < x[t] < hi[t]
        held = (x[t] >= hi[t] and -g[t] > top) or (x[t] <= lo[t] and g[t] > bottom)
        active += not held
    return steps, top, bottom, progress, size, free, active


reachable(sweep, lambda K: (K, ROW, ROW, ROW, ROW, ROW, 0.0, 0, 0.0, MARKS))
