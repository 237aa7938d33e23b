"""One-vs-one: from the machines of all pairs of classes to decisions and probabilities.

Pairs run as in LibSVM: (0, 1), (0, 2), ..., (1, 2), ...  The value of a pair is positive for
its second class here; scikit-learn's convention, positive for the first where there are more
than two classes, is left to the estimator.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ._typing import Array, Mask

__all__ = [
    "class_pairs",
    "couple",
    "errors",
    "labels",
    "lost",
    "one_vs_rest",
    "probabilities",
    "shaped",
    "votes",
]

#: Pairwise probabilities are kept this far from 0 and 1, as in LibSVM.
_LEAST_PROBABILITY = 1e-7


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """All pairs of classes, in LibSVM's order."""
    return list(combinations(range(n_classes), 2))


def shaped(values: Array, n_classes: int, shape: str) -> Array:
    """What ``decision_function`` returns for the values of all pairs, as in scikit-learn.

    One column of values, positive for the second class, where there are two classes; else
    all pairs (`shape` is "ovo"), positive for the first, or one column a class ("ovr").
    """
    if n_classes == 2:
        return values[:, 0]
    return -values if shape == "ovo" else one_vs_rest(values, n_classes)


def labels(values: Array, classes: np.ndarray, break_ties: bool) -> np.ndarray:
    """The class that wins most of its pairs; of several, the first, or by value."""
    counted = one_vs_rest if break_ties and classes.size > 2 else votes
    return classes[np.argmax(counted(values, classes.size), axis=1)]


def lost(margins: Array) -> Mask:
    """Which margins make an error: a value of exactly 0 does (``theta(0) = 1`` in the paper)."""
    return margins <= 0.0


def errors(values: Array, indices: np.ndarray, n_classes: int, break_ties: bool = False) -> Mask:
    """Which left-out rows are not given to their own class."""
    if n_classes == 2:
        return lost(np.where(indices == 1, values[:, 0], -values[:, 0]))
    return labels(values, np.arange(n_classes), break_ties) != indices


def probabilities(pairwise: Array, n_classes: int) -> Array:
    """Probabilities of all classes from those of the second class of every pair."""
    pairwise = pairwise.clip(_LEAST_PROBABILITY, 1.0 - _LEAST_PROBABILITY)
    if n_classes == 2:
        return np.column_stack((1.0 - pairwise, pairwise))
    return couple(pairwise, n_classes)


def votes(values: Array, n_classes: int) -> Array:
    """How many of its pairs each class wins; a value of exactly 0 is a win of the second."""
    return _wins(values >= 0, n_classes)


def _wins(second_wins: np.ndarray, n_classes: int) -> Array:
    result = np.zeros((second_wins.shape[0], n_classes))
    for column, (first, second) in enumerate(class_pairs(n_classes)):
        won = second_wins[:, column]
        result[:, second] += won
        result[:, first] += ~won
    return result


def one_vs_rest(values: Array, n_classes: int) -> Array:
    """Votes, and between classes of equal votes the sum of their values.

    The sums are squeezed into less than a third, so that they never outvote a vote, and a
    value of exactly 0 is a win of the first; that is what scikit-learn does.
    """
    sums = np.zeros((values.shape[0], n_classes))
    for column, (first, second) in enumerate(class_pairs(n_classes)):
        sums[:, second] += values[:, column]
        sums[:, first] -= values[:, column]
    return _wins(values > 0, n_classes) + sums / (3.0 * (np.abs(sums) + 1.0))


def couple(pairwise: Array, n_classes: int) -> Array:
    """Probabilities of all classes from those of the pairs (Wu, Lin and Weng 2004).

    Parameters
    ----------
    pairwise : ndarray of shape (n, n_pairs)
        Probability of the second class of each pair, given that it is one of the two; not
        exactly 0 or 1.
    n_classes : int

    Returns
    -------
    ndarray of shape (n, n_classes)
        The p that minimises ``sum_i sum_j (r_ji p_i - r_ij p_j)^2`` with ``sum(p) = 1``.
    """
    n = pairwise.shape[0]
    r = np.zeros((n, n_classes, n_classes))
    for column, (first, second) in enumerate(class_pairs(n_classes)):
        r[:, second, first] = pairwise[:, column]
        r[:, first, second] = 1.0 - pairwise[:, column]
    system = np.zeros((n, n_classes + 1, n_classes + 1))
    system[:, :n_classes, :n_classes] = -r * r.transpose(0, 2, 1)
    diagonal = np.arange(n_classes)
    system[:, diagonal, diagonal] = (r**2).sum(axis=1)
    system[:, n_classes, :n_classes] = system[:, :n_classes, n_classes] = 1.0
    right = np.zeros((n, n_classes + 1, 1))
    right[:, n_classes] = 1.0
    solved = np.linalg.solve(system, right)[:, :n_classes, 0]
    probability = np.clip(solved, _LEAST_PROBABILITY, None)
    return probability / probability.sum(axis=1, keepdims=True)
