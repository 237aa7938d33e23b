# What removals know of a trained machine, and the inverse for its in-bound vectors.

from .factor cimport Factor
from .structs cimport Matrix, idx
from .scratch cimport Scratch

# A trained machine.  Equal rows are one point, at the first of them.
ctypedef struct Trained:
    Matrix K
    idx n
    const double* y  # the sign of every multiplier: the label; the side of the tube
    const double* edge  # the value on the margin: the label; the edge of the tube on that side
    double tube  # its width; infinite if there is none
    const double* C  # the bound of every row; 0 for those that take no part
    const double* alpha  # the multiplier of every row
    const double* f  # the decision value of every row
    const idx* first  # for every row, the first one equal to it
    const double* x  # signed multipliers of the points
    const double* lo  # and their boxes
    const double* hi

# Inverse of the system [[K_FF, 1], [1', 0]] of independent points F.  The point of their hull that
# is nearest to another one, p, has the weights projected @ (k_p - K_0p) + weights, with
# k_p = K[F, p] and the first of them as base 0.
ctypedef struct System:
    idx* points
    idx size  # 0 if there is no inverse that is accurate enough
    double* projected  # the inverse without its border
    double* weights  # its border

cdef int check_points(const idx* points, idx count, idx n) except -1
cdef object point_to_solution(Trained* m, object solution, object first)
cdef object point_to_machine(Trained* m, object K, object solution, object first)
cdef int merge_rows(Trained* m, Scratch* scratch) except -1 nogil
cdef int from_factor(System* s, const Factor* f, Scratch* scratch) except -1 nogil
cdef int from_inverse(
    System* s, const double* inverse, idx width, const idx* points, idx size, Scratch* scratch
) except -1 nogil
cdef int from_points(
    System* s, const Matrix* K, const idx* points, idx size, Scratch* scratch
) except -1 nogil

cdef int _reserve(System* s, const idx* points, idx size, Scratch* scratch) except -1 nogil
