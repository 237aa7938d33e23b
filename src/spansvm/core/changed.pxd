# The vectors that changed between free and bound along a path.

from .structs cimport idx
from .scratch cimport Scratch
from .tableau cimport Tableau

ctypedef struct Changed:
    idx* points  # the vectors, in no order
    idx* position  # of every vector among them, or -1
    idx size
    idx room  # how many there may be
    double* inverse  # of their system, for the first `known` of them; rows of length `room`
    idx known
    double* column  # room for one column
    double* lean

cdef int make_changed(Changed* c, idx n, Scratch* scratch) except -1 nogil
cdef void clear_changed(Changed* c) noexcept nogil
cdef bint add_changed(Changed* c, idx q) noexcept nogil
cdef void forget_changed(Changed* c, const Tableau* T, idx q) noexcept nogil
cdef int solve_changed(Changed* c, Tableau* T, double* z, Scratch* scratch) except -1 nogil

cdef idx _most_changed(idx n) noexcept nogil
cdef double _unit(const Tableau* T, idx q) noexcept nogil
cdef double _entry(Tableau* T, idx p, idx q) noexcept nogil
cdef void _border(Changed* c, Tableau* T) noexcept nogil
cdef int _invert(Changed* c, Tableau* T, Scratch* scratch) except -1 nogil
cdef void _take_out(Changed* c, idx place, double singular) noexcept nogil
