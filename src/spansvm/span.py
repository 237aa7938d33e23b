"""The span of a support vector: with its box (eq. SVMSpan) and without (Theorem 2).

Write I for the in-bound vectors.  Without the box, ``S_p`` is the distance of ``x_p``
from the affine hull of the other in-bound vectors.  With ``K_II = L L'``,
``u = K_II^-1 1`` and ``s = sum(u)`` all of them follow from one factor:

    in-bound p:  S_p^2 = 1 / ((K_II^-1)_pp - u_p^2 / s)
    bounded  p:  S_p^2 = K_pp - |L^-1 k_p|^2 + (1 - u'k_p)^2 / s,   k_p = K[I, p]

and the leave-one-out decision value is ``f(x_p) - y_p alpha_p S_p^2`` (eq. theorem4).

Where removing ``x_p`` leaves no in-bound vector (n* = 0, or n* = 1 and p is it), the
sum constraint forces one other multiplier to move: the one whose gradient asks for it
most.  That vector takes the place of I, and the intercept is the one that it fixes.
Where ``x_p`` is alone in its class, what remains is one class, and ``f^p = -y_p``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy import linalg

from ._linalg import cholesky, lower_inverse, lower_solve
from .dual import DualSolution, Mask, box, warn_indefinite
from .qp import Array, solve_qp

__all__ = ["LeaveOneOut", "box_span_squared", "removals", "span_exists", "span_leave_one_out"]

#: Ridges on K_II that are tried in turn, as fractions of its mean diagonal.
_RIDGES = {np.dtype(np.float64): (1e-10, 1e-7), np.dtype(np.float32): (1e-6, 1e-4)}

#: Sums of weights that differ by less than this fraction are equal.
_ROUNDING = 1e-12

#: KKT gap of the span within its box, as a fraction of the largest squared norm.
_BOX_TOLERANCE = 1e-9

#: How many numbers a block of removals may hold.
_BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """What the span says of every training instance, had it been left out.

    Attributes
    ----------
    span_squared : ndarray of shape (l,)
        ``S_p^2`` without the box; 0 for instances that are no support vectors.
    decision : ndarray of shape (l,)
        ``f^p(x_p)``: the decision value of the model trained without the instance.
    """

    span_squared: Array
    decision: Array


def span_leave_one_out(K: np.ndarray, solution: DualSolution) -> LeaveOneOut:
    """Spans without the box, and the leave-one-out decision values that follow (Theorem 2)."""
    squared = np.zeros(solution.y.size)
    inside = np.flatnonzero(solution.in_bound)
    bounded = np.flatnonzero(solution.bounded)
    if inside.size:
        _fill_spans(K, inside, bounded, squared)
    decision = solution.decision - solution.beta * squared
    if inside.size < 2:
        _one_sided(K, solution, inside if inside.size else bounded, squared, decision)
    for sign in (-1.0, 1.0):
        members = np.flatnonzero(solution.present & (solution.y == sign))
        if members.size == 1:
            decision[members] = -sign
    return LeaveOneOut(squared, decision)


def _fill_spans(K: np.ndarray, inside: np.ndarray, bounded: np.ndarray, squared: Array) -> None:
    for ridge in _RIDGES[K.dtype]:
        if _spans_by_cholesky(K, inside, bounded, ridge, squared):
            return
    warn_indefinite(stacklevel=3)
    inverse = _clipped_inverse(K, inside)
    u = inverse.sum(axis=1)
    s = _positive(u.sum())
    squared[inside] = 1.0 / _positive(np.diagonal(inverse) - u**2 / s)
    rows = K[np.ix_(bounded, inside)].astype(np.float64)
    residual = K[bounded, bounded] - np.einsum("pi,pi->p", rows @ inverse, rows)
    squared[bounded] = np.maximum(residual + (1.0 - rows @ u) ** 2 / s, 0.0)


@njit(nogil=True, cache=True, error_model="numpy")
def _spans_by_cholesky(K, inside, bounded, ridge, squared):
    """Fill `squared` for both kinds of support vectors; False if K_II is not positive definite."""
    n = inside.size
    factor = np.empty((n, n))
    trace = 0.0
    for a in range(n):
        row = K[inside[a]]
        for b in range(a + 1):
            factor[a, b] = row[inside[b]]
        trace += factor[a, a]
    for a in range(n):
        factor[a, a] += ridge * trace / n
    if not cholesky(factor):
        return False

    ones = np.ones((1, n))
    lower_solve(factor, ones)
    z = ones[0]  # L^-1 1, so that u = L^-T z and s = z'z
    s = 0.0
    for a in range(n):
        s += z[a] * z[a]

    rows = np.empty((bounded.size, n))
    for p in range(bounded.size):
        row = K[bounded[p]]
        for a in range(n):
            rows[p, a] = row[inside[a]]
    lower_solve(factor, rows)
    for p in range(bounded.size):
        length, along = 0.0, 0.0
        for a in range(n):
            length += rows[p, a] * rows[p, a]
            along += rows[p, a] * z[a]
        i = bounded[p]
        squared[i] = max(K[i, i] - length + (1.0 - along) ** 2 / s, 0.0)

    lower_inverse(factor)
    diagonal = np.zeros(n)
    u = np.zeros(n)
    for a in range(n):
        row = factor[a]
        for b in range(a + 1):
            diagonal[b] += row[b] * row[b]
            u[b] += row[b] * z[a]
    for a in range(n):
        squared[inside[a]] = 1.0 / max(diagonal[a] - u[a] * u[a] / s, _TINY)
    return True


_TINY = float(np.finfo(np.float64).tiny)


def _positive(values: Array) -> Array:
    return np.maximum(values, _TINY)


def _clipped_inverse(K: np.ndarray, inside: np.ndarray) -> Array:
    """Inverse of K_II with its eigenvalues raised to the ridge: for indefinite kernels."""
    block = K[np.ix_(inside, inside)].astype(np.float64)
    values, vectors = linalg.eigh(block)
    least = _RIDGES[K.dtype][0] * max(np.abs(values).max(), _TINY)
    return (vectors / np.maximum(values, least)) @ vectors.T


def _one_sided(
    K: np.ndarray, solution: DualSolution, rows: np.ndarray, squared: Array, decision: Array
) -> None:
    """Spans of the vectors in `rows` whose removal leaves no in-bound vector."""
    beta, g = solution.beta, solution.gradient
    lo, hi = box(solution.y, solution.C)
    for p in rows:
        # What p gives up, another takes: the vector that asks most to move that way.
        movable = beta < hi if beta[p] > 0 else beta > lo
        movable[p] = False
        asks = np.where(movable, -g if beta[p] > 0 else g, -np.inf)
        entering = int(np.argmax(asks))
        if not movable[entering]:
            continue  # p is alone in its class
        distance = float(K[p, p]) + float(K[entering, entering]) - 2.0 * float(K[p, entering])
        squared[p] = max(distance, 0.0)
        decision[p] = solution.y[p] + g[p] - g[entering] - beta[p] * squared[p]


def span_exists(solution: DualSolution) -> Mask:
    """Lemma 1 for every support vector: whether the set Lambda_p is non-empty.

    The condition of the lemma, ``sum C_i (in-bound, same class, i != p) + y_p sum y_i C_i
    (bounded) >= 0``, is stated for in-bound vectors; with p left out of the second sum
    it holds for bounded ones by the same proof.  False for all other instances.
    """
    y, C = solution.y, solution.C
    inside, bounded = solution.in_bound, solution.bounded
    exists = np.zeros(y.size, dtype=np.bool_)
    bounded_sum = float((y * C)[bounded].sum())
    slack = _ROUNDING * float(C[inside | bounded].sum())
    for sign in (-1.0, 1.0):
        same = solution.support & (y == sign)
        room = float(C[inside & (y == sign)].sum()) + sign * bounded_sum
        exists[same] = room - C[same] >= -slack
    # Lambda_p is made of the other in-bound vectors: without any it is empty.
    return exists & (inside.sum() > inside)


def box_span_squared(K: np.ndarray, solution: DualSolution, rows: np.ndarray) -> Array:
    """``S_p^2`` within the box (eq. Sp_calc) for the support vectors in `rows`.

    Infinity where Lambda_p is empty: the minimum over nothing.  Where the solution
    without the box satisfies the box it is the answer; the rest are small quadratic
    programs over the in-bound vectors.
    """
    exists = span_exists(solution)
    inside = np.flatnonzero(solution.in_bound)
    beta = solution.beta
    lo, hi = (bound[inside] - beta[inside] for bound in box(solution.y, solution.C))
    block = np.ascontiguousarray(K[np.ix_(inside, inside)], dtype=np.float64)
    scale = max(float(np.abs(K.diagonal()).max()), _TINY)
    result = np.full(len(rows), np.inf)
    weights = _unboxed_weights(K, solution, inside, rows[exists[rows]])
    for position, p in enumerate(rows):
        if not exists[p]:
            continue
        start = next(weights)
        # beta_i + beta_p lambda_i stays in its box; p itself has no part in its own span.
        ends = np.stack((lo, hi)) / beta[p]
        least, most = ends.min(axis=0), ends.max(axis=0)
        own = inside == p
        least[own] = most[own] = start[own] = 0.0
        column = K[inside, p].astype(np.float64)
        if (start >= least).all() and (start <= most).all():
            value = float(K[p, p]) - 2.0 * start @ column + start @ block @ start
        else:
            program = solve_qp(
                block,
                -column,
                least,
                most,
                min(1.0, float(most.sum())),  # Lemma 1 may hold with equality
                x0=start,
                tol=_BOX_TOLERANCE * scale,
            )
            value = float(K[p, p]) + 2.0 * program.objective(-column)
        result[position] = max(value, 0.0)
    return result


def _unboxed_weights(
    K: np.ndarray, solution: DualSolution, inside: np.ndarray, rows: np.ndarray
) -> Iterator[Array]:
    """For each p in `rows` the lambda, over the in-bound vectors, of its span without the box.

    The entry of an in-bound p itself is -1, as in eq. Sp_calc.
    """
    if rows.size == 0 or inside.size == 0:
        return
    inverse = _inverse(K, inside)
    u = inverse.sum(axis=1)
    s = _positive(u.sum())
    projected = inverse - np.outer(u, u) / s
    position = {int(i): a for a, i in enumerate(inside)}
    for p in rows:
        if int(p) in position:
            column = projected[position[int(p)]]
            yield -column / _positive(column[position[int(p)]])
        else:
            values = K[p, inside].astype(np.float64)
            yield inverse @ values + u * ((1.0 - u @ values) / s)


def _inverse(K: np.ndarray, inside: np.ndarray) -> Array:
    block = K[np.ix_(inside, inside)].astype(np.float64)
    identity = np.eye(inside.size)
    for ridge in _RIDGES[K.dtype]:
        try:
            factor = linalg.cho_factor(block + ridge * np.trace(block) / inside.size * identity)
        except linalg.LinAlgError:
            continue
        return linalg.cho_solve(factor, identity)
    return _clipped_inverse(K, inside)


def opper_winther_shift(K: np.ndarray, solution: DualSolution) -> Array:
    """How far a unit of ``alpha_p`` moves ``f(x_p)`` if the intercept stays as it is.

    ``1 / (K_II^-1)_pp`` for in-bound vectors, ``K_pp - k_p' K_II^-1 k_p`` for bounded ones:
    the squared span without the condition that the lambda sum to one.
    """
    shift = np.zeros(solution.y.size)
    inside = np.flatnonzero(solution.in_bound)
    bounded = np.flatnonzero(solution.bounded)
    inverse = _inverse(K, inside)
    shift[inside] = 1.0 / _positive(np.diagonal(inverse))
    rows = K[np.ix_(bounded, inside)].astype(np.float64)
    residual = K[bounded, bounded] - np.einsum("pi,pi->p", rows @ inverse, rows)
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


def removals(K: np.ndarray, solution: DualSolution) -> Iterator[Removal]:
    """The predicted model for the removal of every support vector in turn.

    A prediction is exact where the moved multipliers stay strictly inside their boxes
    and no other instance changes side of its margin.  Nothing is predicted, the
    multiplier is merely taken away, where no in-bound vector is left to move.
    """
    beta, g, y = solution.beta, solution.gradient, solution.y
    lo, hi = box(y, solution.C)
    inside = np.flatnonzero(solution.in_bound)
    support = np.flatnonzero(solution.support)
    outside = solution.present & ~solution.in_bound
    rows = support[inside.size > solution.in_bound[support]]
    moving = K[inside].astype(np.float64)
    block_rows = max(1, _BLOCK_NUMBERS // y.size)
    weights = _unboxed_weights(K, solution, inside, rows)
    for start in range(0, rows.size, block_rows):
        block = rows[start : start + block_rows]
        moves = np.array([beta[p] * next(weights) for p in block])
        gradients = g + moves @ moving
        for p, move, moved_g in zip(block, moves, gradients, strict=True):
            moved = beta.copy()
            moved[inside] += move
            if not solution.in_bound[p]:
                moved_g -= beta[p] * K[p]
            moved[p] = 0.0
            others = inside[inside != p]
            b = -moved_g[others].mean()
            side = y * (moved_g + b)  # y f^p - 1
            inside_box = (moved[others] > lo[others]) & (moved[others] < hi[others])
            keeps_side = np.where(
                solution.bounded, side <= solution.gap, side >= -solution.gap
            ) | ~outside
            keeps_side[p] = True
            exact = bool(inside_box.all() and keeps_side.all())
            yield Removal(int(p), moved, moved_g, exact)
    for p in np.setdiff1d(support, rows):
        moved = beta.copy()
        moved[p] = 0.0
        yield Removal(int(p), moved, g - beta[p] * K[p], False)
