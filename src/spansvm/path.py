"""Many weight vectors on one Gram matrix: each model starts from the one before.

Between neighbours on a grid of weights few support vectors change their kind.  Bounded
vectors move with their bounds, the others stay where they are or are cut off, and the
gradient follows from the rows of the Gram matrix that belong to the multipliers that moved; where
all of a class move by one factor, from the sum of their rows, which is carried along.
"""

from __future__ import annotations

from ._typing import Array
from .dual import DualSolution, box, from_qp
from .gram import Gram
from .qp import default_max_iter

__all__ = ["solve_from"]


def solve_from(
    gram: Gram, before: DualSolution, C: Array, *, tol: float, max_iter: int | None = None
) -> DualSolution:
    """Train with the weights `C`, from the solution for other weights on the same Gram matrix.

    The solution meets the KKT conditions to `tol` as one from nothing does.  Warnings are left to
    the caller.  What `before` carries for the next step is used up: one path leads on from it.
    """
    y = before.y
    x, old, new, twins = before.beta, before.C, C, gram.twins(y)
    if twins is not None:
        x, old, new = twins.merge(x), twins.merge(old), twins.merge(new)
    lo, hi = box(y, new)
    x, g, sums = gram.move_bounds(x, before.gradient, -y, box(y, old), (lo, hi), before.sums)
    limit = default_max_iter(y.size) if max_iter is None else max_iter
    result = gram.solve(x, g, -y, lo, hi, tol=tol, max_iter=limit, known=before.factor)
    return from_qp(gram, result, y, C, lo, hi, sums)
