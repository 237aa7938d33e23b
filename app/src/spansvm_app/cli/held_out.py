"""Scores of a trained model on the labelled rows of another file."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix, log_loss, roc_auc_score

from spansvm.blocks import wilson_interval
from spansvm.errors import UserError
from spansvm.models import load_model

from ..common.tasks import REGRESSION
from ..report.plain import cut
from ..tables import FileOptions, Schema, Table, check_predictable, read_for_prediction
from .terminal import Terminal
from .tuned_files import MODEL

__all__ = [
    "HeldOut",
    "held_out_figures",
    "load",
    "model_file",
    "print_confusion",
    "read_labelled",
    "read_rows",
    "score_or_none",
]


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
    score_name : str
        The score by which the model was selected.
    score : float or None
        Of the model on these rows; None if it is not defined for them.
    classes : list of str
    confusion : list of lists of int
        Rows are the labels, columns the predictions.
    source : str
        The file.
    """

    n_rows: int
    n_errors: int
    error: float
    interval: list[float]
    majority_error: float
    roc_auc: float | None
    log_loss: float | None
    score_name: str
    score: float | None
    classes: list[str]
    confusion: list[list[int]]
    source: str


def model_file(path: Path) -> Path:
    """The model file: the path itself, or the one in a folder that spansvm tune wrote."""
    if not path.is_dir():
        return path
    if not (path / MODEL).is_file():
        raise UserError(f"There is no {MODEL} in the folder {path}; give the model file.")
    return path / MODEL


def load(path: Path) -> tuple[Any, Schema, Any]:
    """A saved model, what its input files must look like, and the record of its training, if any.

    UserError if it does not say the second.
    """
    saved = load_model(path)
    schema = saved.metadata.get("schema")
    if schema is None:
        raise UserError(
            f"{path} does not say which columns the model needs; save it with a schema, or use "
            "spansvm tune."
        )
    try:
        return saved.model, Schema.from_json(schema), saved.metadata.get("training")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{path} is damaged: it does not say which columns the model needs; run spansvm tune "
            "again."
        ) from error


def read_rows(
    path: str,
    schema: Schema,
    options: FileOptions,
    model: Any,
    terminal: Terminal,
    id: str | None = None,
    *,
    labelled: bool = False,
) -> Table:
    """The rows of a file, for the model to predict; anything odd is noted.

    Those without a label are left out if only `labelled` rows are of use.
    """
    table = read_for_prediction(path, schema, options, id=id, labelled=labelled)
    for note in table.notes:
        terminal.note(f"{table.source}: {note}")
    check_predictable(model, table)
    return table


def read_labelled(
    path: str, schema: Schema, options: FileOptions, model: Any, terminal: Terminal
) -> Table:
    """As :func:`read_rows`; UserError if the rows have no labels."""
    table = read_rows(path, schema, options, model, terminal, labelled=True)
    if table.y is None:
        if schema.task == REGRESSION:
            raise UserError(
                f"{table.source} needs a number in every row of the target '{schema.target}'; add "
                "them, or use spansvm predict."
            )
        what = "labels" if schema.target is None else f"labels (column '{schema.target}')"
        raise UserError(
            f"{table.source} needs {what} in every row, all of them classes of the model; add "
            "them, or use spansvm predict."
        )
    return table


def held_out_figures(
    model: Any, table: Table, scorer: Any = None, score_name: str = "accuracy"
) -> HeldOut:
    """Predict labelled rows and score the predictions, also by the score that selected the model.

    Parameters
    ----------
    model : estimator
    table : Table
    scorer : callable, optional
        By default accuracy.
    score_name : str
    """
    labels, classes = np.asarray(table.y), model.classes_
    predicted = model.predict(table.X)
    n_errors = int((predicted != labels).sum())
    sizes = np.unique(labels, return_counts=True)[1]
    both = classes.size == 2 and sizes.size == 2
    probabilities = model.predict_proba(table.X) if hasattr(model, "predict_proba") else None
    score: float | None = 1.0 - n_errors / labels.size
    if scorer is not None:
        score = score_or_none(scorer, model, table.X, labels)
    return HeldOut(
        n_rows=labels.size,
        n_errors=n_errors,
        error=n_errors / labels.size,
        interval=list(wilson_interval(n_errors / labels.size, labels.size)),
        majority_error=1.0 - float(sizes.max()) / labels.size,
        roc_auc=float(roc_auc_score(labels, model.decision_function(table.X))) if both else None,
        log_loss=None
        if probabilities is None
        else float(log_loss(labels, probabilities, labels=classes)),
        score_name=score_name,
        score=score,
        classes=[str(label) for label in classes],
        confusion=confusion_matrix(labels, predicted, labels=classes).tolist(),
        source=table.source,
    )


def score_or_none(scorer: Any, model: Any, X: Any, labels: np.ndarray) -> float | None:
    """A score, or None where it is not defined, as for rows of a single class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = float(scorer(model, X, labels))
        except ValueError:
            return None
    return value if np.isfinite(value) else None


def print_confusion(test: HeldOut, terminal: Terminal) -> None:
    """Print the labels of the test rows against the predictions."""
    terminal.table(
        {"label": "left", **{f"predicted {cut(label)}": "right" for label in test.classes}},
        [[cut(label), *counts] for label, counts in zip(test.classes, test.confusion, strict=True)],
        f"Confusion matrix for {test.source}:",
    )
