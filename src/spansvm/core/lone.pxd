# Left-out rows of machines in which fewer than two points are free.

from .structs cimport idx
from .system cimport Trained

# A vector that takes over from the rows of one label.
ctypedef struct Taker:
    idx point
    double sign  # the label
    double room  # how much it can take
    idx nearest[20]  # those that reach their margins next
    idx count  # of these

cdef double MOST_ROOM
cdef double EQUAL

cdef void predict_lone(const Trained* m, double* left_out, double* drop) noexcept nogil

cdef idx _only_inside(const Trained* m) noexcept nogil
cdef bint _is_inside(const Trained* m, idx i) noexcept nogil
cdef bint _can_move(const Trained* m, idx i, double sign) noexcept nogil
cdef void _prepare(const Trained* m, Taker* t) noexcept nogil
cdef double _way(const Trained* m, const Taker* t, idx p) noexcept nogil
cdef void _predict_row(
    const Trained* m, const Taker* t, idx p, bint lone, double* left_out, double* drop
) noexcept nogil
cdef void _move_intercept(const Trained* m, double sign, double* left_out) noexcept nogil
cdef double _middle(const Trained* m, idx without) noexcept nogil
