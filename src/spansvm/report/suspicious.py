"""Rows whose labels the other rows contradict most strongly, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._typing import Array
from ..svc import SpanSVC
from .plain import cut, plain

__all__ = ["SuspiciousRow", "SuspiciousTable", "list_suspicious"]

#: All contradicted rows are listed, but at least the first and at most the second number.
_FEWEST_ROWS, _MOST_ROWS = 10, 100

#: How many features are shown; beyond the second number, simply the first ones.
_MOST_FEATURES, _MOST_COMPARED = 8, 2000


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
    """Rows that the others contradict, then the rest; each part sorted by increasing margin.

    Rows of a class that the model never predicts are not listed: it contradicts them whatever
    their features.

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
    # A model that predicts a single class says nothing about any row.
    listed = counted & np.isin(labels, said) & (said.size > 1)
    contradicted = listed & (predicted != labels)
    n_contradicted = int(contradicted.sum())
    number = min(max(n_contradicted, _FEWEST_ROWS), _MOST_ROWS, int(listed.sum()))
    chosen = np.lexsort((margins, ~contradicted, ~listed))[:number]
    probabilities = model.left_out_.probabilities
    own = np.searchsorted(model.classes_, labels)
    X = X.tocsc() if sparse.issparse(X) else X
    shown, choice = _features(X, own, len(feature_names))
    values = [_column(X, index) for index in shown]
    return SuspiciousTable(
        features=[cut(feature_names[index]) for index in shown],
        choice=choice,
        explanation=_explanation(model.classes_, said, margins[chosen], contradicted[chosen]),
        n_contradicted=n_contradicted,
        rows=[
            SuspiciousRow(
                row=int(row),
                row_id=_cell(row_ids[row]),
                label=cut(labels[row]),
                predicted=cut(predicted[row]),
                margin=float(margins[row]),
                probability=float(probabilities[row, own[row]]),
                features=[_cell(column[row]) for column in values],
            )
            for row in chosen
        ],
    )


def _explanation(
    classes: np.ndarray, said: np.ndarray, margins: Array, contradicted: np.ndarray
) -> str:
    """What might puzzle a reader."""
    if said.size == 1:
        return f"No rows are listed: the model predicts '{cut(said[0])}' for every row."
    parts = []
    unsaid = [f"'{cut(label)}'" for label in classes if label not in said]
    if unsaid:
        parts.append(
            f"Rows labelled {' or '.join(unsaid)} are not listed: the model never predicts that."
        )
    if ((margins < 0) & ~contradicted).any():
        parts.append(
            "A correctly predicted row can have a margin below 0: its class loses one pair of "
            "classes, but still wins the most pairs."
        )
    return " ".join(parts)


def _cell(value: Any) -> Any:
    simple = plain(value)
    return cut(simple) if isinstance(simple, (str, dict, list)) else simple


def _column(X: Any, index: int) -> np.ndarray:
    if hasattr(X, "iloc"):
        return np.asarray(X.iloc[:, index], dtype=object)
    if sparse.issparse(X):
        return np.asarray(X[:, [index]].toarray()[:, 0])
    return np.asarray(X)[:, index]


def _features(X: Any, own: np.ndarray, n_features: int) -> tuple[list[int], str]:
    """Which columns to show, and why, in words."""
    if n_features <= _MOST_FEATURES:
        return list(range(n_features)), "all features" if n_features else "no features"
    if n_features > _MOST_COMPARED:
        chosen = list(range(_MOST_FEATURES))
        return chosen, f"the first {_MOST_FEATURES} of {n_features} features"
    shares = [_explained(_column(X, index), own) for index in range(n_features)]
    order = np.argsort(-np.array(shares), kind="stable")[:_MOST_FEATURES]
    choice = f"the {_MOST_FEATURES} of {n_features} features that separate the classes best"
    return [int(index) for index in order], choice


def _explained(column: np.ndarray, own: np.ndarray) -> float:
    """Share of a feature's variance that is between the classes; 0 if it is not numeric."""
    try:
        values: Array = np.asarray(column, dtype=float)
    except (TypeError, ValueError):
        return 0.0
    known = np.isfinite(values)
    values, groups = values[known], own[known]
    total = float(((values - values.mean()) ** 2).sum()) if values.size else 0.0
    if total <= 0.0:
        return 0.0
    sizes = np.bincount(groups)
    means = np.bincount(groups, values) / np.maximum(sizes, 1)
    return float((sizes * (means - values.mean()) ** 2).sum()) / total
