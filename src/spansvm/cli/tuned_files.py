"""The files that ``spansvm tune`` writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..common.evaluated import evaluated
from ..common.output import OutputFolder, write_csv
from ..common.tasks import REGRESSION
from ..models import MOST_FOLLOWED, libsvm_reason, save_libsvm, save_model
from ..report import RegressionReport, Report, write_json, write_report
from ..tables import Table
from .doubted_labels import write_labels
from .grids import APPROXIMATION, own_name
from .searching import UNFINISHED, Searched
from .terminal import Terminal
from .training_record import Record

__all__ = ["FILES", "MODEL", "write_candidates", "write_files"]

#: Names of the files.
MODEL, LIBSVM, TABLE, LABELS, PAGE, JSON = FILES = (
    "model.skops",
    "model.libsvm",
    "results.csv",
    "labels.csv",
    "report.html",
    "report.json",
)


def write_files(
    folder: OutputFolder,
    model: Any,
    found: Searched,
    report: Report | RegressionReport,
    record: Record,
    table: Table,
    terminal: Terminal,
) -> list[Path]:
    """Write all files of a search, and note any that cannot be written.

    Parameters
    ----------
    folder : OutputFolder
    model : Pipeline
        The selected model; not that of the search if that had only some of the rows.
    found : Searched
        The search; if it is unfinished, its checkpoint is one of the files.
    report : Report or RegressionReport
    record : Record
    table : Table
        All rows.
    terminal : Terminal

    Returns
    -------
    list of Path
    """
    written = []
    with folder.writing(MODEL) as path:
        save_model(path, model, schema=table.schema, command=report.command or "")
        record.add_to(path)
    written.append(MODEL)
    reason = libsvm_reason(model)
    if APPROXIMATION in model.named_steps:
        reason = "LIBSVM has no approximated kernels"
    if reason is None:
        with folder.writing(LIBSVM) as path:
            save_libsvm(path, model)
        written.append(LIBSVM)
    else:
        # A file from an earlier search would be mistaken for this model.
        (folder.path / LIBSVM).unlink(missing_ok=True)
        terminal.note(f"No {LIBSVM} was written: {reason}.")
    with folder.writing(TABLE) as path:
        write_candidates(path, evaluated(found.search)[0], report.search.ranking())
    searched = table if found.sample is None else found.sample.table
    if table.task == REGRESSION and searched.n_rows > MOST_FOLLOWED:
        (folder.path / LABELS).unlink(missing_ok=True)
        terminal.note(f"No {LABELS} was written: that takes long with more than {MOST_FOLLOWED} "
                      "rows of a regression; pass --sample.")  # fmt: skip
    else:
        with folder.writing(LABELS) as path:
            write_labels(path, found.search, searched)
        written.append(LABELS)
    with folder.writing(PAGE) as path:
        write_report(report, path)
    with folder.writing(JSON) as path:
        write_json(report, path)
    written += [TABLE, PAGE, JSON]
    if found.search.stopped_ is None:
        (folder.path / UNFINISHED).unlink(missing_ok=True)
    else:
        written.append(UNFINISHED)
    return [folder.path / name for name in written]


def write_candidates(path: Path, results: Mapping[str, Any], order: list[int]) -> None:
    """Write ``cv_results_`` as CSV.

    Parameters
    ----------
    path : Path
    results : dict
        Parameters lose their step's name: ``svm__C`` becomes ``C``.
    order : list of int
        The candidates in the order to write them, the best first.
    """
    columns = {_column_name(key): values for key, values in results.items() if key != "params"}
    ranks = [name for name in columns if name.startswith("rank_")]
    names = [*ranks, *(name for name in columns if name not in ranks)]
    with path.open("w", encoding="utf-8", newline="") as stream:
        rows = ([_cell(columns[name][index]) for name in names] for index in order)
        write_csv(stream, [names, *rows])


def _column_name(key: str) -> str:
    return own_name(key.removeprefix("param_"))


def _cell(value: Any) -> Any:
    if value is np.ma.masked:
        return ""
    return value.item() if isinstance(value, np.generic) else value
