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
from .forecast import Forecast

__all__ = ["SearchProgress", "duration"]

#: Seconds between lines when there is no terminal.
_BETWEEN_LINES = 30.0

#: A forecast counts as much as this share of the search, done as fast as forecast.
_TRUST = 0.02

#: Units of time, each with the seconds from which it is used.
_UNITS = (("day", 86400.0, 2.0), ("hour", 3600.0, 1.5), ("minute", 60.0, 1.5), ("second", 1.0, 0.0))


class SearchProgress:
    """Progress of a search, shown on standard error while the context is open.

    Parameters
    ----------
    n_candidates, n_splits : int
        How many candidates there are, and how many fits each has; its score is their mean.
    shown : bool
        Whether to show anything.
    forecast : Forecast, optional
        What the search is expected to take.  Without it, all fits are expected to take as long as
        those so far.
    """

    def __init__(
        self,
        n_candidates: int,
        n_splits: int = 1,
        *,
        shown: bool,
        forecast: Forecast | None = None,
    ) -> None:
        self._n_splits, self._scores = n_splits, defaultdict[int, list[float]](list)
        self._unit = "candidates" if n_splits == 1 else "fits"
        self._best, self._shown = -np.inf, shown
        self._total, self._done = n_candidates * n_splits, 0
        self._started = self._told = self._latest = time.monotonic()
        # What is known about other candidates says nothing about these.
        known = forecast is not None and forecast.costs.size == n_candidates
        self._costs = forecast.costs if forecast is not None and known else np.ones(n_candidates)
        self._expected = forecast.seconds if forecast is not None and known else None
        self._cost_done, self._cost = 0.0, float(self._costs.sum())
        console = Console(stderr=True)
        self._as_bar = shown and (console.is_terminal or console.is_jupyter)
        self._bar = progress_bar(
            MofNCompleteColumn(),
            "best {task.fields[best]}",
            TimeElapsedColumn(),
            "left",
            console=console,
            shown=self._as_bar,
            seconds_left=self.seconds_left,
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
        self._cost_done += float(self._costs[candidate]) / self._n_splits
        self._latest = time.monotonic()
        if self._as_bar:
            self._bar.update(self._task, advance=1, best=self._best_in_words)
        elif time.monotonic() - self._told >= _BETWEEN_LINES:
            self._tell()

    def seconds_left(self) -> float | None:
        """Seconds until the search ends; None if nothing is known yet.

        The forecast, corrected by the time that the fits so far took: it weighs as much as a small
        part of the search, as it knows the order of the costs better than their size.
        """
        spent, done, left = self._latest - self._started, self._cost_done, self._cost
        if self._expected is None:
            if not done:
                return None
            pace = spent / done
        else:
            weight = _TRUST * self._cost
            pace = (spent + _TRUST * self._expected) / (done + weight)
        since = time.monotonic() - self._latest
        return max((left - done) * pace - since, 0.0)

    @property
    def _best_in_words(self) -> str:
        return f"{self._best:.4f}" if np.isfinite(self._best) else "-"

    def _tell(self) -> None:
        self._told = time.monotonic()
        text = f"{self._done}/{self._total} {self._unit}, best {self._best_in_words}"
        left = self.seconds_left()
        if left is not None and 0 < self._done < self._total:
            text += f", about {duration(left)} left"
        print(text, file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """A time in words, rounded as an estimate deserves: ``40 minutes``, ``3 hours``."""
    name, unit = next((name, unit) for name, unit, n in _UNITS if seconds >= n * unit)
    count = seconds / unit
    step = 5 if count >= 20 else 1
    rounded = max(step * round(count / step), 1)
    return f"{rounded} {name}{'' if rounded == 1 else 's'}"
