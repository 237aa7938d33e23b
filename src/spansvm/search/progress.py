"""Progress of a search: candidates done, the best score so far, the time left.

A bar on a terminal; elsewhere, as in the log of a batch job, a line now and then and one at the
end.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
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
    n_candidates, n_splits : int
        How many candidates there are, and how many fits each has; its score is their mean.
    shown : bool
        Whether to show anything.
    """

    def __init__(self, n_candidates: int, n_splits: int = 1, *, shown: bool) -> None:
        self._n_splits, self._scores = n_splits, defaultdict[int, list[float]](list)
        self._unit = "candidates" if n_splits == 1 else "fits"
        self._best, self._shown = -np.inf, shown
        self._total, self._done = n_candidates * n_splits, 0
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
        self._task = self._bar.add_task(self._unit, total=self._total, best="-")

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

    def advance(self, candidate: int, score: float) -> None:
        """Record one more fit of a candidate, with its score (NaN if it failed)."""
        if not self._shown:
            return
        scores = self._scores[candidate]
        scores.append(score)
        mean = sum(scores) / self._n_splits
        if len(scores) == self._n_splits and mean > self._best:
            self._best = mean
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
        text = f"{self._done}/{self._total} {self._unit}, best {self._best_in_words}"
        if 0 < self._done < self._total:
            left = (self._told - self._started) * (self._total - self._done) / self._done
            text += (
                f", about {left:.0f} s left" if left < 100 else f", about {left / 60:.0f} min left"
            )
        print(text, file=sys.stderr, flush=True)
