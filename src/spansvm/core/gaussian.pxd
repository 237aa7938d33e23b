from spansvm.core.structs cimport idx

cdef void _exponentials(
    double* row, double own, const double* others, double gamma, idx n
) noexcept nogil
cdef inline double _exp(double x) noexcept nogil
