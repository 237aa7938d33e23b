"""Progress of a search: candidates done, the best score so far, the time left.

A bar on a terminal; elsewhere, as in the log of a batch job, a line now and then and one at the
end.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType

import numpy as np
from rich.console import Console
from rich.progress import MofNCompleteColumn, TimeElapsedColumn

from ..bars import progress_bar

__all__ = ["SearchProgress"]

#: Seconds between lines when there is no terminal.
_BETWEEN_LINES = 30.0


class SearchProgress:
    """Progress of a search, shown on standard error while the context is open.

    Parameters
    ----------
    total : int
        Number of candidates.
    shown : bool
        Whether to show anything.
    """

    def __init__(self, total: int, *, shown: bool) -> None:
        self._best, self._shown = -np.inf, shown
        self._total, self._done = total, 0
        self._started = self._told = time.monotonic()
        console = Console(stderr=True)
        self._as_bar = shown and (console.is_terminal or console.is_jupyter)
        self._bar = progress_bar(
            MofNCompleteColumn(),
            "best {task.fields[best]}",
            TimeElapsedColumn(),
            "left",
            console=console,
            shown=self._as_bar,
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
        if self._shown and not self._as_bar:
            self._tell()

    def advance(self, score: float) -> None:
        """Record one more candidate, with its score (NaN if it failed)."""
        if not self._shown:
            return
        if score > self._best:
            self._best = score
        self._done += 1
        if self._as_bar:
            self._bar.update(self._task, advance=1, best=self._best_in_words)
        elif time.monotonic() - self._told >= _BETWEEN_LINES:
            self._tell()

    @property
    def _best_in_words(self) -> str:
        return f"{self._best:.4f}" if np.isfinite(self._best) else "-"

    def _tell(self) -> None:
        self._told = time.monotonic()
        text = f"{self._done}/{self._total} candidates, best {self._best_in_words}"
        if 0 < self._done < self._total:
            left = (self._told - self._started) * (self._total - self._done) / self._done
            text += (
                f", about {left:.0f} s left" if left < 100 else f", about {left / 60:.0f} min left"
            )
        print(text, file=sys.stderr, flush=True)
