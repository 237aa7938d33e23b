"""The one quadratic program of the library, and its solver.

    minimise  1/2 x'Kx + c'x   subject to   sum(x) = total,  lo <= x <= hi

Three problems of the paper have this form: the dual of a weighted SVM (with the
signs of the labels moved into ``x``), the span of a support vector within its box
(eq. Sp_calc), and the smallest ball that encloses the training set.  Nothing here
is specific to SVMs; the solver itself is compiled (:mod:`spansvm.core`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..common.types import Array
from ..core.solver import (
    Program,
    add_rows,
    finished_gap,
    keeps_sum,
    kkt_gap,
    renew_gradient,
    restore_sum,
    rounding_level,
)
from .blas import one_blas_thread
from .systems import Factor

__all__ = [
    "EQUAL_SUMS",
    "STALE",
    "QPResult",
    "Terms",
    "check_limits",
    "default_max_iter",
    "flat_curvature",
    "gradient",
    "keeps_sum",
    "kkt_gap",
    "make_feasible",
    "refine",
    "solve_qp",
    "symmetric_view",
]

#: Sums of variables or of bounds whose relative difference is smaller are equal.
EQUAL_SUMS = 1e-12

#: A gradient is computed anew if more rounding than this has been carried along.
STALE = 1e-10

#: A tolerance that rounding puts out of reach is met by what rounding allows, up to this gap.
_LOOSE = 1e-5

#: How often a solution is finished anew, as long as that helps, where rounding moves the gradient.
_ROUNDS = 3

#: Pairs whose curvature is below this fraction of the largest diagonal entry count as flat.
_FLAT = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-9}


@dataclass(frozen=True, eq=False)
class Terms:
    """What a quadratic program has besides its matrix.

    Attributes
    ----------
    c, lo, hi : ndarray of shape (n,)
        The linear term and the box.
    total : float
        The sum of the variables.
    """

    c: Array
    lo: Array
    hi: Array
    total: float = 0.0


@dataclass(frozen=True, eq=False)
class QPResult:
    """Solution of a quadratic program.

    Attributes
    ----------
    x : ndarray of shape (n,)
        The minimiser; variables at a bound equal it exactly.
    gradient : ndarray of shape (n,)
        ``Kx + c`` at the solution.
    gap : float
        Violation of the KKT conditions: the largest difference between the gradient of a
        variable that may decrease and that of one that may increase, at least 0.
    converged : bool
        Whether the variables have the sum they must have, and ``gap <= tol``, as far as rounding
        allows: with multipliers of 1e10, 1e-5 is what there is.
    iterations : int
        Number of two-variable steps.
    indefinite : bool
        Whether negative curvature was met: then `x` is only a stationary point.
    factor : Factor, optional
        The factor of the free variables, if the solution was finished with it.
    """

    x: Array
    gradient: Array
    gap: float
    converged: bool
    iterations: int
    indefinite: bool
    factor: Factor | None = None

    def objective(self, c: Array) -> float:
        """``1/2 x'Kx + c'x``, without another product with ``K``."""
        return float(0.5 * (self.x @ (self.gradient + c)))


def default_max_iter(n: int) -> int:
    """The default iteration limit.

    It is many times what is needed if the tolerance can be reached at all.  If rounding puts it
    out of reach, small problems, of which there may be many, still end within a second.
    """
    return max(min(1000 * (n + 1000), 10_000_000), 100 * n)


def solve_qp(
    K: npt.ArrayLike,
    c: npt.ArrayLike,
    lo: npt.ArrayLike,
    hi: npt.ArrayLike,
    total: float = 0.0,
    *,
    x0: npt.ArrayLike | None = None,
    tol: float = 1e-3,
    max_iter: int | None = None,
) -> QPResult:
    """Minimise ``1/2 x'Kx + c'x`` over the box ``lo <= x <= hi`` with ``sum(x) = total``.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric matrix, float64 or float32 (anything else is converted); may be read-only
        or memory-mapped.  It should be positive semidefinite; if it is not, the result
        is a stationary point, marked as ``indefinite``.
    c, lo, hi : array-like of shape (n,)
        Linear term and finite bounds.
    total : float, default=0.0
        Required sum of the variables.
    x0 : array-like of shape (n,), optional
        Starting point; it is first moved into the box and onto the sum.  By default the
        point of the box nearest to zero.
    tol : float, default=1e-3
        Largest KKT gap of a solution.
    max_iter : int, optional
        Maximum number of two-variable steps; by default a million, and more for more variables.

    Returns
    -------
    QPResult
    """
    K = symmetric_view(K)
    c, lo, hi = (np.ascontiguousarray(a, dtype=np.float64) for a in (c, lo, hi))
    n = c.size
    check_limits(tol, max_iter)
    _check_problem(K, c, lo, hi, total)
    max_iter = default_max_iter(n) if max_iter is None else max_iter
    if n == 0:
        return QPResult(c.copy(), c.copy(), 0.0, True, 0, False)

    x = np.zeros(n) if x0 is None else np.array(x0, dtype=np.float64)
    if x.shape != (n,) or not np.isfinite(x).all():
        raise ValueError(f"x0 must be {n} finite numbers.")
    np.clip(x, lo, hi, out=x)
    g = gradient(K, x, c)
    restore_sum(K, x, g, lo, hi, float(total))
    diagonal = K.diagonal().astype(np.float64)
    terms = Terms(c, lo, hi, float(total))
    return refine(K, diagonal, x, g, terms, tol=tol, max_iter=max_iter)


def symmetric_view(matrix: npt.ArrayLike) -> np.ndarray:
    """`matrix` as compiled code takes it: in C order, float32 or float64.

    No copy is made unless order or precision require one; it may be read-only.
    """
    array = np.asarray(matrix)
    if array.dtype != np.float32:
        array = np.asarray(array, dtype=np.float64)
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        array = array.T
    return np.ascontiguousarray(array)


def make_feasible(K: np.ndarray, x: Array, g: Array, terms: Terms) -> tuple[Array, Array]:
    """A feasible point near `x`, and its gradient, computed from that of `x`."""
    lo, hi = terms.lo, terms.hi
    boxed = np.clip(x, lo, hi)
    g = g.copy()
    moved = np.flatnonzero(boxed != x)
    add_rows(g, K, moved, (boxed - x)[moved])
    restore_sum(K, boxed, g, lo, hi, terms.total)
    return boxed, g


@one_blas_thread
def refine(
    K: np.ndarray,
    diagonal: Array,
    x: Array,
    g: Array,
    terms: Terms,
    *,
    tol: float,
    max_iter: int,
    to_vertex: bool = False,
    known: Factor | None = None,
) -> QPResult:
    """Solve from a point `x` of the box whose gradient `g` is known; both are overwritten.

    The sum stays what it is, of part of the variables as well: that of `terms` is for those who
    make a point feasible.  For callers that solve many related problems on one matrix: only the
    result is checked.  `K` must come from ``symmetric_view``; `diagonal` is its diagonal.  With
    `to_vertex`, a solution within the tolerance is refined as far as rounding allows; `known` is
    the factor of the solution of a similar problem.
    """
    total = float(x.sum())
    problem = Program(K, diagonal, terms.lo, terms.hi, x, g, flat_curvature(K, diagonal))
    iterations, gap = problem.settle(terms.c, tol, max_iter)
    if not np.isfinite(g).all():
        raise ValueError("K must be finite: it contains NaN, infinity or numbers that overflow.")
    factor = None
    attainable = finished_gap(x, diagonal) if to_vertex else 0.0
    if to_vertex and gap <= max(tol, attainable) and not problem.indefinite:
        gap, parts = problem.finish(known)
        before = np.inf
        for _ in range(_ROUNDS):
            if rounding_level(x, diagonal) <= STALE or gap > 0.5 * before:
                break
            before = gap
            renew_gradient(K, x, g, terms.c)
            restore_sum(K, x, g, terms.lo, terms.hi, total)
            gap, parts = problem.finish(parts)
        gap, factor = max(gap, 0.0), Factor(*parts)
    converged = gap <= max(tol, min(attainable, _LOOSE)) and keeps_sum(x, total)
    return QPResult(x, g, gap, converged, iterations, problem.indefinite, factor)


def flat_curvature(K: np.ndarray, diagonal: Array) -> float:
    """The curvature below which a pair of variables of this matrix counts as flat."""
    return _FLAT[K.dtype] * max(float(np.abs(diagonal).max()), float(np.finfo(np.float64).tiny))


def gradient(K: np.ndarray, x: Array, c: Array) -> Array:
    """``Kx + c``, using only the rows where `x` is not zero."""
    g = np.empty(c.size)
    renew_gradient(K, x, g, c)
    return g


def check_limits(tol: float, max_iter: int | None) -> None:
    """Raise ValueError unless these are valid stopping criteria."""
    if not (np.isfinite(tol) and tol > 0):
        raise ValueError(f"tol must be positive; got {tol}.")
    if max_iter is not None and max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, or None for the default; got {max_iter}.")


def _check_problem(K: np.ndarray, c: Array, lo: Array, hi: Array, total: float) -> None:
    n = c.size
    if K.ndim != 2 or K.shape != (n, n):
        raise ValueError(f"K must have shape ({n}, {n}), as c has length {n}; got {K.shape}.")
    for name, array in (("c", c), ("lo", lo), ("hi", hi)):
        if array.shape != (n,):
            raise ValueError(f"{name} must have shape ({n},); got {array.shape}.")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite; found NaN or infinity.")
    if (lo > hi).any():
        first = int(np.flatnonzero(lo > hi)[0])
        raise ValueError(f"lo must not exceed hi: lo[{first}] = {lo[first]} > {hi[first]}.")
    least, most = float(lo.sum()), float(hi.sum())
    slack = EQUAL_SUMS * (float(np.abs(lo).sum() + np.abs(hi).sum()) + abs(total))
    if not least - slack <= total <= most + slack:
        raise ValueError(
            f"total = {total} cannot be reached: within the bounds the sum ranges "
            f"from {least} to {most}."
        )
