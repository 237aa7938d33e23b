"""Scores of a trained model on the labelled rows of another file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix, log_loss, roc_auc_score

from ..errors import UserError
from ..models import load_model
from ..report.loo_figures import wilson
from ..tables import FileOptions, Schema, Table, check_predictable, read_for_prediction
from .terminal import Terminal
from .tuned_files import MODEL

__all__ = ["HeldOut", "held_out_figures", "load", "model_file", "read_labelled", "read_rows"]


@dataclass(frozen=True)
class HeldOut:
    """How a model performs on held-out rows.

    Attributes
    ----------
    n_rows, n_errors : int
    error : float
    interval : list of float
        Wilson's 95% CI.
    majority_error : float
        Error of always predicting the largest class of these rows.
    roc_auc : float or None
        For two classes, if both are present.
    log_loss : float or None
        Of the calibrated probabilities.
    classes : list of str
    confusion : list of lists of int
        Rows are the labels, columns the predictions.
    """

    n_rows: int
    n_errors: int
    error: float
    interval: list[float]
    majority_error: float
    roc_auc: float | None
    log_loss: float | None
    classes: list[str]
    confusion: list[list[int]]


def model_file(path: Path) -> Path:
    """The model file: the path itself, or the one in a folder that spansvm tune wrote."""
    if not path.is_dir():
        return path
    if not (path / MODEL).is_file():
        raise UserError(f"There is no {MODEL} in the folder {path}; give the model file.")
    return path / MODEL


def load(path: Path) -> tuple[Any, Schema]:
    """A saved model, and what its input files must look like."""
    saved = load_model(path)
    if saved.schema is None:
        raise UserError(
            f"{path} does not say which columns the model needs; save it with a schema, or use "
            "spansvm tune."
        )
    return saved.model, saved.schema


def read_rows(
    path: str,
    schema: Schema,
    options: FileOptions,
    model: Any,
    terminal: Terminal,
    id: str | None = None,
) -> Table:
    """The rows of a file, for the model to predict; anything odd is noted."""
    table = read_for_prediction(path, schema, options, id=id)
    for note in table.notes:
        terminal.note(f"{table.source}: {note}")
    check_predictable(model, table)
    return table


def read_labelled(
    path: str, schema: Schema, options: FileOptions, model: Any, terminal: Terminal
) -> Table:
    """As :func:`read_rows`; UserError if the rows have no labels."""
    table = read_rows(path, schema, options, model, terminal)
    if table.y is None:
        what = "labels" if schema.target is None else f"labels (column '{schema.target}')"
        raise UserError(
            f"{table.source} needs {what} in every row, all of them classes of the model; add "
            "them, or use spansvm predict."
        )
    return table


def held_out_figures(model: Any, table: Table) -> HeldOut:
    """Predict labelled rows and score the predictions."""
    labels, classes = np.asarray(table.y), model.classes_
    predicted = model.predict(table.X)
    n_errors = int((predicted != labels).sum())
    sizes = np.unique(labels, return_counts=True)[1]
    both = classes.size == 2 and sizes.size == 2
    probabilities = model.predict_proba(table.X) if hasattr(model, "predict_proba") else None
    return HeldOut(
        n_rows=labels.size,
        n_errors=n_errors,
        error=n_errors / labels.size,
        interval=wilson(n_errors, labels.size),
        majority_error=1.0 - float(sizes.max()) / labels.size,
        roc_auc=float(roc_auc_score(labels, model.decision_function(table.X))) if both else None,
        log_loss=None
        if probabilities is None
        else float(log_loss(labels, probabilities, labels=classes)),
        classes=[str(label) for label in classes],
        confusion=confusion_matrix(labels, predicted, labels=classes).tolist(),
    )
