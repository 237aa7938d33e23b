"""Linear machines on many rows: which rows are near the margin, and the problem of those alone.

A row that is clearly on one side of its margin has its multiplier at a bound, whatever the rest
does.  Given an approximate machine, only the rows in a band around the margin form a problem, of
which the others are a constant part.  Its solution shows which of the others were on the wrong
side; these join, and the band becomes as wide as they were wrong.  A few rounds are enough, and
none needs more than one product with all rows in each direction.

The first approximate machine is the neighbour on a path, or one trained on some of the rows.

Distances from the affine hull of some rows are computed with a basis of that hull, or of what is
orthogonal to it, in the space of the features: O(d^2) for each row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from ..algebra.interior import interior_point
from ..algebra.qp import EQUAL_SUMS, Terms, kkt_gap, make_feasible, refine
from ..algebra.systems import Factor
from ..common.types import Array, Rows
from .functions import dense
from .gram import Gram

__all__ = ["distances_from_hull", "finish_linear", "near_solution", "start_linear"]

#: A machine with a smaller gap is finished from where it is.
_NEAR = 0.02

#: The first approximate machine is trained on this many rows per feature, and at least this many.
_SAMPLED_A_FEATURE, _SAMPLED = 20, 3000

#: Of very many rows it takes one in this many; rows that are wrong by less than a tenth of the
#: second number do not matter there.
_LEVEL, _GUIDE = 8, 0.1

#: With a mean weight, times the mean squared norm of this many rows, of more than the second
#: number, training starts from a machine whose weights are smaller, by this factor at most.
_LOOKED_AT, _EASY, _HARDER = 1000, 1.0, 16.0

#: The first band has this share of all rows; no band has fewer rows than these.
_SHARE, _BAND_A_FEATURE, _BAND = 0.08, 5, 1000

#: The next band is as wide as this fraction of how far any row outside the band was wrong.  Most
#: of that comes from the rows that were wrong, and these join anyway.
_WIDER = 0.4

#: With more than this share of the rows in the band, all of them are taken.
_ALL = 0.7

#: Violation of the KKT conditions allowed while the band is still changing, and at the end.
_ROUGH, _CLOSE = 1e-3, 1e-8

#: Rounds before all rows are taken.
_ROUNDS = 12

#: A machine is finished this many times at most, or until its gap is as small as this.
_FINISHES, _FINISHED = 5, 1e-9

#: Rows multiplied at a time.
_BLOCK_ROWS = 4096


class _Part(NamedTuple):
    """Solution of the problem of some rows: signed multipliers, normal vector, intercept."""

    x: Array
    normal: Array
    b: float


def near_solution(X: Any, lo: Array, hi: Array, guide: Array | None, tol: float) -> Array:
    """Signed multipliers near the solution, on their bounds except for rows at the margin.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (l, d)
    lo, hi : ndarray of shape (l,)
        The box; one of the two is 0.
    guide : ndarray of shape (l,), optional
        ``y f(x) - 1`` of every row, for a similar machine.
    tol : float
        Rows within a tenth of this of their margin count as being at it.
    """
    found = _in_bands(X, lo, hi, guide, tol, max(1e-3 * tol, _CLOSE))
    side = _sides(X, hi, found)
    return np.where(np.abs(side) > 0.1 * tol, _at_bounds(side, lo, hi), found.x)


def _in_bands(X: Any, lo: Array, hi: Array, guide: Array | None, tol: float, last: float) -> _Part:
    """Solve in bands until no row outside is wrong; `last` is the accuracy of the last one."""
    y, C = _signs(hi), hi - lo
    present = np.flatnonzero(C > 0.0)
    side = _guide(X, lo, hi, present) if guide is None else guide
    wrong = np.zeros(y.size, dtype=np.bool_)
    least = max(_BAND, _BAND_A_FEATURE * X.shape[1])
    count, before = max(least, int(_SHARE * present.size)), np.inf
    width, rough = _width(side[present], count), _ROUGH
    for turn in range(_ROUNDS + 1):
        width = max(width, _width(side[present], least))
        band = present[(np.abs(side[present]) <= width) | wrong[present]]
        if turn == _ROUNDS or band.size > _ALL * present.size:
            band, rough = present, last
        x = _at_bounds(side, lo, hi)
        x[band] = 0.0
        total = -float(x.sum())
        if not lo[band].sum() < total < hi[band].sum() and band.size < present.size:
            width *= 2.0
            continue
        part = _solve(X, y, C, band, X.T @ x, total, rough)
        x[band] = part.x
        part = part._replace(x=x)
        now = _sides(X, hi, part)
        wrong = ((now < 0.0) != (side < 0.0)) & (np.abs(now) > 0.1 * tol)
        wrong[band] = False
        wrong[C == 0.0] = False
        violation = float(np.abs(now[wrong]).max(initial=0.0))
        side = now
        if violation == 0.0 and rough == last:
            break
        # Rows that were wrong join.  More than these are not needed unless that does not help.
        if violation > 0.5 * before:
            count *= 2
        width, before = min(_WIDER * violation, _width(side[present], count)), violation
        rough = _ROUGH if violation > tol else last
    return part


def _signs(hi: Array) -> Array:
    return np.where(hi > 0.0, 1.0, -1.0)


def _sides(X: Any, hi: Array, machine: _Part) -> Array:
    """``y f(x) - 1`` of every row: negative inside the margin."""
    return _signs(hi) * (X @ machine.normal + machine.b) - 1.0


def _at_bounds(side: Array, lo: Array, hi: Array) -> Array:
    """Every multiplier at the bound that the side of its row calls for."""
    return np.where(side < 0.0, np.where(hi > 0.0, hi, lo), 0.0)


def _solve(X: Any, y: Array, C: Array, rows: Rows, fixed: Array, total: float, tol: float) -> _Part:
    """The problem of some rows; the others contribute `fixed` to the normal vector."""
    own = np.ascontiguousarray(dense(X[rows]), dtype=np.float64)
    alpha, b = interior_point(own, y[rows], C[rows], tol, fixed=fixed, total=total)
    x = y[rows] * alpha
    return _Part(x, fixed + own.T @ x, b)


def _guide(X: Any, lo: Array, hi: Array, present: Rows) -> Array:
    """``y f(x) - 1`` of every row, for a machine with smaller weights or on some of the rows.

    With large weights, a machine trained on some of the rows separates them, and says little
    about the others.
    """
    some = dense(X[present[:_LOOKED_AT]])
    size = float((hi - lo)[present].mean()) * float((some**2).sum() / some.shape[0])
    if size <= _EASY:
        return _from_sample(X, lo, hi, present)
    easier = max(_EASY / size, 1.0 / _HARDER)
    return _sides(X, hi, _in_bands(X, easier * lo, easier * hi, None, _GUIDE, _ROUGH))


def _from_sample(X: Any, lo: Array, hi: Array, present: Rows) -> Array:
    """``y f(x) - 1`` of every row, for a machine trained on some of the rows.

    With very many rows, that one starts from a machine trained on some of them, and so on.
    """
    y, C, width = _signs(hi), hi - lo, X.shape[1]
    size = max(_SAMPLED, _SAMPLED_A_FEATURE * width, present.size // _LEVEL)
    rows = present
    if 2 * size < present.size:
        rows = np.sort(np.random.default_rng(0).choice(present, size, replace=False))
    if np.unique(y[rows]).size == 1 or rows.size == present.size:
        return _sides(X, hi, _solve(X, y, C, present, np.zeros(width), 0.0, _ROUGH))
    scale = present.size / size
    return _sides(
        X, hi, _in_bands(X[rows], scale * lo[rows], scale * hi[rows], None, _GUIDE, _ROUGH)
    )


def _width(side: Array, count: int) -> float:
    """Half the width of the band that `count` rows are in."""
    if count >= side.size:
        return np.inf
    return float(np.partition(np.abs(side), count)[count])


def start_linear(
    gram: Gram, X: Any, x: Array, guide: Array, terms: Terms, tol: float
) -> tuple[Array, Array]:
    """A feasible point near the solution, and its gradient.

    `X` are the rows, `x` is a point of the box, and `guide` its gradient, or that of the solution
    of a similar problem.
    """
    c, lo, hi = terms.c, terms.lo, terms.hi
    g = gram.gradient(x, c)
    if kkt_gap(x, g, lo, hi) > max(tol, _NEAR):
        sides = None
        if x.any():
            sides = np.where(hi > 0.0, 1.0, -1.0) * (guide - _level(x, guide, lo, hi))
        x = near_solution(X, lo, hi, sides, tol)
        g = gram.gradient(x, c)
    # The sum is restored where it costs least, among the rows at the margin.
    part = np.flatnonzero((x > lo) & (x < hi))
    own = Terms(c[part], lo[part], hi[part], terms.total + float(x[part].sum() - x.sum()))
    if own.lo.sum() < own.total < own.hi.sum():
        K, before = gram.block(part, part), x[part]
        x[part], _ = make_feasible(K, before, g[part], own)
        gram.add_rows(g, part, x[part] - before)
    return gram.make_feasible(x, g, terms)


def finish_linear(
    gram: Gram, x: Array, g: Array, terms: Terms, tol: float, max_iter: int
) -> tuple[Array, Array, Factor | None]:
    """Solve the problem of the rows at the margin to rounding; the others stay at their bounds.

    Again, if it shows that others are at the margin.  Returns the point, its gradient, and the
    factor of its free variables, if there is one.
    """
    gap, factor = float(kkt_gap(x, g, terms.lo, terms.hi)), None
    for _ in range(_FINISHES):
        finished, its_g, its_factor = _finish_once(gram, x, g, terms, tol, max_iter)
        now = float(kkt_gap(finished, its_g, terms.lo, terms.hi))
        if now > gap:
            break
        before, gap = gap, now
        x, g, factor = finished, its_g, its_factor
        if gap <= _FINISHED or gap > 0.5 * before:
            break
    return x, g, factor


def _finish_once(
    gram: Gram, x: Array, g: Array, terms: Terms, tol: float, max_iter: int
) -> tuple[Array, Array, Factor | None]:
    lo, hi = terms.lo, terms.hi
    near = np.abs(g - _level(x, g, lo, hi)) <= tol
    part = np.flatnonzero(((x > lo) & (x < hi)) | (near & (lo < hi)))
    if part.size == 0:
        return x, g, None
    K, own = gram.block(part, part), x[part]
    result = refine(
        K, K.diagonal().copy(), own.copy(), g[part],
        Terms(g[part] - K @ own, lo[part], hi[part]), tol=tol, max_iter=max_iter, to_vertex=True,
    )  # fmt: skip
    x, factor = x.copy(), result.factor
    x[part] = result.x
    g = gram.gradient(x, terms.c)
    if abs(x.sum() - terms.total) > EQUAL_SUMS * np.abs(x).sum():
        # With hundreds of dependent rows at the margin, the sum may suffer.
        return (*gram.make_feasible(x, g, terms), None)
    if factor is not None:
        factor = factor._replace(inside=part[factor.inside], kept=part[factor.kept])
    return x, g, factor


def _level(x: Array, g: Array, lo: Array, hi: Array) -> float:
    """The gradient of rows at the margin: the mean of free ones, or the middle of its interval."""
    free = (x > lo) & (x < hi)
    if free.any():
        return float(g[free].mean())
    ends = np.array((g[x < hi].min(initial=np.inf), g[x > lo].max(initial=-np.inf)))
    return float(ends[np.isfinite(ends)].mean())


def distances_from_hull(X: Any, inside: Rows, rows: Rows, least: float) -> Array:
    """Squared distances of some rows from the affine hull of others.

    With a basis of the directions within the hull, or of those orthogonal to it, whichever are
    fewer.  A row whose squared distance from the hull of others is not above `least` adds no
    direction.
    """
    points = np.asarray(dense(X[inside]), dtype=np.float64)
    centre = points.mean(axis=0)
    Q, R, _ = linalg.qr((points - centre).T, pivoting=True, check_finite=False)
    rank = int(np.count_nonzero(np.diagonal(R) ** 2 > least))
    orthogonal = 2 * rank > centre.size
    basis = np.ascontiguousarray(Q[:, rank:] if orthogonal else Q[:, :rank])
    found = np.empty(rows.size)
    for start in range(0, rows.size, _BLOCK_ROWS):
        part = slice(start, start + _BLOCK_ROWS)
        apart = dense(X[rows[part]]) - centre
        along = apart @ basis
        found[part] = np.einsum("pi,pi->p", along, along)
        if not orthogonal:
            found[part] = np.einsum("pi,pi->p", apart, apart) - found[part]
    return np.maximum(found, 0.0)
