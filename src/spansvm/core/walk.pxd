# Paths along which vectors leave a solution.

from .changed cimport Changed
from .structs cimport Motion, flag, idx
from .scratch cimport Scratch
from .tableau cimport Tableau

# A solution with independent free vectors, at which all paths begin.
ctypedef struct Vertex:
    const double* x  # signed multipliers
    const double* r  # residuals Kx - y + b; 0 for the free vectors
    const double* lo  # the box; lo = hi for vectors that take no part
    const double* hi
    double largest  # multiplier
    double tube  # how far the residual of a vector at 0 may be off, until it crosses to the other sign
    Motion motion  # where every vector stands, and between which limits it may move

# Vectors of which all or a part leaves, and the boxes that remain of them.
ctypedef struct Leaving:
    const idx* points
    const double* lo
    const double* hi
    idx count

# The path of one removal; what is allocated serves one after the other.
ctypedef struct Path:
    Tableau* T
    const Vertex* vertex
    Scratch* scratch
    Motion motion  # the state of a free vector is its multiplier; that of any other, its residual
    double* lo  # the boxes without what leaves
    double* hi
    double* offset  # what residuals change by where a vector has crossed
    bint turned  # whether one has
    Changed changed  # between free and bound
    idx n_free
    flag* driven  # which multipliers are driven to the bounds that remain
    double* aim  # how far
    double* column  # how all move if the driven vectors that are not free move at unit speed
    double net  # the sum of the moves of the driven vectors
    double total  # and of their sizes
    double speed  # the largest of these
    double reach  # the largest multiplier that is driven
    double left  # what is left of the path
    bint crossed  # whether one went from one bound to the other
    bint met  # whether a vector met a bound other than 0
    double level  # kernel values are taken relative to this number
    idx* moved  # at the end, the vectors whose multipliers have changed
    double* moves  # and by how much
    idx n_moved
    idx seen[8]  # some free vectors
    idx n_seen
    double middle  # what the intercept is off the middle of its interval
    double intercept  # how far it has moved, without that
    double astray  # the largest distance of a free vector from its margin
    double* z  # for the changed vectors, and where their rows are
    idx* slots

cdef int TURNS
cdef double STILL
cdef double SAME_PLACE

cdef int set_vertex(Vertex* v, Tableau* T, Scratch* scratch) except -1 nogil
cdef int open_paths(Path* p, Tableau* T, const Vertex* v, Scratch* scratch) except -1 nogil
cdef int begin(Path* p, const Leaving* leaving) except -1 nogil
cdef int set_column(Path* p, const Leaving* leaving) except -1 nogil
cdef int follow_path(Path* p) except -1 nogil
cdef void put_back(Path* p, const Leaving* leaving) noexcept nogil
cdef void set_sides(Path* p, idx q, double x) noexcept nogil
cdef double end_of(const Path* p, idx i) noexcept nogil

# Whether a vector is free where the path is.
cdef inline bint is_free(const Path* p, idx q) noexcept nogil:
    return (p.T.place[q] >= 0) != (p.changed.position[q] >= 0)

cdef void _limit(
    Motion* m, idx q, double x, double lo, double hi, double tube
) noexcept nogil
cdef void _cross(Path* p, idx q) noexcept nogil
cdef int _drive(Path* p, idx q) except -1 nogil
cdef int _find_slopes(Path* p) except -1 nogil
cdef idx _takes_over(const Path* p) noexcept nogil
cdef int _turn(Path* p, idx q) except -1 nogil
