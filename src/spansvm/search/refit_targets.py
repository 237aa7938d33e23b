"""The refitted SVR is the one that was evaluated; the counterpart of the check of an SVC.

See :mod:`spansvm.search.refit` for why LibSVM may find another model.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.svm import SVR

from ..common.types import Array
from ..estimators.as_svr import put_regression
from ..estimators.weighting import weigh_rows
from ..machine.dual import OFF_BOUND
from .candidates.composite import Parts, as_span_machine
from .candidates.fit_arguments import take_rows

__all__ = ["check_regression", "warn_of_bounds"]

#: Of a regression whose C is this many times smaller than the spread of its targets, and of whose
#: support vectors nearly all are bounded, a warning is given.
_SMALL, _NEARLY_ALL = 20.0, 0.95

#: KKT conditions violated by more than this multiple of the tolerance, and by more than this
#: fraction of the spread of the targets, call for a second training.
_TIMES, _SUSPICIOUS = 10.0, 0.01

#: Predictions that differ by more than these belong to different models; the last where nothing
#: fixes the intercept.
_TIMES_DIFFERENT, _DIFFERENT, _DIFFERENT_UNFIXED = 20.0, 0.1, 0.02

#: Maximum number of training rows to check; a wrong solution is wrong on many.
_MOST_ROWS = 2000


def check_regression(svr: SVR, X: Any, y: Array, weight: Any, budget: Any) -> None:
    """Replace the solution of a fitted SVR, with a warning, unless it is the evaluated one."""
    model = as_span_machine(svr)
    target = np.asarray(y, dtype=np.float64)
    bounds = weigh_rows(model, target, weight, None)
    present = np.flatnonzero(bounds)
    rows = present[:: -(-present.size // _MOST_ROWS)]
    part, spread = take_rows(X, rows), float(target[present].std())
    theirs = svr.predict(part)
    beta = np.zeros(target.size)
    coefficients = svr.dual_coef_
    beta[present[svr.support_]] = np.asarray(
        coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients
    ).ravel()
    allowed = max(_TIMES * svr.tol, _SUSPICIOUS * spread)
    solved = _violation(beta[rows], bounds[rows], target[rows] - theirs, svr.epsilon) <= allowed
    size = np.abs(beta)
    room = np.minimum(size, bounds - size)
    fixed = bool((room > OFF_BOUND * np.minimum(bounds, size.max(initial=0.0))).any())
    if solved and fixed:
        return
    if budget is not None:
        model.gram_budget = budget
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the search has given them
        model.fit(X, target, weight)
    ours = model.predict(part)
    apart = float(np.abs(ours - theirs).max())
    limit = max(_TIMES_DIFFERENT * svr.tol, _DIFFERENT * spread)
    if not apart > (_DIFFERENT_UNFIXED * spread if solved else limit):
        return
    beta[:] = 0.0
    beta[model.support_] = model.machines_.coefficients[:, 0]
    if _violation(beta[rows], bounds[rows], target[rows] - ours, svr.epsilon) > allowed:
        return
    put_regression(svr, model.machines_)
    svr.fit_status_ = 0
    found = "is one solution of many" if solved else "does not solve the problem"
    why = "its kernel values are in single precision"
    if solved:
        why = "every multiplier is at its bound, so that nothing but rounding fixes the intercept"
    elif svr.max_iter != -1:
        why = f"it stops early with max_iter={svr.max_iter}"
    warnings.warn(
        f"LibSVM's refit with C={svr.C:g}, epsilon={svr.epsilon:g} {found} ({why}): its "
        f"predictions for the training rows differ by up to {apart:.2g} from those of the model "
        "that was evaluated. best_estimator_ holds the solution that was evaluated. Use SpanSVR.",
        UserWarning,
        stacklevel=5,
    )


def _violation(beta: Array, bounds: Array, residual: Array, epsilon: float) -> float:
    """The violation of the KKT conditions on some rows, in units of the target."""
    size, along = np.abs(beta), np.where(beta != 0.0, np.sign(beta) * residual, np.abs(residual))
    over = np.where(size < bounds * (1.0 - 1e-9), along - epsilon, 0.0)
    under = np.where(size > 0.0, epsilon - along, 0.0)
    return float(np.maximum(np.maximum(over, under), 0.0).max(initial=0.0))


def warn_of_bounds(parts: Parts, y: Array, results: Mapping[str, Any], index: int) -> None:
    """Warn if the selected regression is nearly constant, as C is too small for its targets.

    `results` is ``cv_results_``.  If larger values of C were searched, it is not C.
    """
    model, name = parts.machine, f"{parts.prefix}C"
    n_in_bound, n_bounded = (int(results[key][index]) for key in ("n_in_bound", "n_bounded"))
    spread, support = float(np.std(y)), n_in_bound + n_bounded
    largest = max(params.get(name, model.C) for params in results["params"])
    small = spread >= _SMALL * float(largest) and largest == model.C
    if parts.wrapper is not None or not small or n_bounded < _NEARLY_ALL * support:
        return
    warnings.warn(
        f"y has a standard deviation of {spread:.3g}, and the selected C is {model.C:g}: no row "
        f"can move a prediction by more than C, and {n_bounded} of {support} support vectors are "
        "at that bound. Scale y, by TransformedTargetRegressor(..., transformer=StandardScaler()), "
        f"or search C up to about {10.0 ** np.ceil(np.log10(spread)):g}.",
        UserWarning,
        stacklevel=4,
    )
