"""A quadratic program, ``1/2 x'Kx + c'x`` with ``sum(x) = s`` and ``lo <= x <= hi``, and a point.

What every part of the solver asks of it.  All functions modify ``x`` and the gradient
``g = Kx + c`` together, so that ``g`` is always the gradient at ``x``.

The linear term may have a kink at 0, as that of a regression has: then a variable is on one side of
it, in the box from 0 to its bound there, and may :func:`cross` to the other while it is 0.
"""

import cython
from cython.cimports.libc.math import INFINITY, fabs, isinf
from cython.cimports.spansvm.core.loops import add_row, add_rows
from cython.cimports.spansvm.core.scratch import doubles, indices, release

EPSILON = 2.220446049250313e-16

#: Sums of variables or of bounds whose relative difference is smaller are equal.
EQUAL_SUMS = 1e-12

#: Variables closer to a bound than this fraction of the box, or of the largest variable, may be
#: off it by rounding alone.
OFF_BOUND = 1e-7

#: A gradient is computed anew if more rounding than this has been carried along.
STALE = 1e-10


def entry(K, i, j):
    """``K[i, j]``."""
    if K.wide:
        return K.wide[i * K.width + j]
    return K.narrow[i * K.width + j]


def free_variables(p, index):
    """Fill `index` with the variables strictly inside their boxes; returns their number."""
    count: cython.Py_ssize_t = 0
    for t in range(p.n):
        if p.lo[t] < p.x[t] and p.x[t] < p.hi[t]:
            index[count] = t
            count += 1
    return count


def rounding_level(p):
    """The KKT gap below which rounding of the gradient decides: ``eps sum_j |K_jj x_j|``."""
    total = 0.0
    for t in range(p.n):
        total += fabs(p.x[t] * p.diag[t])
    return EPSILON * total


def finished_gap(p):
    """The KKT gap at which a solution is as good as rounding lets it be."""
    return max(1e-10, 30.0 * rounding_level(p))


def find_extremes(p, top, bottom):
    """The largest ``-g`` of a variable that may increase, the largest ``g`` of one that may fall.

    One at a kink may do both: on the other side of it, its gradient is another.
    """
    highest, lowest = -INFINITY, -INFINITY
    for t in range(p.n):
        if p.x[t] < p.hi[t]:
            highest = max(highest, -p.g[t])
        elif p.x[t] == 0.0 and p.lo[t] < 0.0:
            highest = max(highest, -p.g[t] - p.tube)
        if p.x[t] > p.lo[t]:
            lowest = max(lowest, p.g[t])
        elif p.x[t] == 0.0 and p.hi[t] > 0.0:
            lowest = max(lowest, p.g[t] - p.tube)
    top[0], bottom[0] = highest, lowest


def kkt_gap(p):
    """The violation of the KKT conditions; negative if they hold with room to spare."""
    top: cython.double
    bottom: cython.double
    find_extremes(p, cython.address(top), cython.address(bottom))
    return top + bottom


def cross(p):
    """Let variables at 0 change to the side of the kink that they are nearer to; how many do.

    On the positive side the linear term of a variable is ``c``, on the negative one ``c - tube``.
    It is nearer to the side whose condition its gradient is closer to violating: if that holds, so
    does the other.
    """
    top: cython.double
    bottom: cython.double
    crossed: cython.Py_ssize_t = 0
    if isinf(p.tube):
        return 0
    find_extremes(p, cython.address(top), cython.address(bottom))
    if isinf(top) and isinf(bottom):
        return 0
    if isinf(top):
        top = -bottom
    if isinf(bottom):
        bottom = -top
    intercept, half = 0.5 * (top - bottom), 0.5 * p.tube
    for t in range(p.n):
        if p.x[t] != 0.0 or p.lo[t] == p.hi[t]:
            continue
        if p.lo[t] == 0.0 and p.g[t] + intercept > half:
            p.lo[t], p.hi[t], p.g[t] = -p.hi[t], 0.0, p.g[t] - p.tube
            crossed += 1
        elif p.hi[t] == 0.0 and p.g[t] + intercept < -half:
            p.lo[t], p.hi[t], p.g[t] = 0.0, -p.lo[t], p.g[t] + p.tube
            crossed += 1
    return crossed


def keeps_sum(p, total):
    """Whether the variables sum to `total`, up to rounding.

    Each that is put on its bound may be off by 64 roundings of the largest.
    """
    missing, size = total, fabs(total)
    for t in range(p.n):
        missing -= p.x[t]
        size += fabs(p.x[t])
    return fabs(missing) <= 1e-10 * size


def middle_of_interval(p):
    """``b`` if no variable is free: the middle of the interval that the KKT conditions leave it."""
    least, most = -INFINITY, INFINITY
    for t in range(p.n):
        if p.x[t] < p.hi[t]:
            least = max(least, -p.g[t])
            if p.x[t] == 0.0 and p.lo[t] == 0.0:
                most = min(most, p.tube - p.g[t])  # where it would cross
        if p.x[t] > p.lo[t]:
            most = min(most, -p.g[t])
            if p.x[t] == 0.0 and p.hi[t] == 0.0:
                least = max(least, -p.tube - p.g[t])
    if isinf(least):
        return most
    if isinf(most):
        return least
    return 0.5 * (least + most)


def _missing(p, total):
    for t in range(p.n):
        total -= p.x[t]
    return total


def restore_sum(p, total):
    """Make a boxed point sum to `total`, first moving the variables whose gradient favours it.

    Returns what is still missing.
    """
    x, lo, hi = p.x, p.lo, p.hi
    index: cython.Py_ssize_t
    missing = _missing(p, total)
    for _ in range(p.n):
        if missing == 0.0:
            break
        best, index = INFINITY, -1
        for t in range(p.n):
            if missing > 0.0 and x[t] < hi[t] and p.g[t] < best:
                best, index = p.g[t], t
            elif missing < 0.0 and x[t] > lo[t] and -p.g[t] < best:
                best, index = -p.g[t], t
        if index < 0:
            break
        target = min(max(x[index] + missing, lo[index]), hi[index])
        step = target - x[index]
        x[index] = target
        add_row(p.g, step, cython.address(p.K), index)
        if lo[index] < target and target < hi[index]:
            return 0.0
        missing = _missing(p, total)
    return missing


def renew_gradient(p, c):
    """``g = Kx + c``; the constant part last, as it may be small compared with what cancels."""
    mark = p.scratch.count
    rows, weights = indices(p.scratch, p.n), doubles(p.scratch, p.n)
    count: cython.Py_ssize_t = 0
    for t in range(p.n):
        p.g[t] = 0.0
        if p.x[t] != 0.0:
            rows[count], weights[count] = t, p.x[t]
            count += 1
    add_rows(p.g, cython.address(p.K), rows, weights, count)
    for t in range(p.n):
        p.g[t] += c[t]
    release(p.scratch, mark)
    return 0


def snap(p, gap):
    """Put variables that rounding left just inside their bounds on them: they are not free.

    That is, those closer to a bound than 64 roundings of the largest variable and than a thousandth
    of their own box, which may be smaller than the rounding of a variable whose box is large.
    `gap` becomes the KKT gap.
    """
    hair = 0.0
    for t in range(p.n):
        hair = max(hair, 64.0 * EPSILON * fabs(p.x[t]))
    mark = p.scratch.count
    rows, change = indices(p.scratch, p.n), doubles(p.scratch, p.n)
    moved: cython.Py_ssize_t = 0
    for t in range(p.n):
        end = p.x[t]
        near = min(hair, 1e-3 * (p.hi[t] - p.lo[t]))
        if p.x[t] - p.lo[t] < near:
            end = p.lo[t]
        elif p.hi[t] - p.x[t] < near:
            end = p.hi[t]
        if end != p.x[t]:
            rows[moved], change[moved] = t, end - p.x[t]
            p.x[t] = end
            moved += 1
    if moved > 0:
        add_rows(p.g, cython.address(p.K), rows, change, moved)
    release(p.scratch, mark)
    gap[0] = kkt_gap(p)
    return 0
