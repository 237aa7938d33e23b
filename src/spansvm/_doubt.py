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

from __future__ import annotations

import numpy as np
from numba import uint64

from ._calls import MATRIX, POINTS, ROW, reachable
from ._compile import njit
from ._linalg import add_row, lower_inverse, multiply, multiply_symmetric, square_lower
from ._sweep import NO_NAN, larger

__all__ = [
    "NEAR_ZERO",
    "drops_of_bounded",
    "drops_of_in_bound",
    "find_drops",
    "is_regular",
    "project",
]

#: Margins that are closer to 0 may be 0.
NEAR_ZERO = 1e-9

#: Smallest squared pivot, as a fraction of the shift, of a factor that is accurate enough.
_WELL_CONDITIONED = 1e-5

#: If more than this share of the others' room is taken, nothing is said about the drop (measured).
_MOST_ROOM = 0.7


@njit
def drops_of_bounded(kernel, beta, P, weights, x, lo, hi, outside, drop):
    """Fill `drop` with ``delta_p`` of bounded vectors, and `outside` with the sum of ``over_i``.

    Parameters
    ----------
    kernel : ndarray of shape (m, n)
        Kernel values of the bounded vectors with the in-bound ones, minus those with the first of
        these.
    beta : ndarray of shape (m,)
        Signed multipliers of the bounded vectors.
    P, weights : ndarray
        The projected inverse and its border.
    x, lo, hi : ndarray of shape (n,)
        Signed multipliers of the in-bound vectors, and their boxes.
    outside, drop : ndarray of shape (m,), to be filled
    """
    m, n = kernel.shape
    products = np.empty((m, n))
    if m > 0:
        multiply_symmetric(P, kernel, products)
    for p in range(m):
        row, total, fall = products[p], 0.0, 0.0
        add_row(row, 1.0, weights)
        if not _any_leaves(row, beta[p], x, lo, hi):
            outside[p] = drop[p] = 0.0
            continue
        stay, net, up, down = 0, 0.0, 0.0, 0.0
        for i in range(n):
            share = row[i]
            moved = x[i] + beta[p] * share
            over = max(moved - hi[i], lo[i] - moved)
            if over > 0.0:
                total += over
                net += over if moved > hi[i] else -over
                fall += over * abs(share) / P[i, i]
            else:
                stay, up, down = stay + 1, up + (hi[i] - moved), down + (moved - lo[i])
        fall = np.inf if _uses_up(net, up, down) else fall * (n / stay) ** 2
        outside[p], drop[p] = total, fall


@njit
def _uses_up(net, up, down):
    """Whether what leaves the boxes, `net`, takes most of the room that the others have."""
    return net >= _MOST_ROOM * up if net >= 0.0 else -net >= _MOST_ROOM * down


@njit(fastmath=NO_NAN)
def _any_leaves(shares, scale, x, lo, hi):
    """Whether a vector leaves its box.  Vectorised."""
    over = 0.0
    for i in range(uint64(0), uint64(x.size)):
        moved = x[i] + scale * shares[i]
        over = larger(over, larger(moved - hi[i], lo[i] - moved))
    return over > 0.0


@njit
def drops_of_in_bound(P, x, lo, hi, outside, drop):
    """The same for the in-bound vectors themselves."""
    n = x.size
    for p in range(n):
        row, own, total, fall = P[p], P[p, p], 0.0, 0.0
        if not _any_leaves(row, -x[p] / own, x, lo, hi):
            outside[p] = drop[p] = 0.0
            continue
        stay, net, up, down = 0, 0.0, 0.0, 0.0
        for i in range(n):
            if i == p:
                continue
            entry = row[i]
            share = entry / own
            moved = x[i] - x[p] * share
            over = max(moved - hi[i], lo[i] - moved)
            if over > 0.0:
                total += over
                net += over if moved > hi[i] else -over
                left = P[i, i] - entry * share  # what is left of P without p
                fall += over * abs(share) / max(left, 1e-12 * P[i, i])
            else:
                stay, up, down = stay + 1, up + (hi[i] - moved), down + (moved - lo[i])
        fall = np.inf if _uses_up(net, up, down) else fall * (n / stay) ** 2
        outside[p], drop[p] = total, fall


@njit
def find_drops(
    K, C, y, first, x, lo, hi, merged, alpha, f, matrix, kept, n_inside, shift, ridge, inverse,
    points, held, accurate, drop,
):  # fmt: skip
    """Fill `drop` for the support vectors of one machine on the right side of their margins.

    NaN if fewer than two points make the hull, or their matrix is too ill-conditioned; minus
    infinity if the predicted sign is certain.  Equal rows are one point of the hull; one of
    them drops only by what the others have no room for.

    Parameters
    ----------
    K, C, y, first
        The machine's matrix, bounds, labels, and the first of equal rows.
    x, lo, hi, merged
        Signed multipliers, boxes and squared spans of the points, at the first of equal rows.
    alpha, f
        Multipliers and decision values of the rows.
    matrix, kept, n_inside, shift, ridge
        The factor of the in-bound points, if there is one; and how many points they are.
    inverse, points, held, accurate
        The inverse that is carried along, for `held` points, and whether it is accurate.
    drop : ndarray, to be filled
    """
    rows = np.empty(y.size, np.int64)
    count = 0
    for i in range(y.size):
        drop[i] = 0.0
        if alpha[i] > 0.0 and y[i] * f[i] > -NEAR_ZERO:
            rows[count] = i
            count += 1
    size = held if accurate else 0
    if size == 0 and is_regular(matrix, kept, n_inside, shift, ridge):
        size = n_inside
    if count == 0 or size < 2:
        for k in range(count):
            drop[rows[k]] = np.nan
        return
    P, hull = np.empty((size, size)), np.empty(size, np.int64)
    for a in range(size):
        hull[a] = points[a] if held > 0 and accurate else kept[a]
        for b in range(a + 1):
            P[a, b] = inverse[a, b] if held > 0 and accurate else matrix[a, b]
    if not (held > 0 and accurate):
        lower_inverse(P, size)
        square_lower(P, size)
    weights = project(P)
    own_x, own_lo, own_hi, place = (
        np.empty(size), np.empty(size), np.empty(size), np.empty(y.size, np.int64),
    )  # fmt: skip
    for a in range(size):
        own_x[a], own_lo[a], own_hi[a] = x[hull[a]], lo[hull[a]], hi[hull[a]]
        place[hull[a]] = a
    outside, fall = np.empty(size), np.empty(size)
    drops_of_in_bound(P, own_x, own_lo, own_hi, outside, fall)
    _mark_certain(K, y, first, x, lo, hi, f, P, weights, hull, fall)
    bounded = np.empty(count, np.int64)
    m = 0
    for k in range(count):
        i = rows[k]
        q = first[i]
        if alpha[i] >= C[i]:
            bounded[m] = i
            m += 1
        elif hi[q] - lo[q] > C[i]:
            drop[i] = max(abs(x[q]) - (hi[q] - lo[q] - C[i]), 0.0) * merged[q]
        else:
            drop[i] = fall[place[q]]
    outside, fall = np.empty(m), np.empty(m)
    beta = np.empty(m)
    for k in range(m):
        beta[k] = y[bounded[k]] * alpha[bounded[k]]
    kernel = _from_first(K, bounded[:m], hull)
    drops_of_bounded(kernel, beta, P, weights, own_x, own_lo, own_hi, outside, fall)
    for k in range(m):
        drop[bounded[k]] = fall[k]


@njit
def _from_first(K, rows, hull):
    """Kernel values of some rows with the points of the hull, minus those with the first."""
    kernel = np.empty((rows.size, hull.size))
    for k in range(rows.size):
        row, target = K[rows[k]], kernel[k]
        for a in range(hull.size):
            target[a] = row[hull[a]] - row[hull[0]]
    return kernel


@njit
def _mark_certain(K, y, first, x, lo, hi, f, P, weights, hull, fall):
    """Set `fall` to minus infinity for in-bound points that are predicted wrong, and certainly are.

    While the multiplier of such a point goes to zero, its margin falls as predicted until another
    vector meets its bound or its margin; it never rises again.  The prediction is certain if
    nothing of that happens, or not before the margin is negative.
    """
    chosen, others = np.empty(hull.size, np.int64), np.empty(y.size, np.int64)
    inside = np.zeros(y.size, np.bool_)
    n_chosen, count = 0, 0
    for a in range(hull.size):
        q = hull[a]
        inside[q] = True
        if y[q] * f[q] - abs(x[q]) / P[a, a] <= NEAR_ZERO:
            chosen[n_chosen] = a
            n_chosen += 1
    if n_chosen == 0:
        return
    for i in range(y.size):
        if first[i] == i and lo[i] < hi[i] and not inside[i]:
            others[count] = i
            count += 1
    columns = np.empty((hull.size, n_chosen))
    for a in range(hull.size):
        for c in range(n_chosen):
            columns[a, c] = P[a, chosen[c]]
    shares = np.empty((count, n_chosen))
    if count > 0:
        multiply(_from_first(K, others[:count], hull), columns, shares)
    for c in range(n_chosen):
        a = chosen[c]
        q = hull[a]
        step, way = x[q] / P[a, a], 1.0  # the part of the way until something happens
        for k in range(count):
            i = others[k]
            side, change = y[i] * f[i] - 1.0, -y[i] * step * (shares[k, c] + weights[a])
            if x[i] == 0.0:
                side, change = -side, -change
            if change > 0.0:  # towards its margin, from below 0
                way = min(way, max(-side, 0.0) / change)
        for b in range(hull.size):
            j, change = hull[b], -step * P[a, b]
            if b != a and change != 0.0:
                end = hi[j] if change > 0.0 else lo[j]
                way = min(way, max((end - x[j]) / change, 0.0))
        if way >= 1.0 or y[q] * f[q] - way * abs(x[q]) / P[a, a] < -NEAR_ZERO:
            fall[a] = -np.inf


@njit
def is_regular(matrix, kept, n_inside, shift, ridge):
    """Whether a factor is that of all in-bound points, and well-conditioned."""
    if matrix.shape[0] != n_inside or kept.size != n_inside or ridge > 0.0:
        return False
    for a in range(n_inside):  # noqa: SIM110
        if not matrix[a, a] * matrix[a, a] >= _WELL_CONDITIONED * shift:
            return False
    return True


@njit
def project(P):
    """Project an inverse, given by its lower triangle, on ``sum = 0``, and fill the upper one.

    Returns its border.
    """
    n = P.shape[0]
    u = np.zeros(n)
    total = 0.0
    for a in range(n):
        for b in range(a):
            u[a] += P[a, b]
            u[b] += P[a, b]
        u[a] += P[a, a]
    for a in range(n):
        total += u[a]
    for a in range(n):
        for b in range(a + 1):
            P[a, b] -= u[a] * u[b] / total
            P[b, a] = P[a, b]
    for a in range(n):
        u[a] /= total
    return u


reachable(
    find_drops,
    lambda K: (
        K, ROW, ROW, POINTS, ROW, ROW, ROW, ROW, ROW, ROW, MATRIX, POINTS, 0, 0.0, 0.0, MATRIX,
        POINTS, 0, True, ROW,
    ),
)  # fmt: skip
