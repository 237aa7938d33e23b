"""Progress bars for the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

__all__ = ["progress_bar"]


def progress_bar(*columns: ProgressColumn | str, console: Console, shown: bool) -> Progress:
    """A progress bar with a description before it and the remaining time after it.

    Parameters
    ----------
    *columns : ProgressColumn or str
        What to show between the bar and the time, as in :class:`rich.progress.Progress`.
    console : rich.console.Console
    shown : bool
        Whether to show anything at all.
    """
    texts = [TextColumn(column) if isinstance(column, str) else column for column in columns]
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *texts,
        TimeRemainingColumn(),
        # In older versions of rich, a bar that is not shown still ends with an empty line.
        console=console if shown else Console(quiet=True),
        disable=not shown,
    )
