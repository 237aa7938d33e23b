"""BLAS on one thread: on a few hundred rows, more threads make it many times slower."""

from __future__ import annotations

import threading
from contextlib import ContextDecorator

from threadpoolctl import LibController, ThreadpoolController

__all__ = ["one_blas_thread"]


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
