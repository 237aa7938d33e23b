"""Rows whose labels are doubted, with the rows that contradict and agree, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from spansvm.blocks import Judged, find_witnesses, judge, take_apart

from ..common.types import Array, Mask, Rows
from ..common.wording import listed
from ..studies.association import MEASURE, explained_share
from ..studies.columns import column_of
from .plain import cut, percent, plain

__all__ = [
    "SuspiciousRow",
    "SuspiciousTable",
    "Witness",
    "choose_features",
    "list_suspicious",
    "shown_value",
    "who_doubts",
]

#: At most this many rows are listed, and this many if some of them are predicted right.
_MOST_ROWS, _MOST_RIGHT = 100, 10

#: A row that is predicted right is listed if its label is not more probable than another by more.
_SMALL_LEAD = 0.1

#: For how many doubted rows the others are shown that contradict and agree, and how many of these.
_MOST_EXPLAINED, _MOST_WITNESSES = 10, 3

#: The candidates of a search, times its classes and the squared number of its rows, up to which its
#: committee is asked, which evaluates all of them once more: some seconds.
_MOST_WORK = 3e8

#: How many features are shown; beyond the second number, simply the first ones.  They are compared
#: on at most so many rows.
_MOST_FEATURES, _MOST_COMPARED, _ROWS_COMPARED = 8, 2000, 5000


#: Where single labels cannot be judged.
_NOTHING_SAID = (
    "No rows are listed. Nothing can be said about single labels: left out, the rows of different "
    "classes have the same values."
)


@dataclass(frozen=True)
class Witness:
    """A row that contradicts the label of another, or agrees with it.

    Attributes
    ----------
    row, row_id, label, features
        As of a suspicious row.
    influence : float
        By how much it moves the decision value of the other row; a support vector that the model
        fits is at 1.
    """

    row: int
    row_id: Any
    label: str
    influence: float
    features: list[Any]


@dataclass(frozen=True)
class SuspiciousRow:
    """One row: its name, its label, and what the others say of it.

    Attributes
    ----------
    row : int
    row_id : object
    label, predicted : str
        The most probable label when the row is left out.
    doubted : bool
    probability : float
        Of the label, when the row is left out.
    margin : float
        That of the selected model when the row is left out.
    features : list
    contradicted_by, agreeing : list of Witness
        The rows with the strongest influence; of the first doubted rows only.
    """

    row: int
    row_id: Any
    label: str
    predicted: str
    doubted: bool
    probability: float
    margin: float
    features: list[Any]
    contradicted_by: list[Witness]
    agreeing: list[Witness]


@dataclass(frozen=True)
class SuspiciousTable:
    """Rows whose labels are doubted, others that are contradicted, and those that nearly are.

    Each part by increasing probability of the label.  Rows of a class that is predicted for no
    left-out row are not listed, nor is the only row of a class: they are contradicted whatever
    their features.

    Attributes
    ----------
    features : list of str
    choice : str
        Which features are shown, in words.
    explanation : str
        What is special about the rows listed or left out; may be empty.
    asked : str
        Who gave the probabilities, in words.
    n_contradicted, n_doubted : int
        How many rows are predicted to have another label, and how many of these labels are issues
        in the sense of :func:`~spansvm.find_label_issues`.
    rows : list of SuspiciousRow
    """

    features: list[str]
    choice: str
    explanation: str
    asked: str
    n_contradicted: int
    n_doubted: int
    rows: list[SuspiciousRow]


def who_doubts(search: Any) -> tuple[Any, str]:
    """What to ask about the labels of a search: its committee if that is quick; and that in words.

    The first is for :func:`~spansvm.find_label_issues`.
    """
    model = take_apart(search.best_estimator_).machine
    n_classes = len(getattr(model, "classes_", "1"))
    work = len(search.cv_results_["params"]) * n_classes * float(model.shape_fit_[0]) ** 2
    limited = getattr(search, "time_budget", None) is not None
    by_function = callable(search.refit)  # there is no score that a committee could have
    if work <= _MOST_WORK and not limited and not by_function:
        try:
            n_members = len(search.committee_.members_)
        except (AttributeError, ValueError):  # not every search has one
            n_members = 1
        if n_members > 1:
            return search, f"the committee of the {n_members} candidates nearest to the best"
    return search.best_estimator_, "the selected model"


def list_suspicious(
    search: Any, X: Any, row_ids: Sequence[Any], feature_names: Sequence[str]
) -> SuspiciousTable:
    """The most suspicious rows of a search.

    Parameters
    ----------
    search : SpanSearch
        Its best estimator ends in a SpanSVC.
    X : array-like, sparse matrix or data frame
        The rows as the user knows them, before any transformer.
    row_ids, feature_names : sequence
        One per row, and one per column; no names if the columns mean nothing to a reader.
    """
    model = take_apart(search.best_estimator_).machine
    asked, in_words = who_doubts(search)
    judged = judge(asked)
    listed_rows, explanation = _rows_to_list(model, judged)
    doubted = listed_rows & judged.issue
    contradicted = listed_rows & (judged.predicted != judged.given)
    near = listed_rows & ~contradicted & (judged.margin < _SMALL_LEAD)
    n_doubted, n_contradicted = int(doubted.sum()), int(contradicted.sum())
    n_near = min(int(near.sum()), max(_MOST_RIGHT - n_contradicted, 0))
    order = np.lexsort((judged.quality, ~contradicted, ~doubted, ~(contradicted | near)))
    chosen = order[: min(n_contradicted + n_near, _MOST_ROWS)]
    if not chosen.size and not explanation:
        explanation = "No rows are listed: the other rows contradict none of the labels."
    X = X.tocsc() if sparse.issparse(X) else X
    own = np.searchsorted(model.classes_, judged.given)
    shown, choice = choose_features(X, own, feature_names)
    columns = [column_of(X, index) for index in shown]

    def described(row: int) -> dict[str, Any]:
        return {
            "row": int(row),
            "row_id": shown_value(row_ids[row]),
            "label": cut(judged.given[row]),
            "features": [shown_value(column[row]) for column in columns],
        }

    explained = chosen[: min(n_doubted, _MOST_EXPLAINED)]
    witnesses = dict(zip(explained, find_witnesses(model, judged, explained, _MOST_WITNESSES),
                         strict=True))  # fmt: skip

    def told(rows: Rows, influences: Array) -> list[Witness]:
        both = zip(rows, influences, strict=True)
        return [Witness(**described(row), influence=float(own)) for row, own in both]

    rows = []
    for row in chosen:
        known = witnesses.get(row)
        rows.append(
            SuspiciousRow(
                **described(row),
                predicted=cut(judged.predicted[row]),
                doubted=bool(doubted[row]),
                probability=float(judged.quality[row]),
                margin=float(model.loo_margin_[row]),
                contradicted_by=[] if known is None else told(known.against, known.against_by),
                agreeing=[] if known is None else told(known.agreeing, known.agreeing_by),
            )
        )
    return SuspiciousTable(
        features=[cut(feature_names[index]) for index in shown],
        choice=choice,
        explanation=explanation,
        asked=in_words,
        n_contradicted=n_contradicted,
        n_doubted=n_doubted,
        rows=rows,
    )


def _rows_to_list(model: Any, judged: Judged) -> tuple[Mask, str]:
    """Which rows may be listed, and why others may not."""
    counted = ~np.isnan(model.loo_margin_)
    said = np.unique(model.loo_predict_[counted])
    names, sizes = np.unique(judged.given[counted], return_counts=True)
    alone = names[sizes == 1]
    if said.size == 1:
        # That says nothing about any row.
        why = f"No rows are listed: '{cut(said[0])}' is predicted for every row when left out."
        return np.zeros(counted.size, dtype=np.bool_), why
    if not judged.telling:
        return np.zeros(counted.size, dtype=np.bool_), _NOTHING_SAID
    # The only row of a class is always contradicted.
    allowed = counted & np.isin(judged.given, said) & ~np.isin(judged.given, alone)
    unsaid = [f"'{cut(name)}'" for name in np.setdiff1d(names, alone) if name not in said]
    if not unsaid:
        return allowed, ""
    return allowed, (
        f"Rows labelled {listed(unsaid)} are not listed: no left-out row is predicted to be that."
    )


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
