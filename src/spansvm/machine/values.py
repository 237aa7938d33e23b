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
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..algebra.blas import one_blas_thread
from ..common.types import Array, Mask, Rows
from ..core.solver import rounding_level
from ..kernels.gram import Gram
from .doubt import Prediction, doubtful, predict
from .dual import DualSolution
from .following import Follower, can_follow
from .span import Spans, find_spans, intercept_moves

__all__ = [
    "LOOSE",
    "Followed",
    "LeftOutValues",
    "Verified",
    "accuracy_of",
    "counted_values",
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
    rows : ndarray of int
        Rows whose removals were followed exactly, or that are the only ones of their class.
    """

    decision: Array
    comparable: Array
    rows: Rows


class Verified(NamedTuple):
    """Left-out values of the rows of all machines, followed where their signs were doubtful.

    With several pairs of classes, those are followed on which a predicted class depends.

    Attributes
    ----------
    decision, shift : ndarray
        The values, and the mean change of all others where they were followed; NaN where that was
        given up.
    followed, doubtful : ndarray of bool
        Where that is, and whose signs may be wrong, and matter, even so.
    error : ndarray of shape (n_machines,)
        The largest distance of a free vector from its margin at the end of a path.
    classes : ndarray of int, or None
        With several pairs, the class that is predicted for every row.
    """

    decision: Array
    shift: Array
    followed: Mask
    doubtful: Mask
    error: Array
    classes: np.ndarray | None


class Followed:
    """Removals of one machine that were followed, and the values that they gave.

    Attributes
    ----------
    rows : ndarray of int
    decision, shift : ndarray
        As in :class:`~spansvm.machine.following.Removals`.
    error : float
    """

    def __init__(self) -> None:
        self.rows = np.empty(0, dtype=np.intp)
        self.decision, self.shift = np.empty(0), np.empty(0)
        self.error = 0.0

    def take(self, rows: Rows, decision: Array, shift: Array, error: float) -> None:
        """Take over what was followed elsewhere."""
        self.rows = np.concatenate((self.rows, rows))
        self.decision = np.concatenate((self.decision, decision))
        self.shift = np.concatenate((self.shift, shift))
        self.error = max(self.error, error)

    def add(self, rows: Rows, follower: Follower, given_up: Mask | None = None) -> None:
        """Follow those of `rows` that were not followed yet; `given_up` as in :class:`Follower`."""
        if self.rows.size:
            new = ~np.isin(rows, self.rows)
            rows, given_up = rows[new], None if given_up is None else given_up[new]
        if rows.size == 0:
            return
        found = follower.remove(rows, given_up)
        self.take(rows, found.decision, found.shift, found.error)


@one_blas_thread
def left_out_values(
    gram: Gram,
    solution: DualSolution,
    spans: Spans | None = None,
    followed: Followed | None = None,
    predicted: Prediction | None = None,
) -> LeftOutValues:
    """Values of left-out instances, predicted by the span and followed where that is doubtful.

    Parameters
    ----------
    gram : Gram
    solution : DualSolution
        The model trained on it.
    spans : Spans, optional
        Its spans, if available.
    followed : Followed, optional
        Removals that were followed already.
    predicted : Prediction, optional
        What the spans predict, if available.
    """
    if spans is None:
        spans = find_spans(gram, solution)
    decision, shift = spans.decision.copy(), np.zeros(spans.decision.size)
    accuracy = accuracy_of(gram, solution)
    spread = float(solution.decision[solution.present].std())
    exact = np.empty(0, dtype=np.intp)
    # The removals of an unfinished model are not worth following.
    if spread > max(accuracy, _ABOVE_GAP * solution.gap) and not solution.indefinite:
        predicted = predict(gram, solution, spans) if predicted is None else predicted
        decision, shift = predicted.decision.copy(), predicted.shift.copy()
        rows = _doubtful(solution, predicted.doubt / spread)
        if can_follow(gram, solution):
            followed = followed or Followed()
            followed.add(rows, Follower(gram, solution, predicted.system))
            decision[followed.rows], shift[followed.rows] = followed.decision, followed.shift
            accuracy = max(accuracy, _ABOVE_GAP * min(followed.error, _UNFINISHED))
            exact = followed.rows
    alone = _alone_in_class(solution)
    decision[alone], shift[alone] = -solution.y[alone], 0.0
    return LeftOutValues(
        rounded(decision, accuracy), ranking(solution, decision - shift, accuracy),
        np.union1d(exact, alone),
    )  # fmt: skip


@one_blas_thread
def exact_values(gram: Gram, solution: DualSolution) -> LeftOutValues:
    """The same with every removal followed exactly, or retrained where it cannot be.

    Warns
    -----
    ConvergenceWarning
        If models violate the KKT conditions by more than 1e-5, because rounding or the
        iteration limit ended their training.
    """
    alone = _alone_in_class(solution)
    rows = np.setdiff1d(np.flatnonzero(solution.support), alone)
    removals = Follower(gram, solution).remove(rows)
    shift = intercept_moves(solution)
    decision = solution.decision + shift
    decision[rows], shift[rows] = removals.decision, removals.shift
    decision[alone], shift[alone] = -solution.y[alone], 0.0
    gaps = np.append(removals.gaps, solution.gap)
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
    return LeftOutValues(decision, ranking(solution, decision - shift, accuracy), rows)


@one_blas_thread
def counted_values(gram: Gram, solution: DualSolution) -> Array:
    """Decision values that :mod:`spansvm.multiclass.verified` counts: with exact signs."""
    spans = find_spans(gram, solution)
    if not solution.converged or not can_follow(gram, solution):
        return spans.decision
    predicted, y = predict(gram, solution, spans), solution.y
    rows = doubtful(y * solution.decision, y * predicted.decision, predicted.drop)
    rows &= solution.support
    alone = _alone_in_class(solution)
    rows[alone] = False
    values = np.where(solution.support, predicted.decision, solution.decision)
    values[alone] = -y[alone]
    found = Follower(gram, solution, predicted.system).remove(np.flatnonzero(rows))
    values[rows] = found.decision
    return without_traces(values)


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
