"""From a table to a scikit-learn pipeline that ends in the model: impute, scale, encode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler

from spansvm import Committee, RegressionCommittee
from spansvm.errors import UserError

from ..common.wording import listed
from .table import CATEGORICAL, NUMERIC, TEXT, Table
from .texts import WORD, shared_words

__all__ = [
    "IMPUTATIONS",
    "REFUSED",
    "SCALINGS",
    "build_pipeline",
    "check_predictable",
    "marked_columns",
]

#: How numeric columns can be scaled, and how missing values can be filled in, or not at all.
SCALINGS = ("minmax", "standard", "none")
IMPUTATIONS = ("median", "mean", "most_frequent", REFUSED := "error")

#: If this share of the numbers of a column is missing, a column of its own says where.
_MARKED = 0.05

#: The category of missing texts.
_NO_TEXT = "(missing)"


def build_pipeline(
    table: Table,
    estimator: Any,
    *,
    scale: str = "minmax",
    impute: str | None = None,
    all_categories: bool = False,
) -> Pipeline:
    """A pipeline of two steps: "features" turns the columns into numbers, "svm" is the model.

    Parameters
    ----------
    table : Table
    estimator : estimator
        Such as :class:`~spansvm.SpanSVC`.
    scale : {"minmax", "standard", "none"}, default="minmax"
        To [0, 1], as in the paper; to mean 0 and variance 1; or not at all.
    impute : {"median", "mean", "most_frequent", "error"}, optional
        How to fill in missing numbers; missing categories become the most frequent one.  By
        default the median, and a missing category is one of its own; a column of its own says
        where a number is missing, if at least 5 % of them are.  With "error", missing values
        are a UserError.
    all_categories : bool, default=False
        Whether every category of the table becomes a column, even if the pipeline is fitted on
        rows that lack it: on any rows, it then has the same number of features.  Words always do.

    Notes
    -----
    None of the steps looks at the labels, so leave-one-out may fit them once, on all rows.

    Each category becomes a column; a category not seen in training is 0 in all of them.  So does
    each word of a long text that occurs in two rows of the table, with its TF-IDF weight.

    A sparse table stays sparse: "minmax" then divides by the largest absolute value, which is
    the same if the feature's minimum is 0, and "standard" divides by the standard deviation
    without centring.
    """
    if scale not in SCALINGS:
        raise UserError(f"--scale must be one of {', '.join(SCALINGS)}; got '{scale}'.")
    if impute is not None and impute not in IMPUTATIONS:
        raise UserError(f"--impute must be one of {', '.join(IMPUTATIONS)}; got '{impute}'.")
    if impute == REFUSED and table.missing:
        raise UserError(
            f"{table.source} has missing values ({_counted(table.missing)}); leave --impute "
            f"{REFUSED} out to fill them in, or remove those rows or columns."
        )
    features = _features(table, scale, impute, all_categories)
    return Pipeline([("features", features), ("svm", estimator)])


def check_predictable(model: Any, table: Table) -> None:
    """UserError if values are missing and the model (:func:`build_pipeline`) cannot impute them."""
    if table.missing and not _imputes(model):
        raise UserError(
            f"{table.source} has missing values ({_counted(table.missing)}), but the model was "
            "trained on complete rows; fill them in, or train with --impute median."
        )


def _imputes(model: Any) -> bool:
    steps = model.named_steps if isinstance(model, Pipeline) else {}
    if isinstance(model, (Committee, RegressionCommittee)):
        steps = model.transformers_[0]
    features = steps.get("features")
    if not isinstance(features, ColumnTransformer):
        return False
    return any(
        isinstance(step, SimpleImputer)
        for _, steps, _ in features.transformers
        if isinstance(steps, Pipeline)
        for _, step in steps.steps
    )


def marked_columns(table: Table) -> list[str]:
    """The numeric columns of which a column of its own says where values are missing."""
    numeric = set(table.schema.named(NUMERIC))
    least = _MARKED * table.n_rows
    return [name for name, count in table.missing.items() if name in numeric and count >= least]


def _features(table: Table, scale: str, impute: str | None, all_categories: bool) -> Any:
    schema = table.schema
    scaler = _scaler(scale, sparse=schema.layout == "sparse")
    if schema.layout != "columns":
        return scaler
    numeric, categorical = schema.named(NUMERIC), schema.named(CATEGORICAL)
    fills = impute not in (None, REFUSED)
    own = impute is None and bool(table.missing)
    encoder: Any = OneHotEncoder(handle_unknown="ignore")
    if all_categories:
        encoder.categories = [
            np.array(_with_missing(table, name) if own else schema.categories[name], dtype=object)
            for name in categorical
        ]
    if fills or own:
        # Some of the rows may have no value of a column.
        kept = {"keep_empty_features": True}
        texts = (
            SimpleImputer(strategy="constant", fill_value=_NO_TEXT, **kept)
            if own
            else SimpleImputer(strategy="most_frequent", **kept)
        )
        scaler = make_pipeline(
            SimpleImputer(strategy=impute if fills else "median", **kept), scaler
        )
        encoder = make_pipeline(texts, encoder)
    marked = marked_columns(table) if own else []
    return ColumnTransformer(
        [
            *([("numeric", scaler, numeric)] if numeric else []),
            *([("missing", MissingIndicator(features="all"), marked)] if marked else []),
            *([("categorical", encoder, categorical)] if categorical else []),
            *(
                (f"words {number}", _words(found), name)
                for number, name in enumerate(schema.named(TEXT), 1)
                if (found := shared_words(table.X[name]))
            ),
        ]
    )


def _with_missing(table: Table, name: str) -> list[str]:
    """The categories of a column, and that of missing texts if there are any."""
    found = list(table.schema.categories[name])
    return [*found, _NO_TEXT] if name in table.missing and _NO_TEXT not in found else found


def _words(vocabulary: list[str]) -> TfidfVectorizer:
    """Weights of words; those of all rows together, so that any rows give as many columns."""
    return TfidfVectorizer(sublinear_tf=True, token_pattern=WORD, vocabulary=vocabulary)


def _scaler(scale: str, *, sparse: bool) -> Any:
    if scale == "none":
        return "passthrough"
    if scale == "standard":
        return StandardScaler(with_mean=not sparse)
    return MaxAbsScaler() if sparse else MinMaxScaler()


def _counted(missing: Mapping[str, int]) -> str:
    most_first = sorted(missing.items(), key=lambda item: -item[1])
    return listed([f"{count} in '{name}'" for name, count in most_first])
