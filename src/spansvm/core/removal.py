"""Leaving out vectors exactly: their multipliers are driven to zero, and all others follow.

Along the way the solution is piecewise linear (Cauwenberghs and Poggio 2000): a free vector meets
its bound, or one at a bound reaches its margin, and the direction changes.  After a few turns, the
current direction follows from the tableau of the solution (:mod:`spansvm.core.tableau`) and a small
system of the vectors that changed between free and bound (:mod:`spansvm.core.changed`).  Several
vectors that leave at once move in proportion: those at a bound share one column, and those that
were free are among the changed vectors from the beginning, with their own equations.

When the last free vector meets its bound, nothing fixes the intercept: it moves on by itself until
another vector reaches its margin and takes over.  If none is free at the end, the intercept is the
middle of its interval, as in training.

Multipliers along a path come from one tableau, whose rounding errors grow with the size of the
multipliers.  At the end, values are computed from the Gram matrix itself.  If they show that the
free vectors are off their margins, the multipliers are corrected by the same tableau: each time,
the error is multiplied by the relative error of the tableau.
"""

import cython
import numpy as np
from cython.cimports.libc.float import DBL_MIN
from cython.cimports.libc.math import INFINITY, NAN, fabs, isinf
from cython.cimports.libc.string import memcpy
from cython.cimports.spansvm.core.changed import (
    add_changed,
    clear_changed,
    forget_changed,
    make_changed,
    solve_changed,
)
from cython.cimports.spansvm.core.loops import (
    add_rows,
    add_vector,
    find_rooms,
    first_to_stop,
    weighted_differences,
)
from cython.cimports.spansvm.core.problem import EQUAL_SUMS, OFF_BOUND, entry
from cython.cimports.spansvm.core.scratch import (
    Scratch,
    doubles,
    flags,
    indices,
    open_scratch,
    release,
    release_all,
    spend,
)
from cython.cimports.spansvm.core.solver import point_to
from cython.cimports.spansvm.core.structs import Matrix
from cython.cimports.spansvm.core.system import check_points
from cython.cimports.spansvm.core.tableau import (
    fill_column,
    need_row,
    need_rows,
    row_of,
    set_up,
)

__all__ = ["Paths"]

#: Number of turns after which a removal is given up.
TURNS = 1000

#: Slopes below this fraction of the largest squared distance count as zero.
STILL = 1e-11

#: A vector that stops this close to the end of a path, as a fraction of its length, stops there:
#: many may do so at once.
SAME_PLACE = 1e-11

#: The end of a path is refined if free vectors are farther off their margins than the first, and
#: given up if they stay farther off than the second.
ACCURATE, ASTRAY = 1e-8, 1e-7


# Where paths begin --------------------------------------------------------------------------------


def set_vertex(v, T, scratch):
    """Complete a vertex, of which multipliers, residuals and boxes are set."""
    n, m = T.n, cython.address(v.motion)
    m.state, m.least = doubles(scratch, n), doubles(scratch, n)
    m.most, m.still = doubles(scratch, n), doubles(scratch, n)
    closeness = doubles(scratch, n)
    T.closeness = closeness
    v.largest = DBL_MIN
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
            _set_sides(m, i, v.x[i], v.lo[i], v.hi[i])
    return 0


def _set_sides(m, q, x, lo, hi):
    """Limits of the residual of a vector at a bound: at the lower bound it must not be negative."""
    m.least[q] = 0.0 if lo < hi and x <= lo else -INFINITY
    m.most[q] = 0.0 if lo < hi and x > lo else INFINITY


def open_paths(p, T, v, scratch):
    """Make room for paths from a vertex."""
    n, m = T.n, cython.address(p.motion)
    p.T, p.vertex, p.scratch = T, v, scratch
    m.state, m.slope, m.room = doubles(scratch, n), doubles(scratch, n), doubles(scratch, n)
    m.least, m.most, m.still = doubles(scratch, n), doubles(scratch, n), doubles(scratch, n)
    m.n = n
    p.lo, p.hi, p.aim = doubles(scratch, n), doubles(scratch, n), doubles(scratch, n)
    p.column, p.moves = doubles(scratch, n), doubles(scratch, n)
    p.driven, p.moved = flags(scratch, n), indices(scratch, n)
    make_changed(cython.address(p.changed), n, scratch)
    p.z, p.slots = doubles(scratch, p.changed.room), indices(scratch, p.changed.room)
    for i in range(n):
        p.lo[i], p.hi[i], p.aim[i], p.driven[i] = v.lo[i], v.hi[i], 0.0, False
    return 0


def _is_free(p, q):
    return (p.T.place[q] >= 0) != (p.changed.position[q] >= 0)


def _begin(p, leaving):
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
            _set_sides(m, q, x, p.lo[q], p.hi[q])
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


def _aim(p, leaving):
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


def _put_back(p, leaving):
    """Forget what has left."""
    for k in range(leaving.count):
        q = leaving.points[k]
        p.lo[q], p.hi[q] = p.vertex.lo[q], p.vertex.hi[q]
        p.driven[q], p.aim[q] = False, 0.0
    clear_changed(cython.address(p.changed))


# From turn to turn --------------------------------------------------------------------------------


def _follow(p):
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
            step = -m.state[q]
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
            side = m.least[i] if p.net < 0.0 else m.most[i]
            if side == 0.0 and fabs(m.state[i]) < best:
                best, q = fabs(m.state[i]), i
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
    if _is_free(p, q):  # it stops at its bound, and its residual begins to move
        bound = m.most[q] if m.slope[q] > 0.0 else m.least[q]
        if bound != 0.0:
            p.met = True
        m.state[q], m.still[q] = 0.0, STILL * p.T.scale
        _set_sides(m, q, bound, p.lo[q], p.hi[q])
        p.n_free -= 1
    else:
        m.state[q], m.still[q] = p.lo[q] if m.least[q] == 0.0 else p.hi[q], STILL
        m.least[q], m.most[q] = p.lo[q], p.hi[q]
        p.n_free += 1
    if p.changed.position[q] >= 0:
        forget_changed(cython.address(p.changed), p.T, q)
        if not _is_free(p, q) and _end_of(p, q) != p.vertex.x[q]:
            p.crossed = True
        return 1
    need_row(p.T, q, p.scratch)
    return add_changed(cython.address(p.changed), q)


# At the end ---------------------------------------------------------------------------------------


def _stop_driven(p, leaving):
    """What remains of driven vectors is at its bound."""
    for k in range(leaving.count):
        q = leaving.points[k]
        if p.driven[q] and p.lo[q] < p.hi[q]:
            x = p.hi[q] if p.vertex.x[q] > 0.0 else p.lo[q]
            _set_sides(cython.address(p.motion), q, x, p.lo[q], p.hi[q])


def _want_to_stop(p, leaving):
    """Whether what remains of driven vectors is at the right bound.

    Of a single vector it always is; of several, one may want to return.
    """
    m, over = cython.address(p.motion), 1e-9
    for k in range(leaving.count):
        q = leaving.points[k]
        if p.driven[q] and p.lo[q] < p.hi[q]:
            state = m.state[q]
            if not (m.least[q] - over <= state and state <= m.most[q] + over):
                return False
    return True


def _finish(p, leaving):
    """Read off the changes, and make them accurate."""
    p.middle = _to_middle(p)
    _read_off(p, leaving)
    for _ in range(3):
        if p.astray <= ACCURATE:
            break
        _refine(p)
        _read_off(p, leaving)
    return 0


def _to_middle(p):
    """How far the intercept is from the middle of its interval; 0 if a free vector fixes it."""
    m, below, above = cython.address(p.motion), INFINITY, INFINITY
    for i in range(m.n):
        if p.lo[i] == p.hi[i]:
            continue
        if _is_free(p, i):
            low, high = m.state[i] - p.lo[i], p.hi[i] - m.state[i]
            if min(low, high) > OFF_BOUND * min(low + high, p.vertex.largest):
                return 0.0
            if low < high:  # a hair off its bound
                below = 0.0
            else:
                above = 0.0
        elif m.least[i] == 0.0:
            below = min(below, m.state[i])
        else:
            above = min(above, -m.state[i])
    if isinf(below) and isinf(above):
        return 0.0
    if isinf(below):
        return above
    if isinf(above):
        return -below
    return 0.5 * (above - below)


def _end_of(p, i):
    """The multiplier of a vector at the end."""
    if p.driven[i]:
        return p.vertex.x[i] + p.aim[i]
    if _is_free(p, i):
        return p.motion.state[i]
    return p.lo[i] if p.motion.least[i] == 0.0 else p.hi[i]


def _read_off(p, leaving):
    """Set the changes of multipliers and intercept, and how far free vectors are off their margins.

    From the Gram matrix itself: along the path, rounding in the inverse of a nearly singular system
    accumulates.  A few free vectors are looked at; if there is none, a driven one.
    """
    T, changed = p.T, cython.address(p.changed)
    p.n_moved = p.n_seen = 0
    if p.crossed:
        for i in range(T.n):
            _note_end(p, i)
    else:  # only vectors that were free, that are now, and that leave can have moved
        for a in range(T.n_free):
            _note_end(p, T.free[a])
        for a in range(changed.size):
            if T.place[changed.points[a]] < 0:
                _note_end(p, changed.points[a])
        for k in range(leaving.count):
            q = leaving.points[k]
            if T.place[q] < 0 and changed.position[q] < 0:
                _note_end(p, q)
    wanted = 0.0  # the residual of what is looked at
    if p.n_seen == 0:
        for k in range(leaving.count):
            if p.driven[leaving.points[k]]:
                p.seen[0], p.n_seen = leaving.points[k], 1
                wanted = p.motion.state[p.seen[0]]
    least, most, mean = INFINITY, -INFINITY, 0.0
    for a in range(p.n_seen):
        i = p.seen[a]
        needed = wanted - p.vertex.r[i]
        needed -= weighted_differences(cython.address(T.K), i, p.moved, p.moves, p.n_moved, p.level)
        least, most = min(least, needed), max(most, needed)
        mean += needed / p.n_seen
    p.intercept, p.astray = mean, most - least


def _note_end(p, i):
    """Note how far a vector has moved, and a few that are free."""
    way = _end_of(p, i) - p.vertex.x[i]
    if way != 0.0:
        p.moved[p.n_moved], p.moves[p.n_moved] = i, way
        p.n_moved += 1
    if p.n_seen < 8 and not p.driven[i] and _is_free(p, i):
        p.seen[p.n_seen] = i
        p.n_seen += 1


def _refine(p):
    """Correct the multipliers of the free vectors so that they lie on their margins.

    With the residuals ``rho`` that they have, the vectors that were free all along move by
    ``-P rho``, and those that changed by what the system of :mod:`spansvm.core.changed` then
    demands.  The sum of all changes becomes 0.
    """
    T, K, state, n = p.T, cython.address(p.T.K), p.motion.state, p.T.n
    size, n_free, changed = p.changed.size, p.T.n_free, p.changed.points
    mark = p.scratch.count
    rho, step = doubles(p.scratch, n), doubles(p.scratch, n_free)
    excess, mean = 0.0, 0.0  # of the sum, which should be 0
    count: cython.Py_ssize_t = 0
    for k in range(p.n_moved):
        excess += p.moves[k]
    for i in range(n):
        if not p.driven[i] and _is_free(p, i):
            rho[i] = p.vertex.r[i] + weighted_differences(
                K, i, p.moved, p.moves, p.n_moved, p.level
            )
            mean += rho[i]
            count += 1
    if count == 0:
        release(p.scratch, mark)
        return 0
    # Along the weights, the residuals of the free vectors stay equal.
    base, along = T.free[0], 0.0
    for b in range(n_free):
        step[b] = -excess * T.weights[b]
        along += excess * T.weights[b] * entry(K, base, T.free[b])
    for i in range(n):
        if not p.driven[i] and _is_free(p, i):
            rho[i] -= mean / count
            a = T.place[i]
            if a >= 0:
                add_vector(step, -rho[i], T.projected + a * n_free, n_free)
                along -= rho[i] * T.weights[a]
    for k in range(size):
        q = changed[k]
        if T.place[q] >= 0:
            p.z[k] = step[T.place[q]]
        else:
            p.z[k] = excess * entry(K, base, q) - rho[q] - along
            for b in range(n_free):
                p.z[k] -= step[b] * T.values[b * T.n_others + ~T.place[q]]
    if solve_changed(cython.address(p.changed), T, p.z, p.scratch):
        for b in range(n_free):
            i = T.free[b]
            if not p.driven[i] and _is_free(p, i):
                state[i] += step[b]
                for k in range(size):
                    state[i] += p.z[k] * row_of(T, changed[k])[i]
        for k in range(size):
            if T.place[changed[k]] < 0:
                state[changed[k]] += p.z[k]
    release(p.scratch, mark)
    return 0


# Removals -----------------------------------------------------------------------------------------


def remove_row(p, q, rest, sums, number, found):
    """Remove one row of a point, of whose bound `rest` remains; 0 if that is given up.

    `sums` are, for every vector, the sums of its kernel values with all of `number` instances; NULL
    if the growth of the others is not wanted.  Afterwards the path is again at its beginning;
    `met` and `astray` are still those of its end.
    """
    leaving: Leaving
    lo: cython.double = 0.0
    hi: cython.double = 0.0
    point: cython.Py_ssize_t = q
    if p.vertex.hi[q] > 0.0:
        hi = rest
    else:
        lo = -rest
    leaving.points, leaving.count = cython.address(point), 1
    leaving.lo, leaving.hi = cython.address(lo), cython.address(hi)
    found.own = found.others = NAN
    p.level = sums[q] / number if sums else entry(cython.address(p.T.K), q, q)
    done = _begin(p, cython.address(leaving))
    if done and p.speed > 0.0:
        _aim(p, cython.address(leaving))
        done = _follow(p)
    if done:
        _stop_driven(p, cython.address(leaving))
        _finish(p, cython.address(leaving))
        _grow(p, q, sums, number, found)
        if not p.astray <= ASTRAY * max(1.0, fabs(p.vertex.r[q] + found.own)):
            found.own = found.others = NAN
            done = 0
        else:
            found.own += p.middle
            found.others += p.middle
    _put_back(p, cython.address(leaving))
    return done


def _grow(p, q, sums, number, found):
    """How the value of a vector, and the mean value of the others, change along a path."""
    own = weighted_differences(cython.address(p.T.K), q, p.moved, p.moves, p.n_moved, p.level)
    found.own, found.others = own + p.intercept, 0.0
    if not sums:
        return
    total = 0.0  # of the growth of all, without the intercept; the changes sum to 0
    for k in range(p.n_moved):
        total += (sums[p.moved[k]] / number - p.level) * p.moves[k]
    found.others = (number * total - own) / max(number - 1.0, 1.0) + p.intercept


def remove_group(p, leaving):
    """Remove several rows; 0 if that is given up.

    The changes are then in `moved`, `moves`, `intercept` and `middle`.
    """
    done = _begin(p, leaving)
    if done and p.speed <= EQUAL_SUMS * p.reach:
        done = 0
    if done:
        first = leaving.points[0]
        p.level = entry(cython.address(p.T.K), first, first)
        _aim(p, leaving)
        done = _follow(p)
    if done:
        _stop_driven(p, leaving)
        if _want_to_stop(p, leaving):
            _finish(p, leaving)
        else:
            done = 0
    if done and not p.astray <= ASTRAY:
        done = 0
    _put_back(p, leaving)
    return done


class Paths:
    """Removals from one solution; what they share is computed once.

    Parameters
    ----------
    K : ndarray of shape (l, l)
        The Gram matrix.
    vertex : Vertex
        The solution: its free vectors are independent, and equal rows are merged.
    system : Bordered
        The inverse for its free vectors.
    """

    def __init__(self, K, vertex, system):
        free: cython.Py_ssize_t[::1] = np.array(vertex.free, dtype=np.intp)
        projected: cython.double[:, ::1] = np.ascontiguousarray(system.projected)
        weights: cython.double[::1] = np.ascontiguousarray(system.weights)
        x: cython.double[::1] = np.ascontiguousarray(vertex.x)
        r: cython.double[::1] = np.ascontiguousarray(vertex.residual)
        lo: cython.double[::1] = np.ascontiguousarray(vertex.lo)
        hi: cython.double[::1] = np.ascontiguousarray(vertex.hi)
        matrix: Matrix
        n, size = x.shape[0], free.shape[0]
        if not (r.shape[0] == n and lo.shape[0] == n and hi.shape[0] == n and K.shape == (n, n)):
            raise ValueError("A vertex must have numbers for every row of the matrix.")
        if not (size > 0 and weights.shape[0] == size and system.projected.shape == (size, size)):
            raise ValueError("The inverse must be that of the free vectors.")
        check_points(cython.address(free[0]), size, n)
        point_to(cython.address(matrix), K)
        self._arrays = (K, free, projected, weights, x, r, lo, hi)
        scratch, s, v = (
            cython.address(self._scratch), cython.address(self._system),
            cython.address(self._vertex),
        )  # fmt: skip
        s.points, s.size = cython.address(free[0]), free.shape[0]
        s.projected, s.weights = cython.address(projected[0, 0]), cython.address(weights[0])
        v.x, v.r = cython.address(x[0]), cython.address(r[0])
        v.lo, v.hi = cython.address(lo[0]), cython.address(hi[0])
        release_all(scratch)
        set_up(cython.address(self._tableau), cython.address(matrix), s, scratch)
        set_vertex(v, cython.address(self._tableau), scratch)

    def __dealloc__(self):
        release_all(cython.address(self._scratch))

    def follow_rows(
        self,
        points: cython.Py_ssize_t[::1],
        rest: cython.double[::1],
        sums: cython.double[::1],
        number: cython.double,
    ):
        """Remove one row of each of some points; of their bounds, `rest` remains to equal rows.

        `sums` are, for every vector, the sums of its kernel values with all of `number` instances.

        Returns
        -------
        own, others : ndarray
            The change of the value of the point, and the mean change of those of the others; NaN
            where the path was given up.
        error : float
            The largest distance of a free vector from its margin at the end of a path.
        """
        path: Path
        found: Growth
        scratch: Scratch
        open_scratch(cython.address(scratch))
        count = points.shape[0]
        result = np.full((2, count), np.nan)
        values: cython.double[:, ::1] = result
        error = 0.0
        if count == 0:
            return result[0], result[1], 0.0
        if rest.shape[0] != count or sums.shape[0] != self._tableau.n:
            raise ValueError("There must be a rest for every point, and a sum for every row.")
        check_points(cython.address(points[0]), count, self._tableau.n)
        T, v = cython.address(self._tableau), cython.address(self._vertex)
        try:
            with cython.nogil:
                need_rows(T, cython.address(points[0]), count, cython.address(scratch))
                open_paths(cython.address(path), T, v, cython.address(scratch))
                for k in range(count):
                    if remove_row(
                        cython.address(path), points[k], rest[k], cython.address(sums[0]), number,
                        cython.address(found),
                    ):  # fmt: skip
                        error = max(error, path.astray)
                    values[0, k], values[1, k] = found.own, found.others
        finally:
            release_all(cython.address(scratch))
        return result[0], result[1], error

    def follow_group(
        self,
        points: cython.Py_ssize_t[::1],
        lo: cython.double[::1],
        hi: cython.double[::1],
    ):
        """Remove several rows at once, of whose points the boxes `lo` to `hi` remain.

        Returns the vectors whose multipliers change, by how much they do, and the change of the
        intercept; None if the path was given up.
        """
        path: Path
        leaving: Leaving
        scratch: Scratch
        open_scratch(cython.address(scratch))
        if points.shape[0] == 0:
            return None
        if lo.shape[0] != points.shape[0] or hi.shape[0] != points.shape[0]:
            raise ValueError("There must be a box for every point.")
        check_points(cython.address(points[0]), points.shape[0], self._tableau.n)
        leaving.points, leaving.count = cython.address(points[0]), points.shape[0]
        leaving.lo, leaving.hi = cython.address(lo[0]), cython.address(hi[0])
        try:
            with cython.nogil:
                open_paths(
                    cython.address(path), cython.address(self._tableau),
                    cython.address(self._vertex), cython.address(scratch),
                )  # fmt: skip
                done = remove_group(cython.address(path), cython.address(leaving))
            if not done:
                return None
            moved, moves = np.empty(path.n_moved, dtype=np.intp), np.empty(path.n_moved)
            to_rows: cython.Py_ssize_t[::1] = moved
            to_moves: cython.double[::1] = moves
            for k in range(path.n_moved):
                to_rows[k], to_moves[k] = path.moved[k], path.moves[k]
            return moved, moves, path.intercept + path.middle
        finally:
            release_all(cython.address(scratch))
