"""SpanSVR: the weighted SVM for regression, with leave-one-out predictions and intervals."""

from __future__ import annotations

import warnings
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVR
from sklearn.utils.validation import check_is_fitted

from ..common.listing import ListsProperties
from ..common.memory import parse_budget
from ..common.types import Array, Rows
from ..common.validation import check_groups, check_parameters, check_rest, rows_of
from ..kernels.functions import kernel_of
from ..kernels.lazy import gram_of
from ..machine.certificate import Certificate, summed
from ..machine.dual import advice_on_stops, warn_indefinite
from ..multiclass.group_left_out import sets_of
from ..regression.intervals import Jackknife, jackknife, same_everywhere
from ..regression.left_out import LeftOutTargets, certificates, leave_out_rows, leave_out_sets
from ..regression.machines import RegressionMachines, TrainedRegressions
from ..regression.paths import Tube, TubePaths
from .as_svc import keeps_vectors, linear_weights
from .as_svr import as_svr, dual_coefficients
from .conformal import check_confidence
from .svc_parameters import REGRESSION_CONSTRAINTS
from .training_rows import NO_ROWS
from .weighting import Weighting, weigh_rows

__all__ = ["SpanSVR"]


class SpanSVR(ListsProperties, RegressorMixin, BaseEstimator):
    """Support vector regression with a weight for every instance and leave-one-out predictions.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
    degree : int, default=3
    gamma : {"scale", "auto"} or float, default="scale"
    coef0 : float, default=0.0
        As in :class:`sklearn.svm.SVR`.
    tol : float, default=1e-3
        Largest violation of the KKT conditions at which training may stop.  Solutions are then
        finished to rounding.
    C : float, default=1.0
        Upper bound of the multipliers; what the weights of the instances multiply.
    epsilon : float, default=0.1
        Half the width of the tube within which residuals cost nothing, in units of the target.
    weighting : Weighting, optional
        Maps importance scores to weights of the instances, such as
        :class:`~spansvm.SigmoidWeighting`.
    gram_budget : float or str, optional
        Memory for a Gram matrix, in bytes or such as "2 GB".
    max_iter : int, default=-1
        Limit on the solver's iterations; -1 for none.
    shrinking, cache_size, verbose
        Accepted, as in :class:`sklearn.svm.SVR`, and of no effect.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
    n_support_ : ndarray of shape (1,)
    dual_coef_ : ndarray or sparse matrix of shape (1, n_SV)
        Signed multipliers.
    intercept_ : ndarray of shape (1,)
    coef_ : ndarray or sparse matrix of shape (1, n_features)
        Only for the linear kernel; read-only.
    n_iter_, fit_status_, shape_fit_
        As in :class:`sklearn.svm.SVR`.
    loo_predict_ : ndarray of shape (l,)
        What ``predict`` would return for each training row, had the model been trained without it
        (or without its group, if it was fitted with `groups`).  Exact up to 4000 rows, otherwise
        predicted by the span; computed on first access.
    loo_residual_ : ndarray of shape (l,)
        Target minus `loo_predict_`; NaN for rows of zero weight.
    loo_error_ : float
        Root of the mean squared `loo_residual_`.
    left_out_sets_ : list of ndarray, or None
        The rows of the groups that are left out together; None if single rows are.
    machines_ : RegressionMachines
    certificate_ : Certificate
        How far the model is from the solution (KKT conditions, duality gap), and how many left-out
        values are exact; computed on first access.

    See Also
    --------
    sklearn.svm.SVR : The same model, trained by LibSVM.
    spansvm.SpanSearch : Choose hyperparameters by leave-one-out predictions.
    spansvm.SpanSVC : The same for classes.

    Notes
    -----
    The solution is that of SVR if the kernel is positive semidefinite.  Rows of zero weight take no
    part; negative weights are an error.  The model keeps a copy of its training data, from which
    the leave-one-out values and intervals are computed on first use.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from spansvm import SpanSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SpanSVR(C=100, gamma=0.01, epsilon=10).fit(scale(X), y)
    >>> round(model.loo_error_, 1)
    54.6
    >>> model.predict_interval(scale(X)[:2], confidence_level=0.9).round()
    array([[105., 289.],
           [-18., 165.]])
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        weighting: Weighting | None = None,
        gram_budget: float | str | None = None,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool | int = False,
        max_iter: int = -1,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.weighting = weighting
        self.gram_budget = gram_budget
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    # Training -------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
    ) -> SpanSVR:
        """Train the regression.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (l, d), or of shape (l, l) if precomputed
        y : array-like of shape (l,)
        sample_weight : array-like of shape (l,), optional
            Factors that multiply ``C``, at least 0; 0 leaves the instance out.
        scores : array-like of shape (l,), optional
            Importance scores in [0, 1] for the weighting.
        groups : array-like of shape (l,), optional
            The group of every row.  The model is the same; its leave-one-out values and intervals
            then leave out whole groups.

        Returns
        -------
        SpanSVR
            The fitted model.
        """
        self.check_parameters()
        # A copy: the leave-one-out values are computed later, and the caller may change X.
        X, target = rows_of(self, X, y=y, copy=True, y_numeric=True)
        target = np.asarray(target, dtype=np.float64)
        sets = None if groups is None else sets_of(check_groups(groups, target.size))
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"With kernel='precomputed', X must be a square matrix; its shape is {X.shape}."
            )
        tube = Tube(weigh_rows(self, target, sample_weight, scores), float(self.epsilon))
        kernel = kernel_of(self, X)
        gram = gram_of(kernel, X, self.gram_budget, whole=True)
        paths = TubePaths(gram, target[:, None], kernel.definite, kernel.linear)
        found = paths.train(tube, tol=self.tol, max_iter=self.max_iter)
        if found.indefinite:
            warn_indefinite(stacklevel=2)
        self.hold(
            TrainedRegressions(
                X, target[:, None], kernel, found, keep=False, budget=self.gram_budget
            )
        )
        self.leave_out(sets)
        if self.fit_status_:
            warnings.warn(
                f"The solver stopped early (max_iter={self.max_iter}) with the KKT conditions "
                f"violated by {found.gap:.2g}. {advice_on_stops(found.gap)}",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid for any training data."""
        check_parameters(self, REGRESSION_CONSTRAINTS)
        if self.gram_budget is not None:
            parse_budget(self.gram_budget)

    def hold(self, machines: TrainedRegressions) -> SpanSVR:
        """Take a regression that was trained elsewhere as its own, as if by ``fit``."""
        self.leave_out(None)
        self.n_features_in_ = int(machines.X.shape[1])
        self.machines_: RegressionMachines = machines
        self.support_, self.support_vectors_ = machines.support, machines.vectors
        self.n_support_ = np.array([machines.support.size], dtype=np.int32)
        self.dual_coef_ = dual_coefficients(machines)
        self.intercept_ = machines.intercepts
        self.n_iter_ = int(machines.found.iterations[0])
        self.fit_status_ = int(not machines.found.converged)
        self.shape_fit_ = machines.X.shape
        return self

    def leave_out(self, sets: list[Rows] | None) -> None:
        """Let the leave-one-out values leave out sets of rows that make up all; None for single."""
        for name in ("_left_out", "_jackknife", "_certificate"):  # those of other sets
            self.__dict__.pop(name, None)
        if sets is not None:
            assert isinstance(self.machines_, TrainedRegressions)
            check_rest(self.machines_.bounds > 0, sets)
        self.left_out_sets_ = sets

    # Prediction -----------------------------------------------------------------------

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return rows_of(self, X, reset=False)

    def predict(self, X: Any) -> Array:
        """Predict the target."""
        rows = self._rows(X)
        return self.machines_.decide(rows)[:, 0]

    def predict_interval(self, X: Any, confidence_level: Any = 0.9) -> Array:
        """Intervals that new targets lie in with a given probability (jackknife+).

        The function without each training row (or group) and its residual there are exact; nothing
        is trained again.  If rows are exchangeable, at least ``1 - 2 (1 - confidence_level)`` of
        new targets are covered whatever their distribution, and about `confidence_level` in
        practice.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        confidence_level : float or array-like of shape (k,), default=0.9
            Between 0 and 1.

        Returns
        -------
        ndarray of shape (n, 2), or (n, 2, k)
            Lower and upper ends; infinite if there are too few training rows for the level.
        """
        rows, levels = self._rows(X), check_confidence(confidence_level)
        ends = [self._jackknife.interval(rows, level) for level in np.atleast_1d(levels)]
        return ends[0] if levels.ndim == 0 else np.stack(ends, axis=2)

    # Left out -------------------------------------------------------------------------

    @property
    def left_out_(self) -> LeftOutTargets:
        """The left-out training rows, from which the following attributes are computed."""
        check_is_fitted(self)
        return self._left_out

    @cached_property
    def _left_out(self) -> LeftOutTargets:
        machines = self.machines_
        assert isinstance(machines, TrainedRegressions)
        if self.left_out_sets_ is None:
            return leave_out_rows(machines)
        return leave_out_sets(machines, self.left_out_sets_)

    @cached_property
    def _jackknife(self) -> Jackknife:
        machines = self.machines_
        assert isinstance(machines, TrainedRegressions)
        return jackknife(machines, self.left_out_sets_)

    @property
    def loo_predict_(self) -> Array:
        """What ``predict`` would return for each row, had it been left out.

        ValueError if no other row, or group, has a positive weight: nothing is left to learn from.
        """
        return self.left_out_.predictions

    @property
    def loo_residual_(self) -> Array:
        """Target minus what would be predicted for each row, had it been left out."""
        return self.left_out_.residuals

    @property
    def loo_error_(self) -> float:
        """Root of the mean squared leave-one-out residual."""
        return self.left_out_.error

    @property
    def certificate_(self) -> Certificate:
        """How far the model is from the solution, and how many left-out values are exact.

        Computed from the multipliers and the Gram matrix, on first access.
        """
        check_is_fitted(self)
        return self._certificate

    @cached_property
    def _certificate(self) -> Certificate:
        if not isinstance(self.machines_, TrainedRegressions):
            raise AttributeError(NO_ROWS.format("certificate_"))
        return summed(certificates(self.machines_, self.left_out_sets_))

    # Other forms of the model ---------------------------------------------------------

    def to_svr(self) -> SVR:
        """The same model as a fitted :class:`sklearn.svm.SVR`, for tools that require one.

        `weighting` is not among its parameters: the solution includes it, but another ``fit`` would
        not.
        """
        check_is_fitted(self)
        return as_svr(self)

    def without_training_rows(self, *, exact: bool = True) -> SpanSVR:
        """A copy to save: it predicts, with intervals, and has the leave-one-out values.

        It keeps the support vectors, and the rows whose multipliers change without others.  If it
        need not be `exact`, for thousands of rows, leave-one-out values are those that the span
        predicts, and intervals have the same width everywhere: neither takes long nor much memory.
        """
        check_is_fitted(self)
        if not isinstance(self.machines_, TrainedRegressions):
            return copy(self)
        if not exact:
            return self._with_span_values(self.machines_)
        self._left_out.changes = None  # computed if it was not yet
        assert self._jackknife is not None
        result = copy(self)
        result.__dict__.pop("_certificate", None)
        result.machines_ = self.machines_.without_rows()
        return result

    def _with_span_values(self, machines: TrainedRegressions) -> SpanSVR:
        if self.left_out_sets_ is None:
            left_out = leave_out_rows(machines, exact=False)
        else:
            left_out = leave_out_sets(machines, self.left_out_sets_, exact=False)
        left_out.changes = None
        result = copy(self)
        result.__dict__.pop("_certificate", None)
        result.machines_ = machines.without_rows()
        result._left_out = left_out
        result._jackknife = same_everywhere(result.machines_, left_out.residuals)
        return result

    # scikit-learn ---------------------------------------------------------------------

    @property
    def coef_(self) -> Any:
        """Weights of the features, for the linear kernel; read-only."""
        check_is_fitted(self)
        if not self.machines_.kernel.linear:
            raise AttributeError("coef_ is only available for kernel='linear'.")
        return linear_weights(self.machines_)

    @property
    def _gamma(self) -> float:
        """What `gamma` stood for, under the name that programs read it from in SVR."""
        check_is_fitted(self)
        kernel = self.machines_.kernel
        return kernel.gamma if keeps_vectors(kernel.name) else 0.0

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "machines_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed" and not callable(self.kernel)
        return tags
