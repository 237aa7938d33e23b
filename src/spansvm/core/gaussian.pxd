from spansvm.core.loops cimport idx

cdef double _exp(double x) noexcept nogil
