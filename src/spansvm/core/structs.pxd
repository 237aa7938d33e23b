# What the loops over rows work on; apart from them, as they are built several times.

ctypedef Py_ssize_t idx
ctypedef unsigned char flag

# A matrix in C order, of double or of single precision; the other pointer is NULL.
ctypedef struct Matrix:
    double* wide
    float* narrow
    idx width  # entries in a row

# What the searches of a two-variable step read and write (descent.py).
ctypedef struct Pair:
    double* g
    double* up  # 0 where a variable may increase, otherwise BARRED
    double* low  # 0 where it may decrease
    const double* diag
    idx n
    double top  # the largest -g among those that may increase
    double bottom  # the largest g among those that may decrease
    double flat  # curvature that counts as none

# Where the vectors of a path stand, how fast each moves, and between which limits (removal.py).
ctypedef struct Motion:
    double* state
    double* slope
    double* least
    double* most
    double* still  # slopes below this count as zero
    double* room  # how far each may move
    idx n
