"""The inverse of the in-bound vectors' system, from what is known of it; for removals and doubts.

It is that of :class:`~spansvm._factor.Bordered`, for well-conditioned matrices.  Differences of
kernel values are exact where the values themselves are nearly equal.
"""

import cython
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
        for b in range(a + 1):
            s.projected[a * size + b] = inverse[a * width + b]
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
