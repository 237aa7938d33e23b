"""The data that candidates are trained on: transformed rows with their kernel and Gram matrix."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils import get_tags

from ...algebra.blas import one_blas_thread
from ...common.pairs import PairRows
from ...common.types import Array, Mask, Rows
from ...common.validation import check_rows, n_rows
from ...estimators.svc import SpanSVC
from ...estimators.weighting import weigh
from ...kernels.functions import Kernel, dense, kernel_of, values_between
from ...kernels.gram import Gram
from ...kernels.pair_grams import Grams, Points
from ...multiclass.group_left_out import folds_left_out, groups_left_out
from ...multiclass.left_out import LeftOutClasses
from ...multiclass.machines import PairPaths, TrainedMachines, from_kernel
from ...multiclass.one_vs_rest import ProbableClasses, RestClasses
from ...multiclass.path import Models
from ...multiclass.tested import tested, tested_each
from ...multiclass.verified import LEAVING
from .composite import Parts, fit_transformers, resamples, transform, unwrap
from .fit_arguments import FitParams, take_rows

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Problems",
    "Split",
    "TrainingSet",
    "TransformedRows",
    "check_resampling",
    "known_places",
    "split_rows",
    "transformed_rows",
]

#: Training rows and test rows of a fold; None for all rows.
Split = tuple[np.ndarray, np.ndarray] | None


def transformed_rows(
    estimator: Any, X: Any, y: np.ndarray, params: FitParams, split: Split
) -> TransformedRows:
    """The rows that the machine of an estimator is trained on and, for a fold, tested on."""
    parts = unwrap(estimator)
    check_resampling(parts, params)
    train_rows, test_rows = split_rows(estimator, parts, X, y, split)
    return TransformedRows.of(parts.steps, train_rows, y, test_rows, params.steps)


def split_rows(
    estimator: Any, parts: Parts, X: Any, y: np.ndarray, split: Split
) -> tuple[Any, Any]:
    """The rows to train on, whose labels are `y`, and those to test on, before any transformer."""
    train_rows, test_rows = X, None
    if split is not None:
        train, test = split
        if get_tags(estimator).input_tags.pairwise:
            X = dense(X)
            train_rows, test_rows = X[np.ix_(train, train)], X[np.ix_(test, train)]
        else:
            train_rows, test_rows = take_rows(X, train), take_rows(X, test)
    elif parts.steps:
        # A copy: transformers may work in place.
        train_rows = take_rows(X, np.arange(y.shape[0]))
    return train_rows, test_rows


def check_resampling(parts: Parts, params: FitParams) -> None:
    """ValueError if rows are resampled that have weights."""
    names = [type(step).__name__ for _, step in (*parts.steps, *parts.inner) if resamples(step)]
    if names and (params.sample_weight is not None or params.scores is not None):
        raise ValueError(
            f"{names[0]} changes the training rows, so that sample_weight and scores do not fit "
            "them any more. Leave them out."
        )


class TransformedRows:
    """Transformed training rows and, for a fold, test rows; and what all kernels share of them.

    Attributes
    ----------
    train, y, test
        Rows and labels to train on, and rows to test on.
    fitted : dict of str to transformer
        By path.
    seen : (rows, labels), or None
        If the training rows were resampled, those that were given, transformed.
    """

    def __init__(
        self, train: Any, y: np.ndarray, test: Any = None,
        fitted: Mapping[str, Any] | None = None, seen: tuple[Any, np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        self.train, self.y, self.test, self.seen = train, y, test, seen
        self.fitted = fitted or {}
        self._set_labels(y)
        self._checked: dict[bool, tuple[Any, Any]] = {}
        self._test_rows: PairRows | None = None
        self._lock = threading.Lock()

    def _set_labels(self, y: np.ndarray) -> None:
        self.classes, self.indices = np.unique(y, return_inverse=True)
        if self.classes.size < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {self.classes.size} class."
            )

    @classmethod
    def of(
        cls, steps: Sequence[tuple[str, Any]], train: Any, y: np.ndarray, test: Any,
        arguments: Mapping[str, Mapping[str, Any]], seen: tuple[Any, np.ndarray] | None = None,
    ) -> Self:  # fmt: skip
        """Fit the transformers on the training rows, and transform all rows."""
        fitted, rows, labels = fit_transformers(steps, train, y, arguments)
        if seen is None and any(resamples(step) for _, step in steps):
            seen = train, y
        if seen is not None:
            seen = transform(fitted, seen[0]), seen[1]
        return cls(rows, labels, None if test is None else transform(fitted, test), fitted, seen)

    def against_rest(self, label: Any, steps: Sequence[tuple[str, Any]]) -> TransformedRows:
        """The same rows with the labels 1 for one class and 0 for the rest.

        `steps` are transformers that are fitted for each class.
        """
        y = (self.y == label).astype(np.intp)
        seen = (
            None if self.seen is None else (self.seen[0], (self.seen[1] == label).astype(np.intp))
        )
        if not steps:
            return TransformedRows(self.train, y, self.test, seen=seen)
        # A copy: transformers may work in place.
        train = take_rows(self.train, np.arange(y.size))
        return TransformedRows.of(steps, train, y, self.test, {}, seen)

    def numbered(self, kernel: Any) -> TransformedRows | None:
        """Numbers in the place of rows that are not numbers themselves, such as texts.

        Only kernels that are functions take such rows; :meth:`of_numbers` makes one that takes
        their numbers.  None if the rows are numbers, or the kernel is another.
        """
        if not callable(kernel) or _are_numbers(self.train):
            return None
        n, more = self.y.size, 0 if self.test is None else n_rows(self.test)
        every = np.arange(n + more, dtype=np.float64)[:, None]
        test = None if self.test is None else every[n:]
        return TransformedRows(every[:n], self.y, test, self.fitted)

    def of_numbers(self, kernel: Callable[[Any, Any], Any]) -> Callable[[Array, Array], Any]:
        """The kernel as a function of the numbers of rows."""

        def rows(numbers: Array) -> Any:
            places = numbers[:, 0].astype(np.intp)
            tested = places.size > 0 and places[0] >= self.y.size  # test rows never mix with others
            return (
                take_rows(self.test, places - self.y.size)
                if tested
                else (take_rows(self.train, places))
            )

        return lambda A, B: kernel(rows(A), rows(B))

    def checked(self, kernel: Any) -> tuple[Any, Any]:
        """Training and test rows as numbers, unless the kernel is a function that takes any."""
        with self._lock:
            if callable(kernel) not in self._checked:
                test = None if self.test is None else check_rows(self.test, kernel)
                self._checked[callable(kernel)] = check_rows(self.train, kernel), test
            return self._checked[callable(kernel)]

    @cached_property
    def pair_rows(self) -> PairRows:
        """The rows of every pair of classes."""
        return PairRows(self.indices, self.classes.size)

    def test_rows(self, y: np.ndarray) -> PairRows:
        """The test rows, whose labels are `y`, by pairs of the training rows' classes."""
        if self._test_rows is None:
            self._test_rows = PairRows(known_places(y, self.classes), self.classes.size)
        return self._test_rows

    def points(self, kernel: Kernel) -> Points:
        """The rows in the order of their Gram matrix."""
        X, _ = self.checked(kernel.name)
        if kernel.precomputed or callable(kernel.name):
            return Points(X, self.pair_rows, kernel.precomputed)
        return self._points

    @cached_property
    def _points(self) -> Points:
        return Points(self.checked(None)[0], self.pair_rows)


class TrainingSet:
    """Rows with their kernel and Gram matrices, shared by all candidates with that kernel.

    `alike` has the same rows in the same order, with other labels: of it are their kernel values.
    """

    def __init__(
        self, rows: TransformedRows, machine: SpanSVC, alike: TrainingSet | None = None
    ) -> None:
        self._alike, whole = alike, None if alike is None else alike.whole
        numbered = rows.numbered(machine.kernel)
        if numbered is not None:
            machine = copy(machine)
            machine.kernel, rows = rows.of_numbers(machine.kernel), numbered
        self.rows, self.y = rows, rows.y
        self.X, self._test = rows.checked(machine.kernel)
        self.classes, self.indices = rows.classes, rows.indices
        self.kernel = kernel_of(machine, self.X)
        points = rows.points(self.kernel)
        self.grams = Grams(
            self.kernel, self.X, self.indices, machine.gram_budget, points=points, whole=whole
        )

    @property
    def whole(self) -> Gram:
        """The Gram matrix of all rows."""
        return self.grams.whole

    def test_decisions(self, several: Sequence[TrainedMachines]) -> Array:
        """Values of all pairs for the test rows, of each of several machines."""
        if self.grams.whole.values is None:
            return np.stack([machines.decide(self._test) for machines in several])
        values = self._test_values
        with one_blas_thread:
            return from_kernel(several, values)

    @cached_property
    def _test_values(self) -> Array:
        """Kernel values of the training rows, in their order there, with the test rows."""
        if self._alike is not None:
            return self._alike._test_values
        kernel, points = self.kernel, self.grams.points
        if not (kernel.precomputed or callable(kernel.name)):
            return values_between(kernel, points.X, self._test)
        values = dense(self._test) if kernel.precomputed else kernel(self._test, self.X)
        several = self.classes.size > 2
        return values.T[points.pair_rows.class_by_class] if several else values.T

    def paths(self) -> PairPaths:
        """New paths for one chain: each candidate is trained from the one before."""
        return PairPaths(self.grams)

    def weigh(self, machine: SpanSVC, params: FitParams) -> Array:
        """``C_i`` of every row for a candidate."""
        known = self.classes, self.indices
        return weigh(machine, self.y, params.sample_weight, params.scores, known)[1]

    def machines(self, bounds: Array, found: Models) -> TrainedMachines:
        """The machines of a candidate, from what its training found."""
        rows = self.grams.pair_rows
        return TrainedMachines(self.X, rows, self.kernel, bounds, found, grams=self.grams)

    def on_training_rows(self, machines: TrainedMachines) -> LeftOutClasses:
        """The training rows as the machines predict them, which have seen them."""
        if self.rows.seen is None:
            own = np.concatenate([solution.decision for solution in machines.solutions])
            return tested(machines, machines.of_all_rows(own), machines.pair_rows)
        X, y = self.rows.seen
        values = machines.decide(check_rows(X, self.kernel.name))
        return tested(machines, values, PairRows(known_places(y, self.classes), self.classes.size))

    def on_test_rows(
        self, several: Sequence[TrainedMachines], y: np.ndarray
    ) -> Sequence[LeftOutClasses]:
        """The test rows, whose labels are `y`, as each of several machines predicts them."""
        return tested_each(several, self.test_decisions(several), self.rows.test_rows(y))


def _are_numbers(rows: Any) -> bool:
    """Whether rows are a matrix of numbers."""
    if sparse.issparse(rows) or len(getattr(rows, "shape", ())) != 2:
        return sparse.issparse(rows)
    return np.asarray(rows).dtype.kind in "biuf"


def known_places(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The indices of labels among the classes; -1 for others."""
    indices = np.searchsorted(classes, y)
    indices[~np.isin(y, classes)] = -1
    return indices


class Problems:
    """What the machines of a candidate are trained on, and how their predictions are put together.

    Attributes
    ----------
    sets : list of TrainingSet
        One, for the machines of all pairs of classes; with one-vs-rest, one for every class, or
        one for two classes.
    rows : TransformedRows
    classes : ndarray
    compares : bool
        Whether values of different sets are compared, so that their signs are not enough.
    """

    compares = False

    def __init__(self, rows: TransformedRows, machine: SpanSVC, parts: Parts) -> None:
        self.rows, self.classes = rows, rows.classes
        self._rest = isinstance(parts.wrapper, OneVsRestClassifier)
        self._calibrated = isinstance(parts.wrapper, CalibratedClassifierCV)
        if not self._rest:
            self.sets = [TrainingSet(rows, machine)]
            return
        self.sets = []
        for label in self.classes if self.classes.size > 2 else self.classes[1:]:
            own = rows.against_rest(label, parts.inner)
            alike = self.sets[0] if self.sets and not parts.inner else None
            self.sets.append(TrainingSet(own, machine, alike))
        self.compares = len(self.sets) > 1

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
    ) -> LeftOutClasses:  # fmt: skip
        """Predictions for all training rows, each without itself or without its set."""
        method = method if method in LEAVING else "span_rule"
        leave = partial(LEAVING[method], used=used)
        if sets is not None:
            leave = partial(groups_left_out, sets=sets, used=used, method=method)
        return self._together([leave(own) for own in machines], self.rows.y)

    def leave_out_folds(
        self, machines: Sequence[TrainedMachines], method: str, sets: Sequence[Rows]
    ) -> list[LeftOutClasses]:
        """Predictions for the test rows of folds, left out of one model."""
        every = zip(*(folds_left_out(own, sets, method == "loo") for own in machines), strict=True)
        return [
            self._together(parts, self.rows.y[test])
            for test, parts in zip(sets, every, strict=True)
        ]

    def on_test_rows(
        self, several: Sequence[Sequence[TrainedMachines]], y: np.ndarray
    ) -> list[LeftOutClasses]:
        """Predictions of several candidates for the test rows, whose labels are `y`."""
        parts = [
            own.on_test_rows([machines[k] for machines in several], self._labels(k, y))
            for k, own in enumerate(self.sets)
        ]
        return [self._together(own, y) for own in zip(*parts, strict=True)]

    def on_training_rows(self, machines: Sequence[TrainedMachines]) -> LeftOutClasses:
        """Predictions for the training rows, which the machines have seen."""
        parts = [own.on_training_rows(part) for own, part in zip(self.sets, machines, strict=True)]
        return self._together(parts, self.rows.y if self.rows.seen is None else self.rows.seen[1])

    def _labels(self, place: int, y: np.ndarray) -> np.ndarray:
        if not self._rest:
            return y
        label = self.classes[place if self.classes.size > 2 else 1]
        return (y == label).astype(np.intp)

    def _together(self, parts: Sequence[LeftOutClasses], y: np.ndarray) -> LeftOutClasses:
        if self._rest:
            return RestClasses(parts, known_places(y, self.classes))
        return ProbableClasses(parts[0]) if self._calibrated else parts[0]
