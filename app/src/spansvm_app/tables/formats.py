"""The format of a file and the memory it will need, found before it is read."""

from __future__ import annotations

import codecs
import re

from spansvm.errors import UserError

from .source import Source, gigabytes

__all__ = ["FORMATS", "check_fits", "check_memory", "find_format"]

#: The supported formats.
FORMATS = ("csv", "tsv", "parquet", "arff", "libsvm", "excel")

_BY_ENDING = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".svm": "libsvm",
    ".xlsx": "excel",
    ".xlsm": "excel",
}

_LIBSVM_LINE = re.compile(rb"^\s*[-+]?[\d.]\S*(\s+qid:\d+)?(\s+\d+:[-+\w.]+)+\s*(#.*)?$")
_ARFF_START = re.compile(rb"^(\s*(%.*)?\r?\n)*\s*@relation\b", re.IGNORECASE)

#: Bytes of a number, of a sparse entry, and of a text cell in Python.
_NUMBER, _ENTRY, _TEXT = 8, 12, 60

#: The numbers are held three times: as read, transformed, and in the model.
_COPIES = 3


def find_format(source: Source, format: str | None = None) -> str:
    """The format of a source: as asked for, by its name, or by its content."""
    if format is not None:
        if format not in FORMATS:
            raise UserError(f"There is no format '{format}'; --format must be one of {_listed()}.")
        return format
    if source.ending in _BY_ENDING:
        return _BY_ENDING[source.ending]
    sample = source.sample.removeprefix(codecs.BOM_UTF8)
    if sample.startswith(b"PAR1"):
        return "parquet"
    if sample.startswith(b"\xd0\xcf\x11\xe0"):
        raise UserError(
            f"{source.name} is an Excel file of an old kind; save it as .xlsx or CSV first."
        )
    if sample.startswith(b"PK\x03\x04"):
        if b"xl/" in sample or b"[Content_Types].xml" in sample:
            return "excel"
        raise UserError(f"{source.name} is an archive; unpack it first.")
    if b"\0" in sample and not sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UserError(f"{source.name} is not text; pass --format with one of {_listed()}.")
    if _ARFF_START.match(sample):
        return "arff"
    lines = [line for line in sample.splitlines()[:20] if line.strip()]
    if any(_LIBSVM_LINE.match(line) for line in lines):
        return "libsvm"
    return "csv"


def check_memory(source: Source, format: str, available: float) -> None:
    """UserError if reading the source would take more memory than is available.

    What a Parquet or Excel file needs is known only once it is open: see :func:`check_fits`.
    """
    cells_a_byte = _count_cells(source.sample, format) / len(source.sample)
    cells = cells_a_byte * source.size
    if format == "libsvm":
        needed = source.size + _COPIES * _ENTRY * cells
    elif format == "arff":
        needed = 2 * source.size + (_COPIES * _NUMBER + _TEXT) * cells
    else:
        needed = 2 * source.size + _COPIES * _NUMBER * cells
    check_fits(source.name, needed, available)


def check_fits(name: str, needed: float, available: float) -> None:
    """UserError if a file needs more memory than is available."""
    if needed > available:
        raise UserError(
            f"{name} needs about {gigabytes(needed)} of memory, but only {gigabytes(available)} is "
            "free; use fewer rows, or a computer with more memory."
        )


def _count_cells(sample: bytes, format: str) -> int:
    if format in ("parquet", "excel"):
        return 0
    separators = b":" if format == "libsvm" else b",;\t|\n"
    return sum(sample.count(separators[i : i + 1]) for i in range(len(separators)))


def _listed() -> str:
    return ", ".join(FORMATS)
