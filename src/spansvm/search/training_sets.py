"""Data that candidates share: transformed rows and Gram matrices, computed once per process."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from sklearn.utils import get_tags

from .._typing import Array
from .._validation import check_rows
from ..kernels import Kernel, dense, kernel_of
from ..lazy import LazyGram
from ..machines import PairPaths, TrainedMachines
from ..pair_grams import Grams, Points
from ..pairs import PairRows
from ..path import Models
from ..svc import SpanSVC
from ..weighting import weigh
from .composite import Candidates, FitParams, fit_transformers, take_rows, transform, unwrap

__all__ = [
    "Lease",
    "Split",
    "TrainingSet",
    "TransformedRows",
    "cache_of",
    "forget",
]

#: Training rows and test rows of a fold; None for all rows.
Split = tuple[np.ndarray, np.ndarray] | None

#: Seconds after which an idle worker releases the data of a search.
_IDLE = 60.0

#: How many simultaneous searches in one process keep their shared data.
_SEARCHES = 4


class _Memo:
    """Values by key: each is kept while it is in use, and the latest one after that."""

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


class Cache:
    """Data that the chains of one search share in a process."""

    def __init__(self) -> None:
        self._rows, self._sets = _Memo(), _Memo()
        self.builders: deque[Candidates] = deque()  # those that no chain uses at the moment

    def training_set(
        self,
        keys: tuple[str, str, int],
        estimator: Any,
        machine: SpanSVC,
        X: Any,
        y: np.ndarray,
        params: FitParams,
        split: Split,
    ) -> TrainingSet:
        """The transformed training rows of a split, with their kernel.

        `keys` identify the transformers, the kernel and the split.
        """
        transformers, kernel, number = keys
        labels = y if split is None else y[split[0]]

        def make_rows() -> TransformedRows:
            return transformed_rows(estimator, X, labels, params, split)

        def make_set() -> TrainingSet:
            rows = self._rows.get((transformers, number), make_rows)
            return TrainingSet(rows, machine)

        return self._sets.get((transformers, kernel, number), make_set)


_CACHES: OrderedDict[str, Cache] = OrderedDict()
_OVER: deque[str] = deque(maxlen=1000)
_LOCK = threading.Lock()


def cache_of(token: str) -> Cache:
    """The data that the chains of a search share; an empty cache if the search is over."""
    with _LOCK:
        if token in _OVER:
            return Cache()
        cache = _CACHES.setdefault(token, Cache())
        _CACHES.move_to_end(token)
        while len(_CACHES) > _SEARCHES:
            _CACHES.popitem(last=False)
        return cache


def forget(token: str) -> None:
    """Release the data that the chains of a search shared in this process."""
    with _LOCK:
        _OVER.append(token)
        _CACHES.pop(token, None)


class Lease:
    """Context of a worker's work on a chain: shared data are released when no more work comes."""

    _timers: dict[str, threading.Timer] = {}  # noqa: RUF012

    def __init__(self, token: str) -> None:
        self.token = token

    def __enter__(self) -> None:
        timer = self._timers.pop(self.token, None)
        if timer is not None:
            timer.cancel()

    def __exit__(self, *exception: object) -> None:
        timer = threading.Timer(_IDLE, self._expire)
        timer.daemon = True
        self._timers[self.token] = timer
        timer.start()

    def _expire(self) -> None:
        self._timers.pop(self.token, None)
        with _LOCK:
            _CACHES.pop(self.token, None)


def transformed_rows(
    estimator: Any, X: Any, y: np.ndarray, params: FitParams, split: Split
) -> TransformedRows:
    """The rows that the machine of an estimator is trained on and, for a fold, tested on."""
    steps, _, _ = unwrap(estimator)
    train_rows, test_rows = X, None
    if split is not None:
        train, test = split
        if get_tags(estimator).input_tags.pairwise:
            X = dense(X)
            train_rows, test_rows = X[np.ix_(train, train)], X[np.ix_(test, train)]
        else:
            train_rows, test_rows = take_rows(X, train), take_rows(X, test)
    elif steps:
        # A copy: transformers may work in place.
        train_rows = take_rows(X, np.arange(y.size))
    fitted, train_rows = fit_transformers(steps, train_rows, y, params)
    return TransformedRows(
        train_rows, y, None if test_rows is None else transform(fitted, test_rows)
    )


class TransformedRows:
    """Transformed training rows and, for a fold, test rows; and what all kernels share of them."""

    def __init__(self, train: Any, y: np.ndarray, test: Any = None) -> None:
        self.train, self.y, self.test = train, y, test
        self.classes, self.indices = np.unique(y, return_inverse=True)
        if self.classes.size < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {self.classes.size} class."
            )
        self._checked: dict[bool, tuple[Any, Any]] = {}
        self._lock = threading.Lock()

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
    """Rows with their kernel and Gram matrices, shared by all candidates with that kernel."""

    def __init__(self, rows: TransformedRows, machine: SpanSVC) -> None:
        self.rows, self.y = rows, rows.y
        self.X, self._test = rows.checked(machine.kernel)
        self.classes, self.indices = rows.classes, rows.indices
        self.kernel = kernel_of(machine, self.X)
        points = rows.points(self.kernel)
        self.grams = Grams(self.kernel, self.X, self.indices, machine.gram_budget, points=points)
        self._test_rows: PairRows | None = None

    def test_decisions(self, machines: TrainedMachines) -> Array:
        """Values of all pairs for the test rows."""
        if isinstance(self.grams.whole, LazyGram):
            return machines.decide(self._test)
        return machines.from_kernel(self._test_values)

    def test_rows(self, y: np.ndarray) -> PairRows:
        """The test rows, whose labels are `y`, by pairs of the training rows' classes."""
        if self._test_rows is None:
            indices = np.searchsorted(self.classes, y)
            indices[~np.isin(y, self.classes)] = -1
            self._test_rows = PairRows(indices, self.classes.size)
        return self._test_rows

    @cached_property
    def _test_values(self) -> Array:
        """Kernel values of the training rows, in their order there, with the test rows."""
        kernel, points = self.kernel, self.grams.points
        if not (kernel.precomputed or callable(kernel.name)):
            return kernel(points.X, self._test)
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
