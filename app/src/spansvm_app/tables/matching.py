"""Files for prediction: matches their columns to those of the training file by name."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from spansvm.errors import UserError

from ..common.tasks import CLASSIFICATION
from ..common.wording import closest_name, listed
from .columns import Column
from .dates import part_of_dates, source_column
from .features import data_frame, missing_counts
from .libsvm import LibsvmRows
from .roles import find_column, labelled_rows, note_unlabelled
from .table import CATEGORICAL, NUMERIC, Schema, Table
from .targets import known_labels, known_target
from .written import Written, as_in_training

__all__ = ["match_columns", "match_libsvm"]


def match_columns(
    source: str, columns: list[Column], schema: Schema, id: str | None, *, labelled: bool = False,
    decimal: str | None = None,
) -> Table:  # fmt: skip
    """The rows as a model expects them, whatever the order of the columns.

    Columns unknown to the model are dropped, with a note; categories that it has not seen stay,
    with a note.  Labels are used if all of them are classes of the model; with `labelled`, rows
    without a label are left out, with a note.
    """
    if schema.layout != "columns":
        raise UserError(f"The model was trained on a LIBSVM file; {source} must be one too.")
    written = Written(schema.written, schema.marks)
    numbers = {*schema.named(NUMERIC), schema.target} - {id}
    if schema.classes and isinstance(schema.classes[0], str) and schema.target not in written.forms:
        numbers -= {schema.target}
    columns = [
        as_in_training(source, column, written, decimal) if column.name in numbers else column
        for column in columns
    ]
    target = next((column for column in columns if column.name == schema.target), None)
    rows, notes = None, []
    if labelled and target is not None and target.n_missing:
        rows = labelled_rows(source, target)
        notes.append(note_unlabelled(target))
        columns = [column.kept(rows) for column in columns]
    given = {column.name: column for column in columns}
    parts = {name: part_of_dates(name, given) for name in schema.features if name not in given}
    dates = [part for part in parts.values() if part is not None]
    names = [*given, *(part.name for part in dates)]
    absent = [name for name in schema.features if name not in names]
    if absent:
        spare = [name for name in names if name not in schema.features]
        shown = [f"'{name}'{closest_name(name, spare)}" for name in absent]
        raise UserError(
            f"{source} lacks {len(absent)} of the {len(schema.features)} columns that the model "
            f"was trained on: {listed(shown)}; add or rename them."
        )
    by_name = {**given, **{part.name: part for part in dates}}
    features = [by_name[name] for name in schema.features]
    X = data_frame(features, schema.column_types)
    ids = None if id is None else find_column(source, columns, id, "--id").names()
    used = {source_column(part.name) for part in dates}
    known = (*schema.features, schema.target, id, *used, *schema.others)
    extra = [name for name in given if name not in known]
    if extra:
        notes.append(f"The model does not use these columns: {listed(extra)}.")
    for name in schema.named(CATEGORICAL):
        unseen = sorted(set(X[name].dropna()) - set(schema.categories[name]))
        if unseen:
            notes.append(
                f"Column '{name}' has values that the model has not seen ({listed(unseen)}); they "
                "are treated as unknown."
            )
    y = None
    if schema.target in by_name:
        y = known_target(by_name[schema.target], schema.task, schema.classes, notes)
    return Table(
        X=X, y=y, schema=schema, source=source, ids=ids,
        missing=missing_counts(features, schema.column_types), notes=tuple(notes),
        rows=None if rows is None else np.flatnonzero(rows) + 1,
    )  # fmt: skip


def match_libsvm(source: str, rows: LibsvmRows, schema: Schema) -> Table:
    """The rows of a LIBSVM file, with as many features as a model expects."""
    n_features = len(schema.features)
    notes = []
    X = sparse.csr_matrix(rows.X)
    if X.shape[1] > n_features:
        notes.append(
            f"Features above {schema.features[-1]} are ignored, as the model does not know them."
        )
        X = X[:, :n_features]
    else:
        X.resize((X.shape[0], n_features))
    y: np.ndarray | None = rows.y
    if schema.task == CLASSIFICATION:
        y = known_labels(rows.labels(source), schema.classes, notes)
    return Table(
        X=X.toarray() if schema.layout == "dense" else X,
        y=y, schema=schema, source=source, notes=tuple(notes),
    )  # fmt: skip
