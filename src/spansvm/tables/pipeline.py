"""From a table to a scikit-learn pipeline that ends in the model: impute, scale, encode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler

from ..common.errors import UserError, listed
from ..search.committee.base import BaseCommittee
from .table import CATEGORICAL, NUMERIC, Table

__all__ = ["IMPUTATIONS", "SCALINGS", "build_pipeline", "check_predictable"]

#: How numeric columns can be scaled, and how missing values can be filled in.
SCALINGS = ("minmax", "standard", "none")
IMPUTATIONS = ("median", "mean", "most_frequent")


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
    impute : {"median", "mean", "most_frequent"}, optional
        How to fill in missing numbers; missing categories become the most frequent one.
    all_categories : bool, default=False
        Whether every category of the table becomes a column, even if the pipeline is fitted on
        rows that lack it: on any rows, it then has the same number of features.

    Notes
    -----
    None of the steps looks at the labels, so leave-one-out may fit them once, on all rows.

    Each category becomes a column; a category not seen in training is 0 in all of them.

    A sparse table stays sparse: "minmax" then divides by the largest absolute value, which is
    the same if the feature's minimum is 0, and "standard" divides by the standard deviation
    without centring.
    """
    if scale not in SCALINGS:
        raise UserError(f"--scale must be one of {', '.join(SCALINGS)}; got '{scale}'.")
    if impute is not None and impute not in IMPUTATIONS:
        raise UserError(f"--impute must be one of {', '.join(IMPUTATIONS)}; got '{impute}'.")
    if impute is None and table.missing:
        texts = set(table.missing) <= set(table.schema.named(CATEGORICAL))
        raise UserError(
            f"{table.source} has missing values ({_counted(table.missing)}); pass --impute "
            f"{'most_frequent' if texts else 'median'} to fill them in, or remove those rows or "
            "columns."
        )
    features = _features(table, scale, impute, all_categories)
    return Pipeline([("features", features), ("svm", estimator)])


def check_predictable(model: Any, table: Table) -> None:
    """UserError if values are missing and the model (:func:`build_pipeline`) cannot impute them."""
    if table.missing and not _imputes(model):
        raise UserError(
            f"{table.source} has missing values ({_counted(table.missing)}), but the model was "
            "trained without --impute; fill them in, or train with --impute."
        )


def _imputes(model: Any) -> bool:
    steps = model.named_steps if isinstance(model, Pipeline) else {}
    if isinstance(model, BaseCommittee):
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


def _features(table: Table, scale: str, impute: str | None, all_categories: bool) -> Any:
    schema = table.schema
    scaler = _scaler(scale, sparse=schema.layout == "sparse")
    if schema.layout != "columns":
        return scaler
    numeric, categorical = schema.named(NUMERIC), schema.named(CATEGORICAL)
    encoder: Any = OneHotEncoder(handle_unknown="ignore")
    if all_categories:
        encoder.categories = [
            np.array(schema.categories[name], dtype=object) for name in categorical
        ]
    if impute is not None:
        scaler = make_pipeline(SimpleImputer(strategy=impute), scaler)
        encoder = make_pipeline(SimpleImputer(strategy="most_frequent"), encoder)
    return ColumnTransformer(
        [
            *([("numeric", scaler, numeric)] if numeric else []),
            *([("categorical", encoder, categorical)] if categorical else []),
        ]
    )


def _scaler(scale: str, *, sparse: bool) -> Any:
    if scale == "none":
        return "passthrough"
    if scale == "standard":
        return StandardScaler(with_mean=not sparse)
    return MaxAbsScaler() if sparse else MinMaxScaler()


def _counted(missing: Mapping[str, int]) -> str:
    most_first = sorted(missing.items(), key=lambda item: -item[1])
    return listed([f"{count} in '{name}'" for name, count in most_first])
