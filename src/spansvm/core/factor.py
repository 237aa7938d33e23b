"""The linear system of the in-bound vectors I, ``[[K_II, 1], [1', 0]]``, as far as it is compiled.

Two eliminations, for two uses (a third, for removals, is in :mod:`spansvm.algebra.systems`):

* :func:`factorise`, Cholesky of ``K_II`` with a number added to all entries.  It is done once per
  trained machine and kept with it.  If ``K_II`` is nearly singular, repeated points are included
  once and a ridge of one of two sizes is added.
* :func:`ridged_factor`, for a Newton step while the free variables still change from step to
  step: the direction is checked anyway, so one small ridge and no second attempt.

Adding the same number to all entries of K changes neither distances nor moves with ``sum = 0``;
it lifts the points off the origin, as K_II may be singular even if the points are affinely
independent, such as d + 1 points under a linear kernel.
"""

import cython
from cython.cimports.libc.math import INFINITY
from cython.cimports.libc.stdlib import free, realloc
from cython.cimports.libc.string import memcpy
from cython.cimports.spansvm.core.linalg import (
    cholesky,
    cholesky_inverse,
    cholesky_solve,
    lower_inverse,
    square_lower,
)
from cython.cimports.spansvm.core.loops import add_rows, add_vector, eliminate, gather, sum_of
from cython.cimports.spansvm.core.problem import entry
from cython.cimports.spansvm.core.scratch import doubles, flags, indices, release


def limits_of(K):
    """The thresholds for the precision of a matrix."""
    limits: Limits
    if K.wide:
        limits.twin, limits.regular, limits.ridge = 1e-12, 1e-9, 1e-10
        limits.large_ridge, limits.independent = 1e-7, 1e-11
    else:
        limits.twin, limits.regular, limits.ridge = 1e-6, 1e-5, 1e-6
        limits.large_ridge, limits.independent = 1e-4, 1e-5
    return limits


# Memory -------------------------------------------------------------------------------------------


def reserve(f, count):
    """Make room for so many points."""
    if count <= f.room:
        return 0
    inside = cython.cast(cython.pointer(idx), realloc(f.inside, count * cython.sizeof(idx)))
    f.inside = inside if inside else f.inside
    kept = cython.cast(cython.pointer(idx), realloc(f.kept, count * cython.sizeof(idx)))
    f.kept = kept if kept else f.kept
    repeated = cython.cast(cython.pointer(flag), realloc(f.repeated, count))
    f.repeated = repeated if repeated else f.repeated
    if not (inside and kept and repeated):
        with cython.gil:
            raise MemoryError
    f.room = count
    return 0


def _resize(f, entries):
    """Make room for so many entries of the matrix, which is lost."""
    if entries <= f.entries:
        return 0
    free(f.matrix)
    f.entries = 0
    f.matrix = cython.cast(
        cython.p_double, realloc(cython.NULL, entries * cython.sizeof(cython.double))
    )
    if not f.matrix:
        with cython.gil:
            raise MemoryError
    f.entries = entries
    return 0


def discard(f):
    """Give its memory back."""
    free(f.matrix)
    free(f.inside)
    free(f.kept)
    free(f.repeated)
    f.matrix, f.inside, f.kept, f.repeated = cython.NULL, cython.NULL, cython.NULL, cython.NULL
    f.n_inside = f.n_kept = f.room = f.entries = 0
    f.exists = False


def set_points(f, points, count):
    """Set the points, without a factor of them."""
    reserve(f, count)
    for a in range(count):
        f.inside[a] = f.kept[a] = points[a]
        f.repeated[a] = False
    f.n_inside = f.n_kept = count
    f.exists, f.shift, f.ridge = False, 0.0, 0.0
    return 0


def copy_factor(f, other):
    """Make it equal to another."""
    n = other.n_kept
    set_points(f, other.inside, other.n_inside)
    for a in range(other.n_inside):
        f.repeated[a] = other.repeated[a]
    for a in range(n):
        f.kept[a] = other.kept[a]
    f.n_kept, f.exists, f.shift, f.ridge = n, other.exists, other.shift, other.ridge
    if other.exists:
        _resize(f, n * n)
        memcpy(f.matrix, other.matrix, n * n * cython.sizeof(cython.double))
    return 0


def is_of(f, points, count):
    """Whether these are its points, in the same order."""
    if f.n_inside != count:
        return False
    for a in range(count):  # noqa: SIM110
        if f.inside[a] != points[a]:
            return False
    return True


# The factor ---------------------------------------------------------------------------------------


def factorise(f, K, scratch):
    """Compute the factor of the points; there is none if the kernel is not semidefinite on them."""
    n = f.n_inside
    f.exists, f.ridge, f.n_kept = False, 0.0, n
    if n == 0:
        return 0
    shift = 0.0
    for a in range(n):
        shift += entry(K, f.inside[a], f.inside[a]) / n
        f.kept[a], f.repeated[a] = f.inside[a], False
    if shift < 0.0:
        return 0
    if shift == 0.0:  # perhaps all at the origin: any lift will do
        shift = 1.0
    f.shift = shift
    _resize(f, n * n)
    _fill_block(f.matrix, K, f.inside, n, shift)
    _set_twins_aside(f, limits_of(K).twin * shift, scratch)
    if f.n_kept < n:
        _fill_block(f.matrix, K, f.kept, f.n_kept, shift)
    f.exists = _regularise(f.matrix, K, f.kept, f.n_kept, shift, shift, cython.address(f.ridge))
    return 0


def _regularise(matrix, K, points, n, shift, scale, ridge):
    """Factor of ``matrix = K[points, points] + shift`` with the smallest ridge that it needs.

    The matrix is overwritten; False if the largest ridge is not enough.
    """
    limits = limits_of(K)
    added = 0.0
    for attempt in range(3):
        if attempt > 0:
            added = (limits.ridge if attempt == 1 else limits.large_ridge) * scale
            _fill_block(matrix, K, points, n, shift)
        for a in range(n):
            matrix[a * n + a] += added
        if cholesky(matrix, n):
            least = INFINITY
            for a in range(n):
                least = min(least, matrix[a * n + a] * matrix[a * n + a])
            if added > 0.0 or least >= limits.regular * scale:
                ridge[0] = added
                return True
    ridge[0] = INFINITY
    return False


def _fill_block(target, K, points, n, shift):
    """Lower triangle of ``K[points, points] + shift``."""
    for a in range(n):
        gather(K, points[a], points, a + 1, shift, target + a * n)


def _set_twins_aside(f, closest, scratch):
    """Fill `kept` with the first of each set of equal points; mark those that have an equal."""
    n, gram = f.n_inside, f.matrix
    mark = scratch.count
    place = indices(scratch, n)  # of those that are kept
    count: cython.Py_ssize_t = 0
    for a in range(n):
        row, own = gram + a * n, gram[a * n + a] - closest
        first = True
        for k in range(count):
            b = place[k]
            if own + gram[b * n + b] <= 2.0 * row[b]:
                f.repeated[a] = f.repeated[b] = True
                first = False
                break
        if first:
            place[count], f.kept[count] = a, f.inside[a]
            count += 1
    f.n_kept = count
    release(scratch, mark)
    return 0


def is_regular(f):
    """Whether it covers all its points, without a ridge, and is accurate enough for an inverse."""
    if not f.exists or f.n_kept != f.n_inside or f.ridge > 0.0:
        return False
    n = f.n_kept
    for a in range(n):
        pivot = f.matrix[a * n + a]
        if not pivot * pivot >= 1e-5 * f.shift:
            return False
    return True


# Inverses -----------------------------------------------------------------------------------------


def invert(f, inverse):
    """Fill the lower triangle of `inverse` with the inverse of the shifted Gram matrix."""
    n = f.n_kept
    for a in range(n):
        memcpy(inverse + a * n, f.matrix + a * n, (a + 1) * cython.sizeof(cython.double))
    lower_inverse(inverse, n, n)
    square_lower(inverse, n, n)


def project(P, weights, n):
    """Project an inverse, given by its lower triangle, on ``sum = 0``, and fill the upper one.

    `weights` becomes its border.
    """
    total = 0.0
    for a in range(n):
        weights[a] = 0.0
    for a in range(n):
        row = P + a * n
        add_vector(weights, 1.0, row, a)
        weights[a] += sum_of(row, a + 1)
    for a in range(n):
        total += weights[a]
    for a in range(n):
        add_vector(P + a * n, -weights[a] / total, weights, a + 1)
    for a in range(n):
        for b in range(a):
            P[b * n + a] = P[a * n + b]
    for a in range(n):
        weights[a] /= total


def ridged_factor(K, points, n, scratch):
    """The factor of the shifted block of some points, with a small ridge; from the scratch.

    NULL if the block is not positive definite.
    """
    shift = 0.0
    for a in range(n):
        shift += entry(K, points[a], points[a]) / n
    P = doubles(scratch, n * n)
    _fill_block(P, K, points, n, shift)
    for a in range(n):
        P[a * n + a] += 1e-10 * shift
    return P if shift > 0.0 and cholesky(P, n) else cython.NULL


def to_projected(P, n, scratch):
    """Overwrite a factor with the inverse of the bordered system, without the border.

    With ``u = K_ff^-1 1`` that is ``K_ff^-1 - uu' / sum(u)``.  0 if rounding has spoilt it.
    """
    mark = scratch.count
    u, every = doubles(scratch, n), flags(scratch, n)
    cholesky_inverse(P, n)
    total = 0.0
    for a in range(n):
        u[a], every[a] = sum_of(P + a * n, n), True
        total += u[a]
    if total > 0.0:
        eliminate(P, u, 1.0 / total, every, n)
    release(scratch, mark)
    return total > 0.0


def newton_solve(p, f):
    """Move the points of a factor, with ``sum = 0``, to where their gradients are equal.

    Returns 0, without a move, if that is outside the box.
    """
    n, points = f.n_kept, f.kept
    mark = p.scratch.count
    rows, move = doubles(p.scratch, 2 * n), doubles(p.scratch, n)
    for a in range(n):
        rows[a], rows[n + a] = p.g[points[a]], 1.0
    cholesky_solve(f.matrix, n, rows, 2)
    total, ones = 0.0, 0.0
    for a in range(n):
        total += rows[a]
        ones += rows[n + a]
    left = 0.0
    for a in range(n):
        move[a] = rows[n + a] * (total / ones) - rows[a]
        left += move[a]
    fits = True
    for a in range(n):
        move[a] -= left / n
        i = points[a]
        if not (p.lo[i] < p.x[i] + move[a] and p.x[i] + move[a] < p.hi[i]):
            fits = False
            break
    if fits:
        for a in range(n):
            p.x[points[a]] += move[a]
        add_rows(p.g, cython.address(p.K), points, move, n)
    release(p.scratch, mark)
    return fits
