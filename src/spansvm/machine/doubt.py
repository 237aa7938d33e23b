"""What the span predicts for left-out rows of one machine, and how doubtful that is.

Two questions, two doubts.  For ranking scores and probabilities: how far the value may be off
(:mod:`spansvm.machine.values`).  For counting errors: how much lower the margin may be
(:mod:`spansvm.core.doubt`), and so whether the predicted sign may be wrong (:func:`doubtful`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..algebra.blas import one_blas_thread
from ..algebra.systems import Bordered, bordered, positive
from ..common.types import Array, Mask, Rows
from ..core.doubt import drops_of_bounded, drops_of_in_bound
from ..kernels.gram import Gram
from .dual import DualSolution, box
from .span import Spans, entering, intercept_moves

__all__ = ["SAFETY", "Prediction", "doubtful", "predict", "reaches"]

#: Errors are counted from exact values if the predicted margin is smaller than this multiple of
#: what it may be off by, or so small that it may be 0.
SAFETY = 2.0

#: Margins that are closer to 0 may be 0.
_NEAR_ZERO = 1e-9

#: Multipliers whose relative difference is smaller are equal.
_EQUAL = 1e-9

#: Kernel values held at a time.
_BLOCK_NUMBERS = 4_000_000

#: A vector that takes over is sure to do so if it uses less than this share of its room.
_MOST_ROOM = 0.7

#: Number of vectors considered when looking for the one that takes over next.
_NEXT = 20


@dataclass(frozen=True, eq=False)
class Prediction:
    """What the span predicts for every left-out instance, and how doubtful that is.

    Attributes
    ----------
    decision : ndarray of shape (l,)
        ``f^p(x_p)``.
    shift : ndarray of shape (l,)
        The mean change of the decision values of the other instances.
    doubt : ndarray of shape (l,)
        How far the value may be off: infinite if the in-bound vectors are dependent, so that the
        prediction is not unique.
    drop : ndarray of shape (l,)
        How much lower the margin may be, to first order (:mod:`spansvm.core.doubt`); minus infinity
        if the predicted sign is certain.
    system : Bordered or None
        The inverse of the in-bound vectors' system, if it was needed.
    """

    decision: Array
    shift: Array
    doubt: Array
    drop: Array
    system: Bordered | None = None


def doubtful(margin: Array, predicted: Array, drop: Array) -> Mask:
    """Which rows may be right or wrong without themselves, whatever is predicted.

    Parameters
    ----------
    margin, predicted : ndarray
        The margins of the model, and those predicted for the left-out rows.
    drop : ndarray
        How much lower the latter may be, as in :class:`Prediction`; NaN if unknown.
    """
    certain = (predicted > np.maximum(SAFETY * drop, _NEAR_ZERO)) | np.isneginf(drop)
    # A margin of 0 is an error only for one of the classes, if there are several pairs.
    return (margin > -_NEAR_ZERO) & ~certain


def reaches(solution: DualSolution, spans: Spans) -> Array:
    """How far a value may be off for each unit that vectors leave their boxes by."""
    mean = float(np.sqrt(spans.squared[solution.support].mean()))
    return mean * np.maximum(mean, np.sqrt(spans.squared))


@one_blas_thread
def predict(gram: Gram, solution: DualSolution, spans: Spans) -> Prediction:
    """What the span predicts, with a doubt that is not yet in units of the spread."""
    y, beta, twins = solution.y, solution.beta, gram.twins(solution.y)
    decision, shift = spans.decision.copy(), np.zeros(y.size)
    doubt, drop = np.zeros(y.size), np.zeros(y.size)
    inside = np.flatnonzero(solution.in_bound)
    bounded = np.flatnonzero(solution.bounded)
    x, C = (beta, solution.C) if twins is None else (twins.merge(beta), twins.merge(solution.C))
    lo, hi = box(y, C)
    hull = np.flatnonzero((x > lo) & (x < hi))
    squared, reach = spans.squared, reaches(solution, spans)
    sums = gram.sums_over(solution.present)
    number = float(solution.n_instances)
    if hull.size < 2:
        room = float((C[hull] - np.abs(x[hull])).sum())
        _from_one(gram, solution, inside, bounded, room, sums, decision, shift, doubt, drop)
        moves = intercept_moves(solution)
        decision, shift = decision + moves, shift + moves
        return Prediction(decision, shift, doubt * reach, drop)
    system = bordered(gram, hull, solution.factor)
    if not system.independent:
        doubt[solution.support] = np.inf
        return Prediction(decision, shift, doubt, doubt, system)
    P, w = system.projected, system.weights
    own = x[hull], lo[hull], hi[hull]
    # Bounded vectors: in-bound ones take over; all kernel values relative to the first of them.
    base = hull[:1]
    from_base = gram.block(hull, base)[:, 0] - gram.diagonal[base]
    level = float(sums[base[0]])
    turned = number * from_base - (sums[hull] - level)
    along, constant = P @ turned, float(w @ turned)
    step = max(_BLOCK_NUMBERS // hull.size, 1)
    for part in (bounded[start : start + step] for start in range(0, bounded.size, step)):
        to_base = gram.block(part, base)
        kernel = gram.block(part, hull) - to_base
        doubt[part], drop[part] = drops_of_bounded(kernel, beta[part], P, w, *own)
        growth = (sums[part] - level) + kernel @ along + constant
        growth += number * (gram.diagonal[base] - to_base[:, 0])
        shift[part] = -beta[part] * (growth - squared[part]) / (number - 1.0)
    # In-bound vectors: the others take over, and p no longer stays on its margin.
    over, fall, grown = np.zeros((3, y.size))
    over[hull], fall[hull] = drops_of_in_bound(P, *own)
    growth = P @ (sums[hull] - level) + number * w - 1.0
    grown[hull] = -(x[hull] / np.diagonal(P)) * growth / (number - 1.0)
    # Equal ones take over first; what they have no room for has to move.
    first = inside if twins is None else twins.first[inside]
    alone = C[first] == solution.C[inside]
    left = np.maximum(np.abs(x[first]) - (C[first] - solution.C[inside]), 0.0)
    entries = np.diagonal(P)[np.searchsorted(hull, first)]
    doubt[inside] = np.where(alone, over[first], left)
    drop[inside] = np.where(alone, fall[first], left / positive(entries))
    shift[inside] = np.where(alone, grown[first], 0.0)
    return Prediction(decision, shift, doubt * reach, drop, system)


def _from_one(
    gram: Gram,
    solution: DualSolution,
    inside: Rows,
    bounded: Rows,
    room: float,
    sums: Array,
    decision: Array,
    shift: Array,
    doubt: Array,
    drop: Array,
) -> None:
    """The same if one vector takes over: the only in-bound one, or the next to reach its margin.

    `room` is how much the multiplier of the in-bound one, with its twins, may grow.
    """
    y, alpha, C = solution.y, solution.alpha, solution.C
    number = float(solution.n_instances)
    if inside.size > 1:  # twins
        doubt[inside] = np.maximum(C[inside] - room, 0.0)
        drop[inside] = np.where(C[inside] >= _MOST_ROOM * room, np.inf, 0.0)
    takers = []
    for sign in (-1.0, 1.0):
        own = bounded[y[bounded] == sign]
        if inside.size == 1 and y[inside[0]] == sign:
            takers.append((inside, entering(solution, sign, int(inside[0])), sign))
        takers.append((own, int(inside[0]) if inside.size else entering(solution, sign), sign))
    for rows, e, sign in takers:
        if rows.size == 0 or e < 0:
            continue
        kernel = gram.block(np.array([e]), rows)[0]
        growth = sums[rows] - sums[e] + number * (gram.diagonal[e] - kernel)
        own_growth = gram.diagonal[rows] + gram.diagonal[e] - 2.0 * kernel
        moved = solution.beta[rows] * (growth - own_growth) / (number - 1.0)
        shift[rows] = y[e] - solution.decision[e] - moved
        free = room if solution.in_bound[e] else C[e] - alpha[e]
        if y[e] != sign:
            free = float(alpha[inside].sum()) if solution.in_bound[e] else alpha[e]
        doubt[rows] = np.maximum(alpha[rows] - free, 0.0)
        # Another vector may reach its margin first.  If not, and `e` is used up, nothing fixes the
        # intercept: it lies half-way to where the next one takes over.
        way = _way_to_the_next(gram, solution, rows, e, sign)
        doubt[rows[way < 0.0]] = alpha[rows[way < 0.0]]
        used_up = (np.abs(alpha[rows] - free) <= _EQUAL * free) & (way > 0.0)
        # If it has hardly room, and in no such way, the intercept may jump.
        sure = (alpha[rows] < _MOST_ROOM * free) & (way >= 0.0)
        drop[rows] = np.where(sure | (used_up & (inside.size == 0)), 0.0, np.inf)
        if not inside.size:
            decision[rows] -= np.where(used_up, 0.5 * sign * way, 0.0)
            shift[rows] -= np.where(used_up, 0.5 * sign * way, 0.0)


def _way_to_the_next(gram: Gram, solution: DualSolution, rows: Rows, e: int, sign: float) -> Array:
    """How far the intercept can still move once `e` has taken over each row's multiplier.

    Negative if another vector should have taken over before.
    """
    y, f = solution.y, solution.decision
    movable = np.where(y == sign, solution.alpha < solution.C, solution.alpha > 0.0)
    movable[e] = False
    others = np.flatnonzero(movable)
    others = others[np.argsort(sign * (f - y)[others], kind="stable")[:_NEXT]]
    if others.size == 0:
        return np.zeros(rows.size)
    to_e = gram.block(np.array([e]), np.concatenate((rows, others)))[0]
    moved = gram.block(rows, others) - to_e[rows.size :] - to_e[: rows.size, None]
    moved += gram.diagonal[e]
    after = f[others] + y[e] - f[e] - solution.beta[rows, None] * moved
    return (sign * (after - y[others])).min(axis=1)
