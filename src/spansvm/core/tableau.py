"""The tableau of a solution: the matrix of its linear system, swept on the free vectors.

With the free vectors F, all others O, signed multipliers ``x`` and residuals ``r = Kx - y + b``,

    x_F = -T_FF r_F - T_FO x_O,     r_O = T_OF r_F + T_OO x_O.

All removals start from the same solution, so they share it.  Rows of T are computed when a removal
first needs them.  Entries of free vectors have the opposite sign: along a path, the multipliers of
free vectors and the residuals of all others then change by sums of rows.
"""

import cython
from cython.cimports.libc.float import DBL_MIN
from cython.cimports.libc.math import fabs
from cython.cimports.spansvm.core.linalg import multiply, multiply_symmetric
from cython.cimports.spansvm.core.loops import (
    add_row,
    add_rows,
    add_vector,
    row_difference,
    weighted_entries,
)
from cython.cimports.spansvm.core.problem import entry
from cython.cimports.spansvm.core.scratch import doubles, indices, release

#: Pivots of the scaled system of the changed vectors that are smaller, or below the rounding of the
#: kernel, count as zero.
SINGULAR, KERNEL_ROUNDING = 1e-11, 1e-14

#: Rows that are computed together.
AT_ONCE = 32


def set_up(T, K, s, scratch):
    """A tableau of the points of a system, as yet without rows."""
    n, size, base = K.width, s.size, s.points[0]
    T.K, T.n, T.free, T.n_free, T.used = K[0], n, s.points, size, 0
    T.likely, T.next = indices(scratch, n), -1
    T.weights = s.weights
    T.projected.wide, T.projected.narrow, T.projected.width = s.projected, cython.NULL, size
    T.values.wide, T.values.narrow, T.values.width = doubles(scratch, size * n), cython.NULL, n
    T.rows.wide, T.rows.narrow, T.rows.width = doubles(scratch, n * n), cython.NULL, n
    T.place, T.slot, every = indices(scratch, n), indices(scratch, n), indices(scratch, size)
    T.scale, most = DBL_MIN, 0.0
    for i in range(n):
        T.place[i] = T.slot[i] = -1
        own, other = entry(K, i, i), entry(K, base, i)
        T.scale = max(T.scale, (own - other) - (other - entry(K, base, base)))
        most = max(most, fabs(own))
    T.singular = max(SINGULAR, KERNEL_ROUNDING * most / T.scale)
    for a in range(size):
        T.place[s.points[a]] = every[a] = a
        row_difference(K, s.points[a], base, T.values.wide + a * n)
    T.every = every
    return 0


def row_of(T, q):
    """The row of a vector, which must have been computed."""
    return T.rows.wide + T.slot[q] * T.n


def need_row(T, q, scratch):
    """Compute the row of a vector, unless it is there.

    With it come those of some others that are likely to be needed soon: several rows in one product
    of matrices take little longer than one.
    """
    if T.slot[q] >= 0:
        return 0
    if T.next < 0:
        _order(T)
    mark = scratch.count
    points = indices(scratch, AT_ONCE)
    count: cython.Py_ssize_t = 1
    points[0] = q
    while count < AT_ONCE and T.next < T.n:
        i = T.likely[T.next]
        T.next += 1
        if T.slot[i] < 0 and i != q:
            points[count] = i
            count += 1
    need_rows(T, points, count, scratch)
    release(scratch, mark)
    return 0


def _order(T):
    """Sort the vectors by their closeness (Shell 1959)."""
    n, key = T.n, T.closeness
    T.next = 0
    gap: cython.Py_ssize_t = 1
    for i in range(n):
        T.likely[i] = i
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            own, place = T.likely[i], i
            while place >= gap and key[T.likely[place - gap]] > key[own]:
                T.likely[place] = T.likely[place - gap]
                place -= gap
            T.likely[place] = own
        gap //= 3


def need_rows(T, points, count, scratch):
    """The same for several vectors at once, by matrix products."""
    n, size, base, start = T.n, T.n_free, T.free[0], T.used
    mark = scratch.count
    wanted = indices(scratch, count)
    number: cython.Py_ssize_t = 0
    for k in range(count):
        q = points[k]
        if T.slot[q] < 0:
            wanted[number], T.slot[q] = q, start + number
            number += 1
    T.used += number
    kernel, lean = doubles(scratch, number * size), doubles(scratch, number * size)
    for k in range(number):
        for a in range(size):
            kernel[k * size + a] = T.values.wide[a * n + wanted[k]]
    if number > 0:
        multiply_symmetric(T.projected.wide, size, size, kernel, number, lean)
    for k in range(number):
        own, a = lean + k * size, T.place[wanted[k]]
        for b in range(size):
            own[b] = T.projected.wide[a * size + b] if a >= 0 else -own[b] - T.weights[b]
    if number > 0:
        multiply(lean, T.values.wide, T.rows.wide + start * n, number, size, n)
    kernel = doubles(scratch, n)
    for k in range(number):
        q, own, row = wanted[k], lean + k * size, row_of(T, wanted[k])
        if T.place[q] >= 0:
            level = T.weights[T.place[q]]
            for i in range(n):
                row[i] += level
        else:
            row_difference(cython.address(T.K), q, base, kernel)
            offset = row[base] + kernel[base]
            for i in range(n):
                row[i] += kernel[i] - offset
        for a in range(size):
            row[T.free[a]] = own[a]
    release(scratch, mark)
    return 0


def fill_column(T, points, moves, count, column, scratch):
    """The sum of the rows of some vectors that are not free, times their moves."""
    n, size, base = T.n, T.n_free, T.free[0]
    for i in range(n):
        column[i] = 0.0
    if count == 0:
        return 0
    if count == 1:
        need_row(T, points[0], scratch)
        add_vector(column, moves[0], row_of(T, points[0]), n)
        return 0
    mark = scratch.count
    lean, sums = doubles(scratch, size), doubles(scratch, size)
    net = 0.0
    for k in range(count):
        net += moves[k]
    for b in range(size):
        lean[b] = -net * T.weights[b]
        sums[b] = -weighted_entries(cython.address(T.values), b, points, moves, count)
    add_rows(lean, cython.address(T.projected), T.every, sums, size)
    add_rows(column, cython.address(T.K), points, moves, count)
    add_row(column, -net, cython.address(T.K), base)
    add_rows(column, cython.address(T.values), T.every, lean, size)
    level = column[base]
    for i in range(n):
        column[i] -= level
    for b in range(size):
        column[T.free[b]] = lean[b]
    release(scratch, mark)
    return 0
