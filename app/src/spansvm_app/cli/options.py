"""Options that several commands share, and what their values mean."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spansvm.blocks import METHODS

if TYPE_CHECKING:
    from ..tables import FileOptions

__all__ = [
    "DEBUG",
    "NO_VALUE",
    "SELECTING",
    "DataFile",
    "Debug",
    "Decimal",
    "Delimiter",
    "Encoding",
    "Force",
    "Format",
    "Header",
    "Id",
    "Json",
    "Missing",
    "ModelFile",
    "Quiet",
    "Sheet",
    "file_options",
    "offering",
    "with_default_level",
]

#: The environment variable that shows tracebacks; the option sets it.
DEBUG = "SPANSVM_DEBUG"

# Repeated here, as the module that defines them is slow to import; a test keeps them equal.
_FORMATS = ("csv", "tsv", "parquet", "arff", "libsvm", "excel")

_FILE, _OUTPUT = "File format", "Output"

#: The methods that a search may select by.
SELECTING = tuple(name for name, method in METHODS.items() if method.selects)

#: What help shows as the value of an option that takes none.
NO_VALUE = ""


def offering(*names: str) -> Callable[[str], list[str]]:
    """A shell completion that offers these values."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def with_default_level(arguments: Sequence[str]) -> list[str]:
    """Arguments with 0.9 after every ``--interval`` that no number follows."""
    result = []
    for place, argument in enumerate(arguments):
        result.append(argument)
        after = arguments[place + 1] if place + 1 < len(arguments) else ""
        if argument == "--interval" and not after[:1].isdigit() and after[:1] != ".":
            result.append("0.9")
    return result


def _remember_debug(asked: bool) -> None:
    if asked:
        os.environ[DEBUG] = "1"


DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        show_default=False,
        help="CSV, TSV, Excel, Parquet, ARFF or LIBSVM file, plain or .gz, .bz2, .xz; - for "
        "standard input.",
    ),
]
ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        show_default=False,
        help="A model.skops written by spansvm tune, or its folder.",
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COLUMN", rich_help_panel="Columns", help="Column that names the rows."
    ),
]

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="|".join(_FORMATS),
        autocompletion=offering(*_FORMATS),
        rich_help_panel=_FILE,
        help="File format; inferred from its name and content by default.",
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="CHARACTER",
        rich_help_panel=_FILE,
        help="Column delimiter of a CSV file; detected by default.",
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        metavar=NO_VALUE,
        rich_help_panel=_FILE,
        show_default=False,
        help="Whether the first row of a CSV file holds column names; if not, they are 1, 2, ...",
    ),
]
Encoding = Annotated[
    str,
    typer.Option(
        "--encoding", metavar="NAME", rich_help_panel=_FILE, help="Text encoding, such as latin-1."
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar=".|,",
        rich_help_panel=_FILE,
        help="Decimal point or comma; what the values say by default.",
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="TEXT",
        rich_help_panel=_FILE,
        help="Another marker of missing values, such as -999; may be repeated.",
    ),
]

Sheet = Annotated[
    str | None,
    typer.Option(
        "--sheet",
        metavar="NAME",
        rich_help_panel=_FILE,
        help="Sheet of an Excel file; the first one by default.",
    ),
]

Force = Annotated[
    bool,
    typer.Option(
        "--force", metavar=NO_VALUE, rich_help_panel=_OUTPUT, help="Replace existing files."
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", metavar=NO_VALUE, rich_help_panel=_OUTPUT, help="Print only errors."
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        metavar=NO_VALUE,
        rich_help_panel=_OUTPUT,
        help="Print one JSON object to standard output.",
    ),
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        metavar=NO_VALUE,
        callback=_remember_debug,
        is_eager=True,
        rich_help_panel=_OUTPUT,
        help=f"Show tracebacks; the environment variable {DEBUG}=1 does the same.",
    ),
]


def file_options(
    format: str | None,
    delimiter: str | None,
    header: bool | None,
    encoding: str,
    decimal: str | None,
    missing: list[str] | None,
    sheet: str | None = None,
) -> FileOptions:
    """The options as the readers take them."""
    from ..tables import FileOptions
    from ..tables.columns import MISSING

    return FileOptions(
        format=format,
        delimiter="\t" if delimiter == r"\t" else delimiter,
        header=header,
        encoding=encoding,
        decimal=decimal,
        missing=(*MISSING, *(missing or ())),
        sheet=sheet,
    )
