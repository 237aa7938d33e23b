"""What ``spansvm tune`` does differently for classes and for quantities, side by side."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from spansvm import SpanSVC, SpanSVR
from spansvm.blocks import spread_of
from spansvm.errors import UserError

from ..common.tasks import REGRESSION
from ..common.wording import listed
from ..report import RegressionReport, Report
from ..report.plain import number
from ..tables import Table
from ..tables.table import TEXT
from .grids import SEARCHES, SearchPlan, plan_search
from .held_out import HeldOut, held_out_figures
from .held_out_targets import HeldOutTargets, held_out_targets
from .method_choice import choose_regression_scorers, choose_scorers, default_scoring
from .regression_grids import plan_regression
from .regression_record import RegressionRecord
from .regression_summary import print_regression_summary
from .request import TuneRequest
from .terminal import Terminal
from .training_record import TrainingRecord, fingerprint
from .tuning_summary import print_summary

__all__ = ["Classification", "Regression", "TuneTask", "task_of"]


class TuneTask(ABC):
    """What depends on the task; methods in the order in which they are used."""

    @abstractmethod
    def completed(self, request: TuneRequest, table: Table) -> TuneRequest:
        """The request with the defaults of the task; UserError for options of the other one."""

    @abstractmethod
    def target_in_words(self, y: np.ndarray) -> str:
        """What the targets are."""

    @abstractmethod
    def model(self) -> Any:
        """An unfitted model."""

    @abstractmethod
    def plan(self, request: TuneRequest, table: Table, encoded: Any) -> SearchPlan:
        """What to search."""

    @abstractmethod
    def scorers(
        self, request: TuneRequest, method: str, table: Table, terminal: Terminal
    ) -> dict[str, Any] | None:
        """The scorers by name, the selecting one first; None for the usual score."""

    @abstractmethod
    def test(self, model: Any, table: Table, scorer: Any, name: str) -> Any:
        """Figures of test rows."""

    @abstractmethod
    def report(self, *arguments: Any, **options: Any) -> Any:
        """The report of a search."""

    @abstractmethod
    def record(self, report: Any, table: Table, setting: str, stopped: str) -> Any:
        """What the model file says of its training."""

    @abstractmethod
    def print_summary(
        self, report: Any, setting: str, test: Any, terminal: Terminal, *, named: bool
    ) -> None:
        """Print the main findings."""


def task_of(table: Table) -> TuneTask:
    """The task of a table."""
    return Regression() if table.task == REGRESSION else Classification()


def _kernel_for(request: TuneRequest, table: Table) -> str | None:
    """The kernel asked for; a linear one for words, unless a file says what is searched."""
    named = request.search is None or request.search in SEARCHES
    return request.kernel or ("linear" if named and table.schema.named(TEXT) else None)


class Classification(TuneTask):
    """The target holds classes."""

    def completed(self, request: TuneRequest, table: Table) -> TuneRequest:
        """Numbers are scaled to [0, 1]."""
        return replace(request, scale=request.scale or "minmax", kernel=_kernel_for(request, table))

    def target_in_words(self, y: np.ndarray) -> str:
        """The classes and their sizes."""
        classes, counts = np.unique(y, return_counts=True)
        return listed([f"{label}: {count}" for label, count in zip(classes, counts, strict=True)])

    def model(self) -> SpanSVC:
        """A classifier."""
        return SpanSVC()

    def plan(self, request: TuneRequest, table: Table, encoded: Any) -> SearchPlan:
        """C, gamma and weights, by name or from a file."""
        return plan_search(
            request.search, table,
            spread=spread_of(encoded), kernel=request.kernel, scoring=request.scoring,
        )  # fmt: skip

    def scorers(
        self, request: TuneRequest, method: str, table: Table, terminal: Terminal
    ) -> dict[str, Any] | None:
        """None for accuracy."""
        return choose_scorers(request.scoring, method, table, terminal)

    def test(self, model: Any, table: Table, scorer: Any, name: str) -> HeldOut:
        """Errors and confusions."""
        return held_out_figures(model, table, scorer, name)

    def report(self, *arguments: Any, **options: Any) -> Report:
        """Errors, margins, suspicious labels."""
        return Report.from_search(*arguments, **options)

    def record(self, report: Report, table: Table, setting: str, stopped: str) -> TrainingRecord:
        """All estimates of the error."""
        return TrainingRecord(
            source=table.source,
            fingerprint=fingerprint(table),
            n_rows=table.n_rows,
            setting=setting,
            left_out_name=report.search.left_out_name,
            loo_error=report.leave_one_out.error,
            loo_interval=report.leave_one_out.interval,
            majority_error=report.leave_one_out.majority_error,
            judged=report.search.judged_error,
            selected_by=report.search.scoring,
            estimates=[asdict(estimate) for estimate in report.trust.estimates],
            n_searched=report.leave_one_out.n_rows,
            trained=report.trained,
            corrected=report.search.reported,
            corrected_name=report.search.reported_name,
            stopped=stopped,
        )

    def print_summary(
        self, report: Report, setting: str, test: HeldOut | None, terminal: Terminal, *, named: bool
    ) -> None:
        """Errors and suspicious labels."""
        print_summary(report, setting, test, terminal, named=named)


class Regression(TuneTask):
    """The target holds a quantity."""

    def completed(self, request: TuneRequest, table: Table) -> TuneRequest:
        """Numbers are standardised, as a few odd ones should not squeeze all others."""
        if table.scores is not None:
            raise UserError(
                "--scores turns importance scores into weights of the rows of classes, and the "
                f"target of {table.source} is a quantity; pass --weights with fixed weights "
                "instead, or --task classification."
            )
        scoring = request.scoring or default_scoring(table)
        return replace(
            request, scale=request.scale or "standard", scoring=scoring,
            kernel=_kernel_for(request, table),
        )  # fmt: skip

    def target_in_words(self, y: np.ndarray) -> str:
        """The range of the targets."""
        low, high, mean = (number(float(one)) for one in (y.min(), y.max(), y.mean()))
        return f"{low} to {high}, mean {mean}"

    def model(self) -> SpanSVR:
        """A regression."""
        return SpanSVR()

    def plan(self, request: TuneRequest, table: Table, encoded: Any) -> SearchPlan:
        """C, gamma and epsilon, or from a file."""
        return plan_regression(
            request.search, table, encoded, spread=spread_of(encoded), kernel=request.kernel
        )

    def scorers(
        self, request: TuneRequest, method: str, table: Table, terminal: Terminal
    ) -> dict[str, Any]:
        """Always by name."""
        assert request.scoring is not None
        return choose_regression_scorers(request.scoring, method, table)

    def test(self, model: Any, table: Table, scorer: Any, name: str) -> HeldOutTargets:
        """Errors, and the coverage of prediction intervals."""
        return held_out_targets(model, table, scorer, name)

    def report(self, *arguments: Any, **options: Any) -> RegressionReport:
        """Residuals, prediction intervals, doubtful values."""
        return RegressionReport.from_search(*arguments, **options)

    def record(
        self, report: RegressionReport, table: Table, setting: str, stopped: str
    ) -> RegressionRecord:
        """What to expect, and what was found."""
        return RegressionRecord(
            source=table.source,
            fingerprint=fingerprint(table),
            n_rows=table.n_rows,
            setting=setting,
            selected_by=report.search.scoring,
            left_out_name=report.search.left_out_name.replace("error", "RMSE"),
            expected=asdict(report.expected),
            left_out=asdict(report.left_out.errors),
            mean_rmse=report.left_out.mean_error,
            n_searched=report.left_out.n_rows,
            trained=None if report.trained is None else asdict(report.trained.errors),
            stopped=stopped,
        )

    def print_summary(
        self, report: RegressionReport, setting: str, test: HeldOutTargets | None,
        terminal: Terminal, *, named: bool,
    ) -> None:  # fmt: skip
        """Errors and doubtful values."""
        print_regression_summary(report, setting, test, terminal, named=named)
