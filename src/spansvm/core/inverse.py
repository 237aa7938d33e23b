"""The inverse of the matrix of the in-bound vectors, carried from one solution to the next.

From one candidate to the next a few vectors enter or leave.  With the inverse M of
``K_II + shift`` at hand, these are a bordering and its reverse, in products of matrices: for a
tenth of the vectors several times quicker than a new factor and what the spans need of it, which M
contains.  Only for well-conditioned matrices without equal points; what M gives is checked by the
gradients after each step of the solver.
"""

import cython
from cython.cimports.libc.math import sqrt
from cython.cimports.libc.stdlib import free as give_back
from cython.cimports.libc.stdlib import malloc
from cython.cimports.libc.string import memcpy
from cython.cimports.spansvm.core.linalg import (
    add_square,
    cholesky,
    cholesky_inverse,
    lower_inverse,
    lower_solve,
    multiply_symmetric,
    square_lower,
    subtract_products,
)
from cython.cimports.spansvm.core.loops import add_rows, add_vector, dot, gather
from cython.cimports.spansvm.core.scratch import doubles, flags, indices, release, spend

#: Smaller sets are quicker factorised anew.
SMALLEST = 48


def make_room(v, room):
    """Memory for an inverse of so many points; there is none yet."""
    v.size, v.room = 0, room
    v.M = cython.cast(cython.p_double, malloc(max(room * room, 1) * cython.sizeof(cython.double)))
    v.points = cython.cast(cython.pointer(idx), malloc(max(room, 1) * cython.sizeof(idx)))
    if not (v.M and v.points):
        drop_inverse(v)
        with cython.gil:
            raise MemoryError
    return 0


def drop_inverse(v):
    """Give its memory back."""
    give_back(v.M)
    give_back(v.points)
    v.M, v.points, v.size, v.room = cython.NULL, cython.NULL, 0, 0


def _passes(v, pivot):
    """Whether a pivot of a factor lets the inverse be carried along; it may make it inaccurate."""
    v.accurate = v.accurate and pivot * pivot >= 1e-3 * v.shift
    return pivot * pivot >= 1e-6 * v.shift


def start_inverse(v, f):
    """Fill M from a factor, unless that is not fit."""
    n, width = f.n_inside, v.room
    v.size = 0
    if n < SMALLEST or n > width or f.ridge > 0.0 or not f.exists or f.n_kept != n:
        return
    v.accurate, v.shift = True, f.shift
    for a in range(n):
        if not _passes(v, f.matrix[a * n + a]):
            return
    for a in range(n):
        v.points[a] = f.inside[a]
        memcpy(v.M + a * width, f.matrix + a * n, (a + 1) * cython.sizeof(cython.double))
    lower_inverse(v.M, n, width)
    square_lower(v.M, n, width)
    v.size = n


def change_points(v, K, free, count, scratch):
    """Make M the inverse of the points `free`.

    M is lost if that would take longer than a new factor, or would not be accurate.  The work of a
    vector that enters is three times that of one that leaves; changes of more work than one per
    vector are quicker factorised anew.
    """
    n = v.size
    v.size = 0
    mark = scratch.count
    stays, leaving, entering = flags(scratch, K.width), indices(scratch, n), indices(scratch, count)
    for i in range(K.width):
        stays[i] = False
    for a in range(count):
        stays[free[a]] = True
    n_leaving: cython.Py_ssize_t = 0
    n_entering: cython.Py_ssize_t = 0
    for a in range(n):
        if not stays[v.points[a]]:
            leaving[n_leaving] = a
            n_leaving += 1
        stays[v.points[a]] = False
    for a in range(count):
        if stays[free[a]]:
            entering[n_entering] = free[a]
            n_entering += 1
    if count >= SMALLEST and n_leaving + 3 * n_entering <= count:
        kept = _remove(v, n, leaving, n_leaving, scratch) if n_leaving > 0 else 1
        n -= n_leaving
        if kept and n_entering > 0:
            kept = _append(v, K, n, entering, n_entering, scratch)
        if kept:
            v.size = n + n_entering
    release(scratch, mark)
    return 0


def _entry(v, a, b):
    return v.M[a * v.room + b] if b <= a else v.M[b * v.room + a]


def _remove(v, n, leaving, count, scratch):
    """Remove the points at some places; the last points take them.  0 if spoilt by rounding."""
    mark = scratch.count
    rows, corner = doubles(scratch, count * n), doubles(scratch, count * count)
    for q in range(count):
        for b in range(n):
            rows[q * n + b] = _entry(v, leaving[q], b)
        for p in range(q + 1):
            corner[q * count + p] = rows[q * n + leaving[p]]
    done = cholesky(corner, count)
    if done:
        lower_solve(corner, count, rows, n, False)
        add_square(v.M, n, v.room, -1.0, rows, count)
        _close_gaps(v, n, leaving, count)
    release(scratch, mark)
    return done


def _close_gaps(v, n, leaving, count):
    """Let the last points take the places of those that leave."""
    M, width = v.M, v.room
    last, unwanted = n - 1, count - 1
    for q in range(count):
        i = leaving[q]
        while unwanted >= 0 and leaving[unwanted] == last:
            last -= 1
            unwanted -= 1
        if i > last:
            break
        for b in range(n):
            value = _entry(v, last, last) if b == i else _entry(v, last, b)
            if b <= i:
                M[i * width + b] = value
            else:
                M[b * width + i] = value
        v.points[i] = v.points[last]
        last -= 1


def _append(v, K, n, entering, count, scratch):
    """Append points; 0 if they are too close to the others."""
    mark = scratch.count
    rows, products = doubles(scratch, count * n), doubles(scratch, count * n)
    corner = doubles(scratch, count * count)
    for q in range(count):
        gather(K, entering[q], v.points, n, v.shift, rows + q * n)
        gather(K, entering[q], entering, count, v.shift, corner + q * count)
    if n > 0:
        multiply_symmetric(v.M, n, v.room, rows, count, products)
        subtract_products(corner, rows, products, count, n)
    done = cholesky(corner, count)
    if done:
        for q in range(count):
            if not _passes(v, corner[q * count + q]):
                done = False
                break
    if done:
        lower_solve(corner, count, products, n, False)
        add_square(v.M, n, v.room, 1.0, products, count)
        lower_solve(corner, count, products, n, True)
        cholesky_inverse(corner, count)
        for q in range(count):
            target = v.M + (n + q) * v.room
            for b in range(n):
                target[b] = -products[q * n + b]
            for p in range(q + 1):
                target[n + p] = corner[q * count + p]
            v.points[n + q] = entering[q]
    release(scratch, mark)
    return done


def walk(v, p):
    """Move the points of M to their minimum, dropping each that meets its bound on the way.

    As :func:`spansvm.core.newton.newton` does; what is dropped leaves M too.
    """
    n = v.size
    v.size = 0
    mark = p.scratch.count
    rows, products = doubles(p.scratch, 2 * n), doubles(p.scratch, 2 * n)
    for a in range(n):
        rows[a], rows[n + a] = p.g[v.points[a]], 1.0
    multiply_symmetric(v.M, n, v.room, rows, 2, products)
    # For every point that is dropped its row of what is left of M, by the root of its own entry.
    dropped, ends, places = doubles(p.scratch, n * n), doubles(p.scratch, n), indices(p.scratch, n)
    move = doubles(p.scratch, n)
    count = _follow(v, p, products, move, dropped, places, ends, n)
    if count >= 0:
        add_rows(p.g, cython.address(p.K), v.points, move, n)
        for a in range(n):
            i = v.points[a]
            p.x[i] = min(max(p.x[i] + move[a], p.lo[i]), p.hi[i])
        for k in range(count):
            p.x[v.points[places[k]]] = ends[k]
        if count > 0:
            add_square(v.M, n, v.room, -1.0, dropped, count)
            _sort(places, count)
            _close_gaps(v, n, places, count)
        v.size = n - count
    release(p.scratch, mark)
    return 0


def _follow(v, p, products, move, dropped, places, ends, n):
    """Fill `move`; returns the number of points that are dropped, -1 if spoilt by rounding.

    `products` are M times the gradients, and M times 1.
    """
    direction, u = products, products + n
    alive = flags(p.scratch, n)
    blocking: cython.Py_ssize_t
    count: cython.Py_ssize_t = 0
    total, ones = 0.0, 0.0
    for a in range(n):
        total += direction[a]
        ones += u[a]
    for a in range(n):
        direction[a] = u[a] * (total / ones) - direction[a]
        move[a], alive[a] = 0.0, True
    while count < n - 1:
        fraction, blocking = 1.0, -1
        for a in range(n):
            if alive[a] and direction[a] != 0.0:
                i = v.points[a]
                end = p.hi[i] if direction[a] > 0.0 else p.lo[i]
                share = (end - (p.x[i] + move[a])) / direction[a]
                if share < fraction:
                    fraction, blocking, ends[count] = max(share, 0.0), a, end
        add_vector(move, fraction, direction, n)
        if blocking < 0:
            break
        row = dropped + count * n
        for b in range(n):
            row[b] = _entry(v, blocking, b)
        for k in range(count):
            add_vector(row, -dropped[k * n + blocking], dropped + k * n, n)
        pivot = row[blocking]
        projected = pivot - u[blocking] * u[blocking] / ones
        if not (pivot > 0.0 and projected > 0.0):
            return -1
        alive[blocking], places[count] = False, blocking
        # The others take over what the point that is held would have done.
        rest = 1.0 - fraction
        turn = rest * direction[blocking] / projected
        root, weight, total = sqrt(pivot), u[blocking] / ones, 0.0
        for b in range(n):
            direction[b] = rest * direction[b] - turn * (row[b] - weight * u[b])
            row[b] /= root
            total += row[b]
        ones = 0.0
        for b in range(n):
            u[b] -= row[b] * total
            if alive[b]:
                ones += u[b]
            else:
                direction[b] = 0.0
        if not ones > 0.0:
            return -1
        count += 1
        spend(p.scratch, 0.3 * n * count)
    left = 0.0
    for a in range(n):
        left += move[a]
    for a in range(n):
        if alive[a]:
            move[a] -= left / (n - count)
    return count


def _sort(values, count):
    for k in range(1, count):
        value, place = values[k], k
        while place > 0 and values[place - 1] > value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value


def distances_by_inverse(v, p, others, count, squared):
    """:func:`spansvm.core.hull.fill_distances` with the inverse."""
    n, points = v.size, v.points
    mark = p.scratch.count
    rows, products = doubles(p.scratch, (count + 1) * n), doubles(p.scratch, (count + 1) * n)
    for k in range(count):
        gather(cython.address(p.K), others[k], points, n, v.shift, rows + k * n)
    for b in range(n):
        rows[count * n + b] = 1.0
    multiply_symmetric(v.M, n, v.room, rows, count + 1, products)
    u, s, farthest = products + count * n, 0.0, 0.0
    for b in range(n):
        s += u[b]
        farthest = max(farthest, 4.0 * p.diag[points[b]])
    for k in range(count):
        row, product = rows + k * n, products + k * n
        length, along = dot(row, product, n), dot(row, u, n)
        i, offset = others[k], 1.0 - along
        squared[i] = max(p.diag[i] + v.shift - length + offset * offset / s, 0.0)
    for b in range(n):
        own = v.M[b * v.room + b] - u[b] * u[b] / s
        squared[points[b]] = 1.0 / max(own, 1.0 / farthest)
    release(p.scratch, mark)
    return 0
