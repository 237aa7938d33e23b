# From a solution within tolerance to the vertex itself.

from .factor cimport Factor
from .inverse cimport Inverse
from .structs cimport idx
from .problem cimport Problem

cdef int finish(Problem* p, Factor* f, Inverse* inverse, double* gap) except -1 nogil

cdef int _know(
    Problem* p, Factor* f, Inverse* inverse, const idx* free, idx count
) except -1 nogil
cdef idx _violators(const Problem* p, double slack) noexcept nogil
cdef void _copy(double* target, const double* source, idx n) noexcept nogil
