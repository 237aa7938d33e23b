"""Other models of a quantity on the same left-out rows: what the selected regression is worth.

- The mean of the other rows.
- Models of other kinds on the same transformed rows (:mod:`spansvm_app.studies.rivals`): ridge
  regression, the ten nearest neighbours, a random forest, gradient boosting.  Their left-out
  predictions come from folds, or folds of whole groups.
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
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from ..common.types import Array
from .rivals import FEW_FOLDS, left_out_as_slow, predictions_in_folds, regressions
from .scored import score_of
from .target_errors import ErrorDifference, error_difference
from .target_subject import TargetSubject

__all__ = ["TargetBaseline", "TargetComparison", "compare_target_baselines", "known_predictions"]

#: What needs features; how many folds there are for those that do not take long.
_OTHERS, _FOLDS = "Ridge regression, neighbours, forests and boosting", 10


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

    @property
    def better(self) -> TargetBaseline | None:
        """The best of the baselines that are better than the selected model beyond chance.

        One of several is, by chance, more often than each: their intervals are wider (Bonferroni).
        It is better before the correction for selection, too, which is itself an estimate.
        """
        quantile = float(norm.isf(0.025 / max(len(self.baselines), 1)))
        found = [
            one
            for one in self.baselines
            if one.rmse < self.rmse
            and one.difference.value + quantile * one.difference.standard_error < 0.0
        ]
        return min(found, key=lambda one: one.rmse, default=None)


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


@threadpool_limits.wrap(limits=1, user_api="blas")
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
        skipped.append(f"{_OTHERS} need features, and the kernel was given instead.")
        return []
    X, y = subject.machines.X, subject.y
    few = subject.folds(FEW_FOLDS)
    many = subject.folds(_FOLDS) or few
    if not few:
        skipped.append(f"{_OTHERS} were left out: there are too few rows for folds.")
        return []
    result, slow = [], []
    for rival in regressions(min(train.size for train, _ in many)):
        folds = few if rival.of_trees else many
        if rival.takes_long(X.shape, 1, len(folds)):
            slow.append(rival.name)
            continue
        whole = "" if subject.sets is None else " of whole groups"
        meaning = f"{rival.meaning}; {len(folds)} folds{whole}"
        result.append((rival.name, meaning, predictions_in_folds(rival, X, y, folds)))
    skipped += left_out_as_slow(slow)
    return result


def _plain_svr(subject: TargetSubject) -> tuple[str, str, Array]:
    machines, own = subject.machines, subject.machines.kernel
    name = own.name if own.precomputed or callable(own.name) else "rbf"
    _, left_out = subject.train(
        machines.X, subject.y, np.ones(subject.n_rows), subject.sets, kernel=name, epsilon=0.1
    )
    gamma = ', gamma = "scale"' if name == "rbf" else ""
    return (
        "SVR with default parameters", f"C = 1, epsilon = 0.1{gamma}, no weights; left out exactly",
        left_out.predictions,
    )  # fmt: skip
