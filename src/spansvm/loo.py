"""Exact leave-one-out: the decision value of every instance from a model that never saw it.

Removing an instance that is no support vector changes nothing.  For a support vector the
solution is followed while its multiplier goes to zero; all removals share one matrix.  Where that
is not possible, the model without it is trained from what the span predicts; where the
prediction meets the KKT conditions (Theorem 2's assumption holds) it is the solution already.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from ._linalg import one_blas_thread
from ._typing import Array
from ._validation import check_rows, encode_labels, n_rows
from .dual import (
    DualSolution,
    solve_dual,
    warn_indefinite,
)
from .following import EXACT_TOLERANCE, follow, retrain
from .gram import Gram, as_gram
from .kernels import resolve_kernel
from .lazy import gram_of
from .left_out import LeftOut, accuracy_of, alone_in_class, comparable
from .svc import SpanSVC
from .weighting import weigh

__all__ = ["exact_left_out", "exact_loo", "exact_loo_decision"]

#: Models that miss the KKT conditions by more than this are reported.
_LOOSE = 1e-5


def exact_loo(
    estimator: SVC | SpanSVC,
    X: Any,
    y: npt.ArrayLike,
    sample_weight: npt.ArrayLike | None = None,
    scores: npt.ArrayLike | None = None,
) -> Array:
    """Decision values of the true leave-one-out procedure.

    Parameters
    ----------
    estimator : sklearn.svm.SVC or SpanSVC
        Its parameters are used, fitted or not; two classes.  Training is to a tolerance of
        1e-8 whatever its ``tol`` and ``max_iter``.
    X : array-like or sparse matrix of shape (l, d), or of shape (l, l) if precomputed
    y : array-like of shape (l,)
    sample_weight : array-like of shape (l,), optional
    scores : array-like of shape (l,), optional
        Importance scores for the weighting of a :class:`~spansvm.SpanSVC`.

    Returns
    -------
    ndarray of shape (l,)
        For every instance the decision value of the model trained on all the others.
        Positive means ``classes_[1]``, the larger label.

    Notes
    -----
    What the data decide for all instances together is decided once: ``gamma="scale"`` and
    ``class_weight="balanced"`` are computed on all rows and kept.  Where the others are
    all of one class the value is that class, -1 or +1.

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
    if not isinstance(estimator, (SVC, SpanSVC)):
        raise TypeError(f"estimator must be an SVC or a SpanSVC; got {type(estimator).__name__}.")
    X = check_rows(X, estimator.kernel)
    labels = np.asarray(y)
    classes = np.unique(labels)
    if classes.size != 2:
        raise ValueError(f"y must contain two classes; it contains {classes.size}.")
    signs = encode_labels(labels, classes, n_rows(X))
    _, C = weigh(estimator, labels, sample_weight, scores)
    kernel = resolve_kernel(
        estimator.kernel, X, gamma=estimator.gamma, degree=estimator.degree, coef0=estimator.coef0
    )
    gram = gram_of(kernel, X, whole=True)
    solution = solve_dual(gram, signs, C, tol=EXACT_TOLERANCE)
    if solution.indefinite or (not kernel.definite and gram.indefinite):
        warn_indefinite(stacklevel=2)
    return exact_loo_decision(gram, solution)


def exact_loo_decision(K: Gram | npt.ArrayLike, solution: DualSolution) -> Array:
    """Exact leave-one-out decision values of a model trained on the Gram matrix `K`.

    `solution` should be tight (``tol=1e-8``): instances that are no support vectors keep
    its decision values, and the retrained models start from it.

    Warns
    -----
    ConvergenceWarning
        If models meet the KKT conditions to no better than 1e-5, because rounding or the
        iteration limit ended their training.
    """
    return exact_left_out(as_gram(K), solution).decision


@one_blas_thread
def exact_left_out(gram: Gram, solution: DualSolution) -> LeftOut:
    """:func:`exact_loo_decision` with what makes the values comparable between instances."""
    rows = np.flatnonzero(solution.support)
    removals = follow(gram, solution, rows)
    decision, shift = solution.decision.copy(), np.zeros(solution.y.size)
    decision[rows], shift[rows] = removals.decision, removals.shift
    alone = alone_in_class(solution)
    decision[alone], shift[alone] = -solution.y[alone], 0.0
    lost = np.flatnonzero(np.isnan(decision))
    decision[lost], shift[lost], gaps = retrain(gram, solution, lost)
    gaps = np.append(gaps, solution.gap)
    loose = int((gaps > _LOOSE).sum())
    if loose:
        warnings.warn(
            f"{loose} of {gaps.size} leave-one-out models meet the KKT conditions only to "
            f"{gaps.max():.2g}: scale the features, or reduce C.",
            ConvergenceWarning,
            stacklevel=4,
        )
    accuracy = max(accuracy_of(gram, solution), 10.0 * removals.error)
    return LeftOut(decision, comparable(solution, decision - shift, accuracy), rows.size)
