"""What a model says of rows that it did not see: all that it is judged by.

Values come from somewhere: :class:`SpanValues` predicts them for training rows that are left out,
:func:`exact_left_out` follows them exactly, and test rows of a fold simply have theirs.  Each is
held in three forms, as errors, decision values and ranks need their own.  Nothing of that knows
classes.  What values mean for a classifier (errors, margins, hinge loss, probabilities) is in
:class:`LeftOutClasses`, which the estimator, the search, the report and the figures share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ._typing import Array, Mask
from .calibration import PairSigmoids, fit_sigmoid, limit_outliers
from .machines import TrainedMachines
from .pairs import class_pairs, errors, labels
from .values import LeftOutValues, exact_values, left_out_values

__all__ = ["LeftOutClasses", "SpanValues", "StoredValues", "exact_left_out", "span_left_out",
           "tested"]  # fmt: skip


class Values(Protocol):
    """Values of all machines for rows that they did not see, each form for its purpose.

    Attributes
    ----------
    counted : ndarray of shape (n, n_pairs)
        To count errors by.
    decision : ndarray of shape (n, n_pairs)
        To be decision values.
    comparable : ndarray of shape (n, n_pairs)
        To be ranked, or made probabilities of.
    calibration : PairSigmoids
        From comparable values to probabilities.
    """

    @property
    def counted(self) -> Array: ...
    @property
    def decision(self) -> Array: ...
    @property
    def comparable(self) -> Array: ...
    @property
    def calibration(self) -> PairSigmoids: ...


class SpanValues:
    """Of the training rows, each left out: by the span, computed when first asked for."""

    def __init__(self, machines: TrainedMachines) -> None:
        self._machines = machines

    @cached_property
    def counted(self) -> Array:
        """As the span-rule counts (Corollary 1)."""
        with self._machines.holding_grams():
            models = self._machines.models()
            self._spans = [model.spans for model in models]
            return self._machines.of_all_rows([spans.decision for spans in self._spans])

    @cached_property
    def _values(self) -> list[LeftOutValues]:
        self.counted  # noqa: B018 - sets the spans
        return [
            left_out_values(model.gram, model.solution, spans)
            for model, spans in zip(self._machines.models(), self._spans, strict=True)
        ]

    @cached_property
    def decision(self) -> Array:
        """From the machines without the row.

        Followed exactly where the span is doubtful, but for rows of which the rule says the
        other class: as it says.
        """
        with self._machines.holding_grams():
            values = self._machines.of_all_rows([pair.decision for pair in self._values])
        return np.where((values > 0.0) == (self.counted > 0.0), values, self.counted)

    @cached_property
    def comparable(self) -> Array:
        """As the machines themselves would say them of new rows.

        Followed exactly where the span is doubtful, and without the shift that the removal gives
        to all rows.
        """
        with self._machines.holding_grams():
            return self._machines.of_all_rows([pair.comparable for pair in self._values])

    @cached_property
    def calibration(self) -> PairSigmoids:
        """From the value of each pair to the probability of its second class.

        With k classes, k - 1 pairs go into the probability of each class, and their priors add
        up; a pseudo-count of 1 / (2 (k - 1)) gave a smaller log loss than Platt's 1 does.
        """
        machines, sigmoids = self._machines, []
        prior = 0.5 / (machines.n_classes - 1)
        for column, ((_, second), rows) in enumerate(machines.pairs):
            used = rows & (machines.bounds > 0)
            positive = machines.indices[used] == second
            plain = machines.solutions[column].decision[used[rows]]
            values = limit_outliers(self.comparable[used, column], plain, positive)
            sigmoids.append(fit_sigmoid(values, positive, prior))
        return PairSigmoids(sigmoids, machines.n_classes)


@dataclass(frozen=True, eq=False)
class StoredValues:
    """Values that are all computed."""

    counted: Array
    decision: Array
    comparable: Array
    calibration: PairSigmoids


@dataclass(frozen=True, eq=False)
class _CalibratedBySpan:
    """Values from elsewhere; probabilities are calibrated on what the span says of the rows."""

    counted: Array
    decision: Array
    comparable: Array
    span: SpanValues

    @property
    def calibration(self) -> PairSigmoids:
        return self.span.calibration


class LeftOutClasses:
    """What a classifier says of rows that it did not see.

    Parameters
    ----------
    values : Values
    indices : ndarray of shape (n,)
        The class of every row; -1 for one that the classifier does not know.
    n_classes : int
    used : ndarray of bool of shape (n,)
        Which rows count.
    zero_is_lost : bool, default=True
        Whether, of two classes, a value of exactly 0 is an error, whichever the class.  The rule
        counts so; test rows are counted as they are predicted.
    """

    def __init__(
        self,
        values: Values,
        indices: np.ndarray,
        n_classes: int,
        used: Mask,
        zero_is_lost: bool = True,
    ) -> None:
        self.values, self.indices, self.n_classes = values, indices, n_classes
        self.used, self.zero_is_lost = used, zero_is_lost

    def labels(self, classes: np.ndarray, break_ties: bool = False) -> np.ndarray:
        """The predicted classes."""
        return labels(self.values.counted, classes, break_ties)

    def wrong(self, break_ties: bool = False) -> Mask:
        """Which rows are not given to their own class."""
        if self.zero_is_lost:
            return errors(self.values.counted, self.indices, self.n_classes, break_ties)
        return self.labels(np.arange(self.n_classes), break_ties) != self.indices

    def error(self, break_ties: bool = False, weight: Array | None = None) -> float:
        """Share of the rows that count which are wrong, or of their weights."""
        weight = None if weight is None else weight[self.used]
        return float(np.average(self.wrong(break_ties)[self.used], weights=weight))

    @property
    def hinge(self) -> float:
        """Mean hinge loss; a row counts in the pairs that have its class."""
        total, number = 0.0, 0
        for rows, margins in self._margins(self.values.counted):
            losses = np.maximum(0.0, 1.0 - margins[rows & self.used])
            total += float(losses.sum())
            number += losses.size
        return total / number if number else np.nan

    @property
    def margin(self) -> Array:
        """The least value for the own class over its pairs; NaN for rows that do not count."""
        result = np.where(self.used, np.inf, np.nan)
        for rows, margins in self._margins(self.values.decision):
            result[rows] = np.minimum(result, margins)[rows]
        return result

    def _margins(self, values: Array) -> Iterator[tuple[Mask, Array]]:
        """For every pair its rows, and values that are positive for the own class."""
        for (first, second), column in zip(class_pairs(self.n_classes), values.T, strict=True):
            rows = (self.indices == first) | (self.indices == second)
            yield rows, np.where(self.indices == second, column, -column)

    @property
    def probabilities(self) -> Array:
        """Calibrated probabilities of the classes."""
        return self.values.calibration(self.values.comparable)

    def stored(self) -> LeftOutClasses:
        """The same with everything computed."""
        own = self.values
        values = StoredValues(own.counted, own.decision, own.comparable, own.calibration)
        return LeftOutClasses(values, self.indices, self.n_classes, self.used, self.zero_is_lost)


def span_left_out(machines: TrainedMachines, used: Mask | None = None) -> LeftOutClasses:
    """The training rows of machines, each left out, as the span predicts.

    Rows that count are those of positive weight, unless `used` says otherwise.
    """
    used = machines.bounds > 0 if used is None else used
    return LeftOutClasses(SpanValues(machines), machines.indices, machines.n_classes, used)


def exact_left_out(machines: TrainedMachines, used: Mask) -> LeftOutClasses:
    """The same, every removal followed exactly."""
    pairs = [exact_values(model.gram, model.solution) for model in machines.models()]
    decision = machines.of_all_rows([pair.decision for pair in pairs])
    comparable = machines.of_all_rows([pair.comparable for pair in pairs])
    values = _CalibratedBySpan(decision, decision, comparable, SpanValues(machines))
    return LeftOutClasses(values, machines.indices, machines.n_classes, used)


def tested(machines: TrainedMachines, values: Array, indices: np.ndarray) -> LeftOutClasses:
    """Test rows: one model says all of their values, so they are comparable as they are."""
    every = np.ones(indices.size, dtype=np.bool_)
    held = _CalibratedBySpan(values, values, values, SpanValues(machines))
    return LeftOutClasses(held, indices, machines.n_classes, every, zero_is_lost=False)
