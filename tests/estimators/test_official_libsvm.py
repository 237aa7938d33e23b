"""Models are those of LIBSVM's own Python package, as far as its tolerance goes.

How far that is follows from the duals: if the dual of some multipliers is d below the optimum,
their function is, without the intercept, at most ``sqrt(2 d K(x, x))`` from the solution's at x.
"""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from spansvm import SpanSVC, SpanSVR

svm = pytest.importorskip(
    "libsvm.svmutil", reason="libsvm-official is not installed; it has to be compiled"
)

#: LIBSVM's own tolerance, on the violation of the KKT conditions.
TOLERANCE = 1e-3

#: Of sums in double precision.
ROUNDING = 1e-9


@pytest.fixture(autouse=True)
def one_thread():
    """LIBSVM's threads would wait for each other at every step of its small problems."""
    with threadpool_limits(limits=1):
        yield


def gaussian(A, B, gamma):
    apart = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2.0 * A @ B.T
    return np.exp(-gamma * apart)


def train(options, X, y):
    """Signed multipliers, positive for label 1 or for targets above, and the intercept."""
    model = svm.svm_train(svm.svm_problem(y, X), svm.svm_parameter(f"{options} -q"))
    beta = np.zeros(len(y))
    beta[np.array(model.get_sv_indices()) - 1] = np.array(model.get_sv_coef())[:, 0]
    sign = 1.0 if "-s 3" in options else float(model.get_labels()[0])
    return sign * beta, -sign * model.rho[0], model


def problem(seed):
    rng = np.random.default_rng(seed)
    number, features = int(rng.integers(30, 200)), int(rng.integers(1, 8))
    X = rng.normal(size=(number, features))
    return rng, X, 10.0 ** rng.uniform(-1.5, 1.5), 10.0 ** rng.uniform(-1.5, 0.5)


def assert_near(model, dual, theirs, K, C):
    """Compare their dual, multipliers and intercept with a fitted model."""
    certificate, (beta, intercept) = model.certificate_, theirs
    scale = abs(certificate.primal)
    assert dual <= certificate.primal + ROUNDING * scale
    assert certificate.dual - dual <= TOLERANCE * C.sum()
    own = np.zeros(C.size)
    own[model.support_] = model.dual_coef_[0]
    # Both are at most this far from the solution, in the norm of the feature space.
    off = np.sqrt(2.0 * (certificate.primal - np.array([dual, certificate.dual])).clip(0.0))
    reach = off.sum() + ROUNDING * np.sqrt(scale)
    assert np.abs(K @ (beta - own)).max() <= reach
    inside = (np.abs(own) > 0.0) & (np.abs(own) < C) & (np.abs(beta) > 0.0) & (np.abs(beta) < C)
    if inside.any():
        assert abs(intercept - model.intercept_[0]) <= reach + 2.0 * TOLERANCE
    return 2.0 * (reach + TOLERANCE)


@pytest.mark.parametrize("seed", range(12))
def test_weighted_classifiers_are_those_of_libsvm(seed):
    rng, X, C, gamma = problem(seed)
    y = np.where(X[:, 0] + rng.normal(size=len(X)) > 0.3, 1, -1)
    y[:2] = 1, -1
    weights = {1: 2.0 ** rng.uniform(-3, 3), -1: 2.0 ** rng.uniform(-3, 3)}
    options = f"-s 0 -t 2 -c {C!r} -g {gamma!r} -w1 {weights[1]!r} -w-1 {weights[-1]!r}"
    beta, intercept, theirs = train(options, X, y)
    model = SpanSVC(C=C, gamma=gamma, class_weight=weights).fit(X, y)
    K, bounds = gaussian(X, X, gamma), C * np.where(y > 0, weights[1], weights[-1])
    dual = np.abs(beta).sum() - 0.5 * beta @ K @ beta
    reach = assert_near(model, dual, (beta, intercept), K, bounds)
    new = rng.normal(size=(300, X.shape[1]))
    labels, _, _ = svm.svm_predict([], new, theirs, "-q")
    clear = np.abs(model.decision_function(new)) > reach
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(model.predict(new)[clear], np.array(labels)[clear])


@pytest.mark.parametrize("seed", range(8))
def test_regressions_are_those_of_libsvm(seed):
    rng, X, C, gamma = problem(100 + seed)
    target = np.sin(2.0 * X[:, 0]) + rng.normal(scale=0.3, size=len(X))
    epsilon = float(rng.uniform(0.01, 0.3))
    options = f"-s 3 -t 2 -c {C!r} -g {gamma!r} -p {epsilon!r}"
    beta, intercept, theirs = train(options, X, target)
    model = SpanSVR(C=C, gamma=gamma, epsilon=epsilon).fit(X, target)
    K = gaussian(X, X, gamma)
    dual = target @ beta - epsilon * np.abs(beta).sum() - 0.5 * beta @ K @ beta
    reach = assert_near(model, dual, (beta, intercept), K, np.full(len(X), C))
    new = rng.normal(size=(300, X.shape[1]))
    predicted, _, _ = svm.svm_predict([], new, theirs, "-q")
    assert np.abs(model.predict(new) - predicted).max() <= reach


def test_three_classes_are_those_of_libsvm():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=150), [-0.5, 0.5])
    theirs = svm.svm_train(svm.svm_problem(y, X), svm.svm_parameter("-c 2 -g 0.5 -e 1e-6 -q"))
    model = SpanSVC(C=2.0, gamma=0.5, decision_function_shape="ovo").fit(X, y)
    new = rng.normal(size=(500, 2))
    labels, _, _ = svm.svm_predict([], new, theirs, "-q")
    clear = np.abs(model.decision_function(new)).min(axis=1) > 1e-4
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(model.predict(new)[clear], np.array(labels)[clear])
