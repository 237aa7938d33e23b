"""Scorers: those of a search, by name, and the span-rule as a scorer for other searches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring, get_scorer
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.utils.metadata_routing import UNUSED

from ...common.validation import check_rows
from ...estimators.svc import SpanSVC
from ...machine.fitted_svc import check_same_rows, read_svc
from ...machine.values import counted_values
from ..candidates.composite import as_span_machine, is_absent, take_apart, unwrap

__all__ = ["SpanScorer", "resolve_scorers", "span_scorer", "weighted_scorers"]

#: Decision values that differ by more than this, or KKT conditions violated by more, belong to
#: another model.
_DIFFERENT = 0.1


def resolve_scorers(estimator: Any, scoring: Any) -> dict[str, Callable[..., Any]]:
    """Scorers by name; the name is "score" if there is only one."""
    if scoring is None and is_absent(take_apart(estimator).machine):
        estimator = SVC()  # the grid provides the machine
    if scoring is None or isinstance(scoring, str) or callable(scoring):
        return {"score": check_scoring(estimator, scoring)}
    if isinstance(scoring, Mapping):
        return {name: check_scoring(estimator, scorer) for name, scorer in scoring.items()}
    names = list(scoring)
    if not names or len(set(names)) < len(names) or not all(isinstance(n, str) for n in names):
        raise ValueError(
            "scoring must be a name, a function, a dict, or a list of different names; "
            f"got {scoring!r}."
        )
    return {name: get_scorer(name) for name in names}


def weighted_scorers(
    scorers: Mapping[str, Callable[..., Any]], sample_weight: Any
) -> dict[str, Mapping[str, Any]]:
    """Arguments of the scorers where GridSearchCV passes sample weights on to them.

    It does so from scikit-learn 1.9 on, to scorers that take them; scores of the others do not
    count rows as the training does, which deserves a warning.
    """
    if not hasattr(BaseSearchCV, "_check_scorers_accept_sample_weight"):
        return {}
    taking = {name: _takes_weights(scorer) for name, scorer in scorers.items()}
    for name in (name for name, takes in taking.items() if not takes):
        label = repr(scorers[name]) if len(scorers) == 1 else f"{name}={scorers[name]!r}"
        warnings.warn(
            f"The scoring {label} does not support sample_weight: its scores count all rows "
            "equally, although the training does not.",
            UserWarning,
            stacklevel=4,
        )
    return {name: {"sample_weight": sample_weight} for name, takes in taking.items() if takes}


def _takes_weights(scorer: Any) -> bool:
    if hasattr(scorer, "_accept_sample_weight"):
        return bool(scorer._accept_sample_weight())
    return "sample_weight" in signature(scorer).parameters


class SpanScorer(BaseEstimator):
    """Leave-one-out as a scorer: 1 minus the leave-one-out error of a fitted model.

    For searches by scikit-learn's own classes; all rows serve as training rows and as test rows.
    :class:`~spansvm.SpanSearch` does the same many times faster.

    See Also
    --------
    spansvm.SpanSearch : The same search, with a shared Gram matrix and warm starts.
    sklearn.model_selection.GridSearchCV : A search that takes this scorer.

    Notes
    -----
    A :class:`sklearn.svm.SVC` does not keep the weights that it was fitted with.  If there were
    any, the scorer needs them too: enable metadata routing and call
    ``span_scorer.set_score_request(sample_weight=True)``.  If it can tell that weights are
    missing, it raises.  A :class:`~spansvm.SpanSVC` keeps its weights and needs none of this.

    In a pipeline whose other steps look at the labels (feature selection) the score is too
    optimistic: they were fitted on all rows.  :class:`~spansvm.SpanSearch` notices such steps.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import GridSearchCV
    >>> from spansvm import SpanSVC, span_scorer
    >>> X, y = load_wine(return_X_y=True)
    >>> rows = np.arange(len(y))
    >>> search = GridSearchCV(
    ...     SpanSVC(), {"C": [1, 10, 100]}, scoring=span_scorer, cv=[(rows, rows)]
    ... ).fit(X, y)
    >>> search.best_params_
    {'C': 100}
    """

    # The first argument of a scorer is not metadata.
    __metadata_request__score = {"estimator": UNUSED}  # noqa: RUF012

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
    ) -> float:
        """1 minus the leave-one-out error of a model that was fitted on these rows."""
        return self.score(estimator, X, y, sample_weight, scores)

    def score(
        self,
        estimator: Any,
        X: Any,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
    ) -> float:
        """The same as a call; metadata is requested for this method."""
        machine = unwrap(estimator).machine
        if machine.shape_fit_[0] != len(np.asarray(y)):
            raise ValueError(
                "span_scorer scores a model on the rows it was fitted on: "
                f"{machine.shape_fit_[0]} rows, not {len(np.asarray(y))}. Use cv=[(rows, rows)]."
            )
        while isinstance(estimator, Pipeline):
            X, estimator = estimator[:-1].transform(X), estimator[-1]
        if isinstance(machine, SpanSVC):
            check_same_rows(machine, check_rows(X, machine.kernel), machine.support_)
            if not np.array_equal(machine.training_labels_, y):
                raise ValueError("y must be the labels that the model was fitted on; some differ.")
            return 1.0 - machine.loo_error_
        if len(machine.classes_) > 2:
            # SVC stores the machines of the pairs in pieces; training them again is faster.
            model = as_span_machine(machine).fit(X, y, sample_weight=sample_weight)
            values = machine.decision_function(X), model.decision_function(X)
            _check_same(float(np.abs(values[0] - values[1]).max()))
            return 1.0 - model.loo_error_
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            solution, gram = read_svc(machine, X, y, sample_weight)
        _check_same(solution.gap)
        wrong = solution.wrong(counted_values(gram, solution))
        return 1.0 - float(wrong[solution.present].mean())


def _check_same(difference: float) -> None:
    if difference > _DIFFERENT:
        raise ValueError(
            "The model was not fitted on these rows, labels and weights. If it was fitted with "
            "sample_weight, the scorer needs it too: enable metadata routing and use "
            "span_scorer.set_score_request(sample_weight=True), or use a SpanSVC."
        )


#: The span-rule as a scorer, for ``GridSearchCV(SVC(), grid, scoring=span_scorer, cv=[(i, i)])``.
span_scorer = SpanScorer()
