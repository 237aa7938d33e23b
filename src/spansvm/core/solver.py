"""The solver as Python sees it: a quadratic program that descends, and what it is made of.

Arrays are C-ordered; numbers are float64, except for matrices, which may be float32; rows are
``np.intp``.  A factor travels as its parts: the matrix, the points, those that are kept, marks of
repeated ones, shift and ridge (:class:`spansvm.algebra.systems.Factor`).
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY
from cython.cimports.libc.string import memcpy
from cython.cimports.spansvm.core import (
    descent,
    factor,
    finish,
    hull,
    linalg,
    loops,
    moving,
    newton,
    problem,
)
from cython.cimports.spansvm.core.scratch import open_scratch, release_all

__all__ = [
    "Program",
    "add_rows",
    "factorise",
    "fill_submatrix",
    "finished_gap",
    "hull_distances",
    "invert",
    "keeps_sum",
    "kkt_gap",
    "middle_of_interval",
    "move_bounds",
    "renew_gradient",
    "restore_sum",
    "rounding_level",
]


# Between arrays and structures --------------------------------------------------------------------


def point_to(matrix, values):
    """Let a matrix be that of an array."""
    wide: cython.const[cython.double][:, ::1]
    narrow: cython.const[cython.float][:, ::1]
    matrix.wide, matrix.narrow, matrix.width = cython.NULL, cython.NULL, values.shape[1]
    if values.dtype == np.float32:
        narrow = values
        matrix.narrow = cython.cast(cython.p_float, cython.address(narrow[0, 0]))
    else:
        wide = values
        matrix.wide = cython.cast(cython.p_double, cython.address(wide[0, 0]))
    return 0


def _point(p, x, g, lo, hi):
    """Let a problem be at this point."""
    own: cython.const[cython.double][::1] = x
    gradient: cython.const[cython.double][::1] = g
    below: cython.const[cython.double][::1] = lo
    above: cython.const[cython.double][::1] = hi
    p.tube, p.n = INFINITY, own.shape[0]
    if gradient.shape[0] != p.n or below.shape[0] != p.n or above.shape[0] != p.n:
        raise ValueError("A point, its gradient and its box must have the same length.")
    p.x = cython.cast(cython.p_double, cython.address(own[0]))
    p.g = cython.cast(cython.p_double, cython.address(gradient[0]))
    p.lo = cython.cast(cython.p_double, cython.address(below[0]))
    p.hi = cython.cast(cython.p_double, cython.address(above[0]))
    return 0


def borrow(f, parts):
    """Let a factor be that of these arrays, which must outlive it; it must not be changed."""
    matrix: cython.const[cython.double][:, ::1] = parts[0]
    inside: cython.const[idx][::1] = parts[1]
    kept: cython.const[idx][::1] = parts[2]
    repeated: cython.const[cython.uchar][::1] = parts[3].view(np.uint8)
    _clear(f)
    f.n_inside, f.n_kept = inside.shape[0], kept.shape[0]
    f.exists = matrix.shape[0] > 0
    if f.exists:
        f.matrix = cython.cast(cython.p_double, cython.address(matrix[0, 0]))
    if f.n_inside > 0:
        f.inside = cython.cast(cython.pointer(idx), cython.address(inside[0]))
        f.repeated = cython.cast(cython.p_uchar, cython.address(repeated[0]))
    if f.n_kept > 0:
        f.kept = cython.cast(cython.pointer(idx), cython.address(kept[0]))
    f.shift, f.ridge = parts[4], parts[5]
    return 0


def _clear(f):
    """A factor that has no memory yet."""
    f.matrix, f.inside, f.kept, f.repeated = cython.NULL, cython.NULL, cython.NULL, cython.NULL
    f.n_inside = f.n_kept = f.room = f.entries = 0
    f.exists, f.shift, f.ridge = False, 0.0, 0.0


def parts_of(f):
    """The parts of a factor, as arrays of their own."""
    n = f.n_kept if f.exists else 0
    matrix, inside, kept = (
        np.empty((n, n)),
        np.empty(f.n_inside, np.intp),
        np.empty(f.n_kept, np.intp),
    )
    repeated = np.empty(f.n_inside, np.bool_)
    values: cython.double[:, ::1] = matrix
    points: idx[::1] = inside
    covered: idx[::1] = kept
    marks: cython.uchar[::1] = repeated.view(np.uint8)
    if n > 0:
        memcpy(cython.address(values[0, 0]), f.matrix, n * n * cython.sizeof(cython.double))
    for a in range(f.n_inside):
        points[a], marks[a] = f.inside[a], f.repeated[a]
    for a in range(f.n_kept):
        covered[a] = f.kept[a]
    return matrix, inside, kept, repeated, f.shift, f.ridge


# The program --------------------------------------------------------------------------------------


@cython.cclass
class Program:
    """A quadratic program and a feasible point of it, which moves down.

    Parameters
    ----------
    K, diag : ndarray
        The matrix and its diagonal.
    lo, hi : ndarray
        The box.
    x, g : ndarray
        The point and its gradient; both are overwritten.
    flat : float
        Curvature below which a pair of variables counts as flat.

    Attributes
    ----------
    stalled : bool
        Whether rounding prevents further progress.
    indefinite : bool
        Whether negative curvature was met.
    """

    def __init__(self, K, diag, lo, hi, x, g, flat):
        diagonal: cython.const[cython.double][::1] = diag
        if not (x.flags.writeable and g.flags.writeable):
            raise ValueError("The point and its gradient must be writable.")
        _point(cython.address(self.p), x, g, lo, hi)
        point_to(cython.address(self.p.K), K)
        if K.shape[0] != self.p.n or K.shape[1] != self.p.n or diagonal.shape[0] != self.p.n:
            raise ValueError("The matrix and its diagonal must have the size of the point.")
        self.p.diag = cython.address(diagonal[0])
        self.p.flat, self.p.scratch = flat, cython.address(self.memory)
        self._held = K, diag, lo, hi, x, g

    def __dealloc__(self):
        release_all(cython.address(self.memory))

    @property
    def stalled(self):
        """Whether rounding prevents further progress."""
        return bool(self.p.stalled)

    @property
    def indefinite(self):
        """Whether negative curvature was met."""
        return bool(self.p.indefinite)

    def settle(self, c: cython.const[cython.double][::1], tol: cython.double, max_iter: idx):
        """Descend until the KKT gap is at most `tol`; returns the iterations used and the gap.

        The gradient is recomputed where rounding may have moved it; `c` is its constant part.
        """
        iterations: idx = 0
        gap: cython.double = 0.0
        constant = cython.address(c[0])
        with cython.nogil:
            descent.settle(
                cython.address(self.p), constant, tol, max_iter, cython.address(iterations),
                cython.address(gap),
            )  # fmt: skip
        return iterations, gap

    def finish(self, known=None):
        """Finish a solution in place; returns the gap and the parts of the factor, or None.

        `known` is the factor of the free variables of a similar problem; it is reused if they are
        the same.
        """
        own: factor.Factor
        other: factor.Factor
        gap: cython.double = 0.0
        _clear(cython.address(own))
        try:
            if known is not None:
                borrow(cython.address(other), known)
                factor.copy_factor(cython.address(own), cython.address(other))
            with cython.nogil:
                finish.finish(
                    cython.address(self.p), cython.address(own), cython.NULL, cython.address(gap)
                )
            return gap, parts_of(cython.address(own))
        finally:
            factor.discard(cython.address(own))

    def snap(self):
        """Put variables that rounding left just inside their bounds on them; returns the gap."""
        gap: cython.double = 0.0
        problem.snap(cython.address(self.p), cython.address(gap))
        return gap

    def sweep(self, tol: cython.double, max_iter: idx):
        """Steps of two variables each; returns their number and the gap."""
        s: descent.Sweep
        with cython.nogil:
            descent.sweep(cython.address(self.p), tol, max_iter, cython.address(s))
        return s.steps, s.top + s.bottom

    def newton(self, free: cython.const[idx][::1]):
        """Move to the minimum over the free variables, or as far as the box allows."""
        slope: cython.double = 0.0
        newton.newton(
            cython.address(self.p), cython.address(free[0]), free.shape[0], cython.address(slope)
        )
        if slope < 0.0:
            newton.slide(cython.address(self.p), slope)

    def free(self):
        """The variables strictly inside their boxes."""
        index = np.empty(self.p.n, np.intp)
        view: idx[::1] = index
        return index[: problem.free_variables(cython.address(self.p), cython.address(view[0]))]


# Parts of it --------------------------------------------------------------------------------------


def add_rows(
    g: cython.double[::1],
    K,
    rows: cython.const[idx][::1],
    weights: cython.const[cython.double][::1],
):
    """``g += weights @ K[rows]``."""
    matrix: Matrix
    point_to(cython.address(matrix), K)
    if matrix.width != g.shape[0] or weights.shape[0] != rows.shape[0]:
        raise ValueError("Sums of rows need a weight for every row, and room for a row.")
    if rows.shape[0] == 0 or g.shape[0] == 0:
        return
    target, index, weight = (
        cython.address(g[0]),
        cython.address(rows[0]),
        cython.address(weights[0]),
    )
    with cython.nogil:
        loops.add_rows(target, cython.address(matrix), index, weight, rows.shape[0])


def fill_submatrix(K, rows: cython.const[idx][::1], part):
    """``part = K[rows][:, rows]``."""
    whole: Matrix
    target: Matrix
    point_to(cython.address(whole), K)
    point_to(cython.address(target), part)
    if rows.shape[0] == 0:
        return
    index = cython.address(rows[0])
    with cython.nogil:
        loops.copy_block(cython.address(whole), index, rows.shape[0], cython.address(target))


def restore_sum(K, x, g, lo, hi, total: cython.double):
    """Make a boxed `x` sum to `total`, first moving the variables whose gradient favours it."""
    p: Problem
    _point(cython.address(p), x, g, lo, hi)
    point_to(cython.address(p.K), K)
    return problem.restore_sum(cython.address(p), total)


def renew_gradient(K, x, g, c: cython.const[cython.double][::1]):
    """``g = Kx + c``; the constant part last, as it may be small compared with what cancels."""
    memory: Scratch
    open_scratch(cython.address(memory))
    p: Problem
    _point(cython.address(p), x, g, x, x)
    point_to(cython.address(p.K), K)
    p.scratch = cython.address(memory)
    constant = cython.address(c[0])
    try:
        with cython.nogil:
            problem.renew_gradient(cython.address(p), constant)
    finally:
        release_all(cython.address(memory))


def kkt_gap(x, g, lo, hi):
    """The violation of the KKT conditions; negative if they hold with room to spare."""
    p: Problem
    _point(cython.address(p), x, g, lo, hi)
    return problem.kkt_gap(cython.address(p))


def keeps_sum(x, total: cython.double):
    """Whether `x` sums to `total`, up to rounding."""
    p: Problem
    _point(cython.address(p), x, x, x, x)
    return bool(problem.keeps_sum(cython.address(p), total))


def middle_of_interval(x, g, lo, hi, tube: cython.double = INFINITY):
    """``b`` if no variable is free: the middle of the interval that the KKT conditions leave it.

    Variables at 0 may cross where their gradient is off by `tube`.
    """
    p: Problem
    _point(cython.address(p), x, g, lo, hi)
    p.tube = tube
    return problem.middle_of_interval(cython.address(p))


def finished_gap(x, diag):
    """The KKT gap at which a solution is as good as rounding lets it be."""
    p: Problem
    _point(cython.address(p), x, diag, x, x)
    p.diag = p.g
    return problem.finished_gap(cython.address(p))


def rounding_level(x, diag):
    """The KKT gap below which rounding of the gradient decides: ``eps sum_j |K_jj x_j|``."""
    p: Problem
    _point(cython.address(p), x, diag, x, x)
    p.diag = p.g
    return problem.rounding_level(cython.address(p))


def move_bounds(K, x, g, before, after, carried):
    """Move a solution in one box to a point of another with the same sum, in place.

    `carried` are the sums, shares and scales of both sides, which are brought up to date; zeros at
    the first step.
    """
    memory: Scratch
    open_scratch(cython.address(memory))
    p: Problem
    _point(cython.address(p), x, g, after[0], after[1])
    point_to(cython.address(p.K), K)
    p.scratch = cython.address(memory)
    old_lo: cython.const[cython.double][::1] = before[0]
    old_hi: cython.const[cython.double][::1] = before[1]
    sums: cython.double[:, ::1] = carried[0]
    shares: cython.double[:, ::1] = carried[1]
    scale: cython.double[::1] = carried[2]
    both: moving.Carried
    both.sums, both.shares = cython.address(sums[0, 0]), cython.address(shares[0, 0])
    both.scale = cython.address(scale[0])
    low, high = cython.address(old_lo[0]), cython.address(old_hi[0])
    try:
        with cython.nogil:
            moving.move_bounds(cython.address(p), low, high, cython.address(both))
    finally:
        release_all(cython.address(memory))


def factorise(K, inside: cython.const[idx][::1]):
    """The parts of the factor of some points; no matrix if the kernel is not semidefinite."""
    memory: Scratch
    open_scratch(cython.address(memory))
    f: factor.Factor
    matrix: Matrix
    _clear(cython.address(f))
    point_to(cython.address(matrix), K)
    points = cython.address(inside[0])
    try:
        with cython.nogil:
            factor.set_points(cython.address(f), points, inside.shape[0])
            factor.factorise(cython.address(f), cython.address(matrix), cython.address(memory))
        return parts_of(cython.address(f))
    finally:
        factor.discard(cython.address(f))
        release_all(cython.address(memory))


def invert(matrix: cython.const[cython.double][:, ::1]):
    """The inverse of a matrix from its Cholesky factor, a lower triangle."""
    n = matrix.shape[0]
    inverse = np.array(matrix)
    if n == 0:
        return inverse
    values: cython.double[:, ::1] = inverse
    target = cython.address(values[0, 0])
    with cython.nogil:
        linalg.lower_inverse(target, n, n)
        linalg.square_lower(target, n, n)
        for a in range(n):
            for b in range(a):
                target[b * n + a] = target[a * n + b]
    return inverse


def hull_distances(
    K,
    diagonal: cython.const[cython.double][::1],
    others: cython.const[idx][::1],
    known,
    squared: cython.double[::1],
):
    """Fill `squared` with squared distances from the hull of a factor's points.

    It is filled for `others` and for the points of the factor, each measured from the rest.
    """
    memory: Scratch
    open_scratch(cython.address(memory))
    p: Problem
    f: factor.Factor
    point_to(cython.address(p.K), K)
    p.diag, p.scratch = cython.address(diagonal[0]), cython.address(memory)
    borrow(cython.address(f), known)
    target = cython.address(squared[0])
    rows = cython.address(others[0]) if others.shape[0] > 0 else cython.NULL
    try:
        with cython.nogil:
            hull.fill_distances(cython.address(p), cython.address(f), rows, others.shape[0], target)
    finally:
        release_all(cython.address(memory))
