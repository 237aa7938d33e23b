"""The last step of the solver: from a solution within tolerance to the vertex itself.

When the descent has reached its tolerance, the set of free variables is usually the right one.
The bordered system of that set, ``K_FF x_F + b 1 = -c_F - K_FB x_B`` with the sum constraint,
then gives the solution to rounding: the same from any start, in any order, on any processor.
If the solution puts a variable outside its box or leaves one on the wrong side of its margin,
a few variables are exchanged and the system is solved again.
"""

from __future__ import annotations

from ._compile import njit
from ._descent import Descent, kkt_gap, rounding_level
from ._factor import Factor, Limits, factorise, newton_move, no_factor
from ._linalg import add_rows
from ._sweep import INDEFINITE
from ._typing import Rows

__all__ = ["finish"]

#: KKT gap at which a solution is finished, or this multiple of the rounding level if larger.
_TIGHT, _ABOVE_ROUNDING = 1e-10, 30.0

#: If the rounding level is so high that a larger gap would do, the system is solved once even so:
#: what the descent has accumulated is more than the rounding of the system's solution.
_LOOSE = 1e-9

#: Rounds of exchanging variables before the solution within tolerance is left as it is.
_ROUNDS = 40

#: Minimum number of two-variable steps in such a round.
_STEPS = 10


def finish(problem: Descent, limits: Limits, known: Factor) -> tuple[float, Factor]:
    """Finish a solution in place; returns the gap and the factor of its free variables.

    `known` is the factor of the free variables of a similar problem; it is reused if they are the
    same.  The factor returned is empty if there is none.
    """
    K, x, g, lo, hi = problem.K, problem.x, problem.g, problem.lo, problem.hi
    target = max(_TIGHT, _ABOVE_ROUNDING * rounding_level(x, problem.diag))
    gap, free, factor = kkt_gap(x, g, lo, hi), problem.free(), known
    best, best_x, best_g = gap, x, g
    for turn in range(_ROUNDS):
        if factor.matrix.size == 0 or not _same(free, factor.inside):
            factor = factorise(K, free, limits)
        if gap <= target and (turn > 0 or gap <= _LOOSE):
            return gap, factor
        if free.size > 0 and factor.matrix.size == 0:
            break
        if turn == 0:
            best_x, best_g = x.copy(), g.copy()
        if free.size > 1:
            if not _solve(K, x, g, lo, hi, factor.matrix, factor.kept):
                # Not with the factor: if there are many solutions, the ridge of the Newton step
                # determines which one is found.
                problem.newton(factor.kept)
            gap = problem.snap()
        if gap > target:
            problem.sweep(target, max(_STEPS, 2 * _violators(problem, target)))
            gap = problem.snap()
        if problem.flags[INDEFINITE]:
            break
        if gap < best:
            best, best_x, best_g = gap, x.copy(), g.copy()
        free = problem.free()
    x[:], g[:] = best_x, best_g
    return best, no_factor(problem.free())


def _same(one: Rows, other: Rows) -> bool:
    """Whether two sorted sets of points are the same."""
    return one.size == other.size and bool((one == other).all())


def _violators(problem: Descent, slack: float) -> int:
    """The number of variables at a bound whose gradient pulls them away from it."""
    g, lo, hi = problem.g, problem.lo, problem.hi
    lower, upper = problem.x <= lo, problem.x >= hi
    free = ~(lower | upper)
    level = g[free].mean() if free.any() else 0.0
    pulled = (lower & (g < level - slack)) | (upper & (g > level + slack))
    return int((pulled & (lo < hi)).sum())


@njit
def _solve(K, x, g, lo, hi, matrix, free):
    """Move to the minimum over the free variables; False, and no move, if outside the box."""
    move = newton_move(matrix, free, g)
    for a in range(free.size):
        i = free[a]
        if not lo[i] < x[i] + move[a] < hi[i]:
            return False
    for a in range(free.size):
        x[free[a]] += move[a]
    add_rows(g, K, free, move)
    return True
