# The end of a path.

from .structs cimport idx
from .walk cimport Leaving, Path

cdef double ACCURATE
cdef double ASTRAY

cdef void stop_driven(Path* p, const Leaving* leaving) noexcept nogil
cdef bint want_to_stop(const Path* p, const Leaving* leaving) noexcept nogil
cdef int finish_path(Path* p, const Leaving* leaving) except -1 nogil

cdef double _to_middle(const Path* p) noexcept nogil
cdef void _read_off(Path* p, const Leaving* leaving) noexcept nogil
cdef void _note_end(Path* p, idx i) noexcept nogil
cdef int _refine(Path* p) except -1 nogil
