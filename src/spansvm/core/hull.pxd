# Distances from the affine hull of a set of points in feature space.

from .factor cimport Factor
from .structs cimport Matrix, idx
from .problem cimport Problem
from .scratch cimport Scratch

cdef int fill_distances(
    const Problem* p, const Factor* f, const idx* others, idx count, double* squared
) except -1 nogil

# What the distances of the others, and of the points themselves, have in common.
ctypedef struct Solved:
    double* columns  # L^-1 times the kernel values of the others, and times 1; n x (count + 1)
    double* along  # u'k_p of every other p
    double* u  # K_II^-1 1
    double s  # and its sum

cdef int _subtract_ridge(
    const Problem* p, const Factor* f, const idx* others, idx count, Solved* known, double* squared
) except -1 nogil
