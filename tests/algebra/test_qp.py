from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from spansvm.algebra.qp import solve_qp
from spansvm.core.solver import Program
from spansvm.kernels.gram import HeldGram

from ..problems import random_problem, reference_qp


def random_qp(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 60)), int(rng.integers(1, 10))
    X = rng.standard_normal((n, d))
    K = X @ X.T if seed % 2 else np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))
    lo = -rng.random(n) * 10 ** rng.uniform(-3, 3)
    hi = rng.random(n) * 10 ** rng.uniform(-3, 3)
    total = hi.sum() if seed % 5 == 0 else rng.uniform(lo.sum(), hi.sum())
    return K, rng.standard_normal(n), lo, hi, total


def objective(K, c, x):
    return 0.5 * x @ K @ x + c @ x


def kkt_violation(K, c, lo, hi, x):
    g = K @ x + c
    return g[x > lo].max(initial=-np.inf) - g[x < hi].min(initial=np.inf)


@pytest.mark.parametrize("seed", range(60))
def test_agrees_with_a_general_solver(seed):
    K, c, lo, hi, total = random_qp(seed)
    result = solve_qp(K, c, lo, hi, total, tol=1e-9)
    reference, _ = reference_qp(K, c, lo, hi, total)
    best = objective(K, c, reference)
    assert result.converged
    assert (result.x >= lo).all()
    assert (result.x <= hi).all()
    assert result.x.sum() == pytest.approx(total, abs=1e-9 * (1 + abs(hi).sum() + abs(lo).sum()))
    assert objective(K, c, result.x) == pytest.approx(best, rel=1e-6, abs=1e-6)
    assert result.objective(c) == pytest.approx(objective(K, c, result.x), rel=1e-9, abs=1e-9)
    assert kkt_violation(K, c, lo, hi, result.x) <= 2e-9


@pytest.mark.parametrize("seed", range(12))
def test_enclosing_ball_agrees_with_a_general_solver(seed):
    gram = random_problem(seed).gram
    n = len(gram)
    x, _ = reference_qp(2 * gram.values, -gram.diagonal, np.zeros(n), np.ones(n), 1.0)
    squared = x @ gram.diagonal - x @ gram.values @ x
    assert gram.radius**2 == pytest.approx(squared, rel=1e-6)


def test_enclosing_ball_of_known_points():
    square = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [1.0, 1.2]])
    assert HeldGram(square @ square.T).radius == pytest.approx(np.sqrt(2.0), rel=1e-8)
    assert HeldGram(np.ones((1, 1))).radius == 0.0


def test_starting_points_lead_to_the_same_solution():
    K, c, lo, hi, total = random_qp(8)
    cold = solve_qp(K, c, lo, hi, total, tol=1e-10)
    rng = np.random.default_rng(0)
    for start in (cold.x, hi, lo, rng.standard_normal(c.size) * 100):
        warm = solve_qp(K, c, lo, hi, total, x0=start, tol=1e-10)
        np.testing.assert_allclose(warm.gradient, cold.gradient, atol=1e-8)
    assert solve_qp(K, c, lo, hi, total, x0=cold.x, tol=1e-3).iterations == 0


def test_matrix_may_be_single_precision_read_only_mapped_or_in_column_order(tmp_path):
    K, c, lo, hi, total = random_qp(2)
    reference = solve_qp(K, c, lo, hi, total, tol=1e-10).x
    frozen = K.copy()
    frozen.flags.writeable = False
    path = tmp_path / "gram.npy"
    np.save(path, K)
    mapped = np.load(path, mmap_mode="r")
    for matrix in (frozen, mapped, np.asfortranarray(K)):
        np.testing.assert_array_equal(solve_qp(matrix, c, lo, hi, total, tol=1e-10).x, reference)
    single = solve_qp(K.astype(np.float32), c, lo, hi, total, tol=1e-6)
    assert single.converged
    assert objective(K, c, single.x) == pytest.approx(objective(K, c, reference), rel=1e-5)


def test_iteration_limit_is_kept_and_reported():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 20))
    y = np.where(rng.random(300) < 0.5, 1.0, -1.0)
    K = np.exp(-0.05 * ((X[:, None] - X[None]) ** 2).sum(-1))
    lo, hi = np.minimum(0, 100 * y), np.maximum(0, 100 * y)
    result = solve_qp(K, -y, lo, hi, max_iter=7)
    assert not result.converged
    assert result.iterations == 7
    assert result.gap > 1e-3


@pytest.mark.parametrize("seed", range(10))
def test_indefinite_matrix_terminates_and_says_so(seed):
    rng = np.random.default_rng(seed)
    n = 50
    K = rng.standard_normal((n, n))
    K = K + K.T
    result = solve_qp(K, rng.standard_normal(n), -np.ones(n), np.ones(n))
    assert result.indefinite
    assert np.isfinite(result.x).all()
    assert abs(result.x.sum()) < 1e-12
    assert result.converged == (result.gap <= 1e-3)


def test_tolerance_below_rounding_ends_without_convergence():
    K, c, lo, hi, _ = random_qp(4)
    result = solve_qp(K, c, lo * 1e6, hi * 1e6, tol=1e-30)
    assert not result.converged
    assert result.gap < 1e-4


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_matrix_that_is_not_finite_is_an_error(bad):
    K = np.eye(5)
    K[1, 2] = K[2, 1] = bad
    c = np.array([-1.0, -1.0, -1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="K must be finite"):
        solve_qp(K, c, -np.ones(5), np.ones(5))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"K": np.eye(3)}, "K must have shape"),
        ({"c": [np.nan, 0.0]}, "c must be finite"),
        ({"lo": [0.0]}, "lo must have shape"),
        ({"lo": [2.0, 0.0]}, r"lo must not exceed hi: lo\[0\]"),
        ({"hi": [np.inf, 1.0]}, "hi must be finite"),
        ({"total": 5.0}, "total = 5.0 cannot be reached"),
        ({"x0": [1.0]}, "x0 must be 2 finite numbers"),
        ({"x0": [1.0, np.nan]}, "x0 must be 2 finite numbers"),
        ({"tol": 0.0}, "tol must be positive"),
    ],
)
def test_bad_input_is_named(change, message):
    problem = {"K": np.eye(2), "c": [0.0, 0.0], "lo": [0.0, 0.0], "hi": [1.0, 1.0]} | change
    with pytest.raises(ValueError, match=message):
        solve_qp(**problem)


def test_empty_problem():
    result = solve_qp(np.empty((0, 0)), [], [], [])
    assert result.converged
    assert result.x.size == 0


def test_converged_is_what_meets_the_tolerance_and_nothing_else():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    K, c = X @ X.T, rng.standard_normal(60)
    near = 0
    for limit in range(1, 400):
        result = solve_qp(K, c, -np.ones(60), np.ones(60), tol=1e-3, max_iter=limit)
        assert result.converged == (result.gap <= 1e-3)
        near += 1e-3 < result.gap <= 1e-2
    assert near > 3
    assert result.converged


def test_a_sum_that_is_nearly_reached_is_out_of_reach():
    with pytest.raises(ValueError, match=r"total = 2\.001 cannot be reached"):
        solve_qp(np.eye(2), np.zeros(2), np.zeros(2), np.ones(2), 2.001)


def test_along_directions_without_curvature_a_newton_step_goes_to_the_box():
    """And the gradient goes with it."""
    K = rbf_kernel([[0.0], [0.0], [1.0], [3.0]])  # the first two points are equal
    c = np.array([1e-3, -1e-3, 0.1, -0.1])
    lo, hi = np.full(4, -1e4), np.full(4, 1e4)
    x = np.zeros(4)
    g = K @ x + c
    Program(K, K.diagonal().copy(), lo, hi, x, g, 1e-12).newton(np.arange(4))
    np.testing.assert_allclose(g, K @ x + c, rtol=0, atol=1e-9)
    assert min(x - lo) == 0.0 or min(hi - x) == 0.0
    assert abs(x.sum()) < 1e-9
