"""What a command prints: results on standard output, notes and progress on standard error."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["PartialResults", "Terminal", "printable", "without_traceback"]


def printable(text: object) -> str:
    """Text from the data on one line, without control characters."""
    line = " ".join(str(text).split())
    return "".join(character if character.isprintable() else "�" for character in line)


def without_traceback(text: str) -> str:
    """An error message on one line, without any traceback that follows it."""
    return " ".join(text.partition("Traceback (most recent call last)")[0].split())


class PartialResults(Exception):  # noqa: N818
    """Ctrl-C ended the work early; what was finished has been written, and that has been told."""


class Terminal:
    """Where a command prints.

    Parameters
    ----------
    quiet : bool
        Print only errors, and the JSON if asked for.
    as_json : bool
        Standard output is one JSON object.

    Attributes
    ----------
    told, facts : list of str
        The notes so far, including those not printed; those of them that the report says anyway.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        # Without handlers, the package's messages go to standard error as they are.
        logging.getLogger("spansvm").setLevel(logging.ERROR if quiet else logging.WARNING)
        self.quiet = quiet
        self.as_json = as_json
        self.told: list[str] = []
        self.facts: list[str] = []

    def note(self, text: str, *, fact: bool = False) -> None:
        """Print a note, and keep it for the report; a `fact` has its own place there."""
        self.told.append(printable(text))
        if fact:
            self.facts.append(self.told[-1])
        self.progress(text)

    def progress(self, text: str) -> None:
        """Print how far the work has come."""
        if not self.quiet:
            print(printable(text), file=sys.stderr, flush=True)

    def say(self, text: str = "") -> None:
        """Print a line of the results."""
        if not (self.quiet or self.as_json):
            print(printable(text), flush=True)

    def table(self, columns: dict[str, str], rows: list[list[object]], title: str = "") -> None:
        """Print a table.

        Parameters
        ----------
        columns : dict
            Heading and alignment ("left" or "right") of each column.
        rows : list of lists
        title : str
        """
        if self.quiet or self.as_json:
            return
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, show_header=any(columns))
        for heading, side in columns.items():
            table.add_column(
                Text(printable(heading)), justify="right" if side == "right" else "left"
            )
        for row in rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        if title:
            print(f"\n{printable(title)}\n")
        Console(highlight=False, markup=False, emoji=False).print(table)

    def result(self, content: dict[str, Any]) -> None:
        """Print the JSON object if asked for."""
        if self.as_json:
            print(json.dumps(content, indent=1, allow_nan=False))

    @contextmanager
    def telling_warnings(self) -> Iterator[None]:
        """Turn warnings within the block into notes, each once."""
        told: set[str] = set()

        def tell(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
            text = without_traceback(str(message))
            if text not in told and not issubclass(category, DeprecationWarning):
                told.add(text)
                self.note(f"Warning: {text}")

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = tell
            yield
