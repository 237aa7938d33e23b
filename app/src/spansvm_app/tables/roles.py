"""From the columns of a file to a table: assigns features, labels, weights and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from spansvm.errors import UserError

from ..common.tasks import REGRESSION
from ..common.wording import closest_name, listed
from .columns import Column
from .dates import note_ascending, source_column
from .features import choose_features, data_frame, missing_counts, notes_on, types_of
from .table import CATEGORICAL, Schema, Table
from .targets import Target, check_task, note_many_classes
from .written import read_written

__all__ = [
    "MISSING_TARGETS",
    "Roles",
    "assemble",
    "find_column",
    "labelled_rows",
    "note_unlabelled",
]

#: What can be done with rows that have no label.
MISSING_TARGETS = ("drop", "error")

#: How many column names a message lists.
_LISTED = 10

#: What makes equal rows a group, in the place of a column.
DUPLICATES = "duplicates"


@dataclass(frozen=True)
class Roles:
    """Which columns of a file have a role; all others are features.

    The names are those of the options of ``spansvm tune``, as messages mention them.

    Attributes
    ----------
    target : str, optional
        Column with the labels; by default the last one.
    scores : str, optional
        Column with importance scores in [0, 1].
    weights : str, optional
        Column with instance weights of at least 0.
    groups, id : str, optional
        Columns with the group and with the name of each row.  If there is no column "duplicates",
        that makes rows with equal features a group.
    drop : sequence of str
        Columns to leave out.
    categorical : sequence of str
        Columns whose numbers, or long texts, are names of categories.
    keep : sequence of str
        Columns that are features even if they seem to name the rows.
    missing_target : {"drop", "error"}, default="drop"
        What to do with rows that have no label: leave them out, with a note, or refuse the file.
    task : {"classification", "regression"}, optional
        Whether the target holds classes or a quantity; by default, its values decide.

    See Also
    --------
    spansvm_app.tables.read_table : Reads a file with these roles.
    """

    target: str | None = None
    scores: str | None = None
    weights: str | None = None
    groups: str | None = None
    id: str | None = None
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
    keep: Sequence[str] = ()
    missing_target: str = "drop"
    task: str | None = None

    def __post_init__(self) -> None:
        check_task(self.task)
        if self.missing_target not in MISSING_TARGETS:
            raise UserError(
                f"--missing-target must be {' or '.join(MISSING_TARGETS)}; got "
                f"'{self.missing_target}'."
            )

    @property
    def given(self) -> tuple[str, ...]:
        """The roles that have been given to a column."""
        return tuple(role for role, columns in self._columns.items() if columns)

    @property
    def named(self) -> frozenset[str]:
        """All columns that have a role."""
        return frozenset(
            name
            for columns in self._columns.values()
            for name in ([columns] if isinstance(columns, str) else columns or ())
        )

    @property
    def _columns(self) -> dict[str, Any]:
        others = ("missing_target", "task")
        return {role: value for role, value in asdict(self).items() if role not in others}


def assemble(source: str, columns: list[Column], asked: Roles, decimal: str | None = None) -> Table:
    """The table that the columns form.

    Parameters
    ----------
    source : str
        The name of the file, for messages.
    columns : list of Column
    asked : Roles
    decimal : {".", ","}, optional
        The decimal mark; what the values say by default.
    """
    by_rows = asked.groups == DUPLICATES and DUPLICATES not in {one.name for one in columns}
    if by_rows:
        asked = replace(asked, groups=None)
    roles = {
        role: find_column(source, columns, name, f"--{role}")
        for role in ("scores", "weights", "groups", "id")
        if (name := getattr(asked, role)) is not None
    }
    dropped = [find_column(source, columns, name, "--drop") for name in asked.drop]
    free = [one for one in columns if one not in dropped and one not in roles.values()]
    if asked.target is None:
        if not free:
            raise UserError(f"{source} has no column left for the target; pass --target.")
        roles["target"] = free[-1]
    else:
        roles["target"] = find_column(source, columns, asked.target, "--target")
    _check_one_role_each(roles)
    features = [column for column in free if column is not roles["target"]]
    names = {find_column(source, features, one, "--categorical").name for one in asked.categorical}
    kept = {find_column(source, features, name, "--keep").name for name in asked.keep} | names
    # Names of rows and groups, and categories, are not numbers, however they look.
    numbers = {role: roles[role] for role in ("target", "scores", "weights") if role in roles}
    read, written, notes = read_written(
        source,
        [*(column for column in features if column.name not in names), *numbers.values()],
        decimal,
        lenient={column.name for column in numbers.values()},
        labels=None if asked.task == REGRESSION else roles["target"].name,
    )
    features = [read.get(column.name, column) for column in features]
    roles |= {role: read.get(column.name, column) for role, column in numbers.items()}
    rows = None
    if roles["target"].n_missing and asked.missing_target == "drop":
        rows = labelled_rows(source, roles["target"])
        notes.append(note_unlabelled(roles["target"]))
        roles = {role: column.kept(rows) for role, column in roles.items()}
        features = [column.kept(rows) for column in features]
    in_time = [column for column in features if column.name not in names]
    features, more = choose_features(source, features, names, kept)
    notes += more
    if "groups" not in roles:
        notes += [note for column in in_time for note in note_ascending(column)]
    types = types_of(features, names)
    X = data_frame(features, types)
    target = Target.of_column(source, roles["target"], asked.task)
    y = target.values
    groups = roles["groups"].names() if "groups" in roles else None
    if by_rows:
        groups, note = _equal_rows(X)
        notes.append(note)
    missing = missing_counts(features, types)
    categories = {
        column.name: tuple(sorted(set(X[column.name].dropna())))
        for column, own in zip(features, types, strict=True)
        if own == CATEGORICAL
    }
    used = {*(source_column(column.name) for column in features), roles["target"].name}
    return Table(
        X=X,
        y=y,
        schema=Schema(
            layout="columns",
            features=tuple(column.name for column in features),
            column_types=tuple(types),
            categories=categories,
            target=roles["target"].name,
            classes=target.classes,
            task=target.task,
            others=tuple(sorted({one.name for one in columns} - used)),
            written=dict(written.forms),
            marks=dict(written.marks),
        ),
        source=source,
        scores=_scores_of(roles["scores"]) if "scores" in roles else None,
        weights=_weights_of(roles["weights"]) if "weights" in roles else None,
        groups=groups,
        ids=roles["id"].names() if "id" in roles else None,
        missing=missing,
        rows=None if rows is None else np.flatnonzero(rows) + 1,
        n_unlabelled=0 if rows is None else int((~rows).sum()),
        why_task=target.why,
        notes=(
            *notes,
            *note_many_classes(y, f"Target '{roles['target'].name}'"),
            *notes_on(features, types, X, kept, asked.given),
        ),
    )


def _equal_rows(X: Any) -> tuple[np.ndarray | None, str]:
    """The number of each different row; None if all differ; and what to say."""
    numbers = X.groupby(list(X.columns), dropna=False, sort=False).ngroup().to_numpy()
    n_different = int(numbers.max()) + 1
    if n_different == len(X):
        return None, f"No two of the {len(X)} rows are equal, so each is left out by itself."
    return numbers.astype(str), (
        f"{len(X)} rows have {n_different} different ones; those that are equal leave together."
    )


def find_column(source: str, columns: list[Column], name: str, option: str) -> Column:
    """The column with this name; UserError, with the closest name, if there is none."""
    for column in columns:
        if column.name == name:
            return column
    names = [column.name for column in columns]
    raise UserError(
        f"There is no column '{name}' in {source}{closest_name(name, names)}; {option} must be "
        f"one of {listed(names, _LISTED)}."
    )


def labelled_rows(source: str, target: Column) -> np.ndarray:
    """Which rows have a label; UserError if none has."""
    rows = ~np.asarray(target.values.is_null().to_numpy(), dtype=np.bool_)
    if not rows.any():
        raise UserError(
            f"The target '{target.name}' of {source} is missing in all rows; pass --target with "
            "the column that holds what is to be predicted."
        )
    return rows


def note_unlabelled(target: Column) -> str:
    """How many rows are left out, as they have no label."""
    one = target.n_missing == 1
    return (
        f"{target.n_missing} of {len(target.values)} rows {'has' if one else 'have'} no value in "
        f"the target '{target.name}' and {'is' if one else 'are'} left out."
    )


def _check_one_role_each(roles: dict[str, Column]) -> None:
    taken: dict[str, str] = {}
    for role, column in roles.items():
        if column.name in taken:
            raise UserError(
                f"Column '{column.name}' is given to both --{taken[column.name]} and --{role}; "
                "choose another column for one of them."
            )
        taken[column.name] = role


def _scores_of(column: Column) -> np.ndarray:
    values = _complete_numbers(column, "--scores")
    outside = (values < 0) | (values > 1)
    if outside.any():
        row = int(np.argmax(outside))
        raise UserError(
            f"The scores in column '{column.name}' must be between 0 and 1, but row "
            f"{column.row_number(row)} has {values[row]:g}; scale them first."
        )
    return values


def _weights_of(column: Column) -> np.ndarray:
    values = _complete_numbers(column, "--weights")
    if (values < 0).any():
        row = int(np.argmax(values < 0))
        raise UserError(
            f"The weights in column '{column.name}' must not be negative, but row "
            f"{column.row_number(row)} has {values[row]:g}; correct it."
        )
    return values


def _complete_numbers(column: Column, option: str) -> np.ndarray:
    if column.n_missing:
        raise UserError(
            f"Column '{column.name}' must have a number in every row for {option}, but has "
            f"{column.n_missing} missing, the first in row {column.first_missing}; fill them in."
        )
    return column.numbers()
