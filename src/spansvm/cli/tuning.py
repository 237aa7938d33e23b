"""The work of ``spansvm tune``: read, search, test, write, summarise."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.base import clone

from ..errors import UserError, listed, require
from ..group_left_out import sets_of
from ..output import OutputFolder
from ..report import Report
from ..search import SpanSearch
from ..search.candidates import candidate_estimator
from ..search.fit_arguments import FitParams, refit_arguments
from ..search.forecast import Forecast
from ..tables import Table, build_pipeline, read_table
from ..tables.table import CATEGORICAL, NUMERIC
from .expectation import COMPONENTS, Quicker, tell_what_it_takes
from .grids import SearchPlan, plan_search
from .held_out import HeldOut, held_out_figures, read_labelled
from .method_choice import choose_folds, choose_method, choose_scorers
from .rebuilding import code_of_arguments, code_of_reading
from .smaller import Sample, approximated, coarser, draw_sample
from .terminal import Terminal, without_traceback
from .training_record import TrainingRecord, fingerprint
from .tune import TuneRequest
from .tuned_files import FILES, write_files
from .tuning_summary import describe_setting, print_summary, summary_as_json

__all__ = ["run_tuning"]


def run_tuning(request: TuneRequest, terminal: Terminal) -> None:
    """Run a request; UserError before the search begins if it cannot be carried out."""
    if request.jobs is not None and (request.jobs == 0 or request.jobs < -1):
        raise UserError(f"--jobs must be a number of threads, or -1 for all; got {request.jobs}.")
    table = read_table(request.data, request.file, request.roles)
    _introduce(table, terminal)
    sample = draw_sample(table, request.sample, request.seed, terminal)
    searched = table if sample is None else sample.table
    plan = coarser(plan_search(request.search, table), request.candidates, terminal)
    plan = approximated(plan, request.components, searched.n_rows, request.seed)
    pipeline = plan.put_into(
        build_pipeline(
            table, plan.model, scale=request.scale, impute=request.impute,
            all_categories=sample is not None,
        )
    )  # fmt: skip
    if table.missing:
        counts = listed([f"{count} in '{name}'" for name, count in table.missing.items()])
        terminal.note(f"Missing values are filled in ({_imputation(request, table)}): {counts}.")
    method = choose_method(request.method, table, terminal)
    folds = choose_folds(method, searched, request.seed)
    scorers = choose_scorers(request.scoring, method, table, terminal)
    test_table = None
    if request.test is not None:
        test_table = read_labelled(request.test, table.schema, request.file, pipeline, terminal)
    # Whatever would fail at the end should fail now, before the work.
    require("skops.io", "cli")
    require("jinja2", "cli")
    folder = OutputFolder(request.out, force=request.force)
    folder.prepare(*FILES)
    search = SpanSearch(
        pipeline,
        plan.pipeline_grid,
        method=method,
        scoring=scorers,
        refit=True if scorers is None else request.scoring,
        cv=folds,
        n_jobs=request.jobs,
        verbose=int(not terminal.quiet),
    )
    _search(search, plan, searched, request, terminal)
    model = search.best_estimator_
    if sample is not None:
        model = _train_on_all(pipeline, search.best_params_, table, folds is not None, terminal)
    test = None if test_table is None else held_out_figures(model, test_table)
    trained = None if sample is None else model[-1]
    report = _report(search, searched, sample, trained, request, test, terminal)
    setting = describe_setting(search.best_params_, table.schema.classes)
    record = TrainingRecord(
        source=table.source,
        fingerprint=fingerprint(table),
        n_rows=table.n_rows,
        setting=setting,
        span_rule_name=report.search.span_rule_name,
        loo_error=report.leave_one_out.error,
        loo_interval=report.leave_one_out.interval,
        majority_error=report.leave_one_out.majority_error,
        judged=report.search.judged_error,
        selected_by=report.search.scoring,
        estimates=[asdict(estimate) for estimate in report.trust.estimates],
        n_searched=searched.n_rows,
        trained=report.trained,
        corrected=report.search.promise,
        corrected_name=report.search.promise_name,
    )
    files = write_files(folder, model, search, report, record, table.schema, terminal)
    print_summary(report, setting, test, terminal, named=table.ids is not None)
    terminal.say()
    terminal.say(f"Report: {request.out / 'report.html'}")
    terminal.say(f"Model: {request.out / 'model.skops'} (spansvm predict MODEL DATA)")
    paths = [str(path) for path in files]
    terminal.result(summary_as_json(report, setting, test, paths))


def _introduce(table: Table, terminal: Terminal) -> None:
    """Print what was read, so that a wrong column is noticed."""
    kinds = {kind: table.kinds.count(kind) for kind in (NUMERIC, CATEGORICAL)}
    features = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    classes, counts = np.unique(np.asarray(table.y), return_counts=True)
    sizes = listed([f"{label}: {count}" for label, count in zip(classes, counts, strict=True)])
    target = "the label" if table.schema.target is None else f"'{table.schema.target}'"
    terminal.progress(
        f"{table.source}: {table.n_rows} rows, {len(table.kinds)} features ({features}); target "
        f"{target} ({sizes})."
    )
    for note in table.notes:
        terminal.note(note)


def _imputation(request: TuneRequest, table: Table) -> str:
    """How missing values are filled in, also in text columns, which have no median."""
    texts = set(table.schema.named(CATEGORICAL)) & set(table.missing)
    if request.impute == "most_frequent" or not texts:
        return str(request.impute)
    if texts == set(table.missing):
        return "most_frequent, as these are text columns"
    return f"{request.impute} for numbers, most_frequent for text"


def _search(
    search: SpanSearch, plan: SearchPlan, table: Table, request: TuneRequest, terminal: Terminal
) -> None:
    n_candidates = plan.n_candidates
    terminal.progress(f"Searching {plan.name}: {n_candidates} candidates by {search.method}.")
    arguments = {
        "sample_weight": table.weights,
        "scores": table.scores,
        "groups": table.groups,
    }
    labels = np.asarray(table.y)

    def with_components() -> Forecast | None:
        other = approximated(plan, COMPONENTS, table.n_rows, request.seed)
        options = {"estimator": other.put_into(search.estimator), "param_grid": other.pipeline_grid}
        return clone(search).set_params(**options).forecast(table.X, labels, **arguments)

    quicker = Quicker(
        sample=request.sample is None,
        candidates=request.candidates is None,
        components=with_components if plan.has_kernel and table.n_rows > COMPONENTS else None,
    )
    with terminal.telling_warnings():
        try:
            if not terminal.quiet:
                forecast = search.forecast(table.X, labels, **arguments)
                tell_what_it_takes(forecast, quicker, terminal)
            started = time.perf_counter()
            search.fit(table.X, labels, **arguments)
        except (TypeError, ValueError) as error:
            # The model itself says what is wrong with values of the grid.
            raise UserError(without_traceback(str(error))) from error
    seconds = time.perf_counter() - started
    terminal.progress(f"Searched {n_candidates} candidates in {seconds:.1f} s.")


def _train_on_all(
    pipeline: Any, params: dict[str, Any], table: Table, by_folds: bool, terminal: Terminal
) -> Any:
    """The selected model, trained on all rows after a search on some of them."""
    terminal.progress(f"Training the selected model on all {table.n_rows} rows.")
    started = time.perf_counter()
    arguments = refit_arguments(pipeline, FitParams(table.weights, table.scores))
    with terminal.telling_warnings():
        model = candidate_estimator(pipeline, params).fit(table.X, np.asarray(table.y), **arguments)
    if table.groups is not None and not by_folds:
        model[-1].leave_out(sets_of(table.groups))
    terminal.progress(f"Trained it in {time.perf_counter() - started:.1f} s.")
    return model


def _report(
    search: SpanSearch, table: Table, sample: Sample | None, trained: Any, request: TuneRequest,
    test: HeldOut | None, terminal: Terminal,
) -> Report:  # fmt: skip
    numbers = range(table.n_rows) if sample is None else sample.rows.tolist()
    return Report.from_search(
        search,
        table.X,
        np.asarray(table.y),
        title=table.source,
        # Counted from 1, as in all messages.
        row_ids=[n + 1 for n in numbers] if table.ids is None else table.ids.tolist(),
        feature_names=table.feature_names,
        command=request.command or None,
        loading=code_of_reading(request),
        fit_arguments=code_of_arguments(table),
        test=None if test is None else asdict(test),
        notes=terminal.told,
        trained=trained,
    )
