# Machines trained along a chain of weights, as Python sees them.

from .following cimport Followed
from .machine cimport Carry, Found, Machine, Wanted
from .results cimport Results
from .scratch cimport Scratch
from .structs cimport Matrix, flag, idx
from .verdicts cimport Ballots, Verdicts

cdef int SECOND_ROUND

# Machines on parts of one Gram matrix.
cdef class Chains:
    cdef readonly object signed, gradient, low, high, squared, drift
    cdef readonly object edges
    cdef object _held, _sides
    cdef Matrix K
    cdef bint whole  # whether there is one machine, with all rows in order
    cdef Machine* machines
    cdef const idx* places
    cdef const idx* starts
    cdef idx count, largest
    cdef double* lent  # room for a tableau, once one is needed
    cdef double spent  # as in a scratch, from one machine to the next

    cdef int follow(
        self, idx m, const double* weights, idx begin, idx steps, const Wanted* wanted,
        Results results
    ) except -1 nogil
    cdef int lend(self, Scratch* memory) except -1 nogil
    cdef int copy_matrix(self, idx m, bint keep) except -1 nogil
    cdef int train_one(
        self, idx m, const double* weights, idx begin, idx steps, const Wanted* wanted,
        Carry* carry, Results results
    ) except -1 nogil
    cdef int remove_from(
        self, idx m, const idx* entries, idx count, const double* weights, Results results,
        idx step, Followed* followed
    ) except -1 nogil
    cdef int verify_at(
        self, const Verdicts* ballots, idx step, const double* weights, Results results,
        idx* predicted
    ) except -1 nogil
    cdef int remove_several(
        self, const idx* entries, idx count, const double* weights, Results results, idx step
    ) except -1 nogil
