"""The refitted model is the one that was evaluated.

Candidates are evaluated with our solver, but an :class:`sklearn.svm.SVC` is refitted by LibSVM.
That may be another model, often a useless one, for two reasons.

LibSVM's kernel values are in single precision: with a very large C and a tiny gamma it cannot tell
them apart.  Whether it solved its problem shows in the KKT conditions on its own decision values.

Where every multiplier is at its bound (a small C, with classes of equal weight as ``"balanced"``
makes them), the conditions leave the intercept an interval.  We evaluate its middle.  LibSVM gets
there only if both classes have the same sum of bounds, to the last bit: otherwise one multiplier is
off its bound by rounding and puts the intercept at one end, where a single class is predicted.
Whether more than rounding keeps a multiplier off its bounds shows in the multipliers.

If either shows, the model that was evaluated is trained again, and decision values are compared.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from copy import copy
from functools import wraps
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR

from ..common.pairs import class_pairs
from ..common.types import Array, Mask, Rows
from ..common.validation import check_rows, n_rows
from ..estimators.as_svc import keeps_vectors, put_solution
from ..estimators.svc import SpanSVC
from ..estimators.svr import SpanSVR
from ..estimators.weighting import weigh
from ..kernels.functions import Kernel, dense
from ..machine.dual import OFF_BOUND
from ..machine.fitted_svc import check_same_rows
from ..multiclass.left_out import SpanValues, calibrate
from ..multiclass.machines import TrainedMachines
from .candidates.composite import as_span_machine, transform, unwrap
from .candidates.fit_arguments import FitParams, take_rows
from .candidates.training_sets import TrainingSet, TransformedRows
from .refit_targets import check_regression

__all__ = ["leave_out", "refit_as_judged"]

#: KKT conditions violated by more than this multiple of the tolerance, and by more than this value,
#: call for a second training.  On ordinary problems LibSVM stays below twice its tolerance; with a
#: tolerance of 1e-8 its single precision is what limits it.
_TIMES, _SUSPICIOUS = 10.0, 0.01

#: Decision values of two trainings to the same tolerance differ by less than this value, or this
#: multiple of the tolerance: up to twelve times the tolerance on ordinary problems.
_DIFFERENT, _TIMES_DIFFERENT = 0.1, 20.0

#: The same where nothing fixes the intercept, which no tolerance moves.  The end of a narrower
#: interval is a model with nearly the same values, since these then reach their margins.
_DIFFERENT_UNFIXED = 0.02

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
    if isinstance(parts.machine, (SpanSVC, SpanSVR)):
        own = parts.machine.gram_budget
        parts.machine.gram_budget = own if budget is None else budget
        try:
            return estimator.fit(X, y, **arguments)
        finally:
            parts.machine.gram_budget = own
    unchecked = (CalibratedClassifierCV, TransformedTargetRegressor, MultiOutputRegressor)
    if isinstance(parts.wrapper, unchecked):
        return estimator.fit(X, y, **arguments)
    # One-vs-rest trains copies of the machine, as a classifier of several outputs does.
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
        check = check_regression if isinstance(parts.machine, SVR) else _check
        check(parts.machine, budget=budget, **given)
        return estimator
    X, y, weight = given["X"], given["y"], given["weight"]
    if y.ndim == 1:
        labels = parts.wrapper.classes_[-len(trained.estimators_) :]
        y = np.column_stack([(y == label).astype(np.intp) for label in labels])
    for column, own in zip(y.T, trained.estimators_, strict=True):
        if isinstance(own, (SVC, Pipeline)):  # a class that every row has needs no machine
            svc, rows = _behind_transformers(own, X)
            if rows is not None:
                _check(svc, rows, column, weight, budget)
    return estimator


def _behind_transformers(estimator: Any, X: Any) -> tuple[SVC, Any]:
    """The SVC of a fitted estimator, and the rows it was trained on; None if they are not known.

    Transformers may resample the rows in training, or give others than they do later: then the
    support vectors are others.
    """
    parts = unwrap(estimator)
    svc: Any = parts.machine
    if not parts.steps:
        return svc, X
    if not keeps_vectors(svc.kernel):
        return svc, None
    rows = check_rows(transform(dict(parts.steps), X), svc.kernel)
    if n_rows(rows) != svc.shape_fit_[0]:
        return svc, None
    try:
        check_same_rows(svc, rows, svc.support_)
    except ValueError:
        return svc, None
    return svc, rows


def leave_out(estimator: Any, sets: list[Rows]) -> None:
    """Let the leave-one-out values of a fitted SpanSVC leave out the sets of the search."""
    parts = unwrap(estimator)
    if isinstance(parts.machine, (SpanSVC, SpanSVR)) and parts.wrapper is None:
        parts.machine.leave_out(sets)


def _check(svc: SVC, X: Any, y: np.ndarray, weight: Any, budget: Any) -> None:
    """Replace the solution of a fitted SVC, with a warning, unless it is the evaluated one."""
    model = as_span_machine(svc)
    _, bounds = weigh(model, y, weight, None)
    rows = np.flatnonzero(bounds)
    rows = rows[:: -(-rows.size // _MOST_ROWS)]
    part, largest = take_rows(X, rows), max(_SUSPICIOUS, _TIMES * svc.tol)
    theirs = _pair_values(svc, part)
    support = np.flatnonzero(bounds)[svc.support_]
    solved = _violation(svc, support, y, bounds, rows, theirs) <= largest
    fixed = _fixed(svc, support, y, bounds)
    if solved and fixed.all():
        return
    if budget is not None:
        model.gram_budget = budget
    machines = _train(model, X, y, weight)
    judged = copy(svc)
    put_solution(judged, machines)
    ours = _pair_values(judged, part)
    differences = np.abs(ours - theirs).max(axis=0)
    allowed = max(_DIFFERENT, _TIMES_DIFFERENT * svc.tol)
    if not (differences > np.where(solved & ~fixed, _DIFFERENT_UNFIXED, allowed)).any():
        return
    where = f"C={svc.C:g}"
    if "gamma" in Kernel(svc.kernel).parameters:
        where += f", gamma={svc._gamma:g}"
    found, why = "does not solve the problem", "its kernel values are in single precision"
    remedy = "Use SpanSVC, or a smaller C."
    if solved:
        found = "is one solution of many"
        why = "every multiplier is at its bound, so that nothing but rounding fixes the intercept"
        remedy = "Use SpanSVC, or a larger C."
    elif svc.fit_status_:
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
        f"LibSVM's refit with {where} {found} ({why}): its decision values for the training rows "
        f"differ by up to {differences.max():.2g} from those of the model that was evaluated. "
        f"{outcome} {remedy}",
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


def _sides(
    svc: SVC, support: np.ndarray, y: np.ndarray
) -> Iterator[tuple[int, float, Rows, Array]]:
    """Of every pair and either class of it: the pair, the sign, the rows and their multipliers.

    `support` holds the indices of the support vectors among all rows.
    """
    n_classes = len(svc.classes_)
    multipliers = np.zeros((n_classes - 1, y.size))
    multipliers[:, support] = np.abs(dense(svc.dual_coef_))
    members = [np.flatnonzero(y == label) for label in svc.classes_]
    for column, (first, second) in enumerate(class_pairs(n_classes)):
        for own, place, sign in ((first, second - 1, -1.0), (second, first, 1.0)):
            yield column, sign, members[own], multipliers[place, members[own]]


def _fixed(svc: SVC, support: np.ndarray, y: np.ndarray, bounds: Array) -> Mask:
    """Which pairs have a multiplier that more than rounding keeps off its bounds."""
    fixed = np.zeros(svc.intercept_.size, dtype=np.bool_)
    for column, _, rows, alpha in _sides(svc, support, y):
        C = bounds[rows]
        scale = np.minimum(C, alpha.max(initial=0.0))
        fixed[column] |= (np.minimum(alpha, C - alpha) > OFF_BOUND * scale).any()
    return fixed


def _violation(
    svc: SVC, support: np.ndarray, y: np.ndarray, bounds: Array, rows: Rows, values: Array
) -> float:
    """The violation of the KKT conditions on some rows, in units of the decision value.

    `values` holds the decision values of `rows`.
    """
    places = np.full(y.size, -1)
    places[rows] = np.arange(rows.size)
    worst = 0.0
    for column, sign, members, alpha in _sides(svc, support, y):
        known = places[members] >= 0
        own, alpha = members[known], alpha[known]
        margin = sign * values[places[own], column]
        inside = alpha < bounds[own] * (1.0 - 1e-9)
        short, over = (1.0 - margin)[inside], (margin - 1.0)[alpha > 0]
        worst = max(worst, short.max(initial=0.0), over.max(initial=0.0))
    return float(worst)
