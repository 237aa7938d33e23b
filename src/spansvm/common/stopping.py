"""How work in other threads is stopped: Python tells the main thread alone of Ctrl-C."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["check_stop", "heeding"]

_THREAD = threading.local()


@contextmanager
def heeding(stop: threading.Event) -> Iterator[None]:
    """Context in which the work of this thread ends soon after `stop` is set."""
    before = getattr(_THREAD, "stop", None)
    _THREAD.stop = stop
    try:
        yield
    finally:
        _THREAD.stop = before


def check_stop() -> None:
    """KeyboardInterrupt if this thread is to stop; long work asks every tenth of a second."""
    stop = getattr(_THREAD, "stop", None)
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt
