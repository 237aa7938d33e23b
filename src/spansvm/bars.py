"""Bars that show on a terminal how far a long work is."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

__all__ = ["progress_bar"]


def progress_bar(*columns: ProgressColumn | str, console: Console, shown: bool) -> Progress:
    """A bar between the description of a task and the time that is left.

    Parameters
    ----------
    *columns : ProgressColumn or str
        What stands between the bar and the time, as in :class:`rich.progress.Progress`.
    console : rich.console.Console
    shown : bool
        If not, nothing is.
    """
    texts = [TextColumn(column) if isinstance(column, str) else column for column in columns]
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *texts,
        TimeRemainingColumn(),
        console=console,
        disable=not shown,
    )
