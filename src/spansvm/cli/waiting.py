"""Long work of one piece, such as the last training: a bar on a terminal, elsewhere some lines."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..search.evaluation.progress import Heartbeat, duration, terminal_bar
from .terminal import Terminal

__all__ = ["telling_time"]

#: Seconds until the first line, and between lines.
_FIRST, _BETWEEN = 10.0, 30.0


@contextmanager
def telling_time(terminal: Terminal, what: str, expected: float) -> Iterator[None]:
    """Show how long the work within the block has taken, and what is left of the expected seconds.

    Parameters
    ----------
    terminal : Terminal
    what : str
        The work, such as "training".
    expected : float
        Seconds, as far as is known; when they are over, nothing is said about what is left.
    """
    if terminal.quiet:
        yield
        return
    started = time.monotonic()

    def left() -> float | None:
        seconds = expected - (time.monotonic() - started)
        return seconds if seconds > 0 else None

    def tell() -> None:
        remaining = left()
        ending = "" if remaining is None else f", about {duration(remaining)} left"
        terminal.progress(f"{what}: {duration(time.monotonic() - started)} so far{ending}")

    bar = terminal_bar(seconds_left=left)
    pulse = Heartbeat(_FIRST, _BETWEEN, tell)
    if bar is None:
        pulse.start()
    else:
        bar.add_task(what, total=None)
        bar.start()
    try:
        yield
    finally:
        pulse.stop()
        if bar is not None:
            bar.stop()
