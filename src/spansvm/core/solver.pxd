# The solver as Python sees it.

from .factor cimport Factor
from .structs cimport Matrix, idx
from .problem cimport Problem
from .scratch cimport Scratch

cdef class Program:
    cdef Problem p
    cdef Scratch memory
    cdef object _held  # the arrays that the problem points to

cdef int point_to(Matrix* matrix, object values) except -1
cdef int borrow(Factor* f, object parts) except -1
cdef object parts_of(const Factor* f)

cdef int _point(Problem* p, object x, object g, object lo, object hi) except -1
cdef void _clear(Factor* f) noexcept
