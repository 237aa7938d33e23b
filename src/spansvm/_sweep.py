"""Sequential minimal optimisation: two variables at a time, the pair chosen by second-order gain.

The inner loop of the library.  Both searches are maxima that the compiler vectorises; of the gain
of a step, whose division takes longest, in single precision.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import uint64
from numba.extending import intrinsic

from ._calls import MARKS, ROW, reachable
from ._compile import FAST_MATH, njit

__all__ = ["INDEFINITE", "NO_NAN", "STALLED", "larger", "smaller", "sweep"]

#: Means "not available" in the vectorised searches; far beyond any gradient.
_BARRED = -1e300

#: Maxima are searched in blocks of this many variables; then only in the best block for the place.
_BLOCK = 64

#: The place of a maximum is where the value is at least this fraction of it: the compiler may round
#: differently in the two loops.
_NEARLY = np.float32(1.0 - 1e-5)

#: What is not a number is found in the result; here it would keep maxima from being vectorised.
NO_NAN = FAST_MATH | {"nnan"}

#: The curvature that counts as flat, in the units in which gains are compared.
_FLAT = 1e-12

#: Curvature below minus this many times the flat threshold is a sign of an indefinite matrix.
_NEGATIVE = 1e4

#: Positions in the array of flags that a sweep sets.
STALLED, INDEFINITE = 0, 1


def _extreme(name):
    """The larger or smaller of two numbers, in a form that the compiler can vectorise."""

    def extreme(typing_context, one, other):
        def generate(context, builder, signature, arguments):
            kind = arguments[0].type
            function = builder.module.declare_intrinsic(
                name, [kind], ir.FunctionType(kind, [kind, kind])
            )
            return builder.call(function, arguments, fastmath=("nnan", "nsz"))

        return one(one, one), generate

    return intrinsic(extreme)


larger, smaller = _extreme("llvm.maxnum"), _extreme("llvm.minnum")


@njit(fastmath=NO_NAN)
def _gain(slope, curvature, flat):
    """What a step gains, ``slope^2 / curvature``, in single precision: only to be compared."""
    slope = larger(slope, 0.0)
    return np.float32(slope * slope) / np.float32(larger(curvature, flat))


@njit(fastmath=NO_NAN)
def _best_partner(row, g, low, diag, own_diag, top, gap, flat):
    """Index j with the largest second-order gain ``(g_j - g_i)^2 / (K_ii + K_jj - 2 K_ij)``."""
    n = g.size
    # In units in which single precision neither overflows nor loses what matters.
    per_slope, per_curvature = 1.0 / gap, _FLAT / flat
    best, begin = np.float32(0.0), -1
    for start in range(0, n, _BLOCK):
        most = np.float32(0.0)
        for t in range(uint64(start), uint64(min(start + _BLOCK, n))):
            slope = (top + g[t] + low[t]) * per_slope
            value = _gain(slope, (own_diag + diag[t] - 2.0 * row[t]) * per_curvature, _FLAT)
            most = larger(most, value)
        if most > best:
            best, begin = most, start
    if begin < 0:
        return -1
    for t in range(begin, min(begin + _BLOCK, n)):
        slope = (top + g[t] + low[t]) * per_slope
        value = _gain(slope, (own_diag + diag[t] - 2.0 * row[t]) * per_curvature, _FLAT)
        if value >= _NEARLY * best:
            return t
    return -1


@njit(fastmath=NO_NAN)
def _move_pair(row_i, row_j, step, g, up, low):
    """Update the gradient for ``x_i += step, x_j -= step``; return the next i and both extremes."""
    n = g.size
    top, bottom, begin = _BARRED, _BARRED, 0
    for start in range(0, n, _BLOCK):
        most = _BARRED
        for t in range(uint64(start), uint64(min(start + _BLOCK, n))):
            moved = g[t] + step * (row_i[t] - row_j[t])
            g[t] = moved
            rise, fall = up[t] - moved, low[t] + moved
            most = larger(most, rise)
            bottom = larger(bottom, fall)
        if most > top:
            top, begin = most, start
    for t in range(begin, min(begin + _BLOCK, n)):
        if up[t] - g[t] == top:
            return t, top, bottom
    return -1, top, bottom


@njit
def sweep(K, diag, x, g, lo, hi, tol, max_iter, flat, flags):
    """Sequential minimal optimisation until the KKT gap ``top + bottom`` is at most `tol`.

    ``top`` is the largest ``-g`` among the variables that may increase, ``bottom`` the largest
    ``g`` among those that may decrease.

    Returns
    -------
    steps : int
    top, bottom : float
    progress, size : float
        By how much the steps lowered the objective, and the sum of ``|x g|``.
    free, active : int
        How many variables are free, and how many are free or not yet held at their bounds by
        their gradients.
    """
    n = x.size
    up = np.empty(n)
    low = np.empty(n)
    for t in range(n):
        up[t] = 0.0 if x[t] < hi[t] else _BARRED
        low[t] = 0.0 if x[t] > lo[t] else _BARRED
    row = other = K[0]
    steps, step, progress = 0, 0.0, 0.0
    while True:
        i, top, bottom = _move_pair(row, other, step, g, up, low)
        if not (steps < max_iter and top + bottom > tol):
            break
        row = K[i]
        j = _best_partner(row, g, low, diag, diag[i], top, top + bottom, flat)
        if i < 0 or j < 0 or not np.isfinite(top + bottom):  # the matrix is not finite
            flags[STALLED] = True
            break
        curvature = diag[i] + diag[j] - 2.0 * row[j]
        if curvature < -_NEGATIVE * flat:
            flags[INDEFINITE] = True
        slope = top + g[j]
        step = slope / max(curvature, flat)
        room_i = hi[i] - x[i]
        room_j = x[j] - lo[j]
        if step < room_i and step < room_j:
            if x[i] + step == x[i] and x[j] - step == x[j]:
                flags[STALLED] = True
                break
            x[i] = min(x[i] + step, hi[i])
            x[j] = max(x[j] - step, lo[j])
        elif room_i <= room_j:
            step = room_i
            x[i] = hi[i]
            x[j] = max(x[j] - step, lo[j])
        else:
            step = room_j
            x[i] = min(x[i] + step, hi[i])
            x[j] = lo[j]
        up[i] = 0.0 if x[i] < hi[i] else _BARRED
        low[i] = 0.0 if x[i] > lo[i] else _BARRED
        up[j] = 0.0 if x[j] < hi[j] else _BARRED
        low[j] = 0.0 if x[j] > lo[j] else _BARRED
        other = K[j]
        steps += 1
        progress += step * (slope - 0.5 * step * curvature)
    size, free, active = 0.0, 0, 0
    for t in range(n):
        size += abs(x[t] * g[t])
        free += lo[t] < x[t] < hi[t]
        held = (x[t] >= hi[t] and -g[t] > top) or (x[t] <= lo[t] and g[t] > bottom)
        active += not held
    return steps, top, bottom, progress, size, free, active


reachable(sweep, lambda K: (K, ROW, ROW, ROW, ROW, ROW, 0.0, 0, 0.0, MARKS))
