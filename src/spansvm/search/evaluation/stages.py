"""Candidates in stages: coarse ones first, the edge widened or the best refined, until time is up.

A search that stops early ends after the candidate under way and selects among the finished ones.
All that were evaluated, in whichever stage, are candidates of one search: the correction of the
score for being the best of many knows them all.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Real
from typing import Any

import joblib
import numpy as np

from ...common.types import Array
from ..candidates.building import setting_keys
from ..candidates.grid import select
from ..candidates.ranges import StudyPlan
from .checkpoint import key_of
from .dispatch import run
from .progress import SearchProgress
from .work import Outcome, Work

__all__ = ["BUDGET", "INTERRUPTED", "SearchStoppedWarning", "Stages", "Widened", "parse_time"]

#: Why a search stopped early.
INTERRUPTED, BUDGET = "interrupted", "budget"

#: How many values an axis gets beyond an edge at which the best one lies.
_BEYOND = 2

#: Seconds between results of a worker that come at once.
_AT_ONCE = 0.05

#: Values that an axis has in the first stage, at least, if candidates come in stages.
_COARSEST = 3

_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(s|sec|m|min|h)?")
_SECONDS = {None: 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


class SearchStoppedWarning(UserWarning):
    """A search was stopped before all candidates were evaluated."""


@dataclass(frozen=True)
class Widened:
    """An axis that was widened, as the best candidate was at its edge.

    Attributes
    ----------
    parameter : str
    side : {"below", "above"}
    values : list of float
        Those that were added.
    """

    parameter: str
    side: str
    values: list[float]


class Stages:
    """Evaluates the candidates of a search, until all are finished or it is to stop.

    Parameters
    ----------
    search : estimator
    work, X, y
        What its candidates share, and the data.
    candidates : list of dict
    known : dict
        Outcomes from before, by the key of their candidates (``checkpoint.key_of``).

    Attributes
    ----------
    candidates : list of dict
        Including those of widened axes.
    outcomes : list of dict
        For every candidate, its outcomes by split; those that :meth:`run` yields are put here by
        the caller, and those that were finished when Ctrl-C ended it by itself.
    n_known : int
        How many candidates were known from before.
    stopped : {"interrupted", "budget"} or None
        Why it ended before all of them were evaluated.
    widened : list of Widened
    """

    def __init__(
        self, search: Any, work: Work, X: Any, y: np.ndarray, candidates: list[dict[str, Any]],
        known: Mapping[str, Mapping[int, Outcome]],
    ) -> None:  # fmt: skip
        self.search, self.work, self.X, self.y = search, work, X, y
        self.candidates = list(candidates)
        self.outcomes: list[dict[int, Outcome]] = [{} for _ in candidates]
        self.n_known = 0
        self.stopped: str | None = None
        self.widened: list[Widened] = []
        self._known = known
        self._has_widened = False

    def run(
        self, progress: SearchProgress, asked_to_stop: Callable[[], bool]
    ) -> Generator[tuple[int, int, Outcome]]:
        """Candidate, split and outcome, as each becomes known."""
        seconds = parse_time(self.search.time_budget)
        started = time.monotonic()
        self._until = None if seconds is None else started + seconds
        self._asked_to_stop = asked_to_stop
        first = 0
        while first < len(self.candidates):
            yield from self._evaluated(first, progress)
            first = len(self.candidates)
            more = [] if self.stopped else self._further(time.monotonic() - started)
            if self.stopped and isinstance(self.search._plan, StudyPlan):
                self.search._plan.tell(self._scores())
            self.candidates += more
            self.outcomes += [{} for _ in more]
            if more:
                progress.extend(len(more))
        if self.stopped is not None:
            for own in self.outcomes:  # one that has not been scored on all folds does not count
                if len(own) < self.work.leaving.n_splits:
                    own.clear()
            if not any(self.outcomes):
                raise KeyboardInterrupt
            if all(self.outcomes):
                self.stopped = None

    def finished(self) -> dict[str, dict[int, Outcome]]:
        """Outcomes of the finished candidates, by their keys."""
        both = zip(self.candidates, self.outcomes, strict=True)
        n_splits = self.work.leaving.n_splits
        return {key_of(params): own for params, own in both if len(own) == n_splits}

    def _evaluated(
        self, first: int, progress: SearchProgress
    ) -> Iterator[tuple[int, int, Outcome]]:
        """Outcomes of the candidates from one on, until the search is to stop."""
        known = self._recall(first, progress)
        alone = joblib.effective_n_jobs(self.search.n_jobs) == 1
        for part in self._parts(first):
            own = [self.candidates[index] for index in part]
            done = {place for place, index in enumerate(part) if index in known}
            jobs = self.search.n_jobs, self.search.pre_dispatch
            rest: list[tuple[int, int, Outcome]] = []
            results = run(self.work, self.X, self.y, own, *jobs, done=done, rest=rest)
            before = time.monotonic()
            try:
                for place, split, outcome in results:
                    now = time.monotonic()
                    waited, before = now - before, now
                    if place not in done:
                        yield part[place], split, outcome
                    self._look_at_the_clock(now)
                    # Workers send several results at once: the others are finished, too.
                    if self.stopped is not None and (alone or waited > _AT_ONCE):
                        return
            finally:
                _end(results)
                # When the time is over, it is over: what comes later is too late.
                for place, split, outcome in rest if self.stopped != BUDGET else ():
                    self.outcomes[part[place]].update(outcome.by_split(split, self.work.leaving))

    def _look_at_the_clock(self, now: float) -> None:
        if self._asked_to_stop():
            self.stopped = INTERRUPTED
        elif self._until is not None and now > self._until:
            n_splits = self.work.leaving.n_splits
            done = any(len(own) == n_splits for own in self.outcomes)
            self.stopped = BUDGET if done else None

    def _recall(self, first: int, progress: SearchProgress) -> set[int]:
        """Take over the outcomes of candidates that were evaluated before, from one of them on."""
        recalled = set()
        for index in range(first, len(self.candidates)) if self._known else ():
            known = self._known.get(key_of(self.candidates[index]))
            if known:
                recalled.add(index)
                self.outcomes[index].update(known)
                for outcome in known.values():
                    progress.advance(index, outcome.headline)
        self.n_known += len(recalled)
        return recalled

    def _parts(self, first: int) -> list[list[int]]:
        """The candidates from one on, in the order of their stages.

        If a search with folds may stop early, those that share a Gram matrix come together, so that
        some are complete early.
        """
        search, own = self.search, self.candidates[first:]
        stage = _stages_of(own) if search.coarse_first else [0] * len(own)
        may_stop = search.time_budget is not None or search.checkpoint is not None
        kernel = [("", "")] * len(own)
        if may_stop and len(self.work.splits) > 1:
            kernel = setting_keys(self.work.estimator, own)
        parts: dict[Any, list[int]] = {}
        order = list(dict.fromkeys(kernel))
        for place, (level, keys) in enumerate(zip(stage, kernel, strict=True)):
            parts.setdefault((level, order.index(keys)), []).append(first + place)
        return [parts[key] for key in sorted(parts)]

    def _further(self, seconds: float) -> list[dict[str, Any]]:
        """Candidates that follow from the scores of those before; none if the search is over."""
        plan = self.search._plan
        if plan is not None:
            best, scores = self._best_so_far(), self._scores()
            if best is None:
                return []
            return plan.more(
                scores, best, _error_of(list(self.outcomes[best].values()), self._selecting)
            )
        if self._has_widened or not self.search._widens(seconds):
            return []
        self._has_widened = True
        return self._beyond_the_edge()

    def _beyond_the_edge(self) -> list[dict[str, Any]]:
        """Candidates beyond the edges of the grid at which the best one lies."""
        index = self._best_so_far()
        best = {} if index is None else self.candidates[index]
        axes = {
            name: list({key_of({name: one[name]}): one[name] for one in self.candidates}.values())
            for name in best
        }
        sides: dict[str, list[float]] = {}
        for name in (name for name in self.search.widen if name in best):
            values = sorted(axes[name])
            if len(values) < _COARSEST or best[name] not in (values[0], values[-1]):
                continue
            below = best[name] == values[0]
            edge, step = best[name], values[1] / values[0]
            steps = [step ** (-n if below else n) for n in range(1, _BEYOND + 1)]
            sides[name] = [float(edge * factor) for factor in steps]
            self.widened.append(Widened(name, "below" if below else "above", sides[name]))
        if not sides:
            return []
        wider = {name: [*values, *sides.get(name, [])] for name, values in axes.items()}
        known = {key_of(one) for one in self.candidates}
        every = (dict(zip(wider, values, strict=True)) for values in product(*wider.values()))
        return [one for one in every if key_of(one) not in known]

    @property
    def _selecting(self) -> str:
        """The name of the score that candidates are selected by."""
        return self.search.refit if isinstance(self.search.refit, str) else "score"

    def _scores(self) -> Array:
        """The score of every candidate; NaN if it failed."""
        name, every = self._selecting, [own.values() for own in self.outcomes]
        return np.array([np.mean([one.scores.get(name, np.nan) for one in own]) for own in every])

    def _best_so_far(self) -> int | None:
        """The candidate that would be selected now; None if none has a score."""
        scores = self._scores()
        losses = np.array([np.mean([one.hinge for one in own.values()]) for own in self.outcomes])
        if np.isnan(scores).all():
            return None
        return select(scores, losses, self.candidates, self.search.ties)


def _error_of(outcomes: Sequence[Outcome], name: str) -> float:
    """The standard error of a score: that of one sample, or by the spread between folds."""
    if len(outcomes) == 1:
        return outcomes[0].errors.get(name, np.nan)
    return float(np.std([one.scores[name] for one in outcomes]) / np.sqrt(len(outcomes)))


def _end(results: Iterator[Any]) -> None:
    """End work under way, without joblib's warning that it has been cancelled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results.close()  # type: ignore[attr-defined]


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


def parse_time(value: float | str | None) -> float | None:
    """Seconds, from a number or a text such as "90s", "2 min" or "1.5h"; None stays None."""
    if value is None:
        return None
    seconds = 0.0
    if isinstance(value, str):
        match = _TIME.fullmatch(value.strip().lower())
        seconds = 0.0 if match is None else float(match[1]) * _SECONDS[match[2]]
    elif isinstance(value, Real) and not isinstance(value, bool):
        seconds = float(value)
    if not seconds > 0:
        raise ValueError(
            "time_budget must be a positive number of seconds, a string such as '2 min', or None; "
            f"got {value!r}."
        )
    return seconds
