# The linear system of the in-bound vectors.

from .loops cimport Matrix, flag, idx
from .problem cimport Problem
from .scratch cimport Scratch

# Thresholds for equal points and for regular matrices, by precision: fractions of the mean diagonal
# entry; the last, of the largest.
ctypedef struct Limits:
    double twin  # squared distance below which points are the same
    double regular  # smallest squared pivot of a factor without a ridge
    double ridge  # number added to the diagonal at the second attempt
    double large_ridge  # and at the third
    double independent  # smallest squared distance of an independent vector from the hull of others

# Cholesky factor of the shifted Gram matrix of some points, and how it was computed.
ctypedef struct Factor:
    double* matrix  # its lower triangle, n_kept x n_kept; NULL if there is none
    idx* inside  # the points
    idx* kept  # those that the factor covers: each set of equal points once
    flag* repeated  # which of the points have an equal
    idx n_inside
    idx n_kept
    double shift  # added to all entries
    double ridge  # added to the diagonal
    idx room  # how many points there is memory for

cdef Limits limits_of(const Matrix* K) noexcept nogil

# A factor owns its memory.
cdef int prepare(Factor* f, idx count) except -1 nogil
cdef void discard(Factor* f) noexcept nogil
cdef bint covers(const Factor* f, const idx* points, idx count) noexcept nogil

# Compute the factor of the points f.inside[:f.n_inside]; f.matrix is NULL where the kernel is not
# semidefinite on them.
cdef int factorise(Factor* f, const Matrix* K, Scratch* scratch) except -1 nogil
# Whether it covers all its points, without a ridge, and is well-conditioned.
cdef bint is_regular(const Factor* f) noexcept nogil
# The inverse of the matrix, in the lower triangle of `inverse` (n_kept x n_kept).
cdef void invert(const Factor* f, double* inverse) noexcept nogil
# Project an inverse, given by its lower triangle, on sum = 0, fill the upper one, and its border.
cdef void project(double* P, double* weights, idx n) noexcept nogil

cdef double* ridged_inverse(const Matrix* K, const idx* points, idx n, Scratch* scratch) except? NULL nogil
cdef int newton_solve(Problem* p, const Factor* f) except -1 nogil
