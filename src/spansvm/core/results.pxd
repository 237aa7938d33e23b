# What chains of machines find.

from .machine cimport Found
from .structs cimport flag, idx

# The results of a chain of weights; a row for every vector of weights.
cdef class Results:
    cdef readonly object alpha, decision, span, left_out, drop, verified, shift, side, outside, moved
    cdef readonly object intercept, gap, error, epsilon
    cdef readonly object iterations, n_in_bound, n_bounded, n_empty, n_free
    cdef readonly object done, doubtful, followed
    cdef double* rows[7]
    cdef double* sides
    cdef double* values[2]
    cdef readonly bint with_values
    cdef double* numbers[4]
    cdef idx* counts[5]
    cdef flag* _done
    cdef flag* marks[2]
    cdef idx total, count

    cdef void at(self, idx step, idx machine, idx start, Found* found) noexcept nogil
    cdef void set_done(self, idx step, idx machine) noexcept nogil
