"""The last step of the solver: from a solution within tolerance to the vertex itself.

When the descent has reached its tolerance, the set of free variables is usually the right one.
The bordered system of that set, ``K_FF x_F + b 1 = -c_F - K_FB x_B`` with the sum constraint,
then gives the solution to rounding: the same from any start, in any order, on any processor.
If the solution puts a variable outside its box or leaves one on the wrong side of its margin,
a few variables are exchanged and the system is solved again.
"""

from __future__ import annotations

from ._compile import njit
from ._descent import free_variables, kkt_gap, rounding_level, snap
from ._factor import factorise, newton_move, no_factor, same_points
from ._linalg import add_rows
from ._newton import newton
from ._sweep import INDEFINITE, sweep

__all__ = ["finish"]

#: KKT gap at which a solution is finished, or this multiple of the rounding level if larger.
_TIGHT, _ABOVE_ROUNDING = 1e-10, 30.0

#: Rounds of exchanging variables before the solution within tolerance is left as it is.
_ROUNDS = 40

#: Minimum number of two-variable steps in such a round.
_STEPS = 10


@njit(nogil=True, cache=True)
def finish(K, diag, x, g, lo, hi, flat, flags, limits, known):
    """Finish a solution in place; returns the gap and the factor of its free variables.

    `known` is the factor of the free variables of a similar problem; it is reused if they are the
    same.  The factor returned is empty if there is none.
    """
    target = max(_TIGHT, _ABOVE_ROUNDING * rounding_level(x, diag))
    gap = kkt_gap(x, g, lo, hi)
    best, best_x, best_g = gap, x, g
    free = free_variables(x, lo, hi)
    factor = known
    for turn in range(_ROUNDS):
        if not same_points(free, factor.inside) or factor.matrix.size == 0:
            factor = factorise(K, free, limits) if free.size > 0 else no_factor(free)
        if gap <= target:
            return gap, factor
        if free.size > 0 and factor.matrix.size == 0:
            break
        if turn == 0:
            best_x, best_g = x.copy(), g.copy()
        if free.size > 1:
            if not _solve(K, x, g, lo, hi, factor):
                # Not with the factor: if there are many solutions, the ridge of the Newton step
                # determines which one is found.
                newton(K, x, g, lo, hi, factor.kept)
            snap(K, x, g, lo, hi)
            gap = kkt_gap(x, g, lo, hi)
        if gap > target:
            steps = max(_STEPS, 2 * _violators(x, g, lo, hi, target))
            sweep(K, diag, x, g, lo, hi, target, steps, flat, flags)
            snap(K, x, g, lo, hi)
            gap = kkt_gap(x, g, lo, hi)
        if flags[INDEFINITE]:
            break
        if gap < best:
            best, best_x, best_g = gap, x.copy(), g.copy()
        free = free_variables(x, lo, hi)
    x[:], g[:] = best_x, best_g
    return best, no_factor(free_variables(x, lo, hi))


@njit(nogil=True, cache=True)
def _violators(x, g, lo, hi, slack):
    """The number of variables at a bound whose gradient pulls them away from it."""
    total, size = 0.0, 0
    for t in range(x.size):
        if lo[t] < x[t] < hi[t]:
            total += g[t]
            size += 1
    level = total / max(size, 1)
    count = 0
    for t in range(x.size):
        if lo[t] < hi[t]:
            count += (x[t] <= lo[t] and g[t] < level - slack) or (
                x[t] >= hi[t] and g[t] > level + slack
            )
    return count


@njit(nogil=True, cache=True)
def _solve(K, x, g, lo, hi, factor):
    """Move to the minimum over the free variables; False, and no move, if outside the box."""
    free, move = factor.kept, newton_move(factor, g)
    for a in range(free.size):
        i = free[a]
        if not lo[i] < x[i] + move[a] < hi[i]:
            return False
    for a in range(free.size):
        x[free[a]] += move[a]
    add_rows(g, K, free, move)
    return True
