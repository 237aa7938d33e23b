"""The small system of the vectors that changed between free and bound along a path.

Its matrix is their part of the swept tableau (:mod:`spansvm._removal`), symmetric and indefinite:
some left the free set, others joined it.  From turn to turn one vector joins the changed ones or
leaves them, so its inverse is bordered, or reduced, in quadratic time.  Where that is not possible
it is computed anew, by elimination with pivoting: while no vector is free the
system is singular.  Multipliers and residuals are scaled so that all entries are of order 1.
"""

from __future__ import annotations

import numpy as np

from ._compile import njit
from ._linalg import add_row

__all__ = ["forget_changed", "solve_changed"]


@njit
def _unit(T, q):
    root = np.sqrt(T.scale)
    return root if T.place[q] >= 0 else 1.0 / root


@njit
def _entry(T, p, q):
    """An entry of the scaled system."""
    value = T.rows[T.slot[p]][q] * _unit(T, p) * _unit(T, q)
    return -value if T.place[q] >= 0 else value


@njit
def solve_changed(T, changed, inverse, known, z):
    """Solve the system of the changed vectors, in place; False if it is singular.

    Parameters
    ----------
    T : Tableau
    changed : ndarray of int
    inverse, known : ndarray
        The inverse for the first ``known[0]`` of them, which is brought up to date.
    z : ndarray
        The right-hand side, to be overwritten.
    """
    size = changed.size
    if size == 0:
        return True
    if known[0] == size - 1 and size > 1:
        _border(T, changed, inverse, known)
    if known[0] != size and not _invert(T, changed, inverse, known):
        return False
    result = np.zeros(size)
    for a in range(size):
        if z[a] != 0.0:
            add_row(result, z[a] * _unit(T, changed[a]), inverse[a])
    for a in range(size):
        z[a] = result[a] * _unit(T, changed[a])
    return True


@njit
def _border(T, changed, inverse, known):
    """Add the last of the changed vectors to the inverse; nothing happens if it is singular."""
    size = changed.size - 1
    q = changed[size]
    column, lean = np.empty(size), np.zeros(size)
    for a in range(size):
        column[a] = _entry(T, q, changed[a])
    for a in range(size):
        add_row(lean, column[a], inverse[a])
    pivot = _entry(T, q, q)
    for a in range(size):
        pivot -= column[a] * lean[a]
    if not abs(pivot) > T.singular:
        return
    for a in range(size):
        row = inverse[a]
        weight = lean[a] / pivot
        for b in range(size):
            row[b] += weight * lean[b]
        row[size] = inverse[size, a] = -weight
    inverse[size, size] = 1.0 / pivot
    known[0] = size + 1


@njit
def _invert(T, changed, inverse, known):
    """Compute the inverse anew; False if the system is singular."""
    size = changed.size
    known[0] = 0
    A = np.empty((size, size))
    for a in range(size):
        for b in range(size):
            A[a, b] = _entry(T, changed[a], changed[b])
            inverse[a, b] = 1.0 if a == b else 0.0
    for a in range(size):
        best = a
        for b in range(a + 1, size):
            if abs(A[b, a]) > abs(A[best, a]):
                best = b
        if not abs(A[best, a]) > T.singular:
            return False
        if best != a:
            for c in range(size):
                A[a, c], A[best, c] = A[best, c], A[a, c]
                inverse[a, c], inverse[best, c] = inverse[best, c], inverse[a, c]
        own = A[a, a]
        for c in range(size):
            A[a, c] /= own
            inverse[a, c] /= own
        for b in range(size):
            factor = A[b, a]
            if b != a and factor != 0.0:
                for c in range(size):
                    A[b, c] -= factor * A[a, c]
                    inverse[b, c] -= factor * inverse[a, c]
    known[0] = size
    return True


@njit
def forget_changed(inverse, known, place, size, singular):
    """Take the vector at a place out of the inverse of `size` vectors; the last takes its place."""
    last = size - 1
    if known[0] != size or not abs(inverse[place, place]) > singular:
        known[0] = 0
        return
    own = inverse[place, place]
    row = inverse[place, :size].copy()
    for a in range(size):
        weight = row[a] / own
        target = inverse[a]
        for b in range(size):
            target[b] -= weight * row[b]
    if place != last:
        for a in range(size):
            inverse[place, a] = inverse[last, a]
        for a in range(size):
            inverse[a, place] = inverse[a, last]
    known[0] = last
