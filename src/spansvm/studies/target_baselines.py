"""Other models of a quantity on the same left-out rows: what the selected regression is worth.

- The mean of the other rows.
- Ridge regression (alpha = 1) and the mean of the ten nearest neighbours, on the same transformed
  rows.  Their left-out predictions come from ten folds, or folds of whole groups: each model has
  seen nine tenths of the rows, not all but one.
- An SVR with default parameters: C = 1, epsilon = 0.1, ``gamma="scale"``, no weights; left out
  exactly, as the selected model is.

The selected model is the best of many candidates, and its error optimistic; the others are not
selected.  So differences are those to its corrected error, where that is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from ..algebra.blas import one_blas_thread
from ..common.types import Array
from ..kernels.functions import resolve_kernel
from ..regression.paths import Tube
from .scored import score_of
from .target_errors import ErrorDifference, error_difference
from .target_subject import TargetSubject

__all__ = ["TargetBaseline", "TargetComparison", "compare_target_baselines", "known_predictions"]

#: Numbers (rows times features) that other models may take.
_MOST_NUMBERS = 3e7

_FOLDS, _NEIGHBOURS = 10, 10


@dataclass(frozen=True)
class TargetBaseline:
    """A model that the selected regression is compared with.

    Attributes
    ----------
    name : str
    meaning : str
        What it is, and how its rows are left out.
    rmse : float
        Left-out root mean squared error.
    r2 : float
    difference : ErrorDifference
        Its error minus that of the selected model, corrected for selection.
    score : float or None
        The score by which the selected model was chosen, if that is neither of these.
    """

    name: str
    meaning: str
    rmse: float
    r2: float
    difference: ErrorDifference
    score: float | None = None


@dataclass(frozen=True)
class TargetComparison:
    """The selected regression and its baselines on the same rows.

    Attributes
    ----------
    rmse, r2 : float
        Left-out error of the selected model, and its R2.
    score : float or None
    optimism : float
        By how much the error is too small, as the model was selected by it; 0 if it is unknown.
    baselines : list of TargetBaseline
    skipped : list of str
        What was not computed, and why, a sentence each.
    """

    rmse: float
    r2: float
    score: float | None
    optimism: float
    baselines: list[TargetBaseline]
    skipped: list[str]


class _Known:
    """Predictions that are known, for scorers."""

    _estimator_type = "regressor"

    def __init__(self, predicted: Array) -> None:
        self._predicted = predicted

    def fit(self, X: Any, y: Any) -> _Known:
        return self

    def predict(self, X: Any) -> Array:
        return self._predicted


def known_predictions(predicted: Array) -> Any:
    """Something with ``predict``, which a scorer can be given."""
    return _Known(predicted)


@one_blas_thread
def compare_target_baselines(
    subject: TargetSubject, scorer: Callable[..., Any] | None = None, optimism: float = 0.0
) -> TargetComparison:
    """Baselines on the rows of a subject.

    Parameters
    ----------
    subject : TargetSubject
    scorer : callable, optional
        The score by which it was selected, unless that is R2 or a mean squared error.
    optimism : float
        By how much its root mean squared error is too small.
    """
    skipped: list[str] = []
    y = subject.y
    found = [("the mean", "of the other rows", _mean(subject))]
    found += _in_folds(subject, skipped)
    found.append(_plain_svr(subject))
    variance = float(y.var()) or 1.0

    def r2(predicted: Array) -> float:
        return 1.0 - float(((y - predicted) ** 2).mean()) / variance

    def score(predicted: Array) -> float | None:
        return score_of(scorer, known_predictions(predicted), y)

    own = subject.left_out.predictions
    return TargetComparison(
        float(np.sqrt((subject.residuals**2).mean())), r2(own), score(own), optimism,
        [
            TargetBaseline(
                name, meaning, float(np.sqrt(((y - predicted) ** 2).mean())), r2(predicted),
                error_difference(y - predicted, subject.residuals, subject.groups, optimism),
                score(predicted),
            )
            for name, meaning, predicted in found
        ],
        skipped,
    )  # fmt: skip


def _mean(subject: TargetSubject) -> Array:
    """The mean without each row, or without its group."""
    y, units = subject.y, np.unique(subject.units, return_inverse=True)[1]
    sums, sizes = np.bincount(units, y), np.bincount(units)
    others = np.maximum(y.size - sizes, 1)
    return ((y.sum() - sums) / others)[units]


def _in_folds(subject: TargetSubject, skipped: list[str]) -> list[tuple[str, str, Array]]:
    kernel = subject.machines.kernel
    if kernel.precomputed or callable(kernel.name):
        skipped.append("Ridge regression needs features, and the kernel was given instead.")
        return []
    X, y = subject.machines.X, subject.y
    folds = subject.folds(_FOLDS)
    if not folds or X.shape[0] * X.shape[1] > _MOST_NUMBERS:
        why = "there are too few rows for folds" if not folds else "they would take long"
        skipped.append(f"Ridge regression and nearest neighbours were left out: {why}.")
        return []
    how = f"{len(folds)} folds{'' if subject.sets is None else ' of whole groups'}"
    fewest = min(train.size for train, _ in folds)
    neighbours = min(_NEIGHBOURS, fewest)
    models = {
        "ridge regression": (Ridge(alpha=1.0), f"the same features, alpha = 1; {how}"),
        f"{neighbours} nearest neighbours": (
            KNeighborsRegressor(neighbours), f"their mean, by the same features; {how}"
        ),
    }  # fmt: skip
    result = []
    for name, (model, meaning) in models.items():
        predicted = np.empty(y.size)
        for train, test in folds:
            predicted[test] = model.fit(X[train], y[train]).predict(X[test])
        result.append((name, meaning, predicted))
    return result


def _plain_svr(subject: TargetSubject) -> tuple[str, str, Array]:
    machines, own = subject.machines, subject.machines.kernel
    name = own.name if own.precomputed or callable(own.name) else "rbf"
    kernel = resolve_kernel(name, machines.X)
    tube = Tube(np.ones(subject.n_rows), 0.1)
    _, left_out = subject.train(machines.X, subject.y, tube, subject.sets, kernel)
    gamma = ', gamma = "scale"' if name == "rbf" else ""
    return (
        "SVR with default parameters", f"C = 1, epsilon = 0.1{gamma}, no weights; left out exactly",
        left_out.predictions,
    )  # fmt: skip
