"""The work of ``spansvm tune``: read, search, test, write, summarise."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import numpy as np

from spansvm.blocks import (
    candidate_estimator,
    gram_form,
    refit_as_judged,
    sets_of,
)
from spansvm.errors import UserError, require
from spansvm.models import MOST_FOLLOWED, without_training_rows

from ..common.output import OutputFolder
from ..common.tasks import REGRESSION
from ..common.wording import listed
from ..tables import Table, build_pipeline, correct_labels, read_table
from ..tables.pipeline import marked_columns
from ..tables.table import CATEGORICAL, NUMERIC, TEXT
from .committee_file import COMMITTEE, write_committee
from .facts import gather_facts, tell_facts
from .grids import STEP
from .held_out import read_labelled
from .method_choice import Folds, choose_method
from .rebuilding import code_of_arguments, code_of_reading
from .request import TuneRequest
from .searching import UNFINISHED, Searched, Searcher, read_unfinished
from .sizing import gram_in_words
from .smaller import coarser
from .tasks import TuneTask, task_of
from .terminal import PartialResults, Terminal
from .tuned_files import FILES, write_files
from .tuning_summary import describe_setting, summary_as_json
from .waiting import telling_time

__all__ = ["run_tuning"]

#: The time of a training grows with about these powers of the number of rows.
_POWER, _LINEAR_POWER = 2.5, 1.0


def run_tuning(request: TuneRequest, terminal: Terminal) -> None:
    """Run a request; UserError before the search begins if it cannot be carried out."""
    if request.jobs is not None and (request.jobs == 0 or request.jobs < -1):
        raise UserError(f"--jobs must be a number of threads, or -1 for all; got {request.jobs}.")
    before = read_unfinished(request.out) if request.resume else None
    table = read_table(request.data, request.file, request.roles)
    if request.labels is not None:
        table = correct_labels(table, request.labels)
    task = task_of(table)
    _introduce(table, task, terminal)
    asked, request = request, task.completed(request, table)
    if request.kernel != asked.kernel:
        terminal.note("The kernel is linear, which suits words; --kernel rbf takes another.")
    features = build_pipeline(
        table, task.model(), scale=str(request.scale), impute=request.impute, all_categories=True
    )
    if table.missing:
        terminal.note(_note_missing(request, table))
    encoded = features[:-1].fit_transform(table.X)
    plan = coarser(task.plan(request, table, encoded), request.candidates, terminal)
    if plan.why:
        terminal.note(plan.why, fact=True)
    method = choose_method(request.method, Folds.parse(request.cv), table, terminal)
    scorers = task.scorers(request, method, table, terminal)
    n_columns = int(encoded.shape[1])
    searcher = Searcher(request, table, plan, features, method, scorers, n_columns, terminal)
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
    folder.prepare(*FILES, COMMITTEE)
    if not request.resume:
        (request.out / UNFINISHED).unlink(missing_ok=True)
    found = searcher.run(before)
    model, trained = found.search.best_estimator_, None
    if found.sample is not None:
        model = _train_on_all(found, request, table, terminal)
    if table.task == REGRESSION and table.n_rows > MOST_FOLLOWED:
        model = without_training_rows(model)  # once: it takes a while
    if found.sample is not None:
        trained = model[-1]
    facts = gather_facts(found, plan, request, table, n_columns, searcher.budget)
    tell_facts(facts, terminal)
    committee = write_committee(folder, request, found, table.schema, terminal)
    test = None
    if test_table is not None:
        name = request.scoring or "accuracy"
        test = task.test(model, test_table, None if scorers is None else scorers[name], name)
    given = _given(found, table, trained, request, test)
    report = task.report(*given.pop("searched"), **given, notes=terminal.told,
                         facts={**facts, "notes": terminal.facts})  # fmt: skip
    setting = describe_setting(found.search.best_params_, table.schema.classes)
    stopped = "" if facts["stopped"] is None else facts["stopped"]["in_words"]
    record = task.record(report, table, setting, stopped)
    files = write_files(folder, model, found, report, record, table, terminal)
    files += [] if committee is None else [committee]
    task.print_summary(report, setting, test, terminal, named=table.ids is not None)
    terminal.say()
    terminal.say(f"Report: {request.out / 'report.html'}")
    terminal.say(f"Model: {request.out / 'model.skops'} (spansvm predict MODEL DATA)")
    if committee is not None:
        terminal.say(f"Committee: {committee} (spansvm predict COMMITTEE DATA)")
    paths = [str(path) for path in files]
    terminal.result(summary_as_json(report, setting, paths))
    if found.search.stopped_ == "interrupted":
        raise PartialResults


def _introduce(table: Table, task: TuneTask, terminal: Terminal) -> None:
    """Print what was read, so that a wrong column is noticed."""
    counted = {own: table.column_types.count(own) for own in (NUMERIC, CATEGORICAL, TEXT)}
    features = ", ".join(f"{count} {own}" for own, count in counted.items() if count)
    values = task.target_in_words(np.asarray(table.y))
    n = len(table.column_types)
    target = "the label" if table.schema.target is None else f"'{table.schema.target}'"
    terminal.progress(
        f"{table.source}: {table.n_rows} rows, {n} feature{'s' * (n != 1)} ({features}); "
        f"target {target} ({values})."
    )
    if table.why_task:
        terminal.progress(table.why_task)
    for note in table.notes:
        terminal.note(note)


def _note_missing(request: TuneRequest, table: Table) -> str:
    """How missing values are filled in, and where."""
    texts = set(table.schema.named(CATEGORICAL)) & set(table.missing)
    numbers = set(table.missing) - texts
    if request.impute is None:
        ways = ["the median for numbers"] * bool(numbers)
        ways += ["a category of their own for texts"] * bool(texts)
    else:
        ways = [f"{request.impute} for numbers"] * bool(numbers)
        ways += ["most_frequent for texts"] * bool(texts)
    counts = listed([f"{count} in '{name}'" for name, count in table.missing.items()])
    told = f"Missing values are filled in ({', '.join(ways)}): {counts}."
    marked = marked_columns(table) if request.impute is None else []
    if not marked:
        return told
    names = listed([f"'{name}'" for name in marked])
    return f"{told} Where numbers are missing in {names} is a feature, too."


def _train_on_all(found: Searched, request: TuneRequest, table: Table, terminal: Terminal) -> Any:
    """The selected model, trained on all rows after a search on some of them."""
    search = found.search
    model = candidate_estimator(search.estimator, search.best_params_)
    linear = model[-1].kernel == "linear"
    needed = "" if linear else f" ({gram_in_words(*gram_form(table.n_rows, request.memory))})"
    terminal.progress(f"Training the selected model on all {table.n_rows} rows{needed}.")
    # As the last training on the sample, grown like the times of searches.
    power = _LINEAR_POWER if linear else _POWER
    assert found.sample is not None
    expected = search.refit_time_ * (table.n_rows / found.sample.table.n_rows) ** power
    started = time.perf_counter()
    given = {"sample_weight": table.weights, "scores": table.scores}
    arguments = {f"{STEP}__{name}": own for name, own in given.items() if own is not None}
    with terminal.telling_warnings(), telling_time(terminal, "Training", expected):
        refit_as_judged(model, table.X, np.asarray(table.y), arguments, request.memory)
    if table.groups is not None and search.cv is None:
        model[-1].leave_out(sets_of(table.groups))
    seconds = time.perf_counter() - started
    terminal.progress(f"Trained it in {seconds:.1f} s.")
    if table.task != REGRESSION:
        with telling_time(terminal, "Leaving out each row", seconds):
            model[-1].loo_error_  # noqa: B018 - it is kept
    return model


def _given(
    found: Searched, table: Table, trained: Any, request: TuneRequest, test: Any
) -> dict[str, Any]:
    """What a report is made of: the search and its rows (`searched`), and options."""
    rows = table if found.sample is None else found.sample.table
    names = rows.row_numbers if rows.ids is None else rows.ids
    return {
        "searched": (found.search, rows.X, np.asarray(rows.y)),
        "title": table.source,
        "row_ids": names.tolist(),
        "feature_names": table.feature_names,
        "command": request.command or None,
        "loading": code_of_reading(request),
        "fit_arguments": code_of_arguments(table),
        "test": None if test is None else asdict(test),
        "trained": trained,
    }
