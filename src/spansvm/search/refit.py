"""The refitted model is the one that was evaluated.

Candidates are evaluated with our solver, but an :class:`sklearn.svm.SVC` is refitted by LibSVM,
whose kernel values are in single precision.  With a very large C and a tiny gamma it cannot tell
them apart and finds another model, often a useless one.  Whether it solved its problem shows in
the KKT conditions on its own decision values, without any training.
"""

from __future__ import annotations

import warnings
from copy import copy
from functools import wraps
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import SVC

from .._typing import Array, Rows
from ..as_svc import keeps_vectors, put_solution
from ..kernels import Kernel, dense
from ..left_out import SpanValues, calibrate
from ..machines import TrainedMachines
from ..pairs import class_pairs
from ..svc import SpanSVC
from ..weighting import weigh
from .composite import as_span_svc, unwrap
from .fit_arguments import FitParams, take_rows
from .training_sets import TrainingSet, TransformedRows

__all__ = ["leave_out", "refit_as_judged"]

#: KKT conditions violated by more than this multiple of the tolerance, and by more than this value,
#: call for a second training.  On ordinary problems LibSVM stays below twice its tolerance; with a
#: tolerance of 1e-8 its single precision is what limits it.
_TIMES, _SUSPICIOUS = 10.0, 0.01

#: Decision values of two trainings to the same tolerance differ by less than this value, or this
#: multiple of the tolerance: up to twelve times the tolerance on ordinary problems.
_DIFFERENT, _TIMES_DIFFERENT = 0.1, 20.0

#: Maximum number of training rows to check; a wrong solution is wrong on many.
_MOST_ROWS = 2000


def refit_as_judged(
    estimator: Any, X: Any, y: np.ndarray, arguments: dict[str, Any], budget: Any
) -> Any:
    """Fit the estimator, and make sure that its machine is the one that was evaluated.

    Parameters
    ----------
    estimator : SpanSVC, SVC or Pipeline
    X, y, arguments
        Arguments of its ``fit``.
    budget : float, str or None
        Memory for a Gram matrix.
    """
    parts = unwrap(estimator)
    if isinstance(parts.machine, SpanSVC):
        own = parts.machine.gram_budget
        parts.machine.gram_budget = own if budget is None else budget
        try:
            return estimator.fit(X, y, **arguments)
        finally:
            parts.machine.gram_budget = own
    if isinstance(parts.wrapper, CalibratedClassifierCV):
        return estimator.fit(X, y, **arguments)
    # One-vs-rest trains copies of the machine.
    trained = parts.machine if parts.wrapper is None else parts.wrapper
    given: dict[str, Any] = {}
    own_fit = trained.fit

    @wraps(own_fit)
    def fit(X: Any, y: Any, *weight: Any, **options: Any) -> Any:
        # fit_transform need not give the same rows as transform does later.
        given.update(X=X, y=np.asarray(y))
        given["weight"] = weight[0] if weight else options.get("sample_weight")
        return own_fit(X, y, *weight, **options)

    trained.fit = fit
    try:
        estimator.fit(X, y, **arguments)
    finally:
        del trained.fit
    if parts.wrapper is None:
        _check(parts.machine, budget=budget, **given)
    elif not parts.inner:
        X, y, weight = given["X"], given["y"], given["weight"]
        labels = parts.wrapper.classes_
        for label, svc in zip(
            labels[-len(trained.estimators_) :], trained.estimators_, strict=True
        ):
            if isinstance(svc, SVC):  # a class that every row has needs no machine
                _check(svc, X, (y == label).astype(np.intp), weight, budget)
    return estimator


def leave_out(estimator: Any, sets: list[Rows]) -> None:
    """Let the leave-one-out values of a fitted SpanSVC leave out the sets of the search."""
    parts = unwrap(estimator)
    if isinstance(parts.machine, SpanSVC) and parts.wrapper is None:
        parts.machine.leave_out(sets)


def _check(svc: SVC, X: Any, y: np.ndarray, weight: Any, budget: Any) -> None:
    """Replace the solution of a fitted SVC, with a warning, unless it solves its problem."""
    model = as_span_svc(svc)
    _, bounds = weigh(model, y, weight, None)
    rows = np.flatnonzero(bounds)
    rows = rows[:: -(-rows.size // _MOST_ROWS)]
    part, largest = take_rows(X, rows), max(_SUSPICIOUS, _TIMES * svc.tol)
    theirs = _pair_values(svc, part)
    support = np.flatnonzero(bounds)[svc.support_]
    if _violation(svc, support, y, bounds, rows, theirs) <= largest:
        return
    if budget is not None:
        model.gram_budget = budget
    machines = _train(model, X, y, weight)
    judged = copy(svc)
    put_solution(judged, machines)
    ours = _pair_values(judged, part)
    difference = float(np.abs(ours - theirs).max())
    if difference <= max(_DIFFERENT, _TIMES_DIFFERENT * svc.tol):
        return
    where = f"C={svc.C:g}"
    if "gamma" in Kernel(svc.kernel).parameters:
        where += f", gamma={svc._gamma:g}"
    why, remedy = "its kernel values are in single precision", "Use SpanSVC, or a smaller C."
    if svc.fit_status_:
        why, remedy = (
            f"it stops early with max_iter={svc.max_iter}",
            "Use SpanSVC, or raise max_iter.",
        )
    elif not keeps_vectors(svc.kernel) and not bounds.all():
        why = "with zero weights, SVC uses the wrong kernel values"
        remedy = "Use SpanSVC, or drop the rows with zero weight."
    if _violation(judged, machines.support, y, bounds, rows, ours) <= largest:
        put_solution(svc, machines, lambda: calibrate(machines, SpanValues(machines)))
        svc.fit_status_ = 0
        svc.n_iter_ = svc._num_iter = machines.found.iterations.astype(np.int32)
        outcome = "best_estimator_ holds the solution that was evaluated."
    else:
        outcome = (
            "That model does not solve it either, for lack of memory or iterations: "
            "best_estimator_ is what LibSVM found."
        )
        remedy = "Use a smaller C, or raise gram_budget or max_iter."
    warnings.warn(
        f"LibSVM's refit with {where} does not solve the problem ({why}): its decision values "
        f"for the training rows differ by up to {difference:.2g} from those of the model that was "
        f"evaluated. {outcome} {remedy}",
        UserWarning,
        stacklevel=5,
    )


def _train(model: SpanSVC, X: Any, y: np.ndarray, weight: Any) -> TrainedMachines:
    training_set = TrainingSet(TransformedRows(X, y), model)
    bounds = training_set.weigh(model, FitParams(sample_weight=weight))
    found = training_set.paths().train(bounds, tol=model.tol, max_iter=model.max_iter)
    return training_set.machines(bounds, found)


def _pair_values(svc: SVC, X: Any) -> Array:
    """Decision value of every pair, positive for its second class."""
    shape = svc.decision_function_shape
    svc.decision_function_shape = "ovo"
    try:
        values = svc.decision_function(X)
    finally:
        svc.decision_function_shape = shape
    return values[:, None] if values.ndim == 1 else -values


def _violation(
    svc: SVC, support: np.ndarray, y: np.ndarray, bounds: Array, rows: np.ndarray, values: Array
) -> float:
    """The violation of the KKT conditions on some rows, in units of the decision value.

    `support` holds the indices of the support vectors among all rows, and `values` the decision
    values of `rows`.
    """
    n_classes = len(svc.classes_)
    multipliers = np.zeros((n_classes - 1, y.size))
    multipliers[:, support] = np.abs(dense(svc.dual_coef_))
    multipliers, bounds = multipliers[:, rows], bounds[rows]
    indices = np.searchsorted(svc.classes_, y[rows])
    worst = 0.0
    for column, (first, second) in enumerate(class_pairs(n_classes)):
        for own, place, sign in ((first, second - 1, -1.0), (second, first, 1.0)):
            part = indices == own
            alpha, margin = multipliers[place, part], sign * values[part, column]
            inside = alpha < bounds[part] * (1.0 - 1e-9)
            short, over = (1.0 - margin)[inside], (margin - 1.0)[alpha > 0]
            worst = max(worst, short.max(initial=0.0), over.max(initial=0.0))
    return float(worst)
