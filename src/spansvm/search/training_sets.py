"""What candidates share: transformed rows and Gram matrices, computed once in a process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from sklearn.utils import get_tags

from .._validation import check_rows
from ..dual import DualSolution
from ..kernels import resolve_kernel
from ..machines import Grams, Machines, train_pairs
from ..qp import Array
from ..svc import SpanSVC
from ..weighting import weigh
from .composite import FitParams, fit_transformers, take_rows, transform, unwrap

__all__ = ["TrainingSet", "forget", "training_sets"]


class _Memo:
    """What chains share: kept while one of them uses it, and the latest after that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: dict[Any, threading.Lock] = {}
        self._values: WeakValueDictionary[Any, Any] = WeakValueDictionary()
        self._latest: Any = None

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        with self._lock:
            busy = self._busy.setdefault(key, threading.Lock())
        with busy:
            value = self._values.get(key)
            if value is None:
                value = make()
                with self._lock:
                    self._values[key] = value
            self._latest = value
            return value

    def clear(self) -> None:
        with self._lock:
            self._busy.clear()
            self._latest = None


_ROWS, _TRAINING_SETS = _Memo(), _Memo()


def forget() -> None:
    """Let go of what the chains of a search shared in this process."""
    _ROWS.clear()
    _TRAINING_SETS.clear()


class _Shared(list):
    """A list that can be referred to weakly."""


class _Rows:
    """Training rows and, for a fold, test rows behind the transformers."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: np.ndarray,
        params: FitParams,
        split: tuple[np.ndarray, np.ndarray] | None,
    ) -> None:
        steps, _, _ = unwrap(estimator)
        train_rows, test_rows = X, None
        if split is not None:
            train, test = split
            train_rows, test_rows = take_rows(X, train), take_rows(X, test)
            if get_tags(estimator).input_tags.pairwise:
                train_rows, test_rows = train_rows[:, train], test_rows[:, train]
        fitted, self.train = fit_transformers(steps, train_rows, y, params)
        self.test = None if test_rows is None else transform(fitted, test_rows)


class TrainingSet:
    """Rows with their kernel and Gram matrices: what candidates of one kernel share."""

    def __init__(self, rows: _Rows, y: np.ndarray, machine: SpanSVC) -> None:
        self.X = check_rows(rows.train, machine.kernel)
        self.y = y
        self.classes, self.indices = np.unique(y, return_inverse=True)
        if self.classes.size < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {self.classes.size} class."
            )
        self.kernel = resolve_kernel(
            machine.kernel, self.X, gamma=machine.gamma, degree=machine.degree, coef0=machine.coef0
        )
        self.grams = Grams(self.kernel, self.X, self.indices)
        self._test = rows.test

    @cached_property
    def test_values(self) -> Array:
        """Kernel values between the test rows and the training rows."""
        if self.kernel.name == "precomputed":
            return np.asarray(check_rows(self._test, "precomputed"))
        return self.kernel(check_rows(self._test, self.kernel.name), self.X)

    def train(
        self,
        machine: SpanSVC,
        params: FitParams,
        tol: float,
        before: list[DualSolution] | None,
    ) -> Machines:
        """The machines of a candidate."""
        _, bounds = weigh(machine, self.y, params.sample_weight, params.scores)
        solutions = train_pairs(
            self.grams, bounds, tol=tol, max_iter=machine.max_iter, before=before
        )
        return Machines(self.X, self.indices, self.kernel, bounds, solutions, self.grams)


def training_sets(
    key: tuple[str, str, str],
    estimator: Any,
    machine: SpanSVC,
    X: Any,
    y: np.ndarray,
    params: list[FitParams],
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
) -> list[TrainingSet]:
    """All rows, and those of every fold, behind the transformers and under the kernel.

    `key` names the search, the setting of the transformers and that of the kernel; `params` has an
    entry for all rows and one for each fold.
    """
    token, transformers, kernel = key
    parts = [None, *splits]
    labels = [y if part is None else y[part[0]] for part in parts]

    def rows() -> _Shared:
        return _Shared(
            _Rows(estimator, X, own, given, part)
            for own, given, part in zip(labels, params, parts, strict=True)
        )

    def sets() -> _Shared:
        transformed = _ROWS.get((token, transformers), rows)
        return _Shared(
            TrainingSet(part, own, machine) for part, own in zip(transformed, labels, strict=True)
        )

    return _TRAINING_SETS.get((token, kernel), sets)
