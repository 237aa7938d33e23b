"""The grids of ``spansvm tune``, around the scales of the data.

Gamma is relative to the distances between rows; C of a linear kernel to their size.  In a
regression C is relative to the standard deviation of the target, and epsilon to the size of the
residuals that a first model leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["SMOOTHER", "epsilons", "scaled_grid"]

#: Exponents of 2 for C, and for gamma relative to the scale of the data: with half the steps and
#: wider ends no better models are selected (``benchmarks/defaults.py``).
_C, _GAMMA = range(-4, 11, 2), range(-6, 3, 2)

#: The same for a linear kernel, whose C is relative to the scale of the data, and for a polynomial.
_LINEAR_C, _POLY_C, _POLY_GAMMA = range(-4, 11), range(-4, 9, 2), range(-4, 3, 2)
_DEGREES = (2, 3)

#: Exponents of 2 for epsilon, relative to the size of the residuals.
_EPSILON = (-4, -2, 0)

#: Gamma of a regression goes so many steps of 4 further down: functions are smoother.
SMOOTHER = 1


def scaled_grid(
    kernel: str, spread: float, unit: float = 1.0, smoother: int = 0
) -> dict[str, list[Any]]:
    """Values around those that suit the scale of the data, as powers of two.

    `unit` multiplies C, and gamma gets so many `smoother` values.
    """
    scale = round(-np.log2(spread))
    if kernel == "linear":
        return {"C": [unit * 2.0 ** (scale + exponent) for exponent in _LINEAR_C]}
    own = _POLY_GAMMA if kernel == "poly" else _GAMMA
    exponents = range(own.start - smoother * own.step, own.stop, own.step)
    grid: dict[str, list[Any]] = {
        "C": [unit * 2.0**exponent for exponent in (_POLY_C if kernel == "poly" else _C)],
        "gamma": [2.0 ** (scale + exponent) for exponent in exponents],
    }
    return {**grid, "degree": list(_DEGREES)} if kernel == "poly" else grid


def epsilons(noise: float) -> list[float]:
    """Values of epsilon for residuals of this size."""
    return [2.0 ** (round(np.log2(noise)) + exponent) for exponent in _EPSILON]
