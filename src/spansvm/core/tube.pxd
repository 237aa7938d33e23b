# The tube of a regression, for one machine.

from .machine cimport Found, Machine
from .structs cimport idx

cdef int set_tube(Machine* m, const double* C, double epsilon) except -1 nogil
cdef void note_sides(Machine* m) noexcept nogil
cdef int edges_of(Machine* m, const Found* found, double** edges) except -1 nogil
