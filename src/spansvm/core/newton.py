"""Newton steps on the free variables.

If the minimum over them is inside the box, it is found with the factor of their bordered system.
Otherwise the system is inverted, and the step walks to the box, dropping each variable that meets
its bound on the way.
"""

import cython
from cython.cimports.libc.math import INFINITY, fabs, isfinite
from cython.cimports.spansvm.core.factor import ridged_factor, to_projected
from cython.cimports.spansvm.core.linalg import cholesky_solve
from cython.cimports.spansvm.core.loops import add_rows, add_vector, eliminate
from cython.cimports.spansvm.core.problem import EPSILON, free_variables
from cython.cimports.spansvm.core.scratch import doubles, flags, indices, release, spend


def newton(p, free, size, slope):
    """Move to the minimum over the free variables, or as far as the box allows.

    `slope` becomes that before the move if only the ridge has ended it: then a :func:`slide` goes
    farther.  Otherwise 0.
    """
    slope[0] = 0.0
    mark = p.scratch.count
    w: Walk
    w.size = size
    w.P = ridged_factor(cython.address(p.K), free, size, p.scratch)
    if not w.P:
        release(p.scratch, mark)
        return 0
    w.alive = flags(p.scratch, size)
    w.direction, w.move = doubles(p.scratch, 2 * size), doubles(p.scratch, size)
    w.room_up, w.room_down = doubles(p.scratch, size), doubles(p.scratch, size)
    change = doubles(p.scratch, p.n)
    for a in range(size):
        i = free[a]
        w.alive[a], w.room_up[a], w.room_down[a] = True, p.hi[i] - p.x[i], p.lo[i] - p.x[i]
    w.is_factor = True
    _point(cython.address(w), p.g, free)
    if _fits(cython.address(w)):
        for a in range(size):
            w.move[a] = w.direction[a]
    else:
        w.is_factor = False
        if not to_projected(w.P, size, p.scratch):
            release(p.scratch, mark)
            return 0
        _walk(cython.address(w), p)
    for t in range(p.n):
        change[t] = 0.0
    add_rows(change, cython.address(p.K), free, w.move, size)
    falls, curvature = 0.0, 0.0
    for a in range(size):
        falls += p.g[free[a]] * w.move[a]
        curvature += change[free[a]] * w.move[a]
    if falls < 0.0:
        # The ridge and rounding make the step slightly inaccurate; a very inaccurate one is
        # shortened.
        fraction = 1.0
        if curvature > 0.0 and -falls < 0.999 * curvature:
            fraction = -falls / curvature
        for a in range(size):
            i = free[a]
            if fraction == 1.0 and not w.alive[a]:
                p.x[i] = p.hi[i] if w.move[a] > 0.0 else p.lo[i]
            else:
                p.x[i] = min(max(p.x[i] + fraction * w.move[a], p.lo[i]), p.hi[i])
        add_vector(p.g, fraction, change, p.n)
        # If a tenth of the slope remains, there was no curvature to reduce it.
        if fraction == 1.0 and _slope_left(cython.address(w), p.g, free) < 0.1 * falls:
            slope[0] = falls
    release(p.scratch, mark)
    return 0


def _point(w, g, free):
    """The Newton direction, by the factor: ``-g`` times the inverse, without a change of the sum.

    Returns its slope.
    """
    size, rows = w.size, w.direction
    for a in range(size):
        rows[a], rows[size + a] = g[free[a]], 1.0
    cholesky_solve(w.P, size, rows, 2)
    total, ones, slope = 0.0, 0.0, 0.0
    for a in range(size):
        total += rows[a]
        ones += rows[size + a]
    for a in range(size):
        rows[a] = rows[size + a] * (total / ones) - rows[a]
    _balance(rows, w.alive, size)
    for a in range(size):
        slope += g[free[a]] * rows[a]
    return slope


def _fits(w):
    """Whether no variable meets its bound along the whole direction."""
    for a in range(w.size):
        if not (w.room_down[a] < w.direction[a] and w.direction[a] < w.room_up[a]):
            return False
    return True


def _walk(w, p):
    """Walk from 0 along the Newton direction, stopping at each bound on the way.

    A variable that meets its bound is eliminated from P and is no longer alive, which turns the
    rest of the direction towards the minimum over the variables that remain.
    """
    size, P, direction, move, alive = w.size, w.P, w.direction, w.move, w.alive
    mark = p.scratch.count
    row = doubles(p.scratch, size)
    blocking: cython.Py_ssize_t
    for a in range(size):
        move[a], alive[a] = 0.0, True
    for _ in range(size - 1):
        _balance(direction, alive, size)
        fraction, blocking = 1.0, -1
        for a in range(size):
            if not alive[a] or direction[a] == 0.0:
                continue
            room = (w.room_up[a] if direction[a] > 0.0 else w.room_down[a]) - move[a]
            if room / direction[a] < fraction:
                fraction, blocking = room / direction[a], a
        add_vector(move, fraction, direction, size)
        if blocking < 0 or not P[blocking * size + blocking] > 0.0:
            break
        move[blocking] = w.room_up[blocking] if direction[blocking] > 0.0 else w.room_down[blocking]
        for a in range(size):
            row[a] = P[blocking * size + a]
        alive[blocking] = False
        rest = 1.0 - fraction
        turn = rest * direction[blocking] / row[blocking]
        for a in range(size):
            direction[a] = rest * direction[a] - turn * row[a] if alive[a] else 0.0
        eliminate(P, row, 1.0 / row[blocking], alive, size)
        spend(p.scratch, 0.3 * size * size)
    _balance(move, alive, size)
    release(p.scratch, mark)
    return 0


def _balance(values, alive, size):
    """Make values sum to 0: what rounding has left is spread over those that are alive.

    Each time a variable is held, most of a steep direction may cancel, and with it the digits that
    kept its sum at 0.
    """
    total = 0.0
    count: cython.Py_ssize_t = 0
    for a in range(size):
        total += values[a]
        if alive[a]:
            count += 1
    for a in range(size):
        if alive[a]:
            values[a] -= total / count


def _slope_left(w, g, free):
    """The slope of a further Newton step."""
    if w.is_factor:
        return _point(w, g, free)
    left, size = 0.0, w.size
    for a in range(size):
        if w.alive[a]:
            row = w.P + a * size
            for b in range(size):
                if w.alive[b]:
                    left -= row[b] * g[free[a]] * g[free[b]]
    return left


def slide(p, before):
    """Continue a Newton step that only the ridge has ended.

    Along directions without curvature, such as those between dependent vectors, the minimum is at
    the box, however far away; the ridge limits the length of a step.  The slope is then about as
    steep after the step as `before`.
    """
    mark = p.scratch.count
    free = indices(p.scratch, p.n)
    size = free_variables(p, free)
    w: Walk
    w.size = size
    w.P = ridged_factor(cython.address(p.K), free, size, p.scratch)
    w.is_factor = False
    if w.P and to_projected(w.P, size, p.scratch):
        w.alive, w.direction = flags(p.scratch, size), doubles(p.scratch, size)
        w.room_up = doubles(p.scratch, size)
        change = doubles(p.scratch, p.n)
        for a in range(size):
            w.alive[a] = True
        for _ in range(size - 1):
            if not _slide_once(p, cython.address(w), free, change, before):
                break
            spend(p.scratch, 0.5 * size * size + 0.5 * size * p.n)
    release(p.scratch, mark)
    return 0


def _slide_once(p, w, free, change, before):
    """Go on until a variable meets its bound; False if there is nothing more to gain."""
    size, direction, alive = w.size, w.direction, w.alive
    for a in range(size):
        direction[a] = 0.0
    for a in range(size):
        if alive[a]:
            add_vector(direction, -p.g[free[a]], w.P + a * size, size)
    for a in range(size):
        if not alive[a]:
            direction[a] = 0.0
    _balance(direction, alive, size)
    slope, curvature, rounding = 0.0, 0.0, 0.0
    highest, lowest = -INFINITY, INFINITY
    for t in range(p.n):
        change[t] = 0.0
    add_rows(change, cython.address(p.K), free, direction, size)
    for a in range(size):
        i = free[a]
        slope += p.g[i] * direction[a]
        curvature += change[i] * direction[a]
        rounding += EPSILON * fabs(p.diag[i] * direction[a])
        if alive[a]:
            highest, lowest = max(highest, p.g[i]), min(lowest, p.g[i])
    if not slope < 0.1 * before or -slope < 2.0 * curvature:
        return False
    # No farther than the gradient is accurate: its rounding grows with the variables.
    times = (highest - lowest) / rounding if rounding > 0.0 else INFINITY
    if curvature > 0.0:
        times = min(times, -slope / curvature)
    blocking: cython.Py_ssize_t = -1
    for a in range(size):
        if direction[a] != 0.0:
            i = free[a]
            end = p.hi[i] if direction[a] > 0.0 else p.lo[i]
            if (end - p.x[i]) / direction[a] < times:
                times, blocking = (end - p.x[i]) / direction[a], a
    if not isfinite(times):
        return False
    for a in range(size):
        i = free[a]
        p.x[i] = min(max(p.x[i] + times * direction[a], p.lo[i]), p.hi[i])
    add_vector(p.g, times, change, p.n)
    if blocking < 0 or not w.P[blocking * size + blocking] > 0.0:
        return False
    i = free[blocking]
    p.x[i] = p.hi[i] if direction[blocking] > 0.0 else p.lo[i]
    alive[blocking] = False
    row = w.room_up
    for a in range(size):
        row[a] = w.P[blocking * size + a]
    eliminate(w.P, row, 1.0 / row[blocking], alive, size)
    return True
