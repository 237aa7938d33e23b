"""The inverse of the in-bound vectors' system, from what is known of it; for removals and doubts.

It is that of :class:`~spansvm.algebra.systems.Bordered`, for well-conditioned matrices.
Differences of kernel values are exact where the values themselves are nearly equal.
"""

import cython
import numpy as np
from cython.cimports.libc.string import memcpy
from cython.cimports.spansvm.core.factor import (
    Factor,
    discard,
    factorise,
    invert,
    is_regular,
    project,
    set_points,
)
from cython.cimports.spansvm.core.scratch import doubles, indices
from cython.cimports.spansvm.core.solver import point_to


def check_points(points, count, n):
    """Raise an error unless all these are among n points."""
    for k in range(count):
        if not (points[k] >= 0 and points[k] < n):
            raise IndexError(f"{points[k]} is not one of {n} rows.")
    return 0


def point_to_solution(m, solution, first):
    """Let a machine be that of a DualSolution, without its matrix.

    Returns the arrays, which must outlive it.
    """
    y: cython.const[cython.double][::1] = np.ascontiguousarray(solution.y)
    C: cython.const[cython.double][::1] = np.ascontiguousarray(solution.C)
    edge: cython.const[cython.double][::1] = np.ascontiguousarray(solution.edge)
    alpha: cython.const[cython.double][::1] = np.ascontiguousarray(solution.alpha)
    f: cython.const[cython.double][::1] = np.ascontiguousarray(solution.decision)
    firsts: cython.const[idx][::1] = np.arange(y.shape[0]) if first is None else first
    n = y.shape[0]
    lengths = C.shape[0], edge.shape[0], alpha.shape[0], f.shape[0], firsts.shape[0]
    if min(lengths) != n or max(lengths) != n:
        raise ValueError("All arrays must have a number for every row.")
    check_points(cython.address(firsts[0]), n, n)
    m.n, m.y, m.C, m.alpha = n, cython.address(y[0]), cython.address(C[0]), cython.address(alpha[0])
    m.f, m.first = cython.address(f[0]), cython.address(firsts[0])
    m.edge, m.tube = cython.address(edge[0]), solution.tube
    return y, C, edge, alpha, f, firsts


def point_to_machine(m, K, solution, first):
    """The same with its matrix."""
    arrays = point_to_solution(m, solution, first)
    if K.shape[0] != m.n or K.shape[1] != m.n:
        raise ValueError("The matrix must have a row and a column for every label.")
    point_to(cython.address(m.K), K)
    return K, arrays


def merge_rows(m, scratch):
    """Set multipliers and boxes of the points of a machine from those of its rows."""
    n = m.n
    x, lo, hi = doubles(scratch, n), doubles(scratch, n), doubles(scratch, n)
    for i in range(n):
        x[i] = lo[i] = hi[i] = 0.0
    for i in range(n):
        q = m.first[i]
        x[q] += m.y[i] * m.alpha[i]
        if m.y[i] > 0.0:
            hi[q] += m.C[i]
        else:
            lo[q] -= m.C[i]
    m.x, m.lo, m.hi = x, lo, hi
    return 0


def _reserve(s, points, size, scratch):
    s.points, s.size = indices(scratch, size), size
    s.projected, s.weights = doubles(scratch, size * size), doubles(scratch, size)
    for a in range(size):
        s.points[a] = points[a]
    return 0


def from_factor(s, f, scratch):
    """The system of the points of a factor; none if that is ill-conditioned."""
    s.size = 0
    if f.n_inside == 0 or not is_regular(f):
        return 0
    _reserve(s, f.kept, f.n_kept, scratch)
    invert(f, s.projected)
    project(s.projected, s.weights, s.size)
    return 0


def from_inverse(s, inverse, width, points, size, scratch):
    """The same from the lower triangle of an inverse, with rows of length `width`."""
    _reserve(s, points, size, scratch)
    for a in range(size):
        memcpy(s.projected + a * size, inverse + a * width, (a + 1) * cython.sizeof(cython.double))
    project(s.projected, s.weights, size)
    return 0


def from_points(s, K, points, size, scratch):
    """The same for some points of which nothing is known."""
    f: Factor
    if size == 1:
        _reserve(s, points, 1, scratch)
        s.projected[0], s.weights[0] = 0.0, 1.0
        return 0
    f.matrix, f.inside, f.kept = cython.NULL, cython.NULL, cython.NULL
    f.repeated, f.room, f.entries = cython.NULL, 0, 0
    try:
        set_points(cython.address(f), points, size)
        factorise(cython.address(f), K, scratch)
        from_factor(s, cython.address(f), scratch)
    finally:
        discard(cython.address(f))
    return 0
