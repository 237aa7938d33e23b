"""``data_values``: what each training row, or group of rows, adds to a score on other rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import check_scoring
from sklearn.utils import check_consistent_length, column_or_1d

from ..common.pairs import labels
from ..common.types import Array
from ..common.validation import check_groups
from ..estimators.svc import SpanSVC
from ..estimators.svr import SpanSVR
from ..multiclass.group_left_out import sets_of
from .without import Without

__all__ = ["data_values"]


def data_values(
    model: Any,
    X: Any,
    y: npt.ArrayLike,
    *,
    scoring: str | Callable[..., float] | None = None,
    groups: npt.ArrayLike | None = None,
    exact: bool = True,
) -> Array:
    """What each training row adds to a score on other rows: its leave-one-out value.

    The score of the model minus the score of the model without the row, trained on all others.
    Nothing is trained again.  Rows with the lowest values are the first to look at.

    Parameters
    ----------
    model : SpanSVC, SpanSVR, Pipeline that ends in one, or search over one of these
        Fitted.  Transformers stay as they were fitted on all rows, and so do the sigmoids of
        probabilities.
    X, y : array-like of shape (n_new, d) and (n_new,)
        The rows that are scored, with their labels or targets: not those of training.
    scoring : str or callable, optional
        A score in scikit-learn's sense, of which more is better; by default the accuracy, or R^2 of
        a regression.  Single rows rarely change a label: ``"neg_log_loss"`` tells more of them
        apart.
    groups : array-like of shape (n_train,), optional
        The group of every training row: whole groups are removed instead of single rows.
    exact : bool, default=True
        As in :func:`~spansvm.influence`.

    Returns
    -------
    ndarray of shape (n_train,), or (n_groups,)
        Groups in the order of their sorted names.

    See Also
    --------
    spansvm.influence : The change of every single value.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from spansvm import SpanSVC, data_values
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SpanSVC(C=10).fit(X[:400], y[:400])
    >>> values = data_values(model, X[400:], y[400:], scoring="neg_log_loss")
    >>> worst = values.argsort()[:10]
    """
    without = Without(model, X)
    targets = column_or_1d(y)
    check_consistent_length(without.points, targets)
    score = _Score(without, targets, scoring)
    if groups is not None:
        sets = sets_of(check_groups(groups, without.n_rows))
        every = without.each_set(sets, exact=exact)
        return score.of(without.values) - np.array([score.of(values) for values in every])
    plain = score.of(without.values)
    result = np.zeros(without.n_rows)
    for row, values in _without_rows(without, exact=exact):
        result[row] = plain - score.of(values)
    return result


def _without_rows(without: Without, *, exact: bool) -> Iterator[tuple[int, Array]]:
    """The values without each training row that changes any."""
    found = list(without.each_row(exact=exact))
    of_row: list[list[tuple[int, Array]]] = [[] for _ in range(without.n_rows)]
    for machine, (rows, change) in enumerate(found):
        for place in np.flatnonzero(change.any(axis=1)):
            of_row[rows[place]].append((machine, change[place]))
    for row, changes in enumerate(of_row):
        if changes:
            values = without.values.copy()
            for machine, change in changes:
                values[:, machine] += change
            yield row, values


class _Score:
    """The score of a model with other values."""

    def __init__(self, without: Without, y: np.ndarray, scoring: Any) -> None:
        self._model, self._points, self._y = without.model, without.points, y
        self._counts = scoring in (None, "accuracy") and isinstance(self._model, SpanSVC)
        self._scorer = check_scoring(self._model, scoring)

    def of(self, values: Array) -> float:
        """The score, if the machines had these values."""
        if self._counts:
            found = labels(values, self._model.classes_, self._model.break_ties)
            return float((found == self._y).mean())
        kind = _Classes if isinstance(self._model, SpanSVC) else _Targets
        # The model with these values, whatever rows it is asked for.
        model = copy(self._model)
        model.__class__, model._given = kind, values
        return float(self._scorer(model, self._points, self._y))


class _Classes(SpanSVC):
    """A SpanSVC with given values."""

    _given: Array

    def _pair_values(self, X: Any) -> Array:
        return self._given


class _Targets(SpanSVR):
    """A SpanSVR with given values."""

    _given: Array

    def predict(self, X: Any) -> Array:
        """The values."""
        return self._given[:, 0]
