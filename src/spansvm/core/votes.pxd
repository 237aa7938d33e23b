# One-vs-one votes for single rows.

from .structs cimport Matrix, idx

# The pairs of classes, and their support vectors one pair after the other.
ctypedef struct Pairs:
    idx n_classes
    idx n_pairs
    const idx* columns  # the pairs of every class, n_classes - 1 for each
    const idx* pair_of  # the pair of two classes, n_classes x n_classes
    const idx* starts  # where the support vectors of each pair begin, and the end
    const idx* places  # their places among the columns of a matrix
    const double* signed  # their signed multipliers
    const double* intercepts

# A row whose votes are counted.
ctypedef struct Row:
    const Matrix* K
    idx row  # of the matrix
    idx own  # its class
    const double* values  # its values in the pairs of its class
    idx rival  # a class that wins against its own, or that itself
    idx* winner  # of every pair, or -1 as long as it is not known

cdef void begin_row(const Pairs* p, Row* r) noexcept nogil
cdef idx elect(const Pairs* p, Row* r) noexcept nogil

cdef idx _winner_of(const Pairs* p, Row* r, idx one, idx other) noexcept nogil
cdef idx _lost(const Pairs* p, Row* r, idx challenger, idx best, idx may_lose) noexcept nogil

# For Python.
cdef class Votes:
    cdef Pairs _pairs
    cdef object _arrays  # whose memory is used
    cdef object _given
