"""``C = inf``: the machines that separate the classes with the largest margin.

A solution whose multipliers are all below their bounds solves the problem without these bounds
too.  So the bounds are raised until no multiplier comes near them.  If the classes cannot be
separated, multipliers follow the bounds however far they are raised.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..common.types import Array
from .machines import PairPaths
from .path import Models

__all__ = ["train_without_bounds"]

#: Bounds that are tried, in units of 1 / the largest kernel value.
_BOUNDS = 10.0 ** np.arange(4, 16, 2)

#: Multipliers below this fraction of their bounds leave room for those of left-out rows.
_ROOM = 1e-3


def train_without_bounds(
    paths: PairPaths, present: Array, *, tol: float, max_iter: int
) -> tuple[Array, Models, bool]:
    """Train machines with a hard margin.

    Parameters
    ----------
    paths : PairPaths
    present : ndarray of shape (l,)
        0.0 for rows that are left out, 1.0 for all others.
    tol, max_iter
        As in :class:`~spansvm.SpanSVC`.

    Returns
    -------
    bounds : ndarray of shape (l,)
        That no multiplier comes near.
    found : Models
    separated : bool
        Whether all pairs of classes are.

    Warns
    -----
    ConvergenceWarning
        If some pair of classes is not separated.  The machines are then those of the largest
        bounds for which the solver converged.
    """
    unit = float(np.abs(paths.grams.whole.diagonal).max()) or 1.0
    kept: list[tuple[Array, Models]] = []
    for factor in _BOUNDS:
        bounds = present * (factor / unit)
        found = paths.train(bounds, tol=tol, max_iter=max_iter)
        if np.abs(found.signed).max() <= _ROOM * bounds.max():
            return bounds, found, True
        if found.converged or not kept:
            kept = [(bounds, found)]
        if not found.converged:
            break
    bounds, found = kept[0]
    warnings.warn(
        "With C=inf the model must separate the classes, and none was found that does: this is the "
        f"model of C={bounds.max():.3g}. Scale the features, or choose a finite C or another "
        "kernel.",
        ConvergenceWarning,
        stacklevel=3,
    )
    return bounds, found, False
