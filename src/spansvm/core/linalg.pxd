# Dense linear algebra on matrices in C order, by BLAS and LAPACK.

from .structs cimport idx

cdef bint cholesky(double* matrix, idx n) noexcept nogil
cdef void cholesky_inverse(double* factor, idx n) noexcept nogil
cdef void cholesky_solve(double* factor, idx n, double* rows, idx count) noexcept nogil
cdef void lower_solve(
    double* factor, idx n, double* columns, idx count, bint transposed
) noexcept nogil
cdef void lower_inverse(double* factor, idx n, idx width) noexcept nogil
cdef void square_lower(double* triangle, idx n, idx width) noexcept nogil
cdef void add_square(
    double* matrix, idx n, idx width, double sign, double* rows, idx count
) noexcept nogil
cdef void multiply_symmetric(
    double* matrix, idx n, idx width, double* rows, idx count, double* result
) noexcept nogil
cdef void multiply(
    double* left, double* right, double* result, idx count, idx inner, idx n
) noexcept nogil
cdef void subtract_products(double* matrix, double* rows, double* others, idx count, idx n) noexcept nogil
