"""Where removals start: a trained machine as the tableau of :mod:`spansvm._removal` needs it.

Its free vectors must be affinely independent.  Where they are not (a linear kernel in few
dimensions, tiny gamma), the dual has many solutions; the multipliers are moved among the
dependent ones, which changes no decision value, until some meet their bounds and the others are
independent.  What is then said of a left-out instance does not depend on how they were moved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ._hull import factorise, limits_of
from ._linalg import cholesky_inverse, one_blas_thread
from ._removal import remove_all
from ._typing import Array, Rows
from .dual import DualSolution, box
from .gram import Gram
from .lazy import LazyGram, parse_budget
from .qp import kkt_gap

__all__ = ["Removals", "follow"]

#: Solutions that meet the KKT conditions less well than this are no vertices to start from.
_VERTEX = 1e-7

#: Multipliers that differ by less than this fraction are equal.
_ROUNDING = 1e-12


class Tableau(NamedTuple):
    """The linear system of a model; see :mod:`spansvm._removal`.

    Attributes
    ----------
    K : ndarray of shape (l, l)
    free, place : ndarray of int
        The free vectors, and for every vector its place among them, or -1.
    projected, weights, offset
        Inverse of the bordered system: without its border, its border, and its corner.
    values : ndarray of shape (n, l)
        Rows of the Gram matrix that belong to the free vectors.
    scale : float
        The largest kernel value.
    rows, slot, used
        Rows of the tableau that are known, where each is, and how many there are.
    """

    K: np.ndarray
    free: np.ndarray
    place: np.ndarray
    projected: Array
    weights: Array
    offset: float
    values: Array
    scale: float
    rows: Array
    slot: np.ndarray
    used: np.ndarray


class Removals(NamedTuple):
    """What is said of left-out instances.

    Attributes
    ----------
    decision : ndarray
        ``f^p(x_p)``; NaN where the solution could not be followed.
    shift : ndarray
        By how much the removal moves the decision values of the other instances in the mean.
    """

    decision: Array
    shift: Array


@dataclass(frozen=True, eq=False)
class Vertex:
    """A solution with independent free vectors, twins merged.

    Attributes
    ----------
    x, lo, hi : ndarray of shape (l,)
    residual : ndarray of shape (l,)
        ``Kx - y + b``; 0 for the free vectors.
    free : ndarray of int
    """

    x: Array
    lo: Array
    hi: Array
    residual: Array
    free: Rows


@one_blas_thread
def follow(gram: Gram, solution: DualSolution, rows: Rows) -> Removals:
    """Decision values of the support vectors in `rows`, each from the model without it."""
    lost = Removals(np.full(rows.size, np.nan), np.full(rows.size, np.nan))
    if rows.size == 0 or isinstance(gram, LazyGram) or solution.indefinite:
        return lost
    if 8.0 * len(gram) ** 2 > parse_budget(None):
        return lost
    vertex = _find_vertex(gram, solution)
    tableau = None if vertex is None else _tableau(gram, vertex.free)
    if vertex is None or tableau is None:
        return lost
    return _follow(gram, solution, vertex, tableau, rows)


def _follow(
    gram: Gram, solution: DualSolution, vertex: Vertex, tableau: Tableau, rows: Rows
) -> Removals:
    y, twins = solution.y, gram.twins(solution.y)
    counts, places = solution.present.astype(np.float64), rows
    amounts = vertex.x[rows]
    full = amounts != 0.0
    if twins is not None:
        # The others of its kind take over what they have room for.
        counts, places = twins.merge(counts), twins.first[rows]
        room = twins.merge(solution.C)[places] - solution.C[rows]
        excess = np.abs(vertex.x[places]) - room
        full = excess >= -_ROUNDING * np.abs(vertex.x[places])  # the others are at their bounds
        amounts = y[rows] * np.maximum(excess, 0.0)
    start = solution.decision - y
    decision, shift = solution.decision[rows].copy(), np.zeros(rows.size)
    moving = np.flatnonzero(full)
    _fill_rows(gram, tableau, np.unique(places[moving]))
    residual, growth = np.empty(moving.size), np.empty(moving.size)
    remove_all(
        tableau, vertex.x, vertex.residual, vertex.lo, vertex.hi, places[moving], amounts[moving],
        counts, start, residual, growth,
    )  # fmt: skip
    # ||w||^2 / 2 without an instance is at most the objective with it, and |f| at most this.
    most = 1.0 + 2.0 * np.sqrt(2.0 * max(solution.objective, 0.0) * tableau.scale)
    residual[np.abs(residual + y[rows[moving]]) > 1.01 * most] = np.nan
    decision[moving] = y[rows[moving]] + residual
    shift[moving] = np.where(np.isnan(residual), np.nan, growth)
    return Removals(decision, shift)


def _find_vertex(gram: Gram, solution: DualSolution) -> Vertex | None:
    """A solution to start from; None if rounding leaves none."""
    y, twins = solution.y, gram.twins(solution.y)
    x, C = solution.beta, solution.C
    if twins is not None:
        x, C = twins.merge(x), twins.merge(C)
    lo, hi = box(y, C)
    residual = solution.decision - y
    free = np.flatnonzero((x > lo) & (x < hi))
    if free.size == 0:
        return _adopt(x, lo, hi, residual)
    factor = factorise(gram.values, free, limits_of(gram.dtype))
    if factor.matrix.size == 0:
        return None
    if factor.ridge == 0.0 and factor.kept.size == free.size:
        return Vertex(x, lo, hi, residual, free)
    return _purify(gram, y, x, lo, hi, free)


def _adopt(x: Array, lo: Array, hi: Array, residual: Array) -> Vertex:
    """Without a free vector: the one that is first at its margin when the intercept moves."""
    may_grow = np.where((x < hi) & (lo < hi), residual, np.inf)
    may_fall = np.where((x > lo) & (lo < hi), -residual, np.inf)
    first = int(np.argmin(np.minimum(may_grow, may_fall)))
    return Vertex(x, lo, hi, residual - residual[first], np.array([first]))


def _purify(gram: Gram, y: Array, x: Array, lo: Array, hi: Array, free: Rows) -> Vertex | None:
    """Move multipliers among dependent vectors until the free ones are independent."""
    block = gram.block(free, free)
    shift = float(np.abs(np.diagonal(block)).mean()) or 1.0
    block += shift
    regular = limits_of(gram.dtype)[1] * shift
    _, order, rank, _ = linalg.lapack.dpstrf(block, tol=regular, lower=1)
    order -= 1
    basis, others = order[:rank].copy(), order[rank:]
    inner = block[np.ix_(basis, basis)]
    both = np.column_stack((block[np.ix_(basis, others)], np.ones(rank)))
    try:
        solved = linalg.cho_solve(linalg.cho_factor(inner, lower=True), both)
    except linalg.LinAlgError:
        return None
    weights, u = solved[:, :-1], solved[:, -1]
    weights += np.outer(u / u.sum(), 1.0 - weights.sum(axis=0))
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
    return _settle(gram, y, moved, lo, hi)


def _settle(gram: Gram, y: Array, x: Array, lo: Array, hi: Array) -> Vertex | None:
    """Take off what rounding left; None if the point is no solution."""
    free = np.flatnonzero((x > lo) & (x < hi))
    g = gram.gradient(x, -y)
    if free.size == 0:
        residual = g - g.mean()
        return _adopt(x, lo, hi, residual) if kkt_gap(x, g, lo, hi) <= _VERTEX else None
    factor = factorise(gram.values, free, limits_of(gram.dtype))
    if factor.matrix.size == 0 or factor.ridge > 0.0 or factor.kept.size < free.size:
        return None
    inverse, weights, _ = _bordered(factor.matrix)
    x = x.copy()
    for _ in range(2):
        step = -inverse @ g[free] - weights * x.sum()
        x[free] += step
        gram.add_rows(g, free, step)
    if not ((x[free] > lo[free]) & (x[free] < hi[free])).all():
        return None
    if kkt_gap(x, g, lo, hi) > _VERTEX:
        return None
    residual = g - float(g[free].mean())
    residual[free] = 0.0
    return Vertex(x, lo, hi, residual, free)


def _bordered(factor: Array) -> tuple[Array, Array, float]:
    """Inverse of the bordered system from the factor of its shifted block: P, u / s, 1 / s."""
    inverse = factor.copy()
    cholesky_inverse(inverse)
    u = inverse.sum(axis=1)
    s = float(u.sum())
    return inverse - np.outer(u, u) / s, u / s, 1.0 / s


def _tableau(gram: Gram, free: Rows) -> Tableau | None:
    n = len(gram)
    factor = factorise(gram.values, free, limits_of(gram.dtype))
    if factor.matrix.size == 0:
        return None
    projected, weights, corner = _bordered(factor.matrix)
    place = np.full(n, -1, dtype=np.intp)
    place[free] = np.arange(free.size)
    return Tableau(
        K=gram.values,
        free=free,
        place=place,
        projected=projected,
        weights=weights,
        offset=corner - factor.shift,
        values=gram.whole_rows(free),
        scale=max(float(np.abs(gram.diagonal).max()), float(np.finfo(np.float64).tiny)),
        rows=np.empty((n, n)),
        slot=np.full(n, -1, dtype=np.intp),
        used=np.zeros(1, dtype=np.intp),
    )


def _fill_rows(gram: Gram, tableau: Tableau, wanted: Rows) -> None:
    """Compute rows of the tableau together, for vectors that are not free."""
    wanted = wanted[tableau.place[wanted] < 0]
    if wanted.size == 0:
        return
    own = tableau.values[:, wanted]
    lean = tableau.projected @ own + tableau.weights[:, None]
    rows = tableau.rows[: wanted.size]
    np.matmul(lean.T, tableau.values, out=rows)
    np.subtract(gram.whole_rows(wanted), rows, out=rows)
    rows += (tableau.offset - tableau.weights @ own)[:, None]
    rows[:, tableau.free] = lean.T
    tableau.slot[wanted] = np.arange(wanted.size)
    tableau.used[0] = wanted.size
