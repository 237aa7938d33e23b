"""``numba.njit`` with an on-disk cache that notices every change of the compiled sources.

The machine code of a function includes that of the functions it calls, but numba keeps it as long
as the function's own file is unchanged: after an upgrade that changes only a called function's
file, it would keep running the old code.  Here the names of cache files contain a hash of all
compiled sources.  Files from different sources never mix, even while two processes, one from
before and one from after an upgrade, use the same folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

__all__ = ["njit", "sources_hash"]

#: Marks of a source with compiled functions, or with tuples that are passed to them.
_MARKS = (b"from ._compile import njit", b"(NamedTuple)")


@cache
def sources_hash(folder: Path) -> str:
    """A hash of all modules in a folder that take part in compiled code."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        source = path.read_bytes()
        if any(mark in source for mark in _MARKS):
            digest.update(f"{path.name} {len(source)} ".encode() + source)
    return digest.hexdigest()[:16]


def njit(**options: Any) -> Callable[[Callable], Any]:
    """``numba.njit`` with these options and a cache that belongs to the current sources."""

    def decorate(function: Callable) -> Any:
        dispatcher = numba.njit(**options)(function)
        if options.get("cache"):
            _rename(dispatcher, Path(function.__code__.co_filename).parent)
        return dispatcher

    return decorate


def _rename(dispatcher: Any, folder: Path) -> None:
    """Put the hash of the sources into the names of a function's cache files.

    Numba still decides where to keep them (``NUMBA_CACHE_DIR``, beside the source, in the user's
    cache folder).  If its internals have changed, its own cache is left as it is.
    """
    try:
        known = dispatcher._cache
        own = type(known._cache_file)(
            cache_path=known._cache_path,
            filename_base=f"{known._impl.filename_base}-{sources_hash(folder)}",
            source_stamp=known._cache_file._source_stamp,
        )
    except (AttributeError, TypeError, OSError):
        return
    known._cache_file = own
