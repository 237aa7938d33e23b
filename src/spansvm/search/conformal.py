"""Sets of labels by the model that a search selected.

A :class:`~spansvm.SpanSVC` has them.  A selected SVC does not know its left-out rows: the SpanSVC
with the same parameters, trained on the same rows, is the same model, and has its sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.svm import SVC
from sklearn.utils.metaestimators import available_if

from ..common.types import Mask, Rows
from ..common.validation import check_rows
from ..estimators.as_svc import keeps_vectors
from ..estimators.svc import SpanSVC
from ..machine.fitted_svc import check_same_rows
from .candidates.composite import Parts, as_span_machine, find_unknown, take_apart, transform
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

    def model_of(self, estimator: Any, parts: Parts) -> SpanSVC:
        """The machine of the selected, fitted estimator as a SpanSVC with its left-out rows.

        ValueError if a step of the pipeline has seen the labels of the left-out rows.
        """
        if may_look(parts):
            step = find_label_step(estimator, [{}], self.X, self.y, self.params)
            if step is not None:
                raise ValueError(
                    f"{step} Sets of labels would contain the true one less often than promised: "
                    "there are none for this pipeline. Fit the step beforehand, on other rows."
                )
        machine = parts.machine
        if isinstance(machine, SpanSVC):
            return machine
        model = as_span_machine(machine)
        model.gram_budget = self.gram_budget
        rows = check_rows(transform(dict(parts.steps), self.X), machine.kernel)
        model.fit(rows, self.y, self.params.sample_weight)
        if self.sets is not None:
            model.leave_out(self.sets)
        if keeps_vectors(machine.kernel):  # whose indices do not count rows of weight 0
            used = np.flatnonzero(model.machines_.bounds)
            check_same_rows(machine, rows, used[machine.support_])
        model.left_out_.calibration  # noqa: B018  (first, as in any SpanSVC that has sets)
        return model.without_training_rows()


def _has_sets(search: Any) -> bool:
    """Whether the selected model can have sets of labels, for ``available_if``."""
    search._check_refit("predict_set")
    estimator = getattr(search, "best_estimator_", search.estimator)
    unknown, parts = find_unknown(estimator), take_apart(estimator)
    if unknown is not None or parts.wrapper is not None:
        name = type(parts.machine if parts.wrapper is None else parts.wrapper).__name__
        raise AttributeError(
            "predict_set is there for a SpanSVC, an SVC, and a Pipeline that ends in one; the "
            f"estimator is or ends in {name}."
        )
    return True


class SelectedSets:
    """A search with sets of labels; the search derives from this class."""

    #: The model that has the sets; before it is asked for, the rows that it needs; or neither.
    _for_sets: SpanSVC | SearchedRows | None = None

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
        best = self._best("predict_set")  # type: ignore[attr-defined]
        parts = take_apart(best)
        if isinstance(self._for_sets, SearchedRows):
            self._for_sets = self._for_sets.model_of(best, parts)
        model = self._for_sets
        if model is None:
            if isinstance(parts.machine, SVC) or may_look(parts):
                raise ValueError(
                    "This search does not have the rows that its model was trained on, because it "
                    "was saved, copied, or made by scikit-learn: call predict_set once before you "
                    "save it, or search a SpanSVC."
                )
            model = parts.machine
        rows = transform(dict(parts.steps), X)
        return model.predict_set(rows, confidence_level, per_class=per_class)

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows, which would make a saved search large."""
        state: Any = super().__getstate__()
        if isinstance(state.get("_for_sets"), SearchedRows):
            state = {**state, "_for_sets": None}
        return state
