"""One-vs-one: from the machines of all pairs of classes to decisions and probabilities.

Pairs run as in LibSVM: (0, 1), (0, 2), ..., (1, 2), ...  The value of a pair is positive for
its second class here; scikit-learn's convention, positive for the first where there are more
than two classes, is left to the estimator.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from .qp import Array

__all__ = ["class_pairs", "couple", "one_vs_rest", "votes"]

#: Pairwise probabilities are kept this far from 0 and 1, as in LibSVM.
_LEAST_PROBABILITY = 1e-7


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """All pairs of classes, in LibSVM's order."""
    return list(combinations(range(n_classes), 2))


def votes(values: Array, n_classes: int) -> Array:
    """How many of its pairs each class wins; a value of exactly 0 goes to the first class."""
    result = np.zeros((values.shape[0], n_classes))
    for column, (first, second) in enumerate(class_pairs(n_classes)):
        won = values[:, column] > 0
        result[:, second] += won
        result[:, first] += ~won
    return result


def one_vs_rest(values: Array, n_classes: int) -> Array:
    """Votes, and between classes of equal votes the sum of their values.

    The sums are squeezed into less than a third, so that they never outvote a vote; that is
    what scikit-learn does.
    """
    sums = np.zeros((values.shape[0], n_classes))
    for column, (first, second) in enumerate(class_pairs(n_classes)):
        sums[:, second] += values[:, column]
        sums[:, first] -= values[:, column]
    return votes(values, n_classes) + sums / (3.0 * (np.abs(sums) + 1.0))


def couple(pairwise: Array, n_classes: int) -> Array:
    """Probabilities of all classes from those of the pairs (Wu, Lin and Weng 2004).

    Parameters
    ----------
    pairwise : ndarray of shape (n, n_pairs)
        Probability of the second class of each pair, given that it is one of the two.
    n_classes : int

    Returns
    -------
    ndarray of shape (n, n_classes)
        The p that minimises ``sum_i sum_j (r_ji p_i - r_ij p_j)^2`` with ``sum(p) = 1``.
    """
    n = pairwise.shape[0]
    r = np.zeros((n, n_classes, n_classes))
    bounded = np.clip(pairwise, _LEAST_PROBABILITY, 1.0 - _LEAST_PROBABILITY)
    for column, (first, second) in enumerate(class_pairs(n_classes)):
        r[:, second, first] = bounded[:, column]
        r[:, first, second] = 1.0 - bounded[:, column]
    system = np.zeros((n, n_classes + 1, n_classes + 1))
    system[:, :n_classes, :n_classes] = -r * r.transpose(0, 2, 1)
    diagonal = np.arange(n_classes)
    system[:, diagonal, diagonal] = (r**2).sum(axis=1)
    system[:, n_classes, :n_classes] = system[:, :n_classes, n_classes] = 1.0
    right = np.zeros((n, n_classes + 1, 1))
    right[:, n_classes] = 1.0
    solved = np.linalg.solve(system, right)[:, :n_classes, 0]
    probability = np.clip(solved, 0.0, None)
    return probability / probability.sum(axis=1, keepdims=True)
