"""One-vs-one: from the machines of all pairs of classes to decisions and probabilities.

Pairs are in LibSVM's order: (0, 1), (0, 2), ..., (1, 2), ...  Here the value of a pair is positive
for its second class; :func:`shaped` converts to scikit-learn's convention, which with more than
two classes is positive for the first.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations

import numpy as np

from .types import Array, Mask, Rows

__all__ = [
    "PairRows",
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


class PairRows:
    """The rows of every pair of classes, pair after pair.

    Parameters
    ----------
    indices : ndarray of shape (l,)
        The class of every row; -1 for none.
    n_classes : int

    Attributes
    ----------
    pairs : list of (int, int)
    members : list of ndarray of int
        The rows of every class.
    rows : list of ndarray of int
        The rows of every pair, in order.
    row, column, sign : ndarray of shape (n,)
        The rows of all pairs, one pair after the other; to which pair each belongs; and whether it
        has the second class of the pair (1.0) or the first (-1.0).
    starts : ndarray of shape (n_pairs + 1,)
        Where the pairs begin there.
    """

    def __init__(self, indices: np.ndarray, n_classes: int) -> None:
        self.indices, self.n_classes = indices, n_classes
        self.pairs = class_pairs(n_classes)
        self.members = [np.flatnonzero(indices == own) for own in range(n_classes)]
        self.rows: list[Rows] = []
        for first, second in self.pairs:
            both = np.concatenate((self.members[first], self.members[second]))
            both.sort()
            self.rows.append(both)
        sizes = [rows.size for rows in self.rows]
        self.starts = np.concatenate(([0], np.cumsum(sizes)))
        self.row = np.concatenate(self.rows)
        self.column = np.repeat(np.arange(len(self.pairs)), sizes)
        seconds = np.array([second for _, second in self.pairs])
        self.sign = np.where(indices[self.row] == seconds[self.column], 1.0, -1.0)

    @cached_property
    def by_row(self) -> np.ndarray:
        """For every row, where its k - 1 pairs are; every row must have a class."""
        order = np.argsort(self.row, kind="stable")
        return order.reshape(self.indices.size, self.n_classes - 1)

    @cached_property
    def class_by_class(self) -> Rows:
        """The rows in the order of their classes."""
        return np.concatenate(self.members)

    @cached_property
    def place(self) -> Rows:
        """The place of every row in that order."""
        place = np.empty(self.indices.size, dtype=np.intp)
        place[self.class_by_class] = np.arange(place.size)
        return place

    @cached_property
    def columns(self) -> list[np.ndarray]:
        """For every class, its k - 1 pairs."""
        both = np.array(self.pairs)
        return [np.flatnonzero((both == own).any(axis=1)) for own in range(self.n_classes)]

    @cached_property
    def pair_of(self) -> np.ndarray:
        """The pair of any two classes, as a matrix."""
        result = np.full((self.n_classes, self.n_classes), -1)
        for column, (first, second) in enumerate(self.pairs):
            result[first, second] = result[second, first] = column
        return result

    def split(self, values: Array) -> list[Array]:
        """Values of the rows of all pairs, pair by pair."""
        return np.split(values, self.starts[1:-1])


def shaped(values: Array, n_classes: int, shape: str) -> Array:
    """What ``decision_function`` returns for the values of all pairs, as in scikit-learn.

    With two classes, one column of values, positive for the second class; otherwise all pairs
    (`shape` is "ovo"), positive for the first class, or one column per class ("ovr").
    """
    if n_classes == 2:
        return values[:, 0]
    return -values if shape == "ovo" else one_vs_rest(values, n_classes)


def labels(values: Array, classes: np.ndarray, break_ties: bool) -> np.ndarray:
    """The class that wins the most pairs; ties go to the first class, or are broken by value."""
    counted = one_vs_rest if break_ties and classes.size > 2 else votes
    return classes[np.argmax(counted(values, classes.size), axis=1)]


def lost(margins: Array) -> Mask:
    """Which margins are errors; exactly 0 is one (``theta(0) = 1`` in the paper)."""
    return margins <= 0.0


def errors(values: Array, indices: np.ndarray, n_classes: int, break_ties: bool = False) -> Mask:
    """Which left-out rows are misclassified."""
    if n_classes == 2:
        return lost(np.where(indices == 1, values[:, 0], -values[:, 0]))
    return labels(values, np.arange(n_classes), break_ties) != indices


def probabilities(pairwise: Array, n_classes: int) -> Array:
    """Class probabilities from the probability of the second class of every pair."""
    pairwise = pairwise.clip(_LEAST_PROBABILITY, 1.0 - _LEAST_PROBABILITY)
    if n_classes == 2:
        return np.column_stack((1.0 - pairwise, pairwise))
    return couple(pairwise, n_classes)


def votes(values: Array, n_classes: int) -> Array:
    """The number of pairs that each class wins; at exactly 0 the second class wins."""
    return _wins(values >= 0, n_classes)


def _wins(second_wins: np.ndarray, n_classes: int) -> Array:
    # Every class begins with the pairs in which it is first, and loses those that the other wins.
    gains = np.zeros((second_wins.shape[1], n_classes), dtype=np.float32)
    for column, (first, second) in enumerate(class_pairs(n_classes)):
        gains[column, first], gains[column, second] = -1.0, 1.0
    start = np.arange(n_classes - 1.0, -1.0, -1.0)
    return start + (second_wins.astype(np.float32) @ gains).astype(np.float64)


def one_vs_rest(values: Array, n_classes: int) -> Array:
    """Votes, with ties broken by the sums of values.

    As in scikit-learn, the sums are scaled to less than a third, so that they never outweigh a
    vote, and at exactly 0 the first class wins.
    """
    sums = np.zeros((values.shape[0], n_classes))
    for column, (first, second) in enumerate(class_pairs(n_classes)):
        sums[:, second] += values[:, column]
        sums[:, first] -= values[:, column]
    return _wins(values > 0, n_classes) + sums / (3.0 * (np.abs(sums) + 1.0))


def couple(pairwise: Array, n_classes: int) -> Array:
    """Class probabilities from pairwise probabilities (Wu, Lin and Weng 2004).

    Parameters
    ----------
    pairwise : ndarray of shape (n, n_pairs)
        Probability of the second class of each pair, given that the row belongs to one of the
        two; not exactly 0 or 1.
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
