"""Parquet files: columns with declared types."""

from __future__ import annotations

from typing import Any

from spansvm.errors import UserError, require

from .columns import Column, text_column
from .formats import check_fits
from .table import CATEGORICAL, NUMERIC

__all__ = ["read_parquet", "without_markers"]

#: Bytes of a number, which is held three times: as read, transformed, and in the model.
_BYTES_A_CELL = 3 * 8


def read_parquet(
    name: str, content: bytes, available: float, missing: tuple[str, ...]
) -> list[Column]:
    """The columns of a Parquet file.

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    content : bytes
    available : float
        Bytes of memory; UserError if the columns need more.
    missing : tuple of str
        Markers of missing values; those that are numbers also apply to numeric columns.
    """
    pyarrow, parquet = require("pyarrow", "cli"), require("pyarrow.parquet", "cli")
    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(content))
        cells = file.metadata.num_rows * file.metadata.num_columns
        check_fits(name, len(content) + _BYTES_A_CELL * cells, available)
        table = file.read()
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise UserError(
            f"{name} is damaged or not a Parquet file; copy or write it again."
        ) from error
    names = table.column_names
    for title in names:
        if names.count(title) > 1:
            raise UserError(f"{name} has two columns named '{title}'; rename one of them.")
    if table.num_rows == 0:
        raise UserError(f"{name} has columns but no rows; give a file with rows.")
    return [_column(title, table.column(title), missing) for title in names]


def _column(title: str, values: Any, missing: tuple[str, ...]) -> Column:
    pyarrow, compute = require("pyarrow", "cli"), require("pyarrow.compute", "cli")
    types = pyarrow.types
    if types.is_dictionary(values.type):
        values = compute.cast(values, values.type.value_type)
    # By name, as older versions of pyarrow do not know the type.
    if str(values.type) == "string_view":
        values = compute.cast(values, pyarrow.string())
    if types.is_decimal(values.type) or types.is_null(values.type):
        values = compute.cast(values, pyarrow.float64())
    if types.is_integer(values.type) or types.is_floating(values.type):
        return Column(title, without_markers(values, missing), NUMERIC)
    if types.is_boolean(values.type):
        # As pandas writes them to CSV files.
        values = compute.if_else(values, "True", "False")
    if types.is_string(values.type) or types.is_large_string(values.type):
        return text_column(title, values, missing, CATEGORICAL)
    return Column(title, values)


def without_markers(values: Any, missing: tuple[str, ...]) -> Any:
    """Numbers, null where they are NaN or equal to a numeric marker."""
    pyarrow, compute = require("pyarrow", "cli"), require("pyarrow.compute", "cli")
    single = pyarrow.types.is_float32(values.type)
    precision = pyarrow.float32() if single else pyarrow.float64()
    numbers = compute.cast(values, precision, safe=False)
    markers = [number for number in map(_number, missing) if number is not None]
    absent = compute.is_in(numbers, value_set=pyarrow.array(markers, type=precision))
    absent = compute.or_(absent, compute.fill_null(compute.is_nan(numbers), True))
    return compute.if_else(absent, pyarrow.scalar(None, type=values.type), values)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
