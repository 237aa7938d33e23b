"""The two tasks, and when numbers to predict are a quantity and not names of classes."""

from __future__ import annotations

import numpy as np

__all__ = ["CLASSIFICATION", "REGRESSION", "TASKS", "is_quantity"]

#: What a model can be trained for.
CLASSIFICATION, REGRESSION = TASKS = ("classification", "regression")

#: Whole numbers are a quantity if there are so many different ones, with at most so many rows each
#: on average.
_MANY_VALUES, _FEW_ROWS_EACH = 20, 10


def is_quantity(values: np.ndarray) -> bool:
    """Whether numbers look like a quantity: more than two values, with fractions, or very many.

    Examples
    --------
    >>> import numpy as np
    >>> from spansvm_app.common.tasks import is_quantity
    >>> is_quantity(np.array([1.5, 2.0, 7.0])), is_quantity(np.arange(100) % 7)
    (True, False)
    >>> is_quantity(np.arange(100) // 2), is_quantity(np.arange(1000) % 30)
    (True, False)
    """
    if values.dtype.kind not in "iuf":
        return False
    n_values = np.unique(values).size
    if n_values < 3:
        return False
    if (values != np.round(values)).any():
        return True
    return bool(n_values >= _MANY_VALUES and values.size <= _FEW_ROWS_EACH * n_values)
