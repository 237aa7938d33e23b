"""The score of the selected candidate, corrected for having been selected.

The best of many scores is too good: among candidates that are equally good, one that is lucky on
these rows is selected.  The bootstrap bias correction of Tsamardinos, Greasidou and Borboudakis
(Machine Learning 107, 2018) repeats the selection: rows are drawn with replacement, a candidate is
selected on them by its score, and scored on the rows that were not drawn.  Nothing is trained.

Counted scores have ties, and more of them on drawn rows.  All of the best candidates then count
equally, as if one of them were picked at random: that depends on no order, and the tie rules of the
search gave the same corrections (on average within 1 % of the error, where the correction is 10 to
26 %) at a higher cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...common.types import Array, Rows
from ..candidates.grid import EQUAL_SCORES
from .bootstrap_scores import BLOCK, BootstrapScores

__all__ = ["N_DRAWS", "Repeated", "draws", "repeat_selection"]

#: How often the selection is repeated.
N_DRAWS = 500

#: The draws are always the same.
_SEED = 2018


@dataclass(frozen=True, eq=False)
class Repeated:
    """The selection, repeated on drawn rows; one entry per draw.

    Draws that leave no rows out, or not enough for a score, are missing.

    Attributes
    ----------
    drawn : ndarray
        Score of the search's own selection on the rows drawn.
    left_out : ndarray
        Score of the search's own selection on the rows not drawn.
    selected : ndarray
        Score of the draw's selection on the rows not drawn; the mean over those that are tied.
    """

    drawn: Array
    left_out: Array
    selected: Array

    @property
    def optimism(self) -> float:
        """How much better the selected candidate looks on rows that it was selected on.

        The score of a fixed candidate on the rows not drawn is its score on all rows, on average.
        To take the difference draw by draw needs far fewer draws than to take it afterwards.
        """
        return float((self.left_out - self.selected).mean())


def repeat_selection(
    scores: BootstrapScores, best: int, units: Rows, n_draws: int = N_DRAWS
) -> Repeated:
    """Select on drawn rows, and score on the others.

    Parameters
    ----------
    scores : BootstrapScores
    best : int
        The search's own selection.
    units : ndarray of shape (n,)
        What is drawn together: the row, or the group, of every prediction, counted from 0.
    n_draws : int
    """
    found: list[Array] = []
    size = max(1, BLOCK // max(scores.per_draw, units.size))
    for counts in draws(units, min(n_draws, scores.most_draws), size):
        inside = scores(counts)
        known = np.where(np.isnan(inside), -np.inf, inside)
        chosen = np.isfinite(known) & (known >= known.max(axis=0) - EQUAL_SCORES)
        wanted = chosen.copy()
        wanted[best] = True
        outside = scores((counts == 0).astype(counts.dtype), wanted)
        n_chosen = chosen.sum(axis=0)
        total = np.where(chosen, outside, 0.0).sum(axis=0)
        selected = np.where(n_chosen > 0, total / np.maximum(n_chosen, 1), np.nan)
        found.append(np.array([inside[best], outside[best], selected]))
    every = np.concatenate(found, axis=1)
    return Repeated(*every[:, np.isfinite(every).all(axis=0)])


def draws(units: Rows, n_draws: int, size: int) -> Iterator[np.ndarray]:
    """How often every prediction is drawn, for `size` draws at a time."""
    n_units = int(units.max()) + 1
    for start in range(0, n_draws, size):
        counts = []
        for draw in range(start, min(start + size, n_draws)):
            # One generator per draw: draws do not depend on the size of blocks.
            drawn = np.random.default_rng((_SEED, draw)).integers(n_units, size=n_units)
            counts.append(np.bincount(drawn, minlength=n_units)[units])
        yield np.array(counts, dtype=np.int32)
