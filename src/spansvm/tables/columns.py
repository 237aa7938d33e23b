"""One column of a file: whether it holds numbers or categories, and its values as either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UserError, require
from .table import CATEGORICAL, NUMERIC

__all__ = ["MISSING", "Column", "replace_decimal_comma", "text_column"]

#: Texts that stand for a missing value.
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_DECIMAL_COMMA = r"^[+-]?\d*,\d+$"


@dataclass(frozen=True, eq=False)
class Column:
    """A column as the file has it.

    Attributes
    ----------
    name : str
    values : pyarrow.ChunkedArray
        Text or numbers; null where a value is missing.
    declared : {"numeric", "categorical"} or None
        What the file itself says of the kind, if it says anything.
    """

    name: str
    values: Any
    declared: str | None = None

    @property
    def n_missing(self) -> int:
        """How many values are missing."""
        return int(self.values.null_count)

    @property
    def first_missing(self) -> int:
        """The row of the first missing value, counted from 1."""
        return int(np.argmax(self.values.is_null().to_numpy())) + 1

    def kind(self) -> str:
        """Whether the column holds numbers or categories; UserError if it holds both."""
        if self.declared is not None:
            return self.declared
        if not _is_text(self.values):
            raise UserError(
                f"Column '{self.name}' is of the type {self.values.type}, which is no feature; "
                f"turn it into numbers, or pass --drop '{self.name}'."
            )
        numbers = self.are_numbers()
        if numbers.all():
            return NUMERIC
        row = int(np.argmin(numbers))
        strange = self.values[row].as_py()
        if numbers[~self.values.is_null().to_numpy()].any() or self._match(_DECIMAL_COMMA).all():
            comma = bool(self._match(_DECIMAL_COMMA)[row])
            advice = (
                "--decimal ',' if that is a decimal comma"
                if comma
                else f"--missing '{strange}' if that is a missing value"
            )
            raise UserError(
                f"Column '{self.name}' has numbers, but '{strange}' in row {row + 1}; correct it, "
                f"or pass {advice}, or --categorical '{self.name}'."
            )
        return CATEGORICAL

    def numbers(self) -> np.ndarray:
        """The values as floats, NaN where they are missing; UserError for anything else."""
        pyarrow, compute = require("pyarrow", "data"), require("pyarrow.compute", "data")
        values = self.values
        if _is_text(values):
            numbers = self.are_numbers()
            if not numbers.all():
                row = int(np.argmin(numbers))
                raise UserError(
                    f"Column '{self.name}' must hold numbers, but there is "
                    f"'{values[row].as_py()}' in row {row + 1}; correct it or choose another one."
                )
            values = compute.replace_substring_regex(values, r"^\+", "")
        result = compute.cast(values, pyarrow.float64(), safe=False).to_numpy()
        result = np.array(result, dtype=np.float64)
        if np.isinf(result).any():
            row = int(np.argmax(np.isinf(result)))
            raise UserError(
                f"Column '{self.name}' has an infinite value in row {row + 1}; correct it."
            )
        return result

    def texts(self) -> np.ndarray:
        """The values as text, in an array of objects; None where they are missing."""
        pyarrow, compute = require("pyarrow", "data"), require("pyarrow.compute", "data")
        values = self.values
        if not _is_text(values):
            values = compute.cast(values, pyarrow.string())
        return np.asarray(values.to_numpy(), dtype=object)

    def labels(self) -> np.ndarray:
        """The values as whole numbers if that is what they all are, else as text."""
        texts = self.names()
        if self.are_numbers().all():
            numbers = self.numbers()
            whole = np.abs(numbers) < 2**53
            whole &= numbers == np.round(numbers)
            if whole.all():
                return numbers.astype(np.int64)
        return texts

    def names(self) -> np.ndarray:
        """The values as text; UserError if any is missing."""
        if self.n_missing:
            raise UserError(
                f"Column '{self.name}' must have a value in every row, but {self.n_missing} are "
                f"missing, the first in row {self.first_missing}; remove those rows."
            )
        return self.texts().astype(str)

    def are_numbers(self) -> np.ndarray:
        """Which values are numbers; those that are missing count as such."""
        if not _is_text(self.values):
            return np.ones(len(self.values), dtype=np.bool_)
        return self._match(_NUMBER)

    def _match(self, pattern: str) -> np.ndarray:
        compute = require("pyarrow.compute", "data")
        matched = compute.match_substring_regex(self.values, pattern)
        return np.asarray(compute.fill_null(matched, True).to_numpy(), dtype=np.bool_)


def text_column(
    name: str, values: Any, missing: tuple[str, ...], declared: str | None = None
) -> Column:
    """A column of text without the blanks around it, null where it says that a value is missing."""
    pyarrow, compute = require("pyarrow", "data"), require("pyarrow.compute", "data")
    trimmed = compute.utf8_trim_whitespace(values)
    absent = compute.is_in(trimmed, value_set=pyarrow.array(missing, type=pyarrow.string()))
    null = pyarrow.scalar(None, type=pyarrow.string())
    return Column(name, compute.if_else(absent, null, trimmed), declared)


def replace_decimal_comma(column: Column) -> Column:
    """The column with decimal points, if it holds nothing but numbers with either."""
    compute = require("pyarrow.compute", "data")
    if not (column._match(_DECIMAL_COMMA) | column._match(_NUMBER)).all():
        return column
    return Column(column.name, compute.replace_substring(column.values, ",", "."), column.declared)


def _is_text(values: Any) -> bool:
    types = require("pyarrow", "data").types
    return bool(types.is_string(values.type) or types.is_large_string(values.type))
