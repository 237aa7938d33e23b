"""A trained :class:`~spansvm.SpanSVR` as a fitted :class:`sklearn.svm.SVR`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.svm import SVR

from ..regression.machines import RegressionMachines, TrainedRegressions
from .as_svc import keeps_vectors

if TYPE_CHECKING:
    from .svr import SpanSVR

__all__ = ["as_svr", "dual_coefficients", "put_regression"]


def dual_coefficients(machines: RegressionMachines) -> Any:
    """``dual_coef_`` of a regression: sparse, with explicit zeros, if the support vectors are."""
    coefficients = np.ascontiguousarray(machines.coefficients[:, :1].T)
    if sparse.issparse(machines.vectors) and keeps_vectors(machines.kernel.name):
        width = coefficients.shape[1]
        parts = coefficients[0], np.arange(width), np.array([0, width])
        return type(machines.vectors)(parts, shape=(1, width))
    return coefficients


def as_svr(model: SpanSVR) -> SVR:
    """A fitted SVR that predicts like a fitted SpanSVR."""
    machines = model.machines_
    kernel = machines.kernel
    if callable(kernel.name) and not isinstance(machines, TrainedRegressions):
        raise ValueError(
            "With a callable kernel an SVR needs all training rows, and a saved model keeps none: "
            "fit it again."
        )
    # A fit on two rows, only to create every attribute that SVR sets in ``fit``, whatever the
    # version of scikit-learn.
    rows: Any = np.eye(2)
    if keeps_vectors(kernel.name):
        rows = np.zeros((2, model.shape_fit_[1]))
        if sparse.issparse(model.support_vectors_):
            rows = sparse.csr_matrix(rows)
    svr = SVR(kernel="precomputed" if callable(kernel.name) else kernel.name)
    svr.fit(rows, np.array([0.0, 1.0]))
    own = model.get_params(deep=False)
    svr.set_params(**{name: own[name] for name in own.keys() & svr.get_params().keys()})
    svr.shape_fit_, svr.n_features_in_ = model.shape_fit_, model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        svr.feature_names_in_ = model.feature_names_in_
    svr._gamma = kernel.gamma if keeps_vectors(kernel.name) else 0.0
    if callable(kernel.name):
        svr._BaseLibSVM__Xfit = machines.X  # type: ignore[attr-defined]
    put_regression(svr, machines)
    svr.n_iter_ = svr._num_iter = model.n_iter_
    svr.fit_status_ = model.fit_status_
    return svr


def put_regression(svr: SVR, machines: RegressionMachines) -> None:
    """Put the solution of a regression into an SVR that was fitted on the same rows."""
    support = machines.support
    if keeps_vectors(svr.kernel):
        # SVR does not count rows of zero weight, except where these indices select kernel values.
        support = (np.cumsum(machines.bounds > 0) - 1)[support]
        vectors = machines.vectors
        svr.support_vectors_ = type(svr.support_vectors_)(vectors) if svr._sparse else vectors
    svr.support_ = support.astype(np.int32)
    svr._n_support = np.array([support.size, 0], dtype=np.int32)
    coefficients = np.ascontiguousarray(machines.coefficients[:, :1].T)
    svr.dual_coef_ = dual_coefficients(machines) if svr._sparse else coefficients
    svr.intercept_ = machines.intercepts[:1].copy()
    svr._dual_coef_, svr._intercept_ = svr.dual_coef_, svr.intercept_
