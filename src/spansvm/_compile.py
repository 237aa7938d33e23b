"""``numba.njit`` with a cache on disk that notices every change of the compiled sources.

The machine code of a function contains that of the functions it calls, but numba keeps it for as
long as the function's own file stays the same: after an upgrade that leaves a file as it was, it
would go on running what another file used to say.  Here the names of the cached files contain a
hash of all sources that compiled code is made of.  Files of different sources never meet, not even
while two processes, one before and one after an upgrade, use the same folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

__all__ = ["njit"]

#: What stands in a source that compiled code is made of: functions, or tuples that they are given.
_MARKS = (b"from ._compile import njit", b"(NamedTuple)")


@cache
def _sources_hash(folder: Path) -> str:
    """Another one for every change of the modules in a folder that compiled code is made of."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        source = path.read_bytes()
        if any(mark in source for mark in _MARKS):
            digest.update(f"{path.name} {len(source)} ".encode() + source)
    return digest.hexdigest()[:16]


def njit(**options: Any) -> Callable[[Callable], Any]:
    """``numba.njit`` with these options; what is cached belongs to the present sources."""

    def decorate(function: Callable) -> Any:
        dispatcher = numba.njit(**options)(function)
        if options.get("cache"):
            _rename(dispatcher, Path(function.__code__.co_filename).parent)
        return dispatcher

    return decorate


def _rename(dispatcher: Any, folder: Path) -> None:
    """Put the hash of the sources into the names of the files that a function is cached in.

    Where numba decides to keep them (``NUMBA_CACHE_DIR``, beside the source, in the user's own
    cache) is left to it, and so is all if its insides are not as they are known.
    """
    try:
        known = dispatcher._cache
        own = type(known._cache_file)(
            cache_path=known._cache_path,
            filename_base=f"{known._impl.filename_base}-{_sources_hash(folder)}",
            source_stamp=known._cache_file._source_stamp,
        )
    except (AttributeError, TypeError, OSError):
        return
    known._cache_file = own
