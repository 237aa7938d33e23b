"""One machine, trained with one vector of weights after the other, and each of its rows left out.

The usual way alone: what is unusual (a matrix that is not definite, slow convergence, rounding
carried along) is left to :mod:`spansvm.machine.dual`.
"""

import cython
from cython.cimports.libc.math import INFINITY, NAN, fabs, sqrt
from cython.cimports.spansvm.core.descent import Effort, Ending, descend, run
from cython.cimports.spansvm.core.factor import factorise, is_of
from cython.cimports.spansvm.core.finish import finish
from cython.cimports.spansvm.core.hull import fill_distances
from cython.cimports.spansvm.core.inverse import distances_by_inverse
from cython.cimports.spansvm.core.leaving import (
    Kinds,
    Left,
    find_kinds,
    has_span,
    predict,
    set_last,
    take_over,
)
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
from cython.cimports.spansvm.core.scratch import doubles, indices, release
from cython.cimports.spansvm.core.tube import edges_of, note_sides, set_tube


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
    stale: cython.bint
    before = INFINITY
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
    stale = max(m.drift[0], rounding_level(p)) > STALE
    for turn in range(4):
        finish(p, f, inverse, cython.address(gap))
        lost = f.n_inside > 0 and not f.exists and inverse.size == 0
        if p.indefinite or lost:
            return 0
        if not stale or turn == 3 or gap > 0.5 * before:  # that helps no longer
            break
        before = gap
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
    describe(m, C, found, cython.address(t))
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


def describe(m, C, found, t):
    """The machine as trained."""
    t.K, t.n, t.y, t.C, t.first = m.p.K, m.p.n, m.y, C, m.first
    t.alpha, t.f, t.x, t.lo, t.hi = found.alpha, found.decision, m.p.x, m.lo, m.hi
    t.edge, t.tube = m.edge, INFINITY
    if m.target:
        edges: cython.p_double
        edges_of(m, found, cython.address(edges))
        t.y, t.edge, t.tube = found.side, edges, 2.0 * found.epsilon[0]
    return 0
