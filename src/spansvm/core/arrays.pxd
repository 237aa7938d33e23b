# Arrays of Python as compiled code takes them.

from .loops cimport Matrix

cdef Matrix matrix_of(object values) except *
