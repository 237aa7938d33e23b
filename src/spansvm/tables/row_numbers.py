"""Columns that only number the rows: an index that pandas wrote, and what looks like one."""

from __future__ import annotations

import re

import numpy as np

from ..errors import UserError
from .columns import Column

__all__ = ["leave_out_index", "note_counting"]

#: What pandas calls an index without a name in a Parquet file.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")

#: Fewer rows may be in order by chance.
_FEWEST_ROWS = 8


def leave_out_index(source: str, columns: list[Column]) -> tuple[list[Column], tuple[str, ...]]:
    """The columns without an index that pandas wrote, and a note on it.

    In a Parquet file the index has a name that pandas made up; in a CSV file it has none.
    UserError if a column without a name does not count the rows.
    """
    kept, notes = [], []
    for position, column in enumerate(columns, 1):
        if not column.name:
            unnamed = f"Column {position} of {source} has no name"
            _check_counts_from_the_start(unnamed, column)
            notes.append(f"{unnamed} and counts the rows; it is left out.")
        elif _PANDAS_INDEX.fullmatch(column.name):
            notes.append(f"Column '{column.name}' is the index of a pandas table; it is left out.")
        else:
            kept.append(column)
    if not kept:
        raise UserError(f"{source} has no column besides an index; give a target and features.")
    return kept, tuple(notes)


def note_counting(name: str, values: np.ndarray) -> tuple[str, ...]:
    """A note if the numbers of a feature seem to count the rows."""
    if values.size < _FEWEST_ROWS or not (values == np.round(values)).all():
        return ()
    in_order = (np.diff(values) > 0).all()
    if not in_order and not (np.diff(np.sort(values)) == 1).all():
        return ()
    return (
        f"Column '{name}' counts the rows; if it only numbers them, pass --id '{name}' or --drop "
        f"'{name}'.",
    )


def _check_counts_from_the_start(unnamed: str, column: Column) -> None:
    if column.n_missing == 0 and column.are_numbers().all():
        numbers = column.numbers()
        if numbers[0] in (0, 1) and (numbers == numbers[0] + np.arange(numbers.size)).all():
            return
    raise UserError(
        f"{unnamed}; give it one, and pass it to --id or --drop if it only numbers the rows "
        "(pandas: to_csv(..., index=False))."
    )
