"""The end of a path: what has changed there, made accurate.

Multipliers along a path come from one tableau, whose rounding errors grow with the size of the
multipliers.  At the end, values are computed from the Gram matrix itself.  If they show that the
free vectors are off their margins, the multipliers are corrected by the same tableau: each time,
the error is multiplied by the relative error of the tableau.

If no vector is free at the end, the intercept is the middle of its interval, as in training.
"""

import cython
from cython.cimports.libc.math import INFINITY, isinf
from cython.cimports.spansvm.core.changed import solve_changed
from cython.cimports.spansvm.core.loops import add_vector, weighted_differences
from cython.cimports.spansvm.core.problem import OFF_BOUND, entry
from cython.cimports.spansvm.core.scratch import doubles, release
from cython.cimports.spansvm.core.tableau import row_of
from cython.cimports.spansvm.core.walk import end_of, is_free, set_sides

#: The end of a path is refined if free vectors are farther off their margins than the first, and
#: given up if they stay farther off than the second.
ACCURATE, ASTRAY = 1e-8, 1e-7


def stop_driven(p, leaving):
    """What remains of driven vectors is at its bound."""
    for k in range(leaving.count):
        q = leaving.points[k]
        if p.driven[q] and p.lo[q] < p.hi[q]:
            x = p.hi[q] if p.vertex.x[q] > 0.0 else p.lo[q]
            set_sides(p, q, x)


def want_to_stop(p, leaving):
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


def finish_path(p, leaving):
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
        if is_free(p, i):
            low, high = m.state[i] - p.lo[i], p.hi[i] - m.state[i]
            if min(low, high) > OFF_BOUND * min(low + high, p.vertex.largest):
                return 0.0
            if low < high:  # a hair off its bound
                below = 0.0
                above = min(above, p.vertex.tube if p.lo[i] == 0.0 else INFINITY)
            else:
                above = 0.0
                below = min(below, p.vertex.tube if p.hi[i] == 0.0 else INFINITY)
        else:
            below = min(below, m.state[i] - m.least[i])
            above = min(above, m.most[i] - m.state[i])
    if isinf(below) and isinf(above):
        return 0.0
    if isinf(below):
        return above
    if isinf(above):
        return -below
    return 0.5 * (above - below)


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
        needed = wanted - p.vertex.r[i] - p.offset[i]
        needed -= weighted_differences(cython.address(T.K), i, p.moved, p.moves, p.n_moved, p.level)
        least, most = min(least, needed), max(most, needed)
        mean += needed / p.n_seen
    p.intercept, p.astray = mean, most - least


def _note_end(p, i):
    """Note how far a vector has moved, and a few that are free."""
    way = end_of(p, i) - p.vertex.x[i]
    if way != 0.0:
        p.moved[p.n_moved], p.moves[p.n_moved] = i, way
        p.n_moved += 1
    if p.n_seen < 8 and not p.driven[i] and is_free(p, i):
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
        if not p.driven[i] and is_free(p, i):
            rho[i] = p.vertex.r[i] + p.offset[i]
            rho[i] += weighted_differences(K, i, p.moved, p.moves, p.n_moved, p.level)
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
        if not p.driven[i] and is_free(p, i):
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
            if not p.driven[i] and is_free(p, i):
                state[i] += step[b]
                for k in range(size):
                    state[i] += p.z[k] * row_of(T, changed[k])[i]
        for k in range(size):
            if T.place[changed[k]] < 0:
                state[changed[k]] += p.z[k]
    release(p.scratch, mark)
    return 0
