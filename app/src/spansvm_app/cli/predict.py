"""``spansvm predict``: labels or numbers for the rows of a file, and how sure these are."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spansvm.errors import UserError

from ..common.positive import positive_class
from ..common.tasks import REGRESSION
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
    import numpy as np

    from ..tables import Table

__all__ = ["HELP", "predict"]

HELP = (
    "Predict the rows of a file with a model from spansvm tune.\n\n"
    "Columns are matched by name, in any order. The result is CSV: the row number (or --id), the "
    "predicted label, and the decision value, which is positive for the second class; for a "
    "regression the predicted number, with --interval also the ends of a prediction interval.\n\n"
    "\b\n"
    "  spansvm predict data-tuned new.csv\n"
    "  spansvm predict data-tuned/model.skops new.csv --id patient --proba --out labels.csv\n"
    "  spansvm predict data-tuned new.csv --cost 5       # a missed row costs 5 false alarms\n"
    "  spansvm predict housing-tuned new.csv --interval 0.9\n"
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
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="P", rich_help_panel=_OUTPUT,
            help="Predict the positive one of two classes (1 of 0 and 1, else the rarer, as in the "
            "report) wherever its calibrated probability is at least P, whatever the sign of the "
            "decision value.",
        ),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            metavar="RATIO", rich_help_panel=_OUTPUT,
            help="The same for costs: a missed row of the positive class costs RATIO false alarms, "
            "so P is 1/(1 + RATIO), as the report shows it.",
        ),
    ] = None,
    interval: Annotated[
        str | None,
        typer.Option(
            "--interval", metavar="[LEVEL]", rich_help_panel=_OUTPUT,
            help="For a regression, add the ends of an interval that contains this share of new "
            "values; 0.9 if no number follows.",
        ),
    ] = None,
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
    decimal: Decimal = None,
    missing: Missing = None,
    sheet: Sheet = None,
) -> None:  # fmt: skip
    """See HELP."""
    from spansvm.models import save_libsvm_data, transformed

    from ..common.output import OutputFolder, write_csv
    from .held_out import load, model_file, read_rows

    terminal, level, least = Terminal(quiet=quiet), _level(interval), _threshold(threshold, cost)
    folders = {path: OutputFolder(path.parent, force=force) for path in (out, libsvm) if path}
    for path, folder in folders.items():
        folder.prepare(path.name)
    saved, schema, _ = load(model_file(model))
    options = file_options(format, delimiter, header, encoding, decimal, missing, sheet)
    table = read_rows(data, schema, options, saved, terminal, id)
    if schema.task == REGRESSION:
        if proba or least is not None:
            option = "--proba" if proba else f"--{'cost' if threshold is None else 'threshold'}"
            raise UserError(
                f"{option} is for classes, and the model predicts a quantity; use --interval."
            )
        rows = _predicted_numbers(saved, table, level)
    else:
        if level is not None:
            raise UserError(
                "--interval is for a quantity, and the model predicts classes; use --proba."
            )
        rows = _predictions(saved, table, terminal, proba=proba, threshold=least)
    if libsvm is not None:
        with folders[libsvm].writing(libsvm.name) as path:
            classes = None if schema.task == REGRESSION else saved.classes_
            save_libsvm_data(path, transformed(saved, table.X), table.y, classes=classes)
    if out is None:
        write_csv(sys.stdout, rows)
        return
    with folders[out].writing(out.name) as path, path.open("w", encoding="utf-8", newline="") as f:
        write_csv(f, rows)
    terminal.note(f"Wrote {table.n_rows} predictions to {out}.")


def _level(text: str | None) -> float | None:
    """The confidence level of ``--interval``."""
    if text is None:
        return None
    try:
        level = float(text)
    except ValueError:
        level = 0.0
    if not 0.0 < level < 1.0:
        raise UserError(f"--interval must be between 0 and 1, such as 0.9; got '{text}'.")
    return level


def _threshold(threshold: str | None, cost: str | None) -> float | None:
    """The probability from which the positive class is predicted; None for the own decisions."""
    if threshold is not None and cost is not None:
        raise UserError("--cost gives the threshold; leave --threshold or --cost out.")
    if cost is not None:
        ratio = _number(cost)
        if not 0.0 < ratio < float("inf"):
            raise UserError(f"--cost must be a positive number, such as 5; got '{cost}'.")
        return 1.0 / (1.0 + ratio)
    if threshold is None:
        return None
    least = _number(threshold)
    if not 0.0 < least < 1.0:
        raise UserError(f"--threshold must be between 0 and 1, such as 0.2; got '{threshold}'.")
    return least


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _predicted_numbers(model: Any, table: Table, level: float | None) -> list[list[Any]]:
    """The heading, and one line per row, with the ends of its interval if there is a level."""
    from spansvm.models import interval_of

    names, ids = _ids(table)
    columns = [ids, model.predict(table.X).tolist()]
    names += ["predicted"]
    if level is not None:
        ends = interval_of(model, table.X, level)
        if ends is None:
            raise UserError(
                "The model has no prediction intervals; train it with spansvm tune, or leave "
                "--interval out."
            )
        names += ["lower", "upper"]
        columns += ends.T.tolist()
    return [names, *(list(row) for row in zip(*columns, strict=True))]


def _ids(table: Table) -> tuple[list[str], Iterable[Any]]:
    """The heading of the first column, and what names the rows."""
    if table.ids is None:
        return ["row"], range(1, table.n_rows + 1)
    return ["id"], table.ids.tolist()


def _predictions(
    model: Any, table: Table, terminal: Terminal, *, proba: bool, threshold: float | None
) -> list[list[Any]]:
    """The heading, and one line per row."""
    classes = [str(label) for label in model.classes_]
    names, ids = _ids(table)
    values = model.decision_function(table.X)
    predicted, probabilities = model.predict(table.X), None
    if threshold is not None:
        predicted, probabilities = _by_threshold(model, table, threshold, terminal)
    columns: list[Iterable[Any]] = [ids, predicted.tolist()]
    if values.ndim == 1:
        names += ["predicted", "decision"]
        columns.append(values.tolist())
    else:
        names += ["predicted", *(f"decision_{name}" for name in _decided(model, classes))]
        columns += values.T.tolist()
    if proba:
        if probabilities is None:
            probabilities = model.predict_proba(table.X)
        names += [f"probability_{label}" for label in classes]
        columns += probabilities.T.tolist()
    return [names, *(list(row) for row in zip(*columns, strict=True))]


def _by_threshold(
    model: Any, table: Table, threshold: float, terminal: Terminal
) -> tuple[np.ndarray, np.ndarray]:
    """The positive class where its probability is large enough; and the probabilities."""
    import numpy as np

    from spansvm.models import transformed

    machine = model[-1] if hasattr(model, "steps") else model
    if machine.classes_.size != 2:
        raise UserError(
            "--threshold and --cost are for two classes, but the model has "
            f"{machine.classes_.size}; leave them out."
        )
    if hasattr(machine, "members_"):
        # A committee decides by its probabilities.
        probabilities, labels = machine.predict_proba(table.X), machine._indices
    elif hasattr(machine, "predict_calibrated_proba"):
        probabilities = machine.predict_calibrated_proba(transformed(model, table.X))
        labels = machine.machines_.indices
    else:
        raise UserError(
            "The model has no calibrated probabilities of its own; train it with spansvm tune, or "
            "leave --threshold and --cost out."
        )
    positive = positive_class(machine.classes_, np.bincount(labels, minlength=2))
    terminal.note(
        f"'{machine.classes_[positive]}' is predicted where its probability is at least "
        f"{threshold:.3g}."
    )
    found = probabilities[:, positive] >= threshold
    return machine.classes_[np.where(found, positive, 1 - positive)], probabilities


def _decided(model: Any, classes: list[str]) -> list[str]:
    """What each decision value belongs to, with more than two classes: a class or a pair."""
    machine = model[-1] if hasattr(model, "steps") else model
    if getattr(machine, "decision_function_shape", "ovr") == "ovr":
        return classes
    return [f"{first}_{second}" for first, second in combinations(classes, 2)]
