# One machine: trained along a chain of weights, and each of its rows left out.

from .factor cimport Factor
from .inverse cimport Inverse
from .moving cimport Carried
from .problem cimport Problem
from .scratch cimport Scratch
from .structs cimport Matrix, flag, idx
from .system cimport Trained

# A weighted SVM on some rows.  Equal rows with equal labels are merged at the first of them.
ctypedef struct Machine:
    Problem p  # the dual; its variables are the signed multipliers
    double* lo  # the box
    double* hi
    const double* y  # labels, -1 or 1; of a regression, the sides of the tube
    const double* target  # of a regression; NULL otherwise
    double* side  # what `y` is, then
    double* edge  # the values on the margin: the labels, or the edges of the tube
    double epsilon  # half its width
    const idx* first  # the first row equal to each, with its label
    double* squared  # squared spans
    flag* bounded  # the bounded vectors whose spans are known
    Carried carried  # what bounded vectors contribute to the gradient
    double* drift  # rounding that the gradient may carry from larger multipliers
    flag* ready  # whether it stands at a solution
    double* sums  # of the kernel values of each row with all that take part
    flag* present  # which these are
    double* followed  # left-out values that were followed, as long as the solution stays the same
    double* shift  # and what they change for all others
    flag* known  # which of them no bound has touched
    void* part  # its matrix, once rows were removed; NULL before
    double* last  # the multipliers of the latest machine from which rows were removed
    double* last_C  # and its weights
    double last_epsilon
    bint elsewhere  # rows were removed from another machine than where the chain stands
    idx max_iter
    double intercept  # of the latest solution
    double gap

# What was found for one vector of weights: for every row, and for the machine.
ctypedef struct Found:
    double* alpha
    double* decision
    double* span  # squared
    double* left_out  # values predicted without the row (Theorem 2)
    double* drop  # how much lower than predicted the margin may be
    double* outside  # how far others leave their boxes; NULL if values are not of interest
    double* moved  # the mean change of all other values
    double* verified  # left-out values, followed exactly where their sign is doubtful
    double* shift  # the mean change of all others if it was followed; NaN if that was given up
    flag* followed  # which they are
    flag* doubtful  # whose signs are still so
    double* error  # the largest distance of a free vector from its margin at the end of a path
    double* side  # of the tube, if there is one
    double* epsilon  # half its width: this is given
    double* intercept
    double* gap
    idx* iterations
    idx* n_in_bound
    idx* n_bounded
    idx* n_empty
    idx* n_free  # points

# What a chain carries from one solution to the next.
ctypedef struct Carry:
    Factor factor
    Inverse inverse

# How to train.
ctypedef struct Wanted:
    double tol
    bint spans  # with left-out values
    bint drops  # and how much lower these may be
    bint verified  # and their signs, followed exactly where they are doubtful
    bint values  # and how far the values themselves may be off

cdef int train(
    Machine* m, const double* C, const Wanted* wanted, Carry* carry, Found* found
) except -1 nogil
cdef int leave_out(Machine* m, const double* C, Found* found) except -1 nogil
cdef int describe(Machine* m, const double* C, const Found* found, Trained* t) except -1 nogil

cdef bint _stays(const Problem* p, const double* lo, const double* hi) noexcept nogil
cdef bint _widens(const Problem* p, const double* lo, const double* hi) noexcept nogil
cdef int _solve(Machine* m, double tol, Carry* carry, Found* found) except -1 nogil
cdef bint _set_intercept(const Problem* p, const Factor* f, double* intercept) noexcept nogil
cdef int _find_spans(Machine* m, Carry* carry, bint same) except -1 nogil
