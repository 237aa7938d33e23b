"""Exact leave-one-out: the decision value of every instance from a model that never saw it.

Removing an instance that is not a support vector changes nothing, unless no vector is in-bound and
it bounds the interval of the intercept, whose middle then moves.  For a support vector the solution
is followed while its multiplier goes to zero; all removals share one matrix.  Where that is not
possible, the model without it is trained, starting from what the span predicts; if that meets the
KKT conditions (Theorem 2's assumption holds), it already is the solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.svm import SVC, SVR

from ..common.types import Array, Rows
from ..common.validation import (
    check_groups,
    check_rest,
    check_rows,
    encode_labels,
    n_rows,
)
from ..kernels.functions import kernel_of
from ..kernels.gram import Gram, as_gram
from ..kernels.lazy import gram_of
from ..machine.dual import DualSolution, solve_dual, warn_indefinite
from ..machine.following import EXACT_TOLERANCE
from ..machine.groups import Remover
from ..machine.values import exact_values, without_traces
from ..multiclass.group_left_out import sets_of
from ..regression.left_out import leave_out_rows
from ..regression.machines import TrainedRegressions
from .svc import SpanSVC
from .svr import SpanSVR
from .weighting import weigh

__all__ = ["exact_group_decision", "exact_loo", "exact_loo_decision"]


def exact_loo(
    estimator: SVC | SpanSVC | SVR | SpanSVR,
    X: Any,
    y: npt.ArrayLike,
    sample_weight: npt.ArrayLike | None = None,
    scores: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
) -> Array:
    """Compute the decision values, or the predictions of a regression, of exact leave-one-out.

    Parameters
    ----------
    estimator : sklearn.svm.SVC, SpanSVC, sklearn.svm.SVR or SpanSVR
        Only its parameters are used, so it need not be fitted.  Models are trained to a
        tolerance of 1e-8, whatever its ``tol`` and ``max_iter``.
    X : array-like or sparse matrix of shape (l, d), or of shape (l, l) if precomputed
    y : array-like of shape (l,)
        Labels of two classes, or targets.
    sample_weight : array-like of shape (l,), optional
    scores : array-like of shape (l,), optional
        Importance scores for the weighting of a :class:`~spansvm.SpanSVC`.
    groups : array-like of shape (l,), optional
        The group of every row: whole groups are left out.

    Returns
    -------
    ndarray of shape (l,)
        For each instance, the decision value of the model trained on all the others, or on all
        other groups.  Positive values predict ``classes_[1]``, the larger label.  Of a regression,
        its predictions.

    See Also
    --------
    spansvm.analyze : Estimates and bounds of the leave-one-out error, from one model.
    spansvm.SpanSearch : With ``method="loo"``, choose hyperparameters by these values.
    sklearn.model_selection.LeaveOneOut : Splitter to leave out rows by retraining any estimator.

    Notes
    -----
    ``gamma="scale"`` and ``class_weight="balanced"`` are computed once, on all rows.  Where all
    other instances (or groups) belong to one class, the value is the label of that class, -1 or +1.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.svm import SVC
    >>> from spansvm import exact_loo
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> values = exact_loo(SVC(C=10), X, y)
    >>> float(((values > 0) == y).mean().round(3))
    0.923
    """
    if isinstance(estimator, (SVR, SpanSVR)):
        model, own = SpanSVR(), estimator.get_params(deep=False)
        own = {name: own[name] for name in own.keys() & model.get_params(deep=False).keys()}
        model.set_params(**{**own, "max_iter": -1, "tol": EXACT_TOLERANCE})
        model.fit(X, y, sample_weight, scores, groups)
        if groups is not None:
            return model.loo_predict_
        assert isinstance(model.machines_, TrainedRegressions)
        return leave_out_rows(model.machines_, exact=True).predictions
    if not isinstance(estimator, (SVC, SpanSVC)):
        raise TypeError(
            "estimator must be an SVC, an SVR, a SpanSVC or a SpanSVR; got "
            f"{type(estimator).__name__}."
        )
    X = check_rows(X, estimator.kernel)
    labels = np.asarray(y)
    classes = np.unique(labels)
    if classes.size != 2:
        raise ValueError(f"y must contain two classes; it contains {classes.size}.")
    signs = encode_labels(labels, classes, n_rows(X))
    sets = None if groups is None else sets_of(check_groups(groups, labels.size))
    _, C = weigh(estimator, labels, sample_weight, scores)
    kernel = kernel_of(estimator, X)
    gram = gram_of(kernel, X, whole=True)
    solution = solve_dual(gram, signs, C, tol=EXACT_TOLERANCE)
    if solution.indefinite or (not kernel.definite and gram.indefinite):
        warn_indefinite(stacklevel=2)
    if sets is not None:
        check_rest(C > 0, sets)
        return exact_group_decision(gram, solution, sets)
    return exact_loo_decision(gram, solution)


def exact_loo_decision(K: Gram | npt.ArrayLike, solution: DualSolution) -> Array:
    """Exact leave-one-out decision values of a model trained on the Gram matrix `K`.

    `solution` should be tight (``tol=1e-8``): instances that are not support vectors keep
    its decision values, and the retrained models start from it.
    """
    return exact_values(as_gram(K), solution).decision


def exact_group_decision(
    K: Gram | npt.ArrayLike, solution: DualSolution, sets: Sequence[Rows]
) -> Array:
    """The same with sets of rows left out together; they make up all rows."""
    gram, values = as_gram(K), solution.decision.copy()
    remover = Remover(gram, solution)
    for rows in sets:
        removed = remover.remove(rows, exact=True)
        values[rows] = removed.values(values[rows], gram.block(rows, removed.rows))
    return without_traces(values)
