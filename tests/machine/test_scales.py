"""Weights and features of any size: solutions are what they say, and solvers come to an end."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from spansvm import SpanSVC, exact_loo
from spansvm.estimators.loo import exact_loo_decision
from spansvm.kernels.functions import resolve_kernel
from spansvm.kernels.gram import HeldGram
from spansvm.kernels.lazy import LazyGram
from spansvm.machine.criteria import SolvedModel
from spansvm.machine.dual import box, solve_dual, train_dual


def honest_gap(K, y, C, solution):
    """The KKT gap from a gradient that the solver did not keep."""
    lo, hi = box(y, C)
    g = K @ solution.beta - y
    return g[solution.beta > lo].max() - g[solution.beta < hi].min()


def clouds(n=60, d=5, size=1.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return size * (rng.standard_normal((n, d)) + 0.5 * y[:, None]), y


def any_weights(size, seed):
    """Noisy labels, and weights over twelve orders of magnitude."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 200)), int(rng.integers(1, 8))
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    return size * X, y, 10.0 ** rng.uniform(-6, 6, n)


def rounding(K, solution):
    return np.finfo(float).eps * np.abs(K.diagonal() * solution.alpha).sum()


def quietly(work):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return work()


@pytest.mark.parametrize("C", [1.0, 1e4, 1e8, 1e12])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("size", [1.0, 1e2, 1e4])
@pytest.mark.parametrize("tol", [1e-3, 1e-8])
def test_the_gap_that_is_reported_is_that_of_the_solution(C, kernel, size, tol):
    X, y = clouds(size=size)
    K = resolve_kernel(kernel, X, gamma=0.5 / size**2)(X)
    weights = np.full(y.size, C)
    solution = quietly(lambda: train_dual(K, y, weights, tol=tol, max_iter=2_000_000))
    level = rounding(K, solution)
    assert solution.support.sum() >= 2
    assert abs(solution.beta.sum()) <= 1e3 * np.finfo(float).eps * solution.alpha.sum()
    assert honest_gap(K, y, weights, solution) <= solution.gap + 10 * level
    assert solution.converged == (solution.gap <= tol)
    assert solution.converged or level > 1e-3 * tol or solution.iterations >= 2_000_000
    np.testing.assert_allclose(
        solution.decision, K @ solution.beta + solution.intercept, atol=10 * level + 1e-12
    )


def test_small_multipliers_under_large_bounds_are_not_lost():
    X, y = np.array([[0.0], [5000.0]]), np.array([-1.0, 1.0])
    solution = train_dual(X @ X.T, y, 1e6)
    np.testing.assert_allclose(solution.alpha, 2 / 5000.0**2)
    X = np.array([[0.0], [100.0], [5000.0], [5200.0]])
    y = np.array([-1, -1, 1, 1])
    svc = SVC(kernel="linear", C=1e6, tol=1e-8)
    expected = [
        svc.fit(np.delete(X, p, 0), np.delete(y, p)).decision_function(X[[p]])[0] for p in range(4)
    ]
    np.testing.assert_allclose(exact_loo(svc, X, y), expected, atol=1e-6)


def test_separable_data_do_not_care_how_large_the_weights_are():
    X, y = clouds(n=40, size=1.0)
    X += 3 * y[:, None]
    K = X @ X.T
    models = [SolvedModel(K, train_dual(K, y, C, tol=1e-9)) for C in (1e3, 1e6, 1e9, 1e12)]
    for model in models[1:]:
        np.testing.assert_allclose(model.spans.decision, models[0].spans.decision, atol=1e-6)
        np.testing.assert_array_equal(model.trusted, models[0].trusted)


def test_tolerances_below_rounding_end_soon():
    rng = np.random.default_rng(12)
    X = 161.0 * rng.standard_normal((124, 2))
    y = np.where(X[:, 0] + 161.0 * rng.standard_normal(124) > 0, 1.0, -1.0)
    gram = HeldGram(X @ X.T)
    solution = quietly(lambda: train_dual(gram, y, 158.0, tol=1e-10))
    assert solution.iterations < 1_000_000
    assert solution.gap < 1e-5
    # Would take hours if each of its trainings went to the iteration limit.
    values = quietly(lambda: exact_loo_decision(gram, solution))
    assert np.isfinite(values).all()


def test_small_trainings_out_of_reach_end_soon():
    # Kernel values from 1e12 to 1e24: no two numbers of the gradient can be told apart.
    rng = np.random.default_rng(0)
    for _ in range(4):
        X = 10 ** rng.uniform(1, 3, 12)[:, None] * rng.standard_normal((12, 2))
        y = np.where(np.arange(12) % 2, 1.0, -1.0)
        K = resolve_kernel("poly", X, gamma=1.0, degree=4)(X)
        solution = quietly(lambda K=K, y=y: train_dual(K, y, 1e6))
        assert solution.iterations < 1_100_000
        assert solution.converged == (solution.gap <= 1e-3)
        assert np.isfinite(solution.decision).all()


@pytest.mark.parametrize("seed", range(5))
def test_dependent_vectors_under_large_bounds_do_not_creep(seed):
    # Where rows depend on each other there are directions without curvature, and their minimum is
    # at bounds that are a billion times as far away as the first steps go.
    rng = np.random.default_rng(seed)
    X = 1000.0 * rng.standard_normal((24, 4)) + 1000.0
    y = np.where(rng.random(24) < 0.5, 1.0, -1.0)
    K, weights = X @ X.T, 10 ** rng.uniform(0, 8, 24)
    solution = quietly(lambda: train_dual(K, y, weights))
    assert solution.iterations < 20_000
    assert solution.gap <= 1e-3 + 1e3 * rounding(K, solution)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("seed", range(4))
def test_weights_over_sixteen_orders_of_magnitude(kernel, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((80, 2)), np.where(rng.random(80) < 0.5, 1.0, -1.0)
    X[40:] = X[:40]  # so that large weights contradict each other, and meet their bounds
    weights = 10 ** rng.uniform(-8, 8, 80)
    K = resolve_kernel(kernel, X, gamma=0.5, degree=2, coef0=1.0)(X)
    solution = train_dual(K, y, weights)
    # Bounded vectors of small weight stay at their bound, beside multipliers of 1e7.
    assert solution.converged
    assert honest_gap(K, y, weights, solution) <= 1e-3 + 100 * rounding(K, solution)


@pytest.mark.parametrize("C", [100.0, 1e4])
def test_unscaled_features(C):
    X, y = load_breast_cancer(return_X_y=True)
    y = np.where(y == 1, 1.0, -1.0)
    K = X @ X.T
    weights = np.full(y.size, C)
    for tol in (1e-3, 1e-8):
        solution = quietly(lambda tol=tol: train_dual(K, y, weights, tol=tol, max_iter=3_000_000))
        assert solution.gap <= max(tol, 1e3 * rounding(K, solution)) or (
            solution.iterations >= 3_000_000
        )
        assert honest_gap(K, y, weights, solution) <= solution.gap + 10 * rounding(K, solution)


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("size", [1e-6, 1e-5, 1e4])
def test_converged_means_that_the_gap_and_the_sum_hold(size, kernel, parts):
    if parts and kernel == "poly" and size > 1.0:
        pytest.skip("kernel values of 1e24 are out of reach, and that takes long to find out")
    for seed in range(10):
        X, y, C = any_weights(size, seed)
        function = resolve_kernel(kernel, X, gamma="auto" if kernel == "poly" else "scale")
        K = function(X)
        gram = LazyGram(function, X, 2.0 * y.size**2) if parts else HeldGram(K)
        solution = solve_dual(gram, y, C)
        assert size > 1.0 or solution.converged, seed
        if solution.converged:
            assert abs(solution.beta.sum()) <= 1e-10 * solution.alpha.sum(), seed
            # Where rows are kept in single precision, that may account for some of the gap.
            assert honest_gap(K, y, C, solution) <= 1.5e-3 + 100 * rounding(K, solution), seed


@pytest.mark.parametrize("seed", [0, 7])
def test_the_sum_holds_in_a_classifier(seed):
    X, y, C = any_weights(1e-6, seed)
    model = SpanSVC(kernel="linear").fit(X, y, sample_weight=C)
    beta = model.machines_.solutions[0].beta
    assert model.fit_status_ == 0
    assert abs(beta.sum()) <= 1e-10 * np.abs(beta).sum()


def test_a_sum_that_is_lost_is_not_converged(monkeypatch):
    X, y = clouds()
    gram = HeldGram(X @ X.T)
    plain = HeldGram.solve

    def lose_some(self, *arguments, **options):
        result = plain(self, *arguments, **options)
        result.x[np.argmax(result.x)] *= 1.0 + 1e-6
        return result

    assert solve_dual(gram, y, 1.0).converged
    monkeypatch.setattr(HeldGram, "solve", lose_some)
    assert not solve_dual(gram, y, 1.0).converged


def test_loose_leave_one_out_models_are_reported():
    X, y = clouds(n=40, size=1e7, seed=3)
    with pytest.warns(ConvergenceWarning, match="leave-one-out models meet the KKT conditions"):
        exact_loo(SVC(kernel="linear", C=1e6), X, y)


def test_the_ball_scales_with_its_points():
    X, _ = clouds()
    radius = HeldGram(X @ X.T).radius
    for exponent in (-140, -100, -30, 30, 100, 140):
        scaled = X * 10.0**exponent
        assert HeldGram(scaled @ scaled.T).radius == pytest.approx(
            radius * 10.0**exponent, rel=1e-6
        )


def test_distances_do_not_depend_on_the_origin():
    X, y = clouds()
    near = exact_loo(SVC(gamma=0.5), X, y)
    far = exact_loo(SVC(gamma=0.5), X + 1e6, y)
    np.testing.assert_allclose(far, near, atol=1e-6)


def test_identical_rows_of_any_size():
    y = np.array([1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1.0])
    rules = [
        SolvedModel(K, train_dual(K, y, 1.0)).spans.errors
        for K in (np.full((12, 12), value) for value in (0.0, 1.0, 1e16))
    ]
    assert rules == [5, 5, 5]
