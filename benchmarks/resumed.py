"""A table of results that grows row by row, and is not computed twice."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from reproduction.csv_files import Row, read_rows, to_csv, write_text

from .measure import command, machine

Problem = tuple[object, ...]


def rounded(row: Row) -> Row:
    """A row with floats that are short to read."""
    return {key: round(float(v), 5) if isinstance(v, float) else v for key, v in row.items()}


class Results:
    """Rows in a file, one per problem, written as soon as they are computed.

    Parameters
    ----------
    path : Path
    keys : tuple of str
        The columns that say which problem a row is of.
    """

    def __init__(self, path: Path, keys: tuple[str, ...]) -> None:
        self.path, self.keys = path, keys
        known = read_rows(path) if path.exists() else ([], [])
        self.rows: list[Row] = known[0]
        self.notes: list[str] = known[1]

    def problem(self, row: Row) -> Problem:
        """Which problem a row is of."""
        return tuple(row[key] for key in self.keys)

    def forget(self, **cells: object) -> None:
        """Leave out rows with these cells, so that they are computed again."""
        self.rows = [row for row in self.rows if any(row[k] != v for k, v in cells.items())]

    def complete(self, problems: Iterable[Problem], measure: Callable[..., Row]) -> None:
        """Compute the missing rows, in the order of the problems, and show how many are left."""
        problems = list(problems)
        place = {problem: number for number, problem in enumerate(problems)}
        done = {self.problem(row) for row in self.rows}
        todo = [problem for problem in problems if problem not in done]
        for note in (command(), machine()) if todo else ():
            if note not in self.notes:
                self.notes.append(note)
        for number, problem in enumerate(todo, start=1):
            self.rows.append(measure(*problem))
            self.rows.sort(key=lambda own: place.get(self.problem(own), len(place)))
            write_text(self.path, to_csv(self.rows, self.notes))
            line = f"{number}/{len(todo)} {' '.join(map(str, problem))}"
            print(line, file=sys.stderr, flush=True)
