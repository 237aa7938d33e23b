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
from spansvm.dual import solve_dual
from spansvm.following import follow, retrain
from spansvm.gram import Gram
from spansvm.kernels import resolve_kernel

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
    with pytest.raises(TypeError, match="must be an SVC or a SpanSVC; got LinearSVC"):
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
    gram = Gram(resolve_kernel("rbf", Z, gamma=0.5)(Z))
    solution = solve_dual(gram, y, C * rng.uniform(0.5, 2.0, y.size), tol=1e-10)
    rows = np.flatnonzero(solution.support)
    followed = follow(gram, solution, rows).decision
    assert np.isfinite(followed).all()
    trained = [retrain(gram, solution, p)[0] for p in rows]
    np.testing.assert_allclose(followed, trained, atol=1e-6)
