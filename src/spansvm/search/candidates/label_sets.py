"""The data that machines of several labels per row are trained on: a column of ``y`` each.

The counterpart of :mod:`spansvm.search.candidates.training_sets`, where a row has one label.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier

from ...common.types import Array, Mask, Rows
from ...estimators.svc import SpanSVC
from ...multiclass.group_left_out import folds_left_out, groups_left_out
from ...multiclass.left_out import LeftOutClasses
from ...multiclass.machines import TrainedMachines
from ...multiclass.one_vs_rest import RestClasses
from ...multiclass.path import Models
from ...multiclass.several_labels import ConstantClass, LeftOutLabels
from ...multiclass.verified import LEAVING
from .composite import Parts, unwrap
from .fit_arguments import FitParams, take_rows
from .training_sets import (
    Split,
    TrainingSet,
    TransformedRows,
    check_resampling,
    known_places,
    split_rows,
)

__all__ = ["LabelProblems", "LabelRows", "label_rows"]


def label_rows(estimator: Any, X: Any, y: np.ndarray, params: FitParams, split: Split) -> LabelRows:
    """The rows that machines of several labels are trained on and, for a fold, tested on."""
    parts = unwrap(estimator)
    if not isinstance(parts.wrapper, (OneVsRestClassifier, MultiOutputClassifier)):
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    check_resampling(parts, params)
    train_rows, test_rows = split_rows(estimator, parts, X, y, split)
    return LabelRows.of(parts.steps, train_rows, y, test_rows, params.steps)


def _said_of_constant(column: int, y: np.ndarray) -> str:
    have = "all training rows have" if y[0, column] else "no training row has"
    return f"In a fold, {have} label {column}: it is not learned there."


class LabelRows(TransformedRows):
    """Transformed rows with several labels each, of shape (l, k)."""

    def _set_labels(self, y: np.ndarray) -> None:
        self.classes, self.indices = np.arange(y.shape[1]), np.empty(0, dtype=np.intp)

    def of_label(self, column: int, steps: Sequence[tuple[str, Any]]) -> TransformedRows:
        """The same rows with one of their labels; `steps` are fitted for each label."""
        y = self.y[:, column]
        seen = None if self.seen is None else (self.seen[0], self.seen[1][:, column])
        if not steps:
            return TransformedRows(self.train, y, self.test, seen=seen)
        # A copy: transformers may work in place.
        train = take_rows(self.train, np.arange(y.size))
        return TransformedRows.of(steps, train, y, self.test, {}, seen)


class LabelProblems:
    """What the machines of every label are trained on, and how their predictions are put together.

    Attributes
    ----------
    sets : list of TrainingSet
        One for every label that has machines, on the same Gram matrix where it has two classes.
    rows : LabelRows
    classes : ndarray, or list of ndarray
        As the estimator has them: with one-vs-rest the numbers of the labels, otherwise the classes
        of each.
    column_classes : list of ndarray
        The classes of every label.
    constant : dict of int to bool
        With one-vs-rest, labels that all training rows have, or none.
    compares : bool
        Whether values are compared with something else than 0, so that their signs are not enough.
    """

    def __init__(self, rows: LabelRows, machine: SpanSVC, parts: Parts) -> None:
        self.rows = rows
        self._rest = isinstance(parts.wrapper, OneVsRestClassifier)
        self.sets: list[TrainingSet] = []
        self.constant: dict[int, bool] = {}
        of_two: TrainingSet | None = None
        for column in rows.classes:
            if self._rest and (rows.y[:, column] == rows.y[0, column]).all():
                self.constant[int(column)] = bool(rows.y[0, column])
                if rows.test is not None:  # of all rows, scikit-learn says so when it refits
                    warnings.warn(_said_of_constant(column, rows.y), UserWarning, stacklevel=2)
                continue
            own = rows.of_label(int(column), parts.inner)
            alike = None if parts.inner or own.classes.size > 2 else of_two
            self.sets.append(TrainingSet(own, machine, alike))
            if own.classes.size == 2 and of_two is None:
                of_two = self.sets[-1]
        if not self.sets:
            raise ValueError("The training rows differ in none of their labels.")
        # Where the first label needs no machine, scikit-learn takes the values of all others for
        # probabilities: a row has the labels above 0.5.
        self._threshold = 0.5 if 0 in self.constant else 0.0
        self.compares = self._threshold != 0
        found = iter(self.sets)
        self.column_classes = [
            np.arange(2) if self._rest else next(found).classes for _ in rows.classes
        ]
        self.classes = rows.classes if self._rest else self.column_classes

    def weigh(self, machine: SpanSVC, params: FitParams) -> list[Array]:
        """``C_i`` of every row for a candidate, in each set."""
        return [own.weigh(machine, params) for own in self.sets]

    def machines(self, bounds: Sequence[Array], found: Sequence[Models]) -> list[TrainedMachines]:
        """The machines of a candidate in each set, from what its training found."""
        every = zip(self.sets, bounds, found, strict=True)
        return [own.machines(weights, models) for own, weights, models in every]

    def leave_out(
        self, machines: Sequence[TrainedMachines], method: str, sets: Sequence[Rows] | None,
        used: Mask,
    ) -> LeftOutLabels:  # fmt: skip
        """Predictions for all training rows, each without itself or without its set."""
        leave: Callable[[TrainedMachines], LeftOutClasses] = partial(LEAVING[method], used=used)
        if sets is not None:
            leave = partial(groups_left_out, sets=sets, used=used, method=method)
        return self._together([leave(own) for own in machines], self.rows.y, used)

    def leave_out_folds(
        self, machines: Sequence[TrainedMachines], method: str, sets: Sequence[Rows]
    ) -> list[LeftOutLabels]:
        """Predictions for the test rows of folds, left out of one model."""
        every = zip(*(folds_left_out(own, sets, method == "loo") for own in machines), strict=True)
        return [
            self._together(parts, self.rows.y[test])
            for test, parts in zip(sets, every, strict=True)
        ]

    def on_test_rows(
        self, several: Sequence[Sequence[TrainedMachines]], y: np.ndarray
    ) -> list[LeftOutLabels]:
        """Predictions of several candidates for the test rows, whose labels are `y`."""
        columns = [column for column in range(y.shape[1]) if column not in self.constant]
        parts = [
            own.on_test_rows([machines[k] for machines in several], y[:, column])
            for k, (own, column) in enumerate(zip(self.sets, columns, strict=True))
        ]
        return [self._together(own, y) for own in zip(*parts, strict=True)]

    def on_training_rows(self, machines: Sequence[TrainedMachines]) -> LeftOutLabels:
        """Predictions for the training rows, which the machines have seen."""
        parts = [own.on_training_rows(part) for own, part in zip(self.sets, machines, strict=True)]
        return self._together(parts, self.rows.y if self.rows.seen is None else self.rows.seen[1])

    def _together(
        self, parts: Sequence[LeftOutClasses], y: np.ndarray, used: Mask | None = None
    ) -> LeftOutLabels:
        found, columns = iter(parts), []
        for column, classes in enumerate(self.column_classes):
            indices = known_places(y[:, column], classes)
            if column in self.constant:
                own: LeftOutClasses = ConstantClass(self.constant[column], indices)
            else:
                own = next(found)
                # One-vs-rest asks for a value above 0, where an SVC has a class for 0 as well.
                own = RestClasses([own], indices, self._threshold) if self._rest else own
            columns.append(own)
        everywhere = np.ones(len(y), dtype=np.bool_) if used is None else used
        return LeftOutLabels(columns, everywhere)
