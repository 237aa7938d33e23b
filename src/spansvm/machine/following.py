"""The starting point of removals: a trained machine as a vertex, and the paths from there.

Its free vectors must be affinely independent.  If they are not (a linear kernel in few dimensions,
a tiny gamma), the dual has many solutions.  Multipliers are then moved among the dependent vectors,
which changes no decision value, until some reach their bounds and the others are independent.  The
left-out values do not depend on how they were moved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ..algebra.blas import one_blas_thread
from ..algebra.qp import EQUAL_SUMS, STALE, QPResult, Terms, default_max_iter, kkt_gap
from ..algebra.systems import Bordered, Factor, bordered, from_first
from ..common.types import Array, Mask, Rows
from ..core.following import follow_rows_of
from ..core.removal import Paths
from ..core.solver import rounding_level
from ..kernels.gram import Gram
from .dual import DualSolution, box, find_intercept, terms_of
from .span import removals
from .tube import solve_tube

__all__ = [
    "EXACT_TOLERANCE",
    "Follower",
    "Removals",
    "Vertex",
    "can_follow",
    "find_vertex",
    "retrain",
    "start_paths",
]

#: Solutions that violate the KKT conditions by more than this cannot serve as starting vertices.
_VERTEX = 1e-7

#: KKT gap of models trained without an instance.
EXACT_TOLERANCE = 1e-8


class Removals(NamedTuple):
    """Values of left-out instances.

    Attributes
    ----------
    decision : ndarray
        ``f^p(x_p)``; NaN where the solution could not be followed.
    shift : ndarray
        The mean change that the removal causes in the decision values of the other instances.
    error : float
        The largest distance of a free vector from its margin at the end of a path.
    gaps : ndarray
        Violations of the KKT conditions of the machines that were retrained.
    """

    decision: Array
    shift: Array
    error: float
    gaps: Array = np.empty(0)


@dataclass(frozen=True, eq=False)
class Vertex:
    """A solution with independent free vectors and merged twins.

    Attributes
    ----------
    x, lo, hi : ndarray of shape (l,)
    residual : ndarray of shape (l,)
        ``Kx - y + b``, or from the edge of a tube; 0 for the free vectors.
    free : ndarray of int
    tube : float
        The width of the tube of a regression.
    """

    x: Array
    lo: Array
    hi: Array
    residual: Array
    free: Rows
    tube: float = np.inf


class Known:
    """Removals that were followed, and are the same for larger bounds.

    That is, no vector of the solution is bounded, and none met its bound on the way.  Along a path
    of growing C, solutions often stay the same from some C on.

    Parameters
    ----------
    solution : DualSolution
    """

    def __init__(self, solution: DualSolution) -> None:
        self._alpha, self._C, self._y = solution.alpha, solution.C, solution.y
        self._values = np.full((2, solution.y.size), np.nan)
        self._met = np.ones(solution.y.size, dtype=np.bool_)
        self._error = 0.0

    @classmethod
    def of(cls, gram: Gram, solution: DualSolution) -> Known:
        """What is known of this solution."""
        before: Known | None = getattr(gram, "_known_removals", None)
        known = cls(solution)
        if solution.bounded.any():
            return known
        if before is not None and before._holds_for(solution):
            known._values = np.where(before._met, np.nan, before._values)
            known._met, known._error = before._met.copy(), before._error
        gram._known_removals = known  # type: ignore[attr-defined]
        return known

    def _holds_for(self, solution: DualSolution) -> bool:
        return (
            np.array_equal(self._alpha, solution.alpha)
            and np.array_equal(self._C > 0.0, solution.present)
            and np.array_equal(self._y, solution.y)
            and bool((self._C <= solution.C).all())
        )

    def missing(self, rows: Rows) -> Rows:
        """Those of `rows` that are not known."""
        return rows[np.isnan(self._values[0, rows])]

    def add(self, rows: Rows, decision: Array, shift: Array, met: Mask, error: float) -> None:
        """Add removals; `met` tells where a vector met its bound."""
        self._values[0, rows], self._values[1, rows], self._met[rows] = decision, shift, met
        self._error = max(self._error, error)

    def take(self, rows: Rows) -> Removals:
        """The removals of some rows."""
        return Removals(self._values[0, rows], self._values[1, rows], self._error)


class Follower:
    """Follows removals of one machine; what they share is computed once.

    Parameters
    ----------
    gram : Gram
    solution : DualSolution
        The machine trained on it.
    system : Bordered, optional
        What :func:`~spansvm.algebra.systems.bordered` gives for the in-bound vectors, if known.
    """

    def __init__(self, gram: Gram, solution: DualSolution, system: Bordered | None = None) -> None:
        self._held = gram.held() if can_follow(gram, solution) else None
        self.gram = gram if self._held is None else self._held
        self.solution, self._system = solution, system

    @cached_property
    def _start(self) -> tuple[Vertex, Paths] | None:
        return start_paths(self.gram, self.solution, self._system)

    @one_blas_thread
    def follow(self, rows: Rows) -> Removals:
        """Decision values of the support vectors in `rows`, each from the model without it.

        NaN where the solution could not be followed.
        """
        found = Removals(np.full(rows.size, np.nan), np.full(rows.size, np.nan), 0.0)
        gram, solution = self._held, self.solution
        if rows.size == 0 or gram is None:
            return found
        known = Known.of(gram, solution)
        new = known.missing(rows)
        if new.size:
            twins = gram.twins(solution.alike)
            first = np.arange(len(gram)) if twins is None else twins.first
            of_new = follow_rows_of(
                gram.values, solution, first, gram.sums_over(solution.present), new
            )
            if of_new is None:
                return found if self._start is None else _follow(gram, solution, *self._start, rows)
            known.add(new, *of_new)
        return known.take(rows)

    @one_blas_thread
    def remove(self, rows: Rows, given_up: Mask | None = None) -> Removals:
        """The same, retrained where the solution could not be followed.

        `given_up` tells the rows for which that was tried before.
        """
        new = np.ones(rows.size, dtype=np.bool_) if given_up is None else ~given_up
        found = Removals(np.full(rows.size, np.nan), np.full(rows.size, np.nan), 0.0)
        if new.any():
            followed = self.follow(rows[new])
            found.decision[new], found.shift[new] = followed.decision, followed.shift
            found = found._replace(error=followed.error)
        lost = np.flatnonzero(np.isnan(found.decision))
        if lost.size == 0:
            return found
        values, shifts, gaps = retrain(self.gram, self.solution, rows[lost])
        found.decision[lost], found.shift[lost] = values, shifts
        return found._replace(gaps=gaps)


def can_follow(gram: Gram, solution: DualSolution) -> bool:
    """Whether there is room for a matrix and a tableau, and the kernel is not indefinite."""
    return not solution.indefinite and gram.has_room()


def _follow(
    gram: Gram, solution: DualSolution, vertex: Vertex, paths: Paths, rows: Rows
) -> Removals:
    edge, twins, places = solution.edge, gram.twins(solution.alike), rows
    rest = np.zeros(rows.size)
    if twins is not None:
        # Its twins take over what they have room for.
        places = twins.first[rows]
        rest = np.maximum(twins.merge(solution.C)[places] - solution.C[rows], 0.0)
    size = np.abs(vertex.x[places])
    moves = (size > 0.0) & (size - rest >= -EQUAL_SUMS * size)  # otherwise they are still free
    decision, shift = solution.decision[rows].copy(), np.zeros(rows.size)
    own, others, error = paths.follow_rows(
        places[moves], rest[moves], gram.sums_over(solution.present), float(solution.n_instances)
    )
    value = edge[rows[moves]] + vertex.residual[places[moves]] + own
    # The vertex may be at another end of the interval of the intercept.
    free = vertex.free[0]
    others -= solution.decision[free] - edge[free] - vertex.residual[free]
    # ||w||^2 / 2 without an instance is at most the objective with it, and |f| at most this.
    farthest = float(np.abs(solution.alike).max()) + solution.epsilon
    most = farthest + 2.0 * np.sqrt(2.0 * max(solution.objective, 0.0) * gram.diagonal.max())
    value[np.abs(value) > 1.01 * most] = np.nan
    decision[moves], shift[moves] = value, np.where(np.isnan(value), np.nan, others)
    return Removals(decision, shift, error)


def retrain(gram: Gram, solution: DualSolution, rows: Rows) -> tuple[Array, Array, Array]:
    """``f^p(x_p)``, the mean shift of the others, and the KKT gap, by training without p.

    For each p in `rows`; each training starts from the prediction of the span, or from the model
    without another row of its class, in which the two change places: where kernel values are nearly
    0, that is nearly the solution.
    """
    y, limit = solution.y, default_max_iter(solution.y.size)
    latest: dict[float, tuple[int, QPResult]] = {}  # by class
    values, shifts, gaps = np.empty(rows.size), np.empty(rows.size), np.zeros(rows.size)
    for removal in removals(gram, solution, 10 * EXACT_TOLERANCE, rows):
        p, k = removal.row, np.flatnonzero(rows == removal.row)[0]
        x, g = removal.beta, removal.gradient
        C = np.where(np.arange(y.size) == p, 0.0, solution.C)
        if solution.target is not None:
            retrained = solve_tube(
                gram, solution.target, C, solution.epsilon, beta0=x, tol=EXACT_TOLERANCE
            )
            decision, gaps[k] = retrained.decision, retrained.gap
        else:
            terms = terms_of(y, C)
            if not removal.exact:
                x, g = gram.make_feasible(x, g, terms)
                factor, before = None, latest.get(y[p])
                if before is not None:
                    x, g, factor = _nearer(gram, terms, (x, g), p, *before)
                result = gram.solve(x, g, terms, tol=EXACT_TOLERANCE, max_iter=limit, known=factor)
                x, g, gaps[k] = result.x, result.gradient, result.gap
                latest[y[p]] = p, result
            decision = g - terms.c + find_intercept(x, g, terms.lo, terms.hi)
        others = solution.present.copy()
        others[p] = False
        values[k], shifts[k] = decision[p], (decision - solution.decision)[others].mean()
    return values, shifts, gaps


def _nearer(
    gram: Gram, terms: Terms, point: tuple[Array, Array], p: int, q: int, other: QPResult
) -> tuple[Array, Array, Factor | None]:
    """Where to start without row p: at a point, or at the solution without q, changed for p.

    Whichever violates the KKT conditions less; with the gradient there, and the factor if known.
    """
    x, given = other.x.copy(), other.x[p]
    x[p], x[q] = 0.0, given
    if terms.lo[q] <= given <= terms.hi[q]:
        g = other.gradient.copy()
        gram.add_rows(g, np.array([p, q]), np.array([-given, given]))
        if kkt_gap(x, g, terms.lo, terms.hi) < kkt_gap(*point, terms.lo, terms.hi):
            return x, g, other.factor
    return *point, None


def start_paths(
    gram: Gram, solution: DualSolution, system: Bordered | None
) -> tuple[Vertex, Paths] | None:
    """The vertex of a machine, and paths from there; None if there is none."""
    if gram.values is None or not can_follow(gram, solution):
        return None
    found = find_vertex(gram, solution, system)
    return None if found is None else (found[0], Paths(gram.values, *found))


def find_vertex(
    gram: Gram, solution: DualSolution, system: Bordered | None
) -> tuple[Vertex, Bordered] | None:
    """A solution to start from, with its inverse; None if rounding prevents it."""
    edge, twins = solution.edge, gram.twins(solution.alike)
    x, C = solution.beta, solution.C
    if twins is not None:
        x, C = twins.merge(x), twins.merge(C)
    lo, hi = box(solution.y, C)
    residual = solution.decision - edge
    free = np.flatnonzero((x > lo) & (x < hi))
    if free.size and rounding_level(x, gram.diagonal) > STALE:
        # Those of training keep the rounding errors of all its steps.
        residual = gram.gradient(x, -edge)
        residual -= residual[free].mean()
    if free.size == 0:
        vertex = _adopt(x, lo, hi, residual, solution.tube)
        return vertex, bordered(gram, vertex.free)
    if system is None:
        system = bordered(gram, free, solution.factor)
    if system.independent:
        return Vertex(x, lo, hi, residual, free, solution.tube), system
    return _purify(gram, solution, x, lo, hi, free)


def _adopt(x: Array, lo: Array, hi: Array, residual: Array, tube: float) -> Vertex:
    """If no vector is free, free the first one to reach its margin as the intercept moves."""
    may_grow = np.where((x < hi) & (lo < hi), residual, np.inf)
    may_fall = np.where((x > lo) & (lo < hi), -residual, np.inf)
    first = int(np.argmin(np.minimum(may_grow, may_fall)))
    return Vertex(x, lo, hi, residual - residual[first], np.array([first]), tube)


def _purify(
    gram: Gram, solution: DualSolution, x: Array, lo: Array, hi: Array, free: Rows
) -> tuple[Vertex, Bordered] | None:
    """Move multipliers among dependent vectors until the free ones are independent."""
    # The first is in the basis; the others are taken relative to it.
    _, G, least = from_first(gram, free)
    factor, order, rank, _ = linalg.lapack.dpstrf(G, tol=least, lower=1)
    order -= 1
    chosen, others = order[:rank], order[rank:] + 1
    if rank:
        rest = linalg.cho_solve((factor[:rank, :rank], True), G[np.ix_(chosen, others - 1)])
    else:
        rest = np.zeros((0, others.size))
    basis = np.concatenate(([0], chosen + 1))
    weights = np.vstack((1.0 - rest.sum(axis=0), rest))
    value, low, high = x[free].copy(), lo[free], hi[free]
    for column, other in enumerate(others):
        own = weights[:, column]
        # One unit of `other` replaces `own` of the basis, in either direction.
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.where(own > 0, (value - low)[basis], (value - high)[basis]) / own
            starts = np.where(own > 0, (value - high)[basis], (value - low)[basis]) / own
        ends[own == 0.0], starts[own == 0.0] = np.inf, -np.inf
        up, down = min(ends.min(), np.inf), max(starts.max(), -np.inf)
        if high[other] - value[other] <= up or low[other] - value[other] >= down:
            grows = high[other] - value[other] <= up
            step = (high if grows else low)[other] - value[other]
            value[basis] -= step * own
            value[other] += step
            continue
        step, leaving = (up, int(ends.argmin())) if up <= -down else (down, int(starts.argmax()))
        value[basis] -= step * own
        value[other] += step
        gone = basis[leaving]
        value[gone] = (
            low[gone] if value[gone] - low[gone] < high[gone] - value[gone] else high[gone]
        )
        pivot, rest = own[leaving], weights[leaving, column + 1 :].copy()
        weights[:, column + 1 :] -= np.outer(own, rest / pivot)
        weights[leaving, column + 1 :] = rest / pivot
        basis[leaving] = other
    moved = x.copy()
    moved[free] = np.clip(value, low, high)
    return _settle(gram, solution, moved, lo, hi)


def _settle(
    gram: Gram, solution: DualSolution, x: Array, lo: Array, hi: Array
) -> tuple[Vertex, Bordered] | None:
    """Remove the effects of rounding; None if the point is not a solution."""
    free = np.flatnonzero((x > lo) & (x < hi))
    g = gram.gradient(x, -solution.edge)
    if free.size == 0:
        if kkt_gap(x, g, lo, hi) > _VERTEX:
            return None
        vertex = _adopt(x, lo, hi, g, solution.tube)
        return vertex, bordered(gram, vertex.free)
    system = bordered(gram, free)
    if not system.independent:
        return None
    x = x.copy()
    for _ in range(2):
        step = -system.projected @ g[free] - system.weights * x.sum()
        x[free] += step
        gram.add_rows(g, free, step)
    inside = (x[free] > lo[free]) & (x[free] < hi[free])
    if not inside.all() or kkt_gap(x, g, lo, hi) > _VERTEX:
        return None
    residual = g - float(g[free].mean())
    residual[free] = 0.0
    return Vertex(x, lo, hi, residual, free, solution.tube), system
