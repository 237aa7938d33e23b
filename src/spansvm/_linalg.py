"""Plumbing between arrays and compiled code: one array type, and LAPACK without the GIL.

NumPy's wrappers cost more than the factorisation of a typical in-bound set, and
``numba`` offers neither a triangular solve nor a Cholesky factor that reports
failure; so the routines that SciPy ships are called directly.  The functions here
work on C-ordered float64 arrays.  A symmetric matrix in C order is its own
transpose, so LAPACK's "upper" is our lower triangle.
"""

from __future__ import annotations

import llvmlite.binding as llvm
import numpy as np
import numpy.typing as npt
from numba import njit, types
from numba.extending import get_cython_function_address



class _Memory:
    """The memory of an array, for NumPy's array interface; keeps the array alive."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def symmetric_view(matrix: npt.ArrayLike) -> np.ndarray:
    """`matrix` as the one kind of array that the compiled functions are compiled for.

    C order, float32 or float64, typed as writable even where the memory is not (a
    memory map, an array shared between processes): compiled code never writes to a
    Gram matrix, and a type of its own for read-only memory would cost every user a
    second compilation.  No copy is made unless order or dtype need one.
    """
    array = np.asarray(matrix)
    if array.dtype != np.float32:
        array = np.asarray(array, dtype=np.float64)
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        array = array.T
    array = np.ascontiguousarray(array)
    return array if array.flags.writeable else np.asarray(_Memory(array))


_I32 = types.CPointer(types.int32)
_F64 = types.CPointer(types.float64)
_CHR = types.CPointer(types.uint8)


def _external(module: str, name: str, *arguments: types.Type) -> types.ExternalFunction:
    """Register a routine of ``scipy.linalg.cython_*`` under a name that survives numba's cache."""
    symbol = f"spansvm_{name}"
    llvm.add_symbol(symbol, get_cython_function_address(f"scipy.linalg.{module}", name))
    return types.ExternalFunction(symbol, types.void(*arguments))


_dpotrf = _external("cython_lapack", "dpotrf", _CHR, _I32, _F64, _I32, _I32)
_dpotrs = _external("cython_lapack", "dpotrs", _CHR, _I32, _I32, _F64, _I32, _F64, _I32, _I32)
_dpotri = _external("cython_lapack", "dpotri", _CHR, _I32, _F64, _I32, _I32)
_dtrtri = _external("cython_lapack", "dtrtri", _CHR, _CHR, _I32, _F64, _I32, _I32)
_dtrtrs = _external(
    "cython_lapack", "dtrtrs", _CHR, _CHR, _CHR, _I32, _I32, _F64, _I32, _F64, _I32, _I32
)

_UPPER, _TRANSPOSE, _NON_UNIT = ord("U"), ord("T"), ord("N")


@njit(nogil=True, cache=True)
def _int(value):
    return np.full(1, value, np.int32)


@njit(nogil=True, cache=True)
def _char(value):
    return np.full(1, value, np.uint8)


@njit(nogil=True, cache=True)
def cholesky(matrix):
    """Overwrite the lower triangle of `matrix` with L, ``matrix = L L'``; False if not positive definite."""
    n = _int(matrix.shape[0])
    info = _int(0)
    _dpotrf(_char(_UPPER).ctypes, n.ctypes, matrix.ctypes, n.ctypes, info.ctypes)
    return info[0] == 0


@njit(nogil=True, cache=True)
def cholesky_solve(factor, rows):
    """Overwrite each row of `rows` with its solution of ``L L' x = row``."""
    n = _int(factor.shape[0])
    info = _int(0)
    _dpotrs(
        _char(_UPPER).ctypes, n.ctypes, _int(rows.shape[0]).ctypes,
        factor.ctypes, n.ctypes, rows.ctypes, n.ctypes, info.ctypes,
    )  # fmt: skip


@njit(nogil=True, cache=True)
def lower_solve(factor, rows):
    """Overwrite each row of `rows` with its solution of ``L x = row``."""
    n = _int(factor.shape[0])
    info = _int(0)
    _dtrtrs(
        _char(_UPPER).ctypes, _char(_TRANSPOSE).ctypes, _char(_NON_UNIT).ctypes,
        n.ctypes, _int(rows.shape[0]).ctypes,
        factor.ctypes, n.ctypes, rows.ctypes, n.ctypes, info.ctypes,
    )  # fmt: skip


@njit(nogil=True, cache=True)
def lower_inverse(factor):
    """Overwrite the lower triangle of `factor` with its inverse."""
    n = _int(factor.shape[0])
    info = _int(0)
    _dtrtri(
        _char(_UPPER).ctypes, _char(_NON_UNIT).ctypes, n.ctypes, factor.ctypes, n.ctypes, info.ctypes
    )


@njit(nogil=True, cache=True)
def cholesky_inverse(factor):
    """Overwrite the Cholesky factor of a matrix with the whole inverse of that matrix."""
    size = factor.shape[0]
    n = _int(size)
    info = _int(0)
    _dpotri(_char(_UPPER).ctypes, n.ctypes, factor.ctypes, n.ctypes, info.ctypes)
    for row in range(size):
        for column in range(row):
            factor[column, row] = factor[row, column]
