"""The last step of the solver: from a solution within tolerance to the vertex itself.

When the descent has reached its tolerance, the set of free variables is usually the right one.
The bordered system of that set, ``K_FF x_F + b 1 = -c_F - K_FB x_B`` with the sum constraint,
then gives the solution to rounding: the same from any start, in any order, on any processor.
If the solution puts a variable outside its box or leaves one on the wrong side of its margin,
a few variables are exchanged and the system is solved again.
"""

from __future__ import annotations

import numpy as np

from ._calls import MARKS, MATRIX, POINTS, ROW, addresses, call, reachable
from ._compile import njit
from ._descent import Descent, free_variables, kkt_gap, rounding_level, snap
from ._factor import Factor, Limits, factorise_into, limits_of, newton_solve, no_factor
from ._inverse import SIZE, change_points, inverse_walk, start_inverse
from ._newton import newton
from ._sweep import INDEFINITE, sweep

__all__ = ["finish", "finish_at", "same_points"]

#: KKT gap at which a solution is finished, or this multiple of the rounding level if larger.
_TIGHT, _ABOVE_ROUNDING = 1e-10, 30.0

#: If the rounding level is so high that a larger gap would do, the system is solved once even so:
#: what the descent has accumulated is more than the rounding of the system's solution.
_LOOSE = 1e-9

#: Rounds of exchanging variables before the solution within tolerance is left as it is.
_ROUNDS = 40

#: Minimum number of two-variable steps in such a round.
_STEPS = 10

_NO_INVERSE = np.empty((0, 0))


def finish(problem: Descent, limits: Limits, known: Factor) -> tuple[float, Factor]:
    """Finish a solution in place; returns the gap and the factor of its free variables.

    `known` is the factor of the free variables of a similar problem; it is reused if they are the
    same.  The factor returned is empty if there is none.
    """
    gap, matrix, inside, kept, repeated, shift, ridge = finish_at(
        problem.K, problem.diag, problem.x, problem.g, problem.lo, problem.hi, problem.flat,
        problem.flags, limits, *known, _NO_INVERSE, known.kept, np.zeros(2, dtype=np.int64),
        addresses(problem.K.dtype),
    )  # fmt: skip
    if matrix.size == 0:
        return gap, no_factor(inside)
    return gap, Factor(matrix, inside, kept, repeated, shift, ridge)


@njit
def finish_at(
    K, diag, x, g, lo, hi, flat, flags, limits, matrix, inside, kept, repeated, shift, ridge,
    inverse, points, held, at,
):  # fmt: skip
    """:func:`finish` with the parts of the problem and of the factor.

    In place of the factor, there may be an `inverse` of some `points` (:mod:`spansvm._inverse`), of
    which `held` says how many.

    A Newton step that could slide on is left where it is: the sweeps that follow go on from there.
    """
    target = max(_TIGHT, _ABOVE_ROUNDING * rounding_level(x, diag))
    gap, free = kkt_gap(x, g, lo, hi), free_variables(x, lo, hi)
    best, best_x, best_g = gap, x, g
    for turn in range(_ROUNDS):
        known = matrix.size > 0 if held[SIZE] == 0 else held[SIZE] == free.size
        if not (known and same_points(free, inside)):
            inside = free
            matrix = np.empty((0, 0))
            if held[SIZE] > 0:
                call(change_points, at, K, inverse, points, held, free, shift)
            if held[SIZE] == 0:
                kept, repeated = np.empty_like(free), np.zeros(free.size, np.bool_)
                if free.size > 0:
                    matrix, count, shift, ridge = call(
                        factorise_into, at, K, free, limits, kept, repeated
                    )
                    kept = kept[:count]
                if inverse.size > 0:
                    call(start_inverse, at, matrix, free, shift, ridge, points, inverse, held)
        if gap <= target and (turn > 0 or gap <= _LOOSE):
            return gap, matrix, inside, kept, repeated, shift, ridge
        if free.size > 0 and matrix.size == 0 and held[SIZE] == 0:
            break
        if turn == 0:
            best_x, best_g = x.copy(), g.copy()
        if free.size > 1:
            if held[SIZE] > 0:
                call(inverse_walk, at, K, x, g, lo, hi, inverse, points, held)
            elif not call(newton_solve, at, K, x, g, lo, hi, matrix, kept):
                # Not with the factor: if there are many solutions, the ridge of the Newton step
                # determines which one is found.
                call(newton, at, K, x, g, lo, hi, kept)
            gap = snap(K, x, g, lo, hi)
        if gap > target:
            steps = max(_STEPS, 2 * _violators(x, g, lo, hi, target))
            call(sweep, at, K, diag, x, g, lo, hi, target, steps, flat, flags)
            gap = snap(K, x, g, lo, hi)
        if flags[INDEFINITE]:
            break
        if gap < best:
            best, best_x, best_g = gap, x.copy(), g.copy()
        free = free_variables(x, lo, hi)
    for t in range(x.size):
        x[t], g[t] = best_x[t], best_g[t]
    free = free_variables(x, lo, hi)
    held[SIZE] = 0  # it may be the inverse of others
    return best, np.empty((0, 0)), free, free, np.zeros(free.size, np.bool_), 0.0, 0.0


@njit
def same_points(one, other):
    """Whether two sorted sets of points are the same."""
    if one.size != other.size:
        return False
    for a in range(one.size):  # noqa: SIM110
        if one[a] != other[a]:
            return False
    return True


@njit
def _violators(x, g, lo, hi, slack):
    """The number of variables at a bound whose gradient pulls them away from it."""
    level, count = 0.0, 0
    for t in range(x.size):
        if lo[t] < x[t] < hi[t]:
            level += g[t]
            count += 1
    if count > 0:
        level /= count
    pulled = 0
    for t in range(x.size):
        if lo[t] < hi[t]:
            pulled += x[t] <= lo[t] and g[t] < level - slack
            pulled += x[t] >= hi[t] and g[t] > level + slack
    return pulled


reachable(
    finish_at,
    lambda K: (
        K, ROW, ROW, ROW, ROW, ROW, 0.0, MARKS, limits_of(K.dtype), MATRIX, POINTS, POINTS, MARKS,
        0.0, 0.0, MATRIX, POINTS, POINTS, POINTS,
    ),
)  # fmt: skip
