"""Standard errors of the scores of left-out rows.

Predictions for rows that are left out one at a time are one sample, with no folds between which a
score could vary.  A mean over rows, such as accuracy, has the standard error of a mean; for counted
errors that is the binomial one.  Other scores are computed on rows drawn with replacement.  Groups
that are left out together are drawn, and counted, together.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .._typing import Array, Rows
from .draw_scores import AnyScorer, DrawScores
from .draws import draws

__all__ = ["StandardErrors"]

#: How often rows are drawn; if the scorer itself has to be called for each draw, as often as five
#: folds would call it.
_DRAWS, _CALLS = 100, 5


class StandardErrors:
    """Standard errors of scores of the same rows.

    Parameters
    ----------
    units : ndarray of shape (n,)
        What is left out together: the row, or the group, of every prediction, counted from 0.
    """

    def __init__(self, units: Rows) -> None:
        self._units = units

    def of_mean(self, values: Array, weight: Array | None = None) -> float:
        """That of the mean of a value of each row, weighted if `weight` is given."""
        weight = np.ones(values.size) if weight is None else weight
        deviations = weight * (values - np.average(values, weights=weight))
        of_units = np.bincount(self._units, weights=deviations)
        return float(np.sqrt(of_units @ of_units) / weight.sum())

    def of_draws(self, scores: DrawScores) -> float:
        """That of any score of one candidate; NaN if drawn rows do not have one."""
        n_draws = _CALLS if isinstance(scores, AnyScorer) else _DRAWS
        values = scores(self._counts[:n_draws])[0]
        values = values[np.isfinite(values)]
        return float(values.std(ddof=1)) if values.size > 1 else np.nan

    @cached_property
    def _counts(self) -> np.ndarray:
        return np.concatenate(list(draws(self._units, _DRAWS, _DRAWS)))
