"""Standard errors of the scores of left-out rows.

Predictions for rows that are left out one at a time are one sample, with no folds between which a
score could vary.  Where it is known how much every row contributes to a score, its variance is the
sum of their squares: for accuracy that is the binomial one, for the area under the ROC curve that
of DeLong, DeLong and Clarke-Pearson (1988), and for scores of labels, such as F1, that of the
infinitesimal jackknife (Efron 1982).  Other scores are computed on rows drawn with replacement.
Groups that are left out together contribute, and are drawn, together.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...common.types import Array, Mask, Rows
from .bootstrap import draws
from .bootstrap_scores import AnyScorer, BootstrapScores, of_mean

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
        self._single = int(units.max()) + 1 == units.size

    def of_share(self, some: Mask, weight: Array | None = None) -> float:
        """That of the share of some rows, weighted if `weight` is given."""
        if weight is None and self._single:
            share = float(some.mean())
            return float(np.sqrt(share * (1.0 - share) / some.size))
        return self._of_contributions(of_mean(some.astype(np.float64), weight))

    def of(self, scores: BootstrapScores) -> float:
        """That of any score of a single candidate; NaN if drawn rows do not have one."""
        contributions = scores.contributions()
        if contributions is not None:
            return self._of_contributions(contributions)
        n_draws = _CALLS if isinstance(scores, AnyScorer) else _DRAWS
        values = scores(self._counts[:n_draws])[0]
        values = values[np.isfinite(values)]
        return float(values.std(ddof=1)) if values.size > 1 else np.nan

    def _of_contributions(self, contributions: Array) -> float:
        if self._single:
            return float(np.sqrt(contributions @ contributions))
        of_units = np.bincount(self._units, weights=contributions)
        return float(np.sqrt(of_units @ of_units))

    @cached_property
    def _counts(self) -> np.ndarray:
        return np.concatenate(list(draws(self._units, _DRAWS, _DRAWS)))
