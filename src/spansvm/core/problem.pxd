# A quadratic program and a feasible point of it.

from .structs cimport Matrix, idx
from .scratch cimport Scratch

# minimise 1/2 x'Kx + c'x with sum(x) fixed and lo <= x <= hi
ctypedef struct Problem:
    Matrix K
    const double* diag  # the diagonal of K
    double* x
    double* g  # the gradient Kx + c
    double* lo
    double* hi
    double tube  # see cross(); infinite if the linear term is one
    idx n
    double flat  # curvature below which a pair of variables counts as flat
    bint stalled  # rounding prevents further progress
    bint indefinite  # negative curvature was met
    Scratch* scratch

cdef double EPSILON  # of double precision
cdef double EQUAL_SUMS
cdef double OFF_BOUND
cdef double STALE

cdef double entry(const Matrix* K, idx i, idx j) noexcept nogil
cdef idx free_variables(const Problem* p, idx* index) noexcept nogil
cdef double rounding_level(const Problem* p) noexcept nogil
cdef double finished_gap(const Problem* p) noexcept nogil
cdef double kkt_gap(const Problem* p) noexcept nogil
cdef bint keeps_sum(const Problem* p, double total) noexcept nogil
cdef void find_extremes(const Problem* p, double* top, double* bottom) noexcept nogil
cdef idx cross(Problem* p) noexcept nogil
cdef double middle_of_interval(const Problem* p) noexcept nogil
cdef double restore_sum(Problem* p, double total) noexcept nogil
cdef int renew_gradient(Problem* p, const double* c) except -1 nogil
cdef int snap(Problem* p, double* gap) except -1 nogil

cdef double _missing(const Problem* p, double total) noexcept nogil
