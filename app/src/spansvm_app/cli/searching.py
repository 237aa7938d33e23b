"""The search of ``spansvm tune``: how large it is, what it will take, and how it went."""

from __future__ import annotations

import json
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from spansvm import DependentRowsWarning
from spansvm.blocks import METHODS, parse_budget, parse_time
from spansvm.errors import UserError
from spansvm.search import Checkpoint, Forecast, SearchStoppedWarning, SpanSearch, evaluated

from ..common.tasks import REGRESSION
from ..tables import Table
from .grids import OF_KERNEL, SearchPlan
from .method_choice import Folds, choose_folds
from .request import TuneRequest
from .sizing import (
    ALL,
    COMPONENTS,
    Quicker,
    Size,
    Task,
    choose_size,
    parse_sample,
    size_of_regression,
    tell_what_it_takes,
)
from .smaller import Sample, approximated, draw_sample, fewest_rows
from .terminal import Terminal, without_traceback
from .training_record import fingerprint

__all__ = ["UNFINISHED", "Searched", "Searcher", "read_unfinished"]

#: Name of the checkpoint in the folder of the results.
UNFINISHED = "unfinished.npz"

#: From so many rows on, a search may be stopped: the candidates of a coarse grid come first.
_COARSE_FIRST = 2000

#: Where a checkpoint says how the search was made, as JSON.
_MADE = "--sample"


class TerminalSearch(SpanSearch):
    """A search that Ctrl-C stops after the candidate under way, and the second one at once."""

    #: Not parameters, as they are about one search and not about its kind.
    terminal = Terminal(quiet=True)
    about: dict[str, str]

    def _about(self, *_: Any) -> dict[str, str]:
        return self.about

    def _end_checkpoint(self) -> None:
        """Nothing yet: it goes when all files of the results are written."""

    @contextmanager
    def _noticing_stops(self) -> Iterator[Callable[[], bool]]:
        asked = threading.Event()

        def notice(number: int, frame: Any) -> None:
            if asked.is_set():
                self.checkpoint = None
                raise KeyboardInterrupt
            asked.set()
            self.terminal.progress(
                "Stopping after the candidate under way; what is finished will be written. Press "
                "Ctrl-C again to stop at once, without that."
            )

        before = signal.getsignal(signal.SIGINT)
        in_main = threading.current_thread() is threading.main_thread()
        if not in_main or before in (signal.SIG_IGN, None):
            yield asked.is_set
            return
        signal.signal(signal.SIGINT, notice)
        try:
            yield asked.is_set
        finally:
            signal.signal(signal.SIGINT, before)


@dataclass(frozen=True)
class Searched:
    """A search that has been made.

    Attributes
    ----------
    search : SpanSearch
    sample : Sample or None
        The rows that it used, unless it used all.
    size : Size
    seconds : float
        How long it took, without the last training.
    """

    search: SpanSearch
    sample: Sample | None
    size: Size
    seconds: float


@dataclass
class Searcher:
    """Prepares and makes a search.

    Attributes
    ----------
    request : TuneRequest
    table : Table
        All rows.
    plan : SearchPlan
    features : Pipeline
        What prepares the rows, and any model.
    method : str
    scorers : dict or None
    n_columns : int
        After encoding.
    terminal : Terminal
    """

    request: TuneRequest
    table: Table
    plan: SearchPlan
    features: Pipeline
    method: str
    scorers: dict[str, Any] | None
    n_columns: int
    terminal: Terminal

    def __post_init__(self) -> None:
        try:
            self.budget = parse_time(self.request.budget)
        except ValueError:
            raise UserError(
                f"--budget must be a time such as 90s, 5m or 1h; got '{self.request.budget}'."
            ) from None
        self.asked = parse_sample(self.request.sample)
        if self.request.memory is not None:
            try:
                parse_budget(self.request.memory)
            except ValueError:
                raise UserError(
                    f"--memory must be a size such as 4GiB or 500MB; got '{self.request.memory}'."
                ) from None
        # Now, as rows may be refused; those of a sample are not known yet.
        self._whole_folds = self._folds(self.table) if self.asked is None else None

    def run(self, before: Checkpoint | None) -> Searched:
        """Make the search; what was finished `before` is taken over."""
        self._started = time.monotonic()
        size = self._size(before)
        sample = draw_sample(self.table, size.sample, self.request.seed, self.terminal, size.why)
        if size.why and sample is None:
            self.terminal.note(size.why)
        table = self.table if sample is None else sample.table
        plan = self._plan(size.components, table)
        search = self._search_on(table, plan)
        about = self._about(search, table, plan)
        if before is not None:
            self._check_that_it_is_the_same(before, about)
        n_candidates = plan.n_candidates
        self.terminal.progress(
            f"Searching {plan.searched}: {n_candidates} candidates by "
            f"{METHODS[search.method or 'verified'].label}."
        )
        with self.terminal.telling_warnings():
            try:
                forecast = None
                if not self.terminal.quiet:
                    forecast = search.forecast(table.X, np.asarray(table.y), **_arguments(table))
                if not self.terminal.quiet:
                    tell_what_it_takes(
                        forecast, self._quicker(size, search, plan, table), self.terminal
                    )
                coarse_first = table.n_rows >= _COARSE_FIRST or self.budget is not None
                if before is not None:
                    coarse_first = json.loads(before.about[_MADE])["coarse_first"]
                search.set_params(
                    time_budget=self._seconds_left(),
                    checkpoint=self.request.out / UNFINISHED,
                    coarse_first=coarse_first,
                )
                search.about = {
                    **about,
                    _MADE: json.dumps({**size.to_json(), "coarse_first": coarse_first}),
                }
                warnings.simplefilter("ignore", SearchStoppedWarning)  # the facts say more
                warnings.simplefilter("ignore", DependentRowsWarning)  # the report does
                started = time.perf_counter()
                search.fit(table.X, np.asarray(table.y), **_arguments(table))
            except (TypeError, ValueError) as error:
                # The model itself says what is wrong with values of the grid.
                raise UserError(without_traceback(str(error))) from error
        seconds = time.perf_counter() - started - search.refit_time_
        n_done = len(evaluated(search)[0]["params"]) - search.n_resumed_
        what = "candidate" if n_done == 1 else "candidates"
        self.terminal.progress(f"Searched {n_done} {what} in {seconds:.1f} s.")
        return Searched(search, sample, size, seconds)

    def _plan(self, n_components: int | None, table: Table) -> SearchPlan:
        """The search with its kernel, or with that approximated."""
        return approximated(self.plan, n_components, table.n_rows, self.request.seed)

    def _folds(self, table: Table) -> Any:
        return choose_folds(self.method, table, self.request.seed, Folds.parse(self.request.cv))

    def _size(self, before: Checkpoint | None) -> Size:
        """How large the search is: as asked for, as it was before, or as is quick enough."""
        request = self.request
        if before is not None and self.asked is None and request.components is None:
            made = json.loads(before.about[_MADE])
            return Size(made["sample"], made["components"])
        sample = None if self.asked == ALL or self.asked is None else int(self.asked)
        if self.asked is not None or request.components is not None:
            return Size(sample, request.components)
        folds = self._folds(self.table)
        n_fits = 1
        if folds is not None:
            n_fits = folds.get_n_splits(self.table.X, self.table.y, self.table.groups)
        if self.table.task == REGRESSION:
            return size_of_regression(self.table.n_rows, self.plan.n_candidates, n_fits)
        return choose_size(self._task(n_fits), fewest_rows(self.table))

    def _task(self, n_fits: int) -> Task:
        """What makes a search on all rows long."""
        plan, table = self.plan, self.table
        kernels = {
            repr({name: value for name, value in one.items() if name in OF_KERNEL})
            for one in ParameterGrid(plan.grid)
        }
        return Task(
            classes=np.unique(np.asarray(table.y), return_counts=True)[1],
            n_columns=self.n_columns,
            n_candidates=plan.n_candidates,
            n_kernels=len(kernels),
            n_fits=n_fits,
            linear=not plan.has_kernel,
            exact=self.method == "loo",
            grouped=table.groups is not None,
        )

    def _seconds_left(self) -> float | None:
        """Of the budget; a tenth of it is left at least."""
        if self.budget is None:
            return None
        return max(self.budget - (time.monotonic() - self._started), 0.1 * self.budget)

    def _search_on(self, table: Table, plan: SearchPlan) -> TerminalSearch:
        request = self.request
        widens = plan.widens if request.candidates is None else ()
        known = table is self.table and self.asked is None
        search = TerminalSearch(
            plan.put_into(self.features),
            plan.pipeline_grid,
            method=self.method,
            scoring=self.scorers,
            refit=True if self.scorers is None else request.scoring,
            cv=self._whole_folds if known else self._folds(table),
            n_jobs=request.jobs,
            verbose=int(not self.terminal.quiet),
            gram_budget=request.memory,
            widen=tuple(plan.in_pipeline(name) for name in widens),
        )
        search.terminal = self.terminal
        return search

    def _about(self, search: TerminalSearch, table: Table, plan: SearchPlan) -> dict[str, str]:
        """What decides the outcomes of candidates; the candidates themselves are compared later."""
        request = self.request
        return {
            "data": fingerprint(table, with_roles=True),
            "--method": self.method,
            "--cv": str(search.cv),
            "--scoring": str(request.scoring),
            "--scale": str(request.scale),
            "--impute": str(request.impute),
            "--kernel": repr(plan.model),
            "--components": repr(plan.landmarks),
            # The last one, as it may follow from the others.
            "--search": repr(plan.pipeline_grid),
        }

    def _check_that_it_is_the_same(self, before: Checkpoint, about: dict[str, str]) -> None:
        other = before.difference(about)
        if other is not None:
            what = "with other data" if other == "data" else f"with another {other}"
            raise UserError(
                f"The unfinished search in {self.request.out} was {what}; repeat its command with "
                "--resume at the end, or leave --resume out and pass --force to begin anew."
            )

    def _quicker(self, size: Size, search: SpanSearch, plan: SearchPlan, table: Table) -> Quicker:
        def with_components() -> Forecast | None:
            other = self._plan(COMPONENTS, table)
            options = {
                "estimator": other.put_into(self.features), "param_grid": other.pipeline_grid
            }  # fmt: skip
            again = clone(search).set_params(**options)
            return again.forecast(table.X, np.asarray(table.y), **_arguments(table))

        return Quicker(
            sample=size.sample is None,
            candidates=self.request.candidates is None,
            components=with_components if plan.has_kernel and table.n_rows > COMPONENTS else None,
        )


def _arguments(table: Table) -> dict[str, Any]:
    """What a search is given besides rows and labels."""
    return {"sample_weight": table.weights, "scores": table.scores, "groups": table.groups}


def read_unfinished(folder: Path) -> Checkpoint:
    """The unfinished search in a folder; UserError if there is none."""
    path = folder / UNFINISHED
    if not path.is_file():
        raise UserError(
            f"There is no unfinished search in {folder}; leave --resume out, or pass the --out of "
            "the search that was stopped."
        )
    try:
        found = Checkpoint.read(path)
        json.loads(found.about[_MADE])
    except (ValueError, KeyError) as error:
        raise UserError(
            f"{path} is damaged; leave --resume out, and pass --force to begin anew."
        ) from error
    return found
