"""Leaving out vectors exactly: single rows, and several at once.

The path from a solution (:mod:`spansvm.core.walk`) is followed to its end, where the changes are
read off (:mod:`spansvm.core.ending`).
"""

import cython
import numpy as np
from cython.cimports.libc.math import NAN, fabs
from cython.cimports.spansvm.core.ending import ASTRAY, finish_path, stop_driven, want_to_stop
from cython.cimports.spansvm.core.loops import weighted_differences
from cython.cimports.spansvm.core.problem import EQUAL_SUMS, entry
from cython.cimports.spansvm.core.scratch import Scratch, open_scratch, release_all
from cython.cimports.spansvm.core.solver import point_to
from cython.cimports.spansvm.core.structs import Matrix
from cython.cimports.spansvm.core.system import check_points
from cython.cimports.spansvm.core.tableau import need_rows, set_up
from cython.cimports.spansvm.core.walk import (
    begin,
    follow_path,
    open_paths,
    put_back,
    set_column,
    set_vertex,
)

__all__ = ["Paths"]


def remove_row(p, q, rest, sums, number, found):
    """Remove one row of a point, of whose bound `rest` remains; 0 if that is given up.

    `sums` are, for every vector, the sums of its kernel values with all of `number` instances; NULL
    if the growth of the others is not wanted.  Afterwards the path is again at its beginning;
    `met` and `astray` are still those of its end.
    """
    leaving: Leaving
    lo: cython.double = 0.0
    hi: cython.double = 0.0
    point: cython.Py_ssize_t = q
    if p.vertex.hi[q] > 0.0:
        hi = rest
    else:
        lo = -rest
    leaving.points, leaving.count = cython.address(point), 1
    leaving.lo, leaving.hi = cython.address(lo), cython.address(hi)
    found.own = found.others = NAN
    p.level = sums[q] / number if sums else entry(cython.address(p.T.K), q, q)
    done = begin(p, cython.address(leaving))
    if done and p.speed > 0.0:
        set_column(p, cython.address(leaving))
        done = follow_path(p)
    if done:
        stop_driven(p, cython.address(leaving))
        finish_path(p, cython.address(leaving))
        _grow(p, q, sums, number, found)
        if not p.astray <= ASTRAY * max(1.0, fabs(p.vertex.r[q] + found.own)):
            found.own = found.others = NAN
            done = 0
        else:
            found.own += p.middle
            found.others += p.middle
    put_back(p, cython.address(leaving))
    return done


def _grow(p, q, sums, number, found):
    """How the value of a vector, and the mean value of the others, change along a path."""
    own = weighted_differences(cython.address(p.T.K), q, p.moved, p.moves, p.n_moved, p.level)
    found.own, found.others = own + p.intercept, 0.0
    if not sums:
        return
    total = 0.0  # of the growth of all, without the intercept; the changes sum to 0
    for k in range(p.n_moved):
        total += (sums[p.moved[k]] / number - p.level) * p.moves[k]
    found.others = (number * total - own) / max(number - 1.0, 1.0) + p.intercept


def remove_group(p, leaving):
    """Remove several rows; 0 if that is given up.

    The changes are then in `moved`, `moves`, `intercept` and `middle`.
    """
    done = begin(p, leaving)
    if done and p.speed <= EQUAL_SUMS * p.reach:
        done = 0
    if done:
        first = leaving.points[0]
        p.level = entry(cython.address(p.T.K), first, first)
        set_column(p, leaving)
        done = follow_path(p)
    if done:
        stop_driven(p, leaving)
        if want_to_stop(p, leaving):
            finish_path(p, leaving)
        else:
            done = 0
    if done and not p.astray <= ASTRAY:
        done = 0
    put_back(p, leaving)
    return done


class Paths:
    """Removals from one solution; what they share is computed once.

    Parameters
    ----------
    K : ndarray of shape (l, l)
        The Gram matrix.
    vertex : Vertex
        The solution: its free vectors are independent, and equal rows are merged.
    system : Bordered
        The inverse for its free vectors.
    """

    def __init__(self, K, vertex, system):
        free: cython.Py_ssize_t[::1] = np.array(vertex.free, dtype=np.intp)
        projected: cython.double[:, ::1] = np.ascontiguousarray(system.projected)
        weights: cython.double[::1] = np.ascontiguousarray(system.weights)
        x: cython.double[::1] = np.ascontiguousarray(vertex.x)
        r: cython.double[::1] = np.ascontiguousarray(vertex.residual)
        lo: cython.double[::1] = np.ascontiguousarray(vertex.lo)
        hi: cython.double[::1] = np.ascontiguousarray(vertex.hi)
        matrix: Matrix
        n, size = x.shape[0], free.shape[0]
        if not (r.shape[0] == n and lo.shape[0] == n and hi.shape[0] == n and K.shape == (n, n)):
            raise ValueError("A vertex must have numbers for every row of the matrix.")
        if not (size > 0 and weights.shape[0] == size and system.projected.shape == (size, size)):
            raise ValueError("The inverse must be that of the free vectors.")
        check_points(cython.address(free[0]), size, n)
        point_to(cython.address(matrix), K)
        self._arrays = (K, free, projected, weights, x, r, lo, hi)
        scratch, s, v = (
            cython.address(self._scratch), cython.address(self._system),
            cython.address(self._vertex),
        )  # fmt: skip
        s.points, s.size = cython.address(free[0]), free.shape[0]
        s.projected, s.weights = cython.address(projected[0, 0]), cython.address(weights[0])
        v.x, v.r = cython.address(x[0]), cython.address(r[0])
        v.lo, v.hi = cython.address(lo[0]), cython.address(hi[0])
        v.tube = vertex.tube
        release_all(scratch)
        set_up(cython.address(self._tableau), cython.address(matrix), s, scratch)
        set_vertex(v, cython.address(self._tableau), scratch)

    def __dealloc__(self):
        release_all(cython.address(self._scratch))

    def follow_rows(
        self,
        points: cython.Py_ssize_t[::1],
        rest: cython.double[::1],
        sums: cython.double[::1],
        number: cython.double,
    ):
        """Remove one row of each of some points; of their bounds, `rest` remains to equal rows.

        `sums` are, for every vector, the sums of its kernel values with all of `number` instances.

        Returns
        -------
        own, others : ndarray
            The change of the value of the point, and the mean change of those of the others; NaN
            where the path was given up.
        error : float
            The largest distance of a free vector from its margin at the end of a path.
        """
        path: Path
        found: Growth
        scratch: Scratch
        open_scratch(cython.address(scratch))
        count = points.shape[0]
        result = np.full((2, count), np.nan)
        values: cython.double[:, ::1] = result
        error = 0.0
        if count == 0:
            return result[0], result[1], 0.0
        if rest.shape[0] != count or sums.shape[0] != self._tableau.n:
            raise ValueError("There must be a rest for every point, and a sum for every row.")
        check_points(cython.address(points[0]), count, self._tableau.n)
        T, v = cython.address(self._tableau), cython.address(self._vertex)
        try:
            with cython.nogil:
                need_rows(T, cython.address(points[0]), count, cython.address(scratch))
                open_paths(cython.address(path), T, v, cython.address(scratch))
                for k in range(count):
                    if remove_row(
                        cython.address(path), points[k], rest[k], cython.address(sums[0]), number,
                        cython.address(found),
                    ):  # fmt: skip
                        error = max(error, path.astray)
                    values[0, k], values[1, k] = found.own, found.others
        finally:
            release_all(cython.address(scratch))
        return result[0], result[1], error

    def follow_group(
        self,
        points: cython.Py_ssize_t[::1],
        lo: cython.double[::1],
        hi: cython.double[::1],
    ):
        """Remove several rows at once, of whose points the boxes `lo` to `hi` remain.

        Returns the vectors whose multipliers change, by how much they do, and the change of the
        intercept; None if the path was given up.
        """
        path: Path
        leaving: Leaving
        scratch: Scratch
        open_scratch(cython.address(scratch))
        if points.shape[0] == 0:
            return None
        if lo.shape[0] != points.shape[0] or hi.shape[0] != points.shape[0]:
            raise ValueError("There must be a box for every point.")
        check_points(cython.address(points[0]), points.shape[0], self._tableau.n)
        leaving.points, leaving.count = cython.address(points[0]), points.shape[0]
        leaving.lo, leaving.hi = cython.address(lo[0]), cython.address(hi[0])
        try:
            with cython.nogil:
                open_paths(
                    cython.address(path), cython.address(self._tableau),
                    cython.address(self._vertex), cython.address(scratch),
                )  # fmt: skip
                done = remove_group(cython.address(path), cython.address(leaving))
            if not done:
                return None
            moved, moves = np.empty(path.n_moved, dtype=np.intp), np.empty(path.n_moved)
            to_rows: cython.Py_ssize_t[::1] = moved
            to_moves: cython.double[::1] = moves
            for k in range(path.n_moved):
                to_rows[k], to_moves[k] = path.moved[k], path.moves[k]
            return moved, moves, path.intercept + path.middle
        finally:
            release_all(cython.address(scratch))
