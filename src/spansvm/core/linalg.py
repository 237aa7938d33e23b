"""Dense linear algebra without the GIL: the routines of BLAS and LAPACK that SciPy ships.

Matrices are in C order; `n` is their size and `width` the length of their rows, if it differs.  A
symmetric matrix in C order is its own transpose, so LAPACK's "upper" is our lower triangle.
"""

import cython
from cython.cimports.scipy.linalg.cython_blas import dgemm, dsymm, dsyrk, dtrmm, dtrsm
from cython.cimports.scipy.linalg.cython_lapack import dlauum, dpotrf, dpotri, dpotrs


def cholesky(matrix, n):
    """Overwrite the lower triangle of `matrix` with L, ``matrix = L L'``; False if not definite."""
    size: cython.int = n
    info: cython.int = 0
    upper: cython.char = 85
    dpotrf(
        cython.address(upper), cython.address(size), matrix, cython.address(size),
        cython.address(info),
    )  # fmt: skip
    return info == 0


def cholesky_inverse(factor, n):
    """Overwrite the Cholesky factor of a matrix with the whole inverse of that matrix."""
    size: cython.int = n
    info: cython.int = 0
    upper: cython.char = 85
    dpotri(
        cython.address(upper), cython.address(size), factor, cython.address(size),
        cython.address(info),
    )  # fmt: skip
    for row in range(n):
        for column in range(row):
            factor[column * n + row] = factor[row * n + column]


def cholesky_solve(factor, n, rows, count):
    """Overwrite each row of `rows` with its solution of ``L L' x = row``."""
    size: cython.int = n
    number: cython.int = count
    info: cython.int = 0
    upper: cython.char = 85
    dpotrs(
        cython.address(upper), cython.address(size), cython.address(number), factor,
        cython.address(size), rows, cython.address(size), cython.address(info),
    )  # fmt: skip


def lower_solve(factor, n, columns, count, transposed):
    """Overwrite each of `count` columns with its solution of ``L x = column``, or ``L' x``."""
    if count == 0 or n == 0:
        return
    size: cython.int = n
    number: cython.int = count
    one: cython.double = 1.0
    right: cython.char = 82
    upper: cython.char = 85
    kind: cython.char = 84 if transposed else 78
    plain: cython.char = 78
    dtrsm(
        cython.address(right), cython.address(upper), cython.address(kind), cython.address(plain),
        cython.address(number), cython.address(size), cython.address(one), factor,
        cython.address(size), columns, cython.address(number),
    )  # fmt: skip


def lower_inverse(factor, n, width):
    """Overwrite a lower triangle with its inverse.

    Block by block: the rows of a block become ``-C^-1 B A^-1`` of what is above (A), left
    (B) and on the diagonal (C).  LAPACK's own routine is several times slower on one thread.
    """
    length: cython.int = width
    above: cython.int
    block: cython.int
    one: cython.double = 1.0
    minus: cython.double = -1.0
    left: cython.char = 76
    right: cython.char = 82
    upper: cython.char = 85
    plain: cython.char = 78
    start: cython.Py_ssize_t = 0
    while start < n:
        stop = min(start + 32, n)
        if start > 0:
            # In column order the rows of a block are B' (above x block): B' <- A^-T B', then
            # B' <- -B' C^-T.
            above, block = cython.cast(cython.int, start), cython.cast(cython.int, stop - start)
            dtrmm(
                cython.address(left), cython.address(upper), cython.address(plain),
                cython.address(plain), cython.address(above), cython.address(block),
                cython.address(one), factor, cython.address(length), factor + start * width,
                cython.address(length),
            )  # fmt: skip
            dtrsm(
                cython.address(right), cython.address(upper), cython.address(plain),
                cython.address(plain), cython.address(above), cython.address(block),
                cython.address(minus), factor + start * width + start, cython.address(length),
                factor + start * width, cython.address(length),
            )  # fmt: skip
        for row in range(start, stop):
            target = factor + row * width
            own = 1.0 / target[row]
            for column in range(start, row):
                total = 0.0
                for k in range(column, row):
                    total += target[k] * factor[k * width + column]
                target[column] = -own * total
            target[row] = own
        start += 32


def square_lower(triangle, n, width):
    """Overwrite a lower triangle T with the lower triangle of ``T'T``."""
    size: cython.int = n
    length: cython.int = width
    info: cython.int = 0
    upper: cython.char = 85
    dlauum(
        cython.address(upper), cython.address(size), triangle, cython.address(length),
        cython.address(info),
    )  # fmt: skip


def add_square(matrix, n, width, sign, rows, count):
    """``matrix += sign * rows' rows`` in the lower triangle of `matrix`."""
    size: cython.int = n
    length: cython.int = width
    number: cython.int = count
    one: cython.double = 1.0
    scale: cython.double = sign
    upper: cython.char = 85
    plain: cython.char = 78
    dsyrk(
        cython.address(upper), cython.address(plain), cython.address(size), cython.address(number),
        cython.address(scale), rows, cython.address(size), cython.address(one), matrix,
        cython.address(length),
    )  # fmt: skip


def multiply_symmetric(matrix, n, width, rows, count, result):
    """``result = rows @ matrix``, of which only the lower triangle is read."""
    size: cython.int = n
    length: cython.int = width
    number: cython.int = count
    one: cython.double = 1.0
    zero: cython.double = 0.0
    left: cython.char = 76
    upper: cython.char = 85
    dsymm(
        cython.address(left), cython.address(upper), cython.address(size), cython.address(number),
        cython.address(one), matrix, cython.address(length), rows, cython.address(size),
        cython.address(zero), result, cython.address(size),
    )  # fmt: skip


def multiply(left, right, result, count, inner, n):
    """``result = left @ right``, of shapes (count, inner) and (inner, n)."""
    size: cython.int = n
    number: cython.int = count
    between: cython.int = inner
    one: cython.double = 1.0
    zero: cython.double = 0.0
    plain: cython.char = 78
    dgemm(
        cython.address(plain), cython.address(plain), cython.address(size), cython.address(number),
        cython.address(between), cython.address(one), right, cython.address(size), left,
        cython.address(between), cython.address(zero), result, cython.address(size),
    )  # fmt: skip


def subtract_products(matrix, rows, others, count, n):
    """``matrix -= rows @ others'``, for a result that is symmetric."""
    size: cython.int = n
    number: cython.int = count
    one: cython.double = 1.0
    minus: cython.double = -1.0
    plain: cython.char = 78
    transposed: cython.char = 84
    dgemm(
        cython.address(transposed), cython.address(plain), cython.address(number),
        cython.address(number), cython.address(size), cython.address(minus), rows,
        cython.address(size), others, cython.address(size), cython.address(one), matrix,
        cython.address(number),
    )  # fmt: skip
