"""Left-out rows where fewer than two points are free, so that no hull defines a span.

One vector takes over: the only in-bound one, or the next to reach its margin as the intercept
moves.  See :mod:`spansvm.core.leaving` for the values, :mod:`spansvm.machine.doubt` for their
doubt.
"""

import cython
from cython.cimports.libc.math import INFINITY, fabs, isinf
from cython.cimports.spansvm.core.doubt import NEAR_ZERO
from cython.cimports.spansvm.core.leaving import enters
from cython.cimports.spansvm.core.problem import entry

#: A vector that takes over is sure to do so if it uses less than this share of its room.
MOST_ROOM = 0.7

#: Multipliers whose relative difference is smaller are equal.
EQUAL = 1e-9


def _is_inside(m, i):
    return m.alpha[i] > 0.0 and m.alpha[i] < m.C[i]


def _only_inside(m):
    """The only in-bound vector, or the first of several equal ones; -1 if there is none."""
    for i in range(m.n):
        if _is_inside(m, i):
            return i
    return -1


def _can_move(m, i, sign):
    """Whether the signed multiplier of a vector can move by `sign`."""
    return m.alpha[i] < m.C[i] if m.y[i] == sign else m.alpha[i] > 0.0


def predict_lone(m, left_out, drop):
    """Correct the left-out values, and say how much lower the margins may be.

    That is 0 or infinite: either the vector that takes over does so, or nothing is sure.
    """
    t: Taker
    lone: cython.bint
    inner = _only_inside(m)
    inside: cython.Py_ssize_t = 0
    room, held = 0.0, 0.0
    for i in range(m.n):
        drop[i] = 0.0
        if _is_inside(m, i):
            inside += 1
            held += m.alpha[i]
        if m.lo[i] < m.x[i] and m.x[i] < m.hi[i]:
            room += m.hi[i] - m.lo[i] - fabs(m.x[i])
    if inside > 1:  # equal rows
        for i in range(m.n):
            if _is_inside(m, i) and m.C[i] >= MOST_ROOM * room and m.y[i] * m.f[i] > -NEAR_ZERO:
                drop[i] = INFINITY
    lone = inside == 0
    t.sign = -1.0
    while t.sign <= 1.0:
        if inside == 1 and m.y[inner] == t.sign:
            t.point = enters(m, t.sign, inner)
            if t.point >= 0:
                e = t.point
                t.room = m.C[e] - m.alpha[e] if m.y[e] == t.sign else m.alpha[e]
                _prepare(m, cython.address(t))
                _predict_row(m, cython.address(t), inner, lone, left_out, drop)
        t.point = inner if inner >= 0 else enters(m, t.sign, -1)
        if t.point >= 0:
            e = t.point
            if lone:
                t.room = m.C[e] - m.alpha[e] if m.y[e] == t.sign else m.alpha[e]
            else:
                t.room = room if m.y[e] == t.sign else held
            _prepare(m, cython.address(t))
            for i in range(m.n):
                if m.alpha[i] > 0.0 and m.y[i] == t.sign and not _is_inside(m, i):
                    _predict_row(m, cython.address(t), i, lone, left_out, drop)
        if lone:
            _move_intercept(m, t.sign, left_out)
        t.sign += 2.0


def _prepare(m, t):
    """Find the vectors that reach their margins next; the first of equally near ones first."""
    t.count = 0
    for i in range(m.n):
        if i == t.point or not _can_move(m, i, t.sign):
            continue
        own = t.sign * (m.f[i] - m.y[i])
        place = t.count
        while place > 0:
            other = t.nearest[place - 1]
            if t.sign * (m.f[other] - m.y[other]) <= own:
                break
            if place < 20:
                t.nearest[place] = other
            place -= 1
        if place < 20:
            t.nearest[place] = i
            t.count = min(t.count + 1, 20)


def _way(m, t, p):
    """How far the intercept can still move once the multiplier of `p` was taken over.

    Negative if another vector should have taken over before.
    """
    K, e = cython.address(m.K), t.point
    least, from_p = INFINITY, entry(K, p, e)
    for k in range(t.count):
        i = t.nearest[k]
        moved = entry(K, p, i) - entry(K, e, i) - from_p + entry(K, e, e)
        after = m.f[i] + m.y[e] - m.f[e] - m.y[p] * m.alpha[p] * moved
        least = min(least, t.sign * (after - m.y[i]))
    return least if t.count > 0 else 0.0


def _predict_row(m, t, p, lone, left_out, drop):
    used_up: cython.bint
    sure: cython.bint
    way = _way(m, t, p)
    # If it is used up, nothing fixes the intercept: it lies half-way to where the next takes over.
    used_up = fabs(m.alpha[p] - t.room) <= EQUAL * t.room and way > 0.0
    sure = (m.alpha[p] < MOST_ROOM * t.room and way >= 0.0) or (used_up and lone)
    if not sure and m.y[p] * m.f[p] > -NEAR_ZERO:
        drop[p] = INFINITY
    if lone and used_up:
        left_out[p] -= 0.5 * t.sign * way


def _move_intercept(m, sign, left_out):
    """Of the rows that are no support vectors, the nearest may be an end of the interval."""
    nearest: cython.Py_ssize_t = -1
    for i in range(m.n):
        if m.C[i] > 0.0 and m.alpha[i] == 0.0 and m.y[i] == sign:
            if nearest < 0 or sign * m.f[i] < sign * m.f[nearest]:
                nearest = i
    if nearest >= 0:
        left_out[nearest] += _middle(m, nearest) - _middle(m, -1)


def _middle(m, without):
    """How far the intercept is from the middle of its interval if one row takes no part."""
    least, most = -INFINITY, INFINITY
    for i in range(m.n):
        if i != without and m.C[i] > 0.0:
            own = m.y[i] - m.f[i]
            if _can_move(m, i, 1.0):
                least = max(least, own)
            if _can_move(m, i, -1.0):
                most = min(most, own)
    if isinf(least):
        return most
    if isinf(most):
        return least
    return 0.5 * (least + most)
