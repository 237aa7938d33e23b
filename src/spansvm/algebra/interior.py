"""The dual of a linear machine on many rows, by an interior-point method.

With ``K = XX'`` and few features, the Newton systems of the method are diagonal plus low rank:
each costs O(l d^2), and about twenty are enough whatever the weights.  The result is close to
the solution but not at a vertex of the box; :mod:`spansvm.kernels.linear` chooses the rows and
finishes.

The steps are predictor-corrector steps (Mehrotra 1992).
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.linalg.blas import dsyrk

from ..common.types import Array

__all__ = ["interior_point"]

_STEPS = 60

#: Fraction of the way to the boundary that a step may take.
_REACH = 0.995

#: Rows that are scaled and multiplied at a time: they stay in cache, and no matrix of the size of
#: the data is allocated.
_BLOCK_ROWS = 512


def interior_point(
    X: Array,
    y: Array,
    C: Array,
    tol: float,
    *,
    fixed: Array | None = None,
    total: float = 0.0,
) -> tuple[Array, float]:
    """Approximate multipliers and intercept of a linear machine.

    Parameters
    ----------
    X : ndarray of shape (l, d)
    y : ndarray of shape (l,)
        Labels, -1 and +1.
    C : ndarray of shape (l,)
        Weights, all positive.
    tol : float
        Allowed violation of the KKT conditions: the largest residual, and the mean product of a
        multiplier, as a fraction of its bound, with its slack.
    fixed : ndarray of shape (d,), optional
        What rows that are not among these contribute to the normal vector; by default nothing.
    total : float, default=0.0
        The sum of the signed multipliers.
    """
    state = _State(X, y, C, np.zeros(X.shape[1]) if fixed is None else fixed, total)
    for _ in range(_STEPS):
        if state.residual() < tol:
            break
        try:
            state.step()
        except linalg.LinAlgError:  # as close as rounding allows
            break
    return state.alpha, state.b


class _State:
    """A point strictly inside the box, with positive multipliers for its two bounds."""

    def __init__(self, X: Array, y: Array, C: Array, fixed: Array, total: float) -> None:
        self.X, self.y, self.C = X, y, C
        self.fixed, self.total = fixed, total
        self.alpha = 0.5 * C
        self.room = C - self.alpha
        self.lower, self.upper = np.ones(y.size), np.ones(y.size)
        self.b = 0.0

    def residual(self) -> float:
        """Violation of the KKT conditions."""
        normal = self.fixed + self.X.T @ (self.y * self.alpha)
        self.dual = 1.0 - self.y * (self.X @ normal + self.b) + (self.lower - self.upper)
        self.primal = self.total - float(self.y @ self.alpha)
        products = (self.alpha @ (self.lower / self.C) + self.room @ (self.upper / self.C)) / 2
        return max(
            float(np.abs(self.dual).max()),
            abs(self.primal) / float(self.C.sum()),
            float(products) / self.y.size,
        )

    def step(self) -> None:
        """One Newton step; the outcome of the predictor determines the amount of centring."""
        self._factorise()
        n = 2 * self.y.size
        mean = float(self.alpha @ self.lower + self.room @ self.upper) / n
        d_alpha, _, d_lower, d_upper = self._direction(
            -self.alpha * self.lower, -self.room * self.upper
        )
        length = self._length(d_alpha, d_lower, d_upper)
        predicted = (self.alpha + length * d_alpha) @ (self.lower + length * d_lower)
        predicted += (self.room - length * d_alpha) @ (self.upper + length * d_upper)
        centre = mean * (float(predicted) / n / mean) ** 3
        d_alpha, d_b, d_lower, d_upper = self._direction(
            centre - self.alpha * self.lower - d_alpha * d_lower,
            centre - self.room * self.upper + d_alpha * d_upper,
        )
        length = _REACH * self._length(d_alpha, d_lower, d_upper)
        self.alpha += length * d_alpha
        self.room -= length * d_alpha
        self.lower += length * d_lower
        self.upper += length * d_upper
        self.b += length * d_b

    def _factorise(self) -> None:
        """Prepare to solve ``(YXX'Y + D) x = r``, Y the signs, with a d x d matrix."""
        self.inverse = 1.0 / (self.lower / self.alpha + self.upper / self.room)
        small, scale = np.eye(self.X.shape[1], order="F"), np.sqrt(self.inverse)
        for start in range(0, self.y.size, _BLOCK_ROWS):
            part = slice(start, start + _BLOCK_ROWS)
            scaled = scale[part, None] * self.X[part]
            small = dsyrk(1.0, scaled.T, beta=1.0, c=small, lower=1, overwrite_c=1)
        self.factor = linalg.cho_factor(small, lower=True, overwrite_a=True, check_finite=False)
        self.along = self._solve(self.y)

    def _solve(self, r: Array) -> Array:
        x = self.inverse * r
        part = linalg.cho_solve(self.factor, self.X.T @ (self.y * x), check_finite=False)
        return x - self.inverse * (self.y * (self.X @ part))

    def _direction(self, left: Array, right: Array) -> tuple[Array, float, Array, Array]:
        """Step in which ``lower alpha`` changes by `left` and ``upper room`` by `right`."""
        answer = self._solve(self.dual + left / self.alpha - right / self.room)
        d_b = float((self.y @ answer - self.primal) / (self.y @ self.along))
        d_alpha = answer - d_b * self.along
        d_lower = (left - self.lower * d_alpha) / self.alpha
        return d_alpha, d_b, d_lower, (right + self.upper * d_alpha) / self.room

    def _length(self, d_alpha: Array, d_lower: Array, d_upper: Array) -> float:
        """The longest step, up to 1, that keeps everything positive."""
        longest = 1.0
        for value, change in (
            (self.alpha, d_alpha),
            (self.room, -d_alpha),
            (self.lower, d_lower),
            (self.upper, d_upper),
        ):
            falling = change < 0.0
            if falling.any():
                longest = min(longest, float((-value[falling] / change[falling]).min()))
        return longest
