"""What the file of a regression records of its training: errors, and a fingerprint of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .training_record import Record

__all__ = ["RegressionRecord"]


@dataclass(frozen=True)
class RegressionRecord(Record):
    """The training of a regression, as plain data.

    Attributes
    ----------
    source, fingerprint : str
        Name of the training file, and a checksum of its rows.
    n_rows : int
    setting : str
        The selected parameters in words.
    selected_by : str
        The score.
    left_out_name : str
        What the error of left-out rows is called.
    expected : dict
        ``rmse``, ``r2`` and their intervals to expect on new rows, ``corrected`` or not.
    left_out : dict
        ``rmse``, ``mae``, ``r2`` and their intervals for left-out rows.
    mean_rmse : float
        The error of predicting the mean.
    n_searched : int
        How many of the rows were searched.  All errors are those of a model trained on these.
    trained : dict or None
        If that was a sample: the left-out errors of the model itself.
    stopped : str
        Why the search did not evaluate all candidates; empty if it did.
    """

    source: str
    fingerprint: str
    n_rows: int
    setting: str
    selected_by: str
    left_out_name: str
    expected: dict[str, Any]
    left_out: dict[str, Any]
    mean_rmse: float
    n_searched: int
    trained: dict[str, Any] | None = None
    stopped: str = ""
