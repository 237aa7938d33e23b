# Loops over rows, built once for every level of processor (levels.py chooses).

from spansvm.core.structs cimport Matrix, Motion, Pair, flag, idx

cdef fused real:
    double
    float

cdef double BARRED

cdef void add_vector(double* g, double a, const double* row, idx n) noexcept nogil
cdef void add_squares(double* g, const double* row, idx n) noexcept nogil
cdef double sum_of(const double* row, idx n) noexcept nogil
cdef double dot(const double* one, const double* other, idx n) noexcept nogil
cdef void add_row(double* g, double a, const Matrix* K, idx i) noexcept nogil
cdef void add_rows(
    double* g, const Matrix* K, const idx* rows, const double* weights, idx count
) noexcept nogil
cdef void gather(
    const Matrix* K, idx i, const idx* columns, idx count, double shift, double* target
) noexcept nogil
cdef double weighted_entries(
    const Matrix* K, idx i, const idx* columns, const double* weights, idx count
) noexcept nogil
cdef double weighted_differences(
    const Matrix* K, idx i, const idx* columns, const double* weights, idx count, double level
) noexcept nogil
cdef void copy_block(const Matrix* K, const idx* rows, idx count, Matrix* part) noexcept nogil
cdef void row_difference(const Matrix* K, idx i, idx base, double* target) noexcept nogil
cdef void eliminate(
    double* P, const double* row, double scale, const flag* alive, idx n
) noexcept nogil

cdef idx best_partner(const Pair* s, const Matrix* K, idx i) noexcept nogil
cdef idx move_pair(Pair* s, const Matrix* K, idx i, idx j, double step) noexcept nogil

cdef double find_rooms(Motion* m) noexcept nogil
cdef idx first_to_stop(const Motion* m, double shortest) noexcept nogil
cdef bint any_leaves(
    const double* shares, double scale, double touches, const double* x, const double* lo,
    const double* hi, idx n
) noexcept nogil

# By precision; private.
cdef void _add_one(double* g, double a, const real* row, idx n) noexcept nogil
cdef void _add_four(
    double* g, const double* w, const real* a, const real* b, const real* c, const real* d, idx n
) noexcept nogil
cdef void _add_some(
    double* g, const real* K, idx n, const idx* rows, const double* weights, idx count
) noexcept nogil
cdef void _gather(
    const real* row, const idx* columns, idx count, double shift, double* target
) noexcept nogil
cdef double _weighted(
    const real* row, const idx* columns, const double* weights, idx count
) noexcept nogil
cdef double _weighted_from(
    const real* row, const idx* columns, const double* weights, idx count, double level
) noexcept nogil
cdef void _copy(const real* row, const idx* columns, idx count, real* target) noexcept nogil
cdef void _widen(const float* row, const idx* columns, idx count, double* target) noexcept nogil
cdef void _subtract(const real* row, const real* base, double* target, idx n) noexcept nogil
cdef float _gain(double slope, double curvature) noexcept nogil
cdef idx _best_partner(const Pair* s, const real* row, double own) noexcept nogil
cdef idx _move_pair(Pair* s, const real* one, const real* other, double step) noexcept nogil
