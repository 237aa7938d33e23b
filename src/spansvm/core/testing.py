"""Parts of the core that only other parts of it call, for tests of their own."""

import cython
import numpy as np
from cython.cimports.spansvm.core import inverse, linalg
from cython.cimports.spansvm.core.scratch import release_all
from cython.cimports.spansvm.core.solver import borrow, point_to

from . import solver

__all__ = [
    "CarriedInverse",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "lower_inverse",
    "lower_solve",
]


def cholesky(matrix: cython.double[:, ::1]):
    """:func:`spansvm.core.linalg.cholesky`, in place."""
    return bool(linalg.cholesky(cython.address(matrix[0, 0]), matrix.shape[0]))


def cholesky_inverse(factor: cython.double[:, ::1]):
    """:func:`spansvm.core.linalg.cholesky_inverse`, in place."""
    linalg.cholesky_inverse(cython.address(factor[0, 0]), factor.shape[0])


def cholesky_solve(factor: cython.double[:, ::1], rows: cython.double[:, ::1]):
    """:func:`spansvm.core.linalg.cholesky_solve`, in place."""
    linalg.cholesky_solve(
        cython.address(factor[0, 0]), factor.shape[0], cython.address(rows[0, 0]), rows.shape[0]
    )


def lower_solve(
    factor: cython.double[:, ::1], columns: cython.double[:, ::1], transposed: cython.bint
):
    """:func:`spansvm.core.linalg.lower_solve`, in place."""
    target = cython.address(columns[0, 0]) if columns.shape[1] else cython.NULL
    linalg.lower_solve(
        cython.address(factor[0, 0]), factor.shape[0], target, columns.shape[1], transposed
    )


def lower_inverse(factor: cython.double[:, ::1]):
    """:func:`spansvm.core.linalg.lower_inverse`, in place."""
    linalg.lower_inverse(cython.address(factor[0, 0]), factor.shape[0], factor.shape[1])


@cython.cclass
class CarriedInverse:
    """An inverse of some points of K; see :mod:`spansvm.core.inverse`."""

    def __init__(self, K, points):
        own: Factor
        diag = K.diagonal().copy()
        diagonal: cython.const[cython.double][::1] = diag
        parts = solver.factorise(K, points)
        self._held = K, diag
        point_to(cython.address(self.p.K), K)
        self.p.n, self.p.diag = K.shape[0], cython.address(diagonal[0])
        self.p.scratch = cython.address(self.memory)
        inverse.make_room(cython.address(self.v), K.shape[0])
        borrow(cython.address(own), parts)
        inverse.start_inverse(cython.address(self.v), cython.address(own))

    def __dealloc__(self):
        inverse.drop_inverse(cython.address(self.v))
        release_all(cython.address(self.memory))

    @property
    def accurate(self):
        """Whether it is accurate enough for distances."""
        return bool(self.v.accurate)

    @property
    def points(self):
        """Its points; none if there is no inverse."""
        return np.array([self.v.points[a] for a in range(self.v.size)], dtype=np.intp)

    @property
    def matrix(self):
        """The inverse."""
        n, width = self.v.size, self.v.room
        lower = np.array([self.v.M[a * width + b] for a in range(n) for b in range(n)])
        lower = np.tril(lower.reshape(n, n))
        return lower + np.tril(lower, -1).T

    def change(self, points: cython.const[idx][::1]):
        """Make it the inverse of other points."""
        inverse.change_points(
            cython.address(self.v), cython.address(self.p.K), cython.address(points[0]),
            points.shape[0], cython.address(self.memory),
        )  # fmt: skip

    def walk(
        self, x: cython.double[::1], g: cython.double[::1], lo: cython.double[::1],
        hi: cython.double[::1],
    ):  # fmt: skip
        """Move the points to their minimum, dropping each that meets its bound on the way."""
        self.p.x, self.p.g = cython.address(x[0]), cython.address(g[0])
        self.p.lo, self.p.hi = cython.address(lo[0]), cython.address(hi[0])
        inverse.walk(cython.address(self.v), cython.address(self.p))

    def distances(self, others: cython.const[idx][::1]):
        """Squared distances of others, and of the points, from the hull of the rest."""
        squared = np.zeros(self.p.n)
        target: cython.double[::1] = squared
        inverse.distances_by_inverse(
            cython.address(self.v), cython.address(self.p), cython.address(others[0]),
            others.shape[0], cython.address(target[0]),
        )  # fmt: skip
        return squared
