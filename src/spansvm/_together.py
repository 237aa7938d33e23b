"""The machines of all pairs of classes in one compiled call: trained, finished, and left out.

A pair of classes has some dozens or hundreds of rows; what Python does for each would cost more
than its training.  The rows of all machines stand one after the other in the arrays of this
module, and the matrices of the machines in one buffer.  What is unusual (a matrix that is not
definite, slow convergence, rounding carried along) is left to the general way: the machine is
marked as not done, and the caller trains it by itself.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ._calls import MARKS, MATRIX, POINTS, ROW, call, reachable
from ._compile import njit
from ._descent import (
    EQUAL_SUMS,
    OFF_BOUND,
    SLIDE,
    STALE,
    fill_submatrix,
    keeps_sum,
    kkt_gap,
    middle_of_interval,
    renew_gradient,
    restore_sum,
    rounding_level,
    run,
    snap,
)
from ._doubt import find_drops
from ._factor import factorise_into, limits_of
from ._finish import finish_at, same_points
from ._hull import fill_distances
from ._inverse import ACCURATE, SIZE, distances_by_inverse
from ._moving import move_bounds
from ._sweep import INDEFINITE, STALLED

__all__ = ["advance"]

#: Numbers for every row of every machine: the diagonal of the matrix and the label; the box, signed
#: multipliers, gradient and squared spans, with twins merged at the first of them.
DIAGONAL, LABEL, LOW, HIGH, SIGNED, GRADIENT, MERGED = range(7)

#: Integers for every row: its place in the matrix of all rows; the first twin.
PLACE, FIRST = range(2)

#: Numbers for every machine.
FLAT, DRIFT = range(2)

#: Integers for every machine; `READY` if it stands at a solution.
READY, LIMIT = range(2)

#: Results for every row: multipliers, decision values, squared spans, left-out values, and how much
#: lower the margin of the latter may be.
ALPHA, DECISION, SPAN, LEFT_OUT, DROP = range(5)

#: Results for every machine: numbers, and integers.
INTERCEPT, GAP = range(2)
DONE, ITERATIONS, N_IN_BOUND, N_BOUNDED, N_EMPTY = range(5)


@njit
def train_one(
    K, m, one, end, C, rows, places, bounded, sums, scale, numbers, counts, tol, limits, at,
    measures, tallies, spans, matrix, inside, kept, repeated, shift, ridge, inverse, points, held,
):  # fmt: skip
    """Train one machine with the weights `C`, and find its spans if they are wanted.

    The factor that follows them is that of the step before.  Returns False if the machine has to
    be trained in another way, and the new factor.
    """
    n = end - one
    diag, x, g = rows[DIAGONAL][one:end], rows[SIGNED][one:end], rows[GRADIENT][one:end]
    old_lo, old_hi = rows[LOW][one:end], rows[HIGH][one:end]
    y, first = rows[LABEL], places[FIRST]
    lo, hi = np.zeros(n), np.zeros(n)  # twins are merged at the first of them
    for i in range(n):
        if y[one + i] > 0.0:
            hi[first[one + i]] += C[i]
        else:
            lo[first[one + i]] -= C[i]
    stays = counts[READY, m] == 1 and _stays(x, old_lo, old_hi, lo, hi)
    counts[READY, m] = 0
    drift = max(numbers[DRIFT, m], rounding_level(x, diag))
    if not stays:
        call(move_bounds, at, K, x, g, old_lo, old_hi, lo, hi, sums[:2], sums[2:], scale)
    before = inside
    for i in range(n):
        old_lo[i], old_hi[i] = lo[i], hi[i]
    if stays:  # the solution is the same, and so are its spans
        tallies[ITERATIONS, m], counts[READY, m] = 0, 1
        return True, matrix, inside, kept, repeated, shift, ridge
    drift = max(drift, rounding_level(x, diag))
    flags = np.zeros(2, np.bool_)
    flat = numbers[FLAT, m]
    code, used, top, bottom, _, _ = call(
        run, at, K, diag, x, g, lo, hi, tol, counts[LIMIT, m], flat, flags, 0, False,
        inverse, points, held, shift, at,
    )  # fmt: skip
    if held[SIZE] > 0:
        inside = inside[:0]
    if code == SLIDE or flags[STALLED] or flags[INDEFINITE] or not top + bottom <= tol:
        return False, matrix, inside, kept, repeated, shift, ridge
    if not sqrt(used) * rounding_level(x, diag) <= 0.01 * tol or snap(K, x, g, lo, hi) > tol:
        return False, matrix, inside, kept, repeated, shift, ridge
    for turn in range(2):
        gap, matrix, inside, kept, repeated, shift, ridge = call(
            finish_at, at, K, diag, x, g, lo, hi, flat, flags, limits, matrix, inside, kept,
            repeated, shift, ridge, inverse, points, held, at,
        )  # fmt: skip
        lost = inside.size > 0 and matrix.size == 0 and held[SIZE] == 0
        if flags[INDEFINITE] or lost:
            return False, matrix, inside, kept, repeated, shift, ridge
        if turn == 1 or drift <= STALE:
            break
        constant = np.empty(n)
        for i in range(n):
            constant[i] = -y[one + i]
        renew_gradient(K, x, g, constant)
        restore_sum(K, x, g, lo, hi, 0.0)
        if kkt_gap(x, g, lo, hi) > tol:
            return False, matrix, inside, kept, repeated, shift, ridge
        scale[0] = scale[1] = drift = 0.0
    numbers[DRIFT, m], measures[GAP, m], tallies[ITERATIONS, m] = drift, max(gap, 0.0), used
    if not (keeps_sum(x, 0.0) and _set_intercept(x, g, lo, hi, inside, measures, m)):
        return False, matrix, inside, kept, repeated, shift, ridge
    if spans:
        same = inside.size > 1 and same_points(before, inside)
        _find_spans(
            K, diag, x, lo, hi, same, matrix, inside, kept, repeated, shift, ridge, limits,
            inverse, points, held, rows[MERGED][one:end], bounded[one:end], at,
        )  # fmt: skip
    counts[READY, m] = 1
    return True, matrix, inside, kept, repeated, shift, ridge


@njit
def _stays(x, old_lo, old_hi, lo, hi):
    """Whether a solution in one box is that of another: nothing is, or would be, at a new bound."""
    for t in range(x.size):
        if (old_lo[t] < old_hi[t]) != (lo[t] < hi[t]):
            return False
        if x[t] != 0.0 and not (old_lo[t] < x[t] < old_hi[t] and lo[t] < x[t] < hi[t]):
            return False
    return True


@njit
def _set_intercept(x, g, lo, hi, inside, measures, m):
    """Set the intercept; False if only rounding keeps the free variables off their bounds."""
    if inside.size == 0:
        measures[INTERCEPT, m] = middle_of_interval(x, g, lo, hi)
        return True
    level, largest, clear = 0.0, 0.0, False
    for t in range(x.size):
        largest = max(largest, abs(x[t]))
    for a in range(inside.size):
        i = inside[a]
        level -= g[i]
        room = min(x[i] - lo[i], hi[i] - x[i])
        clear = clear or room > OFF_BOUND * min(hi[i] - lo[i], largest)
    measures[INTERCEPT, m] = level / inside.size
    return clear


@njit
def _find_spans(
    K, diag, x, lo, hi, same, matrix, inside, kept, repeated, shift, ridge, limits, inverse,
    points, held, squared, bounded, at,
):  # fmt: skip
    """Squared spans of the support vectors, unless those of before are the `same`."""
    others = np.empty(x.size, np.int64)
    count = 0
    for t in range(x.size):
        now = x[t] != 0.0 and (x[t] == lo[t] or x[t] == hi[t])
        same = same and (bounded[t] or not now)
        if now:
            others[count] = t
            count += 1
    if same:  # those marked before keep their mark: their spans are still known
        return
    found = np.zeros(x.size)
    size = held[SIZE]
    if size > 0 and held[ACCURATE]:
        own = points[:size]
        call(distances_by_inverse, at, K, diag, inverse, own, others[:count], shift, found)
    elif inside.size > 0:
        if matrix.size == 0:
            kept, repeated = np.empty_like(inside), np.zeros(inside.size, np.bool_)
            matrix, n_kept, shift, ridge = call(
                factorise_into, at, K, inside, limits, kept, repeated
            )
            kept = kept[:n_kept]
        call(
            fill_distances, at, K, diag, matrix, kept, others[:count], shift, ridge, inside,
            repeated, found,
        )  # fmt: skip
    for t in range(x.size):
        squared[t], bounded[t] = found[t], False
    for k in range(count):
        bounded[others[k]] = True


@njit
def leave_out(K, m, one, end, C, rows, places, found, measures, tallies):
    """Multipliers of the rows themselves, and their left-out values (Theorem 2)."""
    n = end - one
    y, first = rows[LABEL][one:end], places[FIRST][one:end]
    signed, lo, hi = rows[SIGNED][one:end], rows[LOW][one:end], rows[HIGH][one:end]
    g, merged = rows[GRADIENT][one:end], rows[MERGED][one:end]
    alpha, f = found[ALPHA][one:end], found[DECISION][one:end]
    span, left_out = found[SPAN][one:end], found[LEFT_OUT][one:end]
    twins, members, alone = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(2, np.int64)
    for i in range(n):
        twins[first[i]] += 1
        if C[i] > 0.0:
            members[first[i]] += 1
            alone[int(y[i] > 0.0)] += 1
    n_inside, n_bounded, inner = 0, 0, -1
    free, held, total = np.zeros(2), 0.0, 0.0
    for i in range(n):
        k = first[i]
        alpha[i] = abs(signed[k])
        if twins[k] > 1:
            bound = hi[k] - lo[k]
            alpha[i] = C[i] if alpha[i] >= bound else min(alpha[i] / bound * C[i], C[i])
        f[i] = g[i] + y[i] + measures[INTERCEPT, m]
        span[i] = merged[k] if alpha[i] > 0.0 else 0.0
        if 0.0 < alpha[i] < C[i]:
            n_inside, inner = n_inside + 1, i
            free[int(y[i] > 0.0)] += C[i]
            total += C[i]
            if members[k] > 1:
                span[i] = 0.0
        elif alpha[i] > 0.0:
            n_bounded += 1
            held += y[i] * C[i]
            total += C[i]
        left_out[i] = f[i] - y[i] * alpha[i] * span[i]
    if n_inside < 2:
        _take_over(K, y, C, alpha, f, rows[DIAGONAL][one:end], inner, span, left_out)
    n_empty = 0
    for i in range(n):
        if C[i] > 0.0 and alone[int(y[i] > 0.0)] == 1:
            left_out[i] = -y[i]
        if 0.0 < alpha[i] < C[i]:
            room = free[int(y[i] > 0.0)] + y[i] * held - C[i]
            n_empty += n_inside < 2 or room < -EQUAL_SUMS * total
    tallies[N_IN_BOUND, m], tallies[N_BOUNDED, m] = n_inside, n_bounded
    tallies[N_EMPTY, m] = n_empty


@njit
def _take_over(K, y, C, alpha, f, diag, inner, span, left_out):
    """Spans and left-out values that no hull defines; see :mod:`spansvm.span`.

    `inner` is the only in-bound vector, or -1.
    """
    for sign in (-1.0, 1.0):
        enters, most = -1, -np.inf
        for i in range(y.size):
            movable = alpha[i] < C[i] if y[i] == sign else alpha[i] > 0.0
            if movable and i != inner and sign * (y[i] - f[i]) > most:
                enters, most = i, sign * (y[i] - f[i])
        if enters < 0:
            continue
        for i in range(y.size):
            if y[i] == sign and alpha[i] > 0.0 and (inner < 0 or i == inner):
                span[i] = max(diag[i] + diag[enters] - 2.0 * K[enters, i], 0.0)
                # The intercept moves until the entering vector lies on its margin.
                left_out[i] = f[i] + y[enters] - f[enters] - sign * alpha[i] * span[i]


def _of_machine(K: np.ndarray) -> tuple[object, ...]:
    """Arguments of the types that both functions begin with."""
    return K, 0, 0, 0, ROW, MATRIX, _INTEGERS


_INTEGERS = np.empty((1, 1), dtype=np.int64)
reachable(
    train_one,
    lambda K: (
        *_of_machine(K), MARKS, MATRIX, ROW, MATRIX, _INTEGERS, 0.0, limits_of(K.dtype), POINTS,
        MATRIX, _INTEGERS, True, MATRIX, POINTS, POINTS, MARKS, 0.0, 0.0, MATRIX, POINTS, POINTS,
    ),
)  # fmt: skip
reachable(leave_out, lambda K: (*_of_machine(K), MATRIX, MATRIX, _INTEGERS))


@njit
def advance(
    K, part, starts, machines, weights, rows, places, bounded, sums, scales, numbers, counts,
    tol, limits, at, spans, drops, found, measures, tallies,
):  # fmt: skip
    """Train machines with one vector of weights after the other, and leave each row out.

    One machine after the other, as its matrix then stays in the cache.  A machine that has to be
    trained in another way is left at that vector of weights.

    Parameters
    ----------
    K, part
        The matrix of all rows, and room for that of the largest machine; empty if there is only
        one machine, with all rows in order.
    starts
        Where the rows of each machine begin, and the end.
    machines
        Those that are trained.
    weights
        A vector of weights for all rows in each row.
    rows, places, numbers, counts
        Arrays with a row for each of the quantities named above.
    bounded
        Marks of the bounded vectors whose spans are known.
    sums, scales
        For :func:`spansvm._moving.move_bounds`: sums and shares of two sides for every machine.
    tol, limits, at
        Tolerance; thresholds of the factors; addresses.
    spans, drops
        Whether spans are wanted, and left-out values; and how much lower these may be.
    found, measures, tallies
        The results for each vector of weights.
    """
    largest = 0
    for k in range(machines.size):
        largest = max(largest, starts[machines[k] + 1] - starts[machines[k]])
    inverse, points, held = (
        np.empty((largest, largest)),
        np.empty(largest, np.int64),
        np.zeros(2, np.int64),
    )
    for k in range(machines.size):
        m = machines[k]
        one, end = starts[m], starts[m + 1]
        n = end - one
        own = K
        if part.size > 0:
            own = part.reshape(part.size)[: n * n].reshape((n, n))
            fill_submatrix(K, places[PLACE][one:end], own)
        carried = sums[4 * one : 4 * end].reshape((4, n))
        scale = scales[2 * m : 2 * m + 2]
        matrix, shift, ridge = np.empty((0, 0)), 0.0, 0.0
        inside = kept = np.empty(0, np.int64)
        repeated = np.empty(0, np.bool_)
        held[SIZE] = 0
        for c in range(weights.shape[0]):
            C = weights[c][one:end]
            if c > 0:
                measures[c, INTERCEPT, m] = measures[c - 1, INTERCEPT, m]
                measures[c, GAP, m] = measures[c - 1, GAP, m]
            done, matrix, inside, kept, repeated, shift, ridge = call(
                train_one, at, own, m, one, end, C, rows, places, bounded, carried, scale,
                numbers, counts, tol, limits, at, measures[c], tallies[c], spans,
                matrix, inside, kept, repeated, shift, ridge, inverse, points, held,
            )  # fmt: skip
            tallies[c, DONE, m] = done
            if not done:
                break
            call(
                leave_out, at, own, m, one, end, C, rows, places, found[c], measures[c],
                tallies[c],
            )  # fmt: skip
            if drops:
                if held[ACCURATE] == 0 and matrix.size == 0 and inside.size > 1:
                    kept, repeated = np.empty_like(inside), np.zeros(inside.size, np.bool_)
                    matrix, n_kept, shift, ridge = call(
                        factorise_into, at, own, inside, limits, kept, repeated
                    )
                    kept = kept[:n_kept]
                call(
                    find_drops, at, own, C, rows[LABEL][one:end], places[FIRST][one:end],
                    rows[SIGNED][one:end], rows[LOW][one:end], rows[HIGH][one:end],
                    rows[MERGED][one:end], found[c][ALPHA][one:end], found[c][DECISION][one:end],
                    matrix, kept, inside.size, shift, ridge, inverse, points, held[SIZE],
                    held[ACCURATE] != 0, found[c][DROP][one:end],
                )  # fmt: skip
