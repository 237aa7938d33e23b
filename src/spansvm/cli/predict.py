"""``spansvm predict``: labels, decision values and probabilities for the rows of a file."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import (
    NO_VALUE,
    DataFile,
    Debug,
    Decimal,
    Delimiter,
    Encoding,
    Force,
    Format,
    Header,
    Id,
    Missing,
    ModelFile,
    Quiet,
    Sheet,
    file_options,
)
from .terminal import Terminal

if TYPE_CHECKING:
    from ..tables import Table

__all__ = ["HELP", "predict"]

HELP = (
    "Predict the rows of a file with a model from spansvm tune.\n\n"
    "Columns are matched by name, in any order. The result is CSV: the row number (or --id), the "
    "predicted label, and the decision value, which is positive for the second class.\n\n"
    "\b\n"
    "  spansvm predict data-tuned new.csv\n"
    "  spansvm predict data-tuned/model.skops new.csv --id patient --proba --out labels.csv\n"
    "  cat new.csv | spansvm predict data-tuned/model.skops - > labels.csv\n\n"
    "--libsvm FILE also writes the rows in the form that LIBSVM's own programs need:\n\n"
    "\b\n"
    "  spansvm predict data-tuned/model.skops new.csv --libsvm new.libsvm\n"
    "  svm-predict new.libsvm data-tuned/model.libsvm labels.txt"
)

_OUTPUT = "Output"


def predict(
    model: ModelFile,
    data: DataFile,
    id: Id = None,
    proba: Annotated[
        bool,
        typer.Option(
            "--proba", metavar=NO_VALUE, rich_help_panel=_OUTPUT,
            help="Add the probability of each class, calibrated on leave-one-out values.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", rich_help_panel=_OUTPUT,
            help="CSV file to write; standard output by default.",
        ),
    ] = None,
    libsvm: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", rich_help_panel=_OUTPUT,
            help="Also write the transformed rows, for svm-predict with model.libsvm.",
        ),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
    format: Format = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = "utf-8",
    decimal: Decimal = ".",
    missing: Missing = None,
    sheet: Sheet = None,
) -> None:  # fmt: skip
    """See HELP."""
    from ..common.output import OutputFolder, write_csv
    from ..models import save_libsvm_data, transformed
    from .held_out import load, model_file, read_rows

    terminal = Terminal(quiet=quiet)
    folders = {path: OutputFolder(path.parent, force=force) for path in (out, libsvm) if path}
    for path, folder in folders.items():
        folder.prepare(path.name)
    saved, schema = load(model_file(model))
    options = file_options(format, delimiter, header, encoding, decimal, missing, sheet)
    table = read_rows(data, schema, options, saved, terminal, id)
    rows = _predictions(saved, table, proba=proba)
    if libsvm is not None:
        with folders[libsvm].writing(libsvm.name) as path:
            save_libsvm_data(path, transformed(saved, table.X), table.y, classes=saved.classes_)
    if out is None:
        write_csv(sys.stdout, rows)
        return
    with folders[out].writing(out.name) as path, path.open("w", encoding="utf-8", newline="") as f:
        write_csv(f, rows)
    terminal.note(f"Wrote {table.n_rows} predictions to {out}.")


def _predictions(model: Any, table: Table, *, proba: bool) -> list[list[Any]]:
    """The heading, and one line per row."""
    classes = [str(label) for label in model.classes_]
    names = ["row"] if table.ids is None else ["id"]
    ids: Iterable[Any] = range(1, table.n_rows + 1) if table.ids is None else table.ids.tolist()
    values = model.decision_function(table.X)
    columns: list[Iterable[Any]] = [ids, model.predict(table.X).tolist()]
    if values.ndim == 1:
        names += ["predicted", "decision"]
        columns.append(values.tolist())
    else:
        names += ["predicted", *(f"decision_{name}" for name in _decided(model, classes))]
        columns += values.T.tolist()
    if proba:
        names += [f"probability_{label}" for label in classes]
        columns += model.predict_proba(table.X).T.tolist()
    return [names, *(list(row) for row in zip(*columns, strict=True))]


def _decided(model: Any, classes: list[str]) -> list[str]:
    """What each decision value belongs to, with more than two classes: a class or a pair."""
    machine = model[-1] if hasattr(model, "steps") else model
    if getattr(machine, "decision_function_shape", "ovr") == "ovr":
        return classes
    return [f"{first}_{second}" for first, second in combinations(classes, 2)]
