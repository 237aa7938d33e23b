"""Predictions for rows that a model did not see: everything that models are evaluated by.

The values have different sources: :class:`SpanValues` predicts them for left-out training rows,
:func:`exact_left_out` follows each removal exactly, and the test rows of a fold have theirs
directly.  There are three forms of each, since errors, decision values and rankings need different
ones.  None of this depends on classes.  What the values mean for a classifier (errors, margins,
hinge loss, probabilities) is in :class:`LeftOutClasses`, which the estimator, the search, the
report and the figures share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol

import numpy as np

from ..algebra.blas import one_blas_thread
from ..common.pairs import PairRows, labels, lost, shaped
from ..common.types import Array, Mask, Rows
from ..machine.values import LeftOutValues, exact_values, left_out_values
from .calibration import PairSigmoids, fit_sigmoid, left_out_shifts, limit_outliers
from .machines import TrainedMachines

__all__ = [
    "CountedValues",
    "LeftOutClasses",
    "SpanValues",
    "StoredValues",
    "calibrate",
    "calibrated_by_span",
    "exact_left_out",
    "of_training_rows",
    "span_left_out",
]


class Values(Protocol):
    """Values of all machines for rows that they did not see, in one form for each purpose.

    Attributes
    ----------
    counted : ndarray of shape (n, n_pairs)
        For counting errors.
    decision : ndarray of shape (n, n_pairs)
        For use as decision values.
    comparable : ndarray of shape (n, n_pairs)
        For ranking and for probabilities.
    unfixed : ndarray of bool of shape (n_pairs,), or None
        Which pairs have an intercept that nothing fixes; None for none.
    counted_in : callable
        The values for counting of the rows of all pairs, one pair after the other.
    predicted : callable
        The index of the class that some rows are counted as.
    unshifted : callable
        The same with comparable values for every purpose, in pairs whose intercept nothing fixes.
    """

    @property
    def counted(self) -> Array: ...
    @property
    def decision(self) -> Array: ...
    @property
    def comparable(self) -> Array: ...
    @property
    def unfixed(self) -> Mask | None: ...
    def counted_in(self, pair_rows: PairRows) -> Array: ...
    def predicted(self, rows: Rows, n_classes: int, break_ties: bool) -> np.ndarray: ...
    def unshifted(self) -> Values: ...


class SpanValues:
    """Values of the left-out training rows, predicted by the span; computed on first access."""

    def __init__(self, machines: TrainedMachines) -> None:
        self._machines = machines
        self._found: dict[int, LeftOutValues] = {}  # by pair

    @cached_property
    def _own(self) -> Array:
        """The values that the span-rule counts, of the rows of all pairs, pair by pair."""
        return self._machines.left_out_by_span()

    @property
    def unfixed(self) -> Mask:
        """Which pairs have an intercept that nothing fixes."""
        return self._machines.unfixed

    def counted_in(self, pair_rows: PairRows) -> Array:
        """Values of the rows of all pairs, one pair after the other."""
        return self._own

    def predicted(self, rows: Rows, n_classes: int, break_ties: bool) -> np.ndarray:
        """The index of the class that some rows are counted as."""
        if "counted" in vars(self):
            return labels(self.counted[rows], np.arange(n_classes), break_ties)
        return self._machines.predicted(rows, self._own, break_ties)

    @cached_property
    def counted(self) -> Array:
        """As the span-rule counts (Corollary 1)."""
        with self._machines.holding_grams():
            return self._machines.of_all_rows(self._own)

    @property
    def _values(self) -> list[LeftOutValues]:
        with one_blas_thread:
            return [self._values_of(pair) for pair in range(self._machines.intercepts.size)]

    def _values_of(self, pair: int) -> LeftOutValues:
        """The values of the rows of one pair."""
        if pair not in self._found:
            self._found[pair] = self._find_values(pair)
        return self._found[pair]

    def _find_values(self, pair: int) -> LeftOutValues:
        model = self._machines.model(pair)
        known = self._machines.prediction(pair)
        return left_out_values(model.gram, model.solution, model.spans, predicted=known)

    @cached_property
    def decision(self) -> Array:
        """Values of the machines trained without the row.

        Followed exactly where the span is doubtful, except for rows where that would contradict
        the class predicted by the span-rule: those keep the value of the rule.
        """
        with self._machines.holding_grams():
            own = np.concatenate([pair.decision for pair in self._values])
            values = self._machines.of_all_rows(own)
        return np.where((values > 0.0) == (self.counted > 0.0), values, self.counted)

    @cached_property
    def comparable(self) -> Array:
        """Values on the scale of the machines' decision values for new rows.

        Followed exactly where the span is doubtful, and without the shift that the removal causes
        in all rows.
        """
        with self._machines.holding_grams():
            own = np.concatenate([pair.comparable for pair in self._values])
            return self._machines.of_all_rows(own)

    def comparable_in(self, pairs: Mask) -> Array:
        """Values of the rows of all pairs: comparable in some pairs, for counting in the others."""
        own = self._own.copy()
        starts = self._machines.pair_rows.starts
        with self._machines.holding_grams(), one_blas_thread:
            for pair in map(int, np.flatnonzero(pairs)):
                own[starts[pair] : starts[pair + 1]] = self._values_of(pair).comparable
        return own

    def unshifted(self) -> UnshiftedValues:
        """The same with comparable values in pairs whose intercept nothing fixes."""
        return UnshiftedValues(self)


class UnshiftedValues(SpanValues):
    """The same with comparable values for every purpose, in pairs whose intercept nothing fixes.

    Labels do not need the values of the other pairs in that form, which take longer to compute.
    """

    def __init__(self, values: SpanValues) -> None:
        super().__init__(values._machines)
        self._given = values

    def unshifted(self) -> UnshiftedValues:
        """These themselves."""
        return self

    @cached_property
    def _own(self) -> Array:
        return self._given.comparable_in(self.unfixed)

    @cached_property
    def decision(self) -> Array:
        """Values of the machines trained without the row."""
        return np.where(self.unfixed, self._given.comparable, self._given.decision)

    @cached_property
    def comparable(self) -> Array:
        """Values on the scale of the machines' decision values for new rows."""
        self._given.decision  # noqa: B018  (what is followed for them is exact here, too)
        return self._given.comparable


class CountedValues:
    """Values of which those for counting are a table of all rows and pairs."""

    def counted_in(self: Values, pair_rows: PairRows) -> Array:
        """Values for counting of the rows of all pairs, one pair after the other."""
        return self.counted[pair_rows.row, pair_rows.column]

    def predicted(self: Values, rows: Rows, n_classes: int, break_ties: bool) -> np.ndarray:
        """The index of the class that some rows are counted as."""
        return labels(self.counted[rows], np.arange(n_classes), break_ties)

    def unshifted(self: Values) -> StoredValues:
        """The same with comparable values in pairs whose intercept nothing fixes."""
        unfixed = np.zeros(1, dtype=np.bool_) if self.unfixed is None else self.unfixed
        counted, decision = (
            np.where(unfixed, self.comparable, own) for own in (self.counted, self.decision)
        )
        return StoredValues(counted, decision, self.comparable)


@dataclass(frozen=True, eq=False)
class StoredValues(CountedValues):
    """Values that have all been computed."""

    counted: Array
    decision: Array
    comparable: Array
    unfixed: Mask | None = None


def calibrate(machines: TrainedMachines, values: Values) -> PairSigmoids:
    """Sigmoids from the value of each pair to the probability of its second class.

    They are fitted on the comparable values of the left-out training rows.  With k classes, k - 1
    pairs contribute to the probability of each class, and their priors add up; a pseudo-count of
    1 / (2 (k - 1)) gave a smaller log loss than Platt's 1.
    """
    sigmoids, prior = [], 0.5 / (machines.n_classes - 1)
    pair_rows = machines.pair_rows
    shifts = np.zeros((machines.indices.size, len(pair_rows.pairs)))
    for column, (rows, solution) in enumerate(zip(pair_rows.rows, machines.solutions, strict=True)):
        present = machines.bounds[rows] > 0
        used, positive = rows[present], solution.y[present] > 0
        plain = solution.decision[present]
        comparable = values.comparable[used, column]
        own = limit_outliers(comparable, plain, positive)
        sigmoid = fit_sigmoid(own, positive, prior)
        shifts[used, column] = left_out_shifts(sigmoid, own, comparable, positive, prior)
        sigmoids.append(sigmoid)
    return PairSigmoids(sigmoids, machines.n_classes, shifts)


class LeftOutClasses:
    """Predictions of a classifier for rows that it did not see.

    Parameters
    ----------
    values : Values
    indices : ndarray of shape (n,)
        The class of every row; -1 for a class that the classifier does not know.
    n_classes : int
    used : ndarray of bool of shape (n,)
        Which rows count.
    calibrated : PairSigmoids, or callable without arguments that returns them
        From comparable values to probabilities.
    zero_is_lost : bool, default=True
        Whether, with two classes, a value of exactly 0 is an error for either class, as in the
        span-rule; if not, rows are counted as they are predicted.
    pair_rows : PairRows, optional
        Of `indices`, if known.

    Attributes
    ----------
    training_rows : bool
        Whether these are the rows that the sigmoids were fitted on: then each has the probability
        of sigmoids that were fitted without it.
    """

    training_rows = False

    def __init__(
        self,
        values: Values,
        indices: np.ndarray,
        n_classes: int,
        used: Mask,
        calibrated: PairSigmoids | Callable[[], PairSigmoids],
        zero_is_lost: bool = True,
        pair_rows: PairRows | None = None,
    ) -> None:
        self.values, self.indices, self.n_classes = values, indices, n_classes
        self.used, self.zero_is_lost = used, zero_is_lost
        self._calibrated, self._pair_rows = calibrated, pair_rows

    @cached_property
    def pair_rows(self) -> PairRows:
        """The rows of every pair of classes."""
        return self._pair_rows or PairRows(self.indices, self.n_classes)

    def labels(self, classes: np.ndarray, break_ties: bool = False) -> np.ndarray:
        """The predicted classes."""
        return classes[self._predicted(break_ties)]

    def _predicted(self, break_ties: bool) -> np.ndarray:
        """The index of the predicted class of every row.

        A class that wins all its pairs cannot be outvoted: only the rows that lose one of their
        own need the values of the other pairs.
        """
        if self.n_classes == 2 or (self.indices < 0).any():
            return labels(self.values.counted, np.arange(self.n_classes), break_ties)
        predicted = self.indices.copy()
        contested = np.zeros(predicted.size, dtype=np.bool_)
        contested[self.pair_rows.row[lost(self._own_margins)]] = True
        rows = np.flatnonzero(contested)
        predicted[rows] = self.values.predicted(rows, self.n_classes, break_ties)
        return predicted

    def decision_function(self, shape: str, ranks: bool = False) -> Array:
        """Decision values in scikit-learn's form; comparable ones of two classes with `ranks`."""
        if ranks and self.n_classes == 2:
            return self.values.comparable[:, 0]
        return shaped(self.values.decision, self.n_classes, shape)

    def wrong(self, break_ties: bool = False) -> Mask:
        """Which rows are misclassified."""
        if self.zero_is_lost and self.n_classes == 2:
            return lost(self._own_margins)
        return self._predicted(break_ties) != self.indices

    def error(self, break_ties: bool = False, weight: Array | None = None) -> float:
        """Share of misclassified rows among those that count, weighted if `weight` is given."""
        wrong = self.wrong(break_ties)[self.used]
        if weight is None:
            return float(wrong.mean())
        return float(np.average(wrong, weights=np.asarray(weight)[self.used]))

    @cached_property
    def _own_margins(self) -> Array:
        """Margins of the rows of all pairs: positive for a row's own class."""
        return self.pair_rows.sign * self.values.counted_in(self.pair_rows)

    @property
    def hinge(self) -> float:
        """Mean hinge loss; a row counts in each pair that contains its class."""
        losses = np.maximum(0.0, 1.0 - self._own_margins)
        if not self.used.all():
            losses = losses[self.used[self.pair_rows.row]]
        return float(losses.mean()) if losses.size else np.nan

    @property
    def margin(self) -> Array:
        """The smallest margin of each row over its pairs; NaN for rows that do not count."""
        result = np.full(self.used.size, np.inf)
        values = self.values.decision[self.pair_rows.row, self.pair_rows.column]
        np.minimum.at(result, self.pair_rows.row, self.pair_rows.sign * values)
        return np.where(self.used, result, np.nan)

    @cached_property
    def calibration(self) -> PairSigmoids:
        """From comparable values, and from decision values for new rows, to probabilities."""
        known = self._calibrated
        return known if isinstance(known, PairSigmoids) else known()

    @property
    def probabilities(self) -> Array:
        """Class probabilities of the comparable values.

        With two classes they agree with the predicted class.  That is counted from another form of
        the value, whose sign may differ: then the odds are even, or nearly so.
        """
        values = self.values.comparable
        predicted = self._predicted(False) if self.n_classes == 2 else None
        return self.calibration(values, predicted, self.training_rows)

    @property
    def calibrated_probabilities(self) -> Array:
        """The same as the sigmoids give them, whatever is predicted."""
        return self.calibration.calibrated(self.values.comparable, self.training_rows)

    def unshifted(self) -> LeftOutClasses:
        """The same for scores: comparable values decide in pairs whose intercept nothing fixes.

        Without a row, its class has the smaller sum of bounds.  That puts the intercept at the end
        of its interval where the row is misclassified, whatever the row: leave-one-out counts it as
        an error, and this shift of all values says nothing about rows that are new.
        """
        unfixed = self.values.unfixed
        if unfixed is None or not unfixed.any():
            return self
        values = self.values.unshifted()

        def calibrated() -> PairSigmoids:
            values.comparable  # noqa: B018  (the sigmoids are fitted on the same values)
            return self.calibration

        result = self._with(values)
        result._calibrated = calibrated
        return result

    def stored(self) -> LeftOutClasses:
        """The same with everything computed."""
        values = self.values
        stored = StoredValues(values.counted, values.decision, values.comparable, values.unfixed)
        return self._with(stored, self.calibration)

    def _with(self, values: Values, calibration: PairSigmoids | None = None) -> LeftOutClasses:
        """The same rows with other values; `calibration` if it is computed, and nothing else."""
        result = LeftOutClasses(
            values, self.indices, self.n_classes, self.used,
            calibration or (lambda: self.calibration), self.zero_is_lost,
            None if calibration else self.pair_rows,
        )  # fmt: skip
        result.training_rows = self.training_rows
        return result


def span_left_out(machines: TrainedMachines, used: Mask | None = None) -> LeftOutClasses:
    """The left-out training rows of machines, as predicted by the span.

    The rows that count are those of positive weight, unless `used` is given.
    """
    used = machines.bounds > 0 if used is None else used
    values = SpanValues(machines)
    return of_training_rows(machines, values, used, partial(calibrate, machines, values))


def exact_left_out(machines: TrainedMachines, used: Mask | None = None) -> LeftOutClasses:
    """The same, with every removal followed exactly; probabilities are calibrated by the span."""
    used = machines.bounds > 0 if used is None else used
    pairs = [exact_values(model.gram, model.solution) for model in machines.models()]
    decision = machines.of_all_rows(np.concatenate([pair.decision for pair in pairs]))
    comparable = machines.of_all_rows(np.concatenate([pair.comparable for pair in pairs]))
    values = StoredValues(decision, decision, comparable, machines.unfixed)
    return of_training_rows(machines, values, used, calibrated_by_span(machines))


def of_training_rows(
    machines: TrainedMachines, values: Values, used: Mask, calibrated: Callable[[], PairSigmoids]
) -> LeftOutClasses:
    """The training rows of machines with these values."""
    rows = machines.pair_rows
    result = LeftOutClasses(values, rows.indices, rows.n_classes, used, calibrated, pair_rows=rows)
    result.training_rows = True
    return result


def calibrated_by_span(machines: TrainedMachines) -> Callable[[], PairSigmoids]:
    """Sigmoids fitted on the leave-one-out values that the span predicts, when they are needed."""
    return partial(calibrate, machines, SpanValues(machines))
