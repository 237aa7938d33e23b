"""The loops over rows that take the time, in a form that compilers vectorise.

This module is built once for every level of processor, and :mod:`spansvm.core` takes the build that
suits this one; all other compiled modules call it.  Sums may be reassociated, and nothing here may
test for infinity or for what is not a number: such tests would be removed.  Infinite limits pass
through unharmed.
"""

import cython
from cython.cimports.libc.math import fabs

#: Means "not available" in the vectorised searches; far beyond any gradient.
BARRED = -1e300


# Sums and pieces of rows --------------------------------------------------------------------------


def add_vector(g, a, row, n):
    """``g += a * row``."""
    for t in range(n):
        g[t] += a * row[t]


def add_squares(g, row, n):
    """``g += row * row``."""
    for t in range(n):
        g[t] += row[t] * row[t]


def sum_of(row, n):
    """The sum of a row."""
    total = 0.0
    for t in range(n):
        total += row[t]
    return total


def dot(one, other, n):
    """``one @ other``."""
    total = 0.0
    for t in range(n):
        total += one[t] * other[t]
    return total


def add_row(g, a, K, i):
    """``g += a * K[i]``."""
    if K.wide:
        _add_one(g, a, K.wide + i * K.width, K.width)
    else:
        _add_one(g, a, K.narrow + i * K.width, K.width)


def add_rows(g, K, rows, weights, count):
    """``g += weights @ K[rows]``, four rows per pass."""
    if K.wide:
        _add_some(g, K.wide, K.width, rows, weights, count)
    else:
        _add_some(g, K.narrow, K.width, rows, weights, count)


def _add_one(g, a, row, n):
    for t in range(n):
        g[t] += a * row[t]


def _add_four(g, w, a, b, c, d, n):
    wa, wb, wc, wd = w[0], w[1], w[2], w[3]
    for t in range(n):
        g[t] += (wa * a[t] + wb * b[t]) + (wc * c[t] + wd * d[t])


def _add_some(g, K, n, rows, weights, count):
    k = 0
    while k + 4 <= count:
        _add_four(
            g, weights + k, K + rows[k] * n, K + rows[k + 1] * n, K + rows[k + 2] * n,
            K + rows[k + 3] * n, n,
        )  # fmt: skip
        k += 4
    while k < count:
        _add_one(g, weights[k], K + rows[k] * n, n)
        k += 1


def gather(K, i, columns, count, shift, target):
    """``target = K[i, columns] + shift``."""
    if K.wide:
        _gather(K.wide + i * K.width, columns, count, shift, target)
    else:
        _gather(K.narrow + i * K.width, columns, count, shift, target)


def _gather(row, columns, count, shift, target):
    for k in range(count):
        target[k] = row[columns[k]] + shift


def weighted_entries(K, i, columns, weights, count):
    """``weights @ K[i, columns]``."""
    if K.wide:
        return _weighted(K.wide + i * K.width, columns, weights, count)
    return _weighted(K.narrow + i * K.width, columns, weights, count)


def _weighted(row, columns, weights, count):
    total = 0.0
    for k in range(count):
        total += weights[k] * row[columns[k]]
    return total


def weighted_differences(K, i, columns, weights, count, level):
    """``weights @ (K[i, columns] - level)``."""
    if K.wide:
        return _weighted_from(K.wide + i * K.width, columns, weights, count, level)
    return _weighted_from(K.narrow + i * K.width, columns, weights, count, level)


def _weighted_from(row, columns, weights, count, level):
    total = 0.0
    for k in range(count):
        total += weights[k] * (row[columns[k]] - level)
    return total


def copy_block(K, rows, count, part):
    """``part = K[rows][:, rows]``; single precision may become double."""
    for a in range(count):
        i = rows[a] * K.width
        if part.wide and K.wide:
            _copy(K.wide + i, rows, count, part.wide + a * count)
        elif part.wide:
            _widen(K.narrow + i, rows, count, part.wide + a * count)
        else:
            _copy(K.narrow + i, rows, count, part.narrow + a * count)
    part.width = count


def _copy(row, columns, count, target):
    for b in range(count):
        target[b] = row[columns[b]]


def _widen(row, columns, count, target):
    for b in range(count):
        target[b] = row[columns[b]]


def row_difference(K, i, base, target):
    """``target = K[i] - K[base]``."""
    n = K.width
    if K.wide:
        _subtract(K.wide + i * n, K.wide + base * n, target, n)
    else:
        _subtract(K.narrow + i * n, K.narrow + base * n, target, n)


def _subtract(row, base, target, n):
    for t in range(n):
        target[t] = cython.cast(cython.double, row[t]) - cython.cast(cython.double, base[t])


def eliminate(P, row, scale, alive, n):
    """``P -= scale * row row'`` on the rows that are still alive."""
    for a in range(n):
        if alive[a]:
            add_vector(P + a * n, -row[a] * scale, row, n)


# Two variables at a time --------------------------------------------------------------------------
#
# Maxima are searched in blocks of 64 variables, and then only in the best block for the place.


def _gain(slope, curvature):
    """What a step gains, ``slope^2 / curvature``, in single precision: only to be compared."""
    flat = 1e-12
    slope = slope if slope > 0.0 else 0.0
    curvature = curvature if curvature > flat else flat
    return cython.cast(cython.float, slope * slope) / cython.cast(cython.float, curvature)


def best_partner(s, K, i):
    """Index j with the largest second-order gain ``(g_j - g_i)^2 / (K_ii + K_jj - 2 K_ij)``."""
    if K.wide:
        return _best_partner(s, K.wide + i * K.width, s.diag[i])
    return _best_partner(s, K.narrow + i * K.width, s.diag[i])


def _best_partner(s, row, own):
    n, g, low, diag, top = s.n, s.g, s.low, s.diag, s.top
    # In units in which single precision neither overflows nor loses what matters.
    per_slope, per_curvature = 1.0 / (s.top + s.bottom), 1e-12 / s.flat
    best: cython.float = 0.0
    most: cython.float
    value: cython.float
    begin: cython.Py_ssize_t = -1
    start: cython.Py_ssize_t = 0
    while start < n:
        end = min(start + 64, n)
        most = 0.0
        for t in range(start, end):
            value = _gain(
                (top + g[t] + low[t]) * per_slope, (own + diag[t] - 2.0 * row[t]) * per_curvature
            )
            most = value if value > most else most
        if most > best:
            best, begin = most, start
        start += 64
    if begin < 0:
        return -1
    # The compiler may round differently in the two loops.
    best *= cython.cast(cython.float, 1.0 - 1e-5)
    for t in range(begin, min(begin + 64, n)):
        value = _gain(
            (top + g[t] + low[t]) * per_slope, (own + diag[t] - 2.0 * row[t]) * per_curvature
        )
        if value >= best:
            return t
    return -1


def move_pair(s, K, i, j, step):
    """Update the gradient for ``x_i += step, x_j -= step``, and both extremes; the next i."""
    if K.wide:
        return _move_pair(s, K.wide + i * K.width, K.wide + j * K.width, step)
    return _move_pair(s, K.narrow + i * K.width, K.narrow + j * K.width, step)


def _move_pair(s, one, other, step):
    n, g, up, low = s.n, s.g, s.up, s.low
    top = bottom = BARRED
    begin: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t = 0
    while start < n:
        most = -1e300
        for t in range(start, min(start + 64, n)):
            moved = g[t] + step * (one[t] - other[t])
            g[t] = moved
            rise = up[t] - moved
            fall = low[t] + moved
            most = rise if rise > most else most
            bottom = fall if fall > bottom else bottom
        if most > top:
            top, begin = most, start
        start += 64
    s.top, s.bottom = top, bottom
    for t in range(begin, min(begin + 64, n)):
        if up[t] - g[t] == top:
            return t
    return -1


# Along a path -------------------------------------------------------------------------------------


def find_rooms(m):
    """How far each vector may move; returns the smallest."""
    far = 1e300
    shortest = far
    state, slope, least, most, still, room = m.state, m.slope, m.least, m.most, m.still, m.room
    for i in range(m.n):
        speed = slope[i]
        size = speed if speed > 0.0 else -speed
        end = most[i] if speed > 0.0 else least[i]
        divisor = speed if size > still[i] else 1.0
        way = (end - state[i]) / divisor
        way = way if way > 0.0 else 0.0
        way = way if size > still[i] else far
        way = way if way < far else far
        room[i] = way
        shortest = way if way < shortest else shortest
    return shortest


def first_to_stop(m, shortest):
    """The vector that ends a step; of several at the same place, the one that moves fastest."""
    limit, steepest = shortest * (1.0 + 1e-12), 0.0
    room, slope, still, n = m.room, m.slope, m.still, m.n
    q: cython.Py_ssize_t = -1
    start: cython.Py_ssize_t = 0
    while start < n:
        end = min(start + 64, n)
        least = 1e300
        for i in range(start, end):
            least = room[i] if room[i] < least else least
        if least <= limit:
            for i in range(start, end):
                if room[i] <= limit:
                    steep = (slope[i] if slope[i] > 0.0 else -slope[i]) / still[i]
                    if steep > steepest:
                        q, steepest = i, steep
        start += 64
    return q


def any_leaves(shares, scale, touches, x, lo, hi, n):
    """Whether a variable leaves its box, or touches its end, if each moves by its share.

    It touches the end if that is nearer than a fraction of where it was and how far it moves.
    """
    over = 0.0
    for i in range(n):
        change = scale * shares[i]
        moved, slack = x[i] + change, touches * (fabs(x[i]) + fabs(change))
        above, below = moved - hi[i] + slack, lo[i] - moved + slack
        over = above if above > over else over
        over = below if below > over else over
    return over > 0.0
