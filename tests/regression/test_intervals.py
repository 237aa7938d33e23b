from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.preprocessing import scale
from sklearn.svm import SVR

from spansvm import SpanSVR

from ..tubes import random_regression


def reference_interval(X, y, new, level, sets=None, weight=None, **params):
    """The jackknife+ as it is defined: one training of LibSVM without each set of rows."""
    weight = np.ones(y.size) if weight is None else weight
    sets = [np.array([row]) for row in range(y.size)] if sets is None else sets
    low, high = [], []
    for members in sets:
        rest = weight > 0
        rest[members] = False
        svr = SVR(tol=1e-9, **params).fit(X[rest], y[rest], sample_weight=weight[rest])
        for row in members[weight[members] > 0]:
            size = abs(y[row] - svr.predict(X[[row]])[0])
            values = svr.predict(new)
            low.append(values - size)
            high.append(values + size)
    low, high = np.sort(low, axis=0), np.sort(high, axis=0)
    n = low.shape[0]
    # The floor(a (n + 1))-th smallest and the ceil((1 - a) (n + 1))-th smallest.
    below = int(np.floor(round((1 - level) * (n + 1), 9)))
    above = int(np.ceil(round(level * (n + 1), 9)))
    if below < 1:
        return np.tile([-np.inf, np.inf], (len(new), 1))
    return np.column_stack([low[below - 1], high[above - 1]])


def data(seed, n=40):
    return make_friedman1(n + 15, noise=1.0, random_state=seed)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("C", [0.5, 20.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 4.0])
def test_intervals_are_those_of_refits(level, C, epsilon):
    X, y = data(1)
    params = {"C": C, "epsilon": epsilon, "gamma": 0.3}
    model = SpanSVR(**params).fit(X[:40], y[:40])
    expected = reference_interval(X[:40], y[:40], X[40:], level, **params)
    np.testing.assert_allclose(model.predict_interval(X[40:], level), expected, atol=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_every_kernel_has_them(kernel):
    X, y = data(2)
    params = {"C": 2.0, "epsilon": 0.3, "gamma": 0.3, "kernel": kernel, "degree": 2, "coef0": 1.0}
    model = SpanSVR(**params).fit(X[:40], y[:40])
    expected = reference_interval(X[:40], y[:40], X[40:], 0.8, **params)
    np.testing.assert_allclose(model.predict_interval(X[40:], 0.8), expected, atol=2e-3)


def test_with_weights_rows_of_zero_weight_do_not_count():
    X, y = data(3)
    weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.0], 40)
    params = {"C": 5.0, "epsilon": 0.3, "gamma": 0.3}
    model = SpanSVR(**params).fit(X[:40], y[:40], sample_weight=weight)
    expected = reference_interval(X[:40], y[:40], X[40:], 0.8, weight=weight, **params)
    np.testing.assert_allclose(model.predict_interval(X[40:], 0.8), expected, atol=1e-3)


def test_groups_leave_together():
    X, y = data(4)
    groups = np.random.default_rng(0).integers(0, 8, 40)
    sets = [np.flatnonzero(groups == g) for g in range(8)]
    params = {"C": 5.0, "epsilon": 0.3, "gamma": 0.3}
    model = SpanSVR(**params).fit(X[:40], y[:40], groups=groups)
    expected = reference_interval(X[:40], y[:40], X[40:], 0.8, sets, **params)
    np.testing.assert_allclose(model.predict_interval(X[40:], 0.8), expected, atol=1e-3)


@pytest.mark.parametrize("trap", ["equal rows", "equal rows, other targets", "integers"])
def test_equal_rows_and_rows_on_the_tube(trap):
    problem = random_regression(6, trap)
    params = {"C": 3.0, "epsilon": problem.epsilon, "gamma": 0.4}
    new = problem.X + 0.1
    model = SpanSVR(**params).fit(problem.X, problem.y)
    expected = reference_interval(problem.X, problem.y, new, 0.7, **params)
    np.testing.assert_allclose(model.predict_interval(new, 0.7), expected, atol=1e-3)


def test_several_levels_are_one_each():
    X, y = data(5)
    model = SpanSVR(C=5.0, gamma=0.3).fit(X[:40], y[:40])
    several = model.predict_interval(X[40:], [0.5, 0.9])
    assert several.shape == (15, 2, 2)
    for k, level in enumerate((0.5, 0.9)):
        np.testing.assert_array_equal(several[:, :, k], model.predict_interval(X[40:], level))
    assert (several[:, 0, 1] <= several[:, 0, 0]).all()  # a higher level contains a lower one
    assert (several[:, 1, 0] <= several[:, 1, 1]).all()


def test_too_few_rows_for_a_level_have_no_ends():
    X, y = data(6)
    model = SpanSVR(C=5.0, gamma=0.3).fit(X[:8], y[:8])
    # 0.1 * 9 < 1: no row may lie outside; 0.2 * 9 > 1.
    np.testing.assert_array_equal(model.predict_interval(X[40:42], 0.9), [[-np.inf, np.inf]] * 2)
    assert np.isfinite(model.predict_interval(X[40:42], 0.8)).all()
    # 0.1 * 10 = 1 in spite of rounding.
    model.fit(X[:9], y[:9])
    assert np.isfinite(model.predict_interval(X[40:42], 0.9)).all()


def friedman1(rng, n):
    return make_friedman1(n, noise=1.0, random_state=int(rng.integers(10**6)))


def diabetes(rng, n):
    X, y = load_diabetes(return_X_y=True)
    rows = rng.permutation(y.size)[:n]
    return scale(X)[rows], y[rows]


@pytest.mark.parametrize(
    ("draw", "params"),
    [
        (friedman1, {"C": 10.0, "gamma": 0.2, "epsilon": 0.2}),
        (diabetes, {"C": 50.0, "gamma": 0.02, "epsilon": 5.0}),
    ],
)
def test_coverage_is_what_was_promised(draw, params):
    rng = np.random.default_rng(0)
    levels, covered, asked = (0.8, 0.9), np.zeros(2), 0
    for _ in range(8):
        X, y = draw(rng, 300)
        model = SpanSVR(**params).fit(X[:80], y[:80])
        ends = model.predict_interval(X[80:], levels)
        covered += ((ends[:, 0] <= y[80:, None]) & (y[80:, None] <= ends[:, 1])).sum(axis=0)
        asked += 220
    for number, level in zip(covered, levels, strict=True):
        # Eight draws of 80 training rows: their own noise is that of 640 rows, not of 1760.
        least, most = binom.interval(0.999, 640, level)
        assert least / 640 <= number / asked <= most / 640
