# How much lower than predicted the margins of left-out support vectors may be.

from .structs cimport idx
from .scratch cimport Scratch
from .system cimport System, Trained

# The points of the hull of the in-bound vectors.
ctypedef struct Hull:
    idx n
    const double* P  # the projected inverse of their system
    const double* weights  # and its border
    const double* x  # their signed multipliers
    const double* lo  # and boxes
    const double* hi

# What remains when those that leave their boxes are held at their bounds.
ctypedef struct Held:
    double outside  # the sum of what is outside
    double net  # the same with signs
    double fall  # what that costs
    double up  # the room of those that stay
    double down
    idx stay  # how many they are

# What is found for every row of a machine.
ctypedef struct Drops:
    double* drop  # how much lower than predicted its margin may be
    double* outside  # how far vectors leave their boxes; NULL if values are not of interest
    double* moved  # the mean change of all other values
    const double* sums  # of the kernel values of every row with all that take part
    double number  # of these

cdef double NEAR_ZERO
cdef double SAFETY
cdef double TOUCHES

cdef int find_drops(
    const Trained* m, const System* s, const double* merged, Drops* found, Scratch* scratch
) except -1 nogil

cdef void _of_bounded(
    const Hull* h, double* shares, double beta, double* outside, double* drop
) noexcept nogil
cdef void _of_in_bound(const Hull* h, idx p, double* outside, double* drop) noexcept nogil
cdef void _count(
    Held* held, const Hull* h, idx i, double moved, double share, double inverse
) noexcept nogil
cdef double _drop(const Held* held, const Hull* h) noexcept nogil
cdef bint _matters(const Trained* m, const Drops* found, idx i) noexcept nogil
cdef int _move_in_bound(
    const Trained* m, const System* s, const Drops* found, double* moved, Scratch* scratch
) except -1 nogil
cdef int _find_turned(
    const Trained* m, const System* s, const Drops* found, double* turned
) noexcept nogil
cdef void _from_first(
    const Trained* m, const System* s, const idx* rows, idx count, double* kernel
) noexcept nogil
cdef int _mark_certain(
    const Trained* m, const System* s, double* fall, Scratch* scratch
) except -1 nogil
cdef bint _is_certain(
    const Trained* m, const System* s, idx a, const idx* others, const double* shares, idx count,
    idx stride
) noexcept nogil
