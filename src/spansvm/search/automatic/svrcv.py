"""SVRCV: a support vector regression that needs no grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...common.types import Array
from ...common.validation import rows_of
from ...estimators.svr import SpanSVR
from ..candidates.refining import Refinement
from ..candidates.scales import start_values
from .base import SelectsItself, of_single_models
from .plans import plan_targets

__all__ = ["SVRCV"]


class SVRCV(SelectsItself, RegressorMixin, BaseEstimator):
    """Support vector regression that selects `C`, `gamma` and `epsilon` itself.

    As :class:`~spansvm.SVCCV`: `C` around the spread of the targets, `gamma` around the scale of
    the rows, `epsilon` around the size of the residuals that a first model leaves.

    Parameters
    ----------
    Cs, gammas, epsilons : list of float, optional
        Values to choose from; by default they are found.  All `Cs` and `gammas` are tried, but
        `epsilons` step by step around the best.
    kernel : {"rbf", "linear", "poly", "precomputed"}, default="rbf"
    scoring : str or callable, optional
        The score to select by, of the left-out predictions; R2 by default.
    cv, n_trials, ensemble, check_dependence, time_budget, n_jobs
        As in :class:`~spansvm.SVCCV`.

    Attributes
    ----------
    C_, gamma_, epsilon_ : float
        The selected values; there is no gamma with a linear kernel.
    best_score_, corrected_score_, corrected_interval_, best_params_, best_index_, cv_results_, \
dependence_, search_
        As in :class:`~spansvm.SVCCV`.
    best_estimator_ : SpanSVR
        The selected model, trained on all rows.
    loo_error_, loo_predict_, loo_residual_
        Those of the selected model, or of the committee; residuals are of the selected model.
    committee_ : RegressionCommittee
        Only with `ensemble`.
    n_features_in_, feature_names_in_

    See Also
    --------
    spansvm.SVCCV : The same for classes.
    spansvm.SpanSearch : Search over a grid, of pipelines as well.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from spansvm import SVRCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), SVRCV()).fit(X, y)
    >>> round(float(model[-1].corrected_score_), 2)
    0.49
    """

    def __init__(
        self,
        Cs: Sequence[float] | None = None,
        gammas: Sequence[float] | None = None,
        epsilons: Sequence[float] | None = None,
        *,
        kernel: str = "rbf",
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
        self.epsilons = epsilons
        self.kernel = kernel
        self.scoring = scoring
        self.cv = cv
        self.n_trials = n_trials
        self.ensemble = ensemble
        self.check_dependence = check_dependence
        self.time_budget = time_budget
        self.n_jobs = n_jobs

    def _check_data(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        X, targets = rows_of(self, X, y=y, ensure_min_samples=2, y_numeric=True)
        return X, np.asarray(targets, dtype=np.float64)

    def _plan(self, X: Any, y: np.ndarray) -> tuple[Refinement, SpanSVR]:
        values = {"C": self.Cs, "gamma": self.gammas, "epsilon": self.epsilons}
        plan = plan_targets(X, y, self.kernel, values, int(self.n_trials))
        return plan, SpanSVR(**start_values(self.kernel))

    @property
    def epsilon_(self) -> float:
        """The selected epsilon."""
        check_is_fitted(self)
        return float(self.best_estimator_.epsilon)

    @property
    def loo_residual_(self) -> Array:
        """Target minus what the selected model would predict, had the row been left out."""
        check_is_fitted(self)
        return self.best_estimator_.loo_residual_

    @available_if(of_single_models)
    def predict_interval(self, X: Any, confidence_level: Any = 0.9) -> Array:
        """Intervals of the selected model: :meth:`spansvm.SpanSVR.predict_interval`."""
        rows = self._rows(X)
        return self.best_estimator_.predict_interval(rows, confidence_level)
