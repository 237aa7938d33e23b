"""A committee of classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ...common.types import Array
from ...multiclass.calibration import PairSigmoids
from ..candidates.composite import rebuilt, take_apart
from .base import BaseCommittee
from .means import from_logs, log_odds, log_probabilities

__all__ = ["Committee"]


class Committee(ClassifierMixin, BaseCommittee):
    """The candidates of a search that could have been the best, as one classifier.

    A search makes it: ``search.committee_``, or ``search.committee(max_members=5)``; or it searches
    itself: ``Committee(SpanSearch(...)).fit(X, y)``.  Its log odds are the mean of those of the
    members' calibrated probabilities, weighted by ``exp(-(l - l_min) / se)``: `l` is the mean log
    loss of a candidate's left-out probabilities, `se` the standard error of the smallest.

    Parameters
    ----------
    search : SpanSearch or SpanRandomizedSearch, optional
        The search of ``fit``; None if a fitted search has made the committee.
    max_members : int, default=20
        At most so many candidates, those of the smallest loss.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    members_ : list of dict
        Parameters of the members, the best first.
    weights_ : ndarray of shape (n_members,)
        They sum to 1.
    losses_ : ndarray of shape (n_members,)
        Mean log losses of the members' left-out probabilities.
    n_kernels_ : int
        The number of kernel matrices that predicting takes: members with the same transformers and
        kernel share one.
    loo_predict_proba_ : ndarray of shape (l, n_classes)
        The same of the members' left-out probabilities; with folds, NaN for rows that are in none.
        Rows of zero weight, which no member has seen, have those of ``predict_proba``.
    loo_predict_, loo_error_, loo_score_
        The classes that follow, the share of rows for which they are wrong, and the score of the
        search.  Optimistic: the weights were found on the same rows.
    corrected_score_, corrected_interval_
        The score to expect on new rows, and its 95% CI: the weights are found on drawn rows, and
        the rows that were not drawn are scored.  Computed on first access.
    n_features_in_, feature_names_in_
        As in any estimator.

    See Also
    --------
    spansvm.SpanSearch : The search that makes it.
    spansvm.RegressionCommittee : The same for regressions.

    Notes
    -----
    The probabilities of a member are those of ``SpanSVC.predict_proba``.  With more than two
    classes, the predicted class is the most probable one, which need not win the most pairs: class
    weights, which probabilities do not know, then have less effect than in a single model.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> from spansvm import SpanSearch
    >>> X, y = load_wine(return_X_y=True)
    >>> grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.01, 0.1, 1]}
    >>> search = SpanSearch(make_pipeline(StandardScaler(), SVC()), grid).fit(X, y)
    >>> committee = search.committee_
    >>> committee.predict_proba(X).shape
    (178, 3)
    """

    classes_: np.ndarray
    losses_: Array
    loo_predict_proba_: Array
    _calibrations: list[PairSigmoids]
    _indices: np.ndarray
    _counted: np.ndarray

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities: for every two classes, the mean of the members' log odds.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Columns in the order of ``classes_``.
        """
        every = zip(self._values(X), self._calibrations, self.weights_, strict=True)
        return from_logs(
            np.sum([weight * log_probabilities(own(v)) for v, own, weight in every], axis=0)
        )

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of :meth:`predict_proba`."""
        return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> Array:
        """Of two classes the log odds of the second, of more :meth:`predict_log_proba`."""
        return log_odds(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable class."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    @property
    def loo_predict_(self) -> np.ndarray:
        """What ``predict`` would return for each row, had it been left out; optimistic."""
        check_is_fitted(self)
        known = np.nan_to_num(self.loo_predict_proba_)
        return self.classes_[known.argmax(axis=1)]

    @property
    def loo_error_(self) -> float:
        """Share of the left-out rows that are misclassified; optimistic."""
        wrong = self.loo_predict_ != self.classes_[self._indices]
        return float(wrong[self._counted].mean())

    def to_svc(self) -> Any:
        """The only member as a fitted SVC, at the end of its pipeline; ValueError for several."""
        member = self._only_member("to_svc")
        return rebuilt(member, {}, take_apart(member).machine.to_svc())
