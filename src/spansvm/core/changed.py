"""The small system of the vectors that changed between free and bound along a path.

Its matrix is their part of the tableau (:mod:`spansvm.core.tableau`), symmetric and indefinite:
some left the free set, others joined it.  From turn to turn one vector joins the changed ones or
leaves them, so its inverse is bordered, or reduced, in quadratic time.  Where that is not possible
it is computed anew, by elimination with pivoting: while no vector is free the system is singular.
Multipliers and residuals are scaled so that all entries are of order 1.
"""

from cython.cimports.libc.math import fabs, sqrt
from cython.cimports.spansvm.core.loops import add_vector
from cython.cimports.spansvm.core.scratch import doubles, indices, release
from cython.cimports.spansvm.core.tableau import row_of


def _most_changed(n):
    """How many of n vectors may have changed before a removal is given up.

    A share of all, within limits: longer paths are no quicker than training.  Of 57,000 removals
    from machines of 200 to 900 rows two were longer.  If a kernel tells hardly any rows apart,
    nearly all are: hundreds of vectors meet their bounds at almost the same place.
    """
    return min(min(max(60, n // 8), 600), n)


def make_changed(c, n, scratch):
    """Make room for the changed ones among n vectors."""
    c.room = _most_changed(n)
    c.points, c.position = indices(scratch, c.room), indices(scratch, n)
    c.inverse = doubles(scratch, c.room * c.room)
    c.column, c.lean = doubles(scratch, c.room), doubles(scratch, c.room)
    c.size = c.known = 0
    for i in range(n):
        c.position[i] = -1
    return 0


def clear_changed(c):
    """None has changed."""
    for a in range(c.size):
        c.position[c.points[a]] = -1
    c.size = c.known = 0


def add_changed(c, q):
    """Add a vector; False if there are too many."""
    if c.size == c.room:
        return False
    c.points[c.size], c.position[q] = q, c.size
    c.size += 1
    return True


def forget_changed(c, T, q):
    """A vector is again what it was at the start."""
    place = c.position[q]
    _take_out(c, place, T.singular)
    c.size -= 1
    last = c.points[c.size]
    c.points[place], c.position[last] = last, place
    c.position[q] = -1


def _unit(T, q):
    root = sqrt(T.scale)
    return root if T.place[q] >= 0 else 1.0 / root


def _entry(T, p, q):
    """An entry of the scaled system."""
    value = row_of(T, p)[q] * _unit(T, p) * _unit(T, q)
    return -value if T.place[q] >= 0 else value


def solve_changed(c, T, z, scratch):
    """Overwrite the right-hand side `z` with the solution of the system; 0 if it is singular.

    The rows of the changed vectors must be there.
    """
    size = c.size
    if size == 0:
        return 1
    if c.known == size - 1 and size > 1:
        _border(c, T)
    if c.known != size and not _invert(c, T, scratch):
        return 0
    result = c.lean
    for a in range(size):
        result[a] = 0.0
    for a in range(size):
        if z[a] != 0.0:
            add_vector(result, z[a] * _unit(T, c.points[a]), c.inverse + a * c.room, size)
    for a in range(size):
        z[a] = result[a] * _unit(T, c.points[a])
    return 1


def _border(c, T):
    """Add the last of the changed vectors to the inverse; nothing happens if it is singular."""
    size, room, column, lean = c.size - 1, c.room, c.column, c.lean
    q = c.points[size]
    for a in range(size):
        column[a], lean[a] = _entry(T, q, c.points[a]), 0.0
    for a in range(size):
        add_vector(lean, column[a], c.inverse + a * room, size)
    pivot = _entry(T, q, q)
    for a in range(size):
        pivot -= column[a] * lean[a]
    if not fabs(pivot) > T.singular:
        return
    for a in range(size):
        row, weight = c.inverse + a * room, lean[a] / pivot
        add_vector(row, weight, lean, size)
        row[size] = c.inverse[size * room + a] = -weight
    c.inverse[size * room + size] = 1.0 / pivot
    c.known = size + 1


def _invert(c, T, scratch):
    """Compute the inverse anew; 0 if the system is singular."""
    size, room, inverse = c.size, c.room, c.inverse
    c.known = 0
    mark = scratch.count
    matrix = doubles(scratch, size * size)
    for a in range(size):
        for b in range(size):
            matrix[a * size + b] = _entry(T, c.points[a], c.points[b])
            inverse[a * room + b] = 1.0 if a == b else 0.0
    regular = 1
    for a in range(size):
        best = a
        for b in range(a + 1, size):
            if fabs(matrix[b * size + a]) > fabs(matrix[best * size + a]):
                best = b
        row, found = matrix + a * size, inverse + a * room
        if not fabs(matrix[best * size + a]) > T.singular:
            regular = 0
            break
        if best != a:
            other, second = matrix + best * size, inverse + best * room
            for k in range(size):
                row[k], other[k] = other[k], row[k]
                found[k], second[k] = second[k], found[k]
        own = row[a]
        for k in range(size):
            row[k] /= own
            found[k] /= own
        for b in range(size):
            factor = matrix[b * size + a]
            if b != a and factor != 0.0:
                add_vector(matrix + b * size, -factor, row, size)
                add_vector(inverse + b * room, -factor, found, size)
    release(scratch, mark)
    if regular:
        c.known = size
    return regular


def _take_out(c, place, singular):
    """Take the vector at a place out of the inverse; the last takes its place."""
    size, room, inverse, row = c.size, c.room, c.inverse, c.column
    if c.known != size or not fabs(inverse[place * room + place]) > singular:
        c.known = 0
        return
    last, own = size - 1, inverse[place * room + place]
    for a in range(size):
        row[a] = inverse[place * room + a]
    for a in range(size):
        add_vector(inverse + a * room, -row[a] / own, row, size)
    if place != last:
        for a in range(size):
            inverse[place * room + a] = inverse[last * room + a]
        for a in range(size):
            inverse[a * room + place] = inverse[a * room + last]
    c.known = last
