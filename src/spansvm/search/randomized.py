"""SpanRandomizedSearch: candidates drawn at random, with the interface of RandomizedSearchCV."""

from __future__ import annotations

from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterSampler

from .base import BaseSearch

__all__ = ["SpanRandomizedSearch"]


class SpanRandomizedSearch(BaseSearch):
    """Search for hyperparameters among candidates that are drawn at random.

    Used like :class:`sklearn.model_selection.RandomizedSearchCV`, which draws the same candidates
    from the same `random_state`.  They are evaluated as by :class:`~spansvm.SpanSearch`: sorted,
    so that each starts from the solution of a similar one.  Those with the same kernel share one
    Gram matrix, so that it pays to draw `C` and the class weights, and to list a few values of
    `gamma` instead of a distribution.

    Parameters
    ----------
    estimator : SpanSVC, sklearn.svm.SVC, or what SpanSearch accepts
    param_distributions : dict or list of dicts
        For each parameter a list of values, or a distribution with a method ``rvs``, such as
        :func:`scipy.stats.loguniform`; with several dicts, one of them is drawn first.
    n_iter : int, default=10
        How many candidates are drawn.
    method, scoring, cv, refit, ties, n_jobs, verbose, pre_dispatch, error_score, \
return_train_score, gram_budget, corrected, check_dependence, time_budget, checkpoint
        As in :class:`~spansvm.SpanSearch`.  Candidates that are drawn have no neighbourhood on a
        grid: with ``ties="plateau"``, among equal scores the smallest hinge loss decides.
    random_state : int, RandomState or None, default=None
        For the draws.

    Attributes
    ----------
    cv_results_, best_index_, best_params_, best_score_, corrected_score_, ...
        Those of :class:`~spansvm.SpanSearch`.

    See Also
    --------
    spansvm.SpanSearch : Search over a grid.
    sklearn.model_selection.RandomizedSearchCV : The same for any estimator, by cross-validation.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from sklearn.svm import SVC
    >>> from spansvm import SpanRandomizedSearch
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(MinMaxScaler(), SVC())
    >>> drawn = {"svc__C": loguniform(0.1, 1000), "svc__gamma": [0.03, 0.1, 0.3, 1]}
    >>> search = SpanRandomizedSearch(model, drawn, n_iter=60, random_state=0).fit(X, y)
    >>> round(float(search.best_score_), 4)
    0.9842
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: int = 10,
        method: str | None = None,
        scoring: Any = None,
        cv: Any = None,
        refit: Any = True,
        ties: str = "plateau",
        n_jobs: int | None = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        gram_budget: float | str | None = None,
        corrected: bool = True,
        check_dependence: bool = True,
        time_budget: float | str | None = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.method = method
        self.scoring = scoring
        self.cv = cv
        self.refit = refit
        self.ties = ties
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.pre_dispatch = pre_dispatch
        self.random_state = random_state
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.gram_budget = gram_budget
        self.corrected = corrected
        self.check_dependence = check_dependence
        self.time_budget = time_budget
        self.checkpoint = checkpoint

    def _list_candidates(self) -> list[dict[str, Any]]:
        if not isinstance(self.n_iter, Integral) or self.n_iter < 1:
            raise ValueError(f"n_iter must be a whole number of at least 1; got {self.n_iter!r}.")
        return list(
            ParameterSampler(
                self.param_distributions, int(self.n_iter), random_state=self.random_state
            )
        )
