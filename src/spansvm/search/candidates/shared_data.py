"""What the chains of a search share in a process: transformed rows and Gram matrices, once each."""

from __future__ import annotations

import threading
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from .building import Candidates
from .composite import Machine, is_regression, unwrap
from .fit_arguments import FitParams
from .label_sets import LabelProblems, label_rows
from .regression_sets import RegressionProblems, target_rows
from .training_sets import Problems, Split, TransformedRows, transformed_rows

__all__ = ["SharedData"]

#: Seconds after which an idle worker releases the data of a search.
_IDLE = 60.0

#: How many simultaneous searches keep their shared data in one worker.
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
                self._latest = None  # before the next takes as much memory
                value = make()
                with self._lock:
                    self._values[key] = value
            self._latest = value
            return value


class SharedData:
    """Data that the chains of one search share in a process.

    Threads have the object itself.  What is sent to another process has no data: all that arrives
    there for one search is one object, which is kept from one chain to the next.
    """

    def __init__(self, key: str | None = None) -> None:
        self._key = key or uuid.uuid4().hex
        self._over = False
        self._empty()

    def _empty(self) -> None:
        self._rows, self._sets = _Memo(), _Memo()
        self.builders: deque[Candidates] = deque()  # those that no chain uses at the moment

    def __reduce__(self) -> tuple[Any, ...]:
        return _in_worker, (self._key,)

    def problems(
        self,
        keys: tuple[str, str, int],
        estimator: Any,
        machine: Machine,
        X: Any,
        y: np.ndarray,
        params: FitParams,
        split: Split,
    ) -> Any:
        """The transformed training rows of a split, with their kernel.

        `keys` identify the transformers, the kernel and the split.
        """
        transformers, kernel, number = keys
        labels, regression = y if split is None else y[split[0]], is_regression(estimator)

        def make_rows() -> TransformedRows:
            if regression:
                return target_rows(estimator, X, labels, params, split)
            if labels.ndim > 1:
                return label_rows(estimator, X, labels, params, split)
            if split is not None and (labels == labels[0]).all():
                raise ValueError(
                    "The number of classes has to be greater than one; got 1 class: all training "
                    f"rows of fold {number} are of class {labels[0]}. Use stratified folds."
                )
            return transformed_rows(estimator, X, labels, params, split)

        def make_set() -> Any:
            rows = self._rows.get((transformers, number), make_rows)
            make: Any = RegressionProblems if regression else Problems
            if labels.ndim > 1 and not regression:
                make = LabelProblems
            return make(rows, machine, unwrap(estimator))

        found = self._sets.get((transformers, kernel, number), make_set)
        if self._over:
            self._empty()
        return found

    def close(self) -> None:
        """Release the data: the search is over.  Threads that still work keep nothing here."""
        self._over = True
        self._empty()

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Context of a worker's work on a chain: data are released when no more work comes."""
        timer = _TIMERS.pop(self._key, None)
        if timer is not None:
            timer.cancel()
        try:
            yield
        finally:
            if _WORKERS.get(self._key) is self:
                timer = threading.Timer(_IDLE, self._expire)
                timer.daemon = True
                _TIMERS[self._key] = timer
                timer.start()

    def _expire(self) -> None:
        _TIMERS.pop(self._key, None)
        with _LOCK:
            _WORKERS.pop(self._key, None)
        self._empty()


#: What other processes than that of the search keep, as a worker is only given one chain at a time.
_WORKERS: OrderedDict[str, SharedData] = OrderedDict()
_TIMERS: dict[str, threading.Timer] = {}
_LOCK = threading.Lock()


def _in_worker(key: str) -> SharedData:
    """The shared data of a search in a process that works for it."""
    with _LOCK:
        own = _WORKERS.setdefault(key, SharedData(key))
        _WORKERS.move_to_end(key)
        while len(_WORKERS) > _SEARCHES:
            _WORKERS.popitem(last=False)[1]._empty()
        return own
