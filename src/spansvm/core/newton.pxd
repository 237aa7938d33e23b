# Newton steps on the free variables.

from .structs cimport flag, idx
from .problem cimport Problem

# A step over `size` variables: where each may go, where it went, and which have met no bound.
ctypedef struct Walk:
    idx size
    double* P  # the inverse of the free block projected on sum = 0
    bint is_factor  # or the factor of that block
    double* direction  # with room for as many numbers more, if it comes from the factor
    double* room_up
    double* room_down
    double* move
    flag* alive

cdef int newton(Problem* p, const idx* free, idx size, double* slope) except -1 nogil
cdef int slide(Problem* p, double before) except -1 nogil

cdef int _walk(Walk* w, Problem* p) except -1 nogil
cdef void _balance(double* values, const flag* alive, idx size) noexcept nogil
cdef double _point(Walk* w, const double* g, const idx* free) noexcept nogil
cdef bint _fits(const Walk* w) noexcept nogil
cdef double _slope_left(Walk* w, const double* g, const idx* free) noexcept nogil
cdef bint _slide_once(
    Problem* p, Walk* w, const idx* free, double* change, double before
) noexcept nogil
