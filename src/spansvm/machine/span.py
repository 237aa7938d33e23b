"""The span of a support vector: with its box (eq. SVMSpan) and without (Theorem 2).

Without the box, ``S_p`` is the distance of ``x_p`` from the affine hull of the other
in-bound vectors, and the leave-one-out decision value is
``f^p(x_p) = f(x_p) - y_p alpha_p S_p^2`` (eq. theorem4).

Where there is no such hull, and where only one class is left, :mod:`spansvm.core.leaving` says what
takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from ..algebra.blas import one_blas_thread
from ..algebra.hull import AffineHull
from ..algebra.qp import solve_qp
from ..algebra.systems import no_factor, positive, regularised_inverse
from ..common.types import Array, Mask, Rows
from ..core.leaving import entering, leave_out, span_exists
from ..kernels.gram import Gram
from .dual import DualSolution, box, find_intercept, warn_indefinite

__all__ = [
    "Removal",
    "Spans",
    "box_span_squared",
    "entering",
    "find_spans",
    "hull_of",
    "intercept_move",
    "intercept_moves",
    "opper_winther_shift",
    "removals",
    "span_exists",
    "with_factor",
]

#: Strictly inside a box means farther from its ends than this fraction of its width, or of the
#: largest multiplier if that is smaller.
_STRICT = 1e-9

#: Rounds of guessing which bounds are active before the general solver is called.
_ROUNDS = 30

#: KKT gap of the span within its box, as a fraction of the largest squared norm.
_BOX_TOLERANCE = 1e-9

#: Size limit of a block of removals.
_BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True, eq=False)
class Spans:
    """The span's predictions for every training instance, had it been left out.

    Attributes
    ----------
    squared : ndarray of shape (l,)
        ``S_p^2`` without the box; 0 for instances that are not support vectors.
    decision : ndarray of shape (l,)
        ``f^p(x_p)``: the decision value of the model trained without the instance.
    errors : int
        Number of instances on the wrong side, ``y_p f^p(x_p) <= 0``.
    """

    squared: Array
    decision: Array
    errors: int


@one_blas_thread
def with_factor(gram: Gram, solution: DualSolution) -> DualSolution:
    """The model with the factor of its in-bound vectors, to be used several times.

    If training left a factor, that is used; otherwise, as for a model read from an SVC, it is
    computed.  Equal vectors of one class are included once.
    """
    if solution.factor is not None and solution.factor.matrix.size:
        return solution
    hull = np.flatnonzero(solution.in_bound)
    twins = gram.twins(solution.alike)
    if twins is not None:
        hull = np.unique(twins.first[hull])
    return replace(solution, factor=gram.factor(hull)) if hull.size else solution


@one_blas_thread
def hull_of(gram: Gram, solution: DualSolution) -> AffineHull:
    """The affine hull of the in-bound vectors, with the weights of points in it."""
    inside = np.flatnonzero(solution.in_bound)
    factor = with_factor(gram, solution).factor
    return AffineHull(gram, inside, no_factor(inside) if factor is None else factor)


@one_blas_thread
def find_spans(
    gram: Gram, solution: DualSolution, before: tuple[DualSolution, Spans] | None = None
) -> Spans:
    """Spans without the box, and the leave-one-out decision values that follow (Theorem 2).

    `before` is another model on the same Gram matrix; if it has the same in-bound vectors, its
    spans are reused.
    """
    inside, squared = np.flatnonzero(solution.in_bound), np.zeros(solution.y.size)
    # The first of equal points represents all, as in training.
    twins = gram.twins(solution.alike)
    first = np.arange(solution.y.size) if twins is None else twins.first
    if before is not None and inside.size > 1 and _same_hull(solution, before[0]):
        squared[first[solution.support]] = before[1].squared[solution.support]
    elif inside.size:
        others, factor = np.unique(first[solution.bounded]), with_factor(gram, solution).factor
        if factor is not None and factor.matrix.size:
            gram.hull_distances(factor, others, squared)
        else:
            if not solution.indefinite:  # otherwise the warning was already given
                warn_indefinite(stacklevel=2)
            hull = np.unique(first[inside])
            AffineHull(gram, hull, no_factor(hull)).distances(others, gram.diagonal, squared)
    squared, decision = leave_out(
        solution, first, squared, gram.diagonal, lambda row: gram.whole_rows(np.array([row]))[0]
    )
    errors = int((solution.present & solution.wrong(decision)).sum())
    return Spans(squared, decision, errors)


def _same_hull(solution: DualSolution, before: DualSolution) -> bool:
    """Whether another model has the same in-bound vectors and at least the same bounded ones."""
    return bool(
        (solution.in_bound == before.in_bound).all() and before.bounded[solution.bounded].all()
    )


def intercept_move(solution: DualSolution, members: Rows) -> float:
    """By how much the intercept moves if `members` leave, none of which is a support vector.

    It does if no vector is in-bound, so that it is the middle of an interval, and one of them was
    at the end of that.
    """
    if solution.in_bound.any():
        return 0.0
    x, g = solution.beta, solution.gradient
    lo, hi = box(solution.y, solution.C)
    before = find_intercept(x, g, lo, hi, solution.tube)
    lo[members] = hi[members] = 0.0
    return find_intercept(x, g, lo, hi, solution.tube) - before


def intercept_moves(solution: DualSolution) -> Array:
    """The same for every row by itself; 0 for support vectors."""
    moves = np.zeros(solution.y.size)
    if solution.in_bound.any():
        return moves
    idle = solution.present & ~solution.support
    for sign in (-1.0, 1.0):
        own = np.flatnonzero(idle & (solution.y == sign))
        if own.size:  # only the nearest to its margin, or to the other edge, may be at the end
            way = sign * (solution.decision - solution.edge)[own]
            for place in {int(np.argmin(way)), int(np.argmax(way))}:
                moves[own[place]] = intercept_move(solution, own[[place]])
    return moves


@one_blas_thread
def box_span_squared(
    gram: Gram,
    solution: DualSolution,
    rows: np.ndarray,
    hull: AffineHull | None = None,
    spans: Spans | None = None,
) -> Array:
    """``S_p^2`` within the box (eq. Sp_calc) for the support vectors in `rows`.

    Infinity where Lambda_p is empty.  Where the solution without the box lies inside the box, it
    is the answer; the others are small quadratic programs over the in-bound vectors.

    `hull` and `spans` are the results of :func:`hull_of` and :func:`find_spans`, if available.
    """
    result = np.full(rows.size, np.inf)
    existing = np.flatnonzero(span_exists(solution)[rows])
    if existing.size == 0:
        return result
    beta, inside = solution.beta, np.flatnonzero(solution.in_bound)
    lo, hi = (bound[inside] - beta[inside] for bound in box(solution.y, solution.C))
    if hull is None or spans is None:
        solution = with_factor(gram, solution)
        hull = hull or hull_of(gram, solution)
        spans = spans or find_spans(gram, solution)
    for position, free in zip(existing, hull.weights(rows[existing]), strict=True):
        p = rows[position]
        # beta_i + beta_p lambda_i stays in its box; p itself takes no part in its own span.
        ends = np.stack((lo, hi)) / beta[p]
        ends[:, inside == p] = 0.0
        # The room of equal vectors is the sum of their rooms.
        least, most = hull.together(ends.min(axis=0)), hull.together(ends.max(axis=0))
        own = np.arange(hull.points.size) == hull.alone_at(p)
        least[own] = most[own] = free[own] = -1.0
        if (free >= least).all() and (free <= most).all():
            result[position] = spans.squared[p]
            continue
        column = gram.block(hull.points, np.array([p]))[:, 0]
        weights = _boxed_weights(hull, column, free, least, most, own)
        weights[own] = 0.0
        value = gram.diagonal[p] - 2.0 * weights @ column + weights @ hull.block @ weights
        result[position] = max(value, 0.0)
    return result


def _boxed_weights(
    hull: AffineHull, column: Array, free: Array, least: Array, most: Array, own: Mask
) -> Array:
    """The weights, within their bounds, of the point of the hull nearest to p.

    `column` holds the kernel values of p.  Without bounds the weights are `free`; p itself, if
    it is one of the points (`own`), stays at -1.  With the weights in A fixed,
    ``lambda = base + P[:, A] mu`` for the projected inverse P of the hull.  Violated bounds
    become active and those whose multiplier has the wrong sign are released, until nothing
    changes; that usually takes a few rounds.
    """
    below, above = free < least, free > most
    # The free weights of an in-bound p are themselves such a move: from 0, with p fixed at -1.
    base = np.zeros(free.size) if own.any() else free
    for _ in range(_ROUNDS):
        fixed = np.flatnonzero(below | above | own)
        if fixed.size == 0:  # they would be violated again
            break
        values = np.where(below, least, most)[fixed]
        try:
            factor = linalg.cho_factor(hull.projected[np.ix_(fixed, fixed)])
        except linalg.LinAlgError:
            break
        mu = np.zeros(free.size)
        mu[fixed] = linalg.cho_solve(factor, values - base[fixed])
        weights = base + hull.projected[:, fixed] @ mu[fixed]
        weights[fixed] = values
        now_below = np.where(below, mu > 0.0, weights < least) & ~own
        now_above = np.where(above, mu < 0.0, weights > most) & ~own
        if (now_below == below).all() and (now_above == above).all():
            if hull.ridge * (weights @ weights) <= _BOX_TOLERANCE * hull.shift:
                return weights
            break
        below, above = now_below, now_above
    # The rounds cycle, or the points are nearly dependent: use the general solver.
    keep = ~own
    gram = hull.block[np.ix_(keep, keep)] + hull.shift
    total = min(1.0, float(most[keep].sum()))  # Lemma 1 may hold with equality
    program = solve_qp(
        gram,
        -column[keep],
        least[keep],
        most[keep],
        total,
        x0=free[keep],
        tol=_BOX_TOLERANCE * float(positive(np.abs(gram.diagonal()).max())),
    )
    weights = np.full(free.size, -1.0)
    weights[keep] = program.x
    return weights


@one_blas_thread
def opper_winther_shift(gram: Gram, solution: DualSolution) -> Array:
    """How far a unit of ``alpha_p`` moves ``f(x_p)`` if the intercept stays fixed.

    ``1 / (K_II^-1)_pp`` for in-bound vectors, ``K_pp - k_p' K_II^-1 k_p`` for bounded ones:
    the squared span without the condition that the lambdas sum to one.
    """
    shift = np.zeros(solution.y.size)
    inside = np.flatnonzero(solution.in_bound)
    bounded = np.flatnonzero(solution.bounded)
    inverse = regularised_inverse(gram.block(inside, inside), gram.dtype)
    shift[inside] = 1.0 / positive(np.diagonal(inverse))
    rows = gram.block(bounded, inside)
    residual = gram.diagonal[bounded] - np.einsum("pi,pi->p", rows @ inverse, rows)
    shift[bounded] = np.maximum(residual, 0.0)
    return shift


@dataclass(frozen=True, eq=False)
class Removal:
    """The model without one support vector, as Theorem 2 predicts it.

    Attributes
    ----------
    row : int
        The support vector that is removed.
    beta : ndarray of shape (l,)
        Signed multipliers; they may leave their boxes.
    gradient : ndarray of shape (l,)
        ``K beta - y`` at these multipliers.
    exact : bool
        Whether the prediction is the solution: the assumption of Theorem 2 holds.
    """

    row: int
    beta: Array
    gradient: Array
    exact: bool


def removals(
    gram: Gram,
    solution: DualSolution,
    slack: float,
    support: np.ndarray | None = None,
    hull: AffineHull | None = None,
) -> Iterator[Removal]:
    """The predicted models when each support vector (or each of `support`) is removed.

    A prediction is exact if the multipliers that move stay strictly inside their boxes, their
    vectors on their margins, and no other instance changes side of its margin, all to within
    `slack`.  If no in-bound vector is left to move, the multiplier is merely set to 0 and
    nothing else is predicted.  `hull` is the result of :func:`hull_of`, if available.
    """
    beta, g, y = solution.beta, solution.gradient, solution.y
    lo, hi = box(y, solution.C)
    inside = np.flatnonzero(solution.in_bound)
    if support is None:
        support = np.flatnonzero(solution.support)
    outside = solution.present & ~solution.in_bound
    strictly = _STRICT * min(float(solution.C.max()), float(solution.alpha.max(initial=0.0)))
    rows = support[inside.size > solution.in_bound[support]]
    if rows.size:
        hull = hull or hull_of(gram, solution)
        moving = gram.whole_rows(inside)
    block_rows = max(1, _BLOCK_NUMBERS // y.size)
    for start in range(0, rows.size, block_rows):
        part = rows[start : start + block_rows]
        assert hull is not None
        moves = beta[part, None] * hull.shared(part, hull.weights(part))
        for p, move, moved_g in zip(part, moves, g + moves @ moving, strict=True):
            moved = beta.copy()
            moved[inside] += move
            if not solution.in_bound[p]:
                moved_g -= beta[p] * gram.whole_rows(np.array([p]))[0]
            moved[p] = 0.0
            others = inside[inside != p]
            side = y * (moved_g - moved_g[others].mean())  # y f^p - 1: how far off its margin
            room = np.minimum(moved - lo, hi - moved)[others]
            inside_box = room > np.minimum(strictly, _STRICT * solution.C[others])
            on_margin = np.abs(side[others]) <= slack
            within = (side >= -slack) & (side <= solution.tube + slack)
            keeps_side = np.where(solution.bounded, side <= slack, within) | ~outside
            keeps_side[p] = True
            exact = bool(inside_box.all() and on_margin.all() and keeps_side.all())
            yield Removal(int(p), moved, moved_g, exact)
    for p in np.setdiff1d(support, rows):
        moved = beta.copy()
        moved[p] = 0.0
        yield Removal(int(p), moved, g - beta[p] * gram.whole_rows(np.array([p]))[0], False)
