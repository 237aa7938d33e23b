"""What the decisions for left-out rows are worth: precision and recall, thresholds, costs.

If missing a row of the positive class costs r times as much as a false alarm, the cheapest decision
is to raise the alarm wherever its probability is at least 1 / (1 + r).  The probabilities are the
calibrated ones of the left-out rows: the threshold follows from the costs alone and is not fitted
to the rows that it is evaluated on.  It applies to what ``predict_calibrated_proba`` says of new
rows, and is a threshold of their decision values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve

from spansvm.blocks import wilson_interval

from ..common.positive import positive_class
from ..common.types import Array, Mask
from .subject import Subject

__all__ = [
    "UNEQUAL",
    "ClassRates",
    "CostStep",
    "Costs",
    "Decisions",
    "Precision",
    "rate_decisions",
]

#: How many times one error may cost the other, in steps of a tenth of a power of ten.
_TIMES = tuple(float(f"{10 ** (step / 10):.2g}") for step in range(21))

#: Points of a curve; with more classes than this, curves cannot be told apart.
_CURVE_POINTS, _MOST_CURVES = 200, 6

#: A class with fewer rows than this share of those of the largest makes classes unequal.
UNEQUAL = 2.0 / 3.0


@dataclass(frozen=True)
class ClassRates:
    """How often a class is found, and how often it is meant when it is said; with 95% CIs.

    `precision` is None for a class that is never predicted.
    """

    label: Any
    n_rows: int
    n_predicted: int
    n_right: int
    precision: float | None
    precision_interval: list[float] | None
    recall: float
    recall_interval: list[float]
    f1: float


@dataclass(frozen=True)
class Precision:
    """Precision against recall of one class; `at` is the model's own (recall, precision)."""

    label: Any
    share: float
    recall: list[float]
    precision: list[float]
    average: float
    at: list[float] | None


@dataclass(frozen=True)
class CostStep:
    """The decisions for one ratio of costs.

    Attributes
    ----------
    ratio : float
        The cost of a missed row of the positive class, in false alarms.
    threshold : float
        The probability of the positive class from which it is predicted.
    decision : float or None
        The decision value at that probability: from there on, in the direction of the positive
        class, it is predicted.  None if the probability does not depend on it.
    n_missed, n_alarms : int
        Rows of the positive class that are missed; others that are taken for it.
    missed, alarms : float
        The same as shares of the rows of the class in question.
    cost : float
        Mean cost of a row, where the cheaper of the two errors costs 1.
    own_cost, never_cost, always_cost : float
        The same for the model's own decisions, and for never or always predicting the positive
        class.
    """

    ratio: float
    threshold: float
    decision: float | None
    n_missed: int
    n_alarms: int
    missed: float
    alarms: float
    cost: float
    own_cost: float
    never_cost: float
    always_cost: float


@dataclass(frozen=True)
class Costs:
    """Decisions between two classes for ratios of their costs, from 1/100 to 100.

    Attributes
    ----------
    label, other : object
        The positive class, and the other.
    rises : bool
        Whether decision values are larger for the positive class.
    n_rows, n_other : int
        How many rows they have.
    own : list of int
        Missed rows and false alarms of the model's own decisions.
    steps : list of CostStep
    """

    label: Any
    other: Any
    rises: bool
    n_rows: int
    n_other: int
    own: list[int]
    steps: list[CostStep]


@dataclass(frozen=True)
class Decisions:
    """Rates of all classes; curves if the classes are unequal and few; costs if there are two."""

    rates: list[ClassRates]
    curves: list[Precision]
    costs: Costs | None


def rate_decisions(subject: Subject) -> Decisions:
    """Rates, curves and costs of the left-out rows of a subject."""
    own, n_classes = subject.indices, subject.classes.size
    labels = subject.left_out.labels(np.arange(n_classes), subject.model.break_ties)
    # A value of exactly 0 is an error, whatever the label that it goes with.
    said = np.where(subject.wrong & (labels == own) & (n_classes == 2), 1 - own, labels)
    sizes = np.bincount(own, minlength=n_classes)
    rates = [
        _rates(subject.classes[index], own == index, said == index) for index in range(n_classes)
    ]
    # By the sigmoids of the model that is used, so that a threshold is one of decision values.
    left_out = subject.left_out
    probabilities = left_out.calibration.calibrated(left_out.values.comparable)
    curves = []
    if n_classes <= _MOST_CURVES and sizes.min() < UNEQUAL * sizes.max():
        shown = [positive_class(subject.classes, sizes)] if n_classes == 2 else range(n_classes)
        curves = [_curve(subject, index, probabilities, said) for index in shown]
    costs = _costs(subject, said, probabilities) if n_classes == 2 else None
    return Decisions(rates, curves, costs)


def _rates(label: Any, own: Mask, said: Mask) -> ClassRates:
    n, n_said, right = int(own.sum()), int(said.sum()), int((own & said).sum())
    precision = right / n_said if n_said else None
    return ClassRates(
        label, n, n_said, right, precision,
        None if precision is None else list(wilson_interval(precision, n_said)),
        right / n, list(wilson_interval(right / n, n)), 2 * right / (n + n_said),
    )  # fmt: skip


def _curve(subject: Subject, index: int, probabilities: Array, said: np.ndarray) -> Precision:
    own = subject.indices == index
    values = probabilities[:, index]
    if subject.classes.size == 2:
        # Not rounded to probabilities: a sigmoid is flat at its ends.
        values = subject.left_out.values.comparable[:, 0] * (1.0 if index == 1 else -1.0)
    precision, recall, _ = precision_recall_curve(own, values)
    kept = np.unique(np.linspace(0, recall.size - 1, _CURVE_POINTS).round().astype(int))
    right, n_said = int((own & (said == index)).sum()), int((said == index).sum())
    return Precision(
        subject.classes[index], float(own.mean()), recall[kept].tolist(), precision[kept].tolist(),
        float(average_precision_score(own, values)),
        [right / int(own.sum()), right / n_said] if n_said else None,
    )  # fmt: skip


def _costs(subject: Subject, said: np.ndarray, probabilities: Array) -> Costs:
    sizes = np.bincount(subject.indices)
    positive = positive_class(subject.classes, sizes)
    own, probability = subject.indices == positive, probabilities[:, positive]
    n, n_other = int(own.sum()), int((~own).sum())
    missed, alarms = int((own & (said != positive)).sum()), int((~own & (said == positive)).sum())
    sigmoid = subject.left_out.calibration.sigmoids[0]
    sign = 1.0 if positive == 1 else -1.0

    def cost(ratio: float, n_missed: int, n_alarms: int) -> float:
        return (ratio * n_missed + n_alarms) / (min(ratio, 1.0) * own.size)

    def step(ratio: float) -> CostStep:
        threshold = 1.0 / (1.0 + ratio)
        alarm = probability >= threshold
        logit = sign * math.log(threshold / (1.0 - threshold))
        decision = (logit - sigmoid.offset) / sigmoid.slope if sigmoid.slope > 0 else None
        n_missed, n_alarms = int((own & ~alarm).sum()), int((~own & alarm).sum())
        return CostStep(
            ratio, threshold, decision, n_missed, n_alarms, n_missed / n, n_alarms / n_other,
            cost(ratio, n_missed, n_alarms), cost(ratio, missed, alarms), cost(ratio, n, 0),
            cost(ratio, 0, n_other),
        )  # fmt: skip

    ratios = [*(1.0 / times for times in reversed(_TIMES[1:])), *_TIMES]
    return Costs(
        subject.classes[positive], subject.classes[1 - positive], positive == 1, n, n_other,
        [missed, alarms], [step(ratio) for ratio in ratios],
    )  # fmt: skip
