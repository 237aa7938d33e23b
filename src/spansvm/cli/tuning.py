"""The work of ``spansvm tune``: read, search, test, write, summarise."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import numpy as np

from ..common.errors import UserError, listed, require
from ..common.output import OutputFolder
from ..estimators.svc import SpanSVC
from ..multiclass.group_left_out import sets_of
from ..report import Report
from ..search import SpanSearch
from ..search.candidates.building import candidate_estimator
from ..search.candidates.fit_arguments import FitParams, refit_arguments
from ..search.evaluation.stages import INTERRUPTED
from ..tables import Table, build_pipeline, read_table
from ..tables.table import CATEGORICAL, NUMERIC
from .facts import gather_facts, tell_facts
from .grids import plan_search, spread_of
from .held_out import HeldOut, held_out_figures, read_labelled
from .method_choice import choose_method, choose_scorers
from .rebuilding import code_of_arguments, code_of_reading
from .request import TuneRequest
from .searching import UNFINISHED, Searched, Searcher, read_unfinished
from .smaller import coarser
from .terminal import PartialResults, Terminal
from .training_record import TrainingRecord, fingerprint
from .tuned_files import FILES, write_files
from .tuning_summary import describe_setting, print_summary, summary_as_json

__all__ = ["run_tuning"]


def run_tuning(request: TuneRequest, terminal: Terminal) -> None:
    """Run a request; UserError before the search begins if it cannot be carried out."""
    if request.jobs is not None and (request.jobs == 0 or request.jobs < -1):
        raise UserError(f"--jobs must be a number of threads, or -1 for all; got {request.jobs}.")
    before = read_unfinished(request.out) if request.resume else None
    table = read_table(request.data, request.file, request.roles)
    _introduce(table, terminal)
    features = build_pipeline(
        table, SpanSVC(), scale=request.scale, impute=request.impute, all_categories=True
    )
    if table.missing:
        counts = listed([f"{count} in '{name}'" for name, count in table.missing.items()])
        terminal.note(f"Missing values are filled in ({_imputation(request, table)}): {counts}.")
    encoded = features[:-1].fit_transform(table.X)
    plan = plan_search(
        request.search, table,
        spread=spread_of(encoded), kernel=request.kernel, scoring=request.scoring,
    )  # fmt: skip
    plan = coarser(plan, request.candidates, terminal)
    if plan.why:
        terminal.note(plan.why, fact=True)
    method = choose_method(request.method, request.cv, table, terminal)
    scorers = choose_scorers(request.scoring, method, table, terminal)
    searcher = Searcher(request, table, plan, features, method, scorers, terminal)
    test_table = None
    if request.test is not None:
        test_table = read_labelled(request.test, table.schema, request.file, features, terminal)
    # Whatever would fail at the end should fail now, before the work.
    require("skops.io", "cli")
    require("jinja2", "cli")
    folder = OutputFolder(request.out, force=request.force or request.resume)
    if (request.out / UNFINISHED).exists() and not folder.force:
        raise UserError(
            f"{request.out} holds an unfinished search; pass --resume to continue it, --force to "
            "start again, or choose another --out."
        )
    folder.prepare(*FILES)
    if not request.resume:
        (request.out / UNFINISHED).unlink(missing_ok=True)
    found = searcher.run(before)
    model, trained = found.search.best_estimator_, None
    if found.sample is not None:
        model = _train_on_all(found.search, table, terminal)
        trained = model[-1]
    facts = gather_facts(found, plan, request, table, int(encoded.shape[1]), searcher.budget)
    tell_facts(facts, terminal)
    test = None
    if test_table is not None:
        name = request.scoring or "accuracy"
        scorer = None if scorers is None else scorers[name]
        test = held_out_figures(model, test_table, scorer, name)
    report = _report(found, table, trained, request, test, facts, terminal)
    setting = describe_setting(found.search.best_params_, table.schema.classes)
    record = _record(report, table, setting, facts)
    files = write_files(folder, model, found, report, record, table.schema, terminal)
    print_summary(report, setting, test, terminal, named=table.ids is not None)
    terminal.say()
    terminal.say(f"Report: {request.out / 'report.html'}")
    terminal.say(f"Model: {request.out / 'model.skops'} (spansvm predict MODEL DATA)")
    paths = [str(path) for path in files]
    terminal.result(summary_as_json(report, setting, paths))
    if found.search.stopped_ == INTERRUPTED:
        raise PartialResults


def _record(report: Report, table: Table, setting: str, facts: dict[str, Any]) -> TrainingRecord:
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
        stopped="" if facts["stopped"] is None else facts["stopped"]["in_words"],
    )


def _introduce(table: Table, terminal: Terminal) -> None:
    """Print what was read, so that a wrong column is noticed."""
    counted = {own: table.column_types.count(own) for own in (NUMERIC, CATEGORICAL)}
    features = ", ".join(f"{count} {own}" for own, count in counted.items() if count)
    classes, counts = np.unique(np.asarray(table.y), return_counts=True)
    sizes = listed([f"{label}: {count}" for label, count in zip(classes, counts, strict=True)])
    target = "the label" if table.schema.target is None else f"'{table.schema.target}'"
    terminal.progress(
        f"{table.source}: {table.n_rows} rows, {len(table.column_types)} features ({features}); "
        f"target {target} ({sizes})."
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


def _train_on_all(search: SpanSearch, table: Table, terminal: Terminal) -> Any:
    """The selected model, trained on all rows after a search on some of them."""
    terminal.progress(f"Training the selected model on all {table.n_rows} rows.")
    started = time.perf_counter()
    arguments = refit_arguments(search.estimator, FitParams(table.weights, table.scores))
    model = candidate_estimator(search.estimator, search.best_params_)
    with terminal.telling_warnings():
        model.fit(table.X, np.asarray(table.y), **arguments)
    if table.groups is not None and search.cv is None:
        model[-1].leave_out(sets_of(table.groups))
    terminal.progress(f"Trained it in {time.perf_counter() - started:.1f} s.")
    return model


def _report(
    found: Searched, table: Table, trained: Any, request: TuneRequest, test: HeldOut | None,
    facts: dict[str, Any], terminal: Terminal,
) -> Report:  # fmt: skip
    rows = table if found.sample is None else found.sample.table
    names = rows.row_numbers if rows.ids is None else rows.ids
    return Report.from_search(
        found.search,
        rows.X,
        np.asarray(rows.y),
        title=table.source,
        row_ids=names.tolist(),
        feature_names=table.feature_names,
        command=request.command or None,
        loading=code_of_reading(request),
        fit_arguments=code_of_arguments(table),
        test=None if test is None else asdict(test),
        notes=terminal.told,
        trained=trained,
        facts={**facts, "notes": terminal.facts},
    )
