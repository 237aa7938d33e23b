# The linear system of a solution, swept on its free vectors.

from .structs cimport Matrix, idx
from .scratch cimport Scratch
from .system cimport System

ctypedef struct Tableau:
    Matrix K
    idx n
    const idx* free  # the free vectors, which are independent
    idx n_free
    const idx* every  # 0, 1, ... for each of them
    idx* place  # of every vector among them, or -1
    Matrix projected  # the inverse of their system without its border
    const double* weights  # its border
    Matrix values  # kernel rows of the free vectors, minus that of the first
    double scale  # the largest squared distance from the first free vector
    double singular  # smaller pivots of a system scaled by it count as zero
    Matrix rows  # those computed so far
    idx* slot  # where the row of each vector is, or -1
    idx used  # how many there are
    const double* closeness  # how soon each vector may be needed: its distance from its next event
    idx* likely  # all vectors, in that order once one is needed
    idx next  # where to go on in it; -1 before

cdef double SINGULAR
cdef double KERNEL_ROUNDING
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

cdef void _order(Tableau* T) noexcept nogil
