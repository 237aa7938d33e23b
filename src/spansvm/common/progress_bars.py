"""Progress bars for the terminal."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

__all__ = ["progress_bar"]


def progress_bar(
    *columns: ProgressColumn | str,
    console: Console,
    shown: bool,
    seconds_left: Callable[[], float | None] | None = None,
) -> Progress:
    """A progress bar with a description before it and the remaining time after it.

    Parameters
    ----------
    *columns : ProgressColumn or str
        What to show between the bar and the time, as in :class:`rich.progress.Progress`.
    console : rich.console.Console
    shown : bool
        Whether to show anything at all.
    seconds_left : callable, optional
        The remaining time, if more is known about it than the pace so far.
    """
    texts = [TextColumn(column) if isinstance(column, str) else column for column in columns]
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *texts,
        TimeRemainingColumn() if seconds_left is None else _TimeLeft(seconds_left),
        # In older versions of rich, a bar that is not shown still ends with an empty line.
        console=console if shown else Console(quiet=True),
        disable=not shown,
    )


class _TimeLeft(ProgressColumn):
    """The remaining time as somebody else computes it."""

    max_refresh = 0.5

    def __init__(self, seconds_left: Callable[[], float | None]) -> None:
        self._seconds_left = seconds_left
        super().__init__()

    def render(self, task: Task) -> Text:
        seconds = 0.0 if task.finished else self._seconds_left()
        shown = "-:--:--" if seconds is None else str(timedelta(seconds=round(seconds)))
        return Text(shown, style="progress.remaining")
