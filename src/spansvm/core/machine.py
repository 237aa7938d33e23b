"""One machine, trained with one vector of weights after the other, and each of its rows left out.

The usual way alone: what is unusual (a matrix that is not definite, slow convergence, rounding
carried along) is left to :mod:`spansvm.machine.dual`.
"""

import cython
from cython.cimports.libc.math import INFINITY, NAN, fabs, sqrt
from cython.cimports.spansvm.core.descent import Effort, Ending, descend, run
from cython.cimports.spansvm.core.doubt import NEAR_ZERO, SAFETY, find_drops
from cython.cimports.spansvm.core.factor import factorise, is_of
from cython.cimports.spansvm.core.finish import finish
from cython.cimports.spansvm.core.following import follow_rows
from cython.cimports.spansvm.core.hull import fill_distances
from cython.cimports.spansvm.core.inverse import distances_by_inverse
from cython.cimports.spansvm.core.leaving import (
    Kinds,
    Left,
    count_classes,
    find_kinds,
    has_span,
    predict,
    set_last,
    take_over,
)
from cython.cimports.spansvm.core.lone import predict_lone
from cython.cimports.spansvm.core.loops import add_rows
from cython.cimports.spansvm.core.moving import move_bounds
from cython.cimports.spansvm.core.problem import (
    OFF_BOUND,
    STALE,
    entry,
    keeps_sum,
    kkt_gap,
    middle_of_interval,
    renew_gradient,
    restore_sum,
    rounding_level,
    snap,
)
from cython.cimports.spansvm.core.scratch import doubles, flags, indices, release
from cython.cimports.spansvm.core.system import (
    from_factor,
    from_inverse,
    from_points,
    merge_rows,
)
from cython.cimports.spansvm.core.tube import edges_of, note_sides, set_tube

#: Left-out values below this fraction of the largest are 0.
TRACE = 1e-10


def train(m, C, wanted, carry, found):
    """Train with the weights `C`, and find the spans if they are wanted.

    Returns 0 if the machine has to be trained in another way.
    """
    p = cython.address(m.p)
    n, scratch = p.n, p.scratch
    mark = scratch.count
    old_lo, old_hi = doubles(scratch, n), doubles(scratch, n)
    before = indices(scratch, carry.factor.n_inside)
    n_before = carry.factor.n_inside
    for a in range(n_before):
        before[a] = carry.factor.inside[a]
    for i in range(n):
        old_lo[i], old_hi[i] = m.lo[i], m.hi[i]
        m.lo[i] = m.hi[i] = 0.0
    same_tube: cython.bint = True
    if m.target:
        same_tube = found.epsilon[0] == m.epsilon
        set_tube(m, C, found.epsilon[0])
    else:
        for i in range(n):
            if m.y[i] > 0.0:
                m.hi[m.first[i]] += C[i]
            else:
                m.lo[m.first[i]] -= C[i]
    done: cython.int = 1
    found.intercept[0], found.gap[0] = m.intercept, m.gap
    stays: cython.bint = m.ready[0] and same_tube and _stays(p, old_lo, old_hi)
    # In a smaller box, vectors may meet bounds where they did not.
    if m.elsewhere or not (stays and _widens(p, old_lo, old_hi)):
        for i in range(n):
            m.known[i] = False
    m.elsewhere, m.last_epsilon = False, NAN  # the removals to be known are those from here
    if stays:
        found.iterations[0] = 0  # the solution is the same, and so are its spans
    else:
        m.ready[0] = False
        m.drift[0] = max(m.drift[0], rounding_level(p))
        move_bounds(p, old_lo, old_hi, cython.address(m.carried))
        m.drift[0] = max(m.drift[0], rounding_level(p))
        done = _solve(m, wanted.tol, carry, found)
        if m.target:
            note_sides(m)
        if done and wanted.spans:
            same: cython.bint = n_before > 1 and is_of(
                cython.address(carry.factor), before, n_before
            )
            _find_spans(m, carry, same)
        m.ready[0] = done
        m.intercept, m.gap = found.intercept[0], found.gap[0]
    release(scratch, mark)
    return done


def _stays(p, old_lo, old_hi):
    """Whether a solution in an old box is that of another: nothing is, or would be, at a bound."""
    was_inside: cython.bint
    is_inside: cython.bint
    for t in range(p.n):
        x, lo, hi = p.x[t], p.lo[t], p.hi[t]
        was_inside, is_inside = old_lo[t] < old_hi[t], lo < hi
        if was_inside != is_inside:
            return False
        if x != 0.0 and not (old_lo[t] < x and x < old_hi[t] and lo < x and x < hi):
            return False
    return True


def _widens(p, old_lo, old_hi):
    """Whether no box is smaller than an old one."""
    shrinks: cython.bint = False
    for t in range(p.n):
        shrinks = shrinks or p.lo[t] > old_lo[t] or p.hi[t] < old_hi[t]
    return not shrinks


def _solve(m, tol, carry, found):
    """Descend to the vertex; 0 if something is unusual."""
    p, f, inverse = cython.address(m.p), cython.address(carry.factor), cython.address(carry.inverse)
    e: Effort
    gap: cython.double = 0.0
    lost: cython.bint
    e.tol, e.max_iter, e.waited = tol, m.max_iter, 0
    e.may_shrink = rounding_level(p) == 0.0  # from scratch
    p.stalled = p.indefinite = False
    if e.may_shrink:
        descend(p, cython.address(e))
    elif run(p, inverse, cython.address(e)) == Ending.SLIDE:
        return 0
    if inverse.size > 0:
        f.n_inside = 0  # its points may be others now
    if p.stalled or p.indefinite or not e.top + e.bottom <= tol:
        return 0
    if not sqrt(cython.cast(cython.double, e.used)) * rounding_level(p) <= 0.01 * tol:
        return 0
    snap(p, cython.address(gap))
    if gap > tol:
        return 0
    for turn in range(2):
        finish(p, f, inverse, cython.address(gap))
        lost = f.n_inside > 0 and not f.exists and inverse.size == 0
        if p.indefinite or lost:
            return 0
        if turn == 1 or m.drift[0] <= STALE:
            break
        mark = p.scratch.count
        constant = doubles(p.scratch, p.n)
        if m.target:
            note_sides(m)
        for i in range(p.n):
            constant[i] = -m.edge[i]
        renew_gradient(p, constant)
        release(p.scratch, mark)
        restore_sum(p, 0.0)
        if kkt_gap(p) > tol:
            return 0
        m.carried.scale[0] = m.carried.scale[1] = m.drift[0] = 0.0
    found.gap[0], found.iterations[0] = max(gap, 0.0), e.used
    return keeps_sum(p, 0.0) and _set_intercept(p, f, found.intercept)


def _set_intercept(p, f, intercept):
    """Set the intercept; False if only rounding keeps the free variables off their bounds."""
    if f.n_inside == 0:
        intercept[0] = middle_of_interval(p)
        return True
    level, largest = 0.0, 0.0
    clear: cython.bint = False
    for t in range(p.n):
        largest = max(largest, fabs(p.x[t]))
    for a in range(f.n_inside):
        i = f.inside[a]
        level -= p.g[i]
        room = min(p.x[i] - p.lo[i], p.hi[i] - p.x[i])
        if room > OFF_BOUND * min(p.hi[i] - p.lo[i], largest):
            clear = True
    intercept[0] = level / f.n_inside
    return clear


def _find_spans(m, carry, same):
    """Squared spans of the support vectors, unless those of before are the `same`."""
    p, f = cython.address(m.p), cython.address(carry.factor)
    n, scratch = p.n, p.scratch
    mark = scratch.count
    others, squared = indices(scratch, n), doubles(scratch, n)
    count: cython.Py_ssize_t = 0
    for t in range(n):
        squared[t] = 0.0
        if p.x[t] != 0.0 and (p.x[t] == p.lo[t] or p.x[t] == p.hi[t]):
            others[count] = t
            count += 1
            if not m.bounded[t]:
                same = False
    if not same:  # otherwise those marked before keep their mark: their spans are still known
        if carry.inverse.size > 0 and carry.inverse.accurate:
            distances_by_inverse(cython.address(carry.inverse), p, others, count, squared)
        elif f.n_inside > 0:
            if not f.exists:
                factorise(f, cython.address(p.K), scratch)
            fill_distances(p, f, others, count, squared)
        for t in range(n):
            m.squared[t], m.bounded[t] = squared[t], False
        for k in range(count):
            m.bounded[others[k]] = True
    release(scratch, mark)
    return 0


def leave_out(m, C, found):
    """Multipliers of the rows themselves, and their left-out values (Theorem 2)."""
    p, first = cython.address(m.p), m.first
    n, scratch = p.n, p.scratch
    alpha, f = found.alpha, found.decision
    t: Trained
    k: Kinds
    left: Left
    mark = scratch.count
    twins, row = indices(scratch, n), doubles(scratch, n)
    empty: cython.Py_ssize_t = 0
    for i in range(n):
        twins[i] = 0
    for i in range(n):
        twins[first[i]] += 1
    for i in range(n):
        q = first[i]
        alpha[i] = fabs(p.x[q])
        if twins[q] > 1:
            bound = max(p.hi[q], -p.lo[q])
            alpha[i] = C[i] if alpha[i] >= bound else min(alpha[i] / bound * C[i], C[i])
        f[i] = p.g[i] + m.edge[i] + found.intercept[0]
        if m.target:
            found.side[i] = m.side[i]
    _describe(m, C, found, cython.address(t))
    left.span, left.value = found.span, found.left_out
    find_kinds(cython.address(t), cython.address(k))
    predict(cython.address(t), m.squared, cython.address(left), scratch)
    for side in range(2):
        e = k.takers[side]
        if e >= 0:
            for i in range(n):
                row[i] = entry(cython.address(p.K), e, i)
            take_over(
                cython.address(t), cython.address(k), 2.0 * side - 1.0, p.diag, row,
                cython.address(left),
            )  # fmt: skip
    if not m.target:
        set_last(cython.address(t), cython.address(left))
    for i in range(n):
        if alpha[i] > 0.0 and alpha[i] < C[i]:
            if not has_span(cython.address(t), cython.address(k), i):
                empty += 1
    found.n_in_bound[0], found.n_bounded[0], found.n_empty[0] = k.n_in_bound, k.n_bounded, empty
    release(scratch, mark)
    return 0


def _describe(m, C, found, t):
    """The machine as trained."""
    t.K, t.n, t.y, t.C, t.first = m.p.K, m.p.n, m.y, C, m.first
    t.alpha, t.f, t.x, t.lo, t.hi = found.alpha, found.decision, m.p.x, m.lo, m.hi
    t.edge, t.tube = m.edge, INFINITY
    if m.target:
        edges: cython.p_double
        edges_of(m, found, cython.address(edges))
        t.y, t.edge, t.tube = found.side, edges, 2.0 * found.epsilon[0]
    return 0


def find_doubt(m, C, wanted, carry, found):
    """Which left-out rows may have another sign than predicted; followed exactly, if wanted."""
    p, f, inverse = cython.address(m.p), cython.address(carry.factor), cython.address(carry.inverse)
    scratch = p.scratch
    mark = scratch.count
    t: Trained
    s: System
    _describe(m, C, found, cython.address(t))
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
    if n_free < 2 and m.target:
        for i in range(t.n):
            found.drop[i] = INFINITY if t.alpha[i] > 0.0 else 0.0
    elif n_free < 2:
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
        find_drops(cython.address(t), cython.address(s), m.squared, found.drop, scratch)
    if not m.target:
        _mark_doubtful(cython.address(t), found)
    if wanted.verified:
        _verify(m, cython.address(t), cython.address(s), found)
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
    clear_traces(found.verified, n)
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
    _describe(m, C, found, cython.address(t))
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
