"""A search over an SVC or SVR as one over ours: the same model, whose rows can be left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.svm import SVC, SVR

from ..common.validation import n_rows
from .candidates.composite import as_span_machine, rebuilt, take_apart

__all__ = ["with_span_machine"]

#: Decision values that differ by more belong to another model; predictions, in units of the spread
#: of the targets.
_DIFFERENT = 0.1


def with_span_machine(search: Any, X: Any, y: np.ndarray) -> Any:
    """The search; if it selected an SVC or an SVR, a copy of it with one of ours in its place.

    Parameters
    ----------
    search : SpanSearch or SpanRandomizedSearch
        Fitted.
    X, y
        The rows and labels that it was fitted on; ValueError if that gives another model.
    """
    parts = take_apart(search.best_estimator_)
    if "loo_error" not in search.cv_results_:
        raise TypeError(
            "A report needs a search that was accelerated, which computes leave-one-out values; "
            f"this one was evaluated by scikit-learn, and selected {type(parts.machine).__name__}."
        )
    if parts.wrapper is not None or not isinstance(parts.machine, (SVC, SVR)):
        return search
    kind = "SVR" if isinstance(parts.machine, SVR) else "SVC"
    if search.n_groups_ is not None:
        raise ValueError(
            f"An {kind} does not keep the groups that the search has left out: search a Span{kind} "
            "for a report."
        )
    if parts.machine.shape_fit_[0] != n_rows(X) or n_rows(X) != y.size:
        raise ValueError(
            "X and y must be the rows and labels that the search was fitted on: it had "
            f"{parts.machine.shape_fit_[0]} rows; X has {n_rows(X)}, and y has shape {y.shape}."
        )
    best, given = search.best_estimator_, take_apart(search.estimator).machine
    result: Any = object.__new__(type(search))
    vars(result).update(vars(search))
    if isinstance(given, (SVC, SVR)):
        result.estimator = clone(rebuilt(search.estimator, {}, as_span_machine(given)))
    result.best_estimator_ = clone(rebuilt(best, {}, as_span_machine(parts.machine))).fit(X, y)
    values = [_values(model, X) for model in (best, result.best_estimator_)]
    size = float(y.std()) if kind == "SVR" else 1.0
    if np.abs(values[0] - values[1]).max() > _DIFFERENT * size:
        raise ValueError(
            f"Trained on these rows and labels, the selected {kind} is another model: they are not "
            f"those of the search, or it was fitted with sample_weight, which an {kind} does not "
            f"keep. Search a Span{kind} for a report."
        )
    return result


def _values(model: Any, X: Any) -> np.ndarray:
    """Decision values, or predictions of a regression."""
    return np.asarray(getattr(model, "decision_function", model.predict)(X))
