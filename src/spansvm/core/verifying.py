"""Rows of a machine whose removal is followed exactly: where signs are doubtful, or if asked for.

What was followed is known again as long as the solution stays the same and no bound falls.
"""

import cython
from cython.cimports.libc.math import INFINITY, NAN, fabs
from cython.cimports.spansvm.core.doubt import NEAR_ZERO, SAFETY, Drops, find_drops
from cython.cimports.spansvm.core.factor import factorise
from cython.cimports.spansvm.core.following import follow_rows
from cython.cimports.spansvm.core.leaving import count_classes
from cython.cimports.spansvm.core.lone import predict_lone
from cython.cimports.spansvm.core.loops import add_rows
from cython.cimports.spansvm.core.machine import describe
from cython.cimports.spansvm.core.scratch import doubles, flags, indices, release
from cython.cimports.spansvm.core.system import (
    System,
    Trained,
    from_factor,
    from_inverse,
    from_points,
    merge_rows,
)

#: Left-out values below this fraction of the largest are 0.
TRACE = 1e-10


def find_doubt(m, C, wanted, carry, found):
    """Which left-out rows may have another sign than predicted; followed exactly, if wanted."""
    p, f, inverse = cython.address(m.p), cython.address(carry.factor), cython.address(carry.inverse)
    scratch = p.scratch
    mark = scratch.count
    t: Trained
    s: System
    d: Drops
    describe(m, C, found, cython.address(t))
    for i in range(t.n):
        found.verified[i], found.shift[i] = found.left_out[i], 0.0
    s.size = 0
    free = indices(scratch, t.n)
    n_free: cython.Py_ssize_t = 0
    for i in range(t.n):
        if t.lo[i] < t.x[i] and t.x[i] < t.hi[i]:
            free[n_free] = i
            n_free += 1
    found.n_free[0] = n_free
    d.drop, d.outside, d.moved = found.drop, found.outside, found.moved
    if d.outside != cython.NULL:
        _sum_rows(m, C)
        d.sums, d.number = m.sums, 0.0
        for i in range(t.n):
            d.outside[i] = NAN  # until it is known
            if C[i] > 0.0:
                d.number += 1.0
    if n_free < 2:
        predict_lone(cython.address(t), found.verified, found.drop)
    else:
        if inverse.size > 0 and inverse.accurate:
            from_inverse(
                cython.address(s), inverse.M, inverse.room, inverse.points, inverse.size, scratch
            )
        elif f.n_inside == n_free:
            if not f.exists:
                factorise(f, cython.address(p.K), scratch)
            from_factor(cython.address(s), f, scratch)
        else:  # a chain goes on where the solution stays the same
            from_points(cython.address(s), cython.address(p.K), free, n_free, scratch)
        find_drops(cython.address(t), cython.address(s), m.squared, cython.address(d), scratch)
    _mark_doubtful(cython.address(t), found)
    if wanted.verified:
        _verify(m, cython.address(t), cython.address(s), found)
    clear_traces(found.verified, t.n)
    release(scratch, mark)
    return 0


def _mark_doubtful(t, found):
    """Mark rows whose predicted sign may be wrong, as :mod:`spansvm.multiclass.verified` says."""
    positive: cython.Py_ssize_t
    negative: cython.Py_ssize_t
    count_classes(t, cython.address(positive), cython.address(negative))
    for i in range(t.n):
        found.doubtful[i] = found.followed[i] = False
        if t.C[i] > 0.0 and (positive if t.y[i] > 0.0 else negative) < 2:
            found.verified[i] = found.left_out[i]
        elif t.alpha[i] > 0.0 and t.y[i] * t.f[i] > -NEAR_ZERO:
            margin, drop = t.y[i] * found.verified[i], found.drop[i]
            found.doubtful[i] = drop != drop or (
                drop != -INFINITY and margin <= max(NEAR_ZERO, SAFETY * drop)
            )


def _sum_rows(m, C):
    """Sums of kernel values with all rows that take part, unless these are the same as before."""
    n, scratch = m.p.n, m.p.scratch
    same: cython.bint = True
    for i in range(n):
        if m.present[i] != (C[i] > 0.0):
            same = False
            m.present[i] = C[i] > 0.0
    if same:
        return 0
    mark = scratch.count
    rows, ones = indices(scratch, n), doubles(scratch, n)
    count: cython.Py_ssize_t = 0
    for i in range(n):
        m.sums[i] = 0.0
        if m.present[i]:
            rows[count], ones[count] = i, 1.0
            count += 1
    add_rows(m.sums, cython.address(m.p.K), rows, ones, count)
    release(scratch, mark)
    return 0


def _verify(m, t, s, found):
    """Follow the removals of the doubtful rows; those that cannot be followed here stay so."""
    n, scratch = t.n, m.p.scratch
    mark = scratch.count
    rows = indices(scratch, n)
    count: cython.Py_ssize_t = 0
    for i in range(n):
        if found.doubtful[i] and m.known[i]:
            found.verified[i], found.shift[i] = m.followed[i], m.shift[i]
            found.doubtful[i], found.followed[i] = False, True
        elif found.doubtful[i]:
            rows[count] = i
            count += 1
    found.error[0] = 0.0
    if count > 0:
        _sum_rows(m, t.C)
        followed: Followed
        followed.decision, followed.shift = doubles(scratch, count), doubles(scratch, count)
        followed.met = flags(scratch, count)
        known = s if s.size > 0 else cython.NULL
        if follow_rows(t, known, m.sums, rows, count, cython.address(followed), scratch):
            found.error[0] = followed.error
            for k in range(count):
                i, value = rows[k], followed.decision[k]
                found.shift[i] = followed.shift[k]
                if value == value:
                    found.verified[i] = value
                    found.doubtful[i], found.followed[i] = False, True
                    m.followed[i], m.shift[i] = value, followed.shift[k]
                    m.known[i] = not followed.met[k]
    release(scratch, mark)
    return 0


def clear_traces(values, n):
    """Set values to 0 that only rounding keeps from it, as :mod:`spansvm.machine.values` does."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, fabs(values[i]))
    for i in range(n):
        if fabs(values[i]) <= TRACE * largest:
            values[i] = 0.0


def remove_rows(m, C, found, rows, count, followed):
    """Follow the removal of some rows of a machine, of which `found` holds the solution.

    Values of those that cannot be followed are not numbers; shifts neither, if that was tried.
    """
    n, scratch = m.p.n, m.p.scratch
    mark = scratch.count
    some: Followed
    t: Trained
    describe(m, C, found, cython.address(t))
    merge_rows(cython.address(t), scratch)
    if not _is_last(m, C, found):
        m.elsewhere, m.last_epsilon = True, found.epsilon[0]
        for i in range(n):
            m.known[i], m.last[i] = False, found.alpha[i]
    for i in range(n):
        m.last_C[i] = C[i]
    new, place = indices(scratch, count), indices(scratch, count)
    some.decision, some.shift = doubles(scratch, count), doubles(scratch, count)
    some.met = flags(scratch, count)
    number: cython.Py_ssize_t = 0
    for k in range(count):
        i = rows[k]
        followed.decision[k], followed.shift[k] = NAN, 0.0
        if m.known[i]:
            followed.decision[k], followed.shift[k] = m.followed[i], m.shift[i]
        elif found.shift[i] != found.shift[i]:
            followed.shift[k] = NAN  # it was given up before
        else:
            new[number], place[number] = i, k
            number += 1
    followed.error = 0.0
    sums: cython.p_double = cython.NULL  # the shift of all others matters to ranks alone
    if number > 0:
        if not m.target:
            _sum_rows(m, C)
            sums = m.sums
        if follow_rows(
            cython.address(t), cython.NULL, sums, new, number, cython.address(some), scratch
        ):
            followed.error = some.error
            for a in range(number):
                i, k = new[a], place[a]
                followed.decision[k], followed.shift[k] = some.decision[a], some.shift[a]
                if some.decision[a] == some.decision[a]:
                    m.followed[i], m.shift[i] = some.decision[a], some.shift[a]
                    m.known[i] = not some.met[a]
    release(scratch, mark)
    return 0


def _is_last(m, C, found):
    """Whether these are the multipliers of the latest removals, none at a bound, of the same rows.

    Bounds may have grown: those that no path has met, it does not meet then either.
    """
    alpha = found.alpha
    if found.epsilon[0] != m.last_epsilon:
        return False
    for i in range(m.p.n):
        if alpha[i] != m.last[i] or (alpha[i] > 0.0 and alpha[i] >= C[i]):
            return False
        if C[i] < m.last_C[i] or (C[i] > 0.0) != (m.last_C[i] > 0.0):
            return False
    return True
