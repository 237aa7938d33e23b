"""Inputs at the edge: each has a defined answer, and none gives NaN."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from spansvm import analyze, exact_loo
from spansvm.estimators.loo import exact_loo_decision
from spansvm.kernels.gram import HeldGram
from spansvm.machine.criteria import CRITERIA, SolvedModel
from spansvm.machine.dual import train_dual

from ..problems import reference_svm

ARRAYS = ("alpha", "C", "in_bound", "bounded", "span", "span_exists", "trusted", "loo_decision")
NUMBERS = (
    "span_rule", "span_bound", "span_count", "xi_alpha", "sv_count",
    "jaakkola_haussler", "opper_winther", "radius_margin",
    "s_span", "diameter", "n_empty",
)  # fmt: skip


def assert_defined(analysis):
    """Nothing is NaN, spans are not negative, and only a box span may be infinite."""
    for name in ARRAYS:
        assert np.isfinite(getattr(analysis, name)).all(), name
    assert (analysis.span >= 0).all()
    assert not np.isnan(analysis.box_span).any()
    support = analysis.in_bound | analysis.bounded
    np.testing.assert_array_equal(np.isinf(analysis.box_span), support & ~analysis.span_exists)
    for name in NUMBERS:
        value = getattr(analysis, name)
        assert np.isfinite(value), name
        assert value >= 0, name
    assert "nan" not in str(analysis)


def model(K, y, C, tol=1e-9):
    gram = HeldGram(K)
    return SolvedModel(gram, train_dual(gram, y, C, tol=tol))


def clouds(n, seed=0, d=2):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return rng.standard_normal((n, d)) + y[:, None], y


def rbf(X, gamma=0.5):
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(-1))


def test_no_in_bound_vectors_all_bounded():
    """n* = 0: as many of each class, weights so small that all multipliers reach them."""
    X, y = clouds(20)
    K = rbf(X)
    solved = model(K, y, 1e-3)
    solution = solved.solution
    assert solution.bounded.all()
    assert solved.n_empty == 0
    assert solved.s_span == 0.0
    # b is the middle of its interval, as in LibSVM.
    svc = SVC(C=1e-3, kernel="precomputed", tol=1e-9).fit(K, y)
    assert solution.intercept == pytest.approx(svc.intercept_[0], abs=1e-9)
    # The vector that enters when p leaves fixes the intercept, and the rule is exact to first
    # order: the values of the true leave-one-out, intercept and all.
    exact = exact_loo_decision(solved.gram, solution)
    np.testing.assert_allclose(solved.spans.decision, exact, atol=1e-2)
    assert all(np.isfinite(criterion(solved)) for criterion in CRITERIA.values())
    assert not solved.trusted.any()


def test_one_in_bound_vector():
    """n* = 1: one instance more in a class; without it nothing is in-bound."""
    X, y = clouds(21)
    solved = model(rbf(X), y, np.where(y > 0, 1e-3, 1.02e-3))
    solution = solved.solution
    assert solution.in_bound.sum() == 1
    p = int(np.flatnonzero(solution.in_bound)[0])
    assert not solved.span_exists[p]
    assert np.isinf(solved.in_bound_box_span).all()
    assert solved.n_empty == 1
    exact = exact_loo_decision(solved.gram, solution)
    assert solved.spans.decision[p] == pytest.approx(exact[p], abs=1e-2)
    assert y[p] * exact[p] < 0  # with the last in-bound vector goes the intercept
    assert not solved.trusted[p]


def test_all_instances_bounded_or_none():
    X, y = clouds(40)
    few = model(rbf(X), y, 1e-6)
    assert few.solution.bounded.all()
    many = model(rbf(X, gamma=50.0), y, 1e6)
    assert not many.solution.bounded.any()
    assert many.solution.in_bound.sum() > 30
    for solved in (few, many):
        assert all(np.isfinite(criterion(solved)) for criterion in CRITERIA.values())


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_duplicates_with_the_same_label_span_each_other(C):
    X, y = clouds(15, seed=3)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    svc = SVC(C=C, tol=1e-8).fit(X, y)
    analysis = analyze(svc, X, y)
    assert_defined(analysis)
    twins = analysis.in_bound.reshape(-1, 2).all(axis=1).repeat(2)
    np.testing.assert_allclose(analysis.span[twins], 0.0, atol=1e-6)
    np.testing.assert_allclose(
        analysis.loo_decision[analysis.trusted], exact_loo(svc, X, y)[analysis.trusted], atol=1e-4
    )


def test_duplicates_with_opposite_labels_are_bounded_errors():
    X, y = clouds(14, seed=3)
    X, y = np.concatenate((X, X)), np.concatenate((y, -y))
    analysis = analyze(SVC(C=1.0).fit(X, y), X, y)
    assert_defined(analysis)
    assert analysis.bounded.all()
    # Its twin, left alone, says the contrary of what the instance is.
    assert analysis.span_rule == 1.0
    assert np.mean((exact_loo(SVC(C=1.0), X, y) > 0) == (y > 0)) == 0.0


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_linear_kernel_of_low_rank(C):
    """More in-bound vectors than dimensions: the hull is the whole space, and S_p = 0."""
    X, y = clouds(60, d=1)
    svc = SVC(C=C, kernel="linear", tol=1e-8).fit(X, y)
    analysis = analyze(svc, X, y)
    assert_defined(analysis)
    bounded = analysis.bounded
    if analysis.in_bound.sum() > 1:
        np.testing.assert_allclose(analysis.span[bounded], 0.0, atol=1e-5)


def test_constant_features():
    X, y = np.ones((12, 3)), np.where(np.arange(12) % 2 == 0, 1.0, -1.0)
    for kernel in ("linear", "rbf"):
        analysis = analyze(SVC(kernel=kernel).fit(X, y), X, y)
        assert_defined(analysis)
        np.testing.assert_allclose(analysis.span, 0.0, atol=1e-7)
        np.testing.assert_allclose(analysis.diameter, 0.0, atol=1e-6)
    for weights in (1.0, np.arange(1.0, 13.0)):  # without and with in-bound vectors
        zero = model(np.zeros((12, 12)), y, weights)
        assert all(np.isfinite(criterion(zero)) for criterion in CRITERIA.values())
        assert not zero.spans.squared.any()


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_two_instances(C):
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    analysis = analyze(SVC(C=C).fit(X, y), X, y)
    assert_defined(analysis)
    assert analysis.loo_decision.tolist() == [1.0, -1.0]
    assert analysis.span_rule == 1.0
    assert exact_loo(SVC(C=C), X, y).tolist() == [1.0, -1.0]


def test_weights_over_twelve_orders_of_magnitude():
    X, y = clouds(40)
    K = rbf(X)
    C = 10.0 ** np.linspace(-6, 6, y.size)
    solved = model(K, y, C, tol=1e-6)
    solution = solved.solution
    assert solution.converged
    beta, b = reference_svm(K, y, C)
    np.testing.assert_allclose(solution.decision, K @ beta + b, atol=1e-3)
    assert all(np.isfinite(criterion(solved)) for criterion in CRITERIA.values())
    assert np.isfinite(exact_loo_decision(solved.gram, solution)).all()


def test_zero_weights_are_removal():
    X, y = clouds(40)
    weight = np.where(np.arange(40) % 3 == 0, 0.0, 1.0)
    present = weight > 0
    svc = SVC(C=5.0, gamma=0.5, tol=1e-8).fit(X, y, sample_weight=weight)
    part = SVC(C=5.0, gamma=0.5, tol=1e-8).fit(X[present], y[present])
    whole, removed = analyze(svc, X, y, weight), analyze(part, X[present], y[present])
    assert_defined(whole)
    for name in NUMBERS:
        assert getattr(whole, name) == pytest.approx(getattr(removed, name), rel=1e-6), name
    np.testing.assert_allclose(whole.loo_decision[present], removed.loo_decision, atol=1e-6)
    assert not (whole.in_bound | whole.bounded | whole.trusted)[~present].any()


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1.0])
def test_weights_that_are_no_weights(weight):
    X, y = clouds(10)
    weights = np.ones(10)
    svc = SVC().fit(X, y, sample_weight=weights)
    weights[3] = weight
    message = "must not be negative" if weight == -1.0 else "must be finite"
    with pytest.raises(ValueError, match=f"sample_weight {message}"):
        analyze(svc, X, y, weights)
    with pytest.raises(ValueError, match=f"sample_weight {message}"):
        exact_loo(svc, X, y, weights)


def test_one_class_is_an_error():
    X, y = clouds(10)
    with pytest.raises(ValueError, match="y must contain two classes"):
        exact_loo(SVC(), X, np.ones(10))
    with pytest.raises(ValueError, match=r"All instances of the class -1\.0 have zero weight"):
        exact_loo(SVC(), X, y, (y > 0).astype(float))


def test_unconverged_models_say_so():
    X, y = clouds(40)
    with pytest.warns(ConvergenceWarning):
        svc = SVC(C=1000.0, max_iter=3).fit(X, y)
    analysis = analyze(svc, X, y)
    assert_defined(analysis)
    assert not analysis.converged
    assert not analysis.trusted.any()
    signs = np.where(y > 0, 1, -1)
    assert analysis.span_rule == np.mean(signs * analysis.loo_decision <= 0)
    assert "not a converged solution" in str(analysis)
    assert "not a converged solution" in analysis._repr_html_()


def test_indefinite_kernels_warn_and_stay_finite():
    X, y = clouds(60)
    svc = SVC(C=10.0, kernel="sigmoid", gamma=2.0, coef0=-1.0).fit(X, y)
    with pytest.warns(UserWarning, match="not positive semidefinite"):
        assert_defined(analyze(svc, X, y))
    rng = np.random.default_rng(0)
    garbage = rng.standard_normal((60, 60))
    garbage = garbage + garbage.T
    with pytest.warns(UserWarning, match="not positive semidefinite"):
        solution = train_dual(garbage, y, 1.0)
    assert solution.indefinite
    solved = SolvedModel(garbage, solution)
    values = [criterion(solved) for criterion in CRITERIA.values()]
    assert np.isfinite(values).all()
    assert min(values) >= 0
