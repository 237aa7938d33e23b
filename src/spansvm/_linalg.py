"""Plumbing between arrays and compiled code: one array type, one thread, LAPACK without the GIL.

NumPy's wrappers cost more than the factorisation of a typical in-bound set, and
``numba`` offers neither a triangular solve nor a Cholesky factor that reports
failure; so the routines that SciPy ships are called directly.  The functions here
work on C-ordered float64 arrays.  A symmetric matrix in C order is its own
transpose, so LAPACK's "upper" is our lower triangle.
"""

from __future__ import annotations

import threading
from contextlib import ContextDecorator

import llvmlite.binding as llvm
import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import get_cython_function_address
from threadpoolctl import LibController, ThreadpoolController

from ._compile import njit


class _OneBlasThread(ContextDecorator):
    """Keep BLAS to one thread: on a few hundred rows, more threads make it many times slower.

    The number of threads is a property of the process; it is restored when the last Python
    thread that asked for one is done.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._libraries: list[LibController] | None = None
        self._before: list[int] = []

    def _find(self) -> list[LibController]:
        if self._libraries is None:
            self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
        return self._libraries

    def usual(self) -> int:
        """The number of BLAS threads outside this context."""
        with self._lock:
            counts = self._before if self._depth else [lib.num_threads for lib in self._find()]
            return max(counts, default=1)

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                self._libraries = self._find()
                self._before = [library.num_threads for library in self._libraries]
                for library, before in zip(self._libraries, self._before, strict=True):
                    if before != 1:
                        _set_threads(library, 1)
            self._depth += 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0 and self._libraries is not None:
                for library, before in zip(self._libraries, self._before, strict=True):
                    if before != 1:
                        _set_threads(library, before)


def _set_threads(library: LibController, count: int) -> None:
    """Set the number of threads, even from a Python thread that is not the first to do so.

    Newer versions of threadpoolctl ignore all but the first; here the depth is counted instead.
    """
    release = getattr(library, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
    library.set_num_threads(count)
    if release is not None:
        release(force=True)


one_blas_thread = _OneBlasThread()


class _Memory:
    """The memory of an array, for NumPy's array interface; keeps the array alive."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def symmetric_view(matrix: npt.ArrayLike) -> np.ndarray:
    """`matrix` as the only type of array that the compiled functions are compiled for.

    C order, float32 or float64, typed as writable even where the memory is not (a
    memory map, an array shared between processes): compiled code never writes to a
    Gram matrix, and a separate type for read-only memory would cost every user a
    second compilation.  No copy is made unless order or dtype requires one.
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
_dpotri = _external("cython_lapack", "dpotri", _CHR, _I32, _F64, _I32, _I32)
_dtrsm = _external(
    "cython_blas", "dtrsm", _CHR, _CHR, _CHR, _CHR, _I32, _I32, _F64, _F64, _I32, _F64, _I32
)
_dtrmm = _external(
    "cython_blas", "dtrmm", _CHR, _CHR, _CHR, _CHR, _I32, _I32, _F64, _F64, _I32, _F64, _I32
)

_UPPER, _LEFT, _RIGHT, _PLAIN, _TRANSPOSED, _NON_UNIT = (ord(c) for c in "ULRNTN")

# Reassociation lets LLVM vectorise; NaN and infinity keep their meaning, so that bad
# input is found in the result instead of being undefined behaviour.
FAST_MATH = {"contract", "arcp", "nsz", "reassoc"}

#: Triangles of at most this size are inverted by plain loops.
_SMALL_TRIANGLE = 32


@njit(nogil=True, cache=True)
def _int(value):
    return np.full(1, value, np.int32)


@njit(nogil=True, cache=True)
def _char(value):
    return np.full(1, value, np.uint8)


@njit(nogil=True, cache=True)
def cholesky(matrix):
    """Overwrite the lower triangle of `matrix` with L, ``matrix = L L'``; False if not definite."""
    n = _int(matrix.shape[0])
    info = _int(0)
    _dpotrf(_char(_UPPER).ctypes, n.ctypes, matrix.ctypes, n.ctypes, info.ctypes)
    return info[0] == 0


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


@njit(nogil=True, cache=True)
def lower_solve(factor, columns, transposed):
    """Overwrite each column of `columns` with its solution of ``L x = column`` (or ``L' x``)."""
    n, m = columns.shape
    if m == 0:
        return
    _dtrsm(
        _char(_RIGHT).ctypes, _char(_UPPER).ctypes,
        _char(_TRANSPOSED if transposed else _PLAIN).ctypes, _char(_NON_UNIT).ctypes,
        _int(m).ctypes, _int(n).ctypes, np.ones(1).ctypes,
        factor.ctypes, _int(n).ctypes, columns.ctypes, _int(m).ctypes,
    )  # fmt: skip


@njit(nogil=True, cache=True)
def lower_inverse(factor):
    """Overwrite the lower triangle of `factor` with its inverse.

    Block by block: the rows of a block become ``-C^-1 B A^-1`` of what is above (A), left
    (B) and on the diagonal (C).  LAPACK's own routine is several times slower on one thread.
    """
    n = factor.shape[0]
    one, minus = np.ones(1), -np.ones(1)
    for start in range(0, n, _SMALL_TRIANGLE):
        stop = min(start + _SMALL_TRIANGLE, n)
        corner = factor[start:, start:]
        left = factor[start:, :]
        if start > 0:
            # In column order `left` is B' (start x block): B' <- A^-T B', then B' <- -B' C^-T.
            _dtrmm(
                _char(_LEFT).ctypes, _char(_UPPER).ctypes, _char(_PLAIN).ctypes,
                _char(_NON_UNIT).ctypes, _int(start).ctypes, _int(stop - start).ctypes,
                one.ctypes, factor.ctypes, _int(n).ctypes, left.ctypes, _int(n).ctypes,
            )  # fmt: skip
            _dtrsm(
                _char(_RIGHT).ctypes, _char(_UPPER).ctypes, _char(_PLAIN).ctypes,
                _char(_NON_UNIT).ctypes, _int(start).ctypes, _int(stop - start).ctypes,
                minus.ctypes, corner.ctypes, _int(n).ctypes, left.ctypes, _int(n).ctypes,
            )  # fmt: skip
        for row in range(start, stop):
            own = 1.0 / factor[row, row]
            for column in range(start, row):
                total = 0.0
                for k in range(column, row):
                    total += factor[row, k] * factor[k, column]
                factor[row, column] = -own * total
            factor[row, row] = own


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FAST_MATH)
def _add_four(g, a, row_a, b, row_b, c, row_c, d, row_d):
    for t in range(g.size):
        g[t] += (a * row_a[t] + b * row_b[t]) + (c * row_c[t] + d * row_d[t])


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FAST_MATH)
def add_row(g, a, row):
    """``g += a * row``."""
    for t in range(g.size):
        g[t] += a * row[t]


@njit(nogil=True, cache=True)
def add_rows(g, K, index, weight):
    """``g += weight @ K[index]`` without a temporary copy, four rows per pass."""
    k = 0
    while k + 4 <= weight.size:
        _add_four(
            g,
            weight[k], K[index[k]], weight[k + 1], K[index[k + 1]],
            weight[k + 2], K[index[k + 2]], weight[k + 3], K[index[k + 3]],
        )  # fmt: skip
        k += 4
    while k < weight.size:
        add_row(g, weight[k], K[index[k]])
        k += 1
