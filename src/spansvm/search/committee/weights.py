"""How much each candidate counts in a committee.

The best of many candidates is chosen by luck among those that are nearly as good.  A candidate
whose loss is one standard error above the smallest counts ``1 / e`` as much as the best one:
``exp(-(l - l_min) / se)``.  Losses are those of left-out rows: of a classifier the log loss, which
tells more of a row than its label does; of a regression the squared residual, in units of the
variance of the targets.
"""

from __future__ import annotations

import numpy as np

from ...common.types import Array, Rows
from ..candidates.grid import EQUAL_SCORES

__all__ = ["log_losses", "squared_residuals", "standard_errors", "weigh"]

#: Members that count less, relative to the best, are lost in the rounding of the sum.
_LEAST = float(np.finfo(np.float64).eps)


def log_losses(probabilities: Array, indices: np.ndarray) -> Array:
    """Log loss of every row, limited as in scikit-learn; `indices` are the rows' classes."""
    own = probabilities[np.arange(indices.size), indices]
    return -np.log(np.clip(own, _LEAST, 1.0 - _LEAST))


def squared_residuals(predictions: Array, targets: Array) -> Array:
    """Squared residual of every row in units of the targets' variance, averaged over targets."""
    variance = targets.var(axis=0)
    squares = (targets - predictions) ** 2 / np.where(variance > 0.0, variance, 1.0)
    return squares if squares.ndim == 1 else squares.mean(axis=1)


def standard_errors(losses: Array, units: Rows, counts: Array) -> Array:
    """Standard error of the mean loss for several draws of the rows.

    Parameters
    ----------
    losses : ndarray of shape (n_draws, n)
        For each draw those of one candidate.
    units : ndarray of shape (n,)
        What is drawn together: the row, or the group, of every loss, counted from 0.
    counts : ndarray of shape (n_draws, n)
        How often each loss is drawn; all of a unit equally often.
    """
    total = counts.sum(axis=1)
    apart = losses - ((counts * losses).sum(axis=1) / total)[:, None]
    n_units = int(units.max()) + 1
    if n_units == units.size:
        squares = (counts * apart**2).sum(axis=1)
        n_drawn = total
    else:
        first = np.unique(units, return_index=True)[1]
        sums = np.array([np.bincount(units, own, n_units) for own in apart])
        squares = (counts[:, first] * sums**2).sum(axis=1)
        n_drawn = counts[:, first].sum(axis=1)
    return np.sqrt(squares * n_drawn / np.maximum(n_drawn - 1, 1)) / total


def weigh(means: Array, errors: Array, max_members: int) -> Array:
    """Weights of candidates, which sum to 1.

    Parameters
    ----------
    means : ndarray of shape (n_draws, n_candidates)
        Their mean losses.  Of equal ones, the first come first.
    errors : ndarray of shape (n_draws,)
        Standard error of the smallest.
    max_members : int
        At most so many weights are not 0.
    """
    apart = means - means.min(axis=1, keepdims=True)
    apart[apart <= EQUAL_SCORES] = 0.0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        steps = np.where(apart > 0.0, apart / errors[:, None], 0.0)
    weights = np.exp(-steps)
    weights[weights < _LEAST] = 0.0
    others = np.argsort(apart, axis=1, kind="stable")[:, max_members:]
    np.put_along_axis(weights, others, 0.0, axis=1)
    return weights / weights.sum(axis=1, keepdims=True)
