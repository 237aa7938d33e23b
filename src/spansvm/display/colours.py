"""The colours of scores, whatever draws them: those far below the best share one."""

from __future__ import annotations

import numpy as np

from ..common.types import Array

__all__ = ["ColourScale"]

#: The colour scale reaches this many times as far below the best as the median.
_REACH = 4.0


class ColourScale:
    """The range of scores that colours tell apart; the lowest one also covers everything worse.

    Otherwise a few hopeless candidates would leave all good ones in one colour.

    Attributes
    ----------
    low, high : float
        Its ends.
    open_below : bool
        Whether there are worse scores.
    """

    def __init__(self, scores: Array) -> None:
        known = scores[~np.isnan(scores)]
        self.high = float(known.max(initial=-np.inf)) if known.size else 1.0
        self.low, self.open_below = self.high, False
        if known.size:
            end = self.high - _REACH * (self.high - float(np.median(known)))
            least = float(known.min())
            self.open_below = end < self.high and least < end
            self.low = end if self.open_below else least

    def level(self, score: float, n_levels: int) -> int:
        """Which of so many colours a score has, from 0; -1 if there is no score."""
        if np.isnan(score):
            return -1
        if self.high <= self.low:
            return n_levels - 1
        share = (score - self.low) / (self.high - self.low)
        return round((n_levels - 1) * min(max(share, 0.0), 1.0))
