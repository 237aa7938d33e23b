"""Left-out figures of a selected regression: residuals, prediction intervals, odd values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from spansvm import SpanSVR
from spansvm.blocks import tenths, wilson_interval
from spansvm.models import MOST_FOLLOWED

from ..common.types import Array
from ..studies.columns import column_of
from ..studies.covered import LEVELS, Covered
from ..studies.target_errors import TargetErrors, errors_of
from .plain import cut, plain
from .suspicious import choose_features, shown_value

__all__ = [
    "DoubtfulRow",
    "DoubtfulTable",
    "IntervalFigures",
    "IntervalLevel",
    "TargetFigures",
    "TrainedRegression",
    "describe_intervals",
    "describe_targets",
    "describe_trained_regression",
    "list_doubtful",
]

#: Points that charts show at most.
_MOST_POINTS = 1500

#: By which measure features are chosen for the table.
_MEASURE = "share of the variance of the target's tenths that a feature alone explains"

#: Rows listed at most; residuals of so many spreads are doubtful.
_MOST_ROWS, _DOUBTFUL = 50, 3.0


#: A multiplier this close to its bound, as a share of that, is at it.
_ROUNDING = 1e-7


@dataclass(frozen=True)
class TargetFigures:
    """Left-out predictions of the rows with positive weight.

    Attributes
    ----------
    errors : TargetErrors
        Root mean squared and mean absolute error, R2, with 95% CIs.
    mean_error : float
        Root mean squared error of predicting the mean of the other rows.
    target_low, target_high, target_mean, target_spread : float
        Of the targets; the last one is their standard deviation.
    residual_spread : float
        1.4826 times the median size of a residual.
    points : list of list of float
        Actual and predicted value of the rows that charts show.
    n_support, n_in_bound, n_bounded : int
        Support vectors, in all and by kind.
    exact : bool
        Whether every removal was followed; if not, the span predicts left-out values.
    """

    errors: TargetErrors
    mean_error: float
    target_low: float
    target_high: float
    target_mean: float
    target_spread: float
    residual_spread: float
    points: list[list[float]]
    n_support: int
    n_in_bound: int
    n_bounded: int
    exact: bool

    @property
    def n_rows(self) -> int:
        """How many rows were left out."""
        return self.errors.n_rows

    @property
    def n_inside(self) -> int:
        """How many rows are no support vectors: the model is the same without them."""
        return self.n_rows - self.n_support

    def rmse_of(self, unexplained: float) -> float:
        """The root mean squared error that leaves this share of the variance unexplained."""
        return float(self.target_spread * np.sqrt(unexplained))


@dataclass(frozen=True)
class IntervalLevel:
    """Prediction intervals of one confidence level: what they promise, and what was found.

    Attributes
    ----------
    level, coverage : float
        The share of new values that they promise to contain, and that of rows of other folds.
    coverage_interval : list of float
        Wilson's 95% CI.
    width : float
        About how wide those of the selected model are: twice the quantile of its left-out
        residuals.
    """

    level: float
    coverage: float
    coverage_interval: list[float]
    width: float


@dataclass(frozen=True)
class IntervalFigures:
    """Prediction intervals for rows that models of the other folds had not seen.

    Attributes
    ----------
    n_rows, n_folds : int
    levels : list of IntervalLevel
    shown : float
        The level of the rows that follow.
    rows : list of list of float
        Actual and predicted value, lower and upper end, by increasing prediction.
    """

    n_rows: int
    n_folds: int
    levels: list[IntervalLevel]
    shown: float
    rows: list[list[float]]

    def at(self, level: float) -> IntervalLevel:
        """The figures of one level."""
        return next(one for one in self.levels if one.level == level)


@dataclass(frozen=True)
class TrainedRegression:
    """A model that was trained on more rows than were searched, and its left-out errors."""

    n_rows: int
    errors: TargetErrors


@dataclass(frozen=True)
class DoubtfulRow:
    """One row: its name, its value, what the others predict, and how far apart they are."""

    row: int
    row_id: Any
    actual: float
    predicted: float
    residual: float
    in_spreads: float
    features: list[Any]


@dataclass(frozen=True)
class DoubtfulTable:
    """Rows whose values the others contradict most, by decreasing residual.

    Attributes
    ----------
    features : list of str
    choice : str
        Which features are shown, in words.
    n_doubtful : int
        How many residuals are larger than three of their spreads.
    rows : list of DoubtfulRow
    """

    features: list[str]
    choice: str
    n_doubtful: int
    rows: list[DoubtfulRow]


def left_out_of(model: SpanSVR) -> tuple[Array, Array, np.ndarray]:
    """Targets and left-out predictions of the rows that count, and which rows these are."""
    asked = model if _is_exact(model) else model.without_training_rows(exact=False)
    left_out = asked.left_out_
    rows = np.flatnonzero(left_out.used)
    return left_out.targets[rows], left_out.predictions[rows], rows


def _is_exact(model: SpanSVR) -> bool:
    return model.left_out_sets_ is not None or int(model.shape_fit_[0]) <= MOST_FOLLOWED


def describe_targets(model: SpanSVR, units: np.ndarray | None = None) -> TargetFigures:
    """Left-out figures of a fitted model; `units` number the groups of all rows, if any."""
    actual, predicted, rows = left_out_of(model)
    n = actual.size
    residuals = actual - predicted
    without = (actual.sum() - actual) / max(n - 1, 1)
    few = np.linspace(0, n - 1, min(n, _MOST_POINTS)).round().astype(int)
    coefficients = np.abs(np.asarray(_dense(model.dual_coef_)).ravel())
    bounds = model.machines_.bounds[model.support_]
    n_bounded = int((coefficients >= bounds * (1.0 - _ROUNDING)).sum())
    return TargetFigures(
        errors=errors_of(actual, predicted, None if units is None else units[rows]),
        mean_error=float(np.sqrt(((actual - without) ** 2).mean())),
        target_low=float(actual.min()),
        target_high=float(actual.max()),
        target_mean=float(actual.mean()),
        target_spread=float(actual.std()),
        residual_spread=_spread(residuals),
        points=np.column_stack((actual, predicted))[few].tolist(),
        n_support=int(model.support_.size),
        n_in_bound=int(model.support_.size) - n_bounded,
        n_bounded=n_bounded,
        exact=_is_exact(model),
    )


def _dense(values: Any) -> Any:
    return values.toarray() if sparse.issparse(values) else values


def _spread(residuals: Array) -> float:
    """The standard deviation of normal residuals, whatever a few odd ones are."""
    spread = 1.4826 * float(np.median(np.abs(residuals)))
    return spread if spread > 0.0 else float(np.sqrt((residuals**2).mean()))


def describe_trained_regression(model: SpanSVR) -> TrainedRegression:
    """Rows and left-out errors of a fitted model."""
    actual, predicted, _ = left_out_of(model)
    return TrainedRegression(actual.size, errors_of(actual, predicted))


def describe_intervals(covered: Covered, model: SpanSVR) -> IntervalFigures:
    """What was found of intervals in folds, and how wide those of the selected model are."""
    n = covered.actual.size
    actual, predicted, _ = left_out_of(model)
    sizes = np.sort(np.abs(actual - predicted))
    levels = []
    for number, level in enumerate(LEVELS):
        low, high = covered.ends[:, 0, number], covered.ends[:, 1, number]
        share = float(((low <= covered.actual) & (covered.actual <= high)).mean())
        levels.append(
            IntervalLevel(
                level, share, list(wilson_interval(share, n)), 2.0 * _quantile(sizes, level)
            )
        )
    shown = 0.9
    ends = covered.ends[:, :, LEVELS.index(shown)]
    order = np.argsort(covered.predicted, kind="stable")
    order = order[np.linspace(0, n - 1, min(n, 150)).round().astype(int)]
    rows = np.column_stack((covered.actual, covered.predicted, ends))[order]
    return IntervalFigures(n, covered.n_folds, levels, shown, rows.tolist())


def _quantile(sizes: Array, level: float) -> float:
    """The size that so many residuals do not exceed, as intervals count them."""
    n = sizes.size
    return float(sizes[min(int(np.ceil(level * (n + 1))), n) - 1])


def list_doubtful(
    model: SpanSVR, X: Any, row_ids: Sequence[Any], feature_names: Sequence[str]
) -> DoubtfulTable:
    """The rows whose values the others contradict most.

    Parameters
    ----------
    model : SpanSVR
    X : array-like, sparse matrix or data frame
        The rows as the user knows them, before any transformer.
    row_ids, feature_names : sequence
        One per row, and one per column; no names if the columns mean nothing to a reader.
    """
    actual, predicted, rows = left_out_of(model)
    residuals = actual - predicted
    spread = _spread(residuals) or 1.0
    sizes = np.abs(residuals) / spread
    order = np.argsort(-sizes, kind="stable")[:_MOST_ROWS]
    X = X.tocsc() if sparse.issparse(X) else X
    strata = tenths(np.asarray(model.machines_.targets[:, 0]))
    shown, choice = choose_features(X, strata, feature_names, _MEASURE)
    values = [column_of(X, index) for index in shown]
    return DoubtfulTable(
        features=[cut(feature_names[index]) for index in shown],
        choice=choice,
        n_doubtful=int((sizes > _DOUBTFUL).sum()),
        rows=[
            DoubtfulRow(
                row=int(rows[at]),
                row_id=shown_value(row_ids[rows[at]]),
                actual=plain(actual[at]),
                predicted=plain(predicted[at]),
                residual=plain(residuals[at]),
                in_spreads=plain(residuals[at] / spread),
                features=[shown_value(column[rows[at]]) for column in values],
            )
            for at in order
        ],
    )
