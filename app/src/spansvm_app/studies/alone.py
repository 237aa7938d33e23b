"""What single columns say about the class of a left-out row, numbers and texts alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from ..common.types import Mask
from .columns import as_numbers, codes_of

__all__ = ["wrong_alone"]

#: Up to this many different numbers are taken for names.
_FEW = 16


def wrong_alone(
    values: np.ndarray, indices: np.ndarray, folds: Sequence[tuple[np.ndarray, np.ndarray]],
    most: float,
) -> Mask | None:  # fmt: skip
    """Which rows a column alone gets wrong when they are left out; None if more than `most`.

    By a tree with few leaves for numbers, by the commonest class of each value for texts and for
    few different numbers.
    """
    n, k = indices.size, int(indices.max()) + 1
    numbers, codes = as_numbers(values), codes_of(values)
    few = int(codes.max()) + 1 <= max(2 * k, _FEW)
    wrong = np.zeros(n, dtype=np.bool_)
    if numbers is not None and not few:
        if _turns(codes, indices) > 2.0 * most + 4 * k:
            return None
        for train, test in folds:
            tree = DecisionTreeClassifier(max_leaf_nodes=max(2 * k, 4), random_state=0)
            tree.fit(numbers[train, None], indices[train])
            wrong[test] = tree.predict(numbers[test, None]) != indices[test]
    else:
        m = int(codes.max()) + 1
        every = np.bincount(codes * k + indices, minlength=m * k).reshape(m, k)
        if n - every.max(axis=1).sum() > most:  # left out, they are not predicted better
            return None
        for train, test in folds:
            table = np.bincount(codes[train] * k + indices[train], minlength=m * k).reshape(m, k)
            said = np.where(
                table.any(axis=1), table.argmax(axis=1), np.bincount(indices[train]).argmax()
            )
            wrong[test] = said[codes[test]] != indices[test]
    return wrong if wrong.sum() <= most else None


def _turns(codes: np.ndarray, indices: np.ndarray) -> int:
    """How often the class changes along the values: a wrong row changes it at most twice."""
    order = np.lexsort((indices, codes))
    return int((np.diff(indices[order]) != 0).sum())
