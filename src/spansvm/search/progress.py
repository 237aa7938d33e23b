"""A bar that shows how far a search is: done of total, the best so far, the time left."""

from __future__ import annotations

from types import TracebackType

import numpy as np
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

__all__ = ["SearchProgress"]


class SearchProgress:
    """Progress of a search, shown on standard error while the context is open.

    Parameters
    ----------
    total : int
        How many candidates there are.
    shown : bool
        If not, nothing is.
    """

    def __init__(self, total: int, *, shown: bool) -> None:
        self._best, self._shown = -np.inf, shown
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("best {task.fields[best]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not shown,
        )
        self._task = self._bar.add_task("candidates", total=total, best="-")

    def __enter__(self) -> SearchProgress:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def advance(self, score: float) -> None:
        """One more candidate is done, with this score (NaN if it failed)."""
        if not self._shown:
            return
        if score > self._best:
            self._best = score
        best = f"{self._best:.4f}" if np.isfinite(self._best) else "-"
        self._bar.update(self._task, advance=1, best=best)
