"""The smallest ball that encloses a set of points in feature space.

Its diameter is the ``D`` of Lemma 2, of Theorem 1 and of the radius-margin bound.
The dual is ``max sum_i x_i K_ii - x'Kx`` over the simplex, one of the problems that
:mod:`spansvm.qp` solves.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ._linalg import symmetric_view
from .qp import solve_qp

__all__ = ["enclosing_radius"]

#: KKT gap of the ball, as a fraction of the largest squared norm.
_TOLERANCE = 1e-9


def enclosing_radius(K: npt.ArrayLike) -> float:
    """Radius of the smallest ball that encloses all points of the Gram matrix `K`.

    What is returned is the distance from the centre found to the farthest point, so
    that the ball truly encloses all points, whatever the solver's tolerance.
    """
    K = symmetric_view(K)
    diag = K.diagonal().astype(np.float64)
    if diag.size == 0:
        raise ValueError("K must contain at least one point.")
    c = -0.5 * diag
    scale = max(float(np.abs(diag).max()), np.finfo(np.float64).tiny)
    result = solve_qp(
        K, c, np.zeros(diag.size), np.ones(diag.size), 1.0, tol=_TOLERANCE * scale
    )
    # |x_i - centre|^2 = K_ii - 2 (K x)_i + x'Kx, and the gradient is Kx - diag / 2.
    inner = result.gradient - c
    farthest = float((diag - 2.0 * inner).max() + result.x @ inner)
    return float(np.sqrt(max(farthest, 0.0)))
