"""Checks of input: each error names the argument and says what would be right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

from .types import Array, Mask, Rows

__all__ = [
    "Constraint",
    "check_both_classes",
    "check_groups",
    "check_labels",
    "check_parameters",
    "check_rest",
    "check_rows",
    "check_sparse",
    "check_weights",
    "encode_labels",
    "is_bool",
    "is_positive",
    "n_rows",
    "rows_of",
]

_LARGEST = float(np.finfo(np.float64).max)

#: Whether a value is allowed, and what would be.
Constraint = tuple[Callable[[Any], bool], str]


def check_parameters(estimator: Any, constraints: Mapping[str, Constraint]) -> None:
    """ValueError for the first parameter of an estimator whose value is not allowed."""
    for name, (allowed, expected) in constraints.items():
        value = getattr(estimator, name)
        if not allowed(value):
            raise ValueError(f"{name} must be {expected}; got {value!r}.")


def is_positive(value: Any) -> bool:
    """Whether a value is a finite positive number."""
    if isinstance(value, np.floating):
        value = float(value)  # a number in single precision is not comparable with the largest
    return isinstance(value, Real) and not is_bool(value) and bool(0 < value <= _LARGEST)  # type: ignore[operator]


def is_bool(value: Any) -> bool:
    """Whether a value is True or False."""
    return isinstance(value, (bool, np.bool_))


def check_rows(X: Any, kernel: Any) -> Any:
    """`X` as floats, dense or in CSR format; unchanged for a callable kernel, as in SVC."""
    if callable(kernel):
        return X
    check_sparse(X)
    return check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")


def rows_of(estimator: Any, X: Any, **others: Any) -> Any:
    """scikit-learn's ``validate_data``: `X` as floats, dense or in CSR format, and `y` if given."""
    check_sparse(X)
    return validate_data(
        estimator, X, accept_sparse="csr", dtype=np.float64, order="C", accept_large_sparse=False,
        **others,
    )  # fmt: skip


def check_sparse(X: Any) -> None:
    """ValueError if the indices of a sparse matrix are not those of its entries.

    Compiled code relies on them, here as in SciPy, and would read the memory of others.
    """
    if not (sparse.issparse(X) and X.format in ("csr", "csc") and X.ndim == 2):
        return
    n, width = X.shape if X.format == "csr" else X.shape[::-1]
    starts, indices, count = X.indptr, X.indices, len(X.data)
    wrong = None
    if len(starts) != n + 1 or len(indices) != count:
        wrong = (
            f"{len(starts)} indptr and {len(indices)} indices, where {n + 1} and {count} are needed"
        )
    elif starts[0] != 0 or starts[-1] > count or (starts[1:] < starts[:-1]).any():
        wrong = f"an indptr that does not ascend from 0 to the number of its entries, {count}"
    elif count and not 0 <= indices.min() <= indices.max() < width:
        wrong = f"indices from {indices.min()} to {indices.max()}, where 0 to {width - 1} are right"
    if wrong is not None:
        raise ValueError(f"X is a damaged sparse matrix: it has {wrong}.")


def n_rows(X: Any) -> int:
    """Number of rows of `X`, whatever its type."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def check_labels(y: npt.ArrayLike) -> Array:
    """Labels -1 and +1 as floats; ValueError for anything else."""
    labels = np.asarray(y)
    if labels.ndim != 1 or not np.isin(labels, (-1, 1)).all():
        raise ValueError("y must be a one-dimensional array of the labels -1 and +1.")
    return labels.astype(np.float64)


def encode_labels(y: npt.ArrayLike, classes: np.ndarray, n: int) -> Array:
    """Labels as -1.0 for ``classes[0]`` and +1.0 for ``classes[1]``."""
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(
            f"y must have one label for each of the {n} rows of X; got shape {labels.shape}."
        )
    positive = labels == classes[1]
    if not (positive | (labels == classes[0])).all():
        strange = labels[~(positive | (labels == classes[0]))][0]
        known = " and ".join(str(label) for label in classes)
        raise ValueError(f"y contains the label {strange}; the classes are {known}.")
    return np.where(positive, 1.0, -1.0)


def check_weights(weights: npt.ArrayLike, n: int, *, name: str) -> Array:
    """`n` finite, non-negative weights as floats; a single number applies to all."""
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim == 0:
        values = np.full(n, float(values))
    if values.shape != (n,):
        raise ValueError(
            f"{name} must have one value for each of the {n} instances; got shape {values.shape}."
        )
    # This runs several times for every candidate of a search; NaN is in no order.
    if n and not 0.0 <= values.min() <= values.max() < np.inf:
        if not np.isfinite(values).all():
            raise ValueError(f"{name} must be finite; found NaN or infinity.")
        raise ValueError(f"{name} must not be negative; the smallest value is {values.min():g}.")
    return values


def check_groups(groups: npt.ArrayLike, n: int) -> np.ndarray:
    """The groups of `n` rows; ValueError unless there are at least two of them."""
    known = check_array(groups, input_name="groups", ensure_2d=False, dtype=None)
    known = column_or_1d(known)
    check_consistent_length(np.empty(n), known)
    if np.unique(known).size < 2:
        raise ValueError(
            "groups must contain at least two groups, to leave out one at a time; all rows are in "
            "the same one."
        )
    return known


def check_rest(present: Mask, sets: Sequence[Rows] | None = None) -> None:
    """ValueError if nothing is left to learn from without some row, or without one of some sets.

    `present` marks the rows of positive weight.
    """
    count = int(np.count_nonzero(present))
    if sets is None:
        if count == 0:
            raise ValueError("All weights are zero: there is no row to learn from.")
        if count == 1:
            raise ValueError(
                "To leave one row out, two rows of positive weight are needed; there is 1 "
                f"(n_samples={present.size})."
            )
    elif any(np.count_nonzero(present[rows]) == count for rows in sets):
        raise ValueError(
            "To leave one group out, rows of positive weight are needed in two groups; all are in "
            "the same one."
        )


def check_both_classes(y: Array, C: Array) -> None:
    """ValueError unless both labels occur among the instances of positive weight."""
    present = y[C > 0]
    if present.size == 0 or present.min() == present.max():
        left = "none" if present.size == 0 else f"only class {present[0]:+.0f}"
        raise ValueError(f"Two classes are needed; the instances of positive weight have {left}.")
