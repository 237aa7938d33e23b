"""Training sets whose Gram matrix does not fit into memory, or is not needed.

A :class:`LazyGram` computes entries when they are needed.  Training works on part of the variables
at a time: all free ones and the worst
violators of the KKT conditions form a subproblem with its own matrix, and the gradient of all rows
is updated from the rows of the variables that moved.  A linear kernel needs no entries for that:
``K x = X (X'x)``, and :mod:`spansvm.kernels.linear` finds the rows at the margin.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.hull import hull_distances
from ..algebra.qp import QPResult, Terms, keeps_sum, kkt_gap, refine
from ..algebra.systems import Factor, factorise, independent_above
from ..common.memory import parse_budget
from ..common.types import Array, Mask, Rows
from ..core.solver import add_rows
from .functions import Kernel, common_part, whole_matrix
from .gram import (
    BALL_TOLERANCE,
    BoundedSums,
    Box,
    Gram,
    HeldGram,
    as_rows,
    ball_weights,
)
from .linear import distances_from_hull, finish_linear, start_linear
from .twins import equal_rows, equalise

__all__ = ["LazyGram", "gram_of"]

#: A linear kernel needs no matrix with at least this many rows, and this many per feature.
_MANY_ROWS, _ROWS_A_FEATURE = 3000, 20

#: A matrix is kept in single precision only if its largest entry is at most so many times the mean
#: squared distance of the points from their mean: of seven digits, five to six are left.
_MOST_IN_COMMON = 20.0

#: Kernel values computed at a time.
_BLOCK_NUMBERS = 4_000_000

#: Variables in a subproblem: the minimum, and the multiple of the number of free ones.
_WORKING, _WORKING_A_FREE = 3000, 2

#: A subproblem may have this many variables however small the budget; fewer would hardly progress.
_FEWEST = 1000

#: A matrix of that many rows, in bytes, is allowed whatever the budget.
_SMALL_MATRIX = 8.0 * _FEWEST**2

#: A subproblem is solved to this fraction of the whole problem's gap, but not below half of `tol`.
_INNER = 0.1

#: Rounding in single and in double precision, and the fraction of the gap that it may account for.
_SINGLE, _DOUBLE, _DRIFT = 2.0**-24, 2.0**-53, 0.2

#: Up to this many features, linear machines are trained and measured in the space of the features.
_MOST_FEATURES = 5000

#: Number of subproblems before training is given up.
_ROUNDS = 1000

#: Rows from which sums over many are estimated.
_LOOKED_AT = 1000

#: With more than one in this many rows, a product with all of them is quicker than a copy of some.
_COPIED = 10


def gram_of(
    kernel: Kernel,
    X: Any,
    budget: float | str | None = None,
    *,
    whole: bool = False,
    kinds: Callable[[], Rows | None] | None = None,
) -> Gram:
    """The Gram matrix of some rows, in the most precise form that fits the budget.

    Whole in double precision, whole in single precision, or computed when needed; the latter also
    where single precision would lose too many digits, and for linear kernels with many more rows
    than features, unless a `whole` one is requested.
    `kinds` gives the first equal of every row, if the caller knows a quicker way than to compare.
    """
    if kernel.precomputed:
        return HeldGram(kernel(X))
    n, d = X.shape if hasattr(X, "shape") else (len(X), 0)
    if not whole and kernel.linear and n >= _MANY_ROWS and n >= _ROWS_A_FEATURE * d:
        return LazyGram(kernel, X, budget)
    allowed = parse_budget(budget, 8.0 * n**2)
    for dtype in (np.float64, np.float32):
        if np.dtype(dtype).itemsize * n**2 <= allowed:
            at_once = callable(kernel.name) and (dtype is np.float64 or d == 0)
            if dtype is np.float32 and not at_once and _loses_digits(kernel, X):
                break
            values = kernel(X) if at_once else whole_matrix(kernel, X, dtype)
            if at_once:
                return HeldGram(values, kernel_range=kernel.range)
            first = equal_rows(X) if kinds is None else kinds()
            if first is not None:
                equalise(values, first)
            gram = HeldGram(values, kernel_range=kernel.range)
            gram.kinds = first
            return gram
    return LazyGram(kernel, X, allowed)


def _loses_digits(kernel: Kernel, X: Any) -> bool:
    """Whether single precision is too little for these kernel values: the rows are far from 0.

    Values within a known range are small; what they have in common does no harm.
    """
    return kernel.range is None and common_part(kernel, X) > _MOST_IN_COMMON


class LazyGram(Gram):
    """A Gram matrix whose entries are computed when they are needed.

    Parameters
    ----------
    kernel : Kernel
    X : array-like or sparse matrix of shape (l, d)
    budget : float or str, optional
        Memory that may be used, as in :func:`parse_budget`: half to cache rows of the matrix, half
        for a subproblem.  A subproblem of 1000 rows, 8 MB, is allowed whatever the budget.
    """

    values: None = None

    def __init__(self, kernel: Kernel, X: Any, budget: float | str | None = None) -> None:
        self.kernel, self.X = kernel, X
        self.budget = parse_budget(budget)
        self._n = int(X.shape[0])
        slots = 0 if kernel.linear else int(0.5 * self.budget / (4.0 * self._n))
        self._slots = min(slots, self._n)
        self._slot_of = np.full(self._n, -1, dtype=np.intp)
        self._next = 0

    def __len__(self) -> int:
        return self._n

    def held(self) -> HeldGram:
        """The matrix with all its values in memory; computed anew."""
        whole = HeldGram(self.whole_rows(np.arange(self._n)))
        whole.kinds = self.kinds
        return whole

    def has_room(self) -> bool:
        """Whether the matrix is small enough to be computed for removals, whatever the budget."""
        return 8.0 * self._n**2 <= _SMALL_MATRIX

    @property
    def _few_features(self) -> bool:
        return self.kernel.linear and self.X.shape[1] <= _MOST_FEATURES

    @property
    def dtype(self) -> np.dtype:
        """Precision of the gradient; single where rows are kept."""
        return np.dtype(np.float64 if self.kernel.linear else np.float32)

    # Quantities that depend only on the rows -------------------------------------------------

    @cached_property
    def kinds(self) -> Rows | None:
        """For every row, the first one equal to it; None if all differ."""
        return equal_rows(self.X)

    @cached_property
    def diagonal(self) -> Array:
        """``K(x_i, x_i)``."""
        return self.kernel.diagonal(self.X)

    @property
    def spread(self) -> float:
        """An upper bound on the difference between any two kernel values.

        The length of the kernel's range if known, otherwise twice the largest squared norm, which
        may exceed the largest minus the smallest entry.
        """
        if self.kernel.range is not None:
            return self.kernel.range[1] - self.kernel.range[0]
        return 2.0 * float(self.diagonal.max())

    @cached_property
    def radius(self) -> float:
        """Radius of the smallest ball that encloses all points.

        Starting with the ball around a few points, the points farthest outside are added until
        none is outside.  If the kernel is not positive semidefinite, the result has no meaning.
        """
        slack = 2.0 * BALL_TOLERANCE * float(np.abs(self.diagonal).max())
        kept = np.unique(np.linspace(0, self._n - 1, 20).astype(np.intp))
        before = -np.inf
        while True:
            x = np.zeros(self._n)
            x[kept] = ball_weights(self.block(kept, kept))
            # Single precision is not enough: the ball may be far from the origin.
            inner = self._exact_gradient(x, np.zeros(self._n))
            squared = self.diagonal - 2.0 * inner + float(x @ inner)
            found = float(x @ squared)
            outside = np.argsort(-squared)[:100]
            outside = outside[squared[outside] > found + slack]
            # Every point outside makes the ball grow, unless the kernel is indefinite.
            if outside.size == 0 or not found > before:
                return float(np.sqrt(max(float(squared.max()), 0.0)))
            kept, before = np.union1d(np.flatnonzero(x), outside), found

    def _sum_over(self, mask: Mask) -> Array:
        """The sums, estimated from some of the points, as computing all values would take long."""
        rows = np.flatnonzero(mask)
        if not self.kernel.linear:
            rows = rows[:: -(-rows.size // _LOOKED_AT)]
        sums = np.zeros(self._n)
        self.add_rows(sums, rows, np.full(rows.size, np.count_nonzero(mask) / max(rows.size, 1)))
        return sums

    def subset(self, rows: npt.ArrayLike) -> Gram:
        """The Gram matrix of some of the points, in its share of the budget; this one, if all are.

        All pairs of classes have one at the same time.
        """
        rows = as_rows(rows)
        if rows.size == self._n:
            return self
        share = self.budget * (rows.size / self._n) ** 2
        return gram_of(self.kernel, self.X[rows], max(share, 1.0))

    # Entries ------------------------------------------------------------------------------

    def block(self, rows: Rows, columns: Rows) -> Array:
        """Some entries, in double precision."""
        self._check(8.0 * len(rows) * len(columns), f"{len(rows)} x {len(columns)} kernel values")
        if len(rows) == 0 or len(columns) == 0:
            return np.zeros((len(rows), len(columns)))
        return np.asarray(self.kernel(self.X[rows], self.X[columns]), dtype=np.float64)

    def _check(self, size: float, what: str) -> None:
        # Small blocks are allowed whatever the budget.
        if size > max(self.budget, 2.0**28):
            raise MemoryError(
                f"{what} take {size / 2**30:.1f} GiB, more than gram_budget allows "
                f"({self.budget / 2**30:.1f} GiB). Raise gram_budget, or train on fewer rows."
            )

    def factor(self, inside: Rows) -> Factor:
        """:func:`spansvm.algebra.systems.factorise` of these points."""
        own = np.ascontiguousarray(self.block(inside, inside))
        factor = factorise(own, np.arange(inside.size))
        return factor._replace(inside=inside, kept=inside[factor.kept])

    def hull_distances(self, factor: Factor, others: Rows, squared: Array) -> None:
        """Distances of the others, in blocks, from the hull of these points."""
        inside = factor.inside
        n = inside.size
        if self._few_features:
            least = independent_above(self)
            squared[others] = distances_from_hull(self.X, inside, others, least)
            others = others[:0]
        step = max(_BLOCK_NUMBERS // n, 1000)
        here = factor._replace(inside=np.arange(n), kept=np.searchsorted(inside, factor.kept))
        for start in range(0, max(others.size, 1), step):
            part = others[start : start + step]
            rows = np.zeros((n, n + part.size))  # only the values of the others are used
            rows[:, n:] = self.block(inside, part)
            both = np.concatenate((inside, part))
            found = np.zeros(both.size)
            hull_distances(rows, self.diagonal[both], n + np.arange(part.size), here, found)
            squared[both] = found

    def add_rows(self, g: Array, rows: Rows, weights: Array) -> None:
        """``g += weights @ K[rows]``, in place."""
        if self.kernel.linear:
            normal = self._normal(rows, weights)
            g += np.asarray(self.X @ normal).ravel()
            return
        slots = self._slot_of[rows]
        here = slots >= 0
        if here.any():
            add_rows(g, self._kept, slots[here], weights[here])
        rows, weights = rows[~here], weights[~here]
        step = max(1, _BLOCK_NUMBERS // self._n)
        for start in range(0, rows.size, step):
            part = rows[start : start + step]
            values = np.asarray(self.kernel(self.X[part], self.X), dtype=np.float64)
            g += weights[start : start + step] @ values
            self._keep(part, values)

    def _normal(self, rows: Rows, weights: Array) -> Array:
        """``weights @ X[rows]``; if there are many, without a copy of them."""
        if _COPIED * rows.size < self._n:
            return np.asarray(self.X[rows].T @ weights)
        x = np.zeros(self._n)
        x[rows] = weights
        return np.asarray(self.X.T @ x)

    @cached_property
    def _kept(self) -> np.ndarray:
        """Cached rows in single precision; new ones replace the oldest."""
        return np.empty((self._slots, self._n), dtype=np.float32)

    @cached_property
    def _owner(self) -> np.ndarray:
        return np.full(self._slots, -1, dtype=np.intp)

    def _keep(self, rows: Rows, values: Array) -> None:
        for row, value in zip(rows[: self._slots], values, strict=False):
            slot = self._next
            self._next = (slot + 1) % self._slots
            if self._owner[slot] >= 0:
                self._slot_of[self._owner[slot]] = -1
            self._owner[slot], self._slot_of[row] = row, slot
            self._kept[slot] = value

    def _exact_gradient(self, x: Array, c: Array) -> Array:
        """``Kx + c`` in double precision throughout."""
        if not self._slots:
            return self.gradient(x, c)
        g = c.copy()
        rows = np.flatnonzero(x)
        step = max(1, _BLOCK_NUMBERS // self._n)
        for start in range(0, rows.size, step):
            part = rows[start : start + step]
            g += x[part] @ np.asarray(self.kernel(self.X[part], self.X), dtype=np.float64)
        return g

    # Training -----------------------------------------------------------------------------

    def make_feasible(self, x: Array, g: Array, terms: Terms) -> tuple[Array, Array]:
        """A feasible point near `x`, and its gradient, from that of `x`."""
        lo, hi = terms.lo, terms.hi
        target = np.clip(x, lo, hi)
        missing = terms.total - float(target.sum())
        if missing != 0.0:
            sign = np.sign(missing)
            order = np.argsort(sign * g, kind="stable")
            room = (hi - target if sign > 0 else target - lo)[order]
            before = np.concatenate(([0.0], np.cumsum(room)[:-1]))
            target[order] += sign * np.clip(abs(missing) - before, 0.0, room)
            target = np.clip(target, lo, hi)
        g = g.copy()
        moved = np.flatnonzero(target != x)
        self.add_rows(g, moved, (target - x)[moved])
        return target, g

    def move_bounds(
        self, x: Array, g: Array, before: Box, after: Terms, sums: BoundedSums | None
    ) -> tuple[Array, Array, None]:
        """Move a solution in the box `before` to a feasible point of another.

        With a linear kernel, the gradient remains that of the solution: :meth:`solve` needs it to
        tell which rows are near their margin.
        """
        used, lo, hi = x != 0.0, after.lo, after.hi
        start = np.where(used & (x >= before[1]), hi, np.where(used & (x <= before[0]), lo, x))
        moved = np.flatnonzero(start != x)
        if self._few_features:
            return start, g, None
        self.add_rows(g, moved, (start - x)[moved])
        return (*self.make_feasible(start, g, after), None)

    def solve(
        self,
        x: Array,
        g: Array,
        terms: Terms,
        *,
        tol: float,
        max_iter: int,
        known: Factor | None = None,
    ) -> QPResult:
        """Minimise ``1/2 x'Kx + c'x`` from a feasible `x` whose gradient is `g`.

        With a linear kernel, `g` may be the gradient at the solution of a similar problem.
        """
        c, lo, hi = terms.c, terms.lo, terms.hi
        if self._few_features and (np.abs(c) == 1.0).all():  # labels: not those of a regression
            x, g = start_linear(self, self.X, x, g, terms, tol)
        iterations, indefinite = 0, False
        largest = max(_FEWEST, int(np.sqrt(0.5 * self.budget / 8.0)))
        # Sum of squares of the terms added to the gradient, each rounded.
        rounding = _SINGLE if self._slots else _DOUBLE
        rounded = float(((x * self.diagonal) ** 2).sum())
        fresh = restored = False
        for _ in range(_ROUNDS):
            gap = float(kkt_gap(x, g, lo, hi))
            if rounding * np.sqrt(rounded) > _DRIFT * max(gap, tol):
                g, rounded = self._exact_gradient(x, c), 0.0
                continue
            if gap <= tol and not restored and not keeps_sum(x, terms.total):
                (x, g), restored = self.make_feasible(x, g, terms), True
                continue
            if gap <= tol or iterations >= max_iter:
                break
            part = _working_set(x, g, lo, hi, largest)
            K = self.block(part, part)
            own = x[part]
            start = own.copy()
            inner = max(0.5 * tol, min(_INNER * gap, 1.0))
            result = refine(
                K, K.diagonal().copy(), own, g[part],
                Terms(g[part] - K @ start, lo[part], hi[part]),
                tol=inner, max_iter=max_iter - iterations,
            )  # fmt: skip
            iterations += result.iterations
            indefinite |= result.indefinite
            change = result.x - start
            moved = np.flatnonzero(change)
            if moved.size == 0:  # rounding, accumulated or of the numbers themselves
                if fresh:
                    break
                g, rounded, fresh = self._exact_gradient(x, c), 0.0, True
                continue
            fresh = False
            x[part] = result.x
            self.add_rows(g, part[moved], change[moved])
            rounded += float(((change * self.diagonal[part]) ** 2).sum())
        if gap > tol and rounded > 0.0:
            g = self._exact_gradient(x, c)
        factor = None
        if self._few_features and gap <= tol:
            x, g, factor = finish_linear(self, x, g, terms, tol, max_iter)
        gap = max(float(kkt_gap(x, g, lo, hi)), 0.0)
        converged = gap <= tol and bool(keeps_sum(x, terms.total))
        return QPResult(x, g, gap, converged, iterations, indefinite, factor)


def _working_set(x: Array, g: Array, lo: Array, hi: Array, largest: int) -> Rows:
    """The free variables, and those at a bound whose gradient pulls hardest away from it."""
    free = np.flatnonzero((x > lo) & (x < hi))
    up = np.where(x < hi, -g, -np.inf)
    down = np.where(x > lo, g, -np.inf)
    top, bottom = up.max(), down.max()
    size = min(max(_WORKING, _WORKING_A_FREE * free.size), largest, x.size)
    violation = np.maximum(up + bottom, down + top)
    if free.size > size // 2:
        free = free[np.argsort(-violation[free])[: size // 2]]
    parts = [free]
    for asks, limit in ((up, -bottom), (down, -top)):
        asks[free] = -np.inf
        count = (size - free.size) // 2
        best = np.argpartition(-asks, min(count, asks.size - 1))[:count]
        parts.append(best[asks[best] > limit])
    return np.unique(np.concatenate(parts))
