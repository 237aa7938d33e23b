# The inverse of the matrix of the in-bound vectors, carried from one solution to the next.

from .factor cimport Factor
from .structs cimport Matrix, idx
from .problem cimport Problem
from .scratch cimport Scratch

ctypedef struct Inverse:
    double* M  # the lower triangle of its first rows
    idx* points  # in any order
    idx size  # how many points it has; 0 if there is no inverse
    idx room  # and how many it may have: the length of a row of M
    double shift  # what was added to all entries of the matrix
    bint accurate  # enough for distances

cdef idx SMALLEST

cdef int make_room(Inverse* v, idx room) except -1 nogil
cdef void drop_inverse(Inverse* v) noexcept nogil
cdef void start_inverse(Inverse* v, const Factor* f) noexcept nogil
cdef int change_points(
    Inverse* v, const Matrix* K, const idx* free, idx count, Scratch* scratch
) except -1 nogil
cdef int walk(Inverse* v, Problem* p) except -1 nogil
cdef int distances_by_inverse(
    Inverse* v, const Problem* p, const idx* others, idx count, double* squared
) except -1 nogil

cdef double _entry(const Inverse* v, idx a, idx b) noexcept nogil
cdef bint _passes(Inverse* v, double pivot) noexcept nogil
cdef int _remove(Inverse* v, idx n, const idx* leaving, idx count, Scratch* scratch) except -1 nogil
cdef void _close_gaps(Inverse* v, idx n, const idx* leaving, idx count) noexcept nogil
cdef int _append(
    Inverse* v, const Matrix* K, idx n, const idx* entering, idx count, Scratch* scratch
) except -1 nogil
cdef idx _follow(
    Inverse* v, Problem* p, double* products, double* move, double* dropped, idx* places,
    double* ends, idx n
) except -2 nogil
cdef void _sort(idx* values, idx count) noexcept nogil
