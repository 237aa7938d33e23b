"""Small tables: rows as CSV files, and as Markdown with the paper's numbers beside ours."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..datasets import describe

__all__ = ["Row", "Table", "mean_and_error", "number", "read_rows", "title", "to_csv"]

Row = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """A table for readers.

    Attributes
    ----------
    name : str
        Of its file.
    caption : str
    columns : sequence of str
    rows : sequence of sequence of str
    """

    name: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def markdown(self) -> str:
        """The table in Markdown, under its caption."""
        lines = [self.columns, [":--", *["--:"] * (len(self.columns) - 1)], *self.rows]
        body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"**{self.caption}**\n\n{body}\n"

    @property
    def csv(self) -> str:
        """The table as CSV, without marks of Markdown."""
        rows = [[cell.replace("**", "") for cell in row] for row in self.rows]
        return _csv([self.columns, *rows])


def _csv(lines: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def to_csv(rows: Sequence[Row], notes: Iterable[str] = ()) -> str:
    """Rows as CSV under comments; numbers with six digits."""
    head = "".join(f"# {note}\n" for note in notes)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return head + _csv([columns, *([_plain(row.get(c, "")) for c in columns] for row in rows)])


def _plain(value: Any) -> Any:
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    return value


def read_rows(path: Path) -> tuple[list[Row], list[str]]:
    """The rows of a CSV file with numbers as numbers, and its comments."""
    lines = path.read_text(encoding="utf-8").splitlines()
    notes = [line[2:] for line in lines if line.startswith("# ")]
    table = csv.DictReader(line for line in lines if not line.startswith("#"))
    return [{name: _value(text) for name, text in row.items()} for row in table], notes


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and its standard error; NaN for the error of a single value."""
    array = np.array(values, dtype=np.float64)
    if array.size < 2:
        return float(array.mean()), np.nan
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(array.size))


def number(value: float, error: float = np.nan, digits: int = 4) -> str:
    """A number with its standard error, if it has one."""
    text = f"{value:.{digits}f}"
    return text if np.isnan(error) else f"{text} ± {error:.{digits}f}"


def title(data_set: str) -> str:
    """The name of a data set in the paper."""
    return describe(data_set).title


def by_data_set(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Rows by data set, in the order in which these come."""
    result: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        result.setdefault(row["data_set"], []).append(row)
    return result
