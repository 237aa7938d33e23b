"""Which of two classes is the positive one: what is found or missed, and scores of one class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["positive_class"]


def positive_class(classes: Sequence[Any] | np.ndarray, sizes: Sequence[int] | np.ndarray) -> int:
    """The place of the positive one of two classes: 1 of 0 and 1 or -1 and 1, else the rarer.

    scikit-learn's scores of one class are for the label 1.  Of classes with as many rows each, it
    is the second.

    Examples
    --------
    >>> from spansvm_app.common.positive import positive_class
    >>> positive_class([0, 1], [20, 80]), positive_class(["bad", "good"], [20, 80])
    (1, 0)
    """
    number = isinstance(classes[1], (bool, np.bool_, int, np.integer, float, np.floating))
    if number and classes[1] == 1:
        return 1
    return 0 if sizes[0] < sizes[1] else 1
