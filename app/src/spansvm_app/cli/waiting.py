"""Long work of one piece, such as the last training: a bar on a terminal, elsewhere some lines."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from spansvm.blocks import telling_time as told_on_standard_error

from .terminal import Terminal

__all__ = ["telling_time"]


def telling_time(terminal: Terminal, what: str, expected: float) -> AbstractContextManager[None]:
    """Show how long the work within the block takes, unless the terminal is to be quiet.

    Parameters
    ----------
    terminal : Terminal
    what : str
        The work, such as "training".
    expected : float
        Seconds, as far as is known.
    """
    if terminal.quiet:
        return nullcontext()
    return told_on_standard_error(what, expected, terminal.progress)
