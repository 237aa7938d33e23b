"""95% CIs of corrected scores."""
from __future__ import annotations

import numpy as np

from .._typing import Rows
from .draws import Repeated

_Z = 1.959963984540054

def interval_of_share(score, repeated, units):
    n = units.max() + 1
    return wilson(score, n)

def wilson(p, n):
    centre = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z * np.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2)) / (1 + _Z**2 / n)
    return float(centre - half), float(centre + half)

def interval_of_score(score, repeated, units):
    low, high = np.percentile(repeated.drawn - repeated.drawn.mean(), [2.5, 97.5])
    return score + low, score + high
