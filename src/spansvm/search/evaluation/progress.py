"""Progress of a search: candidates done, the best score so far, the time left.

A bar on a terminal, if rich is installed; elsewhere, as in the log of a batch job, a line now and
then and one at the end.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from .forecast import Forecast

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["SearchProgress", "duration", "telling_time"]

#: Seconds between lines when there is no terminal, and until the first one.
_BETWEEN_LINES, _FIRST_LINE = 30.0, 10.0

#: A forecast counts as much as this share of the search, done as fast as forecast.
_TRUST = 0.02

#: The pace of so many of the latest fits limits the time left from below; those to come may be
#: quicker by this factor.
_LATEST, _QUICKER = 8, 0.25

#: Seconds in which the time left that is shown follows the one that is expected by then.
_SETTLED = 10.0

#: Units of time, each with the seconds from which it is used.
_UNITS = (("day", 86400.0, 2.0), ("hour", 3600.0, 1.5), ("minute", 60.0, 1.5), ("second", 1.0, 0.0))


class SearchProgress:
    """Progress of a search, shown on standard error while the context is open.

    Parameters
    ----------
    n_candidates, n_splits : int
        How many candidates there are, and how many fits each has; its score is their mean, and it
        counts when it has all of them.
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
        self._best, self._shown = -np.inf, shown
        self._total, self._complete, self._fits = n_candidates, 0, 0
        self._started = self._told = self._latest = time.monotonic()
        self._times: deque[float] = deque(maxlen=_LATEST)
        # What is known about other candidates says nothing about these.
        known = forecast is not None and forecast.costs.size == n_candidates
        self._costs = forecast.costs if forecast is not None and known else np.ones(n_candidates)
        self._expected = forecast.seconds if forecast is not None and known else None
        self._cost_done, self._cost = 0.0, float(self._costs.sum())
        columns = ("{task.fields[done]}", "best {task.fields[best]}")
        self._end: float | None = None
        self._asked = self._started
        self._bar = terminal_bar(*columns, seconds_left=self.steady_seconds_left) if shown else None
        if self._bar is not None:
            self._task = self._bar.add_task(
                "searching", total=n_candidates * n_splits, best="-", done=self._done_in_words
            )
        self._pulse = Heartbeat(_FIRST_LINE, _BETWEEN_LINES, self._tell_if_silent)

    def __enter__(self) -> SearchProgress:
        if self._bar is not None:
            self._bar.start()
        elif self._shown:
            self._pulse.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pulse.stop()
        if self._bar is not None:
            self._bar.stop()
        elif self._shown:
            self._tell()

    def extend(self, n_candidates: int) -> None:
        """Expect so many more candidates, as costly as the others on average."""
        more = np.full(n_candidates, self._cost / max(self._costs.size, 1))
        if self._expected is not None:
            self._expected *= 1.0 + float(more.sum()) / self._cost
        self._costs = np.append(self._costs, more)
        self._cost += float(more.sum())
        self._total += n_candidates
        if self._bar is not None:
            total = self._total * self._n_splits
            self._bar.update(self._task, total=total, done=self._done_in_words)

    def advance(self, candidate: int, score: float) -> None:
        """Record one more fit of a candidate, with its score (NaN if it failed)."""
        if not self._shown:
            return
        scores = self._scores[candidate]
        scores.append(score)
        self._fits += 1
        if len(scores) == self._n_splits:
            self._complete += 1
            self._best = max(self._best, sum(scores) / self._n_splits, key=_known)
        self._cost_done += float(self._costs[candidate]) / self._n_splits
        self._latest = time.monotonic()
        self._times.append(self._latest)
        if self._bar is not None:
            self._bar.update(
                self._task, advance=1, best=self._best_in_words, done=self._done_in_words
            )
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
        return max((left - done) * pace - since, self._at_the_latest_pace(since), 0.0)

    def steady_seconds_left(self) -> float | None:
        """The same without jumps, for a bar that is drawn twice a second.

        The end moves from where it was expected to where it is expected now, in some seconds.
        """
        seconds, now = self.seconds_left(), time.monotonic()
        if seconds is None:
            return None
        if self._end is None:
            self._end = now + seconds
        else:
            share = 1.0 - math.exp(-(now - self._asked) / _SETTLED)
            self._end += share * (now + seconds - self._end)
        self._asked = now
        return max(self._end - now, 0.0)

    def _at_the_latest_pace(self, since: float) -> float:
        """At least this is left, unless the next fits are far quicker than the latest ones."""
        if len(self._times) < _LATEST:
            return 0.0
        pace = max((self._times[-1] - self._times[0]) / (len(self._times) - 1), since)
        return _QUICKER * pace * (self._total * self._n_splits - self._fits)

    @property
    def _best_in_words(self) -> str:
        return f"{self._best:.4f}" if np.isfinite(self._best) else "-"

    @property
    def _done_in_words(self) -> str:
        text = f"{self._complete}/{self._total} candidates"
        fits = f"{self._fits}/{self._total * self._n_splits} fits"
        return text if self._n_splits == 1 else f"{text} ({fits})"

    def _tell_if_silent(self) -> None:
        if time.monotonic() - self._told >= _FIRST_LINE:
            self._tell()

    def _tell(self) -> None:
        self._told = time.monotonic()
        text = f"{self._done_in_words}, best {self._best_in_words}"
        left = self.seconds_left()
        if left is not None and self._complete < self._total:
            text += f", about {duration(left)} left"
        print(text, file=sys.stderr, flush=True)


@contextmanager
def telling_time(what: str, expected: float, tell_line: Callable[[str], None]) -> Iterator[None]:
    """Show how long the work within the block has taken, and what is left of the expected seconds.

    Parameters
    ----------
    what : str
        The work, such as "training".
    expected : float
        Seconds, as far as is known; when they are over, nothing is said about what is left.
    tell_line : callable
        Prints a line where there is no terminal for a bar.
    """
    started = time.monotonic()

    def left() -> float | None:
        seconds = expected - (time.monotonic() - started)
        return seconds if seconds > 0 else None

    def tell() -> None:
        remaining = left()
        ending = "" if remaining is None else f", about {duration(remaining)} left"
        tell_line(f"{what}: {duration(time.monotonic() - started)} so far{ending}")

    bar = terminal_bar(seconds_left=left)
    pulse = Heartbeat(_FIRST_LINE, _BETWEEN_LINES, tell)
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


def terminal_bar(*columns: str, seconds_left: Callable[[], float | None]) -> Progress | None:
    """A bar for standard error; None if that is no terminal, or rich is not installed."""
    try:
        from rich.console import Console
        from rich.progress import TimeElapsedColumn

        from ...common.progress_bars import progress_bar
    except ImportError:
        return None
    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        return None
    return progress_bar(
        *columns, TimeElapsedColumn(), "left", console=console, shown=True,
        seconds_left=seconds_left,
    )  # fmt: skip


class Heartbeat:
    """Calls a function now and then, from a thread of its own: work may take long without a result.

    Parameters
    ----------
    first, between : float
        Seconds until the first call, and between calls.
    call : callable
    """

    def __init__(self, first: float, between: float, call: Callable[[], None]) -> None:
        self._first, self._between, self._call = first, between, call
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End; no call is under way after this."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        wait = self._first
        while not self._ended.wait(wait):
            self._call()
            wait = self._between


def _known(score: float) -> float:
    """Failed candidates, without a score, are never the best."""
    return -np.inf if np.isnan(score) else score


def duration(seconds: float) -> str:
    """A time in words, rounded as an estimate deserves: ``40 minutes``, ``3 hours``."""
    name, unit = next((name, unit) for name, unit, n in _UNITS if seconds >= n * unit)
    count = seconds / unit
    step = 5 if count >= 20 else 1
    rounded = max(step * round(count / step), 1)
    return f"{rounded} {name}{'' if rounded == 1 else 's'}"
