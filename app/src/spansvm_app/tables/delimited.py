"""CSV and TSV files: the delimiter, the columns, and their values as text."""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import islice
from typing import Any

from spansvm.errors import UserError, require

from .columns import Column, text_column

__all__ = ["decode", "read_delimited"]

#: Delimiters that are detected, and those that are only suggested.  A comma comes last, as it may
#: also be a decimal comma.
_FOUND, _SUGGESTED = (";", "\t", ","), ("|", " ", ":")

_LOOKED_AT_LINES = 20
_BLOCK_BYTES = 2**26


def read_delimited(
    name: str,
    content: bytes,
    *,
    delimiter: str | None,
    header: bool | None,
    missing: tuple[str, ...],
    decimal: str | None = None,
    one_column: bool = False,
) -> list[Column]:
    """The columns of a CSV or TSV file.

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    content : bytes
        In UTF-8.
    delimiter : str, optional
        One character; detected if not given.
    header : bool, optional
        Whether the first row holds the names; if not given, it must look like names.
    missing : tuple of str
        Markers of missing values.
    decimal : {".", ","}, optional
        The decimal mark, which does not split rows.
    one_column : bool, default=False
        Whether one column is enough.
    """
    content = content.lstrip(b"\r\n")
    if b"\0" in content:
        raise UserError(f"{name} is not text; give a CSV file, or pass --format.")
    lines = [line.decode() for line in islice(io.BytesIO(content), _LOOKED_AT_LINES)]
    delimiter = _check_delimiter(name, lines, delimiter, decimal, one_column)
    if content.count(b'"') % 2:
        _check_quotations(name, content.decode(), delimiter)
    first_row = [field.strip() for field in _split(name, lines, delimiter)[0]]
    names = _column_names(name, first_row, header)
    table = _parse(name, content, delimiter, names, skip=0 if header is False else 1)
    if table.num_rows == 0:
        raise UserError(f"{name} has a header but no rows; give a file with rows.")
    return [
        text_column(title, values, missing)
        for title, values in zip(names, table.columns, strict=True)
    ]


def _check_delimiter(
    name: str, lines: list[str], asked: str | None, decimal: str | None, one_column: bool
) -> str:
    """The delimiter asked for or detected; UserError if it leaves too few columns."""
    if asked is not None and (len(asked) != 1 or asked in '"\r\n'):
        raise UserError(f"--delimiter must be one character; got '{asked}'.")
    # A decimal comma also splits the rows evenly.
    candidates = [one for one in _FOUND if one != decimal] if asked is None else [asked]
    best = max(candidates, key=lambda one: _count_fields(name, lines, one))
    if _count_fields(name, lines, best) > 1:
        return best
    for candidate in candidates:
        _check_first_row(name, lines, candidate)
    split = "" if asked is None else f" when split at '{asked}'"
    in_doubt = sorted(_FOUND + _SUGGESTED, key=lambda one: one == decimal)
    likely = max(in_doubt, key=lambda one: _count_fields(name, lines, one))
    if _count_fields(name, lines, likely) > 1:
        shown = "\\t" if likely == "\t" else likely
        advice = f"is the delimiter '{shown}'? Pass --delimiter '{shown}'."
        raise UserError(f"{name} has only one column{split}; {advice}")
    if one_column:
        return candidates[0]
    raise UserError(f"{name} has only one column{split}; a target and features are needed.")


def _count_fields(name: str, lines: list[str], delimiter: str) -> int:
    """How many fields the rows have with this delimiter; 1 if most differ from the first."""
    counts = [len(row) for row in _split(name, lines, delimiter)]
    return counts[0] if 2 * counts.count(counts[0]) > len(counts) else 1


def _check_first_row(name: str, lines: list[str], delimiter: str) -> None:
    """UserError if all rows but the first have the same number of fields."""
    first, *others = [len(row) for row in _split(name, lines, delimiter)]
    (usual, n_usual), *_ = Counter(others).most_common(1) or [(1, 0)]
    if usual > 1 and n_usual == len(others):
        fields = "1 field" if first == 1 else f"{first} fields"
        raise UserError(
            f"{name} has {fields} in its first row, but {usual} in the others; name every column "
            "there, or remove that row if it does not hold names."
        )


def _check_quotations(name: str, content: str, delimiter: str) -> None:
    """UserError for a field that opens with a quotation mark and never closes it.

    Other quotation marks, such as those for inches, are part of their fields.
    """
    rows = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for _ in rows:
            line = rows.line_num + 1
    except csv.Error as error:
        if "expected after" not in str(error):
            raise UserError(
                f"{name} has a quotation mark in line {line} that is never closed; close it."
            ) from error


def _split(name: str, lines: list[str], delimiter: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error as error:
        raise UserError(
            f"{name} cannot be split into columns ({error}); save it as CSV again."
        ) from error


def _column_names(name: str, first_row: list[str], header: bool | None) -> list[str]:
    if header is False:
        return [str(i) for i in range(1, len(first_row) + 1)]
    if header is None:
        numbers = [title for title in first_row if _is_number(title)]
        if numbers:
            raise UserError(
                f"{name} has the number {numbers[0]} in its first row, where column names are "
                "expected; pass --no-header if there are none, or --header if that is a name."
            )
    for title in first_row:
        if title and first_row.count(title) > 1:
            advice = "" if header else ", or pass --no-header if that row is data"
            raise UserError(f"{name} has two columns named '{title}'; rename one of them{advice}.")
    return first_row


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parse(name: str, content: bytes, delimiter: str, names: list[str], skip: int) -> Any:
    """All columns as text."""
    pyarrow, arrow_csv = require("pyarrow", "cli"), require("pyarrow.csv", "cli")
    strange_rows: list[Any] = []

    def remember(row: Any) -> str:
        strange_rows.append(row)
        return "error"

    try:
        return arrow_csv.read_csv(
            io.BytesIO(content),
            # Threads would lose the row numbers.
            arrow_csv.ReadOptions(
                column_names=names,
                skip_rows_after_names=skip,
                use_threads=False,
                block_size=_BLOCK_BYTES,
            ),
            arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=remember
            ),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pyarrow.string()), strings_can_be_null=False
            ),
        )
    except pyarrow.ArrowInvalid as error:
        if strange_rows:
            row = strange_rows[0]
            raise UserError(
                f"{name} has {row.actual_columns} fields in line {row.number}, but "
                f"{row.expected_columns} columns; correct that line, or pass --delimiter."
            ) from error
        raise UserError(f"{name} cannot be read as CSV ({error}); correct it.") from error


def decode(name: str, content: bytes, encoding: str) -> bytes:
    """Text from an encoding to UTF-8; UserError with the line that is not in that encoding."""
    try:
        text = content.decode(encoding)
    except LookupError as error:
        raise UserError(f"There is no encoding '{encoding}'; try --encoding latin-1.") from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        other = "latin-1" if encoding == "utf-8" else "utf-8"
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            other = "utf-16"
        raise UserError(
            f"{name} is not {encoding} text: line {line} has the byte "
            f"0x{content[error.start]:02x}; pass --encoding {other}, or save it as UTF-8."
        ) from error
    return text.removeprefix("\ufeff").encode()
