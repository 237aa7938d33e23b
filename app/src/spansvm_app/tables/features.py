"""The features of a table: which columns become one, of which type, and what to say about them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from spansvm.errors import UserError, require

from ..common.wording import listed
from .columns import Column
from .dates import are_dates, date_parts, note_unclear
from .row_numbers import note_names, number_every_row
from .table import CATEGORICAL, NUMERIC, TEXT
from .texts import hold_long_texts, name_every_row, shared_words, words_of

__all__ = ["choose_features", "data_frame", "missing_counts", "notes_on", "types_of"]

#: How many column names a message lists.
_LISTED = 10

#: A text column with more categories than this share of the rows probably names the rows.
_MANY_CATEGORIES = 0.5

#: A column of which this share is missing is named.
_NEARLY_ALL = 0.9


def choose_features(
    source: str, columns: list[Column], categorical: Collection[str], kept: Collection[str]
) -> tuple[list[Column], list[str]]:
    """The columns that tell something, with the parts of dates; and what to say about the others.

    Parameters
    ----------
    source : str
        Name of the file, for messages.
    columns : list of Column
        All that have no role.
    categorical, kept : collection of str
        Columns that are categories, and that stay even if they seem to name the rows.
    """
    columns, notes = _with_values(source, columns)
    columns, more = _with_parts_of_dates(source, columns, categorical)
    notes += more
    columns, more = _without_names(columns, kept)
    notes += more
    columns, more = _without_single_words(source, columns, categorical)
    return columns, notes + more


def types_of(columns: list[Column], categorical: Collection[str]) -> list[str]:
    """The type of every column, unless it is among those that are categories."""
    return [CATEGORICAL if one.name in categorical else _type_of(one) for one in columns]


def _type_of(column: Column) -> str:
    own = column.column_type()
    long = own == CATEGORICAL and column.declared is None and hold_long_texts(column)
    return TEXT if long else own


def _with_values(source: str, columns: list[Column]) -> tuple[list[Column], list[str]]:
    """The columns without those that have no values at all."""
    if not columns:
        raise UserError(f"{source} has no features besides the target; add feature columns.")
    absent = [column.name for column in columns if column.n_missing == len(column.values)]
    if len(absent) == len(columns):
        raise UserError(
            f"All features are missing in all rows of {source}; give another file, or other "
            "--missing markers."
        )
    if not absent:
        return columns, []
    names = listed([f"'{name}'" for name in absent], _LISTED)
    what = f"Column {names} has no values and is" if len(absent) == 1 else (
        f"Columns {names} have no values and are"
    )  # fmt: skip
    return [one for one in columns if one.name not in absent], [f"{what} left out."]


def _without_names(columns: list[Column], kept: Collection[str]) -> tuple[list[Column], list[str]]:
    """The columns without those that only name the rows, unless all of them do."""
    names = [one.name for one in columns if one.name not in kept and _only_names_rows(one)]
    if not names or len(names) == len(columns):
        return columns, []
    shown = listed([f"'{name}'" for name in names], _LISTED)
    if len(names) == 1:
        note = (
            f"Column {shown} has another value in most rows, as names of rows have, so it is left "
            f"out (--keep {shown} uses it)."
        )
    else:
        note = (
            f"Columns {shown} have another value in most rows, as names of rows have, so they are "
            "left out (--keep COLUMN uses one)."
        )
    return [column for column in columns if column.name not in names], [note]


def _without_single_words(
    source: str, columns: list[Column], categorical: Collection[str]
) -> tuple[list[Column], list[str]]:
    """The columns without long texts of which no two rows share a word."""
    names = [
        one.name
        for one, own in zip(columns, types_of(columns, categorical), strict=True)
        if own == TEXT and not shared_words(one.values.drop_null().to_pylist())
    ]
    if names and len(names) == len(columns):
        raise UserError(
            f"No two rows of {source} share a word in column '{names[0]}', so no feature is left; "
            f"add feature columns, or pass --categorical '{names[0]}'."
        )
    return [one for one in columns if one.name not in names], [
        f"Column '{name}' holds texts of which no two rows share a word, so it is left out "
        f"(--categorical '{name}' takes whole texts)."
        for name in names
    ]


def _only_names_rows(column: Column) -> bool:
    own = column.column_type()
    if own == NUMERIC:
        return number_every_row(column.name, column.numbers())
    if column.declared is not None or note_unclear(column) or hold_long_texts(column):
        return False
    return name_every_row(column)


def _with_parts_of_dates(
    source: str, features: list[Column], categorical: Collection[str]
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


def data_frame(columns: list[Column], types: Sequence[str]) -> Any:
    """The columns as floats and text, NaN where values are missing; long texts are empty there."""
    pandas = require("pandas", "cli")
    series = {}
    for column, own in zip(columns, types, strict=True):
        if own == NUMERIC:
            series[column.name] = pandas.Series(column.numbers())
        else:
            texts = column.texts().copy()
            texts[column.values.is_null().to_numpy()] = "" if own == TEXT else np.nan
            # Without a dtype, newer versions of pandas would choose their own.
            series[column.name] = pandas.Series(texts, dtype=object)
    return pandas.DataFrame(series)


def missing_counts(columns: list[Column], types: Sequence[str]) -> dict[str, int]:
    """How many values are missing, for each column that lacks any; a long text may be empty."""
    both = zip(columns, types, strict=True)
    return {one.name: one.n_missing for one, own in both if one.n_missing and own != TEXT}


# What to say ----------------------------------------------------------------------------------


def notes_on(
    columns: list[Column], types: Sequence[str], X: Any, kept: Collection[str],
    given: Collection[str],
) -> list[str]:  # fmt: skip
    """What is odd about features, one sentence each; `given` are the roles that columns have."""
    n_rows, typed = len(X), list(zip(columns, types, strict=True))
    missing = missing_counts(columns, types)
    texts = [column for column, own in typed if own == CATEGORICAL and column.name not in kept]
    unclear = {column.name: found for column in texts if (found := note_unclear(column))}
    categories = {
        column.name: int(X[column.name].nunique()) for column in texts if column.name not in unclear
    }
    return [
        *(_note_text(column) for column, own in typed if own == TEXT),
        *_nearly_all_missing(missing, n_rows),
        *_constant(X, missing),
        *_many_categories(categories, n_rows),
        *(note for notes in unclear.values() for note in notes),
        *(
            note
            for column, own in typed
            if own == NUMERIC and column.name not in kept
            for note in note_names(column.name, X[column.name].to_numpy(), given)
        ),
    ]


def _note_text(column: Column) -> str:
    texts = [str(text) for text in column.values.to_pylist() if text is not None]
    return (
        f"Column '{column.name}' holds texts of {words_of(texts):.0f} words on average: how often "
        f"each word occurs becomes a feature (--categorical '{column.name}' takes whole texts)."
    )


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


def _many_categories(categories: dict[str, int], n_rows: int) -> list[str]:
    """Notes on text columns that probably name the rows."""
    return [
        f"Column '{name}' has {found} different values in {n_rows} rows; if it names the rows, "
        f"pass --id '{name}' or --drop '{name}'."
        for name, found in categories.items()
        if found > max(2, _MANY_CATEGORIES * n_rows)
    ]
