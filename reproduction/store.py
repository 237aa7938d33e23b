"""The append-only store of an evaluation: one row per model, per fold and per measured time.

SQLite; every row is committed as soon as it is known, so a killed run loses only the candidate it
was working on.  Rows are never changed, and existing ones are not computed again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from spansvm.errors import UserError
from spansvm.machine.criteria import CRITERIA

from .problems import Key

__all__ = ["ESTIMATES", "MODEL_COLUMNS", "Store", "StoreError"]

#: Estimates from one trained model, as columns of the table of models; the span bound also with
#: the radius in place of the diameter.
ESTIMATES = tuple(
    column
    for name in CRITERIA
    for column in ((name, "span_bound_radius") if name == "span_bound" else (name,))
)

#: What is known of a model, but for the time it took.
MODEL_COLUMNS = (
    *ESTIMATES,
    "hinge",
    "test_error",
    "n_in_bound",
    "n_support",
    "n_empty",
    "n_empty_bounded",
)

_KEY = ("data_set", "split", "variant")

#: Columns of each table: those that identify a row, and the others.
_TABLES = {
    "models": (
        (*_KEY, "candidate"),
        (*MODEL_COLUMNS, "train_seconds", "span_seconds"),
    ),
    "folds": ((*_KEY, "scheme", "fold", "candidate"), ("wrong", "tested", "hinge")),
    "times": ((*_KEY, "method"), ("seconds", "models", "n_in_bound", "n_support", "versions")),
}

_LAYOUT = 2


class StoreError(UserError):
    """A store that cannot be used for this evaluation."""


class Store:
    """An open store.

    Parameters
    ----------
    path : Path
        The file; created if missing, with its folder.
    grid : str
        The grid of its candidates, ``"paper"`` or ``"quick"``: a warm start depends on the
        previous candidate, so rows of two grids are not mixed.
    note : str, optional
        How the added rows were produced; stored with the first of them.
    """

    def __init__(self, path: Path, grid: str, note: str = "") -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self._note = path, note
        self._connection = sqlite3.connect(path, timeout=60.0, isolation_level=None)
        try:
            self._prepare(grid)
        except sqlite3.OperationalError as error:
            self._connection.close()
            raise StoreError(
                f"{path} cannot be used now: {error}. Is another run using it, is it read-only, "
                "is the disk full?"
            ) from None
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise StoreError(f"{path} is not a store of results ({error}). Move it away.") from None

    def _prepare(self, grid: str) -> None:
        # A commit reaches the operating system, so it survives when the process is killed.
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute("CREATE TABLE IF NOT EXISTS about (name PRIMARY KEY, value)")
        for name, (keys, values) in _TABLES.items():
            columns = ", ".join((*keys, *values, f"PRIMARY KEY ({', '.join(keys)})"))
            self._connection.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")
        wanted = {"layout": str(_LAYOUT), "grid": grid}
        for name, value in wanted.items():
            self._connection.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (name, value))
        for name, value in self._connection.execute("SELECT name, value FROM about"):
            if name in wanted and value != wanted[name]:
                self._connection.close()
                raise StoreError(
                    f"{self.path} holds results of {name} {value}, not {wanted[name]}. "
                    "Choose another folder with --out."
                )

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    def add(self, table: str, key: Key, row: Mapping[str, Any]) -> None:
        """Append a row; an existing one stays as it is."""
        if self._note:
            query = "INSERT OR IGNORE INTO about VALUES (?, 'run')"
            self._connection.execute(query, (self._note,))
            self._note = ""
        keys, values = _TABLES[table]
        columns = (*keys, *values)
        full = {**row, "data_set": key.data_set, "split": key.split, "variant": key.variant}
        marks = ", ".join("?" for _ in columns)
        self._connection.execute(
            f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks})",
            [full[column] for column in columns],
        )

    def rows(
        self, table: str, columns: Sequence[str], key: Key | None = None, **equal: Any
    ) -> list[tuple[Any, ...]]:
        """Some columns of the rows in which other columns have the given values."""
        if key is not None:
            equal |= {"data_set": key.data_set, "split": key.split, "variant": key.variant}
        where = " AND ".join(f"{name} = ?" for name in equal) or "1"
        query = f"SELECT {', '.join(columns)} FROM {table} WHERE {where}"
        return list(self._connection.execute(query, list(equal.values())))

    def problems(self, table: str) -> list[Key]:
        """The problems that have rows in a table."""
        query = f"SELECT DISTINCT {', '.join(_KEY)} FROM {table}"
        return sorted(Key(*row) for row in self._connection.execute(query))

    def known(self, table: str, key: Key, **equal: Any) -> set[str]:
        """The candidates of a problem that are done."""
        return {row[0] for row in self.rows(table, ["candidate"], key, **equal)}

    def notes(self) -> list[str]:
        """How the rows were produced, in order."""
        query = "SELECT name FROM about WHERE value = 'run' ORDER BY rowid"
        return [row[0] for row in self._connection.execute(query)]
