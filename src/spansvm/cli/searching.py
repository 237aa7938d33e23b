"""The search of ``spansvm tune``: how large it is, what it will take, and how it went."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from ..errors import UserError
from ..memory import parse_budget
from ..search.forecast import Forecast
from ..tables import Table
from .expectation import COMPONENTS, Quicker, tell_what_it_takes
from .grids import SearchPlan
from .method_choice import choose_folds
from .request import TuneRequest
from .sizing import ALL, FEW_ROWS, Size, choose_size, parse_sample, parse_time
from .smaller import Sample, approximated, draw_sample, fewest_rows
from .staged import StagedSearch, Stages
from .terminal import Terminal, without_traceback
from .training_record import fingerprint
from .unfinished import Unfinished

__all__ = ["Searched", "Searcher"]

#: Seconds from which the candidates of a coarse grid come first.
_COARSE_FIRST = 30.0


@dataclass(frozen=True)
class Searched:
    """A search that has been made.

    Attributes
    ----------
    search : StagedSearch
    sample : Sample or None
        The rows that it used, unless it used all.
    size : Size
    seconds : float
        How long it took, without the last training.
    about : dict
        What decides its outcomes.
    """

    search: StagedSearch
    sample: Sample | None
    size: Size
    seconds: float
    about: dict[str, str]

    @property
    def stages(self) -> Stages:
        """How it went."""
        return self.search.stages

    @property
    def unfinished(self) -> Unfinished | None:
        """What is needed to go on with it; None if it is finished."""
        if self.stages.stopped is None:
            return None
        return Unfinished(self.about, self.size.to_json(), self.stages.finished)


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
    terminal : Terminal
    """

    request: TuneRequest
    table: Table
    plan: SearchPlan
    features: Pipeline
    method: str
    scorers: dict[str, Any] | None
    terminal: Terminal

    def __post_init__(self) -> None:
        self._started = time.monotonic()
        self._of_all: Forecast | None = None
        self.budget = parse_time(self.request.budget)
        self.asked = parse_sample(self.request.sample)
        if self.request.memory is not None:
            try:
                parse_budget(self.request.memory)
            except ValueError:
                raise UserError(
                    f"--memory must be a size such as 4GiB or 500MB; got '{self.request.memory}'."
                ) from None

    def run(self, before: Unfinished | None) -> Searched:
        """Make the search; what was finished `before` is taken over."""
        size = self._size(before)
        sample = draw_sample(self.table, size.sample, self.request.seed, self.terminal, size.why)
        if size.why and sample is None:
            self.terminal.note(size.why)
        table = self.table if sample is None else sample.table
        plan = approximated(self.plan, size.components, table.n_rows, self.request.seed)
        search = self._search_on(table, plan)
        about = self._about(search, table, plan)
        if before is not None:
            before.check(about, self.request.out)
        n_candidates = plan.n_candidates
        self.terminal.progress(
            f"Searching {plan.searched}: {n_candidates} candidates by {search.method}."
        )
        with self.terminal.telling_warnings():
            try:
                forecast = None if sample is not None or size.components else self._of_all
                if forecast is not None:
                    search.expect(forecast)
                elif not self.terminal.quiet:
                    forecast = search.forecast(table.X, np.asarray(table.y), **_arguments(table))
                if not self.terminal.quiet:
                    tell_what_it_takes(
                        forecast, self._quicker(size, search, plan, table), self.terminal
                    )
                long = forecast is not None and forecast.seconds > _COARSE_FIRST
                search.stages = Stages(
                    widens=()
                    if self.request.candidates is not None
                    else tuple(plan.in_pipeline(name) for name in plan.widens),
                    coarse_first=long or self.budget is not None,
                    seconds=self._seconds_left(),
                    known={} if before is None else before.outcomes,
                )
                started = time.perf_counter()
                search.fit(table.X, np.asarray(table.y), **_arguments(table))
            except (TypeError, ValueError) as error:
                # The model itself says what is wrong with values of the grid.
                raise UserError(without_traceback(str(error))) from error
        seconds = time.perf_counter() - started - search.refit_time_
        n_done = len(search.cv_results_["params"]) - search.stages.n_known
        what = "candidate" if n_done == 1 else "candidates"
        self.terminal.progress(f"Searched {n_done} {what} in {seconds:.1f} s.")
        return Searched(search, sample, size, seconds, about)

    def pipeline(self, size: Size, n_rows: int) -> Pipeline:
        """The pipeline whose parameters were searched."""
        plan = approximated(self.plan, size.components, n_rows, self.request.seed)
        return plan.put_into(self.features)

    def _size(self, before: Unfinished | None) -> Size:
        """How large the search is: as asked for, as it was before, or as is quick enough."""
        request = self.request
        if before is not None and self.asked is None and request.components is None:
            return Size(**before.sizes)
        sample = None if self.asked == ALL or self.asked is None else int(self.asked)
        if self.asked is not None or request.components is not None:
            return Size(sample, request.components)
        if self.table.n_rows < FEW_ROWS:
            return Size()

        def forecast(n_components: int | None) -> Forecast | None:
            if n_components is not None and not self.plan.has_kernel:
                return None
            plan = approximated(self.plan, n_components, self.table.n_rows, request.seed)
            search, table = self._search_on(self.table, plan), self.table
            found = search.forecast(table.X, np.asarray(table.y), **_arguments(table))
            self._of_all = found if n_components is None else self._of_all
            return found

        return choose_size(
            self.table.n_rows, fewest_rows(self.table), forecast, self._seconds_left()
        )

    def _seconds_left(self) -> float | None:
        """Of the budget; a tenth of it is left at least."""
        if self.budget is None:
            return None
        return max(self.budget - (time.monotonic() - self._started), 0.1 * self.budget)

    def _search_on(self, table: Table, plan: SearchPlan) -> StagedSearch:
        request = self.request
        search = StagedSearch(
            plan.put_into(self.features),
            plan.pipeline_grid,
            method=self.method,
            scoring=self.scorers,
            refit=True if self.scorers is None else request.scoring,
            cv=choose_folds(self.method, table, request.seed, request.cv),
            n_jobs=request.jobs,
            verbose=int(not self.terminal.quiet),
            gram_budget=request.memory,
        )
        search.terminal = self.terminal
        return search

    def _about(self, search: StagedSearch, table: Table, plan: SearchPlan) -> dict[str, str]:
        """What decides the outcomes of candidates; the candidates themselves are compared later."""
        request = self.request
        return {
            "data": fingerprint(table, with_roles=True),
            "--method": self.method,
            "--cv": str(search.cv),
            "--scoring": str(request.scoring),
            "--scale": request.scale,
            "--impute": str(request.impute),
            "--kernel": repr(plan.model),
            "--components": repr(plan.landmarks),
            # The last one, as it may follow from the others.
            "--search": repr(plan.pipeline_grid),
        }

    def _quicker(self, size: Size, search: StagedSearch, plan: SearchPlan, table: Table) -> Quicker:
        def with_components() -> Forecast | None:
            other = approximated(plan, COMPONENTS, table.n_rows, self.request.seed)
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
