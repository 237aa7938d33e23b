# Each row of a trained machine left out, as Theorem 2 predicts it; Lemma 1.

from .scratch cimport Scratch
from .structs cimport idx
from .system cimport Trained

# How many vectors are of which kind, what room their bounds leave, and who takes over if there is
# no hull.
ctypedef struct Kinds:
    idx n_in_bound
    idx n_bounded
    idx inner  # an in-bound vector; -1 if there is none
    idx takers[2]  # who takes over from a vector with the label -1, and 1; -1 if nobody has to or can
    double free_negative  # the bounds of the in-bound vectors with the label -1
    double free_positive  # and 1
    double held  # the signed bounds of the bounded ones
    double total  # the bounds of all support vectors

# What is predicted of the rows.
ctypedef struct Left:
    double* span  # squared
    double* value  # f^p(x_p)

cdef void find_kinds(const Trained* t, Kinds* k) noexcept nogil
cdef bint has_span(const Trained* t, const Kinds* k, idx p) noexcept nogil
cdef int predict(
    const Trained* t, const double* squared, Left* left, Scratch* scratch
) except -1 nogil
cdef void take_over(
    const Trained* t, const Kinds* k, double sign, const double* diag, const double* row, Left* left
) noexcept nogil
cdef void count_classes(const Trained* t, idx* positive, idx* negative) noexcept nogil
cdef void set_last(const Trained* t, Left* left) noexcept nogil
cdef idx enters(const Trained* t, double sign, idx apart) noexcept nogil
