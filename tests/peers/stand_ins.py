"""What takes the place of scikit-learn's classes in its own tests.

The searches have exactly the arguments of scikit-learn's, and ``cv=None`` means five folds, as
there; or leave-one-out, as with us, if the variable SPANSVM_PEERS is "default".  Everything else is
ours.  Many tests of the searches are about an SVC only by accident: they
search any classifier.  Where that is one with the parameters of an SVC, an SVC takes its place.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from spansvm import SpanRandomizedSearch, SpanSearch, SpanSVC

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


def _holds_an_svc(value: Any) -> bool:
    """Whether a value, or a parameter of it at any depth, is an SVC."""
    if isinstance(value, (SVC, SpanSVC)):
        return True
    if isinstance(value, dict):
        return any(map(_holds_an_svc, value.values()))
    if isinstance(value, (list, tuple, np.ma.MaskedArray)):
        return any(map(_holds_an_svc, value))
    if hasattr(value, "get_params") and not isinstance(value, type):
        return any(map(_holds_an_svc, value.get_params(deep=False).values()))
    return False


def _searches_an_svc(search: Any) -> bool:
    """Whether the estimator is or contains an SVC, or gets one from the grid as its last step."""
    if isinstance(search.estimator, Pipeline) and search.estimator.steps[-1][1] is None:
        return _holds_an_svc(search.get_params(deep=False))
    return _holds_an_svc(search.estimator)


class _OfSVC(_Counted):
    """Skips tests that search something else."""

    def fit(self, X: Any, y: Any = None, **params: Any) -> Any:
        USES["count"] += 1
        if not _searches_an_svc(self):
            pytest.skip(f"of no concern: searches {type(self.estimator).__name__}, not an SVC")
        return super().fit(X, y, **params)


class GridSearch(_OfSVC, SpanSearch):
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


class RandomizedSearch(_OfSVC, SpanRandomizedSearch):
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


class ProbableMachine(SpanSVC):
    """In the place of LogisticRegression, in tests of a search."""


class ShortMachine(SVC):
    """In the place of the estimators of the tests of callbacks, whose grid has `max_iter`."""

    def __init__(self, max_iter=20):
        super().__init__(max_iter=max_iter)


#: What is substituted while a test module is imported: module, name, what takes its place.
SUBSTITUTES: dict[str, list[tuple[str, str, Any]]] = {
    "sklearn.svm.tests.test_svm": [("sklearn.svm", "SVC", Machine)],
    "sklearn.model_selection.tests.test_search": [
        ("sklearn.model_selection", "GridSearchCV", GridSearch),
        ("sklearn.model_selection", "RandomizedSearchCV", RandomizedSearch),
        ("sklearn.svm", "LinearSVC", LinearMachine),
        ("sklearn.linear_model", "LogisticRegression", ProbableMachine),
        ("sklearn.callback.tests._utils", "MaxIterEstimator", ShortMachine),
        ("sklearn.callback.tests._utils", "NoCallbackEstimator", ShortMachine),
    ],
}
