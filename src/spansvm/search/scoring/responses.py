"""Left-out predictions behind the interface of the candidate's estimator, as scorers expect it.

What a scorer may ask of a classifier or of a regressor is here, and nowhere else in the search.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.metrics import accuracy_score, hamming_loss, zero_one_loss
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch
from sklearn.utils.metaestimators import available_if

from ...common.types import Array, Mask
from ...common.validation import n_rows
from ...estimators.svc import SpanSVC
from ...regression.left_out import LeftOutTargets

__all__ = [
    "LeftOutClassifier",
    "LeftOutIndicators",
    "LeftOutOutputs",
    "LeftOutRegressor",
    "TrainedAttributes",
]


#: Functions that count errors.
_COUNTING = (accuracy_score, hamming_loss, zero_one_loss)


class TrainedModel(BaseEstimator, metaclass=ABCMeta):
    """Predictions with the parameters and fitted attributes of a trained candidate.

    Scorers may look at the model (``support_``, ``C``, ``estimator[-1]``): whatever is not a
    prediction comes from the fitted estimator, which is put together only if it is asked for.
    """

    def __init__(self, fitted: Callable[[], Any] | None) -> None:
        self._fitted = fitted

    @abstractmethod
    def _of_last_step(self) -> TrainedModel:
        """The same predictions with the attributes of the last step of a pipeline."""

    @abstractmethod
    def _answer(self, method: str, X: Any) -> np.ndarray:
        """What a method of the estimator returns for the rows."""

    def predict(self, X: Any) -> np.ndarray:
        """Predictions for the rows."""
        return self._answer("predict", X)

    def _model(self) -> Any:
        if self._fitted is None:
            raise AttributeError("These predictions were kept without their model.")
        return self._fitted()

    def __getattr__(self, name: str) -> Any:
        # Python asks for special methods on its own, before there is anything.
        if name.startswith("__") or name == "_fitted":
            raise AttributeError(name)
        return getattr(self._model(), name)

    def __sklearn_clone__(self) -> Any:
        return clone(self._model())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the candidate."""
        return self._model().get_params(deep)

    @property
    def steps(self) -> list[tuple[str, Any]]:
        """The fitted steps of a pipeline; the last one gives left-out predictions."""
        steps = self._model().steps
        return [*steps[:-1], (steps[-1][0], self._of_last_step())]

    @property
    def named_steps(self) -> Bunch:
        """The fitted steps of a pipeline by name."""
        return Bunch(**dict(self.steps))

    def __len__(self) -> int:
        return len(self.steps)

    def __bool__(self) -> bool:
        return True  # whether or not it has steps

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return Pipeline(self.steps[place])
        return dict(self.steps)[place] if isinstance(place, str) else self.steps[place][1]


class TrainedAttributes(ClassifierMixin, TrainedModel):
    """The same of a classifier."""

    def decision_function(self, X: Any) -> Array:
        """Decision values of the rows."""
        return self._answer("decision_function", X)

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities, from sigmoids fitted on leave-one-out values."""
        return self._answer("predict_proba", X)

    def predict_calibrated_proba(self, X: Any) -> Array:
        """Class probabilities that need not agree with the labels, as in a SpanSVC."""
        return self._answer("predict_calibrated_proba", X)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of :meth:`predict_proba`."""
        return self._answer("predict_log_proba", X)


class LeftOutClassifier(TrainedAttributes):
    """Predictions for rows that the machines did not see, with the interface of a classifier.

    This is the estimator that scorers receive.  `left_out` is a LeftOutClasses.  It predicts the
    rows that count and no others.  Where nothing fixes the intercept, it predicts without the shift
    of all rows of a class, except for scorers that count errors, such as accuracy: that is what
    leave-one-out counts, as without a scorer (`counts` is True).
    `ranks` is for scorers that rank decision values; `fitted` gives the trained estimator.  Where
    the probabilities of the trained estimator are those of LibSVM, they need not agree with its
    labels: then these do not either (`agrees` is False).

    What has been asked is noted in `asked`; a step of a pipeline notes it in the same place.
    """

    def __init__(
        self,
        left_out: Any,
        classes: Any,
        settings: SpanSVC,
        fitted: Callable[[], Any] | None = None,
        ranks: bool = False,
        agrees: bool = True,
        counts: bool = False,
    ) -> None:
        super().__init__(fitted)
        self.left_out = left_out if counts else left_out.unshifted()
        self.settings, self.ranks = settings, ranks
        self.agrees, self._as_counted = agrees, left_out
        self.classes_ = classes
        self.asked: dict[str, Any] = {}

    def given_to(self, scorer: Any) -> LeftOutClassifier:
        """These predictions as the scorer needs them, of which nothing has been asked."""
        methods = getattr(scorer, "_response_method", None)
        methods = [methods] if isinstance(methods, str) else list(methods or ())
        if getattr(scorer, "_score_func", None) in _COUNTING:
            return self._copy(self._as_counted, self._fitted, False)
        return self._copy(self.left_out, self._fitted, "decision_function" in methods)

    def _copy(
        self, left_out: Any, fitted: Callable[[], Any] | None, ranks: bool
    ) -> LeftOutClassifier:
        return type(self)(
            left_out, self.classes_, self.settings, fitted, ranks, self.agrees, counts=True
        )

    def _of_last_step(self) -> LeftOutClassifier:
        step = self._copy(self.left_out, lambda: self._model().steps[-1][1], self.ranks)
        step.asked = self.asked
        return step

    def _answer(self, method: str, X: Any) -> np.ndarray:
        if method == "predict_log_proba":
            values = np.log(self.predict_proba(X))
        else:
            values = self._of(X, self._of_all(method))
        self.asked[method] = values
        return values

    def _of_all(self, method: str) -> Any:
        """The answer for all rows, of which some may not count."""
        left_out, settings = self.left_out, self.settings
        if method == "predict":
            return left_out.labels(self.classes_, settings.break_ties)
        if method == "decision_function":
            return left_out.decision_function(settings.decision_function_shape, self.ranks)
        agrees = self.agrees and method == "predict_proba"
        return left_out.probabilities if agrees else left_out.calibrated_probabilities

    def _of(self, X: Any, values: Any) -> Any:
        return _of_counted(X, values, self.left_out.used)


class LeftOutIndicators(LeftOutClassifier):
    """The same of a one-vs-rest classifier with several labels per row: a column for each.

    `left_out` is a LeftOutLabels.
    """

    def _of_all(self, method: str) -> Any:
        if method == "predict":
            kinds = [np.arange(2)] * len(self.left_out.columns)
            return self.left_out.labels(kinds, self.settings.break_ties)
        values = super()._of_all(method)
        if method == "decision_function":
            return values
        return np.column_stack([own[:, 1] for own in values])


class LeftOutOutputs(LeftOutClassifier):
    """The same of a classifier of several outputs, each with classes and probabilities of its own.

    `left_out` is a LeftOutLabels.
    """

    @available_if(lambda self: False)
    def decision_function(self, X: Any) -> Array:
        """Not there: its outputs may have any number of values."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        if name == "decision_function":
            raise AttributeError("MultiOutputClassifier has no decision_function.")
        return super().__getattr__(name)

    def _answer(self, method: str, X: Any) -> Any:
        if method == "predict_log_proba":
            return [np.log(own) for own in self.predict_proba(X)]
        return super()._answer(method, X)

    def _of(self, X: Any, values: Any) -> Any:
        if isinstance(values, list):
            return [_of_counted(X, own, self.left_out.used) for own in values]
        return _of_counted(X, values, self.left_out.used)


class LeftOutRegressor(RegressorMixin, TrainedModel):
    """Predictions for rows that the machines did not see, with the interface of a regressor.

    `fitted` gives the trained estimator.  What has been asked is noted in `asked`.
    """

    def __init__(self, left_out: LeftOutTargets, fitted: Callable[[], Any] | None = None) -> None:
        super().__init__(fitted)
        self.left_out = left_out
        self.asked: dict[str, np.ndarray] = {}

    def given_to(self, scorer: Any) -> LeftOutRegressor:
        """These predictions, of which nothing has been asked."""
        return LeftOutRegressor(self.left_out, self._fitted)

    def _of_last_step(self) -> LeftOutRegressor:
        step = LeftOutRegressor(self.left_out, lambda: self._model().steps[-1][1])
        step.asked = self.asked
        return step

    def _answer(self, method: str, X: Any) -> np.ndarray:
        values = _of_counted(X, self.left_out.predictions, self.left_out.used)
        self.asked[method] = values
        return values


def _of_counted(X: Any, values: np.ndarray, used: Mask) -> np.ndarray:
    """Values of the rows that count; ValueError if `X` has another number of rows."""
    n = int(used.sum())
    if n_rows(X) != n:
        raise ValueError(
            f"Left-out predictions are for {n} rows, but a scorer asked for {n_rows(X)}. In a "
            "search, a scorer must predict exactly the rows it is given."
        )
    return values[used]
