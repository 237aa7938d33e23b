# Which doubtful values of pairs of classes decide the class that is predicted.

from .scratch cimport Scratch
from .structs cimport Matrix, flag, idx
from .votes cimport Pairs, Row

# The rows of a training set, each of which is left out of k - 1 pairs, at one vector of weights.
ctypedef struct Verdicts:
    Pairs pairs
    Row row  # that is looked at
    idx n_rows
    idx total  # number of rows of all pairs
    const idx* by_row  # for every row, where its k - 1 pairs are
    const idx* of_entry  # the row of each of these
    const idx* classes  # the class of every row
    const idx* places  # of every row in the matrix
    const double* labels  # of the rows of all pairs, -1 or 1
    const double* values  # left-out values
    const flag* doubtful  # whose sign may be another one
    double* own  # the values of the row that is looked at
    flag* undecided  # for every row, whether its class may depend on doubtful values
    idx* predicted  # the class of every row; -1 as long as it is not known

cdef int open_verdicts(
    Verdicts* v, const Matrix* K, const double* alpha, const double* intercepts, const idx* starts,
    Scratch* scratch
) except -1 nogil
cdef idx find_deciding(Verdicts* v, idx* entries) noexcept nogil
cdef idx smallest_of_each(
    const Verdicts* v, const idx* entries, idx count, idx* first, idx* best
) noexcept nogil
cdef void predict_classes(Verdicts* v) noexcept nogil

cdef void _look_at(Verdicts* v, idx row) noexcept nogil
cdef idx _outcome(Verdicts* v, idx row, double sign) noexcept nogil

# For Python: what does not depend on the weights.
cdef class Ballots:
    cdef Verdicts _verdicts
    cdef object _arrays  # whose memory is used
