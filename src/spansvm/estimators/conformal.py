"""Predictions with a promised coverage, from the scores of left-out training rows.

A score says how badly a label suits a row.  The scores of the training rows, each given by a model
that did not see the row, are like that of a new row with its true label: among n + 1 such scores
every order is equally probable.  So the new one is at most the r-th smallest of n left-out scores
with a probability of at least r / (n + 1); a label beyond it is not in the set.

The model that scores new rows is not one of those that scored the left-out rows: it has seen one
row more.  This is the jackknife, with the rank of conformal prediction (Barber, Candès, Ramdas and
Tibshirani, 2021), here from one training.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from ..common.types import Array, Mask
from ..common.validation import is_bool
from ..multiclass.left_out import LeftOutClasses

__all__ = ["PredictsSets", "check_confidence", "conformal_rank", "label_sets"]

#: A level is meant as it is written: 0.55 * 100 is 55, not the next number above it.
_ROUNDING = 1e-12


def check_confidence(confidence_level: Any) -> Array:
    """Confidence levels as an array; without an axis for a single number."""
    single = isinstance(confidence_level, Real) and not is_bool(confidence_level)
    levels = np.asarray(confidence_level)
    if not (single or (levels.ndim <= 1 and levels.size)) or levels.dtype.kind not in "iuf":
        raise ValueError(
            "confidence_level must be a number between 0 and 1, or a list of them; got "
            f"{confidence_level!r}."
        )
    levels = levels.astype(np.float64)
    if not ((levels > 0.0) & (levels < 1.0)).all():
        raise ValueError(
            "confidence_level must be between 0 and 1, without 0 and 1 themselves; got "
            f"{confidence_level!r}."
        )
    return levels


def conformal_rank(n: npt.ArrayLike, levels: Array) -> np.ndarray:
    """Which of `n` left-out scores, in ascending order, is the limit for the score of a new row.

    ``ceil(level (n + 1))``, counted from 1.  Where that is n + 1, there are too few scores for the
    level, and nothing limits the new one.
    """
    exact = levels * (np.asarray(n) + 1)
    return np.ceil(exact * (1.0 - _ROUNDING)).astype(np.intp)


def label_sets(
    own: Array, indices: np.ndarray, probability: Array, levels: Array, per_class: bool
) -> Mask:
    """Which labels are in the set of every new row.

    The score of a label is 1 minus its probability.  A set that would be empty has the label that
    comes first if the level rises, so that the sets of rising levels contain each other.

    Parameters
    ----------
    own : ndarray of shape (n,)
        For left-out rows, the probability of their own label.
    indices : ndarray of shape (n,)
        Their classes.
    probability : ndarray of shape (m, n_classes)
        Probabilities of new rows.
    levels : ndarray of shape (n_levels,)
    per_class : bool
        Whether a label is compared with the left-out rows of its class, instead of all.

    Returns
    -------
    ndarray of bool of shape (m, n_classes, n_levels)
    """
    n_classes = probability.shape[1]
    scores = 1.0 - probability
    known = [np.sort(1.0 - own)] * n_classes
    if per_class:
        known = [np.sort(1.0 - own[indices == label]) for label in range(n_classes)]
    smaller = np.column_stack(
        [np.searchsorted(sorted_scores, scores[:, k]) for k, sorted_scores in enumerate(known)]
    )
    sizes = np.array([sorted_scores.size for sorted_scores in known])
    sets = smaller[:, :, None] < conformal_rank(sizes[:, None], levels)
    confidence = smaller / (sizes + 1.0)  # the label is in the set from this level on
    first = confidence == confidence.min(axis=1, keepdims=True)
    place = np.where(first, probability, -1.0).argmax(axis=1)
    row, level = np.nonzero(~sets.any(axis=1))
    sets[row, place[row], level] = True
    return sets


class PredictsSets:
    """A classifier with sets of labels, from the probabilities of its left-out training rows."""

    left_out_: LeftOutClasses
    predict_calibrated_proba: Callable[[Any], Array]

    def predict_set(self, X: Any, confidence_level: Any = 0.9, *, per_class: bool = False) -> Mask:
        """The set of labels that contains the true one with a given confidence.

        A label is in the set unless it is less probable than the true labels of nearly all
        training rows were, when these were left out: 10 % of them may be less probable at a
        `confidence_level` of 0.9.  No set is empty: it contains at least the label that is in the
        set of every higher level.  That is the most probable one by ``predict_calibrated_proba``,
        which is not always that of ``predict``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        confidence_level : float or array-like of shape (n_levels,), default=0.9
            The share of new rows whose set is to contain their label, between 0 and 1.
        per_class : bool, default=False
            Whether that share is to hold for the rows of every class, not only for all rows: the
            sets of rare and difficult classes then contain their label as often as others.  Sets
            are larger.  A class with fewer than ``c / (1 - c)`` training rows, 9 for a confidence
            c of 0.9, is in all of them.

        Returns
        -------
        ndarray of bool of shape (n, n_classes), or (n, n_classes, n_levels) for several levels
            Columns in the order of ``classes_``.

        Notes
        -----
        Rows of weight 0 do not take part; all others count once, whatever their weight.  If the
        model was fitted with `groups`, the training rows are left out with their groups, and the
        sets are for rows of new groups.
        """
        levels = check_confidence(confidence_level)
        probability = self.predict_calibrated_proba(X)
        left_out = self.left_out_
        used, indices = left_out.used, left_out.indices
        own = left_out.calibrated_probabilities[np.arange(indices.size), indices]
        sets = label_sets(
            own[used], indices[used], probability, np.atleast_1d(levels), bool(per_class)
        )
        return sets if levels.ndim else sets[:, :, 0]
