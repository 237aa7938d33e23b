"""The Gram matrix of a training set, and the quantities that depend only on it.

Many models are trained on one Gram matrix.  Its diagonal, the ball that encloses the
points and the spread of its entries are the same for all of them, and are computed
once, on first access.

:class:`Gram` is what callers may ask of any.  A :class:`HeldGram` has all its values in memory; a
:class:`~spansvm.kernels.lazy.LazyGram` computes them when they are needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import linalg

from ..algebra.blas import one_blas_thread
from ..algebra.hull import hull_distances
from ..algebra.qp import QPResult, Terms, gradient, make_feasible, refine, solve_qp, symmetric_view
from ..algebra.systems import Factor, factorise
from ..common.memory import has_room
from ..common.types import Array, Mask, Rows
from ..core.solver import add_rows, fill_submatrix, move_bounds
from .twins import Twins, equal_points, first_equal

__all__ = [
    "BALL_TOLERANCE",
    "BoundedSums",
    "Box",
    "Gram",
    "HeldGram",
    "as_gram",
    "as_rows",
    "ball_weights",
    "is_indefinite",
]

Box = tuple[Array, Array]

#: The contribution of bounded vectors to the gradient; see :mod:`spansvm.core.moving`.
BoundedSums = tuple[Array, Array, Array]

#: KKT gap of the enclosing ball, as a fraction of the largest squared norm.
BALL_TOLERANCE = 1e-9

#: Number of points that are checked for signs of an indefinite kernel.
_LOOKED_AT = 1000


class Gram(ABC):
    """A Gram matrix of l points, and quantities derived from it.

    Attributes
    ----------
    values : ndarray of shape (l, l) or None
        All entries; None if they are computed when they are needed.
    """

    values: np.ndarray | None

    @abstractmethod
    def __len__(self) -> int:
        """The number of points."""

    @abstractmethod
    def held(self) -> HeldGram:
        """The matrix with all its values in memory."""

    @abstractmethod
    def has_room(self) -> bool:
        """Whether removals can be followed: there is room for all values, and for a tableau."""

    @abstractmethod
    def subset(self, rows: npt.ArrayLike) -> Gram:
        """The Gram matrix of some of the points, given by indices or a mask; this one, if all."""

    # Quantities that depend only on the points -----------------------------------------------

    @property
    @abstractmethod
    def dtype(self) -> np.dtype:
        """Precision of the entries."""

    @property
    @abstractmethod
    def kinds(self) -> Rows | None:
        """For every point, the first one equal to it; None if all differ."""

    @property
    @abstractmethod
    def diagonal(self) -> Array:
        """``K(x_i, x_i)``."""

    @property
    @abstractmethod
    def spread(self) -> float:
        """``R_Delta^2``: no two kernel values differ by more than this (eq. xialpha_rule_fsvm)."""

    @property
    @abstractmethod
    def radius(self) -> float:
        """Radius of the smallest ball that encloses all points."""

    @cached_property
    def indefinite(self) -> bool:
        """Whether the matrix was found not to be positive semidefinite.

        Only the matrix of up to a thousand of the points is checked: if that is indefinite, so is
        the whole; the converse need not hold.
        """
        rows = np.unique(np.linspace(0, len(self) - 1, _LOOKED_AT).astype(np.intp))
        return is_indefinite(self.block(rows, rows), self.dtype)

    def sums_over(self, mask: Mask) -> Array:
        """For every point, the sum of its kernel values with those in `mask`; cached."""
        known = getattr(self, "_sums", None)
        if known is None or not np.array_equal(known[0], mask):
            self._sums = known = (mask.copy(), self._sum_over(mask))
        return known[1]

    @abstractmethod
    def _sum_over(self, mask: Mask) -> Array: ...

    def twins(self, y: Array) -> Twins | None:
        """Equal points with equal labels; None if there are none.  The last result is cached."""
        if self.kinds is None:
            return None
        known = getattr(self, "_twins", None)
        if known is None or not np.array_equal(known[0], y):
            twins = Twins(self.kinds, y)
            self._twins = known = (y.copy(), twins if twins.several.any() else None)
        return known[1]

    # Entries ------------------------------------------------------------------------------

    @abstractmethod
    def block(self, rows: Rows, columns: Rows) -> Array:
        """Some entries, in double precision."""

    def whole_rows(self, rows: Rows) -> Array:
        """Some rows, in double precision."""
        return self.block(rows, np.arange(len(self)))

    @abstractmethod
    def factor(self, inside: Rows) -> Factor:
        """:func:`spansvm.algebra.systems.factorise` of these points."""

    @abstractmethod
    def hull_distances(self, factor: Factor, others: Rows, squared: Array) -> None:
        """:func:`spansvm.algebra.hull.hull_distances` of these points."""

    @abstractmethod
    def add_rows(self, g: Array, rows: Rows, weights: Array) -> None:
        """``g += weights @ K[rows]``, in place."""

    def gradient(self, x: Array, c: Array) -> Array:
        """``Kx + c``."""
        g, rows = c.copy(), np.flatnonzero(x)
        self.add_rows(g, rows, x[rows])
        return g

    # Training -----------------------------------------------------------------------------

    @abstractmethod
    def make_feasible(self, x: Array, g: Array, terms: Terms) -> tuple[Array, Array]:
        """A feasible point near `x`, and its gradient, from that of `x`."""

    @abstractmethod
    def move_bounds(
        self, x: Array, g: Array, before: Box, after: Terms, sums: BoundedSums | None
    ) -> tuple[Array, Array, BoundedSums | None]:
        """Move a solution in the box `before` to a feasible point of another; `x`, `g` may change.

        `sums` is what the previous step returned; it may be overwritten too.
        """

    @abstractmethod
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

        `known` is the factor of the free variables of a similar problem's solution.
        """


class HeldGram(Gram):
    """A Gram matrix that is held in memory.

    Parameters
    ----------
    values : array-like of shape (l, l)
        The matrix, symmetric; float32 is kept, anything else becomes float64.
    kernel_range : tuple of float, optional
        Bounds of the kernel over all possible pairs, if known: (0, 1) for RBF.

    Attributes
    ----------
    values : ndarray of shape (l, l)
    """

    values: np.ndarray

    def __init__(
        self, values: npt.ArrayLike, *, kernel_range: tuple[float, float] | None = None
    ) -> None:
        self.values = symmetric_view(values)
        if self.values.ndim != 2 or self.values.shape[0] != self.values.shape[1]:
            raise ValueError(f"K must be a square matrix; its shape is {self.values.shape}.")
        if not np.isfinite(self.values.sum(dtype=np.float64)):
            raise ValueError("K must be finite: it contains NaN, infinity or sums that overflow.")
        self._kernel_range = kernel_range

    def __len__(self) -> int:
        return self.values.shape[0]

    def held(self) -> HeldGram:
        """The matrix itself."""
        return self

    def has_room(self) -> bool:
        """Whether there is room for a tableau of its points."""
        return has_room(len(self))

    @cached_property
    def kinds(self) -> Rows | None:
        """For every point, the first one equal to it; None if all differ.

        Found from the entries, unless set by a caller who knows the rows themselves.
        """
        return equal_points(self.values)

    def _sum_over(self, mask: Mask) -> Array:
        with one_blas_thread:
            return (self.values @ mask.astype(self.dtype)).astype(np.float64)

    @property
    def dtype(self) -> np.dtype:
        """Precision of the entries."""
        return self.values.dtype

    def block(self, rows: Rows, columns: Rows) -> Array:
        """Some entries, in double precision."""
        return self.values[np.ix_(rows, columns)].astype(np.float64, copy=False)

    def whole_rows(self, rows: Rows) -> Array:
        """Some rows, in double precision."""
        return self.values[rows].astype(np.float64, copy=False)

    def factor(self, inside: Rows) -> Factor:
        """:func:`spansvm.algebra.systems.factorise` of these points."""
        return factorise(self.values, inside)

    def hull_distances(self, factor: Factor, others: Rows, squared: Array) -> None:
        """:func:`spansvm.algebra.hull.hull_distances` of these points."""
        hull_distances(self.values, self.diagonal, others, factor, squared)

    def add_rows(self, g: Array, rows: Rows, weights: Array) -> None:
        """``g += weights @ K[rows]``, in place."""
        add_rows(g, self.values, rows, weights)

    def gradient(self, x: Array, c: Array) -> Array:
        """``Kx + c``."""
        return gradient(self.values, x, c)

    def make_feasible(self, x: Array, g: Array, terms: Terms) -> tuple[Array, Array]:
        """A feasible point near `x`, and its gradient, from that of `x`."""
        return make_feasible(self.values, x, g, terms)

    def move_bounds(
        self, x: Array, g: Array, before: Box, after: Terms, sums: BoundedSums | None
    ) -> tuple[Array, Array, BoundedSums]:
        """Move a solution in the box `before` to a feasible point of another; `x`, `g` change.

        `sums` is what the previous step returned; it is overwritten too.
        """
        sums = sums or (np.zeros((2, x.size)), np.zeros((2, x.size)), np.zeros(2))
        move_bounds(self.values, x, g, before, (after.lo, after.hi), sums)
        return x, g, sums

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

        `known` is the factor of the free variables of a similar problem's solution.
        """
        return refine(
            self.values, self.diagonal, x, g, terms, tol=tol, max_iter=max_iter,
            to_vertex=True, known=known,
        )  # fmt: skip

    @cached_property
    def diagonal(self) -> Array:
        """``K(x_i, x_i)``."""
        return self.values.diagonal().astype(np.float64)

    @cached_property
    def spread(self) -> float:
        """No two kernel values differ by more than this.

        The length of `kernel_range` if known, otherwise the largest minus the smallest entry.
        """
        if self._kernel_range is not None:
            return self._kernel_range[1] - self._kernel_range[0]
        return float(self.values.max()) - float(self.values.min())

    @cached_property
    def radius(self) -> float:
        """Radius of the smallest ball that encloses all points.

        The ball solves ``max sum_i x_i K_ii - x'Kx`` over the simplex.  The result is the
        distance from the centre found to the farthest point, so that the ball encloses all
        points whatever the solver's tolerance.
        """
        x = ball_weights(self.values)
        # |x_i - centre|^2 = K_ii - 2 (K x)_i + x'Kx
        inner = self.gradient(x, np.zeros(x.size))
        farthest = float((self.diagonal - 2.0 * inner).max() + x @ inner)
        return float(np.sqrt(max(farthest, 0.0)))

    def subset(self, rows: npt.ArrayLike) -> Gram:
        """The Gram matrix of some of the points, given by indices or a mask; this one, if all."""
        rows = as_rows(rows)
        if rows.size == len(self):
            return self
        values = np.empty((rows.size, rows.size), dtype=self.dtype)
        fill_submatrix(self.values, rows, values)
        part = HeldGram(values, kernel_range=self._kernel_range)
        part.kinds = None if self.kinds is None else first_equal(self.kinds[rows])
        return part


def as_rows(rows: npt.ArrayLike) -> Rows:
    """The indices of some rows, which may be given as a mask."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == np.bool_ else rows


def ball_weights(K: np.ndarray) -> Array:
    """Weights that give the centre of the smallest ball around the points."""
    scale = float(np.abs(K.diagonal()).max()) or 1.0
    if not 1e-50 < scale < 1e50:  # squares of such numbers would overflow or underflow
        K, scale = K / scale, 1.0
    diagonal = K.diagonal().astype(np.float64)
    n, tol = diagonal.size, BALL_TOLERANCE * scale
    return solve_qp(K, -0.5 * diagonal, np.zeros(n), np.ones(n), 1.0, tol=tol).x


def is_indefinite(part: Array, dtype: np.dtype) -> bool:
    """Whether a Gram matrix in this precision is clearly not positive semidefinite."""
    tolerance = 1e-8 if dtype == np.float64 else 1e-4
    part[np.diag_indices_from(part)] += tolerance * (float(np.abs(part).max()) or 1.0)
    try:
        linalg.cholesky(part, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return True
    return False


def as_gram(K: Gram | npt.ArrayLike) -> Gram:
    """`K` as a :class:`Gram`; one that already is, of any kind, is returned unchanged."""
    return K if isinstance(K, Gram) else HeldGram(K)
