from spansvm.core.structs cimport idx

cdef double _exp(double x) noexcept nogil
