"""Arrays of Python as compiled code takes them."""

import cython


def matrix_of(values):
    """A Gram matrix in C order, of either precision; its memory is that of the array.

    It may be read-only: compiled code never writes to a Gram matrix.
    """
    matrix: Matrix
    wide: cython.const[cython.double][:, ::1]
    narrow: cython.const[cython.float][:, ::1]
    matrix.wide, matrix.narrow = cython.NULL, cython.NULL
    if values.dtype.itemsize == 4:
        narrow = values
        matrix.narrow = cython.cast(cython.p_float, cython.address(narrow[0, 0]))
        matrix.width = narrow.shape[1]
    else:
        wide = values
        matrix.wide = cython.cast(cython.p_double, cython.address(wide[0, 0]))
        matrix.width = wide.shape[1]
    return matrix
