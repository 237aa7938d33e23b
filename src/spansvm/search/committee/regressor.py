"""A committee of regressions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from ...common.types import Array
from ...estimators.svr import SpanSVR
from ..candidates.composite import rebuilt, take_apart
from .base import BaseCommittee

__all__ = ["RegressionCommittee"]


class RegressionCommittee(RegressorMixin, BaseCommittee):
    """The candidates of a search that could have been the best, as one regressor.

    A search makes it: ``search.committee_``, or ``search.committee(max_members=5)``; or it searches
    itself: ``RegressionCommittee(SpanSearch(...)).fit(X, y)``.  It predicts the mean of what its
    members predict, weighted by ``exp(-(l - l_min) / se)``: `l` is the mean squared residual of the
    left-out rows for a candidate, `se` the standard error of the smallest.

    Parameters
    ----------
    search : SpanSearch or SpanRandomizedSearch, optional
        The search of ``fit``; None if a fitted search has made the committee.
    max_members : int, default=20
        At most so many candidates, those of the smallest loss.

    Attributes
    ----------
    members_ : list of dict
        Parameters of the members, the best first.
    weights_ : ndarray of shape (n_members,)
        They sum to 1.
    losses_ : ndarray of shape (n_members,)
        Mean squared left-out residuals, in units of the variance of the targets.
    n_kernels_ : int
        The number of kernel matrices that predicting takes: members with the same transformers and
        kernel share one.
    loo_predict_ : ndarray of shape (l,) or (l, k)
        The mean of the members' left-out predictions; with folds, NaN for rows that are in none.
        Rows of zero weight, which no member has seen, have those of ``predict``.
    loo_error_, loo_score_
        Root of the mean squared left-out residual, and the score of the search.  Optimistic: the
        weights were found on the same rows.
    corrected_score_, corrected_interval_
        The score to expect on new rows, and its 95% CI: the weights are found on drawn rows, and
        the rows that were not drawn are scored.  Computed on first access.
    n_features_in_, feature_names_in_
        As in any estimator.

    See Also
    --------
    spansvm.SpanSearch : The search that makes it.
    spansvm.Committee : The same for classifiers.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.svm import SVR
    >>> from spansvm import SpanSearch
    >>> X, y = load_diabetes(return_X_y=True)
    >>> grid = {"C": [1, 10, 100, 1000], "gamma": [0.1, 1, 10]}
    >>> search = SpanSearch(SVR(epsilon=10), grid).fit(X, y)
    >>> search.committee_.predict(X).shape
    (442,)
    """

    losses_: Array
    loo_predict_: Array
    _targets: Array
    _counted: np.ndarray
    #: The transformer of the targets of every member, or None.
    _target_transformers: list[Any]

    def predict(self, X: Any) -> Array:
        """Predict the target: the weighted mean of the members' predictions."""
        every = zip(self._values(X), self._target_transformers, self.weights_, strict=True)
        mean: Array = np.sum(
            [
                weight * (values if own is None else np.asarray(own.inverse_transform(values)))
                for values, own, weight in every
            ],
            axis=0,
        )
        return mean[:, 0] if self._targets.ndim == 1 else mean

    @property
    def loo_error_(self) -> float:
        """Root of the mean squared left-out residual; optimistic."""
        apart = (self._targets - self.loo_predict_)[self._counted]
        return float(np.sqrt(np.mean(apart**2)))

    def to_svr(self) -> Any:
        """The only member as a fitted SVR, at the end of its pipeline; ValueError for several."""
        member = self._only_member("to_svr")
        machine = take_apart(member).machine
        return rebuilt(member, {}, machine.to_svr()) if isinstance(machine, SpanSVR) else member
