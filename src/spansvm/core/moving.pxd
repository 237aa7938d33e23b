# From the solution in one box to a point of another.

from .structs cimport idx
from .problem cimport Problem

# The contribution of the variables at their bounds to the gradient, carried along; for both sides.
ctypedef struct Carried:
    double* sums  # 2 x n: shares @ K
    double* shares  # 2 x n; scale * shares are the variables
    double* scale  # 2

cdef int move_bounds(
    Problem* p, const double* old_lo, const double* old_hi, Carried* carried
) except -1 nogil

cdef int _gather_side(
    Problem* p, Carried* carried, int side, const idx* rows, idx count
) except -1 nogil
