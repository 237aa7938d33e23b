"""A fitted search as a scikit-learn estimator: the model that it selected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..common.methods import predicts
from ..common.validation import check_sparse
from .candidates.composite import Parts, take_apart
from .scoring.scorers import resolve_scorers

__all__ = ["SelectedModel"]

_PROBABILITIES = ("predict_proba", "predict_log_proba")


def _has(method: str) -> Callable[[Any], bool]:
    """Whether the search has a method of its estimator, for ``available_if``."""

    def check(search: Any) -> bool:
        search._check_refit(method)
        estimator = getattr(search, "best_estimator_", search.estimator)
        if method in _PROBABILITIES and not hasattr(estimator, method):
            _tell_what_has(method, take_apart(estimator))
        getattr(estimator, method)
        return True

    return check


def _tell_what_has(method: str, parts: Parts) -> None:
    """AttributeError that names what has probabilities, in the place of an SVC."""
    if isinstance(parts.machine, SVC):
        committee = "" if parts.wrapper else ", or take those of the search's committee_"
        raise AttributeError(
            f"SVC has no {method} without probability=True. Search a SpanSVC in its place, whose "
            f"probabilities are calibrated on left-out rows{committee}."
        )


class SelectedModel(MetaEstimatorMixin, BaseEstimator):
    """Predicts with ``best_estimator_``; the search that finds it derives from this class."""

    def _scorers(self) -> dict[str, Callable[..., Any]]:
        """The scorers by name; the name is "score" if there is only one."""
        return resolve_scorers(self.estimator, self.scoring)

    def _check_refit(self, method: str) -> None:
        if self.refit is False:
            raise AttributeError(
                f"This {type(self).__name__} was made with `refit=False`. {method} is available "
                "only after refitting on the best parameters."
            )

    def _best(self, method: str) -> Any:
        self._check_refit(method)
        check_is_fitted(self)
        return self.best_estimator_

    def _apply(self, method: str, X: Any) -> Any:
        """What a method of the selected model returns for rows."""
        best = self._best(method)
        check_sparse(X)
        return getattr(best, method)(X)

    @available_if(_has("predict"))
    def predict(self, X: Any) -> np.ndarray:
        """Labels predicted by the selected model."""
        return self._apply("predict", X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities predicted by the selected model."""
        return self._apply("predict_proba", X)

    @available_if(_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the class probabilities predicted by the selected model."""
        return self._apply("predict_log_proba", X)

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values of the selected model."""
        return self._apply("decision_function", X)

    @available_if(_has("score_samples"))
    def score_samples(self, X: Any) -> np.ndarray:
        """Scores of single rows by the selected model."""
        return self._apply("score_samples", X)

    @available_if(_has("transform"))
    def transform(self, X: Any) -> Any:
        """Rows transformed by the selected model."""
        return self._apply("transform", X)

    @available_if(_has("inverse_transform"))
    def inverse_transform(self, X: Any) -> Any:
        """Rows transformed back by the selected model."""
        return self._apply("inverse_transform", X)

    def score(self, X: Any, y: npt.ArrayLike | None = None, **params: Any) -> float:
        """Score of the selected model on other rows, computed by the scorer of the search."""
        best = self._best("score")
        check_sparse(X)
        _raise_for_params(params, self, "score")
        scorer, name = self.scorer_, "score"
        if isinstance(scorer, Mapping):
            name = self.refit
            scorer = scorer[name]
        if get_config()["enable_metadata_routing"]:
            params = dict(process_routing(self, "score", **params)[f"scorer_{name}"].score)
        result = scorer(best, X, y, **params)
        return result[self.refit] if isinstance(result, dict) else result

    # scikit-learn ---------------------------------------------------------------------

    @property
    def classes_(self) -> np.ndarray:
        """Labels of the classes."""
        return self._best("classes_").classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features the model was trained on."""
        try:
            check_is_fitted(self)
        except NotFittedError as error:
            raise AttributeError(f"{type(self).__name__} is not fitted yet.") from error
        return self.best_estimator_.n_features_in_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cv_results_") and (
            self.refit is False or hasattr(self, "best_estimator_")
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = deepcopy(inner.classifier_tags)
        tags.regressor_tags = deepcopy(inner.regressor_tags)
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags

    #: The selected model, once there is one, in the diagram that notebooks show.
    _sk_visual_block_ = GridSearchCV._sk_visual_block_

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata requests of the estimator's ``fit``, the scorers and the splitter."""
        router = MetadataRouter(owner=self)
        router.add(
            estimator=self.estimator,
            method_mapping=MethodMapping().add(caller="fit", callee="fit"),
        )
        for name, scorer in self._scorers().items():
            mapping = MethodMapping().add(caller="score", callee="score")
            if predicts(self.method):
                mapping.add(caller="fit", callee="score")
            router.add(**{f"scorer_{name}": scorer}, method_mapping=mapping)
        if hasattr(self.cv, "split"):
            router.add(
                splitter=self.cv,
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        return router
