"""How much lower than predicted the margin of a left-out support vector may be.

Theorem 2 lets the in-bound vectors take over the multiplier of the removed instance p, with the
weights ``lambda_i`` of the point of their hull that is nearest to p, whether or not they have room
for it.  If vector i ends up outside its box by ``over_i``, that much has to come from the others,
which are farther away: to first order, the margin of p falls by another

    delta_p = sum_i over_i |lambda_i| S_i^2,

where ``S_i`` is the span of i among the vectors that stay.  With the inverse P of the in-bound
vectors' system, projected on ``sum = 0``: for a bounded p ``S_i^2 = 1 / P_ii``; for one of the
in-bound vectors ``lambda_i = -P_pi / P_pp`` and ``S_i^2 = 1 / (P_ii - P_pi^2 / P_pp)``.

Those that are held at their bounds no longer help the others, whose spans grow: delta is multiplied
by the squared ratio of their number to that of those that stay.  If these have hardly room for the
rest, or just as much (bounds are often equal), none may stay in-bound, and the intercept jumps.
Then delta is infinite.
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY, NAN, fabs
from cython.cimports.spansvm.core.linalg import multiply, multiply_symmetric
from cython.cimports.spansvm.core.loops import add_vector, any_leaves, dot, gather
from cython.cimports.spansvm.core.problem import entry
from cython.cimports.spansvm.core.scratch import (
    Scratch,
    doubles,
    flags,
    indices,
    open_scratch,
    release,
    release_all,
)
from cython.cimports.spansvm.core.system import from_points, merge_rows, point_to_machine

__all__ = ["drops_of_bounded", "drops_of_in_bound", "drops_of_rows"]

#: Margins that are closer to 0 may be 0.
NEAR_ZERO = 1e-9

#: Removals are followed if the predicted margin is smaller than this multiple of what it may be off
#: by; as in :mod:`spansvm.machine.doubt`.
SAFETY = 2.0

#: A vector that ends nearer to a bound, as a fraction of where it was and how far it moves, is
#: there: with two in-bound vectors, without one of them, the other has often nothing left.
TOUCHES = 1e-12


def _of_bounded(h, shares, beta, outside, drop):
    """``delta_p`` of a bounded vector, and the sum of ``over_i``.

    `shares` are its kernel values, relative to the first, times P; the weights of the hull are
    added to them.
    """
    held: Held
    add_vector(shares, 1.0, h.weights, h.n)
    outside[0] = drop[0] = 0.0
    if not any_leaves(shares, beta, TOUCHES, h.x, h.lo, h.hi, h.n):
        return
    held.outside, held.net, held.fall, held.up, held.down, held.stay = 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for i in range(h.n):
        _count(cython.address(held), h, i, h.x[i] + beta * shares[i], shares[i], h.P[i * h.n + i])
    outside[0], drop[0] = held.outside, _drop(cython.address(held), h)


def _of_in_bound(h, p, outside, drop):
    """The same for an in-bound vector."""
    held: Held
    row, x = h.P + p * h.n, h.x[p]
    own = row[p]
    outside[0] = drop[0] = 0.0
    rest, step = p + 1, -x / own
    if not (
        any_leaves(row, step, TOUCHES, h.x, h.lo, h.hi, p)
        or any_leaves(row + rest, step, TOUCHES, h.x + rest, h.lo + rest, h.hi + rest, h.n - rest)
    ):
        return
    held.outside, held.net, held.fall, held.up, held.down, held.stay = 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for i in range(h.n):
        if i != p:
            share, other = row[i] / own, h.P[i * h.n + i]
            left = other - row[i] * share  # what is left of P without p
            _count(cython.address(held), h, i, h.x[i] - x * share, share, max(left, 1e-12 * other))
    outside[0], drop[0] = held.outside, _drop(cython.address(held), h)


def _count(held, h, i, moved, share, inverse):
    """Count a vector that moves by its share; the inverse of its squared span is given.

    One that reaches the end of its box leaves the hull, too; rounding must not decide.
    """
    above, below = moved - h.hi[i], h.lo[i] - moved
    over = max(above, below)
    if over + TOUCHES * (fabs(h.x[i]) + fabs(moved - h.x[i])) > 0.0:
        over = max(over, 0.0)
        held.outside += over
        held.net += over if above > below else -over
        held.fall += over * fabs(share) / inverse
    else:
        held.stay += 1
        held.up -= above
        held.down -= below


def _drop(held, h):
    """Infinite if what leaves the boxes takes most of the room that the others have (measured)."""
    if held.net >= 0.7 * held.up if held.net >= 0.0 else -held.net >= 0.7 * held.down:
        return INFINITY
    ratio = cython.cast(cython.double, h.n) / held.stay
    return held.fall * ratio * ratio


def find_drops(m, s, merged, found, scratch):
    """Fill `drop` for the support vectors of one machine on the right side of their margins.

    NaN if fewer than two points make the hull, or their matrix is too ill-conditioned; minus
    infinity if the predicted sign is certain.  Equal rows are one point of the hull; one of
    them drops only by what the others have no room for.  `merged` are the squared spans of the
    points.

    If values are of interest, also `outside` and `moved`, for all support vectors.
    """
    h: Hull
    leaves: cython.double
    falls: cython.double
    values: cython.bint = found.outside != cython.NULL
    n, size, mark = m.n, s.size, scratch.count
    bounded = indices(scratch, n)
    count: cython.Py_ssize_t = 0
    for i in range(n):
        found.drop[i] = 0.0
        if values:
            found.outside[i] = found.moved[i] = NAN if m.alpha[i] > 0.0 else 0.0
        if _matters(m, found, i):
            found.drop[i] = NAN if m.y[i] * m.f[i] > -NEAR_ZERO else 0.0
            count += 1
    if count == 0 or size < 2:
        release(scratch, mark)
        return 0
    x, lo, hi = doubles(scratch, size), doubles(scratch, size), doubles(scratch, size)
    fall, place, over = doubles(scratch, size), indices(scratch, n), doubles(scratch, size)
    h.n, h.P, h.weights, h.x, h.lo, h.hi = size, s.projected, s.weights, x, lo, hi
    for a in range(size):
        q = s.points[a]
        x[a], lo[a], hi[a], place[q] = m.x[q], m.lo[q], m.hi[q], a
    for a in range(size):
        _of_in_bound(cython.address(h), a, over + a, fall + a)
    _mark_certain(m, s, fall, scratch)
    moved, turned = doubles(scratch, size), doubles(scratch, size)
    if values:
        _move_in_bound(m, s, found, moved, scratch)
        _find_turned(m, s, found, turned)
    count = 0
    for i in range(n):
        if not _matters(m, found, i):
            continue
        q = m.first[i]
        if m.alpha[i] >= m.C[i]:
            bounded[count] = i
            count += 1
            continue
        if m.hi[q] - m.lo[q] > m.C[i]:
            leaves = max(fabs(m.x[q]) - (m.hi[q] - m.lo[q] - m.C[i]), 0.0)
            falls, change = leaves * merged[q], 0.0
        else:
            leaves, falls, change = over[place[q]], fall[place[q]], moved[place[q]]
        if m.y[i] * m.f[i] > -NEAR_ZERO:
            found.drop[i] = falls
        if values:
            found.outside[i], found.moved[i] = leaves, change
    if count > 0:
        kernel, shares = doubles(scratch, count * size), doubles(scratch, count * size)
        _from_first(m, s, bounded, count, kernel)
        multiply_symmetric(s.projected, size, size, kernel, count, shares)
        first = s.points[0]
        for k in range(count):
            i = bounded[k]
            beta = m.y[i] * m.alpha[i]
            _of_bounded(
                cython.address(h), shares + k * size, beta, cython.address(leaves),
                cython.address(falls),
            )  # fmt: skip
            if m.y[i] * m.f[i] > -NEAR_ZERO:
                found.drop[i] = falls
            if values:
                K = cython.address(m.K)
                apart = entry(K, first, first) - entry(K, i, first)
                growth = found.sums[i] - found.sums[first] + found.number * apart
                growth += dot(shares + k * size, turned, size)
                found.outside[i] = leaves
                found.moved[i] = -beta * (growth - merged[m.first[i]]) / (found.number - 1.0)
    release(scratch, mark)
    return 0


def _matters(m, found, i):
    """Whether it is to be found how much a row drops."""
    return m.alpha[i] > 0.0 and (found.outside != cython.NULL or m.y[i] * m.f[i] > -NEAR_ZERO)


def _move_in_bound(m, s, found, moved, scratch):
    """The mean change of all other values if an in-bound point is left out."""
    size, mark = s.size, scratch.count
    level = found.sums[s.points[0]]
    sums = doubles(scratch, size)
    for a in range(size):
        sums[a] = found.sums[s.points[a]] - level
    for a in range(size):
        row = s.projected + a * size
        growth = dot(row, sums, size) + found.number * s.weights[a] - 1.0
        moved[a] = -(m.x[s.points[a]] / row[a]) * growth / (found.number - 1.0)
    release(scratch, mark)
    return 0


def _find_turned(m, s, found, turned):
    """What the points of the hull add to the values of all rows, relative to the first."""
    K, first = cython.address(m.K), s.points[0]
    own, level = entry(K, first, first), found.sums[first]
    for a in range(s.size):
        q = s.points[a]
        turned[a] = found.number * (entry(K, q, first) - own) - (found.sums[q] - level)
    return 0


def _from_first(m, s, rows, count, kernel):
    """Kernel values of some rows with the points of the hull, minus those with the first."""
    for k in range(count):
        level = entry(cython.address(m.K), rows[k], s.points[0])
        gather(cython.address(m.K), rows[k], s.points, s.size, -level, kernel + k * s.size)


def _mark_certain(m, s, fall, scratch):
    """Set `fall` to minus infinity for in-bound points that are predicted wrong, and certainly are.

    While the multiplier of such a point goes to zero, its margin falls as predicted until another
    vector meets its bound or its margin; it never rises again.  The prediction is certain if
    nothing of that happens, or not before the margin is negative.
    """
    n, size, mark = m.n, s.size, scratch.count
    chosen, others, inside = indices(scratch, size), indices(scratch, n), flags(scratch, n)
    n_chosen: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t = 0
    for i in range(n):
        inside[i] = False
    for a in range(size):
        q = s.points[a]
        inside[q] = True
        if m.y[q] * m.f[q] - fabs(m.x[q]) / s.projected[a * size + a] <= NEAR_ZERO:
            chosen[n_chosen] = a
            n_chosen += 1
    if n_chosen == 0:
        release(scratch, mark)
        return 0
    for i in range(n):
        if m.first[i] == i and m.lo[i] < m.hi[i] and not inside[i]:
            others[count] = i
            count += 1
    columns, shares = doubles(scratch, size * n_chosen), doubles(scratch, count * n_chosen)
    for a in range(size):
        for c in range(n_chosen):
            columns[a * n_chosen + c] = s.projected[a * size + chosen[c]]
    if count > 0:
        kernel = doubles(scratch, count * size)
        _from_first(m, s, others, count, kernel)
        multiply(kernel, columns, shares, count, size, n_chosen)
    for c in range(n_chosen):
        if _is_certain(m, s, chosen[c], others, shares + c, count, n_chosen):
            fall[chosen[c]] = -INFINITY
    release(scratch, mark)
    return 0


def _is_certain(m, s, a, others, shares, count, stride):
    """Whether an in-bound point is certainly misclassified once it is left out.

    `shares` are, every `stride` numbers, the weights of the point for `others`.
    """
    row, q = s.projected + a * s.size, s.points[a]
    step, way = m.x[q] / row[a], 1.0  # the part of the way until something happens
    for k in range(count):
        i = others[k]
        side = m.y[i] * m.f[i] - 1.0
        change = -m.y[i] * step * (shares[k * stride] + s.weights[a])
        if m.x[i] == 0.0:
            side, change = -side, -change
        if change > 0.0:  # towards its margin, from below 0
            way = min(way, max(-side, 0.0) / change)
    for b in range(s.size):
        j, change = s.points[b], -step * row[b]
        if b != a and change != 0.0:
            end = m.hi[j] if change > 0.0 else m.lo[j]
            way = min(way, max((end - m.x[j]) / change, 0.0))
    return way >= 1.0 or m.y[q] * m.f[q] - way * fabs(m.x[q]) / row[a] < -NEAR_ZERO


# For Python ---------------------------------------------------------------------------------------


def drops_of_bounded(
    kernel: cython.double[:, ::1],
    beta: cython.const[cython.double][::1],
    P: cython.double[:, ::1],
    weights: cython.const[cython.double][::1],
    x: cython.const[cython.double][::1],
    lo: cython.const[cython.double][::1],
    hi: cython.const[cython.double][::1],
):
    """How far vectors leave their boxes if a bounded one is left out, and how much it drops.

    Parameters
    ----------
    kernel : ndarray of shape (m, n)
        Kernel values of bounded vectors with the in-bound ones, minus those with the first of
        these.
    beta : ndarray of shape (m,)
        Signed multipliers of the bounded vectors.
    P, weights : ndarray
        The projected inverse for the in-bound vectors, and its border.
    x, lo, hi : ndarray of shape (n,)
        Their signed multipliers and boxes.

    Returns
    -------
    outside, drop : ndarray of shape (m,)
        The sums of ``over_i``, and ``delta_p``.
    """
    h: Hull
    count, n = kernel.shape[0], x.shape[0]
    _check(n, P, lo, hi)
    if kernel.shape[1] != n or beta.shape[0] != count or weights.shape[0] != n:
        raise ValueError("There must be a number for every vector.")
    result, products = np.zeros((2, count)), np.empty((count, n))
    if count == 0:
        return result[0], result[1]
    values: cython.double[:, ::1] = result
    shares: cython.double[:, ::1] = products
    h.n, h.P, h.weights = n, cython.address(P[0, 0]), cython.address(weights[0])
    h.x, h.lo, h.hi = cython.address(x[0]), cython.address(lo[0]), cython.address(hi[0])
    with cython.nogil:
        multiply_symmetric(
            cython.address(P[0, 0]), n, n, cython.address(kernel[0, 0]), count,
            cython.address(shares[0, 0]),
        )  # fmt: skip
        for p in range(count):
            _of_bounded(
                cython.address(h), cython.address(shares[p, 0]), beta[p],
                cython.address(values[0, p]), cython.address(values[1, p]),
            )  # fmt: skip
    return result[0], result[1]


def drops_of_in_bound(
    P: cython.const[cython.double][:, ::1],
    x: cython.const[cython.double][::1],
    lo: cython.const[cython.double][::1],
    hi: cython.const[cython.double][::1],
):
    """The same for the in-bound vectors themselves."""
    h: Hull
    n = x.shape[0]
    _check(n, P, lo, hi)
    result = np.zeros((2, n))
    values: cython.double[:, ::1] = result
    h.n, h.P, h.weights = n, cython.address(P[0, 0]), cython.NULL
    h.x, h.lo, h.hi = cython.address(x[0]), cython.address(lo[0]), cython.address(hi[0])
    with cython.nogil:
        for p in range(n):
            _of_in_bound(
                cython.address(h), p, cython.address(values[0, p]), cython.address(values[1, p])
            )
    return result[0], result[1]


def _check(n, P, lo, hi):
    if P.shape[0] != n or P.shape[1] != n or lo.shape[0] != n or hi.shape[0] != n:
        raise ValueError("The inverse and the boxes must be those of the in-bound vectors.")


def drops_of_rows(K, solution, first, merged: cython.const[cython.double][::1]):
    """How much the rows of a trained machine drop; see :func:`find_drops`.

    `first` is, for every row, the first one equal to it, and `merged` are the squared spans, at the
    first of equal rows.
    """
    m: Trained
    s: System
    scratch: Scratch
    arrays = point_to_machine(cython.address(m), K, solution, first)  # noqa: F841
    n = m.n
    if merged.shape[0] != n:
        raise ValueError("There must be a squared span for every row.")
    drop = np.empty(n)
    result: cython.double[::1] = drop
    found: Drops
    found.drop, found.outside = cython.address(result[0]), cython.NULL
    open_scratch(cython.address(scratch))
    try:
        with cython.nogil:
            merge_rows(cython.address(m), cython.address(scratch))
            points = indices(cython.address(scratch), n)
            count: cython.Py_ssize_t = 0
            for i in range(n):
                if m.lo[i] < m.x[i] and m.x[i] < m.hi[i]:
                    points[count] = i
                    count += 1
            s.size = 0
            if count > 1:
                from_points(
                    cython.address(s), cython.address(m.K), points, count, cython.address(scratch)
                )
            find_drops(
                cython.address(m), cython.address(s), cython.address(merged[0]),
                cython.address(found), cython.address(scratch),
            )  # fmt: skip
    finally:
        release_all(cython.address(scratch))
    return drop
