"""Models of other kinds on the same transformed rows, each row predicted by models of other folds.

All are scikit-learn's with default parameters, but for what their `meaning` says: a linear model, a
random forest, gradient boosting.  Folds are those of
:func:`spansvm_app.studies.folds.folds_of`: ten, and five for trees, which take longer.  So each
model has seen nine or eight tenths of the rows, not all but one.

Nothing depends on threads: the numbers that they draw are fixed, and boosting, whose sums depend on
how many threads there are, has one.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from threadpoolctl import threadpool_limits

from ..common.types import Array
from ..common.wording import listed

__all__ = [
    "FEW_FOLDS",
    "Rival",
    "classes_in_folds",
    "classifiers",
    "left_out_as_slow",
    "predictions_in_folds",
    "regressions",
]

#: The decision value of a class that a fold does not know.
_NEVER = -1e9

#: Folds of models that are trained quickly, and of trees.
FEW_FOLDS, _NEIGHBOURS = 5, 10

#: About how many seconds a model may take on one thread, by the numbers below.
_MOST_SECONDS = 12.0

#: What a number (a row's feature) takes in all steps of a model, in seconds, and what a model takes
#: beside.
_LINEAR, _FOREST, _BOOSTING, _BESIDE = 3e-7, 6e-6, 2.5e-6, 0.07

Folds = Sequence[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Rival:
    """A model of another kind.

    Attributes
    ----------
    name, meaning : str
    model : estimator
        Not fitted.
    kind : {"linear", "forest", "boosting"}
    """

    name: str
    meaning: str
    model: Any
    kind: str = "linear"

    @property
    def of_trees(self) -> bool:
        """Whether it is made of trees, and has fewer folds."""
        return self.kind != "linear"

    def takes_long(self, shape: tuple[int, int], n_outputs: int, n_folds: int) -> bool:
        """Whether it would take long to train in folds: by their sizes, not by any clock."""
        n_rows, n_features = shape
        numbers = float(n_rows) * n_features
        if self.kind == "linear":
            return _LINEAR * numbers * n_outputs * n_folds > _MOST_SECONDS
        if self.kind == "boosting":
            return n_folds * n_outputs * (_BESIDE + _BOOSTING * numbers) > _MOST_SECONDS
        tried = n_features**0.5 if is_classifier(self.model) else n_features
        of_one = _BESIDE + _FOREST * n_rows * np.log2(n_rows) * tried
        return bool(n_folds * of_one > _MOST_SECONDS)


def classifiers(balanced: bool) -> list[Rival]:
    """Other classifiers; if `balanced`, those that weigh classes equally as well or instead.

    A linear model is there with equal weights as well; a forest that ignores a rare class is no
    rival where the score does not.
    """
    weights, named = ("balanced", ", balanced") if balanced else (None, "")
    said = ", classes weighted equally" if balanced else ""
    linear = {"max_iter": 200, "tol": 1e-3}
    found = [Rival("logistic regression", "the same features, C = 1",
                   LogisticRegression(**linear))]  # fmt: skip
    if balanced:
        found.append(
            Rival(f"logistic regression{named}", f"the same features, C = 1{said}",
                  LogisticRegression(class_weight=weights, **linear))
        )  # fmt: skip
    return [
        *found,
        Rival(f"random forest{named}", f"the same features, 100 trees{said}",
              RandomForestClassifier(class_weight=weights, random_state=0), "forest"),
        Rival(f"gradient boosting{named}", f"the same features, 100 steps{said}",
              HistGradientBoostingClassifier(
                  class_weight=weights, early_stopping=False, random_state=0
              ), "boosting"),
    ]  # fmt: skip


def regressions(fewest: int) -> list[Rival]:
    """Other regressions, of which each has at least so many rows to learn from."""
    near = min(_NEIGHBOURS, fewest)
    return [
        Rival("ridge regression", "the same features, alpha = 1", Ridge(alpha=1.0)),
        Rival(f"{near} nearest neighbours", "their mean, by the same features",
              KNeighborsRegressor(near)),
        Rival("random forest", "the same features, 100 trees",
              RandomForestRegressor(random_state=0), "forest"),
        Rival("gradient boosting", "the same features, 100 steps",
              HistGradientBoostingRegressor(early_stopping=False, random_state=0), "boosting"),
    ]  # fmt: skip


def left_out_as_slow(names: Sequence[str]) -> list[str]:
    """A sentence about models that were not trained, if there are any."""
    if not names:
        return []
    text = f"{names[0][0].upper()}{listed(names)[1:]}"
    was = "was left out: it" if len(names) == 1 else "were left out: they"
    return [f"{text} {was} would take long on this many numbers."]


@threadpool_limits.wrap(limits=1, user_api="openmp")
def classes_in_folds(
    rival: Rival, X: Any, y: np.ndarray, folds: Folds, n_classes: int
) -> dict[str, np.ndarray]:
    """What a classifier answers for every row, by method, from models of the other folds.

    `y` holds classes as numbers from 0.
    """
    probability = np.zeros((y.size, n_classes))
    decision = np.full((y.size, n_classes), _NEVER)
    for model, test in _trained(rival, X, y, folds):
        rows = _rows(rival, X, test)
        known = np.ix_(test, model.classes_)  # a class of one row may not be among them
        probability[known] = model.predict_proba(rows)
        if not hasattr(model, "decision_function"):
            decision[known] = probability[known]
            continue
        values: Array = model.decision_function(rows)
        decision[known] = values if values.ndim > 1 else np.column_stack((-values, values))
    ranked = decision if n_classes > 2 else decision[:, 1]
    return {
        "predict": decision.argmax(axis=1),
        "predict_proba": probability,
        "predict_log_proba": np.log(probability.clip(np.finfo(float).tiny)),
        "decision_function": ranked,
    }


@threadpool_limits.wrap(limits=1, user_api="openmp")
def predictions_in_folds(rival: Rival, X: Any, y: Array, folds: Folds) -> Array:
    """What a regression predicts for every row, from models of the other folds."""
    predicted = np.empty(y.size)
    for model, test in _trained(rival, X, y, folds):
        predicted[test] = model.predict(_rows(rival, X, test))
    return predicted


def _trained(rival: Rival, X: Any, y: np.ndarray, folds: Folds) -> list[tuple[Any, np.ndarray]]:
    """The model of every fold, and the rows that it has not seen."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of many classes, of steps that do not suffice
        return [
            (clone(rival.model).fit(_rows(rival, X, train), y[train]), test)
            for train, test in folds
        ]


def _rows(rival: Rival, X: Any, rows: np.ndarray) -> Any:
    part = X[rows]
    return part.toarray() if rival.kind == "boosting" and sparse.issparse(part) else part
