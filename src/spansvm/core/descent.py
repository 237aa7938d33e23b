"""Descent on a quadratic program, of three kinds, each used where it is cheapest.

* *sweeps* of sequential minimal optimisation: two variables at a time, the pair chosen by
  second-order gain;
* *Newton steps* on the free variables (:mod:`spansvm.core.newton`), or with a carried inverse
  (:mod:`spansvm.core.inverse`);
* *shrinking*: variables that are firmly at a bound are set aside, and the rest is
  solved as a smaller problem with its own contiguous copy of the matrix.
"""

import cython
from cython.cimports.libc.math import fabs, isfinite, isinf, sqrt
from cython.cimports.spansvm.core.inverse import change_points, walk
from cython.cimports.spansvm.core.loops import (
    BARRED,
    add_rows,
    best_partner,
    copy_block,
    move_pair,
)
from cython.cimports.spansvm.core.newton import newton, slide
from cython.cimports.spansvm.core.problem import (
    cross,
    entry,
    find_extremes,
    free_variables,
    keeps_sum,
    renew_gradient,
    restore_sum,
    rounding_level,
    snap,
)
from cython.cimports.spansvm.core.scratch import doubles, indices, release, spend
from cython.cimports.spansvm.core.structs import Pair


def sweep(p, tol, max_iter, s):
    """Sequential minimal optimisation until the KKT gap ``top + bottom`` is at most `tol`."""
    mark = p.scratch.count
    x, g, lo, hi, diag = p.x, p.g, p.lo, p.hi, p.diag
    K = cython.address(p.K)
    pair: Pair
    pair.g, pair.diag, pair.n, pair.flat = g, diag, p.n, p.flat
    pair.up, pair.low = doubles(p.scratch, p.n), doubles(p.scratch, p.n)
    barred = BARRED
    for t in range(p.n):
        pair.up[t] = 0.0 if x[t] < hi[t] else barred
        pair.low[t] = 0.0 if x[t] > lo[t] else barred
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t = 0
    step = 0.0
    s.steps, s.progress = 0, 0.0
    while True:
        i = move_pair(cython.address(pair), K, i, j, step)
        gap = pair.top + pair.bottom
        if not (s.steps < max_iter and gap > tol):
            break
        # If the matrix is not finite, there may be no pair.
        j = best_partner(cython.address(pair), K, i) if i >= 0 and isfinite(gap) else -1
        if j < 0:
            p.stalled = True
            break
        curvature = diag[i] + diag[j] - 2.0 * entry(K, i, j)
        if curvature < -1e4 * p.flat:
            p.indefinite = True
        slope = pair.top + g[j]
        step = slope / max(curvature, p.flat)
        room_i, room_j = hi[i] - x[i], x[j] - lo[j]
        if step < room_i and step < room_j:
            if x[i] + step == x[i] and x[j] - step == x[j]:
                p.stalled = True
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
        pair.up[i] = 0.0 if x[i] < hi[i] else barred
        pair.low[i] = 0.0 if x[i] > lo[i] else barred
        pair.up[j] = 0.0 if x[j] < hi[j] else barred
        pair.low[j] = 0.0 if x[j] > lo[j] else barred
        s.steps += 1
        s.progress += step * (slope - 0.5 * step * curvature)
    s.top, s.bottom, s.size, s.free, s.active = pair.top, pair.bottom, 0.0, 0, 0
    for t in range(p.n):
        s.size += fabs(x[t] * g[t])
        if lo[t] < x[t] and x[t] < hi[t]:
            s.free += 1
        if not ((x[t] >= hi[t] and -g[t] > s.top) or (x[t] <= lo[t] and g[t] > s.bottom)):
            s.active += 1
    release(p.scratch, mark)
    return 0


def run(p, inverse, e):
    """Sweeps and Newton steps until the problem is solved or something else would pay.

    After every chunk of steps, a tenth of the variables, it is asked what pays now; a Newton step
    does if it costs at most three times what the sweeps since the last one did.  `inverse` is that
    of the free variables, carried along, or NULL.  Costs are rough, in nanoseconds.
    """
    n = p.n
    chunk = max(n // 10, 30)
    spent = 0.0
    carried: cython.bint
    s: Sweep
    e.used, e.slope = 0, 0.0
    while True:
        sweep(p, e.tol, min(chunk, e.max_iter - e.used), cython.address(s))
        e.used += s.steps
        e.top, e.bottom = s.top, s.bottom
        cost = s.steps * (100.0 + 0.9 * n)
        spent += cost
        spend(p.scratch, cost)
        if not isinf(p.tube):
            cross(p)
            find_extremes(p, cython.address(s.top), cython.address(s.bottom))
            e.top, e.bottom = s.top, s.bottom
        gap = s.top + s.bottom
        e.waited = e.waited + 1 if s.progress <= 1e-13 * s.size else 0
        # Rounding prevents further progress.
        if e.waited > 50 and gap < 1e3 * rounding_level(p):
            p.stalled = True
        if not gap > e.tol or e.used >= e.max_iter or p.stalled:
            return SOLVED
        if e.may_shrink and n > 64 and 2 * s.active <= n:
            if 2.0 * s.active * s.active <= spent:
                return SHRINK
        carried = inverse != cython.NULL and inverse.size > 0
        cost = 2000.0 + cython.cast(cython.double, s.free) * n
        if not carried:
            cost += 0.08 * cython.cast(cython.double, s.free) * s.free * s.free
        if s.free > 1 and cost <= 3.0 * spent:
            mark = p.scratch.count
            free = indices(p.scratch, n)
            count = free_variables(p, free)
            if carried:
                change_points(inverse, cython.address(p.K), free, count, p.scratch)
                carried = inverse.size > 0
            if carried:
                walk(inverse, p)
            else:
                newton(p, free, count, cython.address(e.slope))
            release(p.scratch, mark)
            if e.slope < 0.0:
                return SLIDE
            spent = 0.0
            spend(p.scratch, cost)


def settle(p, c, tol, max_iter, iterations, gap):
    """Descend until the KKT gap is at most `tol`, on smaller problems whenever that pays.

    The gradient is recomputed where rounding may have moved it; `c` is its constant part.  A
    solution is checked with a fresh gradient up to five times before its rounding errors are
    accepted.
    """
    total = 0.0
    for t in range(p.n):
        total += p.x[t]
    starts: cython.Py_ssize_t = 0
    long_run: cython.Py_ssize_t = 500_000
    fresh: cython.bint
    e: Effort
    e.tol, e.waited = tol, 0
    iterations[0] = 0
    while True:
        p.stalled = False
        e.max_iter, e.may_shrink = min(max_iter - iterations[0], long_run), True
        budget = e.max_iter
        descend(p, cython.address(e))
        used, reached = e.used, e.top + e.bottom
        iterations[0] += used
        # Each step rounds the sum and the gradient a little.
        level = rounding_level(p)
        fresh = sqrt(cython.cast(cython.double, used)) * level <= 0.01 * tol
        if reached <= tol and fresh and keeps_sum(p, total):
            break
        restore_sum(p, total)
        renew_gradient(p, c)
        if used < budget:
            starts += 1
        if used == long_run and level > tol:  # more steps would not reach it either
            break
        if used == 0 or iterations[0] >= max_iter or starts >= 5:
            break
    snap(p, gap)
    gap[0] = max(gap[0], 0.0)
    return 0


def descend(p, e):
    """Descend until the gap is at most the tolerance, on a smaller problem whenever that pays."""
    total: cython.Py_ssize_t = 0
    limit = e.max_iter
    while True:
        e.max_iter = limit - total
        smaller = _run_and_slide(p, e)
        total += e.used
        if not smaller:
            e.used = total
            return 0
        e.max_iter = limit - total
        _shrink(p, e, True)
        total += e.used
        # A stalled part may be able to move in the whole; if not, the whole stalls too.
        p.stalled = False


def _run_and_slide(p, e):
    """:func:`run`, sliding on where that is possible; whether a smaller problem would pay."""
    total: cython.Py_ssize_t = 0
    limit = e.max_iter
    while True:
        e.max_iter = limit - total
        ending = run(p, cython.NULL, e)
        total += e.used
        e.used = total
        if ending == SLIDE:
            slide(p, e.slope)
        else:
            return ending == SHRINK


def _shrink(p, e, with_gradient):
    """Solve the problem of the variables that are free, or not held at their bounds."""
    mark = p.scratch.count
    active = indices(p.scratch, p.n)
    count: cython.Py_ssize_t = 0
    above: cython.bint
    below: cython.bint
    for t in range(p.n):
        above = p.x[t] >= p.hi[t] and -p.g[t] > e.top
        below = p.x[t] <= p.lo[t] and p.g[t] > e.bottom
        if not (above or below):
            active[count] = t
            count += 1
    part: Problem = p[0]
    numbers = doubles(p.scratch, 5 * count)
    diag, lo, hi = numbers, numbers + count, numbers + 2 * count
    part.diag, part.lo, part.hi = diag, lo, hi
    part.x, part.g, part.n = numbers + 3 * count, numbers + 4 * count, count
    part.K.wide, part.K.narrow = doubles(p.scratch, count * count), cython.NULL
    for a in range(count):
        t = active[a]
        diag[a], lo[a], hi[a] = p.diag[t], p.lo[t], p.hi[t]
        part.x[a], part.g[a] = p.x[t], p.g[t]
    copy_block(cython.address(p.K), active, count, cython.address(part.K))
    _descend_shrinking(cython.address(part), e)
    p.indefinite = part.indefinite
    p.stalled = part.stalled
    change, moved = diag, cython.cast(cython.Py_ssize_t, 0)
    for a in range(count):
        t = active[a]
        if lo[a] != p.lo[t]:  # it has crossed
            p.g[t] += p.tube if lo[a] > p.lo[t] else -p.tube
            p.lo[t], p.hi[t] = lo[a], hi[a]
        if part.x[a] != p.x[t]:
            active[moved], change[moved] = t, part.x[a] - p.x[t]
            moved += 1
        p.x[t] = part.x[a]
    if with_gradient:
        add_rows(p.g, cython.address(p.K), active, change, moved)
    release(p.scratch, mark)
    return 0


def _descend_shrinking(p, e):
    """Descend on smaller and smaller problems, without a return to the larger; `g` is lost."""
    limit = e.max_iter
    if _run_and_slide(p, e):
        used = e.used
        e.max_iter = limit - used
        _shrink(p, e, False)
        e.used += used
    return 0
