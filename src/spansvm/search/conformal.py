"""Sets of labels, and intervals of targets, by the model that a search selected.

A :class:`~spansvm.SpanSVC` and a :class:`~spansvm.SpanSVR` have them.  A selected SVC or SVR does
not know its left-out rows: ours with the same parameters, trained on the same rows, is the same
model, and has its sets or intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.svm import SVC, SVR
from sklearn.utils.metaestimators import available_if

from ..common.types import Array, Mask, Rows
from ..common.validation import check_rows
from ..estimators.as_svc import keeps_vectors
from ..estimators.svc import SpanSVC
from ..estimators.svr import SpanSVR
from ..machine.fitted_svc import check_same_rows
from .candidates.composite import (
    Machine,
    Parts,
    as_span_machine,
    find_unknown,
    is_regression,
    take_apart,
    transform,
)
from .candidates.fit_arguments import FitParams
from .candidates.label_steps import find_label_step, may_look

__all__ = ["SearchedRows", "SelectedSets"]


@dataclass(frozen=True, eq=False)
class SearchedRows:
    """What the selected model was trained on.

    Attributes
    ----------
    X, y, params
        Arguments of the search's ``fit``.
    sets : list of ndarray of int, or None
        The rows of the groups that were left out together.
    gram_budget : float, str or None
        That of the search.
    """

    X: Any
    y: np.ndarray
    params: FitParams
    sets: list[Rows] | None
    gram_budget: float | str | None

    def model_of(self, estimator: Any, parts: Parts) -> Machine:
        """The machine of the selected, fitted estimator as one of ours with its left-out rows.

        ValueError if a step of the pipeline has seen the labels of the left-out rows.
        """
        if may_look(parts):
            step = find_label_step(estimator, [{}], self.X, self.y, self.params)
            if step is not None:
                raise ValueError(
                    f"{step} Sets and intervals would contain the truth less often than promised: "
                    "there are none for this pipeline. Fit the step beforehand, on other rows."
                )
        machine = parts.machine
        if isinstance(machine, (SpanSVC, SpanSVR)):
            return machine
        model = as_span_machine(machine)
        model.gram_budget = self.gram_budget
        rows = check_rows(transform(dict(parts.steps), self.X), machine.kernel)
        model.fit(rows, _transformed(parts, self.y), self.params.sample_weight)
        if self.sets is not None:
            model.leave_out(self.sets)
        if keeps_vectors(machine.kernel):  # whose indices do not count rows of weight 0
            used = np.flatnonzero(model.machines_.bounds)
            check_same_rows(machine, rows, used[machine.support_])
        if isinstance(model, SpanSVC):
            model.left_out_.calibration  # noqa: B018  (first, as in any SpanSVC that has sets)
        return model.without_training_rows()


def _transformed(parts: Parts, y: np.ndarray) -> np.ndarray:
    """Targets as the machine was trained on them."""
    if parts.wrapper is None:
        return y
    return parts.wrapper.transformer_.transform(y.reshape(-1, 1)).ravel()


def _has_sets(search: Any) -> bool:
    """Whether the selected model can have sets of labels, for ``available_if``."""
    search._check_refit("predict_set")
    estimator = getattr(search, "best_estimator_", search.estimator)
    unknown, parts = find_unknown(estimator), take_apart(estimator)
    if unknown is not None or parts.wrapper is not None or is_regression(estimator):
        name = type(parts.machine if parts.wrapper is None else parts.wrapper).__name__
        raise AttributeError(
            "predict_set is there for a SpanSVC, an SVC, and a Pipeline that ends in one; the "
            f"estimator is or ends in {name}."
        )
    return True


def _has_intervals(search: Any) -> bool:
    """Whether the selected model can have intervals, for ``available_if``."""
    search._check_refit("predict_interval")
    estimator = getattr(search, "best_estimator_", search.estimator)
    unknown, parts = find_unknown(estimator), take_apart(estimator)
    around = parts.wrapper is None or isinstance(parts.wrapper, TransformedTargetRegressor)
    if unknown is not None or not around or not is_regression(estimator):
        name = type(parts.machine if around else parts.wrapper).__name__
        raise AttributeError(
            "predict_interval is there for a SpanSVR, an SVR, one of these in "
            "TransformedTargetRegressor, and a Pipeline that ends in one; the estimator is or ends "
            f"in {name}."
        )
    return True


def _fitted_parts(estimator: Any) -> Parts:
    """A fitted estimator, taken apart; what a TransformedTargetRegressor has fitted is a copy."""
    parts = take_apart(estimator)
    if not isinstance(parts.wrapper, TransformedTargetRegressor):
        return parts
    inside = take_apart(parts.wrapper.regressor_)
    within = f"{parts.outer}regressor__"
    steps = [own for own in parts.steps if not own[0].startswith(within)]
    steps += [(f"{within}{path}", step) for path, step in inside.steps]
    return parts._replace(steps=steps, machine=inside.machine)


class SelectedSets:
    """A search with sets of labels or intervals; the search derives from this class."""

    #: The model that has them; before it is asked for, the rows that it needs; or neither.
    _for_sets: Machine | SearchedRows | None = None

    @available_if(_has_sets)
    def predict_set(self, X: Any, confidence_level: Any = 0.9, *, per_class: bool = False) -> Mask:
        """The sets of labels of the selected model that contain the true one with a confidence.

        As :meth:`spansvm.SpanSVC.predict_set`, also if the selected model is an SVC: on the first
        call, the same model is trained as a SpanSVC.  The rows that were given to ``fit`` must not
        have changed until then.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
        confidence_level : float or array-like of shape (n_levels,), default=0.9
            The share of new rows whose set is to contain their label, between 0 and 1.
        per_class : bool, default=False
            Whether that share is to hold for the rows of every class.

        Returns
        -------
        ndarray of bool of shape (n, n_classes), or (n, n_classes, n_levels) for several levels
            Columns in the order of ``classes_``.
        """
        model, parts = self._left_out_model("predict_set", "SpanSVC")
        rows = transform(dict(parts.steps), X)
        return model.predict_set(rows, confidence_level, per_class=per_class)

    @available_if(_has_intervals)
    def predict_interval(self, X: Any, confidence_level: Any = 0.9) -> Array:
        """The intervals of the selected model that contain new targets with a confidence.

        As :meth:`spansvm.SpanSVR.predict_interval`, also if the selected model is an SVR: on the
        first call, the same model is trained as a SpanSVR.  The rows that were given to ``fit``
        must not have changed until then.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
        confidence_level : float or array-like of shape (n_levels,), default=0.9
            The share of new targets that are to lie in their interval, between 0 and 1.

        Returns
        -------
        ndarray of shape (n, 2), or (n, 2, n_levels) for several levels
            Lower and upper ends.
        """
        model, parts = self._left_out_model("predict_interval", "SpanSVR")
        ends = model.predict_interval(transform(dict(parts.steps), X), confidence_level)
        if parts.wrapper is None:
            return ends
        back = parts.wrapper.transformer_.inverse_transform(ends.reshape(-1, 1))
        return np.sort(np.asarray(back).reshape(ends.shape), axis=1)  # it may reverse the order

    def _left_out_model(self, asked: str, ours: str) -> tuple[Any, Parts]:
        """The machine of the selected model with its left-out rows, and what is around it."""
        best = self._best(asked)  # type: ignore[attr-defined]
        parts = _fitted_parts(best)
        if isinstance(self._for_sets, SearchedRows):
            self._for_sets = self._for_sets.model_of(best, parts)
        model = self._for_sets
        if model is None:
            if isinstance(parts.machine, (SVC, SVR)) or may_look(parts):
                raise ValueError(
                    "This search does not have the rows that its model was trained on, because it "
                    f"was saved, copied, or made by scikit-learn: call {asked} once before you "
                    f"save it, or search a {ours}."
                )
            model = parts.machine
        return model, parts

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows, which would make a saved search large."""
        state: Any = super().__getstate__()
        if isinstance(state.get("_for_sets"), SearchedRows):
            state = {**state, "_for_sets": None}
        return state
