"""The dual of a weighted SVM, and its training.

Training is eq. fsvm_dual_obj with the signs of the labels moved into the variables,
``beta_i = y_i alpha_i``:

    minimise  1/2 beta'K beta - y'beta   subject to   sum(beta) = 0,
              beta_i between 0 and y_i C_i

so that the gradient ``K beta - y`` is the decision value without intercept, minus the
label.  ``C_i = 0`` removes an instance.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from ..algebra.qp import (
    EQUAL_SUMS,
    QPResult,
    Terms,
    check_limits,
    default_max_iter,
    keeps_sum,
)
from ..algebra.systems import Factor
from ..common.pairs import lost
from ..common.types import Array, Mask
from ..common.validation import (
    check_both_classes,
    check_labels,
    check_weights,
)
from ..core.solver import finished_gap, kkt_gap, middle_of_interval
from ..kernels.gram import BoundedSums, Gram, as_gram

__all__ = [
    "OFF_BOUND",
    "DualSolution",
    "advice_on_stops",
    "box",
    "find_intercept",
    "from_qp",
    "instance_bounds",
    "solve_dual",
    "terms_of",
    "train_dual",
    "warn_indefinite",
]

#: Variables closer to a bound than this fraction of the box, or of the largest variable, may be
#: off it by rounding alone.
OFF_BOUND = 1e-7

#: A tolerance that still makes sense, in units of the margin.
_TOLERABLE = 0.1


@dataclass(frozen=True, eq=False)
class DualSolution:
    """Solution of the dual of a weighted SVM on ``l`` training instances.

    Attributes
    ----------
    alpha : ndarray of shape (l,)
        Lagrange multipliers; exactly 0 or exactly ``C`` at the bounds.
    C : ndarray of shape (l,)
        Upper bound of each multiplier: the weight of the instance.
    y : ndarray of shape (l,)
        Labels, -1.0 or +1.0.
    intercept : float
        ``b``; the middle of its interval where no support vector is in-bound.
    decision : ndarray of shape (l,)
        ``f(x_i)`` for every training instance.
    gap : float
        Violation of the KKT conditions, in units of the decision value.
    converged : bool
        Whether the solver reached its tolerance, with multipliers that sum to 0 over the labels.
    iterations : int
        Number of two-variable steps of the solver.
    indefinite : bool
        Whether the solver met negative curvature: the kernel is not positive semidefinite.
    sums : tuple of ndarray, optional
        Sums that the next step on a path can reuse; see :mod:`spansvm.multiclass.path`.
    factor : Factor, optional
        The factor of the in-bound vectors, if the solution was finished with it.
    drift : float
        Rounding that the gradient may carry from larger multipliers earlier on a path.
    target : ndarray of shape (l,), optional
        Of a regression (:mod:`spansvm.machine.tube`), the targets; `y` then tells which side of the
        tube each instance is on.
    epsilon : float
        Of a regression, half the width of the tube.
    """

    alpha: Array
    C: Array
    y: Array
    intercept: float
    decision: Array
    gap: float
    converged: bool
    iterations: int
    indefinite: bool = False
    sums: BoundedSums | None = field(default=None, repr=False)
    factor: Factor | None = field(default=None, repr=False)
    drift: float = field(default=0.0, repr=False)
    target: Array | None = field(default=None, repr=False)
    epsilon: float = 0.0

    @cached_property
    def edge(self) -> Array:
        """The decision value of every instance on its margin: the label, or the edge of a tube."""
        return self.y if self.target is None else self.target - self.epsilon * self.y

    @property
    def tube(self) -> float:
        """The width of the tube; infinite if there is none."""
        return np.inf if self.target is None else 2.0 * self.epsilon

    @property
    def alike(self) -> Array:
        """What instances at equal points must share to be one instance: the label or the target."""
        return self.y if self.target is None else self.target

    @cached_property
    def in_bound(self) -> Mask:
        """Support vectors strictly inside their box, ``0 < alpha < C``: the paper's first n*."""
        return (self.alpha > 0) & (self.alpha < self.C)

    @cached_property
    def bounded(self) -> Mask:
        """Support vectors at their bound, ``alpha = C > 0``."""
        return (self.alpha >= self.C) & (self.C > 0)

    @cached_property
    def support(self) -> Mask:
        """All support vectors, ``alpha > 0``."""
        return self.alpha > 0

    @cached_property
    def present(self) -> Mask:
        """Instances that take part in training, ``C > 0``."""
        return self.C > 0

    @cached_property
    def n_instances(self) -> int:
        """``l``: the number of instances that take part in training."""
        return int(np.count_nonzero(self.C))

    @property
    def beta(self) -> Array:
        """Signed multipliers ``y alpha``."""
        return self.y * self.alpha

    @property
    def gradient(self) -> Array:
        """Gradient of the signed dual, ``K beta - y``; of a regression, ``K beta - edge``."""
        return self.decision - self.intercept - self.edge

    def wrong(self, values: Array) -> Mask:
        """Which instances are misclassified if these are their decision values."""
        return lost(self.y * values)

    def violation(self, plain: Array) -> float:
        """By how much the intercepts that rows ask for contradict each other: the KKT gap.

        `plain` are the decision values without intercept.  A row whose signed multiplier may grow
        asks for an intercept of at least the value that puts it on its margin; one whose multiplier
        may shrink, for at most that.
        """
        beta, C = self.beta, self.C
        if self.target is None:
            wanted = self.y - plain
            grows = np.where(self.y > 0.0, beta < C, beta < 0.0)
            shrinks = np.where(self.y > 0.0, beta > 0.0, beta > -C)
        else:
            # The lower edge of the tube holds back growing above 0, the upper one below.
            apart, epsilon = self.target - plain, self.epsilon
            wanted = np.concatenate((apart - epsilon, apart + epsilon))
            grows = np.concatenate(((beta >= 0.0) & (beta < C), beta < 0.0))
            shrinks = np.concatenate((beta > 0.0, (beta <= 0.0) & (beta > -C)))
        if not (grows.any() and shrinks.any()):
            return 0.0
        return max(float(wanted[grows].max() - wanted[shrinks].min()), 0.0)

    @property
    def slack(self) -> Array:
        """The slack variables ``xi_i = max(0, 1 - y_i f(x_i))``; 0 for absent instances."""
        return np.where(self.present, np.maximum(0.0, 1.0 - self.y * self.decision), 0.0)

    @property
    def norm_squared(self) -> float:
        """``||w||^2 = beta'K beta``."""
        return float(self.beta @ (self.decision - self.intercept))

    @property
    def objective(self) -> float:
        """Value of the dual, ``sum(alpha) - ||w||^2 / 2``; ``beta'edge`` is the sum."""
        return float(self.beta @ self.edge - 0.5 * self.norm_squared)


def box(y: Array, C: Array) -> tuple[Array, Array]:
    """Bounds of the signed multipliers ``y alpha`` for ``0 <= alpha <= C``."""
    return np.minimum(0.0, y * C), np.maximum(0.0, y * C)


def terms_of(y: Array, C: Array) -> Terms:
    """The quadratic program of a machine, without its matrix; see the top of this module."""
    return Terms(-y, *box(y, C), total=0.0)


def train_dual(
    K: Gram | npt.ArrayLike,
    y: npt.ArrayLike,
    C: npt.ArrayLike,
    *,
    alpha0: npt.ArrayLike | None = None,
    tol: float = 1e-3,
    max_iter: int | None = None,
) -> DualSolution:
    """Train a weighted SVM on a Gram matrix.

    Parameters
    ----------
    K : Gram or array-like of shape (l, l)
        Gram matrix, float64 or float32.
    y : array-like of shape (l,)
        Labels, -1 and +1.
    C : float or array-like of shape (l,)
        Weight of each instance, at least 0; 0 leaves the instance out.
    alpha0 : array-like of shape (l,), optional
        Multipliers to start from, such as those of a similar problem.
    tol : float, default=1e-3
        Largest violation of the KKT conditions, as in LibSVM.
    max_iter : int, optional
        Limit on the solver's iterations.

    Returns
    -------
    DualSolution

    Warns
    -----
    ConvergenceWarning
        If the iteration limit is reached, or rounding ends the descent before the tolerance is met.
    UserWarning
        If the kernel matrix is found not to be positive semidefinite.
    """
    solution = solve_dual(K, y, C, alpha0=alpha0, tol=tol, max_iter=max_iter)
    if not solution.converged:
        warnings.warn(
            f"The solver stopped after {solution.iterations} iterations with the KKT conditions "
            f"violated by {solution.gap:.2g} (tol={tol:g}). {advice_on_stops(solution.gap)}",
            ConvergenceWarning,
            stacklevel=2,
        )
    if solution.indefinite:
        warn_indefinite(stacklevel=2)
    return solution


def solve_dual(
    K: Gram | npt.ArrayLike,
    y: npt.ArrayLike,
    C: npt.ArrayLike,
    *,
    alpha0: npt.ArrayLike | None = None,
    tol: float = 1e-3,
    max_iter: int | None = None,
) -> DualSolution:
    """:func:`train_dual` without its warnings, for callers that issue their own."""
    check_limits(tol, max_iter)
    tol = float(tol)  # compiled code takes no other numbers
    gram = as_gram(K)
    y = check_labels(y)
    C = check_weights(C, y.size, name="C")
    check_both_classes(y, C)
    if len(gram) != y.size:
        raise ValueError(f"K has {len(gram)} rows, but there are {y.size} labels in y.")
    twins = gram.twins(y)
    terms = terms_of(y, C if twins is None else twins.merge(C))
    limit = default_max_iter(y.size) if max_iter is None else max_iter
    x, g = np.zeros(y.size), terms.c.copy()
    if alpha0 is not None:
        start = check_weights(alpha0, y.size, name="alpha0")
        start = y * (start if twins is None else twins.merge(start))
        x, g = gram.make_feasible(start, gram.gradient(start, terms.c), terms)
    result = gram.solve(x, g, terms, tol=tol, max_iter=limit)
    return from_qp(gram, result, y, C, terms)


def from_qp(
    gram: Gram,
    result: QPResult,
    y: Array,
    C: Array,
    terms: Terms,
    sums: BoundedSums | None = None,
) -> DualSolution:
    """The trained machine that corresponds to a solution of its quadratic program.

    If twins were merged, they share the multiplier of their first row.
    """
    x, g = _without_rounding(gram, result.x, result.gradient, terms)
    moved = x is not result.x
    intercept = find_intercept(x, g, terms.lo, terms.hi)
    alpha, twins = np.abs(x), gram.twins(y)
    return DualSolution(
        alpha=alpha if twins is None else twins.share(alpha, C),
        C=C,
        y=y,
        intercept=intercept,
        decision=g - terms.c + intercept,
        gap=max(kkt_gap(x, g, terms.lo, terms.hi), 0.0) if moved else result.gap,
        converged=result.converged and bool(keeps_sum(x, terms.total)),
        iterations=result.iterations,
        indefinite=result.indefinite,
        sums=sums,
        factor=None if moved else result.factor,
    )


def _without_rounding(gram: Gram, x: Array, g: Array, terms: Terms) -> tuple[Array, Array]:
    """Put all free variables on their bounds if only rounding keeps every one of them off.

    Otherwise they would count as in-bound and, being the only ones, determine the intercept, which
    is free within an interval.  If one variable is truly inside its box, nothing is changed: it
    determines the intercept, and the others meet the KKT conditions with it.  So it is if the
    bounds have another sum than they must, or are no solution: beside bounds of 1e8, multipliers
    of 1 are near 0, and yet the whole model may rest on them.
    """
    lo, hi = terms.lo, terms.hi
    inside = np.flatnonzero((x > lo) & (x < hi))
    if inside.size == 0:
        return x, g
    below, above = (x - lo)[inside], (hi - x)[inside]
    scale = np.minimum(below + above, float(np.abs(x).max()))
    if (np.minimum(below, above) > OFF_BOUND * scale).any():
        return x, g
    at_bounds = x.copy()
    at_bounds[inside] = np.where(below < above, lo[inside], hi[inside])
    if abs(at_bounds.sum() - terms.total) > EQUAL_SUMS * np.abs(x).sum():
        return x, g
    moved = g.copy()
    gram.add_rows(moved, inside, np.where(below < above, -below, above))
    if kkt_gap(at_bounds, moved, lo, hi) > finished_gap(x, gram.diagonal):
        return x, g
    return at_bounds, moved


def find_intercept(beta: Array, g: Array, lo: Array, hi: Array, tube: float = np.inf) -> float:
    """``b``: the mean of ``-gradient`` over the in-bound vectors, or the middle of its interval.

    `tube` is the width of the tube of a regression.
    """
    free = (beta > lo) & (beta < hi)
    if free.any():
        return float(-g[free].mean())
    return float(middle_of_interval(beta, g, lo, hi, tube))


def instance_bounds(C: float, class_weight: Array, classes: np.ndarray, weight: Array) -> Array:
    """``C_i``, multiplied in LibSVM's order: its bounded multipliers then equal it exactly.

    `classes` holds the class of every instance, as an index into `class_weight`.
    """
    if isinstance(C, Real) and np.isposinf(C):
        raise ValueError(
            "C=inf (a hard margin) is supported by SpanSVC.fit alone; use a large number here."
        )
    if not (isinstance(C, Real) and np.isfinite(C) and C > 0):
        raise ValueError(f"C must be a positive number; got {C!r}.")
    return weight * (C * class_weight[classes])


def advice_on_stops(gap: float) -> str:
    """What to do about a training that stopped with the KKT conditions violated by `gap`."""
    advice = "Scale the features, use a smaller C, or raise max_iter"
    # Where the violation is large, a larger tolerance would only hide it.
    return f"{advice}, or tol." if gap < _TOLERABLE else f"{advice}."


def warn_indefinite(stacklevel: int) -> None:
    """Warn that the spans of this model are not distances."""
    warnings.warn(
        "The kernel matrix is not positive semidefinite: the solution is a stationary point and "
        "the span is not a distance. Treat the estimates as heuristics.",
        UserWarning,
        stacklevel=stacklevel + 1,
    )
