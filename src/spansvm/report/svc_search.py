"""A search over an SVC, for the report: the same model as a SpanSVC, which can be left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.svm import SVC

from ..common.validation import n_rows
from ..search.candidates.composite import as_span_machine, rebuilt, take_apart

__all__ = ["with_span_svc"]

#: Decision values that differ by more belong to another model.
_DIFFERENT = 0.1


def with_span_svc(search: Any, X: Any, y: np.ndarray) -> Any:
    """The search; if it selected an SVC, a copy of it with a SpanSVC in the place of that.

    The SpanSVC is trained on the rows that the search was fitted on; ValueError if that is another
    model.
    """
    parts = take_apart(search.best_estimator_)
    if "loo_error" not in search.cv_results_:
        raise TypeError(
            "A report needs a search that was accelerated, which computes leave-one-out values; "
            f"this one was evaluated by scikit-learn, and selected {type(parts.machine).__name__}."
        )
    if parts.wrapper is not None or not isinstance(parts.machine, SVC):
        return search
    if search.n_groups_ is not None:
        raise ValueError(
            "An SVC does not keep the groups that the search has left out: search a SpanSVC for a "
            "report."
        )
    if parts.machine.shape_fit_[0] != n_rows(X) or n_rows(X) != y.size:
        raise ValueError(
            "X and y must be the rows and labels that the search was fitted on: it had "
            f"{parts.machine.shape_fit_[0]} rows; X has {n_rows(X)}, and y has shape {y.shape}."
        )
    best, given = search.best_estimator_, take_apart(search.estimator).machine
    result: Any = object.__new__(type(search))
    vars(result).update(vars(search))
    if isinstance(given, SVC):
        result.estimator = clone(rebuilt(search.estimator, {}, as_span_machine(given)))
    result.best_estimator_ = clone(rebuilt(best, {}, as_span_machine(parts.machine))).fit(X, y)
    values = [model.decision_function(X) for model in (best, result.best_estimator_)]
    if np.abs(values[0] - values[1]).max() > _DIFFERENT:
        raise ValueError(
            "Trained on these rows and labels, the selected SVC is another model: they are not "
            "those of the search, or it was fitted with sample_weight, which an SVC does not keep. "
            "Search a SpanSVC for a report."
        )
    return result
