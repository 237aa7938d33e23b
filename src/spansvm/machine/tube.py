"""The dual of a weighted regression with an insensitive tube, and its training.

    minimise  1/2 b'Kb - target'b + epsilon sum |b_i|   subject to   sum(b) = 0,  |b_i| <= C_i

A row whose target is above the function has ``b_i`` between 0 and ``C_i``; on that side of the tube
the linear term is ``-(target_i - epsilon)``.  One below has ``b_i`` between ``-C_i`` and 0, and
``-(target_i + epsilon)``.  While sides stay as they are, this is the quadratic program of a
classifier (:mod:`spansvm.machine.dual`) whose labels are the sides and whose margins are the edges
of the tube: spans, removals and paths are the same, and a trained regression is a
:class:`~spansvm.machine.dual.DualSolution` with a `target`.  With all in-bound vectors staying so,
``target_p - f^p(x_p) = target_p - f(x_p) + b_p S_p^2``: without row p its residual grows by
``|b_p| S_p^2``; rows inside the tube keep theirs.

In chains of candidates rows change sides while they train (:mod:`spansvm.core.tube`).  Here, for
any Gram matrix and any start, they do between one quadratic program and the next.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..algebra.qp import Terms, check_limits, default_max_iter
from ..common.types import Array
from ..common.validation import check_weights
from ..kernels.gram import Gram, as_gram
from .dual import DualSolution, box, find_intercept, from_qp

__all__ = ["Units", "solve_tube"]

#: Rounds in which rows change sides; ten are many.
_ROUNDS = 100


class Units:
    """Targets in units in which they are of order 1, as tolerances of the core assume.

    Multipliers, their bounds, the tube and the tolerance are in the same units: the problem is the
    same.  The unit is a power of two, so that no digit is lost.

    Parameters
    ----------
    target : ndarray of shape (l,)
    counted : ndarray of bool of shape (l,)
        Rows that take part in training.

    Attributes
    ----------
    size, centre : float
        One unit, and what is 0.
    """

    def __init__(self, target: Array, counted: np.ndarray) -> None:
        own = target[counted]
        self.centre = float(own.mean())
        spread = float(own.std())
        if spread <= 1e-12 * float(np.abs(own).max()):
            spread = 0.0  # rounding of equal targets
        self.size = 2.0 ** float(np.round(np.log2(spread))) if spread > 0.0 else 1.0

    def of(self, target: Array) -> Array:
        """Targets in these units."""
        return (target - self.centre) / self.size

    def back(self, values: Array) -> Array:
        """Values in the units of the targets."""
        return values * self.size + self.centre

    def tolerance(self, tol: float) -> float:
        """A tolerance in these units; training ends at the vertex whatever it is."""
        return float(min(max(tol / self.size, 1e-6), 1e-3))


def solve_tube(
    K: Gram | npt.ArrayLike,
    target: Array,
    C: npt.ArrayLike,
    epsilon: float,
    *,
    beta0: Array | None = None,
    tol: float = 1e-3,
    max_iter: int | None = None,
) -> DualSolution:
    """Train a weighted regression on a Gram matrix.

    Parameters
    ----------
    K : Gram or array-like of shape (l, l)
    target : ndarray of shape (l,)
        Of order 1 (:class:`Units`).
    C : float or array-like of shape (l,)
        Weight of each instance, at least 0; 0 leaves the instance out.
    epsilon : float
        Half the width of the tube, at least 0.
    beta0 : ndarray of shape (l,), optional
        Signed multipliers to start from.
    tol : float, default=1e-3
        Largest violation of the KKT conditions.
    max_iter : int, optional
        Limit on the solver's iterations.

    Returns
    -------
    DualSolution
        With the sides of the tube as labels.
    """
    check_limits(tol, max_iter)
    gram, target = as_gram(K), np.ascontiguousarray(target, dtype=np.float64)
    C = check_weights(C, target.size, name="C")
    twins = gram.twins(target)
    bounds = C if twins is None else twins.merge(C)
    limit = default_max_iter(target.size) if max_iter is None else max_iter
    x = np.zeros(target.size)
    if beta0 is not None:
        x = np.clip(beta0 if twins is None else twins.merge(beta0), -bounds, bounds)
    start = float(target[C > 0.0].mean()) if (C > 0.0).any() else 0.0
    # Equal rows follow the first of them, which has their multiplier.
    first = np.arange(target.size) if twins is None else twins.first
    sides = _sides(
        x, target - (gram.gradient(x, np.full(target.size, start)) if x.any() else start)
    )[first]
    used, best = 0, None
    for _ in range(_ROUNDS):
        edge = target - epsilon * sides
        terms = Terms(-edge, *_box(sides, bounds, epsilon), total=0.0)
        x, g = gram.make_feasible(x, gram.gradient(x, terms.c), terms)
        result = gram.solve(x, g, terms, tol=tol, max_iter=limit - used)
        used += result.iterations
        solution = from_qp(gram, result, target, C, terms)
        x = result.x
        middle = find_intercept(x, result.gradient, terms.lo, terms.hi, 2.0 * epsilon)
        now = _sides(x, target - (result.gradient + edge + middle))[first]
        best = _as_regression(solution, now if epsilon == 0.0 else sides, epsilon, middle)
        wants = (now != sides) & (terms.lo < terms.hi) & (x == 0.0)
        if epsilon == 0.0 or not wants.any() or used >= limit:
            break
        sides = np.where(wants, now, sides)[first]
    assert best is not None
    gap = best.violation(best.decision - best.intercept)
    return replace(best, gap=gap, converged=best.converged and gap <= tol, iterations=used)


def _box(sides: Array, bounds: Array, epsilon: float) -> tuple[Array, Array]:
    """Bounds of the signed multipliers; without a tube they may have either sign."""
    return (-bounds, bounds.copy()) if epsilon == 0.0 else box(sides, bounds)


def _sides(x: Array, residual: Array) -> Array:
    """The side of the tube of every row: the sign of its multiplier, or where the target is."""
    return np.where(x != 0.0, np.sign(x), np.where(residual >= 0.0, 1.0, -1.0))


def _as_regression(
    solution: DualSolution, sides: Array, epsilon: float, middle: float
) -> DualSolution:
    """The solution of a program with these sides as a regression; `middle` is its intercept."""
    target = solution.y
    shift = middle - solution.intercept
    return replace(
        solution, y=sides, target=target, epsilon=epsilon, intercept=middle,
        decision=solution.decision + shift,
    )  # fmt: skip
