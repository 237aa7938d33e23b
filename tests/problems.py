"""Random weighted SVM problems, and solutions of them that the library did not compute."""

from __future__ import annotations

from dataclasses import dataclass

import clarabel
import daqp
import numpy as np
from scipy import sparse
from scipy.stats import binomtest

from spansvm.kernels.functions import resolve_kernel
from spansvm.kernels.gram import Gram, HeldGram

KERNELS = ("rbf", "linear", "poly")
WEIGHTS = ("constant", "class", "random", "powers of two", "some zero")


class NoReferenceError(Exception):
    """None of the general solvers found a point that meets the KKT conditions."""


@dataclass
class Problem:
    X: np.ndarray
    y: np.ndarray
    C: np.ndarray
    kernel: str
    gram: Gram

    @property
    def K(self) -> np.ndarray:  # noqa: N802
        return self.gram.values


def random_problem(seed: int, most: int = 40) -> Problem:
    """Two overlapping clouds; kernel, weights and size vary with the seed."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, most + 1)), int(rng.integers(1, 8))
    y = np.where(rng.random(n) < rng.uniform(0.25, 0.75), 1.0, -1.0)
    y[:4] = 1.0, -1.0, 1.0, -1.0
    X = rng.standard_normal((n, d)) + y[:, None] * rng.uniform(0.0, 1.5)
    name = KERNELS[seed % len(KERNELS)]
    kernel = resolve_kernel(name, X, gamma=10 ** rng.uniform(-1.5, 0.7), degree=2, coef0=1.0)
    base = 2 ** rng.uniform(-6, 8)
    C = np.full(n, base)
    weights = WEIGHTS[int(rng.integers(len(WEIGHTS)))]
    if weights == "class":
        C = np.where(y > 0, base, 2 ** rng.uniform(-6, 8))
    elif weights == "random":
        C = base * 2 ** rng.uniform(-4, 4, n)
    elif weights == "powers of two":
        C = base * 2.0 ** rng.integers(-2, 3, n)
    elif weights == "some zero":
        C[4:] *= rng.random(n - 4) < 0.7
    return Problem(X, y, C, name, HeldGram(kernel(X), kernel_range=kernel.range))


def reference_qp(K, c, lo, hi, total):
    """Solve the quadratic program with general solvers: an active-set and an interior-point one.

    Returns the minimiser and the multiplier of the sum constraint.  What they find is
    polished: variables near a bound are put there, the rest follow from a linear system.
    Nothing is returned that does not meet the KKT conditions, and in a convex program
    what meets them is the solution.
    """
    c, lo, hi = (np.asarray(a, dtype=float) for a in (c, lo, hi))
    for solver in (_active_set, _interior_point):
        x = solver(np.ascontiguousarray(K), c, lo, hi, total)
        for margin in (1e-11, 1e-9, 1e-7, 1e-5, 1e-3):
            polished = _polish(K, c, lo, hi, total, x, margin)
            if polished is not None:
                return polished
    raise NoReferenceError


def _active_set(K, c, lo, hi, total):
    sense = np.zeros(c.size + 1, dtype=np.int32)
    sense[-1] = 5  # an equality
    row = np.ones((1, c.size))
    return daqp.solve(K, c.copy(), row, np.append(hi, total), np.append(lo, total), sense)[0]


def _interior_point(K, c, lo, hi, total):
    n = c.size
    width = hi - lo
    quadratic = width[:, None] * K * width
    linear = width * (K @ lo + c)
    scale = max(np.abs(quadratic).max(), np.abs(linear).max())
    constraints = sparse.vstack(
        [sparse.csc_matrix(width[None] / width.max()), sparse.eye(n), -sparse.eye(n)], format="csc"
    )
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(quadratic / scale)),
        linear / scale,
        constraints,
        np.concatenate(([(total - lo.sum()) / width.max()], np.ones(n), np.zeros(n))),
        [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)],
        settings,
    )
    return lo + width * np.array(solver.solve().x)


def _polish(K, c, lo, hi, total, x, margin):
    low, high = x - lo <= margin * (hi - lo), hi - x <= margin * (hi - lo)
    free = ~(low | high)
    x = np.where(low, lo, np.where(high, hi, x))
    size = int(free.sum())
    if size == 0:  # the multiplier has an interval; take its middle, as LibSVM does
        g = K @ x + c
        middle = -0.5 * (g[low].min(initial=np.inf) + g[high].max(initial=-np.inf))
        return _checked(K, c, lo, hi, total, x, middle)
    system = np.ones((size + 1, size + 1))
    system[:size, :size] = K[np.ix_(free, free)]
    system[size, size] = 0.0
    right = np.append(-c[free] - K[np.ix_(free, ~free)] @ x[~free], total - x[~free].sum())
    # As a correction of what the solver found: where the system is singular, the nearest one.
    now = np.append(x[free], -(K @ x + c)[free].mean())
    for cutoff in (1e-14, 1e-12, 1e-10):
        answer = now + np.linalg.lstsq(system, right - system @ now, rcond=cutoff)[0]
        polished = x.copy()
        polished[free] = answer[:size]
        result = _checked(K, c, lo, hi, total, polished, answer[size])
        if result is not None:
            return result
    return None


def _checked(K, c, lo, hi, total, x, multiplier):
    """The point, if it meets the KKT conditions."""
    slope = K @ x + c + multiplier
    tolerance = 1e-9 + 1e-12 * np.abs(K).max() * np.abs(x).sum()
    width = 1e-12 * (hi - lo)
    good = (
        abs(x.sum() - total) <= 1e-9 * np.abs(x).sum()
        and (x >= lo - width).all()
        and (x <= hi + width).all()
        and (slope[x > lo + width] <= tolerance).all()
        and (slope[x < hi - width] >= -tolerance).all()
    )
    return (x, multiplier) if good else None


def reference_svm(K, y, C):
    """Signed multipliers and intercept of a weighted SVM, by the general solver."""
    beta, multiplier = reference_qp(K, -y, np.minimum(0, y * C), np.maximum(0, y * C), 0.0)
    return beta, multiplier


def reference_loo(K, y, C, p):
    """f^p(x_p) of the SVM without instance p, and whether it is known and unique.

    The intercept is not unique where all support vectors are bounded.
    """
    rest = (np.arange(y.size) != p) & (C > 0)
    if np.unique(y[rest]).size < 2:
        return -y[p], False
    try:
        beta, b = reference_svm(K[np.ix_(rest, rest)], y[rest], C[rest])
    except NoReferenceError:
        return np.nan, False
    size = np.abs(beta) / C[rest]
    return float(K[p, rest] @ beta + b), bool(((size > 1e-6) & (size < 1 - 1e-6)).any())


def reference_wilson(n_errors, n_rows):
    """Wilson's 95% CI of a share, by scipy."""
    interval = binomtest(n_errors, n_rows).proportion_ci(0.95, method="wilson")
    return [interval.low, interval.high]


def ringnorm(n):
    """Two normal distributions in 20 dimensions, one inside the other; 30 % are of class 1."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    noise = rng.standard_normal((n, 20))
    return np.where(y[:, None] > 0, 1.0 + noise, 2.0 * noise), y


def twonorm(n, d, seed):
    """Two normal distributions whose best possible error is 2.28 %, whatever the dimension."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return y[:, None] * (2.0 / np.sqrt(d)) + rng.standard_normal((n, d)), y
