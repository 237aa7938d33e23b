"""The compiled engine of :mod:`spansvm.qp`.

Descent on ``1/2 x'Kx + c'x`` with ``sum(x) = s`` and ``lo <= x <= hi``.

Three ways of going down, each used where it is cheapest:

* *sweeps* of sequential minimal optimisation: two variables at a time, the pair
  chosen by second-order information;
* *shrinking*: variables that sit firmly at a bound are set aside and the rest is
  solved as a smaller problem on its own contiguous copy of the matrix;
* *Newton steps* on the free variables: the bordered system is inverted once and
  the step walks to the box, dropping each variable that meets its bound.

All functions modify ``x`` and the gradient ``g = Kx + c`` together, so that ``g`` is
always the gradient at ``x``.  ``K`` may be float32; everything else is float64.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from ._linalg import cholesky, cholesky_inverse

# Reassociation lets LLVM vectorise; NaN and infinity keep their meaning, so that bad
# input is found in the result instead of being undefined behaviour.
_FAST = {"contract", "arcp", "nsz", "reassoc"}

_EPSILON = float(np.finfo(np.float64).eps)

#: Stands for "not available" in the vectorised searches; far beyond any gradient.
_BARRED = -1e300

#: Width of the blocks in which maxima are searched: one running maximum per lane.
_LANES = 64

#: Ridge on the free block, as a fraction of its mean diagonal.
_RIDGE = 1e-10

#: Rough costs in nanoseconds that decide when a restructuring step pays.
_SWEEP_FIXED, _SWEEP_ROW = 100.0, 0.9
_COPY_ENTRY = 2.0
_NEWTON_FIXED, _NEWTON_CUBE = 2000.0, 0.08

#: Curvature below minus this many times the flat threshold is a sign of an indefinite matrix.
_NEGATIVE = 1e4

#: Positions in the array of flags that :func:`descend` sets.
STALLED, INDEFINITE = 0, 1

#: Do not shrink problems that are already this small.
_SMALL = 64

#: A gap within this factor of the level of rounding, and this many chunks of steps in a row that
#: lower the objective by no more than this fraction, are the end.
_NEAR, _PATIENCE, _PROGRESS = 1e3, 50, 1e-13


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
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


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
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


@njit(nogil=True, cache=True)
def _sweep(K, diag, x, g, lo, hi, tol, max_iter, flat, flags):
    """Sequential minimal optimisation until the KKT gap ``top + bottom`` is at most `tol`.

    ``top`` is the largest ``-g`` among the variables that may grow, ``bottom`` the
    largest ``g`` among those that may fall.  Returned with them are the steps taken and by
    how much they lowered the objective.
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
    i, top, bottom = _move_pair(K[0], K[0], 0.0, g, up, low, up_lanes, low_lanes)
    iteration, progress = 0, 0.0
    while iteration < max_iter and top + bottom > tol:
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
        i, top, bottom = _move_pair(row, K[j], step, g, up, low, up_lanes, low_lanes)
        iteration += 1
        progress += step * (slope - 0.5 * step * curvature)
    return iteration, top, bottom, progress


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def _add_four(g, a, row_a, b, row_b, c, row_c, d, row_d):
    for t in range(g.size):
        g[t] += (a * row_a[t] + b * row_b[t]) + (c * row_c[t] + d * row_d[t])


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def _add_one(g, a, row):
    for t in range(g.size):
        g[t] += a * row[t]


@njit(nogil=True, cache=True)
def add_rows(g, K, index, weight):
    """``g += weight @ K[index]`` without a temporary copy, four rows a pass."""
    k = 0
    while k + 4 <= weight.size:
        _add_four(
            g,
            weight[k], K[index[k]], weight[k + 1], K[index[k + 1]],
            weight[k + 2], K[index[k + 2]], weight[k + 3], K[index[k + 3]],
        )  # fmt: skip
        k += 4
    while k < weight.size:
        _add_one(g, weight[k], K[index[k]])
        k += 1


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def _eliminate(P, row, scale, alive):
    """``P -= scale * row row'`` on the rows that are still alive."""
    for a in range(row.size):
        if alive[a]:
            weight = row[a] * scale
            target = P[a]
            for b in range(row.size):
                target[b] -= weight * row[b]


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
        _eliminate(P, row, 1.0 / row[blocking], alive)
    return move, alive


@njit(nogil=True, cache=True)
def projected_inverse(K, index):
    """Inverse of the bordered system ``[[K_ff, 1], [1', 0]]`` without its border.

    With ``u = K_ff^-1 1`` that is ``K_ff^-1 - uu' / sum(u)``.  A number added to all entries
    of K cancels; it keeps K_ff regular where only moves with ``sum = 0`` must be.
    Returns the matrix and whether the (slightly ridged) block was positive definite.
    """
    size = index.size
    P = np.empty((size, size))
    trace = 0.0
    for a in range(size):
        trace += K[index[a], index[a]]
    shift = trace / size
    for a in range(size):
        row = K[index[a]]
        for b in range(a + 1):
            P[a, b] = row[index[b]] + shift
        P[a, a] += _RIDGE * shift
    if not (shift > 0.0 and cholesky(P)):
        return P, False
    cholesky_inverse(P)
    u = np.empty(size)
    for a in range(size):
        u[a] = P[a].sum()
    total = u.sum()
    if not total > 0.0:
        return P, False
    _eliminate(P, u, 1.0 / total, np.ones(size, np.bool_))
    return P, True


@njit(nogil=True, cache=True)
def _balance(move, alive):
    """Spread over the free variables what rounding left of the sum of a move."""
    total, count = 0.0, 0
    for a in range(move.size):
        total += move[a]
        count += alive[a]
    for a in range(move.size):
        if alive[a]:
            move[a] -= total / count


@njit(nogil=True, cache=True)
def _newton(K, x, g, lo, hi, free):
    """Move to the minimum over the free variables, or as far as the box allows."""
    size = free.size
    P, definite = projected_inverse(K, free)
    if not definite:
        return
    direction = np.zeros(size)
    room_up = np.empty(size)
    room_down = np.empty(size)
    for a in range(size):
        i = free[a]
        _add_one(direction, -g[i], P[a])
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
    # The ridge and rounding leave the step a little off; a step that is far off is shortened.
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


@njit(nogil=True, cache=True)
def _active(x, g, lo, hi, top, bottom):
    """The variables that are free or whose gradient does not yet hold them at their bound."""
    index = np.empty(x.size, np.int64)
    count = 0
    for t in range(x.size):
        if not ((x[t] >= hi[t] and -g[t] > top) or (x[t] <= lo[t] and g[t] > bottom)):
            index[count] = t
            count += 1
    return index[:count]


@njit(nogil=True, cache=True)
def _free(x, lo, hi):
    index = np.empty(x.size, np.int64)
    count = 0
    for t in range(x.size):
        if lo[t] < x[t] < hi[t]:
            index[count] = t
            count += 1
    return index[:count]


@njit(nogil=True, cache=True)
def _submatrix(K, index):
    copy = np.empty((index.size, index.size))
    for a in range(index.size):
        row = K[index[a]]
        target = copy[a]
        for b in range(index.size):
            target[b] = row[index[b]]
    return copy


@njit(nogil=True, cache=True)
def rounding_level(x, diag):
    """The KKT gap below which rounding of the gradient decides: ``eps sum_j |K_jj x_j|``."""
    total = 0.0
    for t in range(x.size):
        total += abs(x[t] * diag[t])
    return _EPSILON * total


@njit(nogil=True, cache=True)
def kkt_gap(x, g, lo, hi):
    """How far the KKT conditions are from holding; negative if they hold with room."""
    top, bottom = -np.inf, -np.inf
    for t in range(x.size):
        if x[t] < hi[t]:
            top = max(top, -g[t])
        if x[t] > lo[t]:
            bottom = max(bottom, g[t])
    return top + bottom


@njit(nogil=True, cache=True)
def _run(K, diag, x, g, lo, hi, tol, max_iter, flat, flags, waited):
    """Sweeps and Newton steps until the problem is solved or until shrinking it would pay.

    Returns the iterations used, the gap, and the variables to keep (none: solved,
    or no progress is left).  ``waited[0]`` counts the chunks without progress.
    """
    n = x.size
    chunk = max(n // 4, 100)
    used, spent = 0, 0.0
    while True:
        steps, top, bottom, progress = _sweep(
            K, diag, x, g, lo, hi, tol, min(chunk, max_iter - used), flat, flags
        )
        used += steps
        spent += steps * (_SWEEP_FIXED + _SWEEP_ROW * n)
        gap = top + bottom
        waited[0] = waited[0] + 1 if progress <= _PROGRESS * np.abs(x * g).sum() else 0
        if waited[0] > _PATIENCE and gap < _NEAR * rounding_level(x, diag):
            flags[STALLED] = True
        if not gap > tol or used >= max_iter or flags[STALLED]:
            return used, gap, np.empty(0, np.int64)
        if n > _SMALL:
            active = _active(x, g, lo, hi, top, bottom)
            if 2 * active.size <= n and _COPY_ENTRY * active.size**2 <= spent:
                return used, gap, active
        free = _free(x, lo, hi)
        cost = _NEWTON_FIXED + free.size * n + _NEWTON_CUBE * float(free.size) ** 3
        if free.size > 1 and cost <= 2.0 * spent:
            _newton(K, x, g, lo, hi, free)
            spent = 0.0


@njit(nogil=True, cache=True)
def _run_shrinking(K, diag, x, g, lo, hi, tol, max_iter, flat, flags, waited):
    """Solve a problem of its own copies, shrinking it further and further; only `x` is returned."""
    kept = np.arange(x.size)
    part = x.copy()
    total = 0
    while True:
        used, _, active = _run(K, diag, part, g, lo, hi, tol, max_iter - total, flat, flags, waited)
        total += used
        for a in range(kept.size):
            x[kept[a]] = part[a]
        if active.size == 0:
            return total
        K, diag, part, g = _submatrix(K, active), diag[active], part[active], g[active]
        lo, hi, kept = lo[active], hi[active], kept[active]


@njit(nogil=True, cache=True)
def descend(K, diag, x, g, lo, hi, tol, max_iter, flat, flags):
    """Go down from a feasible `x` with gradient `g`, in place, until the KKT gap is at most `tol`.

    Returns the iterations used and the gap.  ``flags[STALLED]`` is set where rounding
    leaves no further progress, ``flags[INDEFINITE]`` where negative curvature was met.
    """
    total = 0
    waited = np.zeros(1, np.int64)
    while True:
        used, gap, active = _run(K, diag, x, g, lo, hi, tol, max_iter - total, flat, flags, waited)
        total += used
        if active.size == 0:
            return total, gap
        part = x[active]
        total += _run_shrinking(
            _submatrix(K, active), diag[active], part, g[active], lo[active], hi[active],
            tol, max_iter - total, flat, flags, waited,
        )  # fmt: skip
        # What stalled the part may be able to move in the whole; if not, that stalls itself.
        flags[STALLED] = False
        moved = 0
        for a in range(active.size):
            i = active[a]
            change = part[a] - x[i]
            if change != 0.0:
                x[i] = part[a]
                active[moved], part[moved] = i, change
                moved += 1
        add_rows(g, K, active[:moved], part[:moved])


@njit(nogil=True, cache=True)
def restore_sum(K, x, g, lo, hi, total):
    """Make a boxed `x` sum to `total`, moving first the variables whose gradient asks for it."""
    missing = total - x.sum()
    for _ in range(x.size):
        if missing == 0.0:
            break
        best, index = np.inf, -1
        for t in range(x.size):
            if missing > 0.0 and x[t] < hi[t] and g[t] < best:
                best, index = g[t], t
            elif missing < 0.0 and x[t] > lo[t] and -g[t] < best:
                best, index = -g[t], t
        if index < 0:
            break
        target = min(max(x[index] + missing, lo[index]), hi[index])
        step = target - x[index]
        x[index] = target
        _add_one(g, step, K[index])
        missing = 0.0 if lo[index] < target < hi[index] else total - x.sum()
    return missing
