"""The Gaussian kernel from inner products, with an exponential that the compiler vectorises.

That of the C library, which NumPy calls for each entry on most processors, takes longer than
everything else in the computation of a Gram matrix.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ._compile import njit

__all__ = ["to_gaussian"]

#: Added to a number, it leaves the nearest integer in the last bits of the sum.
_MAGIC = 1.5 * 2.0**52

#: ln 2 in two parts: products of the first with integers up to 1074 are exact.
_LN2_HIGH = float.fromhex("0x1.62e42feep-1")
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_LOG2_E = float.fromhex("0x1.71547652b82fep0")

#: Exponentials of smaller numbers are 0.
_LEAST = -708.0

_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13 = (
    float(1.0 / np.prod(np.arange(1.0, n + 1.0))) for n in range(2, 14)
)


@intrinsic
def _bits(typing_context, number):
    """The bits of a number as an integer."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _from_bits(typing_context, bits):
    """The number with these bits."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@njit
def to_gaussian(products, left, right, gamma):
    """Overwrite inner products of rows by ``exp(-gamma |x - y|^2)``.

    `left` and `right` are the squared norms of the rows on either side.  With ``x = k ln 2 + r``,
    ``exp(x)`` is ``2^k`` times the Taylor series of ``exp(r)``, ``|r| <= ln 2 / 2``.
    """
    for i in range(products.shape[0]):
        row, own = products[i], left[i]
        for j in range(row.size):
            distance = own + right[j] - 2.0 * row[j]
            x = 0.0 if distance <= 0.0 else -gamma * distance
            shifted = x * _LOG2_E + _MAGIC
            k = shifted - _MAGIC
            r = (x - k * _LN2_HIGH) - k * _LN2_LOW
            high = _C8 + r * (_C9 + r * (_C10 + r * (_C11 + r * (_C12 + r * _C13))))
            series = (
                r * r * (_C2 + r * (_C3 + r * (_C4 + r * (_C5 + r * (_C6 + r * (_C7 + r * high))))))
            )
            power = _from_bits((_bits(shifted) + 1023) << 52)
            row[j] = 0.0 if x < _LEAST else (1.0 + (r + series)) * power
