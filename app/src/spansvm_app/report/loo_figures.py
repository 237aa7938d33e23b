"""Leave-one-out figures and curves of the selected model, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import brier_score_loss, roc_auc_score, roc_curve

from spansvm import SpanSVC
from spansvm.blocks import wilson_interval
from spansvm.display import Margins, count_margins

from ..common.positive import positive_class
from ..common.types import Array
from ..studies.decisions import UNEQUAL
from ..studies.paired import QUANTILE
from .plain import cut

__all__ = [
    "FEW_IN_CLASS",
    "Calibration",
    "ClassFigures",
    "LeaveOneOutFigures",
    "Operation",
    "TrainedModel",
    "describe_leave_one_out",
    "describe_trained",
]

#: Bars of the margin histogram, points of a ROC curve, groups of a calibration curve.
_BARS, _CURVE_POINTS, _GROUPS = 56, 200, 10

#: Probabilities no further apart are equal: they differ by rounding.
_SAME = 1e-9

#: With more classes than this, one-vs-rest curves are indistinguishable.
_MOST_CURVES = 6

#: With fewer rows in a class, no score helps: there is too little to learn from.
FEW_IN_CLASS = 5

#: Margins more than this many interquartile ranges from the median share the last bar.
_FENCE = 5.0


@dataclass(frozen=True)
class ClassFigures:
    """One class in numbers.

    Attributes
    ----------
    label : str
    n_rows, n_errors, n_support : int
        How many rows it has, how many of these are misclassified when left out, and how many are
        support vectors.
    n_predicted : int
        For how many rows of any class it is predicted when they are left out.
    n_fitted : int or None
        The same for the model that was trained on them; computed if any class is not predicted.
    """

    label: str
    n_rows: int
    n_errors: int
    n_support: int
    n_predicted: int
    n_fitted: int | None


@dataclass(frozen=True)
class Operation:
    """ROC curve of one class against the rest; `at` is the model's own operating point.

    `interval` is the 95% CI of the area by Hanley and McNeil (1982).
    """

    label: str
    false_positive: list[float]
    true_positive: list[float]
    at: list[float]
    auc: float
    interval: list[float]


@dataclass(frozen=True)
class Calibration:
    """Predicted probabilities of left-out rows against observed shares, in groups of equal size.

    `low` and `high` are Wilson's 95% CIs of the observed shares.
    """

    of: str
    predicted: list[float]
    observed: list[float]
    low: list[float]
    high: list[float]
    n_rows: list[int]
    brier: float


@dataclass(frozen=True)
class TrainedModel:
    """A model that was trained on more rows than were searched: its rows and left-out errors.

    `majority_error` is that of always predicting the largest class of these rows.
    """

    n_rows: int
    n_errors: int
    error: float
    interval: list[float]
    majority_error: float


@dataclass(frozen=True)
class LeaveOneOutFigures:
    """Leave-one-out figures of the selected model, over the rows with positive weight."""

    n_rows: int
    n_errors: int
    error: float
    interval: list[float]
    majority_error: float
    classes: list[ClassFigures]
    confusion: list[list[int]]
    margins: Margins
    operations: list[Operation]
    calibration: Calibration

    @property
    def never_said(self) -> list[ClassFigures]:
        """Classes that are not predicted for any left-out row."""
        return [one for one in self.classes if not one.n_predicted]

    @property
    def ranks(self) -> bool:
        """Whether rows of some class are ranked above the others, beyond chance."""
        return any(one.interval[0] > 0.5 for one in self.operations)

    @property
    def unequal(self) -> bool:
        """Whether some class has clearly fewer rows than another."""
        sizes = [one.n_rows for one in self.classes]
        return min(sizes) < UNEQUAL * max(sizes)

    @property
    def majority(self) -> ClassFigures:
        """The largest class."""
        return max(self.classes, key=lambda one: one.n_rows)


def describe_trained(model: SpanSVC) -> TrainedModel:
    """Rows and left-out errors of a fitted model."""
    with model.machines_.holding_grams():
        left_out = model.left_out_.stored()
    n_rows = int(left_out.used.sum())
    n_errors = int(left_out.wrong(model.break_ties)[left_out.used].sum())
    error = n_errors / n_rows
    majority = 1.0 - float(np.bincount(left_out.indices[left_out.used]).max()) / n_rows
    return TrainedModel(n_rows, n_errors, error, list(wilson_interval(error, n_rows)), majority)


def describe_leave_one_out(model: SpanSVC) -> LeaveOneOutFigures:
    """Leave-one-out figures of a fitted model."""
    left_out, names = model.left_out_, model.classes_
    counted = left_out.used
    own, margins = left_out.indices[counted], left_out.margin[counted]
    said = np.searchsorted(names, model.loo_predict_)[counted]
    wrong = left_out.wrong(model.break_ties)[counted]
    sizes = np.bincount(own, minlength=names.size)
    confusion = np.zeros((names.size, names.size), dtype=int)
    np.add.at(confusion, (own, said), 1)
    fitted = None
    if not confusion.any(axis=0).all():
        fitted = np.bincount(_fitted(model)[counted], minlength=names.size)
    probabilities = left_out.probabilities[counted]
    n_rows, n_errors = own.size, int(wrong.sum())
    return LeaveOneOutFigures(
        n_rows=n_rows,
        n_errors=n_errors,
        error=n_errors / n_rows,
        interval=list(wilson_interval(n_errors / n_rows, n_rows)),
        majority_error=1.0 - float(sizes.max()) / n_rows,
        classes=[
            ClassFigures(
                label=cut(name),
                n_rows=int(sizes[index]),
                n_errors=int(wrong[own == index].sum()),
                n_support=int(model.n_support_[index]),
                n_predicted=int(confusion[:, index].sum()),
                n_fitted=None if fitted is None else int(fitted[index]),
            )
            for index, name in enumerate(names)
        ],
        confusion=confusion.tolist(),
        margins=count_margins(margins, own, names.size, n_bars=_BARS, fence=_FENCE),
        operations=_operations(model, counted, own, said, probabilities),
        calibration=_calibration(names, own, said, probabilities),
    )


def _fitted(model: SpanSVC) -> npt.NDArray[np.intp]:
    """The index of the class that the model predicts for every training row, having seen it."""
    machines: Any = model.machines_
    own = np.concatenate([solution.decision for solution in machines.solutions])
    return machines.predicted(np.arange(machines.indices.size), own, model.break_ties)


def _operations(
    model: SpanSVC,
    counted: npt.NDArray[np.bool_],
    own: npt.NDArray[np.intp],
    said: npt.NDArray[np.intp],
    probabilities: Array,
) -> list[Operation]:
    """The curve of the positive class; of more than two classes, each one against the rest."""
    names, two = model.classes_, model.classes_.size == 2
    if names.size > _MOST_CURVES:
        return []
    result = []
    for index in [positive_class(names, np.bincount(own))] if two else range(names.size):
        positive = own == index
        values = probabilities[:, index]
        if two:
            values = model.loo_ranking_[counted] * (1.0 if index == 1 else -1.0)
        false_positive, true_positive, _ = roc_curve(positive, values)
        few = np.linspace(0, false_positive.size - 1, min(false_positive.size, _CURVE_POINTS))
        kept = np.unique(few.round().astype(int))
        at = [float((said[~positive] == index).mean()), float((said[positive] == index).mean())]
        result.append(
            Operation(
                label=cut(names[index]),
                false_positive=false_positive[kept].tolist(),
                true_positive=true_positive[kept].tolist(),
                at=at,
                auc=(area := float(roc_auc_score(positive, values))),
                interval=_interval_of_area(area, int(positive.sum()), int((~positive).sum())),
            )
        )
    return result


def _interval_of_area(area: float, n_positive: int, n_other: int) -> list[float]:
    """95% CI of an area under the ROC curve, by the formula of Hanley and McNeil (1982)."""
    first, second = area / (2.0 - area), 2.0 * area**2 / (1.0 + area)
    variance = area * (1.0 - area) + (n_positive - 1) * (first - area**2)
    variance = (variance + (n_other - 1) * (second - area**2)) / (n_positive * n_other)
    half = QUANTILE * max(variance, 0.0) ** 0.5
    return [max(area - half, 0.0), min(area + half, 1.0)]


def _groups_of_equal_size(values: Array) -> list[npt.NDArray[np.intp]]:
    """Rows from the smallest value to the largest, in groups; equal values stay together.

    Divided, they would make points at one probability whose heights tell of the order in the file.
    """
    order = np.argsort(values, kind="stable")
    rising = values[order]
    ends = np.cumsum([part.size for part in np.array_split(order, _GROUPS)])
    ends = np.searchsorted(rising, rising[ends - 1] + _SAME, side="right")
    return [rows for rows in np.split(order, np.unique(ends)) if rows.size]


def _calibration(
    names: np.ndarray,
    own: npt.NDArray[np.intp],
    said: npt.NDArray[np.intp],
    probabilities: Array,
) -> Calibration:
    """For the positive class; with more than two classes, for the predicted class."""
    if names.size == 2:
        positive = positive_class(names, np.bincount(own))
        of, values, happened = cut(names[positive]), probabilities[:, positive], own == positive
    else:
        of = "the predicted class"
        values, happened = probabilities[np.arange(own.size), said], own == said
    groups = _groups_of_equal_size(values)
    observed = [float(happened[rows].mean()) for rows in groups]
    intervals = [
        wilson_interval(share, rows.size) for share, rows in zip(observed, groups, strict=True)
    ]
    return Calibration(
        of=of,
        predicted=[float(values[rows].mean()) for rows in groups],
        observed=observed,
        low=[low for low, _ in intervals],
        high=[high for _, high in intervals],
        n_rows=[int(rows.size) for rows in groups],
        brier=float(brier_score_loss(happened, values.clip(0, 1), pos_label=True)),
    )
