"""Rows whose labels the other rows contradict most strongly, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..common.errors import listed
from ..common.types import Array
from ..estimators.svc import SpanSVC
from ..studies.association import MEASURE, explained_share
from ..studies.columns import column_of
from .plain import cut, percent, plain

__all__ = [
    "SuspiciousRow",
    "SuspiciousTable",
    "choose_features",
    "list_suspicious",
    "shown_value",
]

#: At most this many rows are listed, and this many of them that are predicted right.
_MOST_ROWS, _MOST_RIGHT = 100, 10

#: A row that is predicted right is listed if its margin is smaller: the margin of a support vector
#: that the model fits is 1, so this is next to a contradiction.
_SMALL_MARGIN = 0.1

#: How many features are shown; beyond the second number, simply the first ones.  They are compared
#: on at most so many rows.
_MOST_FEATURES, _MOST_COMPARED, _ROWS_COMPARED = 8, 2000, 5000


@dataclass(frozen=True)
class SuspiciousRow:
    """One row: its name, its label, and what the model predicts when it is left out."""

    row: int
    row_id: Any
    label: str
    predicted: str
    margin: float
    probability: float
    features: list[Any]


@dataclass(frozen=True)
class SuspiciousTable:
    """Rows that the others contradict, then those that they almost do, by increasing margin.

    Rows of a class that is predicted for no left-out row are not listed, nor is the only row of a
    class: they are contradicted whatever their features.

    Attributes
    ----------
    features : list of str
    choice : str
        Which features are shown, in words.
    explanation : str
        What is special about the rows listed or left out; may be empty.
    n_contradicted : int
        How many rows are predicted to have another label.
    rows : list of SuspiciousRow
    """

    features: list[str]
    choice: str
    explanation: str
    n_contradicted: int
    rows: list[SuspiciousRow]


def list_suspicious(
    model: SpanSVC, X: Any, row_ids: Sequence[Any], feature_names: Sequence[str]
) -> SuspiciousTable:
    """The most suspicious rows of a fitted model.

    Parameters
    ----------
    model : SpanSVC
    X : array-like, sparse matrix or data frame
        The rows as the user knows them, before any transformer.
    row_ids, feature_names : sequence
        One per row, and one per column; no names if the columns mean nothing to a reader.
    """
    margins, labels, predicted = model.loo_margin_, model.training_labels_, model.loo_predict_
    counted = ~np.isnan(margins)
    said = np.unique(predicted[counted])
    names, sizes = np.unique(labels[counted], return_counts=True)
    alone = names[sizes == 1]
    # If a single class is predicted, that says nothing about any row; and the only row of a class
    # is always contradicted.
    listed = counted & np.isin(labels, said) & ~np.isin(labels, alone) & (said.size > 1)
    contradicted = listed & (predicted != labels)
    n_contradicted = int(contradicted.sum())
    close = listed & ~contradicted & (np.nan_to_num(margins, nan=np.inf) < _SMALL_MARGIN)
    n_right = min(int(close.sum()), max(_MOST_RIGHT - n_contradicted, 0))
    number = min(n_contradicted + n_right, _MOST_ROWS)
    chosen = np.lexsort((margins, ~contradicted, ~listed))[:number]
    probabilities = model.left_out_.probabilities
    own = np.searchsorted(model.classes_, labels)
    X = X.tocsc() if sparse.issparse(X) else X
    shown, choice = choose_features(X, own, feature_names)
    values = [column_of(X, index) for index in shown]
    return SuspiciousTable(
        features=[cut(feature_names[index]) for index in shown],
        choice=choice,
        explanation=_explanation(
            np.setdiff1d(model.classes_, alone), said, margins[chosen], contradicted[chosen]
        ),
        n_contradicted=n_contradicted,
        rows=[
            SuspiciousRow(
                row=int(row),
                row_id=shown_value(row_ids[row]),
                label=cut(labels[row]),
                predicted=cut(predicted[row]),
                margin=float(margins[row]),
                probability=float(probabilities[row, own[row]]),
                features=[shown_value(column[row]) for column in values],
            )
            for row in chosen
        ],
    )


def _explanation(
    classes: np.ndarray, said: np.ndarray, margins: Array, contradicted: np.ndarray
) -> str:
    """What might puzzle a reader."""
    if said.size == 1:
        return f"No rows are listed: '{cut(said[0])}' is predicted for every row when left out."
    parts = []
    if not contradicted.size:
        parts.append("No rows are listed: the other rows contradict none of the labels.")
    unsaid = [f"'{cut(label)}'" for label in classes if label not in said]
    if unsaid:
        parts.append(
            f"Rows labelled {listed(unsaid)} are not listed: no left-out row is predicted to be "
            "that."
        )
    if ((margins < 0) & ~contradicted).any():
        parts.append(
            "A correctly predicted row can have a margin below 0: its class loses one pair of "
            "classes, but still wins the most pairs."
        )
    return " ".join(parts)


def shown_value(value: Any) -> Any:
    """A value of the data as a table can show it."""
    simple = plain(value)
    return cut(simple) if isinstance(simple, (str, dict, list)) else simple


def choose_features(
    X: Any, own: np.ndarray, feature_names: Sequence[str], measure: str = MEASURE
) -> tuple[list[int], str]:
    """Which columns to show, and why, in words."""
    n_features = len(feature_names)
    if n_features <= _MOST_FEATURES:
        return list(range(n_features)), "all features" if n_features else "no features"
    if n_features > _MOST_COMPARED:
        chosen = list(range(_MOST_FEATURES))
        return chosen, f"the first {_MOST_FEATURES} of {n_features} features"
    rows = np.linspace(0, own.size - 1, min(own.size, _ROWS_COMPARED)).astype(int)
    shares = [explained_share(column_of(X, index)[rows], own[rows]) for index in range(n_features)]
    order = np.argsort(-np.array(shares), kind="stable")[:_MOST_FEATURES]
    strongest = ", ".join(
        f"{cut(feature_names[index])} {percent(max(shares[index], 0.0))}" for index in order[:3]
    )
    choice = (
        f"the {_MOST_FEATURES} of {n_features} features with the largest {measure}: {strongest}, "
        "and so on"
    )
    if rows.size < own.size:
        choice += f"; measured on {rows.size} rows"
    return [int(index) for index in order], choice
