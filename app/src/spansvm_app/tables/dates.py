"""Columns of dates: from each, the year, the month, the weekday and the hour become features."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from spansvm.errors import UserError, require

from .columns import Column
from .table import NUMERIC

__all__ = [
    "are_dates",
    "date_parts",
    "note_ascending",
    "note_unclear",
    "part_of_dates",
    "source_column",
]

#: The features of a date, by the name of pyarrow's function.
PARTS = ("year", "month", "weekday", "hour")

_MONTHS = 12

_FEATURE = re.compile(rf"(.+) \(({'|'.join(PARTS)})\)")

#: How dates are written: year first, or last; a time may follow.
_TIME = r"(?:[ T](\d{1,2}):\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}}){_TIME}")
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}){_TIME}")


def are_dates(column: Column) -> bool:
    """Whether all values of a column are dates, in an order of day and month that is clear."""
    return column.declared is None and _as_dates(column) is not None


def note_unclear(column: Column) -> tuple[str, ...]:
    """A note if a column holds dates whose day and month cannot be told apart."""
    if column.declared is not None or not column.is_text or _as_dates(column) is not None:
        return ()
    matches = _matches(column, _YEAR_LAST)
    if matches is None or any(match[2] == "." for match in matches.values()):
        return ()
    return (
        f"Column '{column.name}' looks like dates, but its day and month cannot be told apart, so "
        "each date is a category of its own; write dates like 2024-12-31, or pass --drop "
        f"'{column.name}'.",
    )


def note_ascending(column: Column) -> tuple[str, ...]:
    """A note if a column holds dates that ascend from row to row: the file is a series in time."""
    dates = None if column.declared is not None else _as_dates(column)
    if dates is None or dates.null_count:
        return ()
    moments = dates.to_numpy()
    if not (moments[1:] >= moments[:-1]).all() or moments[0] == moments[-1]:
        return ()
    return (
        f"The dates in '{column.name}' ascend from row to row: rows that are left out one by one "
        "lie between others in time. If new rows will be later than all, --cv TimeSeriesSplit "
        "predicts later rows from earlier ones.",
    )


def date_parts(column: Column) -> list[Column]:
    """The parts of the dates that differ between rows, as columns of numbers."""
    dates = _as_dates(column)
    parts = [_part(column, dates, part) for part in PARTS]
    compute = require("pyarrow.compute", "cli")
    return [part for part in parts if compute.count_distinct(part.values).as_py() > 1]


def source_column(feature: str) -> str:
    """The column that a feature comes from: the dates, or the feature itself."""
    match = _FEATURE.fullmatch(feature)
    return feature if match is None else match[1]


def part_of_dates(name: str, columns: dict[str, Column]) -> Column | None:
    """A feature with a name from :func:`date_parts`, from the dates of a file that has them.

    UserError if the column does not hold dates there; None if there is no such column.
    """
    match = _FEATURE.fullmatch(name)
    column = columns.get(source_column(name))
    if match is None or column is None:
        return None
    dates = _as_dates(column)
    if dates is None:
        raise UserError(
            f"Column '{column.name}' must hold dates, as it did in training; write them like "
            "2024-12-31."
        )
    return _part(column, dates, match[2])


def _part(column: Column, dates: Any, part: str) -> Column:
    pyarrow, compute = require("pyarrow", "cli"), require("pyarrow.compute", "cli")
    if part == "weekday":
        values = compute.day_of_week(dates, count_from_zero=False)
    else:
        values = getattr(compute, part)(dates)
    values = compute.cast(values, pyarrow.float64())
    return Column(f"{column.name} ({part})", values, NUMERIC, column.rows)


def _as_dates(column: Column) -> Any:
    """The values as timestamps; None unless all of them are dates."""
    pyarrow, compute = require("pyarrow", "cli"), require("pyarrow.compute", "cli")
    values, types = column.values, pyarrow.types
    if types.is_timestamp(values.type):
        return values
    if types.is_date(values.type):
        return compute.cast(values, pyarrow.timestamp("s"))
    if not column.is_text:
        return None
    found = _matches(column, _YEAR_FIRST)
    if found is not None:
        order = (1, 3, 4)
    else:
        found = _matches(column, _YEAR_LAST)
        if found is None:
            return None
        first, second = (max(int(match[place]) for match in found.values()) for place in (1, 3))
        # Points are written only where the day comes first.
        points = all(match[2] == "." for match in found.values())
        if not points and (first > _MONTHS) == (second > _MONTHS):
            return None
        order = (4, 3, 1) if points or first > _MONTHS else (4, 1, 3)
    try:
        dates = {text: _moment(match, order) for text, match in found.items()}
    except ValueError:  # such as the 31st of February
        return None
    written = [None if text is None else dates[text] for text in values.to_pylist()]
    return pyarrow.chunked_array([written], type=pyarrow.timestamp("s"))


def _moment(match: re.Match[str], order: tuple[int, int, int]) -> datetime:
    year, month, day = (int(match[place]) for place in order)
    return datetime(year, month, day, int(match[5] or 0))


def _matches(column: Column, pattern: re.Pattern[str]) -> dict[str, re.Match[str]] | None:
    """The match of every different text; None unless all match, or if there are none."""
    found = {}
    for text in column.values.unique().to_pylist():
        if text is None:
            continue
        match = pattern.fullmatch(text)
        if match is None:
            return None
        found[text] = match
    return found or None
