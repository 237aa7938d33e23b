"""Ready-made importance scores.

Small functions ``(X, y) -> q`` that give every instance a score in [0, 1], larger for instances
that are typical of their class.  Pass the scores to ``fit(X, y, scores=q)`` of a
:class:`~spansvm.SpanSVC` with a :class:`~spansvm.SigmoidWeighting`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_consistent_length, column_or_1d

from .common.types import Array
from .common.validation import check_rows

__all__ = ["centre_closeness", "local_density", "neighbour_agreement"]


def centre_closeness(X: Any, y: npt.ArrayLike) -> Array:
    """How close each instance is to the centre of its class (Lin and Wang 2002).

    1 at the centre; almost 0 for the instance of the class that is farthest from it.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (l, d)
    y : array-like of shape (l,)

    Returns
    -------
    ndarray of shape (l,)

    See Also
    --------
    spansvm.scores.neighbour_agreement : Scores from the labels of nearest neighbours.
    spansvm.scores.local_density : Scores from the density of the class.
    spansvm.SigmoidWeighting : Turns scores into weights.
    """
    X, labels = _checked(X, y)
    result = np.empty(labels.size)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        members = X[rows]
        centre = np.asarray(members.mean(axis=0)).reshape(1, -1)
        if sparse.issparse(members):
            distance, rounding = pairwise_distances(members, centre).ravel(), 1e-7
        else:
            distance, rounding = np.linalg.norm(members - centre, axis=1), 1e-14
        radius = float(distance.max())
        if radius <= rounding * float(abs(members).max()):
            result[rows] = 1.0  # all in one point
        else:
            # A little more than the radius, so that no instance gets zero weight.
            result[rows] = 1.0 - distance / (1.001 * radius)
    return result


def neighbour_agreement(X: Any, y: npt.ArrayLike, n_neighbors: int = 5) -> Array:
    """Share of each instance's nearest neighbours that have the same label.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (l, d)
    y : array-like of shape (l,)
    n_neighbors : int, default=5
        The instance itself is not counted.

    Returns
    -------
    ndarray of shape (l,)

    See Also
    --------
    spansvm.scores.centre_closeness : Scores from distances to the class centre.
    spansvm.scores.local_density : Scores from the density of the class.
    spansvm.SigmoidWeighting : Turns scores into weights.
    """
    X, labels = _checked(X, y)
    _, neighbours = _neighbours(X, n_neighbors)
    return (labels[neighbours] == labels[:, None]).mean(axis=1)


def local_density(X: Any, y: npt.ArrayLike, n_neighbors: int = 5) -> Array:
    """How dense the class is around each of its instances.

    ``m / (m + r)``, with ``r`` the mean distance to the nearest neighbours in the class and ``m``
    the median of ``r`` over the class: 1/2 for a typical instance, less for an isolated one.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (l, d)
    y : array-like of shape (l,)
    n_neighbors : int, default=5

    Returns
    -------
    ndarray of shape (l,)

    See Also
    --------
    spansvm.scores.centre_closeness : Scores from distances to the class centre.
    spansvm.scores.neighbour_agreement : Scores from the labels of nearest neighbours.
    spansvm.SigmoidWeighting : Turns scores into weights.
    """
    X, labels = _checked(X, y)
    result = np.empty(labels.size)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        if rows.size == 1:
            result[rows] = 0.5
            continue
        distances, _ = _neighbours(X[rows], n_neighbors)
        apart = distances.mean(axis=1)
        middle = float(np.median(apart)) or float(apart.mean())
        result[rows] = middle / (middle + apart) if middle > 0 else 0.5
    return result


def _checked(X: Any, y: npt.ArrayLike) -> tuple[Any, np.ndarray]:
    X = check_rows(X, None)
    labels = column_or_1d(y)
    check_consistent_length(X, labels)
    return X, labels


def _neighbours(X: Any, n_neighbors: int) -> tuple[Array, np.ndarray]:
    """Distances and indices of the nearest other rows: `n_neighbors`, or all if there are fewer."""
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors must be at least 1; got {n_neighbors}.")
    if X.shape[0] < 2:
        raise ValueError("At least two instances are needed to find neighbours.")
    count = min(n_neighbors, X.shape[0] - 1)
    distances, rows = NearestNeighbors(n_neighbors=count).fit(X).kneighbors()
    return distances, rows
