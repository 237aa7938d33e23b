"""How much each candidate counts in a committee.

The best of many candidates is chosen by luck among those that are nearly as good.  A candidate
whose loss is larger than the smallest by one standard error of the difference counts ``1 / e`` as
much as the best one: ``exp(-(l - l_min) / se)``.  The difference is that of the same rows, so that
its standard error is small for candidates that err on the same rows.  Losses are log losses of
left-out rows, which tell more of a row than its label does; a regression predicts a normal density
with the variance of its own residuals.  (By squared residuals, differences to bad candidates have
such large standard errors that these would count.)
"""

from __future__ import annotations

import numpy as np

from ...common.types import Array, Rows
from ..candidates.grid import EQUAL_SCORES

__all__ = ["log_losses", "normal_log_losses", "standard_errors", "weigh"]

#: Members that count less, relative to the best, are lost in the rounding of the sum.
_LEAST = float(np.finfo(np.float64).eps)


def log_losses(probabilities: Array, indices: np.ndarray) -> Array:
    """Log loss of every row, limited as in scikit-learn; `indices` are the rows' classes."""
    own = probabilities[np.arange(indices.size), indices]
    return -np.log(np.clip(own, _LEAST, 1.0 - _LEAST))


def normal_log_losses(predictions: Array, targets: Array) -> Array:
    """Log loss of every row, averaged over targets, in units of the targets' standard deviation.

    That of a normal density around the prediction, with the mean squared residual as variance.
    """
    spread = targets.var(axis=0)
    squares = (targets - predictions) ** 2 / np.where(spread > 0.0, spread, 1.0)
    variance = np.maximum(squares.mean(axis=0), _LEAST)
    losses: Array = 0.5 * (np.log(2.0 * np.pi * variance) + squares / variance)
    return losses if losses.ndim == 1 else losses.mean(axis=1)


def standard_errors(losses: Array, best: int, units: Rows, counts: Array) -> Array:
    """Standard errors of the differences between mean losses and that of the best candidate.

    Parameters
    ----------
    losses : ndarray of shape (n_candidates, n)
    best : int
        The candidate with which the others are compared.
    units : ndarray of shape (n,)
        What is drawn together: the row, or the group, of every loss, counted from 0.
    counts : ndarray of shape (n_draws, n)
        For each draw how often each loss is drawn; all of a unit equally often.

    Returns
    -------
    ndarray of shape (n_draws, n_candidates)
    """
    sums, sizes = losses - losses[best], np.ones(units.size)
    if int(units.max()) + 1 < units.size:
        first = np.unique(units, return_index=True)[1]
        sums = np.array([np.bincount(units, own) for own in sums])
        sizes, counts = np.bincount(units).astype(np.float64), counts[:, first]
    total, n_drawn = (counts @ sizes)[:, None], counts.sum(axis=1)[:, None]
    mean = counts @ sums.T / total
    squares = counts @ (sums**2).T - 2.0 * mean * (counts @ (sums * sizes).T)
    squares += mean**2 * (counts @ sizes**2)[:, None]
    return np.sqrt(np.maximum(squares, 0.0) * n_drawn / np.maximum(n_drawn - 1, 1)) / total


def weigh(means: Array, errors: Array, max_members: int) -> Array:
    """Weights of candidates, which sum to 1.

    Parameters
    ----------
    means : ndarray of shape (n_draws, n_candidates)
        Their mean losses.  Of equal ones, the first come first.
    errors : ndarray of shape (n_draws, n_candidates)
        Standard errors of the differences to the smallest.
    max_members : int
        At most so many weights are not 0.
    """
    apart = means - means.min(axis=1, keepdims=True)
    apart[apart <= EQUAL_SCORES] = 0.0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        steps = np.where(apart > 0.0, apart / errors, 0.0)
    weights = np.exp(-steps)
    weights[weights < _LEAST] = 0.0
    others = np.argsort(apart, axis=1, kind="stable")[:, max_members:]
    np.put_along_axis(weights, others, 0.0, axis=1)
    return weights / weights.sum(axis=1, keepdims=True)
