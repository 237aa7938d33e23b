# Descent on a quadratic program: sweeps, Newton steps, smaller problems.

from .inverse cimport Inverse
from .structs cimport Matrix, idx
from .problem cimport Problem

# What a sweep of two-variable steps has done.
ctypedef struct Sweep:
    idx steps
    double top  # the largest -g among the variables that may increase
    double bottom  # the largest g among those that may decrease
    double progress  # by how much the objective fell
    double size  # the sum of |x g|
    idx free  # how many variables are free
    idx active  # and how many are free or not yet held at their bounds by their gradients

# How far a descent should go, and how far it has come.
ctypedef struct Effort:
    double tol
    idx max_iter
    bint may_shrink  # whether the caller can go on with a smaller problem
    idx waited  # chunks without progress so far
    idx used  # two-variable steps
    double top
    double bottom
    double slope  # of a Newton step that could slide on, or 0

# Why a descent ends.
cdef enum Ending:
    SOLVED  # or no further progress is possible
    SHRINK  # a smaller problem would pay
    SLIDE  # a Newton step could slide on

cdef int sweep(Problem* p, double tol, idx max_iter, Sweep* s) except -1 nogil
cdef Ending run(Problem* p, Inverse* inverse, Effort* e) except? SLIDE nogil
cdef int settle(
    Problem* p, const double* c, double tol, idx max_iter, idx* iterations, double* gap
) except -1 nogil

cdef int descend(Problem* p, Effort* e) except -1 nogil
cdef int _shrink(Problem* p, Effort* e, bint with_gradient) except -1 nogil
cdef int _descend_shrinking(Problem* p, Effort* e) except -1 nogil
cdef bint _run_and_slide(Problem* p, Effort* e) except -1 nogil
