"""CSV files with comments that say how the rows were produced; ``benchmarks`` uses it too."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from spansvm_app.common.output import replacing, write_csv

__all__ = ["Row", "csv_text", "read_rows", "to_csv", "write_text"]

Row = dict[str, Any]


def csv_text(lines: Iterable[Sequence[Any]]) -> str:
    """Lines of cells as CSV."""
    text = io.StringIO()
    write_csv(text, lines)
    return text.getvalue()


def to_csv(rows: Sequence[Mapping[str, Any]], notes: Iterable[str] = (), digits: int = 0) -> str:
    """Rows as CSV, under notes as comments.

    Parameters
    ----------
    rows : sequence of dict
        A missing column becomes an empty cell.
    notes : iterable of str
    digits : int, default=0
        Significant digits of floats; 0 for all.
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = ([_cell(row.get(name, ""), digits) for name in columns] for row in rows)
    return "".join(f"# {note}\n" for note in notes) + csv_text([columns, *cells])


def _cell(value: Any, digits: int) -> Any:
    # numpy's double is a float too.
    return f"{value:.{digits}g}" if digits and isinstance(value, float) else value


def read_rows(path: Path) -> tuple[list[Row], list[str]]:
    """The rows of a CSV file, with numbers parsed, and its notes."""
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


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
