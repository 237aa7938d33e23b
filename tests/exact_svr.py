"""An SVR that is solved to the last digits: LibSVM's kernel matrix is of single precision.

However small its `tol` is, LibSVM solves the problem of a rounded matrix, which moves predictions
by 1e-5 and more if C is large.  Here its solution is a start: which multipliers are zero, free or
at their bound.  With that known, the free ones and the intercept solve a system of linear
equations, in double precision.  That the result fulfils the conditions of optimality, which no
other prediction does, is checked; where it does not, single rows change sides.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVR

#: How far conditions may be violated, relative to the scale of the targets.
EXACT = 1e-9
ROUNDS = 100


class ExactSVR(SVR):
    """SVR with the same parameters, whose predictions are exact."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self._rows, self._targets = X, np.asarray(y, dtype=float)
        self._bounds = self.C * (np.ones(len(y)) if sample_weight is None else sample_weight)
        self._beta, self._shift = np.zeros(len(y)), float(self.intercept_[0])
        self._beta[self.support_] = self.dual_coef_[0]
        self._solve(self._kernel(X))
        return self

    def predict(self, X):
        return self._kernel(X) @ self._beta + self._shift

    def _kernel(self, X):
        options = {"gamma": self._gamma, "degree": self.degree, "coef0": self.coef0}
        return pairwise_kernels(X, self._rows, metric=self.kernel, filter_params=True, **options)

    def _solve(self, K):
        """Change sides until all conditions hold."""
        limit = EXACT * max(1.0, np.abs(self._targets).max())
        side = np.sign(self._beta)
        bounded = np.abs(self._beta) >= self._bounds * (1 - 1e-10)
        for _ in range(ROUNDS):
            free = (side != 0) & ~bounded
            self._meet(K, free, side)
            if self.epsilon == 0:  # both sides of the tube are one
                side = np.where(free, np.sign(self._beta), side)
            residual = self._targets - K @ self._beta - self._shift
            beyond = np.abs(residual) - self.epsilon
            too_large = free & (np.abs(self._beta) > self._bounds + limit)
            too_small = free & (side * self._beta < -limit)
            enters = (side == 0) & (beyond > limit)
            returns = bounded & (side * residual < self.epsilon - limit)
            if not (too_large | too_small | enters | returns).any():
                return
            bounded = (bounded | too_large) & ~returns
            side = np.where(too_small, 0, np.where(enters, np.sign(residual), side))
            self._beta = np.where(bounded, side * self._bounds, np.where(side == 0, 0, self._beta))
        raise AssertionError("there is no exact solution to compare with")

    def _meet(self, K, free, side):
        """Move free multipliers and intercept until free rows are on the edge of the tube."""
        count = np.count_nonzero(free)
        if count == 0:
            return
        border = np.ones((count, 1))
        system = np.block([[K[np.ix_(free, free)], border], [border.T, np.zeros((1, 1))]])
        for _ in range(2):  # again for the digits that the first solution lost
            off = self._targets - K @ self._beta - self._shift - side * self.epsilon
            step = np.linalg.lstsq(system, np.append(off[free], -self._beta.sum()), rcond=1e-13)[0]
            self._beta[free] += step[:-1]
            self._shift += step[-1]


def exact(estimator):
    """A copy of an estimator in which every SVR is an exact one."""
    copy = clone(estimator)
    if isinstance(copy, SVR):
        return ExactSVR(**copy.get_params() | {"tol": 1e-10})
    names = [name for name, part in copy.get_params().items() if isinstance(part, SVR)]
    assert names, "there is no SVR to make exact"
    return copy.set_params(**{name: exact(copy.get_params()[name]) for name in names})
