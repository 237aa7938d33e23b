"""What a model file records of its training: every estimate, and a fingerprint of the rows.

It is part of the metadata that :func:`spansvm.models.save_model` keeps.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spansvm.errors import UserError

from ..report.loo_figures import TrainedModel
from ..report.searched import JudgedError, ReportedScore
from ..tables import Table

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Record", "TrainingRecord", "fingerprint"]


@dataclass(frozen=True)
class Record:
    """The training of a model, as plain data; its fields depend on the task."""

    @classmethod
    def of(cls, training: Any, path: Path) -> Self | None:
        """The record in a model file; None if it has none, as when saved from Python."""
        if training is None:
            return None
        try:
            return cls.from_json(dict(training))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UserError(
                f"The training record in {path} is damaged; run spansvm tune again."
            ) from error

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """The record from its plain data."""
        return cls(**values)


@dataclass(frozen=True)
class TrainingRecord(Record):
    """The training of a model, as plain data.

    Attributes
    ----------
    source : str
        Name of the training file.
    fingerprint : str
        Of its rows, by :func:`fingerprint`.
    n_rows : int
    setting : str
        The selected parameters in words.
    left_out_name : str
        What the span-rule's error is called: the leave-one-out error, unless the method computes
        that differently.
    loo_error : float
        By the span-rule.
    loo_interval : list of float
    majority_error : float
    judged : JudgedError or None
        The error found by the search's method, if that is not the span-rule.
    selected_by : str
        The score.
    estimates : list of dict
        ``label``, ``value`` and ``meaning`` of every estimate; empty for more than two classes.
    n_searched : int or None
        How many of the rows were searched.  All estimates are those of a model trained on these.
    trained : TrainedModel or None
        If that was a sample: the left-out errors of the model itself.
    corrected : ReportedScore or None
        The score, or the error, corrected for being the best of many candidates.
    corrected_name : str
    stopped : str
        Why the search did not evaluate all candidates; empty if it did.
    """

    source: str
    fingerprint: str
    n_rows: int
    setting: str
    left_out_name: str
    loo_error: float
    loo_interval: list[float]
    majority_error: float
    judged: JudgedError | None
    selected_by: str
    estimates: list[dict[str, Any]]
    n_searched: int | None = None
    trained: TrainedModel | None = None
    corrected: ReportedScore | None = None
    corrected_name: str = ""
    stopped: str = ""

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> TrainingRecord:
        """The record from its plain data."""
        judged, trained = values.pop("judged"), values.pop("trained", None)
        corrected = values.pop("corrected", None)
        return cls(
            **values,
            judged=None if judged is None else JudgedError(**judged),
            trained=None if trained is None else TrainedModel(**trained),
            corrected=None if corrected is None else ReportedScore(**corrected),
        )


def fingerprint(table: Table, *, with_roles: bool = False) -> str:
    """A checksum of labels and features; equal for equal rows in the same order.

    With roles, also of weights, scores and groups.
    """
    digest = hashlib.sha256()
    if with_roles:
        for values in (table.weights, table.scores, table.groups):
            digest.update(repr(None if values is None else values.tolist()).encode())
    digest.update("\0".join(str(label) for label in np.asarray(table.y).tolist()).encode())
    if sparse.issparse(table.X):
        rows = sparse.csr_matrix(table.X)
        for part in (rows.indptr, rows.indices):
            digest.update(part.astype("<i8").tobytes())
        digest.update(rows.data.astype("<f8").tobytes())
    elif hasattr(table.X, "columns"):
        for name in table.feature_names:
            column = table.X[name]
            if column.dtype == object:
                digest.update("\0".join(str(value) for value in column).encode())
            else:
                digest.update(column.to_numpy(dtype="<f8").tobytes())
    else:
        digest.update(np.ascontiguousarray(table.X, dtype="<f8").tobytes())
    return digest.hexdigest()
