"""From classes and importance scores to instance weights.

A weighting gives each instance a weight; :class:`~spansvm.SpanSVC` multiplies it by ``C``, the
class weight and the sample weight to get the bound ``C_i`` of the instance's multiplier.  This
module has the two weightings of the paper: class weights C+ and C- (Experiment 1) and the
sigmoid family that maps scores ``q_i`` to weights (eq. sigmoidal, Experiment 2).

To write your own, derive from :class:`Weighting` and implement one method,
``instance_weights(y, scores)``.  Its constructor arguments become parameters of the estimator:
``SpanSVC(weighting=MyWeighting(power=2))`` can be searched over ``weighting__power``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.class_weight import compute_class_weight

from ..common.types import Array
from ..common.validation import check_weights
from ..machine.dual import instance_bounds

__all__ = [
    "PAPER_CLASS_WEIGHTS",
    "PAPER_SIGMOIDS",
    "ClassWeighting",
    "SigmoidWeighting",
    "Weighting",
    "check_scores",
    "weigh",
    "weigh_rows",
]

#: The paper's grid for the weight of each class (Experiment 1).
PAPER_CLASS_WEIGHTS = tuple(2.0 ** (exponent / 2) for exponent in range(-12, 21))

#: The paper's grid for each parameter of the sigmoid (Experiment 2).
PAPER_SIGMOIDS = {
    "steepness": tuple(float(value) for value in range(1, 11)),
    "midpoint": tuple(value / 10 for value in range(10)),
    "ceiling": tuple(2.0**exponent for exponent in range(-6, 11)),
}


class Weighting(ABC, BaseEstimator):
    """Base class for weightings: one method, and parameters as in scikit-learn.

    See Also
    --------
    ClassWeighting : Weights from classes.
    SigmoidWeighting : Weights from importance scores.
    """

    @abstractmethod
    def instance_weights(self, y: np.ndarray, scores: Array | None) -> Array:
        """Weight of every instance, at least 0.

        Parameters
        ----------
        y : ndarray of shape (l,)
            Labels, as passed to ``fit``.
        scores : ndarray of shape (l,) or None
            Importance scores in [0, 1], if any were passed to ``fit``.
        """


class ClassWeighting(Weighting):
    """Weights of the two classes, ``C+`` and ``C-``.

    Parameters
    ----------
    positive : float, default=1.0
        Weight of the class ``classes_[1]``, the larger label.
    negative : float, default=1.0
        Weight of the class ``classes_[0]``.

    See Also
    --------
    SigmoidWeighting : Weights from importance scores.
    spansvm.SpanSVC : Uses the weights; its ``class_weight`` takes any number of classes.
    """

    def __init__(self, positive: float = 1.0, negative: float = 1.0) -> None:
        self.positive = positive
        self.negative = negative

    def instance_weights(self, y: np.ndarray, scores: Array | None = None) -> Array:
        """``positive`` or ``negative``, depending on the class."""
        positive = _number(self, "positive", least=0.0)
        negative = _number(self, "negative", least=0.0)
        # Numbers need not be sorted for this, which runs for every candidate of a search.
        ends = (y.min(), y.max()) if y.dtype.kind in "biuf" and y.size else np.unique(y)
        upper = y == ends[-1]
        if not (upper | (y == ends[0])).all():
            raise ValueError(
                f"ClassWeighting is for two classes; y has {np.unique(y).size}. Use class_weight."
            )
        return np.where(upper, positive, negative)


class SigmoidWeighting(Weighting):
    """Weights from importance scores by a sigmoid (eq. sigmoidal).

    ``max(ceiling / (1 + exp(-steepness (q - midpoint))), floor)``

    Parameters
    ----------
    steepness : float, default=1.0
        ``A``: how sharply weights rise from unimportant to important instances.
    midpoint : float, default=0.5
        ``B``: the score that maps to half of the ceiling.
    ceiling : float, default=1.0
        ``C``: the weight that the most important instances approach.
    floor : float, default=0.01
        ``sigma``: the smallest weight, for stability.

    See Also
    --------
    ClassWeighting : Weights from classes.
    spansvm.scores.centre_closeness : Scores from distances to the class centre.
    spansvm.scores.neighbour_agreement : Scores from the labels of nearest neighbours.
    spansvm.scores.local_density : Scores from the density of the class.
    """

    def __init__(
        self,
        steepness: float = 1.0,
        midpoint: float = 0.5,
        ceiling: float = 1.0,
        floor: float = 0.01,
    ) -> None:
        self.steepness = steepness
        self.midpoint = midpoint
        self.ceiling = ceiling
        self.floor = floor

    def instance_weights(self, y: np.ndarray, scores: Array | None) -> Array:
        """The sigmoid of the scores."""
        if scores is None:
            raise ValueError("SigmoidWeighting needs importance scores: pass scores= to fit.")
        steepness = _number(self, "steepness")
        midpoint = _number(self, "midpoint")
        ceiling = _number(self, "ceiling", least=0.0)
        floor = _number(self, "floor", least=0.0)
        exponent = np.clip(-steepness * (scores - midpoint), -700.0, 700.0)
        return np.maximum(ceiling / (1.0 + np.exp(exponent)), floor)


def check_scores(scores: object, n: int) -> Array:
    """`n` importance scores in [0, 1] as floats; ValueError for anything else."""
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != (n,):
        raise ValueError(
            f"scores must have one value for each of the {n} instances; got shape {values.shape}."
        )
    if not np.isfinite(values).all():
        raise ValueError("scores must be finite; found NaN or infinity.")
    if values.size and (values.min() < 0.0 or values.max() > 1.0):
        raise ValueError(
            f"scores must be between 0 and 1; they range from {values.min():g} to "
            f"{values.max():g}. Scale them first."
        )
    return values


def _number(weighting: Weighting, name: str, least: float = -np.inf) -> float:
    value: Any = getattr(weighting, name)
    if not isinstance(value, Real) or not np.isfinite(float(value)) or float(value) < least:
        bound = f" of at least {least:g}" if np.isfinite(least) else ""
        raise ValueError(
            f"{name} of {type(weighting).__name__} must be a number{bound}; got {value!r}."
        )
    return float(value)


def weigh(
    model: Any,
    y: np.ndarray,
    sample_weight: npt.ArrayLike | None,
    scores: npt.ArrayLike | None,
    known: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[Array, Array]:
    """The class weights of a model for these labels, and ``C_i`` of every instance.

    `model` is a :class:`~spansvm.SpanSVC` or a :class:`sklearn.svm.SVC`, which has no weighting;
    `known` is the result of ``np.unique(y, return_inverse=True)``, if available.
    """
    classes, indices = np.unique(y, return_inverse=True) if known is None else known
    if classes.size < 2:
        raise ValueError(
            f"The number of classes has to be greater than one; got {classes.size} class."
        )
    weight, class_weight = np.ones(y.size), np.ones(classes.size)
    if sample_weight is not None:
        weight = check_weights(sample_weight, y.size, name="sample_weight")
    if model.class_weight is not None:
        # As in SVC: "balanced" counts the instances, whatever they weigh.
        class_weight = compute_class_weight(model.class_weight, classes=classes, y=y)
        check_weights(class_weight, classes.size, name="class_weight")
    bounds = instance_bounds(model.C, class_weight, indices, weight)
    factors = _from_weighting(model, y, scores)
    if sample_weight is model.class_weight is factors is None:
        return class_weight, bounds
    if factors is not None:
        bounds = bounds * factors
    weighed = np.bincount(indices, weights=bounds, minlength=classes.size) > 0
    if not weighed.all():
        label = classes[np.argmin(weighed)]
        raise ValueError(f"All instances of the class {label} have zero weight.")
    return class_weight, bounds


def weigh_rows(
    model: Any,
    target: Array,
    sample_weight: npt.ArrayLike | None,
    scores: npt.ArrayLike | None,
) -> Array:
    """``C_i`` of every instance of a regression.

    `model` is a :class:`~spansvm.SpanSVR` or a :class:`sklearn.svm.SVR`, which has no weighting.
    """
    weight = np.ones(target.shape[0])
    if sample_weight is not None:
        weight = check_weights(sample_weight, weight.size, name="sample_weight")
    nowhere = np.zeros(weight.size, dtype=np.intp)
    bounds = instance_bounds(model.C, np.ones(1), nowhere, weight)
    factors = _from_weighting(model, target, scores)
    if factors is not None:
        bounds = bounds * factors
    if not (bounds > 0.0).any():
        raise ValueError("All instances have zero weight.")
    return bounds


def _from_weighting(model: Any, y: np.ndarray, scores: npt.ArrayLike | None) -> Array | None:
    """The weights that the weighting of a model gives the instances; None if it has none."""
    weighting = getattr(model, "weighting", None)
    checked = None if scores is None else check_scores(scores, y.shape[0])
    if weighting is None:
        if checked is not None:
            raise ValueError("scores were given, but there is no weighting to use them.")
        return None
    if not hasattr(weighting, "instance_weights"):
        raise ValueError(
            f"weighting must be a Weighting or have a method instance_weights; got {weighting!r}."
        )
    factors = weighting.instance_weights(y, checked)
    return check_weights(factors, y.shape[0], name="The weights from weighting")
