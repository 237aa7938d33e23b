"""From the solution in one box to a point of another, which is where the next solution starts."""

import cython
from cython.cimports.libc.math import INFINITY, fabs
from cython.cimports.spansvm.core.loops import add_rows, add_vector
from cython.cimports.spansvm.core.problem import EPSILON, restore_sum
from cython.cimports.spansvm.core.scratch import doubles, indices, release


def move_bounds(p, old_lo, old_hi, carried):
    """Move a solution in an old box to a point of the problem's own with the same sum, in place.

    Variables at a bound move with it; the others are clipped.  If all those at upper (or lower)
    bounds move by one factor, as in a class whose weight changes, their contribution to the
    gradient does too: it is carried along, and at each step only the variables that reached or left
    a bound are added or subtracted.  Up to 16 variables are moved one by one.
    """
    n, x, lo, hi = p.n, p.x, p.lo, p.hi
    mark = p.scratch.count
    rows, moved, change = indices(p.scratch, n), indices(p.scratch, n), doubles(p.scratch, n)
    count: cython.Py_ssize_t
    n_moved: cython.Py_ssize_t = 0
    side: cython.int
    together: cython.bint
    total = 0.0
    for t in range(n):
        total += x[t]
    for side in range(2):
        old = old_hi if side == 0 else old_lo
        new = hi if side == 0 else lo
        count, least, most = 0, INFINITY, -INFINITY
        for t in range(n):
            if x[t] != 0.0 and x[t] == old[t]:
                ratio = new[t] / old[t]
                least, most = min(least, ratio), max(most, ratio)
                rows[count] = t
                count += 1
        if count == 0 or (least == 1.0 and most == 1.0):
            continue
        together = most - least <= EPSILON * 8.0 * most and count >= 16 and least > 0.0
        if together:
            _gather_side(p, carried, side, rows, count)
            scale = carried.scale[side]
            add_vector(p.g, (most - 1.0) * scale, carried.sums + side * n, n)
            carried.scale[side] = scale * most
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
    add_rows(p.g, cython.address(p.K), moved, change, n_moved)
    release(p.scratch, mark)
    restore_sum(p, total)
    return 0


def _gather_side(p, carried, side, rows, count):
    """Bring ``sums = shares @ K`` of a side up to date with the variables in `rows`."""
    n = p.n
    sums, shares = carried.sums + side * n, carried.shares + side * n
    scale = carried.scale[side]
    # Before repeated factors take it out of range; it is 0 at the first step.
    anew: cython.bint = not (scale > 1e-9 and scale < 1e9)
    if anew:
        scale = carried.scale[side] = 1.0
    mark = p.scratch.count
    wanted, change, different = doubles(p.scratch, n), doubles(p.scratch, n), indices(p.scratch, n)
    number: cython.Py_ssize_t = 0
    for t in range(n):
        wanted[t] = 0.0
    for k in range(count):
        wanted[rows[k]] = p.x[rows[k]] / scale
    for t in range(n):
        if fabs(wanted[t] - shares[t]) > 1e-12 * fabs(wanted[t]):
            different[number], change[number] = t, wanted[t] - shares[t]
            number += 1
    if anew or number >= count:
        number = count
        for k in range(count):
            different[k], change[k] = rows[k], wanted[rows[k]]
        for t in range(n):
            sums[t] = 0.0
    add_rows(sums, cython.address(p.K), different, change, number)
    for t in range(n):
        shares[t] = wanted[t]
    release(p.scratch, mark)
    return 0
