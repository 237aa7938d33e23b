"""Scores of a regression on drawn rows, from sums over the rows: R2, squared and absolute errors.

With the weights ``w`` of the rows, ``e`` their residuals and ``t`` their targets, these scores are
functions of weighted means of ``e``, ``e^2``, ``|e|``, ``t`` and ``t^2``.  All draws are one matrix
product, and the slopes of the function give the contribution of every row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import (
    explained_variance_score,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
    root_mean_squared_error,
)

from ...common.types import Array
from .bootstrap_scores import EachCandidate

__all__ = ["TargetScores", "own_digits", "target_score"]

#: From the means of e, e^2, |e|, t and t^2 to the score.
TargetScore = Callable[[Array], Array]


def _ratio(lost: Array, all_of_it: Array) -> Array:
    """1 minus a share, as scikit-learn has it where there is nothing to share."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = 1.0 - lost / all_of_it
    return np.where(all_of_it > 0.0, share, np.where(lost > 0.0, 0.0, 1.0))


def _spread(mean: Array, squares: Array) -> Array:
    """The variance, without what rounding leaves of equal numbers."""
    variance = squares - mean**2
    return np.where(variance > 1e-14 * np.abs(squares), variance, 0.0)


def _r2(m: Array) -> Array:
    return _ratio(m[1], _spread(m[3], m[4]))


def _explained_variance(m: Array) -> Array:
    return _ratio(_spread(m[0], m[1]), _spread(m[3], m[4]))


#: Functions of scikit-learn, with the sign of their scorers: the score, its limits.
_KNOWN: Mapping[tuple[Any, int], tuple[TargetScore, tuple[float, float]]] = {
    (r2_score, 1): (_r2, (-np.inf, 1.0)),
    (explained_variance_score, 1): (_explained_variance, (-np.inf, 1.0)),
    (mean_squared_error, -1): (lambda m: -m[1], (-np.inf, 0.0)),
    (root_mean_squared_error, -1): (lambda m: -np.sqrt(m[1]), (-np.inf, 0.0)),
    (mean_absolute_error, -1): (lambda m: -m[2], (-np.inf, 0.0)),
}


def target_score(scorer: Any) -> tuple[TargetScore, tuple[float, float]] | None:
    """How a scorer follows from means over the rows, and its limits; None if it is not known."""
    if getattr(scorer, "_kwargs", None) != {}:
        return None
    return _KNOWN.get((getattr(scorer, "_score_func", None), getattr(scorer, "_sign", 0)))


class TargetScores(EachCandidate):
    """Such scores of candidates.

    Parameters
    ----------
    responses : sequence of dict, or None
        What each candidate predicts.
    target : ndarray of shape (n,)
    weight : ndarray of shape (n,) or None
        Of the rows in the score.
    score : TargetScore
    limits : (float, float)
    """

    def __init__(
        self, responses: Sequence[Mapping[str, np.ndarray] | None], target: Array,
        weight: Array | None, score: TargetScore, limits: tuple[float, float],
    ) -> None:  # fmt: skip
        super().__init__(responses)
        self._weight, self._score, self.limits = weight, score, limits
        # Relative to their middle, squares of targets keep their digits.
        self._middle = float(target.mean())
        self._target = target - self._middle

    def _terms(self, own: Mapping[str, np.ndarray]) -> Array:
        """What is averaged, of shape (5, n)."""
        t = self._target
        e = t - (own["predict"].astype(np.float64) - self._middle)
        return np.stack((e, e**2, np.abs(e), t, t**2))

    def contributions(self) -> Array | None:
        """By the slopes of the score in its means."""
        own = self._responses[0]
        if own is None:
            return None
        terms = self._terms(own)
        share = np.ones(terms.shape[1]) if self._weight is None else self._weight
        share = share / share.sum()
        means = terms @ share
        slopes = np.empty(means.size)
        for k, mean in enumerate(means):
            step = 1e-5 * max(abs(mean), float(terms[k].std()), 1e-300)
            ends = np.repeat(means[:, None], 2, axis=1)
            ends[k] += (step, -step)
            up, down = self._score(ends)
            slopes[k] = (up - down) / (2.0 * step)
        return share * (slopes @ (terms - means[:, None]))

    def _scores(self, own: Mapping[str, np.ndarray], counts: np.ndarray) -> Array:
        weights = counts if self._weight is None else counts * self._weight
        total = weights.sum(axis=1, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            means = (weights @ self._terms(own).T / total[:, None]).T
        return np.where(total > 0.0, self._score(means), np.nan)


def own_digits(scorer: Any) -> Callable[[np.ndarray, Array], float | None] | None:
    """The score of targets and predictions with the digits of a scorer, without its checks.

    None if it is not known how; what is returned is None where the scorer would warn.
    """
    known = target_score(scorer)
    return None if known is None else _DIGITS.get(scorer._score_func)


def _digits_of_r2(target: np.ndarray, predicted: Array) -> float | None:
    t, p = target.reshape(-1, 1), predicted.reshape(-1, 1)
    if t.size < 2:
        return None
    lost = np.sum((t - p) ** 2, axis=0, dtype=np.float64)
    all_of_it = np.sum((t - np.average(t, axis=0)) ** 2, axis=0, dtype=np.float64)
    return float(np.average(1.0 - lost / all_of_it)) if np.all(all_of_it) else None


def _digits_of_squares(target: np.ndarray, predicted: Array) -> float:
    t, p = target.reshape(-1, 1), predicted.reshape(-1, 1)
    return -float(np.average(np.average((t - p) ** 2, axis=0)))


def _digits_of_sizes(target: np.ndarray, predicted: Array) -> float:
    t, p = target.reshape(-1, 1), predicted.reshape(-1, 1)
    return -float(np.average(np.average(np.abs(p - t), axis=0)))


_DIGITS: Mapping[Any, Callable[[np.ndarray, Array], float | None]] = {
    r2_score: _digits_of_r2,
    mean_squared_error: _digits_of_squares,
    mean_absolute_error: _digits_of_sizes,
    root_mean_squared_error: lambda t, p: -float(np.sqrt(-_digits_of_squares(t, p))),
}
