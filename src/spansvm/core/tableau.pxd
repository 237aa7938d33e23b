# The linear system of a solution, swept on its free vectors.

from .structs cimport Matrix, idx
from .scratch cimport Scratch
from .system cimport System

ctypedef struct Tableau:
    Matrix K
    idx n
    const idx* free  # the free vectors, which are independent
    idx n_free
    bint all  # whether the free vectors, which are few, count as others too
    idx* others  # all other vectors
    idx n_others
    idx* place  # of every vector among the free ones; ~place of one among the others
    double* projected  # the inverse of the system of the free ones without its border
    const double* weights  # its border
    double* values  # kernel values of the free vectors with the others, minus those of the first
    double* from_base  # these
    double* to_base  # kernel values of the free vectors with the first, minus its own
    double scale  # the largest squared distance from the first free vector
    double singular  # smaller pivots of a system scaled by it count as zero
    Matrix rows  # those computed so far
    idx* slot  # where the row of each vector is, or -1
    idx used  # how many there are
    const double* closeness  # how soon each vector may be needed: its distance from its next event
    idx* likely  # all vectors, in that order
    bint ordered  # once one is needed
    idx next[2]  # where to go on in it: for vectors that are not free, and for free ones

cdef double SINGULAR
cdef double KERNEL_ROUNDING
cdef double FEW
cdef idx AT_ONCE

cdef int set_up(
    Tableau* T, const Matrix* K, const System* s, Scratch* scratch
) except -1 nogil
cdef double* row_of(Tableau* T, idx q) noexcept nogil
cdef int need_row(Tableau* T, idx q, Scratch* scratch) except -1 nogil
cdef int need_rows(Tableau* T, const idx* points, idx count, Scratch* scratch) except -1 nogil
cdef int fill_column(
    Tableau* T, const idx* points, const double* moves, idx count, double* column, Scratch* scratch
) except -1 nogil

cdef void _difference(Tableau* T, idx q, double* target) noexcept nogil
cdef int _compute(Tableau* T, const idx* wanted, idx number, Scratch* scratch) except -1 nogil
cdef void _order(Tableau* T) noexcept nogil
