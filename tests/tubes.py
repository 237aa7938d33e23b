"""Random weighted regressions with every trap of a tube, and solutions the library did not find."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spansvm.kernels.functions import resolve_kernel
from spansvm.kernels.gram import HeldGram

from .problems import KERNELS, reference_qp

__all__ = [
    "TRAPS", "Regression", "assert_kkt", "intercept_interval", "random_regression",
    "reference_svr", "tolerance_of",
]  # fmt: skip

#: What makes a regression hard, beside kernels, weights and sizes.
TRAPS = (
    "none", "no tube", "tube above the range", "all bounded", "integers", "equal rows",
    "equal rows, other targets", "some zero", "weights of four orders", "huge targets",
    "tiny targets", "constant", "few rows", "more rows than dimensions", "single precision",
)  # fmt: skip


@dataclass
class Regression:
    """One weighted regression."""

    trap: str
    X: np.ndarray
    y: np.ndarray
    C: np.ndarray
    epsilon: float
    kernel: str
    gram: HeldGram

    @property
    def K(self) -> np.ndarray:  # noqa: N802
        return np.asarray(self.gram.values, dtype=np.float64)

    @property
    def size(self) -> float:
        """What values are measured by: the spread of the targets that count, and the tube."""
        return float(np.ptp(self.y[self.C > 0])) + self.epsilon or 1.0


def random_regression(seed: int, trap: str, most: int = 30) -> Regression:
    """A noisy function of some features; what else varies with the seed."""
    rng = np.random.default_rng([seed, TRAPS.index(trap)])
    n, d = int(rng.integers(5, most + 1)), int(rng.integers(1, 6))
    if trap == "few rows":
        n = int(rng.integers(2, 4))
    X = rng.standard_normal((n, d))
    name = KERNELS[int(rng.integers(len(KERNELS)))]
    if trap == "more rows than dimensions":
        n, d, name = int(rng.integers(8, most + 1)), int(rng.integers(1, 3)), "linear"
        X = np.round(rng.standard_normal((n, d)), int(rng.integers(0, 2)))
    y = np.sin(X[:, 0]) + X.mean(axis=1) + rng.normal(0.0, rng.uniform(0.05, 0.7), n)
    epsilon = float(rng.choice([0.01, 0.1, 0.3, 1.0]))
    base = 10 ** rng.uniform(-2, 2.5)
    C = np.full(n, base)
    if rng.random() < 0.3:
        C = base * rng.choice([0.5, 1.0, 2.0], n)
    if trap == "no tube":
        epsilon = 0.0
    elif trap == "tube above the range":
        epsilon = float(np.ptp(y)) * rng.uniform(0.45, 0.8)
    elif trap == "all bounded":
        C = np.full(n, 1e-4) * rng.choice([1.0, 1.0, 0.5], n)
    elif trap == "integers":
        y, epsilon = np.round(3 * y), float(rng.choice([0.0, 0.5, 1.0]))
    elif trap.startswith("equal rows"):
        twin = rng.integers(0, n, n // 2)
        X[: n // 2] = X[twin]
        if trap == "equal rows":
            y[: n // 2] = y[twin]
        epsilon = float(rng.choice([0.0, 0.1, 0.3]))
    elif trap == "some zero":
        C *= rng.random(n) < 0.7
        C[:2] = base
    elif trap == "weights of four orders":
        C = 10 ** rng.uniform(-2, 2, n)
    elif trap in ("huge targets", "tiny targets"):
        scale = 1e6 if trap == "huge targets" else 1e-6
        y, epsilon = y * scale, epsilon * scale
        C = C * (scale if rng.random() < 0.7 else min(1.0, 1e4 * scale))
    elif trap == "constant":
        y, epsilon = np.full(n, float(rng.normal(3.0, 10.0))), float(rng.choice([0.0, 0.1]))
    kernel = resolve_kernel(name, X, gamma=10 ** rng.uniform(-1.5, 0.7), degree=2, coef0=1.0)
    K = kernel(X)
    if trap == "single precision":
        K = K.astype(np.float32)
    return Regression(trap, X, y, C, epsilon, name, HeldGram(K, kernel_range=kernel.range))


def reference_svr(K, y, C, epsilon):
    """Signed multipliers and intercept, by general solvers: a variable for each side of the tube.

    In units in which targets are of order 1, as these solvers have absolute tolerances.
    """
    counted = np.flatnonzero(C > 0)
    centre = float(y[counted].mean())
    size = float(np.ptp(y[counted])) or 1.0
    z, C, epsilon = (y[counted] - centre) / size, C[counted] / size, epsilon / size
    K = np.asarray(K, dtype=np.float64)[np.ix_(counted, counted)]
    beta = np.zeros(y.size)
    if epsilon == 0.0:
        x, b = reference_qp(K, -z, -C, C, 0.0)
        beta[counted] = x
    else:
        nothing = np.zeros(C.size)
        doubled = np.block([[K, K], [K, K]])
        c = np.concatenate((epsilon - z, -epsilon - z))
        x, b = reference_qp(
            doubled, c, np.concatenate((nothing, -C)), np.concatenate((C, nothing)), 0.0
        )
        beta[counted] = x[: C.size] + x[C.size :]
    # Where only rounding keeps a multiplier off its bound, it does not fix the intercept.
    least, most, inside = intercept_interval(K, z, C, epsilon, beta[counted], 1e-7 * C)
    return beta * size, (b if inside.any() else 0.5 * (least + most)) * size + centre


def intercept_interval(K, y, C, epsilon, beta, near=0.0):
    """The interval that the KKT conditions leave the intercept, row by row, and who is in-bound.

    `near` is how far a multiplier may be off its bound to count as at it.
    """
    z = y - np.asarray(K, dtype=np.float64) @ beta
    least, most = np.full(y.size, -np.inf), np.full(y.size, np.inf)
    zero, full = np.abs(beta) <= near, np.abs(beta) >= C - near
    above, below = (beta > 0) & ~zero, (beta < 0) & ~zero
    inside = (above | below) & ~full
    least[zero], most[zero] = z[zero] - epsilon, z[zero] + epsilon
    most[above] = z[above] - epsilon
    least[below] = z[below] + epsilon
    least[above & inside] = z[above & inside] - epsilon
    most[below & inside] = z[below & inside] + epsilon
    least[C == 0], most[C == 0] = -np.inf, np.inf
    if epsilon == 0.0:
        inside |= zero
    return float(least.max()), float(most.min()), inside & (C > 0)


def tolerance_of(problem: Regression) -> float:
    """What rounding may leave of values: of the targets, and of the kernel values that cancel."""
    counted = problem.C > 0
    cancels = float(np.abs(problem.K).max() * problem.C[counted].max()) * problem.y.size
    return 1e-7 * problem.size + 1e-14 * cancels + 1e-14 * float(np.abs(problem.y).max())


def assert_kkt(
    problem: Regression, beta: np.ndarray, intercept: float, *, tolerance: float | None = None
) -> None:
    """The KKT conditions, every row at both edges; the intercept is in the middle of what is left.

    Multipliers sum to 0 and are in their boxes.
    """
    tolerance = tolerance_of(problem) if tolerance is None else tolerance
    least, most, inside = intercept_interval(
        problem.K, problem.y, problem.C, problem.epsilon, beta
    )  # fmt: skip
    assert least - most <= tolerance, (least, most)
    assert least - tolerance <= intercept <= most + tolerance, (least, intercept, most)
    if not inside.any():
        assert abs(intercept - 0.5 * (least + most)) <= tolerance, (least, intercept, most)
    assert (np.abs(beta) <= problem.C).all()
    assert abs(beta.sum()) <= 1e-10 * np.abs(beta).sum()
