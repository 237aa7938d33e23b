"""What the chains of a search share in a process: transformed rows and Gram matrices, once each."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ...estimators.svc import SpanSVC
from .building import Candidates
from .composite import unwrap
from .fit_arguments import FitParams
from .training_sets import Problems, Split, TransformedRows, transformed_rows

__all__ = ["Lease", "cache_of", "forget"]

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
                self._latest = None  # before the next takes as much memory
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

    def problems(
        self,
        keys: tuple[str, str, int],
        estimator: Any,
        machine: SpanSVC,
        X: Any,
        y: np.ndarray,
        params: FitParams,
        split: Split,
    ) -> Problems:
        """The transformed training rows of a split, with their kernel.

        `keys` identify the transformers, the kernel and the split.
        """
        transformers, kernel, number = keys
        labels = y if split is None else y[split[0]]

        def make_rows() -> TransformedRows:
            if split is not None and (labels == labels[0]).all():
                raise ValueError(
                    "The number of classes has to be greater than one; got 1 class: all training "
                    f"rows of fold {number} are of class {labels[0]}. Use stratified folds."
                )
            return transformed_rows(estimator, X, labels, params, split)

        def make_set() -> Problems:
            rows = self._rows.get((transformers, number), make_rows)
            return Problems(rows, machine, unwrap(estimator))

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
