"""Columns of numbers that name the rows, or groups of them: an index of pandas, or an ID."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from spansvm.errors import UserError

from .columns import Column

__all__ = ["leave_out_index", "note_names", "number_every_row"]

#: How pandas names an unnamed index in a Parquet file.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")

#: Fewer rows may be sorted by chance.
_FEWEST_ROWS = 8

#: A counter of which some numbers are not in the file: its rows, the share of numbers that are
#: different, and how many numbers it may span for each row.
_FEWEST_WITH_GAPS, _HARDLY_REPEATED, _WIDEST_SPAN = 50, 0.95, 2

#: So few different numbers are yes and no rather than names.
_FEW_CODES = 2

#: Where a word begins in ``patientID`` and ``IDNumber``.
_NEW_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

#: Words of names that say that a column is an ID; that it may be one; what often has one.
_IDS = frozenset(("id", "ids", "identifier", "uid", "guid"))
_NUMBERS = frozenset(("no", "nr", "nbr", "num", "number", "index"))
_OWNERS = frozenset(
    ("patient", "subject", "participant", "person", "customer", "client", "user", "account")
)


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


def number_every_row(name: str, values: np.ndarray) -> bool:
    """Whether a numeric feature differs in every row and is a counter or, by its name, an ID.

    Those leave few gaps: years or doses that increase from row to row may be measurements.
    """
    known = values[~np.isnan(values)]
    if known.size < _FEWEST_ROWS or not (known == np.round(known)).all():
        return False
    numbers = np.unique(known)
    if numbers.size < known.size:
        return False
    counts = _number_the_rows(known, numbers) and _span(numbers) <= _WIDEST_SPAN * known.size
    return counts or _is_called_id(name, numbers.size, known.size)


def note_names(name: str, values: np.ndarray, given: Collection[str] = ()) -> tuple[str, ...]:
    """A note if a numeric feature seems to number the rows, or to name them or groups of them.

    Ages, counts and prices are whole numbers, too.  A column is suspected only if its numbers leave
    few gaps and hardly repeat, as those of a counter, or if its name says that it is an ID.

    Parameters
    ----------
    name : str
    values : ndarray of float
    given : collection of str
        The roles that other columns have.
    """
    known = values[~np.isnan(values)]
    if known.size < _FEWEST_ROWS or not (known == np.round(known)).all():
        return ()
    numbers = np.unique(known)
    complete = known.size == values.size
    if complete and _number_the_rows(known, numbers):
        seems = "looks like row numbers"
    elif _is_called_id(name, numbers.size, known.size):
        seems = (
            f"seems to hold names, not measurements ({numbers.size} different whole numbers in "
            f"{values.size} rows)"
        )
    else:
        return ()
    # A name is needed in every row, a group too.
    possible = [role for role in ("id", "groups") if complete and role not in given]
    if numbers.size == known.size or "groups" not in possible:
        advice = "if so, pass "
        advice += f"--id '{name}' or " if "id" in possible else ""
        return (f"Column '{name}' {seems}; {advice}--drop '{name}'.",)
    return (
        f"Column '{name}' {seems}; if rows with the same one belong together, pass --groups "
        f"'{name}', else --drop '{name}' or --categorical '{name}'.",
    )


def _number_the_rows(values: np.ndarray, numbers: np.ndarray) -> bool:
    """Whether whole numbers increase from row to row, or are those of a counter in any order."""
    if (np.diff(values) > 0).all() or (
        numbers.size == values.size and _span(numbers) == values.size
    ):
        return True
    # Measurements that are as dense repeat more often than this.
    return bool(
        values.size >= _FEWEST_WITH_GAPS
        and numbers.size >= _HARDLY_REPEATED * values.size
        and _span(numbers) <= _WIDEST_SPAN * values.size
    )


def _span(numbers: np.ndarray) -> float:
    """How many whole numbers there are from the first to the last."""
    return float(numbers[-1] - numbers[0] + 1)


def _is_called_id(name: str, n_different: int, n_rows: int) -> bool:
    """Whether the name of a column with so many different numbers says that it is an ID."""
    words = re.split(r"[\W_]+", _NEW_WORD.sub(" ", name).strip(" .#:").lower())
    if n_different <= _FEW_CODES:
        return False
    if words[-1] in _IDS or (words[0] in _IDS and not any(word.isdigit() for word in words)):
        return True
    if len(words) <= 2 and words[0] in _OWNERS and (len(words) == 1 or words[1] in _NUMBERS):
        return True
    # A "number" may be a count, and an "index" a measure; these repeat.
    return words[-1] in _NUMBERS and n_different > n_rows / 2


def _counts_from_the_start(column: Column) -> bool:
    if column.n_missing or not column.are_numbers().all():
        return False
    numbers = column.numbers()
    in_order = numbers == numbers[0] + np.arange(numbers.size)
    return bool(numbers[0] in (0, 1) and in_order.all())
