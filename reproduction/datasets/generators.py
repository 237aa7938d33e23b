"""Breiman's artificial problems, for any number of rows and features.

L. Breiman, *Bias, variance, and arcing classifiers*, 1996; the waves from Breiman, Friedman,
Olshen and Stone, *Classification and Regression Trees*, 1984.  Equal arguments give equal data.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from spansvm.common.types import Array

__all__ = ["ringnorm", "twonorm", "waveform"]


def ringnorm(
    n: int, d: int = 20, *, positive_share: float = 0.3, seed: int = 0
) -> tuple[Array, Array]:
    """Two normal distributions, one inside the other, which is twice as wide.

    As in Experiment 6 of the paper: class +1 is N((1, ..., 1), I), class -1 is N(0, 4 I).
    (In Breiman's version the means are closer together, and the classes equally probable.)

    Parameters
    ----------
    n : int
        Number of rows.
    d : int, default=20
        Number of features.
    positive_share : float, default=0.3
        Probability of class +1.
    seed : int, default=0

    Returns
    -------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        -1.0 and +1.0.
    """
    _check_size(n, d)
    if not 0.0 <= positive_share <= 1.0:
        raise ValueError(f"positive_share must be between 0 and 1; got {positive_share}.")
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < positive_share, 1.0, -1.0)
    noise = rng.standard_normal((n, d))
    return np.where(y[:, None] > 0, 1.0 + noise, 2.0 * noise), y


def twonorm(n: int, d: int = 20, *, seed: int = 0) -> tuple[Array, Array]:
    """Two normal distributions with unit covariance and means (a, ..., a) and -(a, ..., a).

    ``a = 2 / sqrt(d)``, so that the best possible error is 2.28% for every `d`.  The classes
    are equally probable; +1 has the positive mean.

    Parameters
    ----------
    n : int
        Number of rows.
    d : int, default=20
        Number of features.
    seed : int, default=0

    Returns
    -------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        -1.0 and +1.0.
    """
    _check_size(n, d)
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return y[:, None] * (2.0 / np.sqrt(d)) + rng.standard_normal((n, d)), y


#: Where the three triangular waves peak, among the points 1 to 21.
_TOPS = (7, 11, 15)

#: Which two waves each class mixes; classes are numbered as in the published file.
_MIXED = ((0, 2), (0, 1), (1, 2))


def waveform(
    n: int, d: int = 21, *, seed: int = 0, classes: Collection[int] = (1,)
) -> tuple[Array, Array]:
    """Mixtures of two of three triangular waves at 21 points, with unit normal noise.

    A row is ``u h + (1 - u) g + noise`` with ``u`` uniform in [0, 1] and the waves ``h`` and
    ``g`` of its class.  The waves have height 6, extend 6 points to each side, and peak at the
    points 7, 11 and 15.  Class 0 mixes the outer two, class 1 the first two, class 2 the last
    two, each with probability 1/3.

    Parameters
    ----------
    n : int
        Number of rows.
    d : int, default=21
        Number of features, at least 21; those beyond are pure noise, N(0, 1).
    seed : int, default=0
    classes : collection of int, default=(1,)
        Which of the classes 0, 1 and 2 are +1; the others are -1.  The default is the problem
        of the IDA benchmark.

    Returns
    -------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        -1.0 and +1.0.
    """
    _check_size(n, d)
    if d < 21:
        raise ValueError(f"d must be at least 21, the number of points of the waves; got {d}.")
    if not set(classes) <= {0, 1, 2} or len(set(classes)) not in (1, 2):
        raise ValueError(f"classes must be one or two of 0, 1 and 2; got {classes!r}.")
    rng = np.random.default_rng(seed)
    points = np.arange(1, 22)
    waves = np.array([np.maximum(6.0 - np.abs(points - top), 0.0) for top in _TOPS])
    label = rng.integers(3, size=n)
    share = rng.random((n, 1))
    X = rng.standard_normal((n, d))
    first, second = np.array(_MIXED)[label].T
    X[:, :21] += share * waves[first] + (1.0 - share) * waves[second]
    return X, np.where(np.isin(label, list(classes)), 1.0, -1.0)


def _check_size(n: int, d: int) -> None:
    if n < 1 or d < 1:
        raise ValueError(f"n and d must be at least 1; got {n} and {d}.")
