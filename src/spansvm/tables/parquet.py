"""Parquet files: columns that know their types."""

from __future__ import annotations

from typing import Any

from ..errors import UserError, require
from .columns import Column
from .formats import check_fits
from .table import CATEGORICAL, NUMERIC

__all__ = ["read_parquet"]

#: Bytes of a number, which is there as read, transformed, and in the model.
_BYTES_A_CELL = 3 * 8


def read_parquet(name: str, content: bytes, available: float) -> list[Column]:
    """The columns of a Parquet file.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    content : bytes
    available : float
        Bytes of memory; UserError if the columns need more.
    """
    pyarrow, parquet = require("pyarrow", "data"), require("pyarrow.parquet", "data")
    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(content))
        cells = file.metadata.num_rows * file.metadata.num_columns
        check_fits(name, len(content) + _BYTES_A_CELL * cells, available)
        table = file.read()
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise UserError(f"{name} is not a whole Parquet file; copy or write it again.") from error
    names = table.column_names
    for title in names:
        if names.count(title) > 1:
            raise UserError(f"{name} has two columns named '{title}'; rename one of them.")
    if table.num_rows == 0:
        raise UserError(f"{name} has columns but no rows; give a file with rows.")
    return [_column(title, table.column(title)) for title in names]


def _column(title: str, values: Any) -> Column:
    pyarrow, compute = require("pyarrow", "data"), require("pyarrow.compute", "data")
    types = pyarrow.types
    if types.is_dictionary(values.type):
        values = compute.cast(values, values.type.value_type)
    if types.is_floating(values.type):
        nothing = pyarrow.scalar(None, type=values.type)
        values = compute.if_else(compute.is_nan(values), nothing, values)
    if types.is_integer(values.type) or types.is_floating(values.type):
        return Column(title, values, NUMERIC)
    if types.is_decimal(values.type):
        return Column(title, compute.cast(values, pyarrow.float64()), NUMERIC)
    if types.is_boolean(values.type):
        return Column(title, compute.cast(values, pyarrow.string()), CATEGORICAL)
    if types.is_string(values.type) or types.is_large_string(values.type):
        return Column(title, values, CATEGORICAL)
    if types.is_null(values.type):
        return Column(title, compute.cast(values, pyarrow.float64()), NUMERIC)
    return Column(title, values)
