"""Plumbing between arrays and compiled code: one array type, one thread, LAPACK without the GIL.

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
from numba import int32, types, uint8
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic

from ._compile import FAST_MATH, njit


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
_dlauum = _external("cython_lapack", "dlauum", _CHR, _I32, _F64, _I32, _I32)
_dpotri = _external("cython_lapack", "dpotri", _CHR, _I32, _F64, _I32, _I32)
_dpotrs = _external("cython_lapack", "dpotrs", _CHR, _I32, _I32, _F64, _I32, _F64, _I32, _I32)
_dtrsm = _external(
    "cython_blas", "dtrsm", _CHR, _CHR, _CHR, _CHR, _I32, _I32, _F64, _F64, _I32, _F64, _I32
)
_dtrmm = _external(
    "cython_blas", "dtrmm", _CHR, _CHR, _CHR, _CHR, _I32, _I32, _F64, _F64, _I32, _F64, _I32
)
_dsyrk = _external(
    "cython_blas", "dsyrk", _CHR, _CHR, _I32, _I32, _F64, _F64, _I32, _F64, _F64, _I32
)
_dsymm = _external(
    "cython_blas", "dsymm", _CHR, _CHR, _I32, _I32, _F64, _F64, _I32, _F64, _I32, _F64, _F64, _I32
)
_dgemm = _external(
    "cython_blas", "dgemm",
    _CHR, _CHR, _I32, _I32, _I32, _F64, _F64, _I32, _F64, _I32, _F64, _F64, _I32,
)  # fmt: skip

_UPPER, _LEFT, _RIGHT, _PLAIN, _TRANSPOSED, _NON_UNIT = (ord(c) for c in "ULRNTN")

#: Triangles of at most this size are inverted by plain loops.
_SMALL_TRIANGLE = 32


@intrinsic
def _reference(typing_context, value):
    """A pointer to a copy of a number on the stack: LAPACK takes all arguments by reference."""

    def generate(context, builder, signature, arguments):
        return cgutils.alloca_once_value(builder, arguments[0])

    return types.CPointer(value)(value), generate


@intrinsic
def _number_at(typing_context, pointer):
    """The number that a pointer refers to."""

    def generate(context, builder, signature, arguments):
        return builder.load(arguments[0])

    return pointer.dtype(pointer), generate


@intrinsic
def _entry(typing_context, matrix, row, column):
    """A pointer to an entry of a matrix in C order."""

    def generate(context, builder, signature, arguments):
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        return cgutils.get_item_pointer(context, builder, kind, array, arguments[1:])

    return types.CPointer(matrix.dtype)(matrix, types.intp, types.intp), generate


@njit
def cholesky(matrix):
    """Overwrite the lower triangle of `matrix` with L, ``matrix = L L'``; False if not definite."""
    n, info = _reference(int32(matrix.shape[0])), _reference(int32(0))
    _dpotrf(_reference(uint8(_UPPER)), n, _entry(matrix, 0, 0), n, info)
    return _number_at(info) == 0


@njit
def cholesky_inverse(factor):
    """Overwrite the Cholesky factor of a matrix with the whole inverse of that matrix."""
    size = factor.shape[0]
    n, info = _reference(int32(size)), _reference(int32(0))
    _dpotri(_reference(uint8(_UPPER)), n, _entry(factor, 0, 0), n, info)
    for row in range(size):
        for column in range(row):
            factor[column, row] = factor[row, column]


@njit
def cholesky_solve(factor, rows):
    """Overwrite each row of `rows` with its solution of ``L L' x = row``."""
    count, size = rows.shape
    n, info = _reference(int32(size)), _reference(int32(0))
    _dpotrs(
        _reference(uint8(_UPPER)), n, _reference(int32(count)), _entry(factor, 0, 0), n,
        _entry(rows, 0, 0), n, info,
    )  # fmt: skip


@njit
def lower_solve(factor, columns, transposed):
    """Overwrite each column of `columns` with its solution of ``L x = column``, or ``L' x``."""
    size, count = columns.shape
    if count == 0:
        return
    n, m = _reference(int32(size)), _reference(int32(count))
    _dtrsm(
        _reference(uint8(_RIGHT)), _reference(uint8(_UPPER)),
        _reference(uint8(_TRANSPOSED if transposed else _PLAIN)), _reference(uint8(_NON_UNIT)),
        m, n, _reference(1.0), _entry(factor, 0, 0), n, _entry(columns, 0, 0), m,
    )  # fmt: skip


@njit
def lower_inverse(factor, size):
    """Overwrite the first `size` rows of a lower triangle with their inverse.

    Block by block: the rows of a block become ``-C^-1 B A^-1`` of what is above (A), left
    (B) and on the diagonal (C).  LAPACK's own routine is several times slower on one thread.
    """
    n = _reference(int32(factor.shape[1]))
    upper, plain, non_unit = (
        _reference(uint8(_UPPER)), _reference(uint8(_PLAIN)), _reference(uint8(_NON_UNIT)),
    )  # fmt: skip
    for start in range(0, size, _SMALL_TRIANGLE):
        stop = min(start + _SMALL_TRIANGLE, size)
        if start > 0:
            # In column order the rows of a block are B' (above x block): B' <- A^-T B', then
            # B' <- -B' C^-T.
            above, block = _reference(int32(start)), _reference(int32(stop - start))
            left, corner = _entry(factor, start, 0), _entry(factor, start, start)
            _dtrmm(
                _reference(uint8(_LEFT)), upper, plain, non_unit, above, block,
                _reference(1.0), _entry(factor, 0, 0), n, left, n,
            )  # fmt: skip
            _dtrsm(
                _reference(uint8(_RIGHT)), upper, plain, non_unit, above, block,
                _reference(-1.0), corner, n, left, n,
            )  # fmt: skip
        for row in range(start, stop):
            own = 1.0 / factor[row, row]
            for column in range(start, row):
                total = 0.0
                for k in range(column, row):
                    total += factor[row, k] * factor[k, column]
                factor[row, column] = -own * total
            factor[row, row] = own


@njit
def square_lower(triangle, size):
    """Overwrite the first `size` rows of a lower triangle T with the lower triangle of ``T'T``."""
    info = _reference(int32(0))
    _dlauum(
        _reference(uint8(_UPPER)), _reference(int32(size)), _entry(triangle, 0, 0),
        _reference(int32(triangle.shape[1])), info,
    )  # fmt: skip


@njit
def add_square(matrix, size, sign, rows):
    """``matrix += sign * rows' rows`` in the lower triangle of its first `size` rows."""
    count, width = rows.shape
    _dsyrk(
        _reference(uint8(_UPPER)), _reference(uint8(_PLAIN)), _reference(int32(size)),
        _reference(int32(count)), _reference(sign), _entry(rows, 0, 0),
        _reference(int32(width)), _reference(1.0), _entry(matrix, 0, 0),
        _reference(int32(matrix.shape[1])),
    )  # fmt: skip


@njit
def multiply_symmetric(matrix, rows, result):
    """``result = rows @ matrix``, of which only the lower triangle of the first rows is read."""
    count, size = rows.shape
    n = _reference(int32(size))
    _dsymm(
        _reference(uint8(_LEFT)), _reference(uint8(_UPPER)), n, _reference(int32(count)),
        _reference(1.0), _entry(matrix, 0, 0), _reference(int32(matrix.shape[1])),
        _entry(rows, 0, 0), n, _reference(0.0), _entry(result, 0, 0), n,
    )  # fmt: skip


@njit
def multiply(left, right, result):
    """``left @ right``, in the first rows of `result`."""
    count, size = left.shape
    n = _reference(int32(right.shape[1]))
    _dgemm(
        _reference(uint8(_PLAIN)), _reference(uint8(_PLAIN)), n, _reference(int32(count)),
        _reference(int32(size)), _reference(1.0), _entry(right, 0, 0), n, _entry(left, 0, 0),
        _reference(int32(size)), _reference(0.0), _entry(result, 0, 0), n,
    )  # fmt: skip


@njit
def subtract_products(matrix, rows, others):
    """``matrix -= rows @ others'``, for a result that is symmetric."""
    count, size = rows.shape
    n, m = _reference(int32(size)), _reference(int32(count))
    _dgemm(
        _reference(uint8(_TRANSPOSED)), _reference(uint8(_PLAIN)), m, m, n, _reference(-1.0),
        _entry(rows, 0, 0), n, _entry(others, 0, 0), n, _reference(1.0),
        _entry(matrix, 0, 0), m,
    )  # fmt: skip


@njit(fastmath=FAST_MATH)
def _add_four(g, a, row_a, b, row_b, c, row_c, d, row_d):
    for t in range(g.size):
        g[t] += (a * row_a[t] + b * row_b[t]) + (c * row_c[t] + d * row_d[t])


@njit(fastmath=FAST_MATH)
def add_row(g, a, row):
    """``g += a * row``."""
    for t in range(g.size):
        g[t] += a * row[t]


@njit
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
