"""A quadratic program solved in sixty digits, to compare with where bounds are huge.

Mehrotra's predictor and corrector in decimal numbers, for a dozen variables.  With bounds of 1e10,
and multipliers of 1 that decide, double precision leaves six digits; here fifty remain.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np

_DONE = Decimal("1e-30")


def solve_precisely(K, c, lo, hi, total=0.0):
    """Minimise ``1/2 x'Kx + c'x`` with ``sum(x) = total``, ``lo <= x <= hi``.

    Returns `x`, ``Kx`` and the multiplier of the sum, rounded to float64.
    """
    with localcontext() as context:
        context.prec = 60
        K, c, lo, hi = map(_decimal, (K, c, lo, hi))
        x, products, level = _interior_point(K, c, lo, hi, Decimal(float(total)))
    return x.astype(float), products.astype(float), float(level)


def _decimal(values):
    values = np.asarray(values, dtype=float)
    return np.array([Decimal(v) for v in values.ravel()], dtype=object).reshape(values.shape)


def _interior_point(K, c, lo, hi, total):
    one = np.array([Decimal(1)] * c.size, dtype=object)
    x, level, low, high = (lo + hi) / 2, Decimal(0), one.copy(), one.copy()
    for _ in range(200):
        below, above = x - lo, hi - x
        dual = K.dot(x) + c - level * one - low + high
        missing = total - x.sum()
        gap = below.dot(low) + above.dot(high)
        if gap < _DONE and max(map(abs, dual)) < _DONE and abs(missing) < _DONE:
            return x, K.dot(x), level
        at = K, below, above, low, high, dual, missing
        move, _, d_low, d_high = _step(at, one * 0, one * 0)
        t = _length((below, move), (above, -move), (low, d_low), (high, d_high))
        left = (below + t * move).dot(low + t * d_low) + (above - t * move).dot(high + t * d_high)
        centre = gap / (2 * c.size) * (left / gap) ** 3
        move, up, d_low, d_high = _step(at, centre - move * d_low, centre + move * d_high)
        t = _length((below, move), (above, -move), (low, d_low), (high, d_high))
        t = min(Decimal(1), Decimal("0.995") * t)
        x, level, low, high = x + t * move, level + t * up, low + t * d_low, high + t * d_high
    raise AssertionError("The interior point method did not converge.")


def _step(at, to_low, to_high):
    """Newton's step from a point to where products of distances and multipliers are these."""
    K, below, above, low, high, dual, missing = at
    H = K.copy()
    H[np.diag_indices(len(K))] += low / below + high / above
    right = -dual + to_low / below - low - to_high / above + high
    free, along = _solve(H, np.stack((right, right * 0 + 1), axis=1)).T
    up = (missing - free.sum()) / along.sum()
    move = free + up * along
    d_low = to_low / below - low * (1 + move / below)
    d_high = to_high / above - high * (1 - move / above)
    return move, up, d_low, d_high


def _length(*pairs):
    steps = [-v / d for values, moves in pairs for v, d in zip(values, moves, strict=True) if d < 0]
    return min([Decimal(1), *steps])


def _solve(A, B):
    """Cholesky's method."""
    n, L, X = len(A), A.copy(), B.copy()
    for j in range(n):
        L[j, j] = L[j, j].sqrt()
        L[j + 1 :, j] = L[j + 1 :, j] / L[j, j]
        L[j + 1 :, j + 1 :] = L[j + 1 :, j + 1 :] - np.outer(L[j + 1 :, j], L[j + 1 :, j])
    for i in range(n):
        X[i] = (X[i] - L[i, :i].dot(X[:i])) / L[i, i]
    for i in reversed(range(n)):
        X[i] = (X[i] - L[i + 1 :, i].dot(X[i + 1 :])) / L[i, i]
    return X
