# Rows of a machine whose removal is followed.

from .following cimport Followed
from .machine cimport Carry, Found, Machine, Wanted
from .structs cimport flag, idx
from .system cimport System, Trained

cdef double TRACE

cdef int find_doubt(
    Machine* m, const double* C, const Wanted* wanted, Carry* carry, Found* found
) except -1 nogil
cdef void clear_traces(double* values, idx n) noexcept nogil
cdef int remove_rows(
    Machine* m, const double* C, const Found* found, const idx* rows, idx count, Followed* followed
) except -1 nogil

cdef bint _is_last(Machine* m, const double* C, const Found* found) noexcept nogil
cdef void _mark_doubtful(const Trained* t, Found* found) noexcept nogil
cdef int _sum_rows(Machine* m, const double* C) except -1 nogil
cdef int _verify(Machine* m, Trained* t, const System* s, Found* found) except -1 nogil
