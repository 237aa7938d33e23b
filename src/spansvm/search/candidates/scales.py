"""Where to search without a grid of the user's: around the scales of the data.

Gamma is relative to the distances between rows; C of a linear kernel to their size.  In a
regression C bounds how far one row can pull the function, and epsilon is what residuals may be at
no cost: both are in units of the target.  So C is relative to its standard deviation, and epsilon
to the size of the residuals that a first model leaves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from ...estimators.svr import SpanSVR

__all__ = [
    "balances",
    "can_be_weighted",
    "noise_of",
    "spread_of",
    "start_values",
    "weights_matter",
]

#: What a polynomial adds to the product of two rows.
_COEF0 = 1.0

#: Rows of the first model, and the least noise that it can find, relative to the target's spread.
_ROWS, _LEAST = 500, 1e-3

#: How many times larger than the smallest class the largest is, from which the weights of the
#: classes are searched by default: for accuracy, where weights of classes that are less unequal do
#: not lead to better models (``benchmarks/defaults.py``); and for other scores.
_UNEQUAL, _UNEQUAL_FOR_SCORES = 4.0, 1.25

#: Weights of the classes are their sizes to these powers: none, halfway, and balanced.
_BALANCE = (0.0, 0.5, 1.0)


def spread_of(X: Any) -> float:
    """The sum of the variances of the features: half the mean squared distance between rows."""
    if sparse.issparse(X):
        rows = sparse.csr_matrix(X)
        means = np.asarray(rows.mean(axis=0)).ravel()
        spread = float(np.sum(rows.multiply(rows).mean(axis=0)) - means @ means)
    else:
        spread = float(np.asarray(X, dtype=np.float64).var(axis=0).sum())
    return spread if spread > 0 else 1.0


def start_values(kernel: str | None) -> dict[str, Any]:
    """Parameters of a model that are not searched."""
    return {"kernel": kernel or "rbf", "coef0": _COEF0 if kernel == "poly" else 0.0}


def noise_of(rows: Any, targets: np.ndarray, model: SpanSVR) -> float:
    """The size of the residuals of left-out rows, of a model with usual parameters on some rows.

    1.4826 times the median: the standard deviation, if they are normal; few odd rows do not count.
    """
    some = np.arange(targets.size)
    if some.size > _ROWS:
        some = np.sort(np.random.default_rng(0).permutation(some.size)[:_ROWS])
    spread = float(targets.std())
    first = SpanSVR(kernel=model.kernel, coef0=model.coef0, C=spread, epsilon=0.1 * spread)
    residuals = np.abs(first.fit(rows[some], targets[some]).loo_residual_)
    return min(max(1.4826 * float(np.median(residuals)), _LEAST * spread), spread)


def weights_matter(y: Any, scoring: Any) -> float | None:
    """How many times larger the largest class is, if its weights are to be searched for a score."""
    sizes = np.unique(np.asarray(y), return_counts=True)[1]
    ratio = float(sizes.max() / sizes.min())
    least = _UNEQUAL if scoring is None or scoring == "accuracy" else _UNEQUAL_FOR_SCORES
    return ratio if ratio >= least else None


def balances(y: Any) -> list[dict[Any, float]]:
    """Weights of all classes but the largest, from none to balanced."""
    classes, sizes = np.unique(np.asarray(y), return_counts=True)
    largest = int(sizes.argmax())
    return [
        {
            label: float(f"{(sizes[largest] / size) ** power:.3g}")
            for label, size in zip(classes.tolist(), sizes, strict=True)
            if label != classes[largest]
        }
        for power in _BALANCE
    ]


def can_be_weighted(classes: Iterable[Any]) -> bool:
    """Whether weights can be given to classes by their names.

    scikit-learn looks up whole numbers for texts such as 01.
    """
    return not any(
        isinstance(label, str) and label.strip().lstrip("+-").isdecimal() for label in classes
    )
