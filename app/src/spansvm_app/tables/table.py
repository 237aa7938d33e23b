"""What is read from a user's file: the rows, their labels, and the schema of the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..common.tasks import CLASSIFICATION

__all__ = ["CATEGORICAL", "NUMERIC", "TEXT", "Schema", "Table"]

#: The types of columns; those of text are longer than the names of categories.
NUMERIC, CATEGORICAL, TEXT = "numeric", "categorical", "text"


@dataclass(frozen=True)
class Schema:
    """What a file for prediction must look like; saved with a model as plain values.

    Attributes
    ----------
    layout : {"columns", "dense", "sparse"}
        Of `X`: named columns in a data frame, or the features of a LIBSVM file as an array (if
        most of them are nonzero) or as a sparse matrix.
    features : tuple of str
        Names of the features; for a LIBSVM file, their numbers.
    column_types : tuple of str
        "numeric", "categorical" or "text", one per feature.
    categories : mapping from str to tuple of str
        The values seen for each categorical feature.
    target : str or None
        Name of the column with the labels; None for LIBSVM files.
    classes : tuple of int or str
        Empty for a regression.
    missing : tuple of str
        Markers of missing values in addition to the usual ones.
    others : tuple of str
        Columns of the training file that are neither features nor the target.
    task : {"classification", "regression"}
    written : mapping from str to str
        For each column whose numbers are not written like 1234.5, an example of how they are.
    marks : mapping from str to tuple of str
        Texts that stand for missing values among the numbers of a column.
    """

    layout: str
    features: tuple[str, ...]
    column_types: tuple[str, ...]
    categories: Mapping[str, tuple[str, ...]]
    target: str | None
    classes: tuple[int | str, ...]
    missing: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    task: str = CLASSIFICATION
    written: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The schema as plain data for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Schema:
        """The schema from the data that :meth:`to_json` returned."""
        return cls(
            layout=str(values["layout"]),
            features=tuple(values["features"]),
            # Models that were saved earlier call them kinds.
            column_types=tuple(values.get("column_types") or values["kinds"]),
            categories={name: tuple(found) for name, found in values["categories"].items()},
            target=values["target"],
            classes=tuple(values["classes"]),
            missing=tuple(values["missing"]),
            others=tuple(values.get("others", ())),
            task=str(values.get("task", CLASSIFICATION)),
            written=dict(values.get("written", {})),
            marks={name: tuple(texts) for name, texts in values.get("marks", {}).items()},
        )

    def named(self, column_type: str) -> list[str]:
        """The names of the features of a type."""
        both = zip(self.features, self.column_types, strict=True)
        return [name for name, own in both if own == column_type]


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a file.

    Attributes
    ----------
    X : pandas.DataFrame, ndarray or scipy.sparse.csr_matrix
        According to ``schema.layout``.  Numeric columns are floats, all others text; NaN where a
        value is missing, except in columns of type "text", where it is empty.
    y : ndarray of int or str, or of float, or None
        Labels, or numbers for a regression; None if a file for prediction has none.
    schema : Schema
    source : str
        Where the rows come from, for messages.
    scores, weights, groups, ids : ndarray or None
        Importance scores in [0, 1], instance weights, the group of each row, and its name.
    missing : mapping from str to int
        How many values are missing, for each feature that lacks any.
    notes : tuple of str
        What the user should know, one sentence each.
    rows : ndarray of int or None
        The number of each row in the file, from 1; None if no rows were left out.
    n_unlabelled : int
        How many rows of the file were left out, as they have no label.
    why_task : str
        Which task was chosen, and why, in a sentence or two; empty if it was asked for.
    given : ndarray or None
        The labels in the file, if some in `y` are corrected.
    """

    X: Any
    y: np.ndarray | None
    schema: Schema
    source: str
    scores: np.ndarray | None = None
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None
    ids: np.ndarray | None = None
    missing: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    rows: np.ndarray | None = None
    n_unlabelled: int = 0
    why_task: str = ""
    given: np.ndarray | None = None

    @property
    def task(self) -> str:
        """What a model is trained for: "classification" or "regression"."""
        return self.schema.task

    @property
    def row_numbers(self) -> np.ndarray:
        """The number of each row in the file, counted from 1."""
        return np.arange(1, self.n_rows + 1) if self.rows is None else self.rows

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of `X`."""
        return self.schema.features

    @property
    def column_types(self) -> tuple[str, ...]:
        """Types of the columns of `X`."""
        return self.schema.column_types
