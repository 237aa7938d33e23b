# Removals of rows from one machine.

from .structs cimport idx
from .scratch cimport Scratch
from .system cimport System, Trained

# What is found for the rows that leave.
ctypedef struct Followed:
    double* decision  # the value of each, by the machine without it; NaN if it was given up
    double* shift  # the mean change of all other values
    unsigned char* met  # whether a vector met a bound other than 0 on the way
    double error  # the largest distance of a free vector from its margin at the end of a path

# What all rows of a machine have in common.
ctypedef struct Whole:
    double number  # of rows that take part
    double most_kernel  # the largest diagonal entry
    double rounding  # of decision values
    double largest_value  # that the objective allows

cdef int follow_rows(
    const Trained* m, const System* known, const double* sums, const idx* rows, idx count,
    Followed* found, Scratch* scratch
) except -1 nogil

cdef double _rest(const Trained* m, idx i) noexcept nogil
cdef bint _has_to_move(const Trained* m, idx i) noexcept nogil
cdef Whole _look_at(const Trained* m) noexcept nogil
cdef int _renew(
    const Trained* m, const idx* free, idx n_free, double* r, Scratch* scratch
) except -1 nogil
cdef idx _adopt(const Trained* m, const double* r) noexcept nogil
