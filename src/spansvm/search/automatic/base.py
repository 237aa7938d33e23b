"""What ``SVCCV`` and ``SVRCV`` share: a search within ``fit``, and the model that it selected."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.utils.validation import check_is_fitted

from ...common.listing import ListsProperties
from ...common.validation import (
    Constraint,
    check_parameters,
    check_weights,
    is_bool,
    rows_of,
)
from ..candidates.refining import Refinement
from .planned import PlannedSearch
from .plans import KERNELS, check_values

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["SelectsItself", "of_single_models"]

_CONSTRAINTS: dict[str, Constraint] = {
    "kernel": (
        lambda value: isinstance(value, str) and value in KERNELS,
        f"one of {', '.join(KERNELS)}",
    ),
    "n_trials": (
        lambda value: isinstance(value, Integral) and not is_bool(value) and int(value) >= 1,
        "a whole number of at least 1",
    ),
    "ensemble": (is_bool, "True or False"),
    "check_dependence": (is_bool, "True or False"),
    "scoring": (
        lambda value: value is None or isinstance(value, str) or callable(value),
        "None, the name of a score or a function",
    ),
}


def of_single_models(estimator: SelectsItself) -> bool:
    """Whether one model predicts, for ``available_if``."""
    if estimator.ensemble:
        raise AttributeError("A committee (ensemble=True) predicts; only single models have this.")
    return True


class SelectsItself(ListsProperties, metaclass=ABCMeta):
    """An estimator that searches for its hyperparameters in ``fit``."""

    kernel: str
    scoring: Any
    cv: Any
    n_trials: int
    ensemble: bool
    check_dependence: bool
    time_budget: float | str | None
    n_jobs: int | None

    def fit(
        self,
        X: Any,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
    ) -> Self:
        """Search, and train the selected model on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (l, d), or of shape (l, l) if precomputed
        y : array-like of shape (l,)
        sample_weight : array-like of shape (l,), optional
            Factors that multiply ``C``; rows of weight 0 are left aside.
        groups : array-like of shape (l,), optional
            The group of every row.  Without `cv`, whole groups are left out one at a time;
            otherwise for the splitter in `cv`.
        """
        check_parameters(self, _CONSTRAINTS)
        for name in ("Cs", "gammas", "epsilons"):
            check_values(name, getattr(self, name, None), zero=name == "epsilons")
        X, target = self._check_data(X, y)
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"With kernel='precomputed', X must be a square matrix; its shape is {X.shape}."
            )
        counts = np.ones(target.size, dtype=np.bool_)
        if sample_weight is not None:
            weight = check_weights(sample_weight, target.size, name="sample_weight")
            counts = weight > 0 if (weight > 0).any() else counts
        rows, others = (X, target) if counts.all() else (X[counts], target[counts])
        if self.kernel == "precomputed":
            rows = rows[:, counts]
        plan, model = self._plan(rows, others)
        search = PlannedSearch(
            model, plan, scoring=self.scoring, cv=self.cv, n_jobs=self.n_jobs,
            check_dependence=self.check_dependence, time_budget=self.time_budget,
        )  # fmt: skip
        with config_context(enable_metadata_routing=False):  # what is given here is for the search
            search.fit(X, target, sample_weight=sample_weight, groups=groups)
        self.__dict__.pop("committee_", None)
        self.search_ = search
        if self.ensemble:
            self.committee_ = search.committee_
        self.best_estimator_ = search.best_estimator_
        self.best_params_, self.best_score_ = search.best_params_, search.best_score_
        self.best_index_, self.cv_results_ = search.best_index_, search.cv_results_
        self.dependence_ = search.dependence_
        self.C_ = float(self.best_estimator_.C)
        has_gamma = self.kernel in ("rbf", "poly")
        self.gamma_ = float(self.best_estimator_.gamma) if has_gamma else None
        return self

    @abstractmethod
    def _check_data(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Rows, and labels or targets, as the search takes them."""

    @abstractmethod
    def _plan(self, X: Any, y: np.ndarray) -> tuple[Refinement, Any]:
        """What to search, and the model with the parameters that are not searched."""

    def _rows(self, X: Any) -> Any:
        """Rows as the selected model takes them."""
        check_is_fitted(self)
        return rows_of(self, X, reset=False)

    @property
    def _predicting(self) -> Any:
        """The model that predicts: the selected one, or the committee."""
        return self.committee_ if self.ensemble else self.best_estimator_

    def predict(self, X: Any) -> np.ndarray:
        """Predict with the selected model, or with the committee."""
        rows = self._rows(X)
        return self._predicting.predict(rows)

    def score(self, X: Any, y: npt.ArrayLike, sample_weight: Any = None) -> float:
        """The score on other rows, by the score that candidates were selected by."""
        rows = self._rows(X)
        params = {} if sample_weight is None else {"sample_weight": sample_weight}
        scorer: Any = self.search_.scorer_
        with config_context(enable_metadata_routing=False):
            return scorer(self._predicting, rows, y, **params)

    @property
    def corrected_score_(self) -> float:
        """The score, corrected for the selection."""
        check_is_fitted(self)
        return (self.committee_ if self.ensemble else self.search_).corrected_score_

    @property
    def corrected_interval_(self) -> tuple[float, float]:
        """95% CI of the score."""
        check_is_fitted(self)
        return (self.committee_ if self.ensemble else self.search_).corrected_interval_

    @property
    def loo_error_(self) -> float:
        """Leave-one-out error of the selected model, or of the committee."""
        check_is_fitted(self)
        return self._predicting.loo_error_

    @property
    def loo_predict_(self) -> np.ndarray:
        """What would be predicted for each row, had it been left out."""
        check_is_fitted(self)
        return self._predicting.loo_predict_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "search_")

    def __sklearn_tags__(self) -> Any:
        tags: Any = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags
