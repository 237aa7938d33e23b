"""The compiled engine of :mod:`spansvm.qp`.

Descent on ``1/2 x'Kx + c'x`` with ``sum(x) = s`` and ``lo <= x <= hi``.

Three kinds of descent, each used where it is cheapest:

* *sweeps* of sequential minimal optimisation (``_sweep``);
* *Newton steps* on the free variables (``_newton``);
* *shrinking*: variables that are firmly at a bound are set aside, and the rest is
  solved as a smaller problem with its own contiguous copy of the matrix.

All functions modify ``x`` and the gradient ``g = Kx + c`` together, so that ``g`` is
always the gradient at ``x``.  ``K`` may be float32; everything else is float64.
"""

from __future__ import annotations

import numpy as np

from ._compile import njit
from ._linalg import add_row, add_rows
from ._newton import newton
from ._sweep import STALLED, sweep

__all__ = [
    "OFF_BOUND",
    "free_variables",
    "kkt_gap",
    "move_bounds",
    "restore_sum",
    "rounding_level",
    "settle",
    "snap",
]

_EPSILON = float(np.finfo(np.float64).eps)

#: Rough costs in nanoseconds that decide when a restructuring step pays.
_SWEEP_FIXED, _SWEEP_ROW = 100.0, 0.9
_COPY_ENTRY = 2.0
_NEWTON_FIXED, _NEWTON_CUBE = 2000.0, 0.08

#: How often a solution is checked with a fresh gradient before its rounding errors are accepted.
_FRESH_STARTS = 5

#: Maximum number of steps before the gradient is recomputed.
_LONG = 500_000

#: Variables closer to a bound than these fractions of the largest variable and of their own box are
#: put on it.
_HAIR, _HAIR_OF_BOX = 64 * _EPSILON, 1e-3

#: Variables closer to a bound than this fraction of the box, or of the largest variable, may be
#: off it by rounding alone.
OFF_BOUND = 1e-7

#: Up to this many variables at their bounds are moved one by one.
_FEW = 16

#: Carried sums are recomputed before repeated factors take their scale out of range.
_SMALLEST_SCALE = 1e-9

#: Do not shrink problems that are already this small.
_SMALL = 64

#: Descent ends if the gap is within this factor of the rounding level and this many consecutive
#: chunks of steps lower the objective by no more than this fraction.
_NEAR, _PATIENCE, _PROGRESS = 1e3, 50, 1e-13


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
def free_variables(x, lo, hi):
    """The variables strictly inside their boxes."""
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
    """The violation of the KKT conditions; negative if they hold with room to spare."""
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

    Returns the iterations used, the gap, and the variables to keep (none if solved, or if
    no further progress is possible).  ``waited[0]`` counts the chunks without progress.
    """
    n = x.size
    chunk = max(n // 4, 100)
    used, spent = 0, 0.0
    while True:
        steps, top, bottom, progress = sweep(
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
        free = free_variables(x, lo, hi)
        cost = _NEWTON_FIXED + free.size * n + _NEWTON_CUBE * float(free.size) ** 3
        if free.size > 1 and cost <= 2.0 * spent:
            newton(K, x, g, lo, hi, free)
            spent = 0.0


@njit(nogil=True, cache=True)
def _run_shrinking(K, diag, x, g, lo, hi, tol, max_iter, flat, flags, waited):
    """Solve a problem on its own copies, shrinking it further and further; only `x` is returned."""
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
    """Descend from a feasible `x` with gradient `g`, in place, until the KKT gap is at most `tol`.

    Returns the iterations used and the gap.  ``flags[STALLED]`` is set if rounding
    prevents further progress, ``flags[INDEFINITE]`` if negative curvature was met.
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
        # A stalled part may be able to move in the whole; if not, the whole stalls too.
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
    """Make a boxed `x` sum to `total`, first moving the variables whose gradient favours it."""
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
        add_row(g, step, K[index])
        missing = 0.0 if lo[index] < target < hi[index] else total - x.sum()
    return missing


@njit(nogil=True, cache=True)
def _fresh_gradient(K, x, g, c):
    """``g = Kx + c``; c is added last, as it may be small compared with terms that cancel in Kx."""
    g[:] = 0.0
    rows = np.flatnonzero(x)
    add_rows(g, K, rows, x[rows])
    for t in range(g.size):
        g[t] += c[t]


@njit(nogil=True, cache=True)
def snap(K, x, g, lo, hi):
    """Put variables that rounding left just inside their bounds on them: they are not free."""
    hair = _HAIR * np.abs(x).max()
    rows, change = np.empty(x.size, np.int64), np.empty(x.size)
    moved = 0
    for t in range(x.size):
        end = x[t]
        # A box may be smaller than the rounding of a variable whose box is large.
        near = min(hair, _HAIR_OF_BOX * (hi[t] - lo[t]))
        if x[t] - lo[t] < near:
            end = lo[t]
        elif hi[t] - x[t] < near:
            end = hi[t]
        if end != x[t]:
            rows[moved], change[moved] = t, end - x[t]
            x[t] = end
            moved += 1
    add_rows(g, K, rows[:moved], change[:moved])


@njit(nogil=True, cache=True)
def settle(K, diag, x, g, c, lo, hi, tol, max_iter, flat, flags):
    """:func:`descend`, with the gradient recomputed where rounding may have moved it.

    Returns the iterations used and the gap.
    """
    total = x.sum()
    iterations, starts = 0, 0
    while True:
        flags[STALLED] = False
        budget = min(max_iter - iterations, _LONG)
        used, gap = descend(K, diag, x, g, lo, hi, tol, budget, flat, flags)
        iterations += used
        # Each step rounds the sum and the gradient a little.
        drift = np.sqrt(used) * rounding_level(x, diag)
        if gap <= tol and drift <= 0.01 * tol:
            break
        restore_sum(K, x, g, lo, hi, total)
        _fresh_gradient(K, x, g, c)
        starts += used < budget
        if used == _LONG and rounding_level(x, diag) > tol:  # more steps would not reach it either
            break
        if used == 0 or iterations >= max_iter or starts >= _FRESH_STARTS:
            break
    snap(K, x, g, lo, hi)
    return iterations, max(kkt_gap(x, g, lo, hi), 0.0)


@njit(nogil=True, cache=True)
def move_bounds(K, x, g, c, old_lo, old_hi, lo, hi, sums, shares, scale):
    """Move a solution in one box to a point of another with the same sum, in place.

    Variables at a bound move with it; the others are clipped.  If all those at upper (or lower)
    bounds move by one factor, as in a class whose weight changes, their contribution to the
    gradient does too: ``sums`` holds it for both sides, ``scale * shares`` being the variables, and
    at each step only the variables that reached or left a bound are added or subtracted.
    """
    n = x.size
    total = x.sum()
    rows, change = np.empty(n, np.int64), np.empty(n)
    for side in range(2):
        old, new = (old_hi, hi) if side == 0 else (old_lo, lo)
        count, least, most = 0, np.inf, -np.inf
        for t in range(n):
            if x[t] != 0.0 and x[t] == old[t]:
                ratio = new[t] / old[t]
                least, most = min(least, ratio), max(most, ratio)
                rows[count] = t
                count += 1
        if count == 0 or least == most == 1.0:
            continue
        if most - least > _EPSILON * 8.0 * most or count < _FEW or not least > 0.0:
            for k in range(count):
                t = rows[k]
                change[k] = new[t] - x[t]
                x[t] = new[t]
            add_rows(g, K, rows[:count], change[:count])
            continue
        _gather(K, x, rows[:count], sums[side], shares[side], scale, side)
        add_row(g, (most - 1.0) * scale[side], sums[side])
        scale[side] *= most
        for k in range(count):
            x[rows[k]] = new[rows[k]]
    cut = 0
    for t in range(n):
        end = min(max(x[t], lo[t]), hi[t])
        if end != x[t]:
            rows[cut], change[cut] = t, end - x[t]
            x[t] = end
            cut += 1
    add_rows(g, K, rows[:cut], change[:cut])
    restore_sum(K, x, g, lo, hi, total)


@njit(nogil=True, cache=True)
def _gather(K, x, rows, sums, shares, scale, side):
    """Bring ``sums = shares @ K`` up to date with the variables in `rows`."""
    anew = not _SMALLEST_SCALE < scale[side] < 1.0 / _SMALLEST_SCALE  # 0 at the first step
    if anew:
        scale[side] = 1.0
    wanted = np.zeros(x.size)
    for k in range(rows.size):
        wanted[rows[k]] = x[rows[k]] / scale[side]
    different, change = np.empty(x.size, np.int64), np.empty(x.size)
    count = 0
    for t in range(x.size):
        if abs(wanted[t] - shares[t]) > 1e-12 * abs(wanted[t]):
            different[count], change[count] = t, wanted[t] - shares[t]
            count += 1
    if anew or count >= rows.size:
        sums[:] = 0.0
        for k in range(rows.size):
            different[k], change[k] = rows[k], wanted[rows[k]]
        count = rows.size
    add_rows(sums, K, different[:count], change[:count])
    shares[:] = wanted
