"""Many weight vectors on one Gram matrix: each model starts from the one before.

Between neighbours on a grid of weights few support vectors change their kind.  Bounded
vectors move with their bounds, the others stay where they are or are cut off, and the
gradient follows from the rows of the Gram matrix that belong to the multipliers that moved.
"""

from __future__ import annotations

import numpy as np

from .dual import DualSolution, box, from_qp
from .gram import Gram
from .qp import Array, default_max_iter

__all__ = ["solve_from"]


def solve_from(
    gram: Gram, before: DualSolution, C: Array, *, tol: float, max_iter: int | None = None
) -> DualSolution:
    """Train with the weights `C`, from the solution for other weights on the same Gram matrix.

    The solution meets the KKT conditions to `tol` as one from nothing does.  Warnings are left to
    the caller.
    """
    y = before.y
    lo, hi = box(y, C)
    beta = before.beta
    start = np.where(before.bounded, y * C, np.clip(beta, lo, hi))
    moved = np.flatnonzero(start != beta)
    if moved.size < np.count_nonzero(start):
        g = before.gradient
        gram.add_rows(g, moved, (start - beta)[moved])
    else:
        g = gram.gradient(start, -y)
    x, g = gram.make_feasible(start, g, lo, hi)
    limit = default_max_iter(y.size) if max_iter is None else max_iter
    result = gram.solve(x, g, -y, lo, hi, tol=tol, max_iter=limit)
    return from_qp(result, y, C)
