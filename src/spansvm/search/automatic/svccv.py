"""SVCCV: a support vector classifier that needs no grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ...common.types import Array
from ...common.validation import Constraint, check_parameters, rows_of
from ...estimators.svc import SpanSVC
from ..candidates.refining import Refinement
from ..candidates.scales import start_values
from .base import SelectsItself
from .plans import class_weights, plan_classes

__all__ = ["SVCCV"]

_CONSTRAINTS: dict[str, Constraint] = {
    "class_weight": (
        lambda value: (
            value is None
            or isinstance(value, dict)
            or (isinstance(value, str) and value in ("auto", "balanced"))
        ),
        "'auto', 'balanced', a dict or None",
    ),
}


class SVCCV(SelectsItself, ClassifierMixin, BaseEstimator):
    """Support vector classifier that selects `C`, `gamma` and class weights itself.

    By leave-one-out, as :class:`~sklearn.linear_model.RidgeCV` does it, but without a grid: a
    coarse stage around the scales of the data, then finer steps around the best, and beyond the
    ends of the coarse stage while that raises the score by more than its standard error.  At most
    80 models are trained, with 8 Gram matrices.

    Features are taken as they come: put a scaler before it in a pipeline.

    Parameters
    ----------
    Cs, gammas : list of float, optional
        Values to choose `C` and `gamma` from.  By default they are found.
    kernel : {"rbf", "linear", "poly", "precomputed"}, default="rbf"
        Of "poly", degrees 3 and 2 are tried; of "linear" and "precomputed" only `C` is searched.
    class_weight : "auto", dict, "balanced" or None, default="auto"
        "auto" searches weights of the classes, from none to balanced, where that can help: if the
        largest class is at least four times as large as the smallest, or 1.25 times with another
        score than accuracy.  Otherwise the weights of all candidates, as in
        :class:`~sklearn.svm.SVC`.
    scoring : str or callable, optional
        The score to select by, of the left-out predictions; accuracy by default.
    cv : int, splitter or iterable, optional
        Folds; by default rows (or `groups`) are left out.
    n_trials : int, default=80
        How many candidates are evaluated, at most.
    ensemble : bool, default=False
        Whether the candidates that could have been the best predict together, as the
        :class:`~spansvm.Committee` of the search; otherwise the selected one alone does.
    check_dependence : bool, default=True
        Whether a DependentRowsWarning tells that rows depend on their neighbours in the order
        given, as by :class:`~spansvm.SpanSearch`.
    time_budget : float or str, optional
        Time for the evaluation of candidates, in seconds or as ``"2 min"``; the best of those that
        are finished is then selected, with a SearchStoppedWarning.
    n_jobs : int, optional
        How many chains of candidates run at a time.  Results do not depend on it.

    Attributes
    ----------
    C_, gamma_ : float
        The selected values; there is no gamma with a linear kernel.
    best_score_ : float
        The best score, which is optimistic: see `corrected_score_`.
    corrected_score_ : float
        The same, corrected for being the best of many candidates; computed on first access.  With
        `ensemble`, that of the committee.
    corrected_interval_ : (float, float)
        Its 95% CI.
    best_estimator_ : SpanSVC
        The selected model, trained on all rows.
    best_params_, best_index_, cv_results_, dependence_
        As in :class:`~spansvm.SpanSearch`.
    search_ : estimator
        The search, with its other attributes.
    committee_ : Committee
        Only with `ensemble`.
    loo_error_, loo_predict_, loo_predict_proba_
        Those of the selected model, or of the committee; for reporting, `corrected_score_` takes
        the selection into account.
    loo_decision_function_, loo_margin_
        Those of the selected model.
    classes_, n_features_in_, feature_names_in_

    See Also
    --------
    spansvm.SVRCV : The same for a regression.
    spansvm.SpanSearch : Search over a grid, of pipelines as well.

    Notes
    -----
    Nothing is drawn: the same rows give the same model.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from spansvm import SVCCV
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), SVCCV()).fit(X, y)
    >>> round(float(model[-1].best_score_), 3)
    0.994
    >>> round(model[-1].corrected_score_, 3)
    0.984
    """

    def __init__(
        self,
        Cs: Sequence[float] | None = None,
        gammas: Sequence[float] | None = None,
        *,
        kernel: str = "rbf",
        class_weight: dict | str | None = "auto",
        scoring: Any = None,
        cv: Any = None,
        n_trials: int = 80,
        ensemble: bool = False,
        check_dependence: bool = True,
        time_budget: float | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.kernel = kernel
        self.class_weight = class_weight
        self.scoring = scoring
        self.cv = cv
        self.n_trials = n_trials
        self.ensemble = ensemble
        self.check_dependence = check_dependence
        self.time_budget = time_budget
        self.n_jobs = n_jobs

    def _check_data(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        X, labels = rows_of(self, X, y=y, ensure_min_samples=2)
        check_classification_targets(labels)
        return X, labels

    def _plan(self, X: Any, y: np.ndarray) -> tuple[Refinement, SpanSVC]:
        check_parameters(self, _CONSTRAINTS)
        weights = class_weights(self.class_weight, y, self.scoring)
        plan = plan_classes(X, self.kernel, self.Cs, self.gammas, weights, int(self.n_trials))
        return plan, SpanSVC(**start_values(self.kernel), class_weight=weights[0])

    @property
    def classes_(self) -> np.ndarray:
        """Labels of the classes."""
        check_is_fitted(self)
        return self.best_estimator_.classes_

    def decision_function(self, X: Any) -> Array:
        """Decision values of the selected model, or of the committee: its log odds."""
        rows = self._rows(X)
        return self._predicting.decision_function(rows)

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities, calibrated on left-out values.

        With more than two classes the most probable one need not be that of :meth:`predict`: see
        :meth:`spansvm.SpanSVC.predict_proba`.
        """
        rows = self._rows(X)
        return self._predicting.predict_proba(rows)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of :meth:`predict_proba`."""
        rows = self._rows(X)
        return self._predicting.predict_log_proba(rows)

    @property
    def loo_predict_proba_(self) -> Array:
        """Probabilities that each row would be given, had it been left out."""
        check_is_fitted(self)
        return self._predicting.loo_predict_proba_

    @property
    def loo_decision_function_(self) -> Array:
        """Decision values of the selected model for each row, had it been left out."""
        check_is_fitted(self)
        return self.best_estimator_.loo_decision_function_

    @property
    def loo_margin_(self) -> Array:
        """How far each row, had it been left out, would lie on the side of its own label."""
        check_is_fitted(self)
        return self.best_estimator_.loo_margin_
