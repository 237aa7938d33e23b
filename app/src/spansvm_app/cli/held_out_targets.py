"""Errors of a trained regression on rows of another file with known targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spansvm.blocks import wilson_interval
from spansvm.models import interval_of

from ..studies.target_errors import errors_of
from ..tables import Table
from .held_out import score_or_none

__all__ = ["LEVEL", "HeldOutTargets", "held_out_targets"]

#: The confidence level of prediction intervals if none is asked for.
LEVEL = 0.9


@dataclass(frozen=True)
class HeldOutTargets:
    """How a regression performs on held-out rows.

    Attributes
    ----------
    n_rows : int
    rmse, mae : float
        Root mean squared and mean absolute error.
    r2 : float or None
        None if all targets are equal.
    rmse_interval, mae_interval, r2_interval : list of float
        95% CIs.
    mean_rmse : float
        Error of always predicting the mean of these rows.
    level : float
        Of the prediction intervals.
    coverage : float or None
        The share of targets that they contain; None if the model has no intervals.
    coverage_interval : list of float or None
        Wilson's 95% CI.
    width : float or None
        Their median width.
    score_name : str
        The score by which the model was selected.
    score : float or None
    source : str
        The file.
    """

    n_rows: int
    rmse: float
    mae: float
    r2: float | None
    rmse_interval: list[float]
    mae_interval: list[float]
    r2_interval: list[float] | None
    mean_rmse: float
    level: float
    coverage: float | None
    coverage_interval: list[float] | None
    width: float | None
    score_name: str
    score: float | None
    source: str


def held_out_targets(model: Any, table: Table, scorer: Any, score_name: str) -> HeldOutTargets:
    """Predict rows with known targets, and score the predictions.

    Parameters
    ----------
    model : estimator
    table : Table
    scorer : callable or None
    score_name : str
    """
    actual = np.asarray(table.y, dtype=np.float64)
    errors = errors_of(actual, np.asarray(model.predict(table.X)))
    ends = interval_of(model, table.X, LEVEL)
    coverage = coverage_interval = width = None
    if ends is not None:
        coverage = float(((ends[:, 0] <= actual) & (actual <= ends[:, 1])).mean())
        coverage_interval = list(wilson_interval(coverage, actual.size))
        width = float(np.median(ends[:, 1] - ends[:, 0]))
    return HeldOutTargets(
        n_rows=actual.size,
        rmse=errors.rmse,
        mae=errors.mae,
        r2=errors.r2,
        rmse_interval=errors.rmse_interval,
        mae_interval=errors.mae_interval,
        r2_interval=errors.r2_interval,
        mean_rmse=float(actual.std()),
        level=LEVEL,
        coverage=coverage,
        coverage_interval=coverage_interval,
        width=width,
        score_name=score_name,
        score=None if scorer is None else score_or_none(scorer, model, table.X, actual),
        source=table.source,
    )
