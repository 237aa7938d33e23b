"""What takes the place of scikit-learn's classes in its own tests.

The searches have exactly the arguments of scikit-learn's, and ``cv=None`` means five folds, as
there; or leave-one-out, as with us, if the variable SPANSVM_PEERS is "default".  Everything else is
ours.  Many tests of the searches are about any classifier.  Where that is one with the parameters
of an SVC, an SVC takes its place, so that the engine is tested; others are searched as they are, by
scikit-learn's machinery, without the warning that says so.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from sklearn.svm import SVC

from spansvm import SpanRandomizedSearch, SpanSearch, SpanSVC, SpanSVR
from spansvm.search import UnacceleratedWarning

__all__ = ["SUBSTITUTES", "USES"]

#: What a search does where scikit-learn's has no such argument.
MODE: dict[str, Any] = {"method": "kfold", "ties": "first"}
if os.environ.get("SPANSVM_PEERS") == "default":
    MODE = {}

#: How often the present test has made or fitted one of our classes.
USES = {"count": 0}


class _Counted:
    """Counts in which tests it takes part."""

    def __new__(cls, *_args: Any, **_params: Any) -> Any:
        USES["count"] += 1
        return super().__new__(cls)


class Machine(_Counted, SpanSVC):
    """In the place of SVC."""

    def fit(self, X: Any, y: Any, *args: Any, **params: Any) -> Any:
        USES["count"] += 1
        return super().fit(X, y, *args, **params)


class RegressionMachine(_Counted, SpanSVR):
    """In the place of SVR."""

    def fit(self, X: Any, y: Any, *args: Any, **params: Any) -> Any:
        USES["count"] += 1
        return super().fit(X, y, *args, **params)


class _Quiet(_Counted):
    """Does not warn where scikit-learn evaluates the candidates."""

    def fit(self, X: Any, y: Any = None, **params: Any) -> Any:
        USES["count"] += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnacceleratedWarning)
            return super().fit(X, y, **params)


class GridSearch(_Quiet, SpanSearch):
    """In the place of GridSearchCV."""

    def __init__(
        self, estimator, param_grid, *, scoring=None, n_jobs=None, refit=True, cv=None,
        verbose=0, pre_dispatch="2*n_jobs", error_score=np.nan, return_train_score=False,
    ):  # fmt: skip
        super().__init__(
            estimator, param_grid, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv,
            verbose=verbose, pre_dispatch=pre_dispatch, error_score=error_score,
            return_train_score=return_train_score, **MODE,
        )  # fmt: skip


class RandomizedSearch(_Quiet, SpanRandomizedSearch):
    """In the place of RandomizedSearchCV."""

    def __init__(
        self, estimator, param_distributions, *, n_iter=10, scoring=None, n_jobs=None, refit=True,
        cv=None, verbose=0, pre_dispatch="2*n_jobs", random_state=None, error_score=np.nan,
        return_train_score=False,
    ):  # fmt: skip
        super().__init__(
            estimator, param_distributions, n_iter=n_iter, scoring=scoring, n_jobs=n_jobs,
            refit=refit, cv=cv, verbose=verbose, pre_dispatch=pre_dispatch,
            random_state=random_state, error_score=error_score,
            return_train_score=return_train_score, **MODE,
        )  # fmt: skip


class LinearMachine(SVC):
    """In the place of LinearSVC, in tests of a search."""

    def __init__(self, C=1.0, *, random_state=None):
        super().__init__(kernel="linear", C=C, random_state=random_state)


class LogisticRegression(SpanSVC):
    """In the place of LogisticRegression, in tests of a search."""


class ShortMachine(SVC):
    """In the place of the estimators of the tests of callbacks, whose grid has `max_iter`."""

    def __init__(self, max_iter=20):
        super().__init__(max_iter=max_iter)


#: What is substituted while a test module is imported: module, name, what takes its place.
SUBSTITUTES: dict[str, list[tuple[str, str, Any]]] = {
    "sklearn.svm.tests.test_svm": [
        ("sklearn.svm", "SVC", Machine),
        ("sklearn.svm", "SVR", RegressionMachine),
    ],
    "sklearn.model_selection.tests.test_search": [
        ("sklearn.model_selection", "GridSearchCV", GridSearch),
        ("sklearn.model_selection", "RandomizedSearchCV", RandomizedSearch),
        ("sklearn.svm", "LinearSVC", LinearMachine),
        ("sklearn.linear_model", "LogisticRegression", LogisticRegression),
        ("sklearn.callback.tests._utils", "MaxIterEstimator", ShortMachine),
        ("sklearn.callback.tests._utils", "NoCallbackEstimator", ShortMachine),
    ],
}
