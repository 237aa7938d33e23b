"""The last step of the solver: from a solution within tolerance to the vertex itself.

When the descent has reached its tolerance, the set of free variables is usually the right one.
The bordered system of that set, ``K_FF x_F + b 1 = -c_F - K_FB x_B`` with the sum constraint,
then gives the solution to rounding: the same from any start, in any order, on any processor.
If the solution puts a variable outside its box or leaves one on the wrong side of its margin,
a few variables are exchanged and the system is solved again.
"""

import cython
from cython.cimports.libc.math import INFINITY, isinf
from cython.cimports.spansvm.core.descent import Sweep, sweep
from cython.cimports.spansvm.core.factor import factorise, is_of, newton_solve, set_points
from cython.cimports.spansvm.core.inverse import change_points, start_inverse, walk
from cython.cimports.spansvm.core.newton import newton, slide
from cython.cimports.spansvm.core.problem import (
    cross,
    finished_gap,
    free_variables,
    kkt_gap,
    snap,
)
from cython.cimports.spansvm.core.scratch import doubles, indices, release


def finish(p, f, inverse, gap):
    """Finish a solution in place.

    Parameters
    ----------
    p : Problem
    f : Factor
        The factor of the free variables of a similar problem; it is reused if they are the same.
        It becomes that of this solution; there is none if it has none, or if the solution could
        not be finished.
    inverse : Inverse or NULL
        If it has points, it takes the place of the factor, whose points are then those of the
        solution.
    gap : pointer
        Becomes the KKT gap.

    The solution is finished at a gap of 1e-10, or 30 times the rounding level if that is larger; if
    the rounding level is so high that more than 1e-9 would do, the system is solved once even so
    (with a ridge, until that no longer helps): what the descent has accumulated is more than the
    rounding of the system's solution.
    """
    n, scratch = p.n, p.scratch
    mark = scratch.count
    free, best_x, best_g = indices(scratch, n), doubles(scratch, n), doubles(scratch, n)
    s: Sweep
    slope: cython.double = 0.0
    carried: cython.bint
    regular: cython.bint
    helped: cython.bint
    target = finished_gap(p)
    best_lo, best_hi = doubles(scratch, n), doubles(scratch, n)
    kinked: cython.bint = not isinf(p.tube)
    cross(p)
    gap[0] = kkt_gap(p)
    best = gap[0]
    count = free_variables(p, free)
    _copy(best_x, p.x, n)
    _copy(best_g, p.g, n)
    if kinked:
        _copy(best_lo, p.lo, n)
        _copy(best_hi, p.hi, n)
    last = INFINITY
    for turn in range(40):
        _know(p, f, inverse, free, count)
        carried = inverse != cython.NULL and inverse.size > 0
        regular = carried or f.ridge == 0.0
        helped = gap[0] <= 0.5 * last
        if gap[0] <= target:
            if gap[0] <= 1e-9 or (turn > 0 and (regular or (turn > 1 and not helped))):
                release(scratch, mark)
                return 0
        if count > 0 and not (f.exists or carried):
            break
        if count > 1:
            if carried:
                walk(inverse, p)
            elif not (regular or helped) or not newton_solve(p, f):
                # Not with the factor: if there are many solutions, the ridge of the Newton step
                # determines which one is found.  Nor if a step with the factor's own ridge has
                # hardly helped: along directions without curvature, the end may be far.
                newton(p, f.kept, f.n_kept, cython.address(slope))
                if slope < 0.0:
                    slide(p, slope)
            last = gap[0]
            snap(p, gap)
        if gap[0] > target:
            sweep(p, target, max(10, 2 * _violators(p, target)), cython.address(s))
            snap(p, gap)
        if cross(p) > 0:
            gap[0] = kkt_gap(p)
        if p.indefinite:
            break
        if gap[0] < best:
            best = gap[0]
            _copy(best_x, p.x, n)
            _copy(best_g, p.g, n)
            if kinked:
                _copy(best_lo, p.lo, n)
                _copy(best_hi, p.hi, n)
        count = free_variables(p, free)
    _copy(p.x, best_x, n)
    _copy(p.g, best_g, n)
    if kinked:
        _copy(p.lo, best_lo, n)
        _copy(p.hi, best_hi, n)
    set_points(f, free, free_variables(p, free))
    if inverse:
        inverse.size = 0  # it may be the inverse of others
    gap[0] = best
    release(scratch, mark)
    return 0


def _know(p, f, inverse, free, count):
    """Bring the inverse or the factor to these points."""
    carried: cython.bint = inverse != cython.NULL and inverse.size > 0
    known: cython.bint = inverse.size == count if carried else f.exists
    if known and is_of(f, free, count):
        return 0
    set_points(f, free, count)
    if carried:
        change_points(inverse, cython.address(p.K), free, count, p.scratch)
        carried = inverse.size > 0
    if not carried:
        factorise(f, cython.address(p.K), p.scratch)
        if inverse:
            start_inverse(inverse, f)
    return 0


def _violators(p, slack):
    """The number of variables at a bound whose gradient pulls them away from it."""
    level = 0.0
    count: cython.Py_ssize_t = 0
    for t in range(p.n):
        if p.lo[t] < p.x[t] and p.x[t] < p.hi[t]:
            level += p.g[t]
            count += 1
    if count > 0:
        level /= count
    pulled: cython.Py_ssize_t = 0
    for t in range(p.n):
        if p.lo[t] < p.hi[t]:
            if p.x[t] <= p.lo[t] and p.g[t] < level - slack:
                pulled += 1
            if p.x[t] >= p.hi[t] and p.g[t] > level + slack:
                pulled += 1
    return pulled


def _copy(target, source, n):
    for t in range(n):
        target[t] = source[t]
