"""A search that can stop early and go on later: coarse candidates first, the edge widened once.

It ends when its time is up or at Ctrl-C, after the candidate under way, and then selects among the
finished ones.  All that were evaluated, in whichever stage, are candidates of one search: the
correction of the score for being the best of many knows them all.
"""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from numbers import Real
from typing import Any

import joblib
import numpy as np

from ..search import SpanSearch
from ..search.candidates import setting_keys
from ..search.dispatch import run
from ..search.forecast import Forecast
from ..search.grid import select
from ..search.progress import SearchProgress
from ..search.work import Outcome, Work
from .terminal import Terminal

__all__ = ["BUDGET", "INTERRUPTED", "StagedSearch", "Stages", "Widened", "key_of"]

#: Why a search stopped early.
INTERRUPTED, BUDGET = "interrupted", "budget"

#: How many values an axis gets beyond an edge at which the best one lies.
_BEYOND = 2

#: Seconds that a search may have taken, if it has no budget, for more candidates to be added.
_SOON = 180.0

#: Seconds between results of a worker that come at once.
_AT_ONCE = 0.05

#: Values that an axis has in the first stage, at least, if candidates come in stages.
_COARSEST = 3


@dataclass(frozen=True)
class Widened:
    """An axis that was widened, as the best candidate was at its edge.

    Attributes
    ----------
    parameter : str
        As the pipeline names it.
    side : {"below", "above"}
    values : list of float
        Those that were added.
    """

    parameter: str
    side: str
    values: list[float]


@dataclass
class Stages:
    """How a search goes, and how it went.

    Attributes
    ----------
    widens : tuple of str
        Parameters of the pipeline whose axes may be widened.
    coarse_first : bool
        Whether candidates come in stages, those of a coarse grid first.
    seconds : float or None
        The time that the search may take.
    known : dict
        Outcomes from before, by :func:`key_of` their candidates.
    n_known : int
        How many candidates these were.
    n_planned : int
        How many candidates there were to evaluate, including those of a widened axis.
    stopped : {"interrupted", "budget"} or None
        Why it ended before all of them were.
    widened : list of Widened
    finished : dict
        Outcomes of the finished candidates, by :func:`key_of` them.
    """

    widens: tuple[str, ...] = ()
    coarse_first: bool = False
    seconds: float | None = None
    known: Mapping[str, Mapping[int, Outcome]] = field(default_factory=dict)
    n_known: int = 0
    n_planned: int = 0
    stopped: str | None = None
    widened: list[Widened] = field(default_factory=list)
    finished: dict[str, dict[int, Outcome]] = field(default_factory=dict)


class StagedSearch(SpanSearch):
    """A :class:`~spansvm.SpanSearch` whose candidates come in stages; see :class:`Stages`."""

    #: Not parameters, as they are about one search and not about its kind.
    stages = Stages()
    terminal = Terminal(quiet=True)

    def expect(self, forecast: Forecast | None) -> None:
        """Show the time left from a forecast that has been made before."""
        self._forecast = forecast

    def _run(
        self, work: Work, X: Any, y: np.ndarray, candidates: list[dict[str, Any]],
        outcomes: list[dict[int, Outcome]], progress: SearchProgress,
    ) -> Iterator[tuple[int, int, Outcome]]:  # fmt: skip
        stages, n_outcomes = self.stages, work.leaving.n_splits
        alone = joblib.effective_n_jobs(self.n_jobs) == 1
        until = None if stages.seconds is None else time.monotonic() + stages.seconds
        with _noticing_interrupts(self.terminal) as interrupt:

            def evaluated(first: int) -> Iterator[tuple[int, int, Outcome]]:
                """Outcomes of the candidates from one on, until the search is to stop."""
                self._recall(candidates, outcomes, first, progress)
                waiting = [i for i in range(first, len(candidates)) if not outcomes[i]]
                for part in self._parts(work, candidates, waiting):
                    own = [candidates[index] for index in part]
                    results = run(work, X, y, own, self.n_jobs)
                    before = time.monotonic()
                    for place, split, outcome in results:
                        now = time.monotonic()
                        waited, before = now - before, now
                        yield part[place], split, outcome
                        if interrupt.is_set():
                            stages.stopped = INTERRUPTED
                        elif until is not None and now > until:
                            done = any(len(own) == n_outcomes for own in outcomes)
                            stages.stopped = BUDGET if done else None
                        # Workers send several results at once: the others are finished, too.
                        if stages.stopped is not None and (alone or waited > _AT_ONCE):
                            _end(results)
                            return

            started = time.monotonic()
            yield from evaluated(0)
            soon = until is not None or time.monotonic() - started < _SOON
            if stages.stopped is None and stages.widens and soon:
                more = self._beyond_the_edge(candidates, outcomes)
                candidates += more
                outcomes += [{} for _ in more]
                progress.extend(len(more))
                yield from evaluated(len(candidates) - len(more))
            stages.n_planned = len(candidates)
            for own in outcomes:  # one that has not been scored on all folds does not count
                if len(own) < n_outcomes:
                    own.clear()
            if not any(outcomes):
                raise KeyboardInterrupt
            if all(outcomes):
                stages.stopped = None
            # Copies, as exact outcomes may replace these later.
            stages.finished = {
                key_of(one): dict(own) for one, own in zip(candidates, outcomes, strict=True) if own
            }

    def _recall(
        self, candidates: Sequence[Mapping[str, Any]], outcomes: Sequence[dict[int, Outcome]],
        first: int, progress: SearchProgress,
    ) -> None:  # fmt: skip
        """Take over the outcomes of candidates that were evaluated before, from one of them on."""
        for index in range(first, len(candidates)):
            known = self.stages.known.get(key_of(candidates[index]), {})
            outcomes[index].update(known)
            self.stages.n_known += bool(known)
            for outcome in known.values():
                progress.advance(index, outcome.headline)

    def _parts(
        self, work: Work, candidates: Sequence[Mapping[str, Any]], waiting: Sequence[int]
    ) -> list[list[int]]:
        """The candidates in the order of their stages.

        With folds, those that share a Gram matrix come together, so that some are complete early.
        """
        own = [candidates[index] for index in waiting]
        stage = _stages_of(own) if self.stages.coarse_first else [0] * len(own)
        kernel = (
            setting_keys(work.estimator, own) if len(work.splits) > 1 else [("", "")] * len(own)
        )
        parts: dict[Any, list[int]] = {}
        order = list(dict.fromkeys(kernel))
        for index, level, keys in zip(waiting, stage, kernel, strict=True):
            parts.setdefault((level, order.index(keys)), []).append(index)
        return [parts[key] for key in sorted(parts)]

    def _beyond_the_edge(
        self, candidates: list[dict[str, Any]], outcomes: list[dict[int, Outcome]]
    ) -> list[dict[str, Any]]:
        """Candidates beyond the edges of the grid at which the best one lies."""
        best = self._best_so_far(candidates, outcomes)
        axes = {
            name: list({key_of({name: one[name]}): one[name] for one in candidates}.values())
            for name in best
        }
        sides: dict[str, list[float]] = {}
        for name in (name for name in self.stages.widens if name in best):
            values = sorted(axes[name])
            if len(values) < _COARSEST or best[name] not in (values[0], values[-1]):
                continue
            below = best[name] == values[0]
            edge, step = best[name], values[1] / values[0]
            steps = [step ** (-n if below else n) for n in range(1, _BEYOND + 1)]
            sides[name] = [float(edge * factor) for factor in steps]
            side = "below" if below else "above"
            self.stages.widened.append(Widened(name, side, sides[name]))
        if not sides:
            return []
        wider = {name: [*values, *sides.get(name, [])] for name, values in axes.items()}
        known = {key_of(one) for one in candidates}
        every = (dict(zip(wider, values, strict=True)) for values in product(*wider.values()))
        return [one for one in every if key_of(one) not in known]

    def _best_so_far(
        self, candidates: Sequence[dict[str, Any]], outcomes: Sequence[Mapping[int, Outcome]]
    ) -> dict[str, Any]:
        name = self.refit if isinstance(self.refit, str) else "score"
        every = [list(own.values()) for own in outcomes]
        scores = np.array([np.mean([one.scores.get(name, np.nan) for one in own]) for own in every])
        losses = np.array([np.mean([one.hinge for one in own]) for own in every])
        if np.isnan(scores).all():
            return {}
        return candidates[select(scores, losses, candidates, self.ties)]


def _end(results: Iterator[Any]) -> None:
    """End work under way, without joblib's warning that it has been cancelled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results.close()  # type: ignore[attr-defined]


def key_of(params: Mapping[str, Any]) -> str:
    """A candidate as text that is the same for the same values."""
    return repr(sorted((name, _plain(value)) for name, value in params.items()))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return sorted((repr(_plain(key)), _plain(one)) for key, one in value.items())
    return value.item() if isinstance(value, np.generic) else value


def _stages_of(candidates: Sequence[Mapping[str, Any]]) -> list[int]:
    """The stage of every candidate: each has twice as many values of an axis as the one before."""
    levels = np.zeros(len(candidates), dtype=int)
    for name in set().union(*candidates):
        if not all(isinstance(one.get(name), Real) for one in candidates):
            continue
        numbers = np.array([float(one[name]) for one in candidates])
        column = np.unique(numbers, return_inverse=True)[1]
        n_values = int(column.max(initial=0)) + 1
        n_levels = max(int(np.log2(max((n_values - 1) / (_COARSEST - 1), 1))), 0)
        middle = (n_values - 1) // 2  # in the first stage, whatever their number
        for level in range(n_levels):
            finer = (column - middle) % 2 ** (n_levels - level) != 0
            levels[finer] = np.maximum(levels[finer], level + 1)
    return levels.tolist()


@contextmanager
def _noticing_interrupts(terminal: Terminal) -> Iterator[threading.Event]:
    """Within the block, the first Ctrl-C only sets the event; the second one interrupts."""
    asked = threading.Event()

    def notice(number: int, frame: Any) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        terminal.progress(
            "Stopping after the candidate under way; what is finished will be written. Press "
            "Ctrl-C again to stop at once, without that."
        )

    before = signal.getsignal(signal.SIGINT)
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or before in (signal.SIG_IGN, None):
        yield asked
        return
    signal.signal(signal.SIGINT, notice)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
