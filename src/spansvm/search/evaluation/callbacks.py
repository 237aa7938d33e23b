"""scikit-learn's callbacks (from its version 1.9 on): progress bars and monitors of a search.

The tasks are those of GridSearchCV: the search with one evaluation for each candidate and split,
then the refit.  Evaluations are reported when their results arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..candidates.fit_arguments import take_rows
from .work import Work

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: this scikit-learn has no callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """The method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "Tasks"]


@with_callbacks
def _tear_down(search: Any) -> None:
    """Nothing: the decorator lets callbacks tidy up afterwards, whatever happened before."""


class Tasks:
    """The tasks of a search, as callbacks are told of them; a context around all of it.

    Parameters
    ----------
    search : estimator
        Whose callbacks are called; without any, nothing is done.
    X, y, work
        The data, and how they are split.
    """

    def __init__(self, search: Any, X: Any, y: np.ndarray, work: Work, n_candidates: int) -> None:
        self._search, self._X, self._y, self._work = search, X, y, work
        self._n_evaluations = n_candidates * len(work.splits)
        self._root: Any = None
        self._all: Any = None
        if getattr(search, "_skl_callbacks", None):
            refits = search.refit is not False
            self._root = search._init_callback_context(max_subtasks=1 + refits)
            self._root.call_on_fit_task_begin(estimator=search, **self._given(None))

    def _given(self, split: Any) -> dict[str, Any]:
        """The training data of a split, or of all rows."""
        weight = self._work.params.sample_weight
        X, y = self._X, self._y
        if split is not None:
            X, y = take_rows(X, split[0]), y[split[0]]
            weight = None if weight is None else weight[split[0]]
        return {"X": X, "y": y, "metadata": None if weight is None else {"sample_weight": weight}}

    @contextmanager
    def searching(self) -> Iterator[None]:
        """While the candidates are evaluated."""
        if self._root is None:
            yield
            return
        self._all = self._root.subcontext(
            task_name="search", max_subtasks=self._n_evaluations, sequential_subtasks=False
        )
        self._all.call_on_fit_task_begin(estimator=self._search)
        yield
        self._all.call_on_fit_task_end(estimator=self._search)

    def evaluated(self, candidate: int, split: int) -> None:
        """A candidate has been evaluated on a split."""
        if self._all is not None:
            task = self._all.subcontext(
                task_name="candidate-split-evaluation",
                task_id=candidate * len(self._work.splits) + split,
            )
            given = self._given(self._work.splits[split])
            task.call_on_fit_task_begin(estimator=self._search, **given)
            task.call_on_fit_task_end(estimator=self._search, **given)

    @contextmanager
    def refitting(self, estimator: Any) -> Iterator[None]:
        """While the selected model is trained."""
        if self._root is None:
            yield
            return
        task = self._root.subcontext(task_name="refit-with-best-params")
        with task.propagate_callback_context(estimator):
            task.call_on_fit_task_begin(estimator=self._search, **self._given(None))
            yield
        task.call_on_fit_task_end(estimator=self._search, **self._given(None))

    def __enter__(self) -> Tasks:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if self._root is not None and error is None:
                self._root.call_on_fit_task_end(estimator=self._search, **self._given(None))
        finally:
            _tear_down(self._search)
