"""Bounds many times larger than the multipliers that decide: equal rows with unequal labels.

Of two such rows one multiplier is at its bound and the other nearly so, and what is left between
them, of order 1, is the model.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVC, SVR

from spansvm import SpanSearch, SpanSVC, SpanSVR, exact_loo
from spansvm.kernels.gram import HeldGram
from spansvm.machine.tube import solve_tube

from ..precise_qp import solve_precisely

LARGE = (1e5, 1e7, 1e8, 1e9, 1e10)


def repeated_rows(seed, task):
    """A few rows in few places, and a kernel."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 11)), int(rng.integers(1, 3))
    X = rng.integers(0, 3, (n, d)).astype(float)
    if task == "classes":
        labels = rng.integers(0, 2, n)
        labels[:2] = 0, 1
        target = np.where(labels == 1, 1.0, -1.0)
    else:
        whole = rng.random() < 0.5
        target = rng.integers(-3, 4, n).astype(float) if whole else rng.normal(size=n)
        target[0] = target[1:].max() + 1.0
    gamma = float(rng.choice([0.1, 1.0, 100.0]))
    kernel = "rbf" if rng.random() < 0.8 else "linear"
    return X, target, {"kernel": kernel, "gamma": gamma}, float(rng.choice([0.0, 0.1]))


def kernel_matrix(X, kernel, gamma):
    return rbf_kernel(X, gamma=gamma) if kernel == "rbf" else linear_kernel(X)


def reference(K, target, C, task, epsilon):
    """Multipliers, values without intercept, and the intercept."""
    n = target.size
    if task == "classes":
        lo, hi = np.minimum(0.0, target * C), np.maximum(0.0, target * C)
        beta, plain, level = solve_precisely(K, -target, lo, hi)
        return beta, plain, -level
    twice = np.tile(K, (2, 2))
    c = np.concatenate((epsilon - target, -epsilon - target))
    lo, hi = np.repeat((0.0, -C), n), np.repeat((C, 0.0), n)
    x, plain, level = solve_precisely(twice, c, lo, hi)
    return x[:n] + x[n:], plain[:n], -level


def machine(task, C, epsilon, **kernel):
    if task == "classes":
        return SpanSVC(C=C, **kernel)
    return SpanSVR(C=C, epsilon=epsilon, **kernel)


def values_of(model, X):
    return model.decision_function(X) if isinstance(model, SpanSVC) else model.predict(X)


def compare(seed, task, C):
    X, target, kernel, epsilon = repeated_rows(seed, task)
    K = kernel_matrix(X, **kernel)
    beta, plain, intercept = reference(K, target, C, task, epsilon)
    model = machine(task, C, epsilon, **kernel).fit(X, target)
    inside = (np.abs(beta) > 1e-6) & (C - np.abs(beta) > 1e-6)
    if not inside.any():  # nothing fixes the intercept
        intercept = model.intercept_[0]
    error = np.abs(values_of(model, X) - plain - intercept).max()
    size = max(1.0, float(np.abs(plain).max()))
    # What multipliers near their bounds are rounded to, in units of the values.
    finest = float(np.spacing(C) * np.abs(K).sum(axis=1).max())
    assert error <= max(1e-5, finest) * size
    assert finest <= 1e-4
    assert model.fit_status_ == 0
    assert model.certificate_.gap <= max(1e-5, 4.0 * finest) * size


@pytest.mark.parametrize("C", [1e7, 1e8, 1e10])
@pytest.mark.parametrize("task", ["classes", "quantity"])
@pytest.mark.parametrize("seed", [0, 1, 7, 10, 14, 21, 25, 26, 59, 93, 134])
def test_decision_values_are_those_of_a_solver_in_sixty_digits(seed, task, C):
    compare(seed, task, C)


@pytest.mark.theory
@pytest.mark.parametrize("C", LARGE)
@pytest.mark.parametrize("task", ["classes", "quantity"])
@pytest.mark.parametrize("seeds", range(0, 1000, 20))
def test_decision_values_of_thousands_of_problems(seeds, task, C):
    for seed in range(seeds, seeds + 20):
        compare(seed, task, C)


@pytest.mark.parametrize("C", [1e6, 1e8, 1e10])
def test_equal_rows_with_unequal_targets_do_not_make_the_model_constant(C):
    X, target = np.array([[0.0], [0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 3.0, -2.0])
    model = SpanSVR(gamma=1, C=C).fit(X, target)
    assert model.predict(X) == pytest.approx(SVR(gamma=1, C=C, tol=1e-8).fit(X, target).predict(X))


@pytest.mark.parametrize("C", [1e6, 1e8, 1e10])
def test_equal_rows_with_unequal_labels_do_not_make_the_model_constant(C):
    X, y = np.array([[0.0], [0.0], [1.0], [2.0]]), np.array([0, 1, 1, 0])
    model = SpanSVC(gamma=1, C=C).fit(X, y)
    theirs = SVC(gamma=1, C=C, tol=1e-8).fit(X, y)
    assert model.decision_function(X) == pytest.approx(theirs.decision_function(X), abs=1e-5)


def test_small_targets_are_as_large_bounds():
    X, target = np.array([[0.0], [0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 3.0, -2.0])
    small = SpanSVR(gamma=1, C=100.0, epsilon=1e-7).fit(X, 1e-6 * target)
    large = SpanSVR(gamma=1, C=1e8, epsilon=0.1).fit(X, target)
    assert 1e6 * small.predict(X) == pytest.approx(large.predict(X), abs=1e-5)


def test_a_search_goes_on_to_bounds_of_any_size():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (60, 2)).astype(float)
    y = np.where(rng.random(60) < 0.2, rng.integers(0, 2, 60), (X[:, 0] > 1.5).astype(int))
    grid = {"C": [1e2, 1e4, 1e6, 1e8, 1e10]}
    for method in (None, "loo"):
        search = SpanSearch(SVC(gamma=10.0), grid, method=method, refit=False).fit(X, y)
        assert np.ptp(search.cv_results_["mean_test_score"]) == 0.0


@pytest.mark.parametrize("task", ["classes", "quantity"])
@pytest.mark.parametrize("seed", [0, 3, 7, 12, 18, 21])
def test_left_out_values_with_large_bounds_are_those_of_retraining(seed, task):
    X, target, kernel, epsilon = repeated_rows(seed, task)
    model = machine(task, 1e8, epsilon, **kernel)
    own = exact_loo(model, X, target) if task == "classes" else model.fit(X, target).loo_predict_
    for i in range(target.size):
        rest = np.arange(target.size) != i
        if np.ptp(target[rest]) == 0.0:
            continue
        again = machine(task, 1e8, epsilon, **kernel).fit(X[rest], target[rest])
        value = values_of(again, X[i : i + 1])[0]
        assert own[i] == pytest.approx(value, abs=1e-5 * max(1.0, abs(value)))


def test_equal_rows_of_a_regression_stay_on_one_side_of_the_tube():
    X, target = np.array([[0.0], [0.0], [1.0], [2.0], [2.0]]), np.array([3.0, 3.0, 1.0, -2.0, -2.0])
    K = HeldGram(rbf_kernel(X, gamma=1.0))
    cold = solve_tube(K, target, 10.0, 0.1)
    # From there, the first of two equal rows is above the function, and the second seems below.
    far = solve_tube(K, target, 10.0, 0.1, beta0=np.array([5.0, 5.0, 0.0, -5.0, -5.0]))
    assert far.beta == pytest.approx(cold.beta, abs=1e-8)


def test_a_model_short_of_its_optimum_says_so():
    X, target = np.array([[0.0], [0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 3.0, -2.0])
    for model, y in (
        (SpanSVR(C=1e8, gamma=1, max_iter=1), target),
        (SpanSVC(C=1e8, gamma=1, max_iter=1), target > 0),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y)
        far = model.certificate_.gap > model.tol
        assert far == bool(model.fit_status_)
        assert far == any("stopped early" in str(w.message) for w in caught)
