"""What each row of a machine changes in the values of any others.

With b the signed multipliers, J the in-bound vectors and ``M = [[K_JJ, 1], [1', 0]]``, removing row
i changes the value of x, as long as the vectors of J stay in-bound and all others at their bounds,
by

    -b_i (K_ix - v_i' M^-1 v_x)        with v_x = (K_Jx, 1), if i is bounded;
    -b_i (M^-1 v_x)_i / (M^-1)_ii      if i is in-bound.

At x = x_i both are the span-rule: ``-b_i S_i^2``.  So two matrix products give the influence of all
rows on all others.  Exact where the sets hold; elsewhere the removal is followed, if that is asked
for (:class:`~spansvm.machine.groups.Remover`).
"""

from __future__ import annotations

import numpy as np

from ..algebra.blas import one_blas_thread
from ..algebra.systems import Bordered
from ..common.types import Array, Mask, Rows
from .criteria import SolvedModel
from .groups import Remover

__all__ = ["Influences"]


class Influences(Remover):
    """How the rows of one machine, and sets of them, change the values of some others.

    Parameters
    ----------
    model : SolvedModel
    kernel : ndarray of shape (n, l)
        Kernel values of the others with the rows of the machine.
    """

    def __init__(self, model: SolvedModel, kernel: Array) -> None:
        super().__init__(model.gram, model.solution)
        self._model, self._kernel = model, kernel
        self._plain: Array = kernel @ model.solution.beta + model.solution.intercept

    @one_blas_thread
    def of_rows(self, *, exact: bool = True) -> Array:
        """By how much the values change without each row.

        Removals are followed where the prediction is not exact, unless `exact` is False.

        Returns
        -------
        ndarray of shape (l, n)
        """
        solution, system = self.solution, self._system
        change = np.zeros((solution.y.size, self._plain.size))
        followed = self._alone()
        if system is None:
            # Without an in-bound vector, rows that are no support vectors may fix the intercept.
            followed |= solution.present
        else:
            self._predict_all(change, system)
            if exact:
                followed |= solution.support & ~self._model.trusted
        for row in np.flatnonzero(followed):
            change[row] = self.of_set(np.array([row]))
        return change

    @one_blas_thread
    def of_set(self, members: Rows, *, exact: bool = True) -> Array:
        """The same without a set of rows; ndarray of shape (n,)."""
        removed = self.remove(members, exact=exact)
        return removed.values(self._plain, self._kernel[:, removed.rows]) - self._plain

    def _alone(self) -> Mask:
        """Rows without which there is only one class."""
        y, present = self.solution.y, self.solution.present
        alone = np.zeros(y.size, dtype=np.bool_)
        for sign in (-1.0, 1.0) if self.solution.target is None else ():
            own = np.flatnonzero(present & (y == sign))
            alone[own] = own.size == 1
        return alone

    def _predict_all(self, change: Array, system: Bordered) -> None:
        """Fill the changes that hold as long as the sets do."""
        solution, hull, x, kernel = self.solution, self._hull, self._x, self._kernel
        first = np.arange(x.size) if self._twins is None else self._twins.first
        support = np.flatnonzero(solution.support)
        inside = self._inside[first[support]]
        P, w = system.projected, system.weights
        relative = (kernel[:, hull] - kernel[:, hull[:1]]).T
        # What one of several equal in-bound rows leaves is taken over by the others.
        lone = support[inside]
        lone = lone[self._bounds[first[lone]] == solution.C[lone]]
        place = np.searchsorted(hull, first[lone])
        shares = P[place] @ relative + w[place, None]
        change[lone] = -(x[first[lone]] / P[place, place])[:, None] * shares
        self._predict_bounded(change, relative, system, support[~inside])

    def _predict_bounded(
        self, change: Array, relative: Array, system: Bordered, rows: Rows
    ) -> None:
        if rows.size == 0:
            return
        hull, base, kernel = self._hull, self._hull[:1], self._kernel
        own = self.gram.block(hull, rows)
        weights = system.projected @ (own - own[0]) + system.weights[:, None]
        level = self.gram.block(base, hull)[0]
        from_hull = own[0] - level[0] - (level - level[0]) @ weights
        apart = (kernel[:, rows] - kernel[:, base]).T - weights.T @ relative
        change[rows] = -self.solution.beta[rows, None] * (apart - from_hull[:, None])
