"""Histograms of leave-one-out margins, whatever draws them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..common.types import Array

__all__ = ["Margins", "count_margins"]


#: At most this share of the rows, and at least one row, is beyond a fence.
_BEYOND = 0.02


@dataclass(frozen=True)
class Margins:
    """Histogram of the leave-one-out margins of each class.

    With `open_below` or `open_above`, the first or last bar also holds what lies beyond it.
    """

    edges: list[float]
    counts: list[list[int]]
    open_below: bool
    open_above: bool


def count_margins(
    margins: Array,
    own: npt.NDArray[np.intp],
    n_classes: int,
    *,
    n_bars: int,
    fence: float = np.inf,
) -> Margins:
    """Count margins in bars of equal width, none of which straddles 0.

    Parameters
    ----------
    margins : ndarray of shape (l,)
        Without NaN.
    own : ndarray of shape (l,)
        The class index of each.
    n_classes : int
    n_bars : int
        Approximate number of bars.
    fence : float
        Margins more than this many interquartile ranges from the median share the last bar, if
        they are few.
    """
    quartiles = np.quantile(margins, [0.25, 0.5, 0.75])
    reach = fence * max(quartiles[2] - quartiles[0], 1e-9)
    few = min(max(int(_BEYOND * margins.size), 1), margins.size - 1)
    ordered = np.sort(margins)
    low = min(max(ordered[0], min(quartiles[1] - reach, ordered[few])), 0.0)
    high = max(min(ordered[-1], max(quartiles[1] + reach, ordered[-1 - few])), 0.0)
    width = (high - low or 1.0) / n_bars
    # A margin of exactly 0 is an error and belongs on the left.
    first = -1.0 if (margins == 0).any() else 0.0
    edges = width * np.arange(min(np.floor(low / width), first), np.ceil(high / width) + 1)
    inside = np.where(margins == 0, -width / 2, margins)
    inside = np.clip(inside, edges[0], np.nextafter(edges[-1], -np.inf))
    counts = [np.histogram(inside[own == index], edges)[0].tolist() for index in range(n_classes)]
    below, above = bool(margins.min() < edges[0]), bool(margins.max() > edges[-1])
    return Margins(edges.tolist(), counts, below, above)
