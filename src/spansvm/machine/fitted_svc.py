"""The dual solution of a fitted SVC, read on the rows that it was fitted on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from ..algebra.qp import kkt_gap
from ..common.validation import check_rows, check_weights, encode_labels, n_rows
from ..kernels.functions import dense, kernel_of
from ..kernels.gram import Gram
from ..kernels.lazy import gram_of
from .dual import DualSolution, instance_bounds, terms_of, warn_indefinite

__all__ = ["check_same_rows", "read_svc"]

#: A model that violates the KKT conditions by more than this was fitted on other data.
_SUSPICIOUS_GAP = 0.1


def read_svc(
    svc: SVC, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
) -> tuple[DualSolution, Gram]:
    """Read the dual solution of a fitted two-class :class:`sklearn.svm.SVC`.

    Parameters
    ----------
    svc : SVC
        A fitted model.
    X, y, sample_weight
        The data that it was fitted on.

    Returns
    -------
    solution : DualSolution
    gram : Gram
        Gram matrix of the training instances.
    """
    check_is_fitted(svc)
    if len(svc.classes_) != 2:
        raise ValueError(
            f"The model has {len(svc.classes_)} classes; the span is defined for two. "
            "Analyse a model for each pair of classes, or use SpanSVC, which handles all of them."
        )
    X = check_rows(X, svc.kernel)
    n = svc.shape_fit_[0]
    if n_rows(X) != n or (not callable(svc.kernel) and X.shape != svc.shape_fit_):
        shape = getattr(X, "shape", (n_rows(X),))
        raise ValueError(
            f"X must be the data that the model was fitted on, of shape {svc.shape_fit_}; "
            f"its shape is {shape}."
        )
    signs = encode_labels(y, svc.classes_, n)
    weight = check_weights(1.0 if sample_weight is None else sample_weight, n, name="sample_weight")
    C = instance_bounds(svc.C, svc.class_weight_, (signs > 0).astype(int), weight)

    # SVC drops rows of zero weight before training, and its support_ does not count them.
    present = np.flatnonzero(weight > 0)
    if svc.support_.max(initial=-1) >= present.size:
        raise ValueError(
            "sample_weight must be the weights that the model was fitted with: these leave fewer "
            "rows than the model was fitted on."
        )
    support = present[svc.support_]
    check_same_rows(svc, X, support)
    beta = np.zeros(signs.size)
    beta[support] = dense(svc.dual_coef_).ravel()
    alpha = signs * beta
    if (alpha < 0).any():
        raise ValueError("y must be the labels that the model was fitted on; some differ.")
    if (alpha > C * (1 + 1e-9)).any():
        raise ValueError(
            "sample_weight must be the weights that the model was fitted with, and C and "
            "class_weight must not have changed: some dual coefficients exceed their bounds."
        )

    kernel = kernel_of(svc, X)
    gram = gram_of(kernel, X, whole=True)
    twins = gram.twins(signs)
    if twins is not None:
        alpha = twins.share(twins.merge(alpha), C)
        beta = signs * alpha
    indefinite = not kernel.definite and gram.indefinite
    if indefinite:
        warn_indefinite(stacklevel=3)
    terms = terms_of(signs, C)
    g = gram.gradient(beta, terms.c)
    gap = max(float(kkt_gap(beta, g, terms.lo, terms.hi)), 0.0)
    if svc.fit_status_ == 0 and gap > _SUSPICIOUS_GAP:
        warnings.warn(
            f"The model violates the KKT conditions on these data by {gap:.2g}, far more than "
            f"its tol={svc.tol:g}: are X, y and sample_weight what it was fitted on? (With a very "
            "large C the cause may be LibSVM's single-precision kernel values.)",
            UserWarning,
            stacklevel=3,
        )
    intercept = float(svc.intercept_[0])
    solution = DualSolution(
        alpha=np.minimum(np.abs(alpha), C),
        C=C,
        y=signs,
        intercept=intercept,
        decision=g - terms.c + intercept,
        gap=gap,
        converged=bool(svc.fit_status_ == 0 and gap <= _SUSPICIOUS_GAP),
        iterations=int(np.sum(svc.n_iter_)),
        indefinite=indefinite,
    )
    return solution, gram


def check_same_rows(svc: Any, X: Any, support: np.ndarray) -> None:
    """ValueError unless the support vectors of a model are the rows of `X` at `support`."""
    if svc.kernel == "precomputed" or callable(svc.kernel):
        return  # the model does not keep the rows themselves
    expected, rows = svc.support_vectors_, X[support]
    if sparse.issparse(rows) or sparse.issparse(expected):
        same = abs(sparse.csr_array(expected) - sparse.csr_array(rows)).nnz == 0
    else:
        same = np.array_equal(expected, rows)
    if not same:
        raise ValueError(
            "X and sample_weight must be what the model was fitted on: its support vectors "
            "are not the rows of X at its support indices."
        )
