"""ARFF files: attributes that declare the type of each column, then rows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from spansvm.errors import UserError, require

from .columns import Column, text_column
from .table import CATEGORICAL, NUMERIC

__all__ = ["read_arff"]

_ATTRIBUTE = re.compile(
    r"""@attribute\s+('[^']*'|"[^"]*"|[^\s{]+)\s*(\{.*?\}|[^\s{%][^%]*?)\s*(?:%.*)?$""",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|((?:[^,\\]|\\.?)*))\s*(,|$)"""
)
_ESCAPED = re.compile(r"\\(.)")
_NUMERIC_TYPES = ("numeric", "real", "integer")


@dataclass(frozen=True)
class _Attribute:
    """What the file declares about a column: kind and allowed values; and its missing markers."""

    kind: str
    allowed: frozenset[str] | None
    missing: tuple[str, ...]


def read_arff(
    name: str, content: bytes, missing: tuple[str, ...], extra_missing: tuple[str, ...]
) -> list[Column]:
    """The columns of an ARFF file; UserError for dates, relations and sparse rows.

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    content : bytes
        In UTF-8.
    missing : tuple of str
        Markers of missing values, unless the file declares them as values.
    extra_missing : tuple of str
        Markers of missing values whatever the file declares; "?" always is one.
    """
    attributes: dict[str, _Attribute] = {}
    rows: list[list[str]] = []
    in_data = False
    for number, line in enumerate(content.decode().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        if in_data:
            rows.append(_row(name, number, line, attributes))
        elif line.lower().startswith("@attribute"):
            _declare(name, number, line, attributes, missing, ("?", *extra_missing))
        elif line.lower().startswith("@data"):
            in_data = True
        elif not line.lower().startswith("@relation"):
            raise UserError(
                f"{name} has '{line[:30]}' in line {number}, where @attribute is expected."
            )
    if not rows:
        what = "rows after @data" if attributes else "@attribute lines"
        raise UserError(f"{name} has no {what}; give an ARFF file with rows.")
    pyarrow = require("pyarrow", "cli")
    columns = []
    for position, (title, attribute) in enumerate(attributes.items()):
        values = pyarrow.chunked_array([[row[position] for row in rows]], type=pyarrow.string())
        column = text_column(title, values, attribute.missing, declared=attribute.kind)
        if attribute.kind == NUMERIC:
            column.numbers()
        columns.append(column)
    return columns


def _declare(
    name: str,
    number: int,
    line: str,
    attributes: dict[str, _Attribute],
    missing: tuple[str, ...],
    always_missing: tuple[str, ...],
) -> None:
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise UserError(
            f"{name} has an @attribute without a name or type in line {number}; add it."
        )
    title, kind = match[1].strip("'\""), match[2]
    if title in attributes:
        raise UserError(f"{name} has two columns named '{title}'; rename one of them.")
    if kind.startswith("{"):
        allowed = frozenset(_fields(kind[1:-1]))
        others = tuple(text for text in missing if text not in allowed)
        attributes[title] = _Attribute(CATEGORICAL, allowed, others + always_missing)
    elif kind.lower() in _NUMERIC_TYPES:
        attributes[title] = _Attribute(NUMERIC, None, missing)
    elif kind.lower() == "string":
        attributes[title] = _Attribute(CATEGORICAL, None, always_missing)
    else:
        raise UserError(
            f"Column '{title}' of {name} has type {kind.split()[0]}, which cannot be a feature; "
            "convert it to numbers or remove it."
        )


def _row(name: str, number: int, line: str, attributes: dict[str, _Attribute]) -> list[str]:
    if line.startswith("{"):
        raise UserError(f"{name} has sparse rows (line {number}); save it as a LIBSVM file.")
    fields = _fields(line)
    if len(fields) != len(attributes):
        raise UserError(
            f"{name} has {len(fields)} fields in line {number}, but {len(attributes)} attributes; "
            "correct that line."
        )
    for field, (title, attribute) in zip(fields, attributes.items(), strict=True):
        allowed = attribute.allowed
        if allowed is not None and field not in allowed and field not in attribute.missing:
            raise UserError(
                f"Column '{title}' of {name} has '{field}' in line {number}, which its @attribute "
                "does not list; correct one of them."
            )
    return fields


def _fields(line: str) -> list[str]:
    if not any(mark in line for mark in "'\"\\"):
        return [field.strip() for field in line.split(",")]
    fields: list[str] = []
    position = 0
    while match := _FIELD.match(line, position):
        text = next(group for group in match.groups() if group is not None)
        fields.append(_ESCAPED.sub(r"\1", text).strip())
        if not match[4]:
            break
        position = match.end()
    return fields
