from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC, LinearSVC

from spansvm import exact_loo
from spansvm.estimators.loo import exact_loo_decision
from spansvm.kernels.functions import Kernel, resolve_kernel
from spansvm.kernels.gram import HeldGram
from spansvm.kernels.lazy import gram_of
from spansvm.machine.dual import solve_dual
from spansvm.machine.following import Follower, retrain
from spansvm.machine.span import find_spans
from spansvm.machine.values import left_out_values

X, Y = load_breast_cancer(return_X_y=True)
X, Y = minmax_scale(X)[:160], Y[:160]


def retrained(svc, X, y, sample_weight=None):
    """The plain procedure: one training of LibSVM for every instance."""
    values = np.empty(y.size)
    for p in range(y.size):
        rest = np.arange(y.size) != p
        weight = None if sample_weight is None else sample_weight[rest]
        model = clone(svc).fit(X[rest], y[rest], sample_weight=weight)
        values[p] = model.decision_function(X[[p]])[0]
    return values


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_is_the_leave_one_out_of_scikit_learn(C, kernel):
    svc = SVC(C=C, kernel=kernel, gamma=0.3, coef0=1.0, tol=1e-7)
    expected = cross_val_predict(svc, X, Y, cv=LeaveOneOut(), method="decision_function")
    ours = exact_loo(svc, X, Y)
    np.testing.assert_allclose(ours, expected, atol=1e-3)


def test_with_class_and_sample_weights():
    weight = np.random.default_rng(0).uniform(0.1, 3.0, Y.size)
    svc = SVC(C=2.0, gamma=0.3, class_weight={0: 3.0, 1: 0.5}, tol=1e-7)
    expected = retrained(svc, X, Y, weight)
    np.testing.assert_allclose(exact_loo(svc, X, Y, weight), expected, atol=1e-4)
    np.testing.assert_allclose(exact_loo(svc, sparse.csr_matrix(X), Y, weight), expected, atol=1e-4)
    np.testing.assert_allclose(
        exact_loo(clone(svc).set_params(kernel="linear"), X, Y, weight),
        exact_loo(clone(svc).set_params(kernel="precomputed"), X @ X.T, Y, weight),
        atol=1e-6,
    )


def test_balanced_classes_keep_the_weights_of_all_data():
    svc = SVC(C=2.0, gamma=0.3, class_weight="balanced")
    counts = np.bincount(Y)
    fixed = SVC(C=2.0, gamma=0.3, class_weight=dict(enumerate(Y.size / (2 * counts))))
    weight = np.random.default_rng(0).uniform(0.1, 3.0, Y.size)
    for sample_weight in (None, weight):
        np.testing.assert_allclose(
            exact_loo(svc, X, Y, sample_weight), exact_loo(fixed, X, Y, sample_weight)
        )


def test_removing_a_non_support_vector_changes_nothing():
    svc = SVC(C=1.0, gamma=0.3, tol=1e-8).fit(X, Y)
    others = np.setdiff1d(np.arange(Y.size), svc.support_)
    np.testing.assert_allclose(
        exact_loo(svc, X, Y)[others], svc.decision_function(X)[others], atol=1e-5
    )


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_row_that_bounds_the_intercept_leaves_it_in_the_middle(sign, grouped):
    rows, y = np.array([[1.0], [2.0], [10.0], [-1.0], [-2.0]]), np.array([1, 1, 1, -1, -1])
    svc = SVC(kernel="linear", C=0.001)
    # w = 0.006, and every support vector is bounded.  Without the third row, which is none, the
    # margins of the others leave the intercept between -0.988 and 0.988.
    groups = np.array([0, 1, 2, 3, 4]) if grouped else None
    values = exact_loo(svc, sign * rows, (sign * y).astype(int), groups=groups)
    np.testing.assert_allclose(values[2], sign * 0.06, atol=1e-9)


def test_labels_may_be_strings():
    named = np.where(
        Y == 1, "benign", "malignant"
    )  # "benign" sorts first: it is the negative class
    svc = SVC(C=1.0, gamma=0.3)
    np.testing.assert_allclose(exact_loo(svc, X, named), -exact_loo(svc, X, Y), atol=1e-5)


def test_the_last_of_its_class_is_given_to_the_other():
    x = np.array([[0.0], [1.0], [1.1], [1.2]])
    values = exact_loo(SVC(), x, [1, 0, 0, 0])
    assert values[0] == -1.0
    assert exact_loo(SVC(), x[:2], [1, 0]).tolist() == [-1.0, 1.0]


def test_bad_input_is_named():
    with pytest.raises(
        TypeError, match="must be an SVC, an SVR, a SpanSVC or a SpanSVR; got LinearSVC"
    ):
        exact_loo(LinearSVC(), X, Y)
    with pytest.raises(ValueError, match="y must contain two classes; it contains 1"):
        exact_loo(SVC(), X, np.ones(Y.size))
    with pytest.raises(ValueError, match="sample_weight must not be negative"):
        exact_loo(SVC(), X, Y, -np.ones(Y.size))
    with pytest.raises(ValueError, match="y must have one label"):
        exact_loo(SVC(), X, Y[1:])


@pytest.mark.parametrize("C", [0.1, 3.0, 100.0])
@pytest.mark.parametrize("copies", [1, 3])
def test_following_the_solution_is_retraining(C, copies):
    """Each support vector is driven out along the path; repeated points share their weight."""
    rng = np.random.default_rng(0)
    Z = np.repeat(rng.standard_normal((60, 3)), copies, axis=0)
    y = np.where(Z[:, 0] + rng.standard_normal(len(Z)) > 0, 1.0, -1.0)
    gram = HeldGram(resolve_kernel("rbf", Z, gamma=0.5)(Z))
    solution = solve_dual(gram, y, C * rng.uniform(0.5, 2.0, y.size), tol=1e-10)
    rows = np.flatnonzero(solution.support)
    followed = Follower(gram, solution).follow(rows).decision
    assert np.isfinite(followed).all()
    trained, _, _ = retrain(gram, solution, rows)
    np.testing.assert_allclose(followed, trained, atol=1e-6)


def adversarial(seed):
    """Small problems with what makes removals hard: copies, few dimensions, weights far apart."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 50)), int(rng.integers(1, 6))
    y = np.where(rng.random(n) < rng.uniform(0.1, 0.9), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    Z = rng.standard_normal((n, d)) + y[:, None] * rng.uniform(0.0, 1.5)
    if seed % 4 == 0:
        Z = np.round(Z)
    elif seed % 4 == 1:
        Z = np.repeat(Z[: (n + 2) // 3], 3, axis=0)[:n]
    elif seed % 4 == 2:
        Z = Z.astype(np.float32).astype(float)
    name = ("rbf", "linear", "poly")[seed % 3]
    gamma = 10 ** rng.uniform(-4, 1) if name == "rbf" else 1.0
    C = np.full(n, 10.0 ** rng.uniform(-3, 3))
    kind = int(rng.integers(5))
    if kind == 1:
        C = np.where(y > 0, C, 10 ** rng.uniform(-3, 3))
    elif kind == 2:
        C = C * 2 ** rng.uniform(-4, 4, n)
    elif kind == 3:
        C = C * 2.0 ** rng.integers(-2, 3, n)
    elif kind == 4:
        C[2:] *= rng.random(n - 2) < 0.7
    kernel = resolve_kernel(name, Z, gamma=gamma, degree=2, coef0=1.0)
    return gram_of(kernel, Z, whole=True), y, C


@pytest.mark.parametrize("block", range(4))
def test_removals_are_retraining_whatever_is_left(block):
    """Twins of either label, dependent vectors, no in-bound vector left: also the middle of b."""
    rows_checked = unheld = 0
    for seed in range(100 * block, 100 * block + 100):
        gram, y, C = adversarial(seed)
        solution = solve_dual(gram, y, C, tol=1e-9)
        values = exact_loo_decision(gram, solution)
        for p in np.flatnonzero(solution.support)[::3]:
            without = C.copy()
            without[p] = 0.0
            if np.unique(y[without > 0]).size < 2:
                assert values[p] == -y[p]
                continue
            model = solve_dual(gram, y, without, tol=1e-9)
            level = 1e-6 + 1e-11 * np.abs(solution.beta).sum() * gram.diagonal.max()
            slack = (level + 100 * model.gap) * max(1.0, abs(model.decision[p]))
            assert values[p] == pytest.approx(model.decision[p], abs=slack), (seed, p)
            rows_checked += 1
            unheld += not model.in_bound.any()
    assert rows_checked > 200
    assert unheld > 5


def test_twins_with_other_labels_and_unequal_weights():
    """The only free vector is one of the twins: once -4.6e13, where retraining has about -1."""
    Z = np.array([[0.0], [0.0], [1.0], [1.0], [0.3]])
    y = np.array([1.0, -1.0, 1.0, -1.0, -1.0])
    for kernel in ("linear", "rbf"):
        gram = gram_of(resolve_kernel(kernel, Z, gamma=1.0), Z, whole=True)
        for C in (
            [1.0, 0.5, 2.0, 0.3, 0.7],
            [0.1, 3.0, 0.2, 1.0, 1.5],
            [1e-3, 2e-3, 1.0, 1.0, 0.1],
        ):
            solution = solve_dual(gram, y, C, tol=1e-9)
            values = exact_loo_decision(gram, solution)
            for p in np.flatnonzero(solution.support):
                without = np.array(C)
                without[p] = 0.0
                expected = solve_dual(gram, y, without, tol=1e-9).decision[p]
                assert values[p] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_free_vector_near_its_bound_holds_the_intercept(sign):
    """Without the last one, the first is the only free vector, half a percent below its bound."""
    Z = np.array([[1.0, 0.0], [-1.0, 0.1], [-1.0, -0.1], [0.3, 2.0]])
    y = sign * np.array([1.0, -1.0, -1.0, -1.0])
    gram = HeldGram(Z @ Z.T)
    C = np.array([0.4 * 1.005, 0.2, 0.2, 0.1])
    solution = solve_dual(gram, y, C, tol=1e-10)
    assert solution.support[3]
    without = np.where(np.arange(4) == 3, 0.0, C)
    model = solve_dual(gram, y, without, tol=1e-10)
    assert model.in_bound[0]
    assert exact_loo_decision(gram, solution)[3] == pytest.approx(model.decision[3], abs=1e-8)


@pytest.mark.filterwarnings("ignore:The kernel matrix is not positive semidefinite")
def test_removals_on_an_indefinite_kernel_are_not_followed():
    """Such a model is a stationary point: where its path leads is not where training would."""
    rng = np.random.default_rng(0)
    K = rng.standard_normal((30, 30))
    gram = HeldGram(K + K.T)
    y = np.where(np.arange(30) % 2 == 0, 1.0, -1.0)
    solution = solve_dual(gram, y, np.full(30, 1.0))
    assert solution.indefinite
    assert np.isnan(
        Follower(gram, solution).follow(np.flatnonzero(solution.support)).decision
    ).all()
    values = left_out_values(gram, solution)
    assert values.rows.size == 0
    rule = find_spans(gram, solution).decision
    np.testing.assert_allclose(values.decision, rule, atol=1e-3 * np.abs(rule).max())


def test_the_twin_that_takes_over_all_holds_the_intercept():
    """Together they are the only free vector; one of them has room for what both had, just so."""
    gram = HeldGram(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    y, C = np.array([1.0, 1.0, -1.0]), np.array([1.0, 1.0, 0.995])
    solution = solve_dual(gram, y, C, tol=1e-10)
    assert solution.in_bound[:2].all()
    assert solution.bounded[2]
    for p in (0, 1):
        model = solve_dual(gram, y, np.where(np.arange(3) == p, 0.0, C), tol=1e-10)
        assert model.decision[p] == pytest.approx(1.0)
        assert exact_loo_decision(gram, solution)[p] == pytest.approx(model.decision[p], abs=1e-8)


@pytest.mark.parametrize("seed", [7, 8, 9])
def test_values_that_are_0_up_to_rounding_are_0_in_any_order_of_the_rows(seed):
    rng = np.random.default_rng(seed)
    Z = np.round(rng.normal(size=(40, 2)))
    y = np.where(Z[:, 0] + rng.normal(size=40) > 0, 1, -1)
    order = rng.permutation(40)
    for kernel in ("linear", "rbf"):
        svc = SVC(kernel=kernel, C=0.5)
        values, permuted = exact_loo(svc, Z, y), exact_loo(svc, Z[order], y[order])
        np.testing.assert_allclose(values[order], permuted, atol=1e-7)
        np.testing.assert_array_equal(np.sign(values[order]), np.sign(permuted))


@pytest.mark.parametrize("C", [0.02, 0.1])
def test_removals_are_followed_where_every_vector_is_bounded(C):
    rng = np.random.default_rng(0)
    y = np.repeat([-1.0, 1.0], 20)
    gram = HeldGram(Kernel("rbf", gamma=0.3)(rng.normal(size=(40, 3)) + 0.5 * y[:, None]))
    solution = solve_dual(gram, y, np.full(40, C), tol=1e-8)
    assert solution.bounded.all()
    followed = (
        Follower(gram, solution).follow(np.arange(40)).decision
    )  # NaN where that was given up
    retrained, _, _ = retrain(gram, solution, np.arange(40))
    np.testing.assert_allclose(followed, retrained, atol=1e-8)
