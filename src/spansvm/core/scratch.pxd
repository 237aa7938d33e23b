# Temporary memory for code that runs without the GIL.

from .structs cimport flag, idx

cdef idx LARGE

# What has been taken so far, one allocation each, so that a memory checker sees their ends.
ctypedef struct Scratch:
    void** taken
    idx count
    idx room
    double* lent  # memory of somebody else, for what is large and needed often; may be NULL
    idx lent_room
    double spent  # nanoseconds, roughly, since interrupts were answered

cdef void open_scratch(Scratch* s) noexcept nogil
cdef int spend(Scratch* s, double nanoseconds) except -1 nogil

cdef double* doubles(Scratch* s, idx n) except? NULL nogil
cdef double* lent(Scratch* s, idx n) except? NULL nogil
cdef idx* indices(Scratch* s, idx n) except? NULL nogil
cdef flag* flags(Scratch* s, idx n) except? NULL nogil
cdef void release(Scratch* s, idx count) noexcept nogil
cdef void release_all(Scratch* s) noexcept nogil

cdef void* _take(Scratch* s, size_t size) except? NULL nogil
