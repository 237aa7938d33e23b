"""Each row of a trained machine left out, as Theorem 2 predicts it; and Lemma 1.

With the squared distance ``S_p^2`` of ``x_p`` from the affine hull of the other in-bound vectors,
``f^p(x_p) = f(x_p) - y_p alpha_p S_p^2`` (eq. theorem4).

If removing ``x_p`` leaves no in-bound vector (n* = 0, or n* = 1 and p is that vector), the sum
constraint forces one other multiplier to move: the one whose gradient demands it most.  That
vector takes the place of the hull, and it fixes the intercept.  If ``x_p`` is the only member of
its class, one class remains, and ``f^p = -y_p``.
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY
from cython.cimports.spansvm.core.problem import EQUAL_SUMS
from cython.cimports.spansvm.core.scratch import (
    Scratch,
    indices,
    open_scratch,
    release,
    release_all,
)
from cython.cimports.spansvm.core.system import point_to_solution

__all__ = ["entering", "leave_out", "span_exists"]


def find_kinds(t, k):
    """Count the kinds of vectors, and find those that take over where there is no hull."""
    k.n_in_bound = k.n_bounded = 0
    k.inner = k.takers[0] = k.takers[1] = -1
    k.free_negative = k.free_positive = k.held = k.total = 0.0
    for i in range(t.n):
        if t.alpha[i] > 0.0:
            k.total += t.C[i]
            if t.alpha[i] < t.C[i]:
                k.n_in_bound, k.inner = k.n_in_bound + 1, i
                if t.y[i] > 0.0:
                    k.free_positive += t.C[i]
                else:
                    k.free_negative += t.C[i]
            else:
                k.n_bounded += 1
                k.held += t.y[i] * t.C[i]
    if k.n_in_bound < 2:
        k.takers[0], k.takers[1] = enters(t, -1.0, k.inner), enters(t, 1.0, k.inner)


def has_span(t, k, p):
    """Lemma 1: whether the set Lambda_p of a support vector is not empty.

    The condition of the lemma, ``sum C_i (in-bound, same class, i != p) + y_p sum y_i C_i
    (bounded) >= 0``, is stated for in-bound vectors; with p left out of the second sum it holds
    for bounded ones by the same proof.  Without other in-bound vectors Lambda_p is empty.
    """
    is_in_bound: cython.Py_ssize_t = 1 if t.alpha[p] < t.C[p] else 0
    free = k.free_positive if t.y[p] > 0.0 else k.free_negative
    room = free + t.y[p] * k.held - t.C[p]
    return k.n_in_bound > is_in_bound and room >= -EQUAL_SUMS * k.total


def predict(t, squared, left, scratch):
    """Spans and left-out values, from the squared distances of the points from the hull.

    An in-bound vector with an equal one that takes part is in the hull of the others.
    """
    mark = scratch.count
    members = indices(scratch, t.n)
    for i in range(t.n):
        members[i] = 0
    for i in range(t.n):
        if t.C[i] > 0.0:
            members[t.first[i]] += 1
    for i in range(t.n):
        span = squared[t.first[i]] if t.alpha[i] > 0.0 else 0.0
        if t.alpha[i] < t.C[i] and members[t.first[i]] > 1:
            span = 0.0
        left.span[i], left.value[i] = span, t.f[i] - t.y[i] * t.alpha[i] * span
    release(scratch, mark)
    return 0


def take_over(t, k, sign, diag, row, left):
    """Spans and left-out values of vectors with this label that no hull defines.

    `row` are the kernel values of the vector that takes over.
    """
    e = k.takers[1 if sign > 0.0 else 0]
    for i in range(t.n):
        if t.y[i] == sign and t.alpha[i] > 0.0 and (k.inner < 0 or i == k.inner):
            left.span[i] = max(diag[i] + diag[e] - 2.0 * row[i], 0.0)
            # The intercept moves until the entering vector lies on its margin.
            moved = t.f[i] + t.edge[e] - t.f[e]
            left.value[i] = moved - sign * t.alpha[i] * left.span[i]


def enters(t, sign, apart):
    """The vector that takes over from one with this label; -1 if none can."""
    found: cython.Py_ssize_t = -1
    movable: cython.bint
    most = -INFINITY
    for i in range(t.n):
        movable = t.alpha[i] < t.C[i] if t.y[i] == sign else t.alpha[i] > 0.0
        asks = sign * (t.edge[i] - t.f[i])
        if movable and i != apart and asks > most:
            found, most = i, asks
    return found


def count_classes(t, positive, negative):
    """How many rows of each class take part."""
    positive[0] = negative[0] = 0
    for i in range(t.n):
        if t.C[i] > 0.0:
            if t.y[i] > 0.0:
                positive[0] += 1
            else:
                negative[0] += 1


def set_last(t, left):
    """Without the only member of a class only the other class is left."""
    positive: cython.Py_ssize_t
    negative: cython.Py_ssize_t
    count_classes(t, cython.address(positive), cython.address(negative))
    for i in range(t.n):
        if t.C[i] > 0.0 and (positive if t.y[i] > 0.0 else negative) == 1:
            left.value[i] = -t.y[i]


# As Python sees it --------------------------------------------------------------------------------


def leave_out(
    solution,
    first,
    squared: cython.const[cython.double][::1],
    diagonal: cython.const[cython.double][::1],
    row_of,
):
    """Squared spans of the rows of a DualSolution, and their left-out values.

    Parameters
    ----------
    solution : DualSolution
    first : ndarray of int
        For every row, the first one equal to it, with the same label.
    squared : ndarray of shape (l,)
        Squared distances of the points of support vectors from the hull, at these first rows.
    diagonal : ndarray of shape (l,)
    row_of : callable
        The kernel values of a row, from its number.
    """
    t: Trained
    k: Kinds
    left: Left
    memory: Scratch
    arrays = point_to_solution(cython.address(t), solution, first)  # noqa: F841
    if squared.shape[0] != t.n or diagonal.shape[0] != t.n:
        raise ValueError("All arrays must have a number for every row.")
    found = np.empty((2, t.n))
    values: cython.double[:, ::1] = found
    row: cython.const[cython.double][::1]
    left.span, left.value = cython.address(values[0, 0]), cython.address(values[1, 0])
    find_kinds(cython.address(t), cython.address(k))
    open_scratch(cython.address(memory))
    try:
        predict(
            cython.address(t), cython.address(squared[0]), cython.address(left),
            cython.address(memory),
        )  # fmt: skip
    finally:
        release_all(cython.address(memory))
    for side in range(2):
        if k.takers[side] >= 0:
            row = row_of(k.takers[side])
            if row.shape[0] != t.n:
                raise ValueError("A row must have a kernel value for every row.")
            take_over(
                cython.address(t), cython.address(k), 2.0 * side - 1.0, cython.address(diagonal[0]),
                cython.address(row[0]), cython.address(left),
            )  # fmt: skip
    set_last(cython.address(t), cython.address(left))
    return found[0], found[1]


def span_exists(solution):
    """Lemma 1 for every support vector of a DualSolution; False for all other rows."""
    t: Trained
    k: Kinds
    arrays = point_to_solution(cython.address(t), solution, None)  # noqa: F841
    exists = np.zeros(t.n, np.bool_)
    marks: cython.uchar[::1] = exists.view(np.uint8)
    find_kinds(cython.address(t), cython.address(k))
    for i in range(t.n):
        if t.alpha[i] > 0.0:
            marks[i] = has_span(cython.address(t), cython.address(k), i)
    return exists


def entering(solution, sign: cython.double, apart: idx = -1):
    """The vector that takes over the multiplier of a removed vector of label `sign`.

    Its signed multiplier must be free to move by `sign`; among those vectors it is the one
    that violates its margin most in that direction, or is closest to doing so.  `apart` is a
    vector to exclude; -1 is returned if there is none.
    """
    t: Trained
    arrays = point_to_solution(cython.address(t), solution, None)  # noqa: F841
    return enters(cython.address(t), sign, apart)
