"""Options that several commands share, and what their values stand for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..tables import FileOptions

__all__ = [
    "DEBUG",
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
    "file_options",
    "offering",
]

#: The environment variable that shows tracebacks; the option sets it.
DEBUG = "SPANSVM_DEBUG"

# Said again, as the module that defines them takes long to import; a test keeps them equal.
_FORMATS = ("csv", "tsv", "parquet", "arff", "libsvm")

_FILE, _OUTPUT = "How the file is written", "Output"


def offering(*names: str) -> Callable[[str], list[str]]:
    """A completion of the shell that offers these values."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def _remember_debug(asked: bool) -> None:
    if asked:
        os.environ[DEBUG] = "1"


DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        show_default=False,
        help="CSV, TSV, Parquet, ARFF or LIBSVM file, plain or .gz, .bz2, .xz; - for standard "
        "input.",
    ),
]
ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        show_default=False,
        help="The model.skops of a spansvm tune, or the folder that holds it.",
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
        help="Format of the file, if its name and its first lines do not tell.",
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="CHARACTER",
        rich_help_panel=_FILE,
        help="Between the columns of a CSV file; found if not given.",
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        rich_help_panel=_FILE,
        show_default=False,
        help="Whether the first row of a CSV file holds names; without, columns are 1, 2, ...",
    ),
]
Encoding = Annotated[
    str, typer.Option("--encoding", rich_help_panel=_FILE, help="Of a text file, such as latin-1.")
]
Decimal = Annotated[
    str,
    typer.Option("--decimal", metavar=".|,", rich_help_panel=_FILE, help="Decimal point or comma."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="TEXT",
        rich_help_panel=_FILE,
        help="Another text that stands for a missing value, such as -999; may be repeated.",
    ),
]

Force = Annotated[
    bool, typer.Option("--force", rich_help_panel=_OUTPUT, help="Replace files that exist.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", rich_help_panel=_OUTPUT, help="Print only errors.")
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", rich_help_panel=_OUTPUT, help="Print one JSON object on standard output."
    ),
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        callback=_remember_debug,
        is_eager=True,
        rich_help_panel=_OUTPUT,
        help=f"Show tracebacks of errors; so does {DEBUG}=1 in the environment.",
    ),
]


def file_options(
    format: str | None,
    delimiter: str | None,
    header: bool | None,
    encoding: str,
    decimal: str,
    missing: list[str] | None,
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
    )
