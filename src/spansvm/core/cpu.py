"""What this processor can do."""

from cython.cimports.spansvm.core.cpu import spansvm_has_v3

__all__ = ["has_v3"]


def has_v3():
    """Whether it has AVX2, FMA and the bit operations of x86-64-v3, and the system uses them."""
    return bool(spansvm_has_v3())
