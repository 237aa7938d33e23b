"""Columns that only number the rows: an index written by pandas, or what looks like one."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from ..errors import UserError
from .columns import Column

__all__ = ["leave_out_index", "note_counting"]

#: How pandas names an unnamed index in a Parquet file.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")

#: Fewer rows may be sorted by chance.
_FEWEST_ROWS = 8


def leave_out_index(
    source: str, columns: list[Column], named: Collection[str] = ()
) -> tuple[list[Column], tuple[str, ...]]:
    """The columns without an index written by pandas, and notes.

    In a Parquet file pandas makes up a name for the index; in a CSV file it has none.  Other
    columns without a name are called by their place, ``column 3``, as is the index if it is one of
    those that are `named`.
    """
    kept, notes = [], []
    taken = {column.name for column in columns}
    for position, column in enumerate(columns, 1):
        if not column.name:
            name = f"column {position}"
            if name in taken:
                raise UserError(
                    f"Column {position} of {source} has no name, and '{name}' is the name of "
                    "another one; give it a name."
                )
            if name not in named and _counts_from_the_start(column):
                notes.append(
                    f"Column {position} of {source} has no name and only numbers the rows; it is "
                    "left out."
                )
                continue
            if name not in named:
                notes.append(f"Column {position} of {source} has no name; it is called '{name}'.")
            kept.append(replace(column, name=name))
        elif _PANDAS_INDEX.fullmatch(column.name) and column.name not in named:
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


def _counts_from_the_start(column: Column) -> bool:
    if column.n_missing or not column.are_numbers().all():
        return False
    numbers = column.numbers()
    in_order = numbers == numbers[0] + np.arange(numbers.size)
    return bool(numbers[0] in (0, 1) and in_order.all())
