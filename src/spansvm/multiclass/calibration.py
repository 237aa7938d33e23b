"""Probabilities from decision values: a sigmoid fitted by maximum likelihood.

Platt's method in the form of Lin, Lin and Weng (2007).  It must not be fitted on decision values
of a model that saw the labels; leave-one-out values meet this condition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..common.pairs import labels, probabilities
from ..common.types import Array

__all__ = [
    "PairSigmoids",
    "Sigmoid",
    "agreeing",
    "fit_sigmoid",
    "left_out_shifts",
    "limit_outliers",
]

#: Probabilities that are moved to the side of the decision end between one and two times this
#: distance from 1/2, in their order.  Single precision still tells them from 1/2.
_BEYOND_HALF = 1e-4

#: Decision values vary if their standard deviation is at least this fraction of the margin.
_VARIES = 0.1

#: Values whose relative difference is smaller are equal.
_ROUNDING = 1e-12

#: A row decides about a sigmoid by no more than this.
_MOST_LEVERAGE = 0.9

_TINY = float(np.finfo(np.float64).tiny)

_STEPS = 100
_HALVINGS = 40
_GRADIENT = 1e-9


@dataclass(frozen=True)
class Sigmoid:
    """``P(positive | f) = 1 / (1 + exp(-(slope f + offset)))``, with a slope of at least 0."""

    slope: float
    offset: float

    def __call__(self, values: Array) -> Array:
        """Probability of the positive class for decision values."""
        return expit(self.slope * values + self.offset)


@dataclass(frozen=True)
class PairSigmoids:
    """The sigmoids of all pairs of classes, and the class probabilities that follow.

    Attributes
    ----------
    sigmoids : list of Sigmoid
    n_classes : int
    shifts : ndarray of shape (n, n_pairs), or None
        For the rows that the sigmoids were fitted on: by how much their log odds change if the
        sigmoids are fitted without the row.
    """

    sigmoids: list[Sigmoid]
    n_classes: int
    shifts: Array | None = None

    def __call__(
        self, values: Array, predicted: np.ndarray | None = None, left_out: bool = False
    ) -> Array:
        """Class probabilities from the decision values of all pairs.

        With two classes they agree with the `predicted` classes (0 or 1), by default those of the
        values; see :func:`agreeing`.
        """
        calibrated = self.calibrated(values, left_out)
        if self.n_classes > 2:
            return calibrated
        return agreeing(calibrated, labels(values, _TWO, False) if predicted is None else predicted)

    def calibrated(self, values: Array, left_out: bool = False) -> Array:
        """The same as the sigmoids give them, also where they contradict the decision.

        With `left_out`, the values are those of the rows that the sigmoids were fitted on, and each
        row has the sigmoids fitted without it.
        """
        odds = np.column_stack(
            [
                sigmoid.slope * column + sigmoid.offset
                for sigmoid, column in zip(self.sigmoids, values.T, strict=True)
            ]
        )
        if left_out and self.shifts is not None:
            odds += self.shifts
        return probabilities(expit(odds), self.n_classes)


#: Indices of two classes.
_TWO = np.arange(2)


def agreeing(probability: Array, predicted: np.ndarray) -> Array:
    """Probabilities of two classes, moved so that the predicted class is the most probable.

    Even odds need not be at a decision value of 0, above all if the classes weigh differently.  A
    predicted class with less than even odds gets hardly more than even odds; all other
    probabilities stay.  The order of the rows of each predicted class is kept.

    Parameters
    ----------
    probability : ndarray of shape (n, 2)
    predicted : ndarray of shape (n,)
        The index of the predicted class.
    """
    own = probability[np.arange(predicted.size), predicted]
    beyond = 0.5 + _BEYOND_HALF * (1.0 + own)
    rows = np.flatnonzero(own < beyond)
    result = probability.copy()
    result[rows, predicted[rows]] = beyond[rows]
    result[rows, 1 - predicted[rows]] = 1.0 - beyond[rows]
    return result


def fit_sigmoid(values: Array, positive: np.ndarray, prior: float = 1.0) -> Sigmoid:
    """Fit the sigmoid that makes the labels most likely, given the decision values.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Decision values.
    positive : ndarray of bool of shape (n,)
        Which instances belong to the positive class.
    prior : float, default=1.0
        Pseudo-count of the prior; 1 is Platt's.

    Notes
    -----
    The targets are not 0 and 1 but ``prior / (n- + 2 prior)`` and
    ``(n+ + prior) / (n+ + 2 prior)``, the posterior means, so that separable data do not lead to
    infinite slopes.  Values are standardised for the Newton iteration.
    """
    target = _targets(positive, prior)
    centre = float(values.mean())
    scale = float(np.abs(values - centre).max())
    varies = scale > _ROUNDING * abs(centre)
    scale = scale if varies else 1.0
    f = (values - centre) / scale
    n_positive = int(positive.sum())
    n_negative = positive.size - n_positive
    slope, offset = 0.0, float(np.log((n_positive + prior) / (n_negative + prior)))
    loss = _loss(f, target, slope, offset)
    for _ in range(_STEPS):
        p = expit(slope * f + offset)
        error, spread = p - target, p * (1.0 - p)
        by_slope, by_offset = float(error @ f), float(error.sum())
        if max(abs(by_slope), abs(by_offset)) <= _GRADIENT * f.size:
            break
        weighted = spread * f
        steep, both, level = float(weighted @ f), float(weighted.sum()), float(spread.sum())
        ridge = 1e-12 * max(steep + level, 1e-12)
        steep, level = steep + ridge, level + ridge
        turn = -(by_slope - both / level * by_offset) / (steep - both / level * both)
        lift = -(by_offset + both * turn) / level
        descent = by_slope * turn + by_offset * lift
        length = 1.0
        for _ in range(_HALVINGS):
            trial = _loss(f, target, slope + length * turn, offset + length * lift)
            if trial < loss + 1e-4 * length * descent:
                break
            length *= 0.5
        else:
            break
        slope, offset, loss = slope + length * turn, offset + length * lift, trial
    if slope < 0.0 or not varies:
        # Labels opposed to the values, as leave-one-out produces on uninformative data: then the
        # values are uninformative too, and probabilities must not contradict the decision.
        share = float(target.mean())
        return Sigmoid(0.0, float(np.log(share / (1.0 - share))))
    return Sigmoid(slope / scale, offset - slope * centre / scale)


def _targets(positive: np.ndarray, prior: float) -> Array:
    """What the sigmoid is fitted to in place of 0 and 1."""
    n_positive = int(positive.sum())
    n_negative = positive.size - n_positive
    return np.where(
        positive,
        (n_positive + prior) / (n_positive + 2.0 * prior),
        prior / (n_negative + 2.0 * prior),
    )


def left_out_shifts(
    sigmoid: Sigmoid, fitted: Array, values: Array, positive: np.ndarray, prior: float
) -> Array:
    """By how much the log odds of each row change if the sigmoid is fitted without it.

    One Newton step from the fit with all rows, with the exact inverse of the Hessian without the
    row.  Two parameters fitted on n rows would make the log loss too small by about 2 / n.

    Parameters
    ----------
    sigmoid : Sigmoid
    fitted : ndarray of shape (n,)
        The values that it was fitted on.
    values : ndarray of shape (n,)
        The values whose log odds are wanted.
    positive, prior
        As in :func:`fit_sigmoid`.
    """
    p = sigmoid(fitted)
    weight, error = p * (1.0 - p), p - _targets(positive, prior)
    # A slope of 0 was not fitted.
    one, two = (fitted, values) if sigmoid.slope > 0.0 else (0.0 * fitted, 0.0 * values)
    centre = float(weight @ one) / max(float(weight.sum()), _TINY)
    one, two = one - centre, two - centre  # now the two parameters are independent
    level, spread = max(float(weight.sum()), _TINY), max(float(weight @ one**2), _TINY)
    if sigmoid.slope == 0.0:
        spread = np.inf
    leverage = np.minimum(weight * (1.0 / level + one**2 / spread), _MOST_LEVERAGE)
    return error * (1.0 / level + one * two / spread) / (1.0 - leverage)


def limit_outliers(values: Array, plain: Array, positive: np.ndarray) -> Array:
    """Leave-one-out values to fit a sigmoid on, without margins far below all others.

    A few such margins would flatten the whole sigmoid.  Margins are clipped from below at the
    smallest of three values: -1, the smallest margin of the model itself (its decision values are
    `plain`), and the lower fence of the quartiles.  They are clipped from above at the same
    distance from 0, or at the upper quartile if that is larger.  If the model's values hardly vary,
    nothing is clipped: limits that depend on the label would leak it.
    """
    if float(plain.std()) < _VARIES:
        return values
    sign = np.where(positive, 1.0, -1.0)
    margins = sign * values
    low, high = np.quantile(margins, [0.25, 0.75])
    least = min(-1.0, float((sign * plain).min()), low - 1.5 * (high - low))
    return sign * np.clip(margins, least, max(-least, float(high)))


def _loss(f: Array, target: Array, slope: float, offset: float) -> float:
    """Cross-entropy, in a form that does not overflow."""
    z = slope * f + offset
    return float((np.logaddexp(0.0, z) - target * z).sum())
