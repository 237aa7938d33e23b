# The linear system of the in-bound vectors.

from .structs cimport Matrix, flag, idx
from .problem cimport Problem
from .scratch cimport Scratch

# Thresholds for equal points and for regular matrices, by precision: fractions of the mean diagonal
# entry; the last, of the largest.
ctypedef struct Limits:
    double twin  # squared distance below which points are the same
    double regular  # smallest squared pivot of a factor without a ridge
    double ridge  # added to the diagonal at the second attempt
    double large_ridge  # and at the third
    double independent  # smallest squared distance of an independent vector from the hull of others

# Cholesky factor of the shifted Gram matrix of some points, and how it was computed.
ctypedef struct Factor:
    double* matrix  # its lower triangle, n_kept x n_kept
    idx* inside  # the points
    idx* kept  # those that the factor covers: each set of equal points once
    flag* repeated  # which of the points have an equal
    idx n_inside
    idx n_kept
    double shift  # added to all entries
    double ridge  # added to the diagonal
    bint exists  # whether there is a factor
    idx room  # points, and entries of the matrix, that there is memory for
    idx entries

cdef Limits limits_of(const Matrix* K) noexcept nogil
cdef int reserve(Factor* f, idx count) except -1 nogil
cdef void discard(Factor* f) noexcept nogil
cdef int set_points(Factor* f, const idx* points, idx count) except -1 nogil
cdef int copy_factor(Factor* f, const Factor* other) except -1 nogil
cdef bint is_of(const Factor* f, const idx* points, idx count) noexcept nogil
cdef int factorise(Factor* f, const Matrix* K, Scratch* scratch) except -1 nogil
cdef bint is_regular(const Factor* f) noexcept nogil
cdef void invert(const Factor* f, double* inverse) noexcept nogil
cdef void project(double* P, double* weights, idx n) noexcept nogil
cdef double* ridged_factor(
    const Matrix* K, const idx* points, idx n, Scratch* scratch
) except? NULL nogil
cdef int to_projected(double* P, idx n, Scratch* scratch) except -1 nogil
cdef int newton_solve(Problem* p, const Factor* f) except -1 nogil

cdef int _resize(Factor* f, idx entries) except -1 nogil
cdef void _fill_block(
    double* target, const Matrix* K, const idx* points, idx n, double shift
) noexcept nogil
cdef int _set_twins_aside(Factor* f, double closest, Scratch* scratch) except -1 nogil
cdef bint _regularise(
    double* matrix, const Matrix* K, const idx* points, idx n, double shift, double scale,
    double* ridge
) noexcept nogil
