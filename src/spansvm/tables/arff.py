"""ARFF files: attributes that declare the kind of every column, then rows."""

from __future__ import annotations

import csv
import re

from ..errors import UserError, require
from .columns import Column, text_column
from .table import CATEGORICAL, NUMERIC

__all__ = ["read_arff"]

_ATTRIBUTE = re.compile(
    r"""@attribute\s+('[^']*'|"[^"]*"|[^\s{]+)\s*(\{.*\}|\S+.*)$""",
    re.IGNORECASE,
)
_NUMERIC_TYPES = ("numeric", "real", "integer")


def read_arff(name: str, content: bytes, missing: tuple[str, ...]) -> list[Column]:
    """The columns of an ARFF file; dates, relations and sparse rows are refused.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    content : bytes
        In UTF-8.
    missing : tuple of str
        Texts that stand for a missing value.
    """
    attributes: dict[str, tuple[str, list[str] | None]] = {}
    rows: list[list[str]] = []
    in_data = False
    for number, line in enumerate(content.decode().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        if in_data:
            rows.append(_row(name, number, line, attributes, missing))
        elif line.lower().startswith("@attribute"):
            _declare(name, number, line, attributes)
        elif line.lower().startswith("@data"):
            in_data = True
        elif not line.lower().startswith("@relation"):
            raise UserError(f"{name} has '{line[:30]}' in line {number}; @attribute is expected.")
    if not rows:
        what = "rows after @data" if attributes else "@attribute lines"
        raise UserError(f"{name} has no {what}; give an ARFF file with rows.")
    pyarrow = require("pyarrow", "data")
    columns = []
    for position, (title, (kind, _)) in enumerate(attributes.items()):
        values = pyarrow.chunked_array([[row[position] for row in rows]], type=pyarrow.string())
        column = text_column(title, values, missing, declared=kind)
        if kind == NUMERIC:
            column.numbers()
        columns.append(column)
    return columns


def _declare(
    name: str, number: int, line: str, attributes: dict[str, tuple[str, list[str] | None]]
) -> None:
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise UserError(f"{name} has an @attribute without name or type in line {number}; add it.")
    title, kind = match[1].strip("'\""), match[2].strip()
    if title in attributes:
        raise UserError(f"{name} has two columns named '{title}'; rename one of them.")
    if kind.startswith("{"):
        attributes[title] = (CATEGORICAL, _fields(kind.strip("{}")))
    elif kind.lower() in _NUMERIC_TYPES:
        attributes[title] = (NUMERIC, None)
    elif kind.lower() == "string":
        attributes[title] = (CATEGORICAL, None)
    else:
        raise UserError(
            f"Column '{title}' of {name} is of the type {kind.split()[0]}, which is no feature; "
            "turn it into numbers or remove it."
        )


def _row(
    name: str,
    number: int,
    line: str,
    attributes: dict[str, tuple[str, list[str] | None]],
    missing: tuple[str, ...],
) -> list[str]:
    if line.startswith("{"):
        raise UserError(f"{name} has sparse rows (line {number}); save it as a LIBSVM file.")
    fields = _fields(line)
    if len(fields) != len(attributes):
        raise UserError(
            f"{name} has {len(fields)} fields in line {number}, but {len(attributes)} attributes; "
            "correct that line."
        )
    for field, (title, (_, allowed)) in zip(fields, attributes.items(), strict=True):
        if allowed is not None and field not in allowed and field not in missing:
            raise UserError(
                f"Column '{title}' of {name} has '{field}' in line {number}, which its @attribute "
                "does not list; correct either."
            )
    return fields


def _fields(line: str) -> list[str]:
    quote = "'" if "'" in line else '"'
    rows = csv.reader([line], quotechar=quote, escapechar="\\", skipinitialspace=True)
    return [field.strip() for field in next(rows)]
