"""One column of a file: whether it holds numbers or categories, and its values as such."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spansvm.errors import UserError, require

from .table import CATEGORICAL, NUMERIC

__all__ = ["MISSING", "Column", "text_column"]

#: Markers of missing values.
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"

#: Zeros that change the name of a category but not the value of a number.
_LEADING_ZEROS = r"^([+-]?)0+(\d)"


@dataclass(frozen=True, eq=False)
class Column:
    """A column as it is in the file.

    Attributes
    ----------
    name : str
    values : pyarrow.ChunkedArray
        Text or numbers; null where a value is missing.
    declared : {"numeric", "categorical"} or None
        The type that the file itself declares, if any.
    rows : ndarray of int, optional
        The number of each value's row in the file, from 1, if some rows were left out.
    """

    name: str
    values: Any
    declared: str | None = None
    rows: np.ndarray | None = None

    def kept(self, rows: np.ndarray) -> Column:
        """The column with some of its rows only, given by a mask."""
        pyarrow = require("pyarrow", "cli")
        numbers = np.arange(1, rows.size + 1) if self.rows is None else self.rows
        values = self.values.filter(pyarrow.array(rows))
        return Column(self.name, values, self.declared, numbers[rows])

    def row_number(self, index: int) -> int:
        """The number of a value's row in the file, counted from 1."""
        return index + 1 if self.rows is None else int(self.rows[index])

    @property
    def n_missing(self) -> int:
        """How many values are missing."""
        return int(self.values.null_count)

    @property
    def first_missing(self) -> int:
        """The row of the first missing value, counted from 1."""
        return self.row_number(int(np.argmax(self.values.is_null().to_numpy())))

    @property
    def is_text(self) -> bool:
        """Whether the values are texts, whatever these say."""
        types = require("pyarrow", "cli").types
        return bool(types.is_string(self.values.type) or types.is_large_string(self.values.type))

    def column_type(self) -> str:
        """Whether the column holds numbers or texts; UserError if it holds something else."""
        if self.declared is not None:
            return self.declared
        if not self.is_text:
            raise UserError(
                f"Column '{self.name}' has type {self.values.type}, which cannot be a feature; "
                f"convert it to numbers, or pass --drop '{self.name}'."
            )
        return NUMERIC if self.are_numbers().all() else CATEGORICAL

    def numbers(self) -> np.ndarray:
        """The values as floats, NaN where missing; UserError for anything else."""
        pyarrow, compute = require("pyarrow", "cli"), require("pyarrow.compute", "cli")
        values = self.values
        numbers = self.are_numbers()
        if not numbers.all():
            row = int(np.argmin(numbers))
            raise UserError(
                f"Column '{self.name}' must hold numbers, but has '{values[row].as_py()}' in row "
                f"{self.row_number(row)}; correct it or choose another column."
            )
        if self.is_text:
            values = compute.replace_substring_regex(values, r"^\+", "")
        result = compute.cast(values, pyarrow.float64(), safe=False).to_numpy()
        result = np.array(result, dtype=np.float64)
        if np.isinf(result).any():
            row = int(np.argmax(np.isinf(result)))
            raise UserError(
                f"Column '{self.name}' has an infinite value in row {self.row_number(row)}; "
                "correct it."
            )
        return result

    def texts(self) -> np.ndarray:
        """The values as text, in an array of objects; None where missing."""
        pyarrow, compute = require("pyarrow", "cli"), require("pyarrow.compute", "cli")
        values = self.values
        if not self.is_text:
            try:
                values = compute.cast(values, pyarrow.string())
            except (pyarrow.ArrowNotImplementedError, pyarrow.ArrowInvalid) as error:
                raise UserError(
                    f"Column '{self.name}' has type {values.type}, which cannot be read as text; "
                    "convert it, or choose another column."
                ) from error
        return np.asarray(values.to_numpy(), dtype=object)

    def labels(self) -> np.ndarray:
        """The values as integers if all of them are, else as text.

        They also stay text if some are too large for a float, or differ only in leading zeros.
        """
        texts = self.names()
        if self.are_numbers().all() and not self._differ_in_leading_zeros():
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
                f"Column '{self.name}' must have a value in every row, but has {self.n_missing} "
                f"missing, the first in row {self.first_missing}; remove those rows."
            )
        return self.texts().astype(str)

    def are_numbers(self) -> np.ndarray:
        """Which values are numbers; missing ones count as numbers."""
        if self.is_text:
            return self._match(_NUMBER)
        types, type = require("pyarrow", "cli").types, self.values.type
        if types.is_integer(type) or types.is_floating(type):
            return np.ones(len(self.values), dtype=np.bool_)
        return np.asarray(self.values.is_null().to_numpy(), dtype=np.bool_)

    def _differ_in_leading_zeros(self) -> bool:
        if not self.is_text:
            return False
        compute = require("pyarrow.compute", "cli")
        shorter = compute.replace_substring_regex(self.values, _LEADING_ZEROS, r"\1\2")
        return bool(compute.count_distinct(shorter) != compute.count_distinct(self.values))

    def _match(self, pattern: str) -> np.ndarray:
        compute = require("pyarrow.compute", "cli")
        matched = compute.match_substring_regex(self.values, pattern)
        return np.asarray(compute.fill_null(matched, True).to_numpy(), dtype=np.bool_)


def text_column(
    name: str, values: Any, missing: tuple[str, ...], declared: str | None = None
) -> Column:
    """A column of text without surrounding blanks, null where it holds a missing marker."""
    pyarrow, compute = require("pyarrow", "cli"), require("pyarrow.compute", "cli")
    trimmed = compute.utf8_trim_whitespace(values)
    absent = compute.is_in(trimmed, value_set=pyarrow.array(missing, type=trimmed.type))
    null = pyarrow.scalar(None, type=trimmed.type)
    return Column(name, compute.if_else(absent, null, trimmed), declared)
