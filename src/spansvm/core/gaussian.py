"""The Gaussian kernel from inner products, with an exponential that the compiler vectorises.

That of the C library, which NumPy calls for each entry on most processors, takes longer than
everything else in the computation of a Gram matrix.  Built once for every level of processor;
nothing here may be reassociated.
"""

import cython
from cython.cimports.libc.string import memcpy

__all__ = ["to_gaussian"]


def to_gaussian(
    products: cython.double[:, ::1],
    left: cython.const[cython.double][::1],
    right: cython.const[cython.double][::1],
    gamma: cython.double,
):
    """Overwrite inner products of rows by ``exp(-gamma |x - y|^2)``.

    `left` and `right` are the squared norms of the rows on either side.
    """
    rows, n = products.shape[0], products.shape[1]
    if left.shape[0] != rows or right.shape[0] != n:
        raise ValueError("There must be a squared norm for every row on either side.")
    if rows == 0 or n == 0:
        return
    with cython.nogil:
        for i in range(rows):
            _exponentials(
                cython.address(products[i, 0]), left[i], cython.address(right[0]), gamma, n
            )


def _exponentials(row, own, others, gamma, n):
    for j in range(n):
        distance = own + others[j] - 2.0 * row[j]
        row[j] = _exp(0.0 if distance <= 0.0 else -gamma * distance)


def _exp(x):
    """``exp(x)`` for a number that is not positive; 0 below -708.

    With ``x = k ln 2 + r`` it is ``2^k`` times the Taylor series of ``exp(r)``,
    ``|r| <= ln 2 / 2``.  Added to a number, 1.5 * 2^52 leaves the nearest integer in the last bits
    of the sum.  ln 2 is split in two parts: products of the first with such integers are exact.
    """
    bits: cython.ulonglong
    power: cython.double
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    k = shifted - 6755399441055744.0
    r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10
    high = 1.0 / 39916800.0 + r * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0))
    high = 1.0 / 40320.0 + r * (1.0 / 362880.0 + r * (1.0 / 3628800.0 + r * high))
    series = 1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0 + r * high))
    series = r * r * (1.0 / 2.0 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * series)))
    memcpy(cython.address(bits), cython.address(shifted), 8)
    bits = (bits + 1023) << 52
    memcpy(cython.address(power), cython.address(bits), 8)
    value = (1.0 + (r + series)) * power
    return 0.0 if x < -708.0 else value
