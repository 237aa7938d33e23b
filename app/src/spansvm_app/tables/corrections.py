"""Labels corrected by hand: read from a file with a line for each row, and put into a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from spansvm.errors import UserError

from ..common.tasks import REGRESSION
from ..common.wording import closest_name, listed
from .columns import Column
from .reading import FileOptions, read_columns
from .table import Table
from .targets import check_classes

__all__ = ["CORRECTED", "GIVEN", "ROW", "correct_labels"]

#: The columns that are used: the number of the row, its label in the data, and the right one.
ROW, GIVEN, CORRECTED = "row", "given_label", "corrected"

#: Targets that differ by less, relative to their size, are the same, written with fewer digits.
_SAME = 1e-9


def correct_labels(table: Table, path: str | Path, options: FileOptions | None = None) -> Table:
    """The table with the labels, or targets, that a file corrects.

    Parameters
    ----------
    table : Table
        With labels.
    path : str or Path
        A CSV or other file with the columns ``row`` (the number in the file of the table, from
        1), ``given_label`` (as in the table, to make sure that it is about these rows) and
        ``corrected``; rows where that is empty keep their label.  Other columns do not matter:
        it may be the ``labels.csv`` of ``spansvm tune``.
    options : FileOptions, optional
        How that file is written.

    Raises
    ------
    UserError
        If the file is about other data, or has labels that are in no row of the table.

    See Also
    --------
    spansvm_app.tables.read_table : Reads the table.
    spansvm.find_label_issues : Which labels to look at.
    """
    name, columns = read_columns(path, options or FileOptions())
    by_name = {column.name: column for column in columns}
    for needed in (ROW, GIVEN, CORRECTED):
        if needed not in by_name:
            raise UserError(
                f"{name} has no column '{needed}'{closest_name(needed, by_name)}; give the "
                "labels.csv of a search, with right labels in its column 'corrected'."
            )
    places = {int(number): place for place, number in enumerate(table.row_numbers)}
    corrected, n_changed = np.array(table.y), 0
    read = _Regression(table, name) if table.task == REGRESSION else _Classes(table, name)
    seen = set()
    for number, given, right in _lines(name, by_name):
        if number in seen:
            raise UserError(f"{name} has row {number} twice; leave one of them.")
        seen.add(number)
        if number not in places:
            raise UserError(
                f"{name} has a row {number}, which {table.source} does not have, or not with a "
                "label; give the labels.csv of a search on this file."
            )
        place = places[number]
        if not read.same(given, corrected[place]):
            raise UserError(
                f"{name} says that row {number} of {table.source} is labelled '{given}', but it "
                f"is '{corrected[place]}'; give the labels.csv of a search on this file."
            )
        if right is not None:
            value = read.value(number, right)
            n_changed += int(value != corrected[place])
            corrected[place] = value
    if not n_changed:
        raise UserError(
            f"{name} corrects nothing; write the right labels into its column '{CORRECTED}'."
        )
    rows = "1 row" if n_changed == 1 else f"{n_changed} rows"
    note = f"Labels of {rows} were corrected as {name} says."
    before = table.y if table.given is None else table.given
    table = replace(table, y=corrected, given=before, notes=(*table.notes, note))
    if table.task == REGRESSION:
        return table
    check_classes(corrected, f"Corrected as {name} says, the target of {table.source}")
    classes = tuple(np.unique(corrected).tolist())
    return replace(table, schema=replace(table.schema, classes=classes))


def _lines(name: str, columns: dict[str, Column]) -> Iterator[tuple[int, str, str | None]]:
    """The number, the given label and the right one of every line."""
    numbers = columns[ROW].names()
    given, right = columns[GIVEN].names(), columns[CORRECTED].texts()
    for line, number in enumerate(numbers, start=1):
        if not number.isdecimal():
            raise UserError(
                f"{name} has '{number}' in its column '{ROW}', line {line + 1}; the number of a "
                "row is expected."
            )
        yield int(number), str(given[line - 1]), right[line - 1]


class _Classes:
    """Labels as they are written."""

    def __init__(self, table: Table, name: str) -> None:
        self._name, self._source = name, table.source
        self._classes = {str(label): label for label in table.schema.classes}

    def same(self, text: str, label: Any) -> bool:
        """Whether a text stands for a label."""
        return text == str(label)

    def value(self, number: int, text: str) -> Any:
        """The label that a text stands for."""
        if text not in self._classes:
            known = listed([f"'{label}'" for label in self._classes])
            raise UserError(
                f"{self._name} corrects row {number} to '{text}', which no row of {self._source} "
                f"is labelled{closest_name(text, self._classes)}; its labels are {known}."
            )
        return self._classes[text]


class _Regression:
    """Targets as they are written."""

    def __init__(self, table: Table, name: str) -> None:
        self._name = name

    def same(self, text: str, target: float) -> bool:
        """Whether a text stands for a target."""
        try:
            return abs(float(text) - target) <= _SAME * abs(target)
        except ValueError:
            return False

    def value(self, number: int, text: str) -> float:
        """The target that a text stands for."""
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise UserError(
                f"{self._name} corrects row {number} to '{text}'; a number is expected."
            )
        return value
