"""The way of vectors that leave: their multipliers are driven to zero, and all others follow.

Along the way the solution is piecewise linear (Cauwenberghs and Poggio 2000): a free vector meets
its bound, or one at a bound reaches its margin, and the direction changes.  After a few turns, the
current direction follows from the tableau of the solution (:mod:`spansvm.core.tableau`) and a small
system of the vectors that changed between free and bound (:mod:`spansvm.core.changed`).  Several
vectors that leave at once move in proportion: those at a bound share one column, and those that
were free are among the changed vectors from the beginning, with their own equations.

When the last free vector meets its bound, nothing fixes the intercept: it moves on by itself until
another vector reaches its margin and takes over.

In a regression the multiplier of a vector may have either sign.  At 0, the vector lies inside the
tube: its residual, counted from the edge where it is on its margin with the sign that it has, may
grow to the width of the tube; there it crosses, and is free with the other sign.
"""

import cython
from cython.cimports.libc.float import DBL_MIN
from cython.cimports.libc.math import INFINITY, fabs
from cython.cimports.libc.string import memcpy
from cython.cimports.spansvm.core.changed import (
    add_changed,
    clear_changed,
    forget_changed,
    make_changed,
    solve_changed,
)
from cython.cimports.spansvm.core.loops import add_rows, add_vector, find_rooms, first_to_stop
from cython.cimports.spansvm.core.problem import EQUAL_SUMS
from cython.cimports.spansvm.core.scratch import doubles, flags, indices, release, spend
from cython.cimports.spansvm.core.tableau import fill_column, need_row

#: Number of turns after which a removal is given up.
TURNS = 1000

#: Slopes below this fraction of the largest squared distance count as zero.
STILL = 1e-11

#: A vector that stops this close to the end of a path, as a fraction of its length, stops there:
#: many may do so at once.
SAME_PLACE = 1e-11


# Where paths begin --------------------------------------------------------------------------------


def set_vertex(v, T, scratch):
    """Complete a vertex, of which multipliers, residuals and boxes are set."""
    n, m = T.n, cython.address(v.motion)
    m.state, m.least = doubles(scratch, n), doubles(scratch, n)
    m.most, m.still = doubles(scratch, n), doubles(scratch, n)
    closeness = doubles(scratch, n)
    T.closeness = closeness
    v.largest, v.tube = DBL_MIN, max(v.tube, DBL_MIN)  # 0 is the near edge alone
    for i in range(n):
        v.largest = max(v.largest, fabs(v.x[i]))
    for i in range(n):
        closeness[i] = fabs(v.r[i])
        if T.place[i] >= 0:
            closeness[i] = min(v.x[i] - v.lo[i], v.hi[i] - v.x[i]) / v.largest
        elif v.lo[i] == v.hi[i]:
            closeness[i] = INFINITY
        if T.place[i] >= 0:
            m.state[i], m.least[i], m.most[i], m.still[i] = v.x[i], v.lo[i], v.hi[i], STILL
        else:
            m.state[i], m.still[i] = v.r[i], STILL * T.scale
            _limit(m, i, v.x[i], v.lo[i], v.hi[i], v.tube)
    return 0


def _limit(m, q, x, lo, hi, tube):
    """Limits of the residual of a vector at a bound: at the lower bound it must not be negative."""
    inside = tube if x == 0.0 else INFINITY
    m.least[q], m.most[q] = -INFINITY, INFINITY
    if lo < hi and x <= lo:
        m.least[q], m.most[q] = 0.0, inside
    elif lo < hi:
        m.least[q], m.most[q] = -inside, 0.0


def set_sides(p, q, x):
    """Set the limits of the residual of a vector that is at a bound, `x`, where the path is."""
    _limit(cython.address(p.motion), q, x, p.lo[q], p.hi[q], p.vertex.tube)


def open_paths(p, T, v, scratch):
    """Make room for paths from a vertex."""
    n, m = T.n, cython.address(p.motion)
    p.T, p.vertex, p.scratch = T, v, scratch
    m.state, m.slope, m.room = doubles(scratch, n), doubles(scratch, n), doubles(scratch, n)
    m.least, m.most, m.still = doubles(scratch, n), doubles(scratch, n), doubles(scratch, n)
    m.n = n
    p.lo, p.hi, p.aim = doubles(scratch, n), doubles(scratch, n), doubles(scratch, n)
    p.offset, p.turned = doubles(scratch, n), False
    p.column, p.moves = doubles(scratch, n), doubles(scratch, n)
    p.driven, p.moved = flags(scratch, n), indices(scratch, n)
    make_changed(cython.address(p.changed), n, scratch)
    p.z, p.slots = doubles(scratch, p.changed.room), indices(scratch, p.changed.room)
    for i in range(n):
        p.lo[i], p.hi[i], p.aim[i], p.driven[i] = v.lo[i], v.hi[i], 0.0, False
        p.offset[i] = 0.0
    return 0


def begin(p, leaving):
    """Begin at the vertex; 0 if too many vectors leave at once."""
    m, start = cython.address(p.motion), cython.address(p.vertex.motion)
    size = m.n * cython.sizeof(cython.double)
    memcpy(m.state, start.state, size)
    memcpy(m.least, start.least, size)
    memcpy(m.most, start.most, size)
    memcpy(m.still, start.still, size)
    p.n_free, p.met, p.crossed = p.T.n_free, False, False
    p.net = p.total = p.speed = p.reach = 0.0
    for k in range(leaving.count):
        q = leaving.points[k]
        p.lo[q], p.hi[q], x = leaving.lo[k], leaving.hi[k], p.vertex.x[q]
        # Those that just fit into what remains are no longer free either.
        if x != 0.0 and fabs(x) >= (1.0 - EQUAL_SUMS) * (p.hi[q] - p.lo[q]):
            if not _drive(p, q):
                return 0
        elif p.T.place[q] >= 0:
            m.least[q], m.most[q] = p.lo[q], p.hi[q]
        else:
            set_sides(p, q, x)
    p.left = p.speed
    return 1


def _drive(p, q):
    """Drive a multiplier to the bound that remains; 0 if there are too many."""
    m, x = cython.address(p.motion), p.vertex.x[q]
    aim = min(p.hi[q] - x, 0.0) if x > 0.0 else max(p.lo[q] - x, 0.0)
    p.driven[q], p.aim[q] = True, aim
    p.net += aim
    p.total += fabs(aim)
    p.speed, p.reach = max(p.speed, fabs(aim)), max(p.reach, fabs(x))
    m.least[q], m.most[q] = -INFINITY, INFINITY
    if p.T.place[q] >= 0:
        if not add_changed(cython.address(p.changed), q):
            return 0
        m.state[q], m.still[q] = 0.0, STILL * p.T.scale
        p.n_free -= 1
        need_row(p.T, q, p.scratch)
    return 1


def set_column(p, leaving):
    """Set the column of the driven vectors that are not free."""
    mark = p.scratch.count
    points, moves = indices(p.scratch, leaving.count), doubles(p.scratch, leaving.count)
    count: cython.Py_ssize_t = 0
    for k in range(leaving.count):
        q = leaving.points[k]
        if p.driven[q] and p.T.place[q] < 0:
            points[count], moves[count] = q, p.aim[q] / p.speed
            count += 1
    fill_column(p.T, points, moves, count, p.column, p.scratch)
    release(p.scratch, mark)
    return 0


def put_back(p, leaving):
    """Forget what has left."""
    for k in range(leaving.count):
        q = leaving.points[k]
        p.lo[q], p.hi[q] = p.vertex.lo[q], p.vertex.hi[q]
        p.driven[q], p.aim[q] = False, 0.0
    if p.turned:
        for i in range(p.T.n):
            p.lo[i], p.hi[i], p.offset[i] = p.vertex.lo[i], p.vertex.hi[i], 0.0
        p.turned = False
    clear_changed(cython.address(p.changed))


# From turn to turn --------------------------------------------------------------------------------


def follow_path(p):
    """Follow the path to its end; 0 if it is given up."""
    m = cython.address(p.motion)
    for _ in range(TURNS):
        if p.left == 0.0:
            return 1
        spend(p.scratch, m.n * (6.0 + 0.3 * p.changed.size))
        if p.n_free == 0:
            q = _takes_over(p)
            if q < 0:
                return 0
            # The intercept falls if those that are driven do: the others have to grow.
            m.slope[q] = -1.0 if p.net < 0.0 else 1.0
            step = (m.least[q] if p.net < 0.0 else m.most[q]) - m.state[q]
            for i in range(m.n):
                m.state[i] += step  # none is free: these are all residuals
        else:
            if not _find_slopes(p):
                return 0
            shortest = find_rooms(m)
            add_vector(m.state, min(shortest, p.left), m.slope, m.n)
            if shortest >= p.left - SAME_PLACE * p.speed:
                p.left = 0.0
                return 1
            p.left -= shortest
            q = first_to_stop(m, shortest)
            if q < 0:
                return 0
        if not _turn(p, q):
            return 0
    return 0


def _takes_over(p):
    """The vector that reaches its margin first when the intercept moves as it must; or -1.

    The sum of all multipliers stays 0 only if it moves against those that are driven.
    """
    m, best = cython.address(p.motion), INFINITY
    q: cython.Py_ssize_t = -1
    if fabs(p.net) <= 1e-9 * p.total:
        return q
    for i in range(m.n):
        if p.lo[i] < p.hi[i] and not p.driven[i]:
            way = fabs(m.state[i] - (m.least[i] if p.net < 0.0 else m.most[i]))
            if way < best:
                best, q = way, i
    return q


def _find_slopes(p):
    """How fast all vectors move; 0 if the system of the changed ones is singular."""
    T, slope, changed = p.T, p.motion.slope, p.changed.points
    size = p.changed.size
    for a in range(size):
        i = changed[a]
        p.z[a] = p.column[i] - p.aim[i] / p.speed if T.place[i] >= 0 else -p.column[i]
        p.slots[a] = T.slot[i]
    if not solve_changed(cython.address(p.changed), T, p.z, p.scratch):
        return 0
    memcpy(slope, p.column, T.n * cython.sizeof(cython.double))
    add_rows(slope, cython.address(T.rows), p.slots, p.z, size)
    for a in range(size):
        slope[changed[a]] = p.z[a]
    return 1


def _turn(p, q):
    """A vector that ends a step becomes bound or free; 0 if too many have changed."""
    m = cython.address(p.motion)
    if is_free(p, q):  # it stops at its bound, and its residual begins to move
        bound = m.most[q] if m.slope[q] > 0.0 else m.least[q]
        if bound != 0.0:
            p.met = True
        m.state[q], m.still[q] = 0.0, STILL * p.T.scale
        set_sides(p, q, bound)
        p.n_free -= 1
    else:
        if (m.most[q] if m.slope[q] > 0.0 else m.least[q]) != 0.0:
            _cross(p, q)
        m.state[q], m.still[q] = p.lo[q] if m.least[q] == 0.0 else p.hi[q], STILL
        m.least[q], m.most[q] = p.lo[q], p.hi[q]
        p.n_free += 1
    if p.changed.position[q] >= 0:
        forget_changed(cython.address(p.changed), p.T, q)
        if not is_free(p, q) and end_of(p, q) != p.vertex.x[q]:
            p.crossed = True
        return 1
    need_row(p.T, q, p.scratch)
    return add_changed(cython.address(p.changed), q)


def _cross(p, q):
    """Take a vector that has reached the other edge of the tube to the other sign."""
    bound = p.hi[q] - p.lo[q]
    p.turned = True
    if p.hi[q] > 0.0:
        p.lo[q], p.hi[q], p.offset[q] = -bound, 0.0, p.offset[q] - p.vertex.tube
    else:
        p.lo[q], p.hi[q], p.offset[q] = 0.0, bound, p.offset[q] + p.vertex.tube
    set_sides(p, q, 0.0)


def end_of(p, i):
    """The multiplier of a vector at the end."""
    if p.driven[i]:
        return p.vertex.x[i] + p.aim[i]
    if is_free(p, i):
        return p.motion.state[i]
    return p.lo[i] if p.motion.least[i] == 0.0 else p.hi[i]
