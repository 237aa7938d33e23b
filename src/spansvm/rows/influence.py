"""``influence``: how each training row changes the values of any others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..common.types import Array
from .without import Without

__all__ = ["influence"]


def influence(model: Any, X: Any, *, exact: bool = True) -> Array:
    """The change of every decision value, or prediction, if a training row were removed.

    From one factor of the in-bound vectors, without training anything again.  A positive number
    says that the row has pulled the value down.

    Parameters
    ----------
    model : SpanSVC, SpanSVR, Pipeline that ends in one, or search over one of these
        Fitted.
    X : array-like or sparse matrix of shape (n_new, d)
        The rows whose values are of interest: new ones, or the training rows themselves.
    exact : bool, default=True
        Follow the removals for which the prediction of the span is not exact.  Otherwise all come
        from two matrix products, which is quicker.

    Returns
    -------
    ndarray of shape (n_train, n_new), or (n_train, n_new, n_pairs) with more than two classes
        The decision value without the row minus the one with it; with more than two classes that
        of every pair, in the order of ``decision_function_shape="ovo"``.

    See Also
    --------
    spansvm.data_values : What each training row adds to a score.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from spansvm import SpanSVC, influence
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SpanSVC(C=10).fit(X[:400], y[:400])
    >>> change = influence(model, X[400:])
    >>> change.shape
    (400, 169)
    """
    without = Without(model, X)
    n_machines = without.values.shape[1]
    result = np.zeros((without.n_rows, without.values.shape[0], n_machines))
    for m, (rows, change) in enumerate(without.each_row(exact=exact)):
        result[rows, :, m] = change
    # Of several pairs, "ovo" has the values positive for the first class.
    return result[:, :, 0] if n_machines == 1 else -result
