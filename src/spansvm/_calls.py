"""Calls between compiled functions through their addresses.

Numba compiles a function together with all it calls.  A function that only directs others would
cost as much compiling as all of them; here it calls them through pointers, which costs nothing.
The addresses are passed as an argument, so that the code of the caller can be kept on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

__all__ = ["MARKS", "MATRIX", "POINTS", "ROW", "addresses", "call", "reachable"]

#: The functions that are called so, in the order of their addresses.
_NAMES = (
    "sweep", "newton", "newton_solve", "factorise_into", "fill_distances", "move_bounds", "run",
    "finish_at", "train_one", "leave_out", "start_inverse", "change_points", "inverse_walk",
    "distances_by_inverse", "find_drops", "remove_all",
)  # fmt: skip

#: Arguments of the types that compiled functions take: numbers, points, marks, a factor.
ROW, POINTS, MARKS = np.empty(1), np.empty(1, dtype=np.int64), np.empty(1, dtype=np.bool_)
MATRIX = np.empty((1, 1))

_nb: Any = numba
_reachable: dict[str, tuple[Any, Callable[[np.ndarray], tuple[Any, ...]]]] = {}
_known: dict[tuple[np.dtype, int], np.ndarray] = {}


def reachable(function: Any, examples: Callable[[np.ndarray], tuple[Any, ...]]) -> None:
    """Let a compiled function be called through its address.

    `examples` gives arguments of the types that it is called with, for a kernel matrix.
    """
    _reachable[function.__name__] = function, examples


def addresses(dtype: np.dtype) -> np.ndarray:
    """Where the functions are, for matrices of this precision; they are compiled if necessary."""
    key = dtype, len(_reachable)
    if key not in _known:
        found = np.zeros(len(_NAMES), dtype=np.int64)
        for name, (function, _) in list(_reachable.items()):
            signature = _signature(name, dtype)
            function.compile(signature)
            result = function.overloads[signature]
            pointer = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
            found[_NAMES.index(name)] = pointer
        _known[key] = found
    return _known[key]


def _signature(name: str, dtype: np.dtype) -> tuple[Any, ...]:
    examples = _reachable[name][1]
    return tuple(map(_nb.typeof, examples(np.empty((1, 1), dtype))))


@intrinsic
def _call(typing_context, function, at, *arguments):
    """``function(*arguments)`` with its address from the array `at`."""
    name = function.dispatcher.__name__
    if arguments != _signature(name, np.dtype(str(arguments[0].dtype))):
        raise TypingError(f"{name} is called with other types than its address is for")
    function.dispatcher.compile(arguments)
    kind = function.dispatcher.overloads[arguments].signature.return_type
    several = _nb.types.StarArgTuple(arguments)

    def generate(context, builder, signature, values):
        array = context.make_array(at)(context, builder, values[1])
        place = context.get_constant(_nb.types.intp, _NAMES.index(name))
        entry = cgutils.get_item_pointer(context, builder, at, array, [place])
        convention = context.call_conv
        pointer_kind = convention.get_function_type(kind, arguments).as_pointer()
        pointer = builder.inttoptr(builder.load(entry), pointer_kind)
        passed = cgutils.unpack_tuple(builder, values[2], len(arguments))
        status, result = convention.call_function(builder, pointer, kind, arguments, passed)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return result

    return kind(function, at, several), generate


call: Any = _call  # its type is that of the function that is called
