"""``numba.njit`` with a cache of machine code on disk: one file per function and signature.

Numba's own cache keeps machine code as long as the function's own file is unchanged, although it
includes that of the functions it calls; it keeps an index that two compiling processes overwrite
for each other; it fails where no folder can be written; and it loads the whole compiler before
it reads anything.  Here, the name of a file is a hash of everything that the code depends on: all
compiled sources, the signature, the processor, the versions.  A file is written under another
name and then renamed, so it is complete or absent.  A file that cannot be read counts as absent,
and one that cannot be written is done without.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import multiprocessing
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import runtime
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

__all__ = ["FAST_MATH", "cache_folder", "compiled_functions", "njit"]

# Reassociation lets LLVM vectorise; NaN and infinity keep their meaning, so that bad
# input is found in the result instead of being undefined behaviour.
FAST_MATH = {"contract", "arcp", "nsz", "reassoc"}

#: Marks of a source with compiled functions, or with tuples that are passed to them.
_MARKS = (b"@njit", b"@intrinsic", b"(NamedTuple)")

#: The versions of numba in which compiled code needs no more than memory management.
_FIRST, _LAST = (0, 60), (0, 68)

#: Seconds of compiling after which the user is told.
_LONG = 2.0

_NOTICE = (
    "spansvm is compiling its solver for this machine, which takes about forty seconds; "
    "later runs find it in %s."
)

_logger = logging.getLogger("spansvm")

# The insides of numba, whose types differ from version to version.
_numba: Any = numba
_rebuild: Any = CompileResult._rebuild
_dumps: Any = dumps
_runtime: Any = runtime

compiled_functions: list[Any] = []


def njit(function: Callable | None = None, *, fastmath: set[str] | bool = False) -> Any:
    """``numba.njit`` as every compiled function here needs it, with the cache described above.

    Division by zero gives infinity, without a branch for an exception at each division.
    """
    if function is None:
        return partial(njit, fastmath=fastmath)
    dispatcher = _numba.njit(
        nogil=True, error_model="numpy", fastmath=fastmath, no_cfunc_wrapper=True
    )(function)
    if hasattr(dispatcher, "_cache"):  # not if numba's JIT is disabled
        dispatcher._cache = _Cache(function)
        compiled_functions.append(dispatcher)
    return dispatcher


class _Cache:
    """What numba asks of the cache of a function."""

    def __init__(self, function: Callable) -> None:
        self._name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self._sources = Path(function.__code__.co_filename).parent

    @property
    def cache_path(self) -> str:
        return str(cache_folder(self._sources))

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled function for a signature; None if there is none that can be used."""
        try:
            content = self._path(signature, target).read_bytes()
            _prepare(target)
            return _rebuild(target, *pickle.loads(content))
        except Exception:  # absent, unreadable, or from another numba after all
            _clock.start()
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Write a compiled function, if possible."""
        _clock.stop()
        path = self._path(signature, result.target_context)
        with contextlib.suppress(OSError), _complete(path) as draft:
            draft.write_bytes(_dumps(result._reduce()))

    def _path(self, signature: Any, target: Any) -> Path:
        content = (_origin(self._sources), target.codegen().magic_tuple(), str(signature))
        key = hashlib.sha256(repr(content).encode()).hexdigest()[:24]
        return cache_folder(self._sources) / f"{self._name}-{key}.nbc"

    def enable(self) -> None:
        """Nothing: it is always enabled."""

    disable = flush = enable


def _prepare(target: Any) -> None:
    """Initialise numba as far as compiled code needs it.

    Its full initialisation takes longer than a small search.  In versions in which nothing else is
    needed, only the symbols for memory management are set up.
    """
    if _FIRST <= tuple(map(int, numba.__version__.split(".")[:2])) <= _LAST:
        _runtime.rtsys.initialize(target)
    else:
        target.refresh()


@cache
def _origin(folder: Path) -> tuple[str, ...]:
    """A hash of all sources in a folder that take part in compiled code, and the versions."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        source = path.read_bytes()
        if any(mark in source for mark in _MARKS):
            digest.update(f"{path.name} {len(source)} ".encode() + source)
    return digest.hexdigest(), numba.__version__, llvmlite.__version__, sys.version


@contextlib.contextmanager
def _complete(path: Path) -> Iterator[Path]:
    """A file of another name in the same folder, renamed to `path` at the end."""
    handle, name = tempfile.mkstemp(prefix=path.stem, suffix=".tmp", dir=path.parent)
    os.close(handle)
    try:
        yield Path(name)
        os.replace(name, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


@cache
def cache_folder(sources: Path = Path(__file__).parent) -> Path:
    """Where machine code is kept: the first of the usual places that can be written.

    ``NUMBA_CACHE_DIR``, beside the sources, the user's cache folder, a temporary folder.
    """
    for folder in _folders(sources):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return _temporary_folder()


def _folders(sources: Path) -> Iterator[Path]:
    if _numba.config.CACHE_DIR:
        yield Path(_numba.config.CACHE_DIR) / sources.name
    yield sources / "__pycache__"
    local = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME")
    with contextlib.suppress(RuntimeError):  # no home
        default = "Library/Caches" if sys.platform == "darwin" else ".cache"
        yield Path(local or Path.home() / default) / sources.name


def _temporary_folder() -> Path:
    """A temporary folder that no one else can write to: what it holds is executed."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"spansvm-{user}"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if status.st_uid == user and not status.st_mode & 0o022 and not folder.is_symlink():
            return folder
    return Path(tempfile.mkdtemp(prefix="spansvm-"))


class _Clock:
    """Tells the user, once, if compiling takes long."""

    def __init__(self) -> None:
        self._since = self._spent = 0.0
        self._depth, self._told = 0, False

    def start(self) -> None:
        """A function begins to compile, perhaps because another needs it."""
        now = time.perf_counter()
        if self._depth == 0:
            self._since = now
        self._depth += 1
        if not self._told and self._spent + now - self._since > _LONG:
            self._told = True
            if multiprocessing.parent_process() is None:
                _logger.warning(_NOTICE, cache_folder())

    def stop(self) -> None:
        """A function is compiled."""
        self._depth -= 1
        if self._depth == 0:
            self._spent += time.perf_counter() - self._since


_clock = _Clock()
