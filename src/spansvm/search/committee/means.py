"""The mean of several members' probabilities: that of their log odds.

For every two classes, the log odds of the mean are the weighted mean of the members' log odds.
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from ...common.types import Array

__all__ = ["from_logs", "log_odds", "log_probabilities"]

#: Smaller probabilities count as this one, as in the log loss.
_LEAST = float(np.finfo(np.float64).eps)


def log_probabilities(probabilities: Array) -> Array:
    """Finite logarithms of probabilities."""
    return np.log(np.maximum(probabilities, _LEAST))


def from_logs(mean: Array) -> Array:
    """Probabilities whose log odds are the differences of these; classes are the last axis."""
    return softmax(mean, axis=-1)


def log_odds(probabilities: Array) -> Array:
    """Of two classes the log odds of the second, of more the logarithms of all probabilities."""
    logs = np.log(probabilities)
    return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs
