"""Removals from one machine in one call: its tableau, and the paths of all rows.

For machines whose free vectors have a well-conditioned matrix, or one that is made free where none
is; others are left to :mod:`spansvm.machine.following`.
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY, NAN, fabs, isinf, sqrt
from cython.cimports.spansvm.core.loops import weighted_differences
from cython.cimports.spansvm.core.problem import EPSILON, EQUAL_SUMS, STALE, entry
from cython.cimports.spansvm.core.removal import Growth, remove_row
from cython.cimports.spansvm.core.scratch import (
    Scratch,
    doubles,
    indices,
    open_scratch,
    release,
    release_all,
)
from cython.cimports.spansvm.core.system import (
    check_points,
    from_points,
    merge_rows,
    point_to_machine,
)
from cython.cimports.spansvm.core.tableau import Tableau, need_rows, set_up
from cython.cimports.spansvm.core.walk import Path, Vertex, open_paths, set_vertex

__all__ = ["follow_rows_of"]


def follow_rows(m, known, sums, rows, count, found, scratch):
    """Decision values of the support vectors in `rows`, each from the machine without it.

    Parameters
    ----------
    known
        The inverse for the free points, if there are any and it is known; otherwise NULL.
    sums
        For every row, the sum of its kernel values with all rows that take part; NULL if the mean
        changes of other values are not wanted.

    Returns 0 if the machine is not one of those that can be followed here.
    """
    T: Tableau
    v: Vertex
    path: Path
    growth: Growth
    own: System
    n, mark, about = m.n, scratch.count, _look_at(m)
    r, free, points = doubles(scratch, n), indices(scratch, n), indices(scratch, count)
    n_free: cython.Py_ssize_t = 0
    for i in range(n):
        r[i] = m.f[i] - m.edge[i]
        if m.lo[i] < m.x[i] and m.x[i] < m.hi[i]:
            free[n_free] = i
            n_free += 1
    if about.rounding > STALE:
        _renew(m, free, n_free, r, scratch)
    offset = 0.0
    if n_free == 0:
        free[0], n_free, known = _adopt(m, r), 1, cython.NULL
        offset = r[free[0]]
        for i in range(n):
            r[i] -= offset
    if not known:
        from_points(cython.address(own), cython.address(m.K), free, n_free, scratch)
        known = cython.address(own)
    if known.size != n_free:
        release(scratch, mark)
        return 0
    set_up(cython.address(T), cython.address(m.K), known, scratch)
    v.x, v.r, v.lo, v.hi, v.tube = m.x, r, m.lo, m.hi, m.tube
    set_vertex(cython.address(v), cython.address(T), scratch)
    open_paths(cython.address(path), cython.address(T), cython.address(v), scratch)
    number: cython.Py_ssize_t = 0
    for k in range(count):
        i = rows[k]
        q = m.first[i]
        found.decision[k], found.shift[k], found.met[k] = m.f[i], 0.0, True
        if _has_to_move(m, i):
            points[number] = q
            number += 1
    need_rows(cython.address(T), points, number, scratch)
    found.error = 0.0
    for k in range(count):
        i = rows[k]
        if not _has_to_move(m, i):
            continue
        q = m.first[i]
        done = remove_row(
            cython.address(path), q, _rest(m, i), sums, about.number, cython.address(growth)
        )
        found.decision[k] = found.shift[k] = NAN
        if done:
            found.error = max(found.error, path.astray)
            found.met[k] = path.met
            value = m.edge[i] + r[q] + growth.own
            if fabs(value) <= about.largest_value:
                found.decision[k], found.shift[k] = value, growth.others - offset
    release(scratch, mark)
    return 1


def _rest(m, i):
    """The bound of the rows that are equal to another one."""
    q = m.first[i]
    return max(m.hi[q] - m.lo[q] - m.C[i], 0.0)


def _has_to_move(m, i):
    """Whether equal rows have no room for all of a support vector's multiplier."""
    size = fabs(m.x[m.first[i]])
    return size > 0.0 and size - _rest(m, i) >= -EQUAL_SUMS * size


def _look_at(m):
    about: Whole
    about.number, about.most_kernel, about.rounding = 0.0, 0.0, 0.0
    objective, farthest = 0.0, 0.0
    for i in range(m.n):
        size = fabs(entry(cython.address(m.K), i, i))
        if m.C[i] > 0.0:
            about.number += 1.0
        about.most_kernel = max(about.most_kernel, size)
        about.rounding += EPSILON * m.alpha[i] * size
        objective += m.y[i] * m.alpha[i] * (m.edge[i] - 0.5 * m.f[i])
        farthest = max(farthest, fabs(m.edge[i]))
    # ||w||^2 / 2 without an instance is at most the objective with it, and |f| at most this.
    if not isinf(m.tube):
        farthest += m.tube
    most = farthest + 2.0 * sqrt(2.0 * max(objective, 0.0) * about.most_kernel)
    about.largest_value = 1.01 * most
    return about


def _renew(m, free, n_free, r, scratch):
    """Compute residuals anew: those of training keep the rounding errors of all its steps."""
    n, mark = m.n, scratch.count
    first = free[0] if n_free > 0 else 0
    rows, weights = indices(scratch, n), doubles(scratch, n)
    count: cython.Py_ssize_t = 0
    for i in range(n):
        if m.x[i] != 0.0:
            rows[count], weights[count] = i, m.x[i]
            count += 1
    off = 0.0
    for i in range(n):
        # They sum to 0.
        level = entry(cython.address(m.K), i, first)
        own = weighted_differences(cython.address(m.K), i, rows, weights, count, level) - m.edge[i]
        off += (own - r[i]) / n
        r[i] = own
    if n_free > 0:
        off = 0.0
        for a in range(n_free):
            off += r[free[a]] / n_free
    for i in range(n):
        r[i] -= off
    release(scratch, mark)
    return 0


def _adopt(m, r):
    """If no vector is free, the first one to reach its margin as the intercept moves."""
    best = INFINITY
    found: cython.Py_ssize_t = 0
    for i in range(m.n):
        if m.lo[i] < m.hi[i]:
            way = r[i] if m.x[i] < m.hi[i] else INFINITY
            if m.x[i] > m.lo[i]:
                way = min(way, -r[i])
            if way < best:
                best, found = way, i
    return found


def follow_rows_of(
    K,
    solution,
    first,
    sums: cython.const[cython.double][::1],
    rows: cython.const[cython.Py_ssize_t][::1],
):
    """Decision values of support vectors of a machine, each from the machine without it.

    Parameters
    ----------
    K : ndarray of shape (l, l)
    solution : DualSolution
    first : ndarray of int of shape (l,)
        For every row, the first one equal to it.
    sums : ndarray of shape (l,)
        For every row, the sum of its kernel values with all rows that take part.
    rows : ndarray of int
        Which rows leave.

    Returns
    -------
    decision, shift, met : ndarray
        The values; the mean changes of all others; whether a vector met its bound on the way.  NaN
        where the path was given up.
    error : float
        The largest distance of a free vector from its margin at the end of a path.

    None if the machine cannot be followed here.
    """
    m: Trained
    found: Followed
    scratch: Scratch
    arrays = point_to_machine(cython.address(m), K, solution, first)  # noqa: F841
    count = rows.shape[0]
    if sums.shape[0] != m.n:
        raise ValueError("There must be a sum of kernel values for every row.")
    decision, shift, met = np.empty(count), np.empty(count), np.empty(count, dtype=np.bool_)
    if count == 0:
        return decision, shift, met, 0.0
    check_points(cython.address(rows[0]), count, m.n)
    to_decision: cython.double[::1] = decision
    to_shift: cython.double[::1] = shift
    to_met: cython.uchar[::1] = met.view(np.uint8)
    found.decision, found.shift = cython.address(to_decision[0]), cython.address(to_shift[0])
    found.met, found.error = cython.address(to_met[0]), 0.0
    open_scratch(cython.address(scratch))
    try:
        with cython.nogil:
            merge_rows(cython.address(m), cython.address(scratch))
            followed = follow_rows(
                cython.address(m), cython.NULL, cython.address(sums[0]), cython.address(rows[0]),
                count, cython.address(found), cython.address(scratch),
            )  # fmt: skip
    finally:
        release_all(cython.address(scratch))
    return (decision, shift, met, found.error) if followed else None
