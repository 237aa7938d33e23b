# Vectors that leave a solution.

from .scratch cimport Scratch
from .structs cimport idx
from .system cimport System
from .tableau cimport Tableau
from .walk cimport Leaving, Path, Vertex

# How the values of one row and of all others change without it.
ctypedef struct Growth:
    double own
    double others  # their mean, if sums of kernel values are known

cdef int remove_row(
    Path* p, idx q, double rest, const double* sums, double number, Growth* found
) except -1 nogil
cdef int remove_group(Path* p, const Leaving* leaving) except -1 nogil

cdef void _grow(
    const Path* p, idx q, const double* sums, double number, Growth* found
) noexcept nogil

# For Python: paths from one vertex, which share its tableau.
cdef class Paths:
    cdef Scratch _scratch
    cdef Tableau _tableau
    cdef Vertex _vertex
    cdef System _system
    cdef object _arrays  # whose memory is used
