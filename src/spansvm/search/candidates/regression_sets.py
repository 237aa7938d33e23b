"""The data that regressions are trained on: transformed rows and targets, and their Gram matrix.

The counterpart of :mod:`spansvm.search.candidates.training_sets`, which has classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor

from ...algebra.blas import one_blas_thread
from ...common.types import Array, Mask, Rows
from ...common.validation import check_rows
from ...estimators.svr import SpanSVR
from ...estimators.weighting import weigh_rows
from ...kernels.functions import dense, kernel_of, values_between
from ...kernels.lazy import gram_of
from ...kernels.twins import equal_rows
from ...regression.left_out import LeftOutTargets, leave_out_rows, leave_out_sets
from ...regression.machines import TrainedRegressions
from ...regression.paths import Regressions, Tube, TubePaths
from .composite import Parts, unwrap
from .fit_arguments import FitParams
from .training_sets import Split, TransformedRows, check_resampling, split_rows

__all__ = ["RegressionProblems", "RegressionSet", "TargetRows", "target_rows"]


def target_rows(
    estimator: Any, X: Any, y: np.ndarray, params: FitParams, split: Split
) -> TargetRows:
    """The rows that the machine of a regression is trained on and, for a fold, tested on."""
    parts = unwrap(estimator)
    check_resampling(parts, params)
    train_rows, test_rows = split_rows(estimator, parts, X, y, split)
    rows = TargetRows.of(parts.steps, train_rows, y, test_rows, params.steps)
    rows.transform_targets(parts.wrapper)
    return rows


class TargetRows(TransformedRows):
    """Transformed rows of a regression, with their targets.

    Attributes
    ----------
    targets : ndarray of shape (l, k)
        What the machines are trained on.
    wrapper : TransformedTargetRegressor or None
        With its transformer fitted.
    """

    wrapper: Any = None

    def _set_labels(self, y: np.ndarray) -> None:
        self.classes, self.indices = np.empty(0), np.empty(0, dtype=np.intp)
        self.targets = y.astype(np.float64).reshape(y.shape[0], -1)

    def transform_targets(self, wrapper: Any) -> None:
        """Let a wrapper transform the targets, if that is what it does."""
        if not isinstance(wrapper, TransformedTargetRegressor):
            return
        self.wrapper = clone(wrapper)
        columns = self.y.astype(np.float64).reshape(self.y.shape[0], -1)
        self.wrapper._training_dim = self.y.ndim
        self.wrapper._fit_transformer(columns)
        self.targets = np.asarray(self.wrapper.transformer_.transform(columns), dtype=np.float64)

    def back(self, values: Array) -> Array:
        """Predictions of shape (n, k) as those of the estimator, in the form of its targets."""
        if self.wrapper is not None:
            values = np.asarray(self.wrapper.transformer_.inverse_transform(values))
        return values[:, 0] if self.y.ndim == 1 else values

    @cached_property
    def kinds(self) -> Rows | None:
        """For every row, the first one equal to it; None if all differ."""
        return equal_rows(self.checked(None)[0])


class RegressionSet:
    """Rows with their kernel and Gram matrix, shared by all candidates with that kernel."""

    def __init__(self, rows: TargetRows, machine: SpanSVR) -> None:
        self.rows, self.y = rows, rows.y
        self.X, self._test = rows.checked(machine.kernel)
        self.kernel = kernel_of(machine, self.X)
        known = None if callable(self.kernel.name) else lambda: rows.kinds
        self.whole = gram_of(self.kernel, self.X, machine.gram_budget, whole=True, kinds=known)

    def paths(self) -> TubePaths:
        """New paths for one chain: each candidate is trained from the one before."""
        kernel = self.kernel
        return TubePaths(self.whole, self.rows.targets, kernel.definite, kernel.linear)

    def weigh(self, machine: SpanSVR, params: FitParams) -> Tube:
        """``C_i`` of every row for a candidate, and the width of its tube."""
        bounds = weigh_rows(machine, self.y, params.sample_weight, params.scores)
        return Tube(bounds, float(machine.epsilon))

    def machines(self, found: Regressions) -> TrainedRegressions:
        """The machines of a candidate, from what its training found."""
        return TrainedRegressions(self.X, self.rows.targets, self.kernel, found)

    def test_values(self, several: Sequence[TrainedRegressions]) -> list[Array]:
        """Predictions of several candidates for the test rows, a column for every target."""
        if self.whole.values is None:
            return [machines.decide(self._test) for machines in several]
        signed = [machines.found.signed for machines in several]
        with one_blas_thread:
            values = self._test_kernel @ np.concatenate(signed, axis=1)
        values += np.concatenate([machines.intercepts for machines in several])
        return np.split(values, len(several), axis=1)

    @cached_property
    def _test_kernel(self) -> Array:
        """Kernel values of the test rows with the training rows."""
        if self.kernel.precomputed:
            return dense(self._test)
        if callable(self.kernel.name):
            return self.kernel(self._test, self.X)
        return values_between(self.kernel, self.X, self._test).T


class RegressionProblems:
    """What the regressions of a candidate are trained on, and what they predict.

    Attributes
    ----------
    sets : list of RegressionSet
        One, for all targets.
    rows : TargetRows
    classes : ndarray
        Empty.
    compares : bool
        Whether values of different sets are compared: there is one set.
    """

    compares = False

    def __init__(self, rows: TargetRows, machine: SpanSVR, parts: Parts) -> None:
        self.rows, self.classes = rows, rows.classes
        self.sets = [RegressionSet(rows, machine)]

    def weigh(self, machine: SpanSVR, params: FitParams) -> list[Tube]:
        """What a candidate is trained with."""
        return [own.weigh(machine, params) for own in self.sets]

    def machines(
        self, bounds: Sequence[Tube], found: Sequence[Regressions]
    ) -> list[TrainedRegressions]:
        """The machines of a candidate, from what its training found."""
        return [own.machines(models) for own, models in zip(self.sets, found, strict=True)]

    def leave_out(
        self, machines: Sequence[TrainedRegressions], method: str, sets: Sequence[Rows] | None,
        used: Mask,
    ) -> LeftOutTargets:  # fmt: skip
        """Predictions for all training rows, each without itself or without its set."""
        if sets is None:
            exact = {"loo": True, "span_rule": False}.get(method)
            found = leave_out_rows(machines[0], exact=exact, used=used)
        else:
            found = leave_out_sets(machines[0], sets, exact=method == "loo", used=used)
        return self._given(found.predictions, self.rows.y, used)

    def leave_out_folds(
        self, machines: Sequence[TrainedRegressions], method: str, sets: Sequence[Rows]
    ) -> list[LeftOutTargets]:
        """Predictions for the test rows of folds, left out of one model."""
        values, _ = machines[0].without_sets(sets, exact=method == "loo")
        return [self._given(own, self.rows.y[test]) for own, test in zip(values, sets, strict=True)]

    def on_test_rows(
        self, several: Sequence[Sequence[TrainedRegressions]], y: np.ndarray
    ) -> list[LeftOutTargets]:
        """Predictions of several candidates for the test rows, whose targets are `y`."""
        values = self.sets[0].test_values([machines[0] for machines in several])
        return [self._given(own, y) for own in values]

    def on_training_rows(self, machines: Sequence[TrainedRegressions]) -> LeftOutTargets:
        """Predictions for the training rows, which the machines have seen."""
        rows = self.rows
        if rows.seen is None:
            return self._given(machines[0].found.decision, rows.y)
        X, y = rows.seen
        return self._given(machines[0].decide(check_rows(X, self.sets[0].kernel.name)), y)

    def _given(self, values: Array, y: np.ndarray, used: Mask | None = None) -> LeftOutTargets:
        """Predictions in the units and the form of the targets that were given."""
        everywhere = np.ones(y.shape[0], dtype=np.bool_) if used is None else used
        columns = values.reshape(values.shape[0], -1)
        return LeftOutTargets(self.rows.back(columns), y, everywhere)
