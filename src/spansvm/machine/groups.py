"""Leaving out several rows of one machine at once.

With b the signed multipliers, G the rows that leave and J the in-bound vectors that stay, the
prediction is the block form of Theorem 2: the vectors of J stay in-bound, all others stay at their
bounds, and what J takes over solves

    K_JJ d + e 1 = K_JG b_G,    1'd = 1'b_G;    f^G(x) = f(x) - K_xG b_G + K_xJ d + e.

One inverse for all in-bound vectors serves every G: those that leave are taken out of it by a Schur
complement of their own size.  For a single row this is the span-rule.

The exact solution is followed while the multipliers of G go to zero
(:mod:`spansvm.core.removal`), or trained, starting from the prediction.

If only one class stays, the machine decides for it, with the value -1 or 1, as in leave-one-out; if
no row stays, its value is 0.  A regression has no classes: some row has to stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from ..algebra.blas import one_blas_thread
from ..algebra.qp import EQUAL_SUMS, default_max_iter
from ..algebra.systems import Bordered, bordered
from ..common.types import Array, Rows
from ..core.removal import Paths
from ..kernels.gram import Gram
from .dual import DualSolution, box, find_intercept, terms_of
from .following import EXACT_TOLERANCE, Vertex, start_paths
from .span import intercept_move
from .tube import solve_tube

__all__ = [
    "FARTHEST_OVER",
    "FEWEST_IN_BOUND",
    "FEW_ROWS",
    "LARGEST_DOUBT",
    "LARGEST_SHARE",
    "Removed",
    "Remover",
]

#: Groups of more than this share of a machine's rows are not predicted but followed (measured: the
#: block form is good up to about 5 %, and breaks down beyond 10 %).
LARGEST_SHARE = 0.05

#: The same if fewer in-bound vectors stay: with two, predicted errors were off by up to 0.37.
FEWEST_IN_BOUND = 10

#: The same if more than this part of the group's multipliers finds no room in the boxes of the
#: in-bound vectors: of such predictions 3 % have the wrong sign, of the others 0.7 % (measured).
LARGEST_DOUBT = 0.5

#: The same if a row that stays would end up farther than this on the wrong side of its margin: of
#: such predictions 3 to 8 % have the wrong sign, of the others 0.3 % (measured).
FARTHEST_OVER = 0.3

#: Machines of up to this many rows are never predicted: following them takes no longer (measured).
FEW_ROWS = 600

#: How many in-bound vectors determine the predicted intercept.
_LOOKED_AT = 8

#: Groups with more support vectors are retrained: their paths have too many turns (measured).
_FOLLOWED = 30

#: Training starts from the prediction, except for groups of more than this share of the rows: there
#: can only be a few of them, and the inverse for predictions takes as long as two trainings.
_STARTED = 0.1

_NOTHING = np.empty(0, dtype=np.intp), np.empty(0)


@dataclass(frozen=True, eq=False)
class Removed:
    """How a machine changes when some of its rows leave.

    Attributes
    ----------
    rows, moves : ndarray
        The rows whose signed multipliers change, and by how much; the changes sum to 0.
    intercept : float
        The change of the intercept.
    constant : float or None
        The value of the machine for all rows if fewer than two classes stay.
    exact : bool
        Whether this is the solution, not its prediction.
    doubt : float
        Of a prediction: the part of the group's multipliers that finds no room.
    gap : float
        Violation of the KKT conditions if the machine was retrained.
    """

    rows: Rows
    moves: Array
    intercept: float
    constant: float | None = None
    exact: bool = True
    doubt: float = 0.0
    gap: float = 0.0

    @property
    def unchanged(self) -> bool:
        """Whether the machine is the same as before."""
        return self.constant is None and self.rows.size == 0 and self.intercept == 0.0

    def values(self, plain: Array, kernel: Array) -> Array:
        """The values of some rows, from those before and their kernel values with `rows`."""
        if self.constant is not None:
            return np.full(plain.size, self.constant)
        if self.rows.size == 0:
            return plain + self.intercept
        # Differences are exact where the values themselves are nearly equal.
        return plain + (kernel - kernel[:, :1]) @ self.moves + self.intercept


class Remover:
    """Leaves out sets of rows of one machine; what all sets share is computed once.

    Parameters
    ----------
    gram : Gram
    solution : DualSolution
        The machine trained on it.
    """

    def __init__(self, gram: Gram, solution: DualSolution) -> None:
        self.gram, self.solution = gram, solution
        self._twins = gram.twins(solution.alike)
        x, C = solution.beta, solution.C
        if self._twins is not None:
            x, C = self._twins.merge(x), self._twins.merge(C)
        self._x, self._bounds = x, C
        lo, hi = box(solution.y, C)
        self._inside = (x > lo) & (x < hi)
        self._hull = np.flatnonzero(self._inside)
        self._n_positive = int((solution.present & (solution.y > 0)).sum())
        self._n_negative = solution.n_instances - self._n_positive

    # What leaves --------------------------------------------------------------------------

    @one_blas_thread
    def remove(self, members: Rows, *, exact: bool = False) -> Removed:
        """The machine without `members`: predicted, or exact if asked for or needed."""
        if not self.solution.support[members].any():
            return Removed(*_NOTHING, intercept_move(self.solution, members))
        constant = self._one_class(members)
        if constant is not None:
            return Removed(*_NOTHING, 0.0, constant)
        few = self.solution.n_instances <= FEW_ROWS
        if exact or few or self._share(members) > LARGEST_SHARE:
            return self.exact(members)
        predicted = self.predict(members)
        if predicted is None or not self._holds(predicted, members):
            return self.exact(members, predicted)
        return predicted

    def _share(self, members: Rows) -> float:
        return int(self.solution.present[members].sum()) / self.solution.n_instances

    def _holds(self, predicted: Removed, members: Rows) -> bool:
        """Whether enough in-bound vectors stay, and have room, and no other changes side."""
        stays = int((self._rest(members)[self._hull] > 0.0).sum())
        if stays < FEWEST_IN_BOUND or predicted.doubt > LARGEST_DOUBT:
            return False
        return self._over(predicted, members) <= FARTHEST_OVER

    def _over(self, predicted: Removed, members: Rows) -> float:
        """How far rows that stay and are not in-bound cross their margins."""
        solution, values = self.solution, self.solution.decision + predicted.intercept
        self.gram.add_rows(values, predicted.rows, predicted.moves)
        side = solution.y * (values - solution.edge)
        over = np.where(solution.bounded, side, np.maximum(-side, side - solution.tube))
        over[solution.in_bound | ~solution.present] = 0.0
        over[members] = 0.0
        return float(over.max())

    def _one_class(self, members: Rows) -> float | None:
        """The value of the machine if fewer than two classes stay, else None."""
        counted = members[self.solution.present[members]]
        if self.solution.target is not None:
            return 0.0 if counted.size == self.solution.n_instances else None
        positive = int((self.solution.y[counted] > 0).sum())
        negative = counted.size - positive
        stays = self._n_positive > positive, self._n_negative > negative
        return None if all(stays) else float(stays[0]) - float(stays[1])

    def _rest(self, members: Rows) -> Array:
        """The bounds without the group; of equal rows, their sum at the first."""
        rest = self.solution.C.copy()
        rest[members] = 0.0
        return rest if self._twins is None else self._twins.merge(rest)

    def shift(self, removed: Removed, members: Rows, values: Array | None = None) -> float:
        """The mean change of the values of all other rows that take part in training.

        `values` are those of the members after the removal, if they are known.
        """
        if removed.rows.size == 0:
            return removed.intercept
        if values is None:
            kernel = self.gram.block(members, removed.rows)
            values = removed.values(self.solution.decision[members], kernel)
        present = self.solution.present
        counted = present[members]
        sums, number = self.gram.sums_over(present), self.solution.n_instances
        total = float((sums[removed.rows] - sums[removed.rows[0]]) @ removed.moves)
        own = float((values - self.solution.decision[members])[counted].sum())
        rest = number - int(counted.sum())
        return (total + number * removed.intercept - own) / rest

    # Predicted ----------------------------------------------------------------------------

    @cached_property
    def _system(self) -> Bordered | None:
        """The inverse of the system of the in-bound vectors, unless they are dependent."""
        if self._hull.size < 2 or self.solution.indefinite:
            return None
        system = bordered(self.gram, self._hull, self.solution.factor)
        return system if system.independent else None

    @one_blas_thread
    def predict(self, members: Rows) -> Removed | None:
        """The block form; None if no in-bound vector stays, or they are dependent."""
        system, hull, x = self._system, self._hull, self._x
        if system is None:
            return None
        rest = self._rest(members)
        leaves = rest[hull] == 0.0
        # An in-bound vector with an equal one that stays is taken over by it, whatever its room.
        own = np.flatnonzero(leaves)
        bounded = np.flatnonzero(~self._inside & (x != 0.0) & (rest < self._bounds))
        moves = self.solution.y[bounded] * rest[bounded] - x[bounded]
        if own.size == hull.size:
            return None
        P, w = system.projected, system.weights
        base = hull[:1]
        change = -w * moves.sum()
        if bounded.size:
            kernel = self.gram.block(hull, bounded)
            change -= P @ ((kernel - kernel[0]) @ moves)
        if own.size:
            try:
                factor = linalg.cho_factor(P[np.ix_(own, own)])
            except linalg.LinAlgError:
                return None
            change += P[:, own] @ linalg.cho_solve(factor, -x[hull[own]] - change[own])
            change[own] = -x[hull[own]]
        lo, hi = box(self.solution.y[hull], rest[hull])
        moved = (x[hull] + change)[~leaves]
        outside = np.maximum(moved - hi[~leaves], 0.0) + np.maximum(lo[~leaves] - moved, 0.0)
        leaving = float(self.solution.alpha[members].sum())
        doubt = float(outside.sum()) / leaving if leaving > 0.0 else 0.0
        rows, moves = np.concatenate((hull, bounded)), np.concatenate((change, moves))
        stay = hull[~leaves][:_LOOKED_AT]
        block = self.gram.block(stay, rows) - self.gram.block(stay, base)
        return Removed(rows, moves, -float((block @ moves).mean()), exact=False, doubt=doubt)

    # Exact --------------------------------------------------------------------------------

    @one_blas_thread
    def exact(self, members: Rows, predicted: Removed | None = None) -> Removed:
        """The solution without the group; from `predicted` if it has to be trained."""
        few = int(self.solution.support[members].sum()) <= _FOLLOWED
        followed = self.follow(members) if few else None
        if followed is not None:
            return followed
        if predicted is None and self._share(members) <= _STARTED:
            predicted = self.predict(members)
        return self.retrain(members, predicted)

    @cached_property
    def _start(self) -> tuple[Vertex, Paths] | None:
        return start_paths(self.gram, self.solution, self._system)

    @one_blas_thread
    def follow(self, members: Rows) -> Removed | None:
        """The solution at the end of its path; None if it cannot be followed."""
        if self._start is None:
            return None
        vertex, paths = self._start
        y, edge, rest = self.solution.y, self.solution.edge, self._rest(members)
        points = np.flatnonzero(rest < self._bounds)
        # Others fit into what equal rows leave them.
        fits = np.abs(vertex.x[points]) < (1.0 - EQUAL_SUMS) * rest[points]
        if not (~fits & (vertex.x[points] != 0.0)).any():
            return Removed(*_NOTHING, 0.0)
        followed = paths.follow_group(points, *box(y[points], rest[points]))
        if followed is None:
            return None
        moved, change, intercept = followed
        # The vertex may be at another end of the interval of the intercept.
        first = vertex.free[0]
        offset = vertex.residual[first] - (self.solution.decision[first] - edge[first])
        return Removed(moved, change, intercept + float(offset))

    @one_blas_thread
    def retrain(self, members: Rows, predicted: Removed | None = None) -> Removed:
        """The solution, trained from the prediction, or from the machine with the group."""
        gram, y, x = self.gram, self.solution.y, self._x
        rest = self._rest(members)
        if self.solution.target is not None:
            return self._retrain_tube(rest, predicted)
        terms = terms_of(y, rest)
        lo, hi = terms.lo, terms.hi
        start = np.clip(x, lo, hi)
        if predicted is not None:
            start[predicted.rows] += predicted.moves
            start = np.clip(start, lo, hi)
        g = self.solution.gradient.copy()
        moved = np.flatnonzero(start != x)
        gram.add_rows(g, moved, (start - x)[moved])
        start, g = gram.make_feasible(start, g, terms)
        limit = default_max_iter(y.size)
        result = gram.solve(start, g, terms, tol=EXACT_TOLERANCE, max_iter=limit)
        intercept = find_intercept(result.x, result.gradient, lo, hi) - self.solution.intercept
        change = result.x - x
        moved = np.flatnonzero(change)
        return Removed(moved, change[moved], intercept, gap=result.gap)

    def _retrain_tube(self, rest: Array, predicted: Removed | None) -> Removed:
        """The same for a regression, with these bounds of the points."""
        target = self.solution.target
        assert target is not None
        start = self._x.copy()
        if predicted is not None:
            start[predicted.rows] += predicted.moves
        result = solve_tube(
            self.gram, target, rest, self.solution.epsilon, beta0=start, tol=EXACT_TOLERANCE
        )
        beta = result.beta if self._twins is None else self._twins.merge(result.beta)
        change = beta - self._x
        moved = np.flatnonzero(change)
        intercept = result.intercept - self.solution.intercept
        return Removed(moved, change[moved], intercept, gap=result.gap)
