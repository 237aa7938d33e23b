# Parts of the core that only other parts of it call, for tests.

from .factor cimport Factor
from .inverse cimport Inverse
from .problem cimport Problem
from .scratch cimport Scratch
from .structs cimport Matrix, idx

cdef class CarriedInverse:
    cdef Inverse v
    cdef Problem p
    cdef Scratch memory
    cdef object _held
