"""From the columns of a file to a table: assigns features, labels, weights and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..common.errors import UserError, closest_name, listed, require
from .columns import Column
from .dates import are_dates, date_parts, note_unclear
from .row_numbers import note_names
from .table import CATEGORICAL, NUMERIC, Schema, Table
from .targets import Target, check_task, note_many_classes

__all__ = [
    "MISSING_TARGETS",
    "Roles",
    "assemble",
    "data_frame",
    "find_column",
    "labelled_rows",
    "missing_counts",
    "note_unlabelled",
]

#: What can be done with rows that have no label.
MISSING_TARGETS = ("drop", "error")

#: How many column names a message lists.
_LISTED = 10

#: A text column with more categories than this share of the rows probably names the rows.
_MANY_CATEGORIES = 0.5

#: A column of which this share is missing is named.
_NEARLY_ALL = 0.9


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
        Columns with the group and with the name of each row.
    drop : sequence of str
        Columns to leave out.
    categorical : sequence of str
        Columns whose numbers are names of categories.
    missing_target : {"drop", "error"}, default="drop"
        What to do with rows that have no label: leave them out, with a note, or refuse the file.
    task : {"classification", "regression"}, optional
        Whether the target holds classes or a quantity; by default, its values decide.

    See Also
    --------
    spansvm.tables.read_table : Reads a file with these roles.
    """

    target: str | None = None
    scores: str | None = None
    weights: str | None = None
    groups: str | None = None
    id: str | None = None
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
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


def assemble(source: str, columns: list[Column], asked: Roles) -> Table:
    """The table that the columns form; `source` is the name of the file, for messages."""
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
    named = [find_column(source, features, name, "--categorical") for name in asked.categorical]
    rows, notes = None, []
    if roles["target"].n_missing and asked.missing_target == "drop":
        rows = labelled_rows(source, roles["target"])
        notes.append(note_unlabelled(roles["target"]))
        roles = {role: column.kept(rows) for role, column in roles.items()}
        named = [column.kept(rows) for column in named]
        features = [column.kept(rows) for column in features]
    _check_features(source, features)
    names = {column.name for column in named}
    features, more = _with_parts_of_dates(source, features, names)
    notes += more
    types = [CATEGORICAL if column.name in names else column.column_type() for column in features]
    X = data_frame(features, types)
    target = Target.of_column(source, roles["target"], asked.task)
    y = target.values
    missing = missing_counts(features)
    unclear = [
        column
        for column, own in zip(features, types, strict=True)
        if own == CATEGORICAL and column.name not in names and note_unclear(column)
    ]
    categories = {
        column.name: tuple(sorted(set(X[column.name].dropna())))
        for column, own in zip(features, types, strict=True)
        if own == CATEGORICAL
    }
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
            others=tuple(sorted({one.name for one in columns} - {one.name for one in free})),
        ),
        source=source,
        scores=_scores_of(roles["scores"]) if "scores" in roles else None,
        weights=_weights_of(roles["weights"]) if "weights" in roles else None,
        groups=roles["groups"].names() if "groups" in roles else None,
        ids=roles["id"].names() if "id" in roles else None,
        missing=missing,
        rows=None if rows is None else np.flatnonzero(rows) + 1,
        n_unlabelled=0 if rows is None else int((~rows).sum()),
        why_task=target.why,
        notes=(
            *notes,
            *_nearly_all_missing(missing, len(y)),
            *_constant(X, missing),
            *note_many_classes(y, f"Target '{roles['target'].name}'"),
            *_names_of_rows(categories, len(y), {one.name for one in unclear}),
            *(note for column in unclear for note in note_unclear(column)),
            *(
                note
                for column, own in zip(features, types, strict=True)
                if own == NUMERIC
                for note in note_names(column.name, X[column.name].to_numpy(), asked.given)
            ),
        ),
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


def _with_parts_of_dates(
    source: str, features: list[Column], categorical: set[str]
) -> tuple[list[Column], list[str]]:
    """The features with the parts of dates instead of dates, and what to say about it."""
    result, notes = [], []
    for column in features:
        if column.name in categorical or not are_dates(column):
            result.append(column)
            continue
        parts = date_parts(column)
        result += parts
        shown = ", ".join(part.name.removeprefix(column.name).strip(" ()") for part in parts)
        what = f"its features are {shown}" if parts else "all of them are equal, so it is left out"
        notes.append(f"Column '{column.name}' holds dates; {what}.")
    if not result:
        raise UserError(f"{source} has no features that differ between rows; add feature columns.")
    return result, notes


def _nearly_all_missing(missing: dict[str, int], n_rows: int) -> list[str]:
    """Notes on columns that hardly have values."""
    return [
        f"Column '{name}' is missing in {count} of {n_rows} rows, so it hardly tells anything; "
        f"consider --drop '{name}'."
        for name, count in missing.items()
        if count >= _NEARLY_ALL * n_rows
    ]


def _constant(X: Any, missing: dict[str, int]) -> list[str]:
    """A note on all features with a single value, except those that hardly have values."""
    names = [
        f"'{name}'"
        for name in X.columns[X.nunique() == 1]
        if missing.get(name, 0) < _NEARLY_ALL * len(X)
    ]
    if not names:
        return []
    if len(names) == 1:
        return [
            f"Column {names[0]} has a single value, so it tells nothing; perhaps a filter left "
            "only that."
        ]
    return [
        f"Columns {listed(names, _LISTED)} have a single value each, so they tell nothing; perhaps "
        "a filter left only that."
    ]


def data_frame(columns: list[Column], types: Sequence[str]) -> Any:
    """The columns as floats and text, NaN where values are missing."""
    pandas = require("pandas", "cli")
    series = {}
    for column, own in zip(columns, types, strict=True):
        if own == NUMERIC:
            series[column.name] = pandas.Series(column.numbers())
        else:
            texts = column.texts().copy()
            texts[column.values.is_null().to_numpy()] = np.nan
            # Without a dtype, newer versions of pandas would choose their own.
            series[column.name] = pandas.Series(texts, dtype=object)
    return pandas.DataFrame(series)


def missing_counts(columns: list[Column]) -> dict[str, int]:
    """How many values are missing, for each column that lacks any."""
    return {column.name: column.n_missing for column in columns if column.n_missing}


def _check_one_role_each(roles: dict[str, Column]) -> None:
    taken: dict[str, str] = {}
    for role, column in roles.items():
        if column.name in taken:
            raise UserError(
                f"Column '{column.name}' is given to both --{taken[column.name]} and --{role}; "
                "choose another column for one of them."
            )
        taken[column.name] = role


def _check_features(source: str, features: list[Column]) -> None:
    if not features:
        raise UserError(f"{source} has no features besides the target; add feature columns.")
    absent = [column for column in features if column.n_missing == len(column.values)]
    if len(absent) == len(features):
        raise UserError(
            f"All features are missing in all rows of {source}; give another file, or other "
            "--missing markers."
        )
    if absent:
        name = absent[0].name
        raise UserError(f"Column '{name}' has no values; pass --drop '{name}'.")


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


def _names_of_rows(
    categories: dict[str, tuple[str, ...]], n_rows: int, others: set[str]
) -> list[str]:
    """Notes on text columns that probably name the rows, except others with a note of their own."""
    return [
        f"Column '{name}' has {len(found)} different values in {n_rows} rows; if it names the "
        f"rows, pass --id '{name}' or --drop '{name}'."
        for name, found in categories.items()
        if len(found) > max(2, _MANY_CATEGORIES * n_rows) and name not in others
    ]
