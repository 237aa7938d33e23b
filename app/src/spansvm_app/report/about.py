"""What a report says of any model: names of its rows, columns and steps, and versions."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.pipeline import Pipeline

from spansvm import __version__

from .plain import cut

__all__ = ["feature_names_of", "n_rows", "row_ids_of", "steps_of", "versions"]


def steps_of(estimator: Any) -> list[str]:
    """Names of the transformers and of the SVM."""
    if isinstance(estimator, Pipeline):
        return [name for _, step in estimator.steps for name in steps_of(step)]
    return [] if estimator in (None, "passthrough") else [type(estimator).__name__]


def row_ids_of(X: Any, given: Sequence[Any] | None) -> Sequence[Any]:
    """Names of the rows: as given, or the index of a data frame, or numbers from 0."""
    if given is None:
        return list(X.index) if hasattr(X, "iloc") else range(n_rows(X))
    if len(given) != n_rows(X):
        raise ValueError(
            f"row_ids must have one entry for each of {n_rows(X)} rows; got {len(given)}."
        )
    return list(given)


def feature_names_of(X: Any, given: Sequence[str] | None, *, readable: bool) -> list[str]:
    """Names of the columns; none if they mean nothing to a reader."""
    n_columns = int(np.shape(X)[1])
    if given is not None and len(given) != n_columns:
        raise ValueError(
            f"feature_names must have one entry for each of {n_columns} columns of X; got "
            f"{len(given)}."
        )
    if not readable:
        return []
    if given is None:
        given = X.columns if hasattr(X, "columns") else [f"x{i}" for i in range(n_columns)]
    return [cut(name) for name in given]


def versions() -> dict[str, str]:
    """Versions of what computed the report."""
    return {
        "spansvm": __version__,
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def n_rows(X: Any) -> int:
    """Number of rows of `X`, whatever its type."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
