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
from cython.cimports.spansvm.core.linalg import multiply
from cython.cimports.spansvm.core.loops import add_rows, add_vector, gather, row_difference
from cython.cimports.spansvm.core.problem import entry
from cython.cimports.spansvm.core.scratch import doubles, indices, lent, release, spend

#: Pivots of the scaled system of the changed vectors that are smaller, or below the rounding of the
#: kernel, count as zero.
SINGULAR, KERNEL_ROUNDING = 1e-11, 1e-14

#: If a smaller share of the vectors is free, rows are computed for all, and then set for these.
FEW = 0.25

#: Rows that are computed together.
AT_ONCE = 32


def set_up(T, K, s, scratch):
    """A tableau of the points of a system, as yet without rows."""
    n, size, base = K.width, s.size, s.points[0]
    T.K, T.n, T.free, T.n_free, T.used = K[0], n, s.points, size, 0
    T.likely, T.ordered, T.next[0], T.next[1] = indices(scratch, n), False, 0, 0
    T.weights, T.projected = s.weights, s.projected
    T.rows.wide, T.rows.narrow, T.rows.width = lent(scratch, n * n), cython.NULL, n
    T.place, T.slot, T.others = indices(scratch, n), indices(scratch, n), indices(scratch, n)
    T.scale, most = DBL_MIN, 0.0
    for i in range(n):
        T.place[i] = T.slot[i] = -1
        own, other = entry(K, i, i), entry(K, base, i)
        T.scale = max(T.scale, (own - other) - (other - entry(K, base, base)))
        most = max(most, fabs(own))
    T.singular = max(SINGULAR, KERNEL_ROUNDING * most / T.scale)
    for a in range(size):
        T.place[s.points[a]] = a
    count: cython.Py_ssize_t = 0
    T.all = size < FEW * n
    for i in range(n):
        if T.place[i] < 0:
            T.place[i] = ~count
        if T.all or T.place[i] < 0:
            T.others[count] = i
            count += 1
    T.n_others = count
    T.from_base, T.to_base = doubles(scratch, count), doubles(scratch, size)
    T.values = doubles(scratch, size * count)
    gather(K, base, T.others, count, 0.0, T.from_base)
    for a in range(size):
        T.to_base[a] = entry(K, s.points[a], base) - entry(K, base, base)
        _difference(T, s.points[a], T.values + a * count)
    return 0


def _difference(T, q, target):
    """Kernel values of a vector with the others, minus those of the first free one."""
    if T.all:
        row_difference(cython.address(T.K), q, T.free[0], target)
    else:
        gather(cython.address(T.K), q, T.others, T.n_others, 0.0, target)
        add_vector(target, -1.0, T.from_base, T.n_others)


def row_of(T, q):
    """The row of a vector, which must have been computed."""
    return T.rows.wide + T.slot[q] * T.n


def need_row(T, q, scratch):
    """Compute the row of a vector, unless it is there."""
    if T.slot[q] >= 0:
        return 0
    point: cython.Py_ssize_t = q
    return need_rows(T, cython.address(point), 1, scratch)


def need_rows(T, points, count, scratch):
    """The same for several vectors.

    They are computed in blocks, free ones and others apart, by products of matrices that always
    have the same size: so a row does not depend on those that are computed with it, whatever BLAS
    does.  Blocks are filled with vectors that are likely to be needed soon.
    """
    block: cython.Py_ssize_t[32]
    missing: cython.bint = False
    for k in range(count):
        if T.slot[points[k]] < 0:
            missing = True
    if missing and not T.ordered:
        _order(T)
    kind: cython.Py_ssize_t = 0
    while missing and kind < 2:
        size: cython.Py_ssize_t = 0
        for k in range(count):
            if T.slot[points[k]] < 0 and (T.place[points[k]] >= 0) == (kind == 1):
                block[size], T.slot[points[k]] = points[k], T.used + size
                size += 1
                if size == AT_ONCE:
                    _compute(T, block, size, scratch)
                    size = 0
        if size > 0:
            while size < AT_ONCE and T.next[kind] < T.n:
                i = T.likely[T.next[kind]]
                T.next[kind] += 1
                if T.slot[i] < 0 and (T.place[i] >= 0) == (kind == 1):
                    block[size], T.slot[i] = i, T.used + size
                    size += 1
            _compute(T, block, size, scratch)
        kind += 1
    return 0


def _order(T):
    """Sort the vectors by their closeness (Shell 1959)."""
    n, key = T.n, T.closeness
    T.ordered = True
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


def _compute(T, wanted, number, scratch):
    """Compute the rows of vectors that are all free, or all not."""
    size, others, n_others = T.n_free, T.others, T.n_others
    mark = scratch.count
    kernel, lean = doubles(scratch, AT_ONCE * size), doubles(scratch, AT_ONCE * size)
    products = doubles(scratch, AT_ONCE * n_others)
    T.used += number
    if T.place[wanted[0]] < 0:
        for k in range(AT_ONCE):
            for a in range(size):
                kernel[k * size + a] = 0.0
                if k < number:
                    kernel[k * size + a] = T.values[a * n_others + ~T.place[wanted[k]]]
        multiply(kernel, T.projected, lean, AT_ONCE, size, size)
    for k in range(number):
        own, a = lean + k * size, T.place[wanted[k]]
        for b in range(size):
            own[b] = T.projected[a * size + b] if a >= 0 else -own[b] - T.weights[b]
    for c in range(number * size, AT_ONCE * size):
        lean[c] = 0.0
    if n_others > 0:
        multiply(lean, T.values, products, AT_ONCE, size, n_others)
    kernel = doubles(scratch, n_others)
    for k in range(number):
        q, own, row, product = (
            wanted[k],
            lean + k * size,
            row_of(T, wanted[k]),
            products + k * n_others,
        )
        if T.place[q] >= 0:
            level = T.weights[T.place[q]]
        else:
            level = entry(cython.address(T.K), T.free[0], T.free[0])
            level -= entry(cython.address(T.K), q, T.free[0])
            for b in range(size):
                level -= own[b] * T.to_base[b]
            _difference(T, q, kernel)
            add_vector(product, 1.0, kernel, n_others)
        if T.all:
            for c in range(n_others):
                row[c] = product[c] + level
        else:
            for c in range(n_others):
                row[others[c]] = product[c] + level
        for a in range(size):
            row[T.free[a]] = own[a]
    spend(scratch, 0.25 * AT_ONCE * size * (size + n_others))
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
    product = doubles(scratch, T.n_others)
    net = 0.0
    for k in range(count):
        net += moves[k]
    for b in range(size):
        sums[b] = 0.0
        for k in range(count):
            sums[b] -= moves[k] * T.values[b * T.n_others + ~T.place[points[k]]]
    for b in range(size):
        lean[b] = -net * T.weights[b]
    for b in range(size):
        add_vector(lean, sums[b], T.projected + b * size, size)
    for c in range(T.n_others):
        product[c] = -net * T.from_base[c]
    for b in range(size):
        add_vector(product, lean[b], T.values + b * T.n_others, T.n_others)
    add_rows(column, cython.address(T.K), points, moves, count)
    level = column[base] - net * entry(cython.address(T.K), base, base)
    for b in range(size):
        level += lean[b] * T.to_base[b]
    for c in range(T.n_others):
        column[T.others[c]] += product[c] - level
    for b in range(size):
        column[T.free[b]] = lean[b]
    release(scratch, mark)
    return 0
