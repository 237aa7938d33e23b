"""The engine of :mod:`spansvm.qp`.

Descent on ``1/2 x'Kx + c'x`` with ``sum(x) = s`` and ``lo <= x <= hi``.

Three kinds of descent, each used where it is cheapest:

* *sweeps* of sequential minimal optimisation (``_sweep``);
* *Newton steps* on the free variables (``_newton``);
* *shrinking*: variables that are firmly at a bound are set aside, and the rest is
  solved as a smaller problem with its own contiguous copy of the matrix.

Each is compiled; what decides between them is not, since a process would compile it, with all it
calls, before its first search.  All functions modify ``x`` and the gradient ``g = Kx + c``
together, so that ``g`` is always the gradient at ``x``.  ``K`` may be float32; everything else is
float64.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from ._calls import MARKS, MATRIX, POINTS, ROW, addresses, call, reachable
from ._compile import njit
from ._inverse import SIZE, change_points, inverse_walk
from ._linalg import add_row, add_rows
from ._newton import newton, slide
from ._sweep import STALLED, sweep
from ._typing import Array, Mask, Rows

__all__ = [
    "EQUAL_SUMS",
    "OFF_BOUND",
    "SLIDE",
    "STALE",
    "Descent",
    "fill_submatrix",
    "free_variables",
    "keeps_sum",
    "kkt_gap",
    "middle_of_interval",
    "renew_gradient",
    "restore_sum",
    "rounding_level",
    "run",
    "snap",
]

_EPSILON = float(np.finfo(np.float64).eps)

#: Rough costs in nanoseconds that decide when a restructuring step pays.
_SWEEP_FIXED, _SWEEP_ROW = 100.0, 0.9
_COPY_ENTRY = 2.0
_NEWTON_FIXED, _NEWTON_CUBE = 2000.0, 0.08

#: After so many steps, as a fraction of the variables and at least, it is asked what pays now; a
#: Newton step does if it costs at most so many times what the sweeps since the last one did.
_CHUNKS, _SMALLEST_CHUNK, _NEWTON_SHARE = 10, 30, 3.0

#: How often a solution is checked with a fresh gradient before its rounding errors are accepted.
_FRESH_STARTS = 5

#: Maximum number of steps before the gradient is recomputed.
_LONG = 500_000

#: Variables closer to a bound than these fractions of the largest variable and of their own box are
#: put on it.
_HAIR, _HAIR_OF_BOX = 64 * _EPSILON, 1e-3

#: Variables closer to a bound than this fraction of the box, or of the largest variable, may be
#: off it by rounding alone.
OFF_BOUND = 1e-7

#: Sums of variables or of bounds whose relative difference is smaller are equal.
EQUAL_SUMS = 1e-12

#: A sum that is off by more than this fraction of the variables is not that of a solution: each
#: variable that is put on its bound may be off by 64 roundings of the largest.
_SAME_SUM = 1e-10

#: A gradient is computed anew if more rounding than this has been carried along.
STALE = 1e-10

#: Why :func:`run` ends: solved, a smaller problem would pay, a Newton step could slide on.
SOLVED, SHRINK, SLIDE = 0, 1, 2

#: In the place of an inverse: the matrix, its points, their number, and the shift.
_NO_INVERSE = np.empty((0, 0)), np.empty(0, dtype=np.int64), np.zeros(2, dtype=np.int64), 0.0

#: Do not shrink problems that are already this small.
_SMALL = 64

#: Descent ends if the gap is within this factor of the rounding level and this many consecutive
#: chunks of steps lower the objective by no more than this fraction.
_NEAR, _PATIENCE, _PROGRESS = 1e3, 50, 1e-13


@njit
def free_variables(x, lo, hi):
    """The variables strictly inside their boxes."""
    index = np.empty(x.size, np.int64)
    count = 0
    for t in range(x.size):
        if lo[t] < x[t] < hi[t]:
            index[count] = t
            count += 1
    return index[:count]


@njit
def fill_submatrix(K, index, part):
    """``part = K[index][:, index]``."""
    for a in range(index.size):
        row, target = K[index[a]], part[a]
        for b in range(index.size):
            target[b] = row[index[b]]


@njit
def rounding_level(x, diag):
    """The KKT gap below which rounding of the gradient decides: ``eps sum_j |K_jj x_j|``."""
    total = 0.0
    for t in range(x.size):
        total += abs(x[t] * diag[t])
    return _EPSILON * total


@njit
def kkt_gap(x, g, lo, hi):
    """The violation of the KKT conditions; negative if they hold with room to spare."""
    top, bottom = -np.inf, -np.inf
    for t in range(x.size):
        if x[t] < hi[t]:
            top = max(top, -g[t])
        if x[t] > lo[t]:
            bottom = max(bottom, g[t])
    return top + bottom


@njit
def keeps_sum(x, total):
    """Whether `x` sums to `total`, up to rounding."""
    missing, size = total, abs(total)
    for t in range(x.size):
        missing -= x[t]
        size += abs(x[t])
    return abs(missing) <= _SAME_SUM * size


@njit
def middle_of_interval(x, g, lo, hi):
    """``b`` if no variable is free: the middle of the interval that the KKT conditions leave it."""
    least, most = -np.inf, np.inf
    for t in range(x.size):
        if x[t] < hi[t]:
            least = max(least, -g[t])
        if x[t] > lo[t]:
            most = min(most, -g[t])
    if np.isinf(least):
        return most
    if np.isinf(most):
        return least
    return 0.5 * (least + most)


@njit
def restore_sum(K, x, g, lo, hi, total):
    """Make a boxed `x` sum to `total`, first moving the variables whose gradient favours it."""
    missing = total
    for t in range(x.size):
        missing -= x[t]
    for _ in range(x.size):
        if missing == 0.0:
            break
        best, index = np.inf, -1
        for t in range(x.size):
            if missing > 0.0 and x[t] < hi[t] and g[t] < best:
                best, index = g[t], t
            elif missing < 0.0 and x[t] > lo[t] and -g[t] < best:
                best, index = -g[t], t
        if index < 0:
            break
        target = min(max(x[index] + missing, lo[index]), hi[index])
        step = target - x[index]
        x[index] = target
        add_row(g, step, K[index])
        if lo[index] < target < hi[index]:
            return 0.0
        missing = total
        for t in range(x.size):
            missing -= x[t]
    return missing


@njit
def renew_gradient(K, x, g, c):
    """``g = Kx + c``; the constant part last, as it may be small compared with what cancels."""
    rows, weights = np.empty(x.size, np.int64), np.empty(x.size)
    count = 0
    for t in range(x.size):
        g[t] = 0.0
        if x[t] != 0.0:
            rows[count], weights[count] = t, x[t]
            count += 1
    add_rows(g, K, rows[:count], weights[:count])
    for t in range(x.size):
        g[t] += c[t]


@njit
def snap(K, x, g, lo, hi):
    """Put variables that rounding left just inside their bounds on them: they are not free.

    Returns the KKT gap.
    """
    hair = 0.0
    for t in range(x.size):
        hair = max(hair, _HAIR * abs(x[t]))
    rows, change = np.empty(x.size, np.int64), np.empty(x.size)
    moved = 0
    for t in range(x.size):
        end = x[t]
        # A box may be smaller than the rounding of a variable whose box is large.
        near = min(hair, _HAIR_OF_BOX * (hi[t] - lo[t]))
        if x[t] - lo[t] < near:
            end = lo[t]
        elif hi[t] - x[t] < near:
            end = hi[t]
        if end != x[t]:
            rows[moved], change[moved] = t, end - x[t]
            x[t] = end
            moved += 1
    if moved > 0:
        add_rows(g, K, rows[:moved], change[:moved])
    return kkt_gap(x, g, lo, hi)


@njit
def run(
    K, diag, x, g, lo, hi, tol, max_iter, flat, flags, waited, smaller, inverse, points,
    held, shift, at,
):  # fmt: skip
    """Sweeps and Newton steps until the problem is solved or something else would pay.

    `waited` counts the chunks without progress so far; with `smaller`, the caller can go on with a
    smaller problem; `inverse`, `points`, `held` and `shift` are those of a carried inverse
    (:mod:`spansvm._inverse`), if there is one; `at` are the :func:`addresses`.

    Returns
    -------
    code : int
        ``SOLVED`` (or no further progress is possible), ``SHRINK`` or ``SLIDE``.
    used : int
        Steps of sweeps.
    top, bottom : float
        As in :func:`spansvm._sweep.sweep`; the gap is their sum.
    waited : int
    slope : float
        For :func:`spansvm._newton.slide`.
    """
    n = x.size
    chunk = max(n // _CHUNKS, _SMALLEST_CHUNK)
    used, spent = 0, 0.0
    while True:
        steps, top, bottom, progress, size, n_free, n_active = call(
            sweep, at, K, diag, x, g, lo, hi, tol, min(chunk, max_iter - used), flat, flags
        )
        used += steps
        spent += steps * (_SWEEP_FIXED + _SWEEP_ROW * n)
        gap = top + bottom
        waited = waited + 1 if progress <= _PROGRESS * size else 0
        if waited > _PATIENCE and gap < _NEAR * rounding_level(x, diag):
            flags[STALLED] = True
        if not gap > tol or used >= max_iter or flags[STALLED]:
            return SOLVED, used, top, bottom, waited, 0.0
        if smaller and n > _SMALL and 2 * n_active <= n and _COPY_ENTRY * n_active**2 <= spent:
            return SHRINK, used, top, bottom, waited, 0.0
        cost = _NEWTON_FIXED + n_free * n
        if held[SIZE] == 0:
            cost += _NEWTON_CUBE * n_free**3
        if n_free > 1 and cost <= _NEWTON_SHARE * spent:
            free = free_variables(x, lo, hi)
            if held[SIZE] > 0:
                call(change_points, at, K, inverse, points, held, free, shift)
            if held[SIZE] > 0:
                call(inverse_walk, at, K, x, g, lo, hi, inverse, points, held)
            else:
                slope = call(newton, at, K, x, g, lo, hi, free)
                if slope < 0.0:
                    return SLIDE, used, top, bottom, waited, slope
            spent = 0.0


reachable(
    run,
    lambda K: (
        K, ROW, ROW, ROW, ROW, ROW, 0.0, 0, 0.0, MARKS, 0, True, MATRIX, POINTS, POINTS, 0.0,
        POINTS,
    ),
)  # fmt: skip


@dataclass(eq=False)
class Descent:
    """A quadratic program and a feasible point of it, which moves down.

    Attributes
    ----------
    K, diag, lo, hi : ndarray
        The matrix and its diagonal, and the box.
    x, g : ndarray
        The point and its gradient; both are overwritten.
    flat : float
        Curvature below which a pair of variables counts as flat.
    flags : ndarray of bool
        ``flags[STALLED]`` is set if rounding prevents further progress, ``flags[INDEFINITE]`` if
        negative curvature was met.
    """

    K: np.ndarray
    diag: Array
    lo: Array
    hi: Array
    x: Array
    g: Array
    flat: float
    flags: Mask = field(default_factory=lambda: np.zeros(2, dtype=np.bool_))
    _waited: int = 0  # chunks without progress

    def settle(self, c: Array, tol: float, max_iter: int) -> tuple[int, float]:
        """Descend until the KKT gap is at most `tol`; returns the iterations used and the gap.

        The gradient is recomputed where rounding may have moved it; `c` is its constant part.
        """
        total = float(self.x.sum())
        iterations, starts = 0, 0
        while True:
            self.flags[STALLED] = False
            budget = min(max_iter - iterations, _LONG)
            used, gap = self._descend(tol, budget)
            iterations += used
            # Each step rounds the sum and the gradient a little.
            level = rounding_level(self.x, self.diag)
            if gap <= tol and sqrt(used) * level <= 0.01 * tol and keeps_sum(self.x, total):
                break
            restore_sum(self.K, self.x, self.g, self.lo, self.hi, total)
            renew_gradient(self.K, self.x, self.g, c)
            starts += used < budget
            if used == _LONG and level > tol:  # more steps would not reach it either
                break
            if used == 0 or iterations >= max_iter or starts >= _FRESH_STARTS:
                break
        return iterations, max(self.snap(), 0.0)

    def snap(self) -> float:
        """Put variables that rounding left just inside their bounds on them; returns the gap."""
        return snap(self.K, self.x, self.g, self.lo, self.hi)

    def sweep(self, tol: float, max_iter: int) -> tuple[int, float, float, float, float, int, int]:
        """Steps of two variables each; see :func:`spansvm._sweep.sweep`."""
        return sweep(
            self.K, self.diag, self.x, self.g, self.lo, self.hi, tol, max_iter, self.flat,
            self.flags,
        )  # fmt: skip

    def newton(self, free: Rows) -> None:
        """Move to the minimum over the free variables, or as far as the box allows."""
        self._slide(newton(self.K, self.x, self.g, self.lo, self.hi, free))

    def _slide(self, slope: float) -> None:
        if slope < 0.0:
            slide(self.K, self.x, self.g, self.lo, self.hi, slope)

    def free(self) -> Rows:
        """The variables strictly inside their boxes."""
        return free_variables(self.x, self.lo, self.hi)

    def _descend(self, tol: float, max_iter: int) -> tuple[int, float]:
        """Descend until the gap is at most `tol`, on a smaller problem whenever that pays."""
        total = 0
        while True:
            used, gap, active = self._run(tol, max_iter - total)
            total += used
            if active is None:
                return total, gap
            part = self._part(active)
            total += part._descend_shrinking(tol, max_iter - total)
            self._waited = part._waited
            # A stalled part may be able to move in the whole; if not, the whole stalls too.
            self.flags[STALLED] = False
            change = part.x - self.x[active]
            moved = change != 0.0
            self.x[active] = part.x
            add_rows(self.g, self.K, active[moved], change[moved])

    def _descend_shrinking(self, tol: float, max_iter: int) -> int:
        """Descend on smaller and smaller problems, without a return to the larger; `g` is lost."""
        used, _, active = self._run(tol, max_iter)
        if active is not None:
            part = self._part(active)
            used += part._descend_shrinking(tol, max_iter - used)
            self.x[active], self._waited = part.x, part._waited
        return used

    def _part(self, rows: Rows) -> Descent:
        """The problem of some variables, the others being held, on its own copies."""
        diag, lo, hi, x, g = (a[rows] for a in (self.diag, self.lo, self.hi, self.x, self.g))
        K = np.empty((rows.size, rows.size))
        fill_submatrix(self.K, rows, K)
        return Descent(K, diag, lo, hi, x, g, self.flat, self.flags, self._waited)

    def _run(self, tol: float, max_iter: int) -> tuple[int, float, Rows | None]:
        """Sweeps and Newton steps until the problem is solved or until shrinking it would pay.

        Returns the iterations used, the gap, and the variables to keep (None if solved, or if no
        further progress is possible).
        """
        total = 0
        while True:
            code, used, top, bottom, self._waited, slope = run(
                self.K, self.diag, self.x, self.g, self.lo, self.hi, tol, max_iter - total,
                self.flat, self.flags, self._waited, True, *_NO_INVERSE, addresses(self.K.dtype),
            )  # fmt: skip
            total += used
            self._slide(slope)
            if code == SHRINK:
                return total, top + bottom, self._active(top, bottom)
            if code == SOLVED:
                return total, top + bottom, None

    def _active(self, top: float, bottom: float) -> Rows:
        """The variables that are free or whose gradient does not yet hold them at their bound."""
        above = (self.x >= self.hi) & (-self.g > top)
        below = (self.x <= self.lo) & (self.g > bottom)
        return np.flatnonzero(~(above | below))
