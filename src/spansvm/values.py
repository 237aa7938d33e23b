"""Left-out values of one machine that are accurate in size, not only in sign.

Theorem 2 gives the change of ``f(x_p)`` if the in-bound vectors take over the multiplier of the
removed instance and stay inside their boxes.  If they are few, or the model hardly depends on the
features, they cannot; the prediction is then (nearly) the value of the model that saw the label.
Error counts tolerate that; ranking scores and probabilities do not.

So each prediction gets a doubt: the part of the multiplier that finds no room, times the squared
distance that it would have to move, in units of the spread of the decision values.  Removals are
followed exactly, the most doubtful first, until the mean doubt of the rest is small in each class.

Values of different instances come from different models.  A removal also shifts the values of all
other instances.  This says nothing about the removed one, but it differs between the classes: the
class that lost an instance becomes rarer, and its values fall.  Pooled and ranked, such values are
pessimistic; with small weights they rank every instance of one class above every one of the other.
For ranking, this common shift is therefore subtracted (compare Airola and others 2011 on leaving
out pairs, one of each class).

Values that differ by less than the accuracy of the solution are equal.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ._descent import rounding_level
from ._factor import Bordered, bordered
from ._linalg import one_blas_thread
from ._typing import Array, Rows
from .dual import DualSolution, box
from .following import follow, retrain
from .gram import Gram
from .lazy import LazyGram
from .span import Spans, entering, find_spans, intercept_moves

__all__ = [
    "LOOSE",
    "LeftOutValues",
    "accuracy_of",
    "exact_values",
    "left_out_values",
    "ranking",
    "without_traces",
]

#: Mean doubt allowed in each class with a hundred instances, as a fraction of the spread of the
#: decision values.  Errors of many instances cancel, so it may grow with their number (measured).
_DOUBT, _HUNDRED = 0.01, 100.0

#: Decision values are constant if they vary by less than this fraction of the terms they are the
#: sum of, and by less than this value.
_CANCELLED, _SMALL = 1e-6, 1e-2

#: Multipliers whose relative difference is smaller are equal.
_EQUAL = 1e-9

#: Kernel values held at a time.
_BLOCK_NUMBERS = 4_000_000

#: Number of vectors considered when looking for the one that takes over next.
_NEXT = 20

#: Accuracy of decision values, as a multiple of the rounding level and of the KKT gap.
_ABOVE_ROUNDING, _ABOVE_GAP = 100.0, 10.0

#: KKT conditions violated by more than this are those of an unfinished model: that tells how far
#: its values are from those of the solution, not which of them count as equal.
_UNFINISHED = 0.01

#: Exact values below this fraction of the largest are 0.
_ZERO = 1e-10

#: Exact models that violate the KKT conditions by more than this are reported.
LOOSE = 1e-5


@dataclass(frozen=True, eq=False)
class LeftOutValues:
    """Values of every training instance, had it been left out.

    Attributes
    ----------
    decision : ndarray of shape (l,)
        ``f^p(x_p)``: the decision value of the model trained without the instance.
    comparable : ndarray of shape (l,)
        The same without the shift that the removal causes in the others: comparable between
        instances.
    followed : int
        Number of removals that were followed exactly.
    """

    decision: Array
    comparable: Array
    followed: int


@one_blas_thread
def left_out_values(
    gram: Gram, solution: DualSolution, spans: Spans | None = None
) -> LeftOutValues:
    """Values of left-out instances, predicted by the span and followed where that is doubtful.

    Parameters
    ----------
    gram : Gram
    solution : DualSolution
        The model trained on it.
    spans : Spans, optional
        Its spans, if available.
    """
    if spans is None:
        spans = find_spans(gram, solution)
    decision, shift = spans.decision.copy(), np.zeros(spans.decision.size)
    accuracy = accuracy_of(gram, solution)
    spread = float(solution.decision[solution.present].std())
    followed = 0
    # The removals of an unfinished model are not worth following.
    if spread > max(accuracy, _ABOVE_GAP * solution.gap) and not solution.indefinite:
        doubt, system = _predict(gram, solution, spans, decision, shift)
        rows = _doubtful(solution, doubt / spread)
        if rows.size and not isinstance(gram, LazyGram):
            removals, followed = follow(gram, solution, rows, system), rows.size
            decision[rows], shift[rows] = removals.decision, removals.shift
            accuracy = max(accuracy, _ABOVE_GAP * min(removals.error, _UNFINISHED))
            lost = rows[np.isnan(removals.decision)]
            decision[lost], shift[lost], _ = retrain(gram, solution, lost)
    alone = _alone_in_class(solution)
    decision[alone], shift[alone] = -solution.y[alone], 0.0
    return LeftOutValues(
        rounded(decision, accuracy), ranking(solution, decision - shift, accuracy), followed
    )


@one_blas_thread
def exact_values(gram: Gram, solution: DualSolution) -> LeftOutValues:
    """The same with every removal followed exactly, or retrained where it cannot be.

    Warns
    -----
    ConvergenceWarning
        If models violate the KKT conditions by more than 1e-5, because rounding or the
        iteration limit ended their training.
    """
    rows = np.flatnonzero(solution.support)
    removals = follow(gram, solution, rows)
    shift = intercept_moves(solution)
    decision = solution.decision + shift
    decision[rows], shift[rows] = removals.decision, removals.shift
    alone = _alone_in_class(solution)
    decision[alone], shift[alone] = -solution.y[alone], 0.0
    lost = np.flatnonzero(np.isnan(decision))
    decision[lost], shift[lost], gaps = retrain(gram, solution, lost)
    gaps = np.append(gaps, solution.gap)
    loose = int((gaps > LOOSE).sum())
    if loose:
        warnings.warn(
            f"{loose} of {gaps.size} leave-one-out models meet the KKT conditions only to within "
            f"{gaps.max():.2g}. Scale the features, or reduce C.",
            ConvergenceWarning,
            stacklevel=4,
        )
    error = min(removals.error, _UNFINISHED)
    accuracy = max(accuracy_of(gram, solution), _ABOVE_GAP * error)
    decision = without_traces(decision)
    return LeftOutValues(decision, ranking(solution, decision - shift, accuracy), rows.size)


def without_traces(values: Array) -> Array:
    """Exact values, with 0 for those that only rounding keeps from it.

    A value of exactly 0 is an error: rounding must not decide which side it is on.
    """
    size = np.abs(values)
    return np.where(size <= _ZERO * size.max(initial=0.0), 0.0, values)


def ranking(solution: DualSolution, values: Array, accuracy: float) -> Array:
    """Values for ranking: rounded to their accuracy, all equal if the model is constant."""
    plain = solution.decision[solution.present]
    if float(plain.std()) <= accuracy:
        return np.full(values.size, float(plain.mean()))
    return rounded(values, accuracy)


def _alone_in_class(solution: DualSolution) -> Rows:
    """Instances that are the only ones of their class: left out, they get the other class."""
    present, positive = solution.present, solution.y > 0
    classes = (np.flatnonzero(present & positive), np.flatnonzero(present & ~positive))
    return np.concatenate([rows for rows in classes if rows.size == 1] or [np.empty(0, np.intp)])


def accuracy_of(gram: Gram, solution: DualSolution) -> float:
    """The difference below which decision values count as equal.

    If they vary by only a small fraction of what the multipliers could produce, the features have
    cancelled out, and all count as equal.
    """
    level = float(rounding_level(solution.beta, gram.diagonal))
    first = np.flatnonzero(solution.present)[:1]
    apart = gram.diagonal + gram.diagonal[first] - 2.0 * gram.whole_rows(first)[0]
    constant = _CANCELLED * float(solution.alpha.sum()) * float(apart.max())
    accuracy = max(_ABOVE_ROUNDING * level, _ABOVE_GAP * min(solution.gap, _UNFINISHED))
    if float(solution.decision[solution.present].std()) > min(constant, _SMALL):
        return accuracy
    return max(accuracy, _SMALL)


def rounded(values: Array, accuracy: float) -> Array:
    """Round values so that those closer than their accuracy become equal."""
    if accuracy == 0.0:
        return values
    # Multiples of a power of two: as few digits change as possible.
    step = 2.0 ** np.ceil(np.log2(accuracy))
    return np.round(values / step) * step


def _doubtful(solution: DualSolution, doubt: Array) -> Rows:
    """The rows to follow, such that the mean doubt of the others is small in each class."""
    rows, allowed = [], _DOUBT * max(solution.n_instances / _HUNDRED, 1.0)
    for sign in (-1.0, 1.0):
        own = np.flatnonzero(solution.present & (solution.y == sign))
        order = own[np.argsort(doubt[own], kind="stable")]
        total = np.cumsum(doubt[order])
        rows.append(order[total > allowed * own.size])
    return np.sort(np.concatenate(rows))


def _predict(
    gram: Gram, solution: DualSolution, spans: Spans, decision: Array, shift: Array
) -> tuple[Array, Bordered | None]:
    """Fill `shift` with predictions; return the doubt of every row, and the system, if computed.

    The doubt is not yet in units of the spread.  It is infinite if the in-bound vectors are
    dependent, so that the prediction is not unique.
    """
    y, beta, twins = solution.y, solution.beta, gram.twins(solution.y)
    doubt = np.zeros(y.size)
    inside = np.flatnonzero(solution.in_bound)
    bounded = np.flatnonzero(solution.bounded)
    x, C = (beta, solution.C) if twins is None else (twins.merge(beta), twins.merge(solution.C))
    lo, hi = box(y, C)
    hull = np.flatnonzero((x > lo) & (x < hi))
    squared = spans.squared
    mean = float(np.sqrt(squared[solution.support].mean()))
    reach = mean * np.maximum(mean, np.sqrt(squared))
    sums = gram.sums_over(solution.present)
    number = float(solution.n_instances)
    if hull.size < 2:
        room = float((C[hull] - np.abs(x[hull])).sum())
        _from_one(gram, solution, inside, bounded, room, sums, decision, shift, doubt)
        return doubt * reach, None
    system = bordered(gram, hull, solution.factor)
    if not system.independent:
        doubt[solution.support] = np.inf
        return doubt, system
    P, w = system.projected, system.weights
    # Bounded vectors: in-bound ones take over with weights `lean`; all relative to the first.
    base = hull[:1]
    from_base = gram.block(hull, base)[:, 0] - gram.diagonal[base]
    level = float(sums[base[0]])
    step = max(_BLOCK_NUMBERS // hull.size, 1)
    for part in (bounded[start : start + step] for start in range(0, bounded.size, step)):
        to_base = gram.block(part, base)
        lean = (gram.block(part, hull) - to_base) @ P + w
        doubt[part] = _outside(x[hull] + beta[part, None] * lean, lo[hull], hi[hull])
        growth = (sums[part] - level) - lean @ (sums[hull] - level)
        growth += number * ((gram.diagonal[base] - to_base[:, 0]) + lean @ from_base)
        shift[part] = -beta[part] * (growth - squared[part]) / (number - 1.0)
    # In-bound vectors: the others take over, and p no longer stays on its margin.
    own = np.diagonal(P)
    moved = x[hull] - (x[hull] / own)[:, None] * P
    lower, upper = np.tile(lo[hull], (hull.size, 1)), np.tile(hi[hull], (hull.size, 1))
    np.fill_diagonal(lower, -np.inf)
    np.fill_diagonal(upper, np.inf)
    over = np.zeros(y.size)
    over[hull] = _outside(moved, lower, upper)
    grown = np.zeros(y.size)
    growth = P @ (sums[hull] - level) + number * w - 1.0
    grown[hull] = -(x[hull] / own) * growth / (number - 1.0)
    if twins is None:
        doubt[inside], shift[inside] = over[inside], grown[inside]
    else:
        first = twins.first[inside]
        alone = C[first] == solution.C[inside]
        doubt[inside] = np.where(
            alone, over[first], np.maximum(np.abs(x[first]) - (C[first] - solution.C[inside]), 0.0)
        )
        shift[inside] = np.where(alone, grown[first], 0.0)
    doubt *= reach
    return doubt, system


def _outside(values: Array, lo: Array, hi: Array) -> Array:
    """The sum, per row, of how far values lie outside their boxes."""
    return (np.maximum(values - hi, 0.0) + np.maximum(lo - values, 0.0)).sum(axis=1)


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
) -> None:
    """The same if one vector takes over: the only in-bound one, or the next to reach its margin.

    `room` is how much the multiplier of the in-bound one, with its twins, may grow.
    """
    y, alpha, C = solution.y, solution.alpha, solution.C
    number = float(solution.n_instances)
    if inside.size > 1:  # twins
        doubt[inside] = np.maximum(C[inside] - room, 0.0)
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
