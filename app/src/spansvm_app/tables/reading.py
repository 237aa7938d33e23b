"""Reads a user's file: ``read_table`` for training, ``read_for_prediction`` for prediction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from spansvm.blocks import available_memory
from spansvm.errors import UserError

from .arff import read_arff
from .columns import MISSING, Column
from .dates import source_column
from .delimited import decode, read_delimited
from .excel import read_excel
from .formats import check_memory, find_format
from .libsvm import LibsvmRows, read_libsvm
from .matching import match_columns, match_libsvm
from .parquet import read_parquet
from .roles import Roles, assemble
from .row_numbers import leave_out_index
from .source import gigabytes, open_source
from .table import NUMERIC, Schema, Table
from .targets import Target, note_many_classes

__all__ = ["FileOptions", "read_columns", "read_for_prediction", "read_table"]

#: A LIBSVM file with at least this share of nonzero features becomes a dense array.
_DENSE = 0.5

#: Bytes for a feature's name and its scaling.
_BYTES_A_FEATURE = 100


@dataclass(frozen=True)
class FileOptions:
    """How a file is written; what is not given is detected.

    Attributes
    ----------
    format : {"csv", "tsv", "parquet", "arff", "libsvm", "excel"}, optional
    delimiter : str, optional
        Of a CSV file.
    header : bool, optional
        Whether the first row of a CSV file holds column names.  If not, the columns are named
        "1", "2", ...
    encoding : str, default="utf-8"
    decimal : {".", ","}, optional
        What begins the decimals of numbers.
    missing : tuple of str
        Markers of missing values.
    sheet : str, optional
        Of an Excel file; the first one by default.
    available_memory : float, optional
        Bytes that may be used; by default the system's free memory.
    """

    format: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    encoding: str = "utf-8"
    decimal: str | None = None
    missing: tuple[str, ...] = MISSING
    sheet: str | None = None
    available_memory: float | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise UserError(f"--decimal must be '.' or ','; got '{self.decimal}'.")

    @property
    def extra_missing(self) -> tuple[str, ...]:
        """The markers of missing values given in addition to the usual ones."""
        return tuple((Counter(self.missing) - Counter(MISSING)).elements())

    @property
    def memory(self) -> float:
        """Bytes that may be used."""
        return available_memory() if self.available_memory is None else self.available_memory


def read_table(
    path: str | Path,
    options: FileOptions | None = None,
    roles: Roles | None = None,
) -> Table:
    """Read a file to train on.

    Parameters
    ----------
    path : str or Path
        A CSV, TSV, Parquet, ARFF, LIBSVM or Excel file, plain or compressed with gzip, bzip2 or
        xz; "-" is standard input.
    options : FileOptions, optional
    roles : Roles, optional
        Which columns hold labels, weights and so on; LIBSVM files have no named columns.

    Returns
    -------
    Table

    Raises
    ------
    UserError
        In one sentence that says what to do.

    See Also
    --------
    spansvm_app.tables.read_for_prediction : Reads a file for a trained model.
    spansvm_app.tables.build_pipeline : Builds a model with the steps that prepare the columns.
    """
    options, roles = options or FileOptions(), roles or Roles()
    content = _read(path, options, named=roles.named)
    if not isinstance(content.rows, LibsvmRows):
        table = assemble(content.source, content.rows, roles, options.decimal)
        schema = replace(table.schema, missing=options.extra_missing)
        return replace(table, schema=schema, notes=content.notes + table.notes)
    if roles.given:
        raise UserError(
            f"{content.source} is a LIBSVM file, which has no named columns; leave "
            f"--{roles.given[0]} out, or give a CSV file."
        )
    _refuse_markers(content.source, options)
    return _libsvm_table(content.source, content.rows, options.memory, roles.task)


def read_for_prediction(
    path: str | Path,
    schema: Schema,
    options: FileOptions | None = None,
    *,
    id: str | None = None,
    labelled: bool = False,
) -> Table:
    """Read a file to predict.

    Parameters
    ----------
    path : str or Path
        As in :func:`read_table`; if it has no labels, ``y`` is None.
    schema : Schema
        Of the table that the model was trained on.
    options : FileOptions, optional
        The markers of missing values used in training apply here too.
    id : str, optional
        Column with the name of each row.
    labelled : bool, default=False
        Whether to leave out rows that have no label, with a note.

    See Also
    --------
    spansvm_app.tables.read_table : Reads a file to train on.
    spansvm_app.tables.check_predictable : Checks whether a model can predict the rows.
    """
    options = options or FileOptions()
    both = replace(options, missing=options.missing + schema.missing)
    content = _read(path, both, schema, named=() if id is None else (id,))
    if not isinstance(content.rows, LibsvmRows):
        table = match_columns(
            content.source, content.rows, schema, id, labelled=labelled, decimal=options.decimal
        )
        return replace(table, notes=content.notes + table.notes)
    if schema.layout == "columns":
        raise UserError(
            f"The model was trained on named columns, but {content.source} is a LIBSVM file, which "
            "has none; give a CSV, Parquet or ARFF file."
        )
    if id is not None:
        raise UserError(f"{content.source} is a LIBSVM file without named columns; leave --id out.")
    _refuse_markers(content.source, options)
    return match_libsvm(content.source, content.rows, schema)


def read_columns(path: str | Path, options: FileOptions) -> tuple[str, list[Column]]:
    """The name of a file and its columns; UserError if it has none."""
    content = _read(path, options)
    if isinstance(content.rows, LibsvmRows):
        raise UserError(
            f"{content.source} is a LIBSVM file, which has no named columns; give a CSV file."
        )
    return content.source, content.rows


@dataclass(frozen=True)
class _Content:
    source: str
    rows: list[Column] | LibsvmRows
    notes: tuple[str, ...] = ()


def _read(
    path: str | Path,
    options: FileOptions,
    schema: Schema | None = None,
    named: Collection[str] = (),
) -> _Content:
    """What a file holds; with a schema, as the model expects it.

    Columns that are `named` stay even if they look like an index.
    """
    available = options.memory
    source = open_source(path, available=available)
    format = find_format(source, options.format)
    check_memory(source, format, available)
    name, content = source.name, source.read()
    if format == "libsvm":
        base = None
        if schema is not None and schema.layout != "columns":
            base = int(schema.features[0])
        return _Content(name, read_libsvm(name, content, base))
    notes: tuple[str, ...] = ()
    if format == "excel":
        columns, notes = read_excel(
            name, content, available, missing=options.missing, sheet=options.sheet
        )
    elif format == "parquet":
        columns = read_parquet(name, content, available, options.missing)
    else:
        content = decode(name, content, options.encoding)
        one_column = schema is not None and len({*map(source_column, schema.features)}) == 1
        columns = _read_text(name, format, content, options, one_column)
    columns, more = leave_out_index(name, columns, (*named, *(schema.features if schema else ())))
    return _Content(name, columns, (*notes, *more))


def _read_text(
    name: str, format: str, content: bytes, options: FileOptions, one_column: bool
) -> list[Column]:
    if format == "arff":
        return read_arff(name, content, options.missing, options.extra_missing)
    delimiter = options.delimiter
    if delimiter is None and format == "tsv":
        delimiter = "\t"
    return read_delimited(
        name, content, delimiter=delimiter, header=options.header, missing=options.missing,
        decimal=options.decimal, one_column=one_column,
    )  # fmt: skip


def _refuse_markers(source: str, options: FileOptions) -> None:
    if options.extra_missing:
        raise UserError(
            f"{source} is a LIBSVM file, which cannot have missing values; leave --missing out, or "
            "give a CSV file."
        )


def _libsvm_table(source: str, rows: LibsvmRows, available: float, task: str | None) -> Table:
    n_rows, n_features = rows.X.shape
    needed = _BYTES_A_FEATURE * n_features
    if needed > available:
        raise UserError(
            f"{source} has a feature {n_features - 1 + rows.base}; that many need about "
            f"{gigabytes(needed)} of memory, but only {gigabytes(available)} is free; number the "
            "features from 1 without gaps."
        )
    if rows.X.nnz == 0:
        raise UserError(f"{source} has labels but no features; give a file with features.")
    label = f"The label in {source}"
    whole = (rows.y == np.round(rows.y)).all()
    target = Target(label, rows.labels(source) if whole else rows.y, rows.y, task=task)
    dense = rows.X.nnz >= _DENSE * n_rows * n_features
    return Table(
        X=rows.X.toarray() if dense else rows.X,
        y=target.values,
        schema=Schema(
            layout="dense" if dense else "sparse",
            features=tuple(str(i + rows.base) for i in range(n_features)),
            column_types=(NUMERIC,) * n_features,
            categories={},
            target=None,
            classes=target.classes,
            task=target.task,
        ),
        source=source,
        notes=note_many_classes(target.values, label),
        why_task=target.why,
    )
