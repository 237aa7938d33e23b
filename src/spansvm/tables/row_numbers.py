"""Columns that only number the rows: an index written by pandas, or what looks like one."""

from __future__ import annotations

import re

import numpy as np

from ..errors import UserError
from .columns import Column

__all__ = ["leave_out_index", "note_counting"]

#: How pandas names an unnamed index in a Parquet file.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")

#: Fewer rows may be sorted by chance.
_FEWEST_ROWS = 8


def leave_out_index(source: str, columns: list[Column]) -> tuple[list[Column], tuple[str, ...]]:
    """The columns without an index written by pandas, and a note on it.

    In a Parquet file pandas makes up a name for the index; in a CSV file it has none.
    UserError if a column without a name does not number the rows.
    """
    kept, notes = [], []
    for position, column in enumerate(columns, 1):
        if not column.name:
            unnamed = f"Column {position} of {source} has no name"
            _check_counts_from_the_start(unnamed, column)
            notes.append(f"{unnamed} and only numbers the rows; it is left out.")
        elif _PANDAS_INDEX.fullmatch(column.name):
            notes.append(
                f"Column '{column.name}' is the index of a pandas data frame; it is left out."
            )
        else:
            kept.append(column)
    if not kept:
        raise UserError(f"{source} has no columns besides an index; add a target and features.")
    return kept, tuple(notes)


def note_counting(name: str, values: np.ndarray) -> tuple[str, ...]:
    """A note if a numeric feature seems to number the rows."""
    if values.size < _FEWEST_ROWS or not (values == np.round(values)).all():
        return ()
    in_order = (np.diff(values) > 0).all()
    if not in_order and not (np.diff(np.sort(values)) == 1).all():
        return ()
    return (
        f"Column '{name}' looks like row numbers; if so, pass --id '{name}' or --drop '{name}'.",
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
