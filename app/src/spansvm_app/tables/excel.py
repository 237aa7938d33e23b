"""Excel files (.xlsx): the cells of one sheet, numbers, texts and dates as they are there."""

from __future__ import annotations

import io
import warnings
from datetime import date, datetime
from typing import Any
from zipfile import BadZipFile, ZipFile

from spansvm.errors import UserError, require

from ..common.wording import closest_name, listed
from .columns import Column, text_column
from .formats import check_fits
from .parquet import without_markers
from .table import NUMERIC

__all__ = ["read_excel"]

#: A cell takes about this many times the bytes of its XML.
_BYTES_A_BYTE = 4

#: What Excel writes into cells that it cannot compute.
_ERRORS = ("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!")


def read_excel(
    name: str, content: bytes, available: float, *, missing: tuple[str, ...], sheet: str | None
) -> tuple[list[Column], tuple[str, ...]]:
    """The columns of a sheet of an Excel file, and notes.

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    content : bytes
    available : float
        Bytes of memory; UserError if the cells need more.
    missing : tuple of str
        Markers of missing values; what Excel could not compute is missing too.
    sheet : str, optional
        Name of the sheet; by default the first one, with a note if there are others.
    """
    openpyxl = require("openpyxl", "excel")
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            size = sum(member.file_size for member in archive.infolist())
        check_fits(name, _BYTES_A_BYTE * size, available)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions, which do not matter
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
            titles = [one.title for one in book.worksheets]
            rows = _rows(book, _check_sheet(name, titles, sheet))
    except (BadZipFile, KeyError, ValueError, OSError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{name} is damaged or not an Excel file; save it again.") from error
    if not rows:
        raise UserError(f"{name} is empty; give a sheet with a header and rows.")
    header, *others = rows
    names = ["" if cell is None else str(cell).strip() for cell in header]
    if not others:
        raise UserError(f"{name} has a header but no rows; give a file with rows.")
    if sum(map(bool, names)) == 1 and len(names) > 2:
        title = next(filter(None, names))
        raise UserError(
            f"{name} has '{title}' alone in its first row, where column names are expected; "
            "delete the rows above the names."
        )
    for title in names:
        if title and names.count(title) > 1:
            raise UserError(f"{name} has two columns named '{title}'; rename one of them.")
    columns = [
        _column(title, [row[place] for row in others], (*missing, *_ERRORS))
        for place, title in enumerate(names)
    ]
    notes: tuple[str, ...] = ()
    if sheet is None and len(titles) > 1:
        notes = (
            f"The sheet '{titles[0]}' of {name} is read, the first of {len(titles)}; --sheet "
            f"chooses another: {listed(titles[1:])}.",
        )
    return columns, notes


def _check_sheet(name: str, titles: list[str], sheet: str | None) -> int:
    """The place of a sheet among those of a file."""
    if sheet is None:
        return 0
    if sheet not in titles:
        raise UserError(
            f"There is no sheet '{sheet}' in {name}{closest_name(sheet, titles)}; --sheet must be "
            f"one of {listed(titles)}."
        )
    return titles.index(sheet)


def _rows(book: Any, place: int) -> list[list[Any]]:
    """The cells of a sheet, without what is empty below and to the right of them."""
    sheet = book.worksheets[place]
    sheet.reset_dimensions()  # other programs write wrong ones
    rows = [[_value(cell) for cell in row] for row in sheet.iter_rows(values_only=True)]
    rows = [row for row in rows if any(cell is not None for cell in row)]
    width = max(
        (place for row in rows for place, cell in enumerate(row, 1) if cell is not None), default=0
    )
    return [(row + [None] * width)[:width] for row in rows]


def _value(cell: Any) -> Any:
    text = cell.strip() if isinstance(cell, str) else cell
    return None if text == "" else text


def _column(title: str, cells: list[Any], missing: tuple[str, ...]) -> Column:
    pyarrow = require("pyarrow", "cli")
    known = [cell for cell in cells if cell is not None and cell not in missing]
    if known and all(isinstance(cell, date) for cell in known):  # moments are dates, too
        moments = [
            datetime(*cell.timetuple()[:6]) if isinstance(cell, date) else None for cell in cells
        ]
        return Column(title, pyarrow.chunked_array([moments], type=pyarrow.timestamp("s")))
    if known and all(_is_number(cell) for cell in known):
        numbers = [float(cell) if _is_number(cell) else None for cell in cells]
        values = pyarrow.chunked_array([numbers], type=pyarrow.float64())
        return Column(title, without_markers(values, missing), NUMERIC)
    texts = [None if cell is None else _text(cell) for cell in cells]
    return text_column(title, pyarrow.chunked_array([texts], type=pyarrow.string()), missing)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _text(cell: Any) -> str:
    """A cell as it looks, more or less: whole numbers without a point."""
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell)) if whole else str(cell)
