"""The exact SVR that scores of regressions are compared with, against a general QP solver."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_friedman1
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from tests.exact_svr import ExactSVR, exact

X, Y = make_friedman1(70, noise=1.0, random_state=0)
NEW = X[:20] + 0.05


def multipliers(K, y, bounds, epsilon):
    """Those of the dual problem, by clarabel: with a tube, one variable for either side of it."""
    n = y.size
    if epsilon > 0:
        P, q = np.block([[K, -K], [-K, K]]), np.append(epsilon - y, epsilon + y)
        total, lower, upper = (
            np.append(np.ones(n), -np.ones(n)),
            np.zeros(2 * n),
            np.tile(bounds, 2),
        )
    else:
        P, q, total, lower, upper = K, -y, np.ones(n), -bounds, bounds
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(P)), q,
        sparse.csc_matrix(np.vstack([total, np.eye(q.size), -np.eye(q.size)])),
        np.concatenate([[0.0], upper, -lower]),
        [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * q.size)], settings,
    )  # fmt: skip
    x = np.array(solver.solve().x)
    return x[:n] - x[n:] if epsilon > 0 else x


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("C", [0.1, 10.0, 100.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_it_predicts_what_a_general_solver_finds(kernel, C, epsilon):
    weights = np.linspace(0.5, 1.5, 70)
    settings = {"kernel": kernel, "C": C, "epsilon": epsilon, "gamma": 0.3, "coef0": 1.0}
    found = ExactSVR(**settings, tol=1e-10).fit(X, Y, weights).predict(NEW)
    options = {"metric": kernel, "filter_params": True, "gamma": 0.3, "coef0": 1.0, "degree": 3}
    K = pairwise_kernels(X, **options)
    beta = multipliers(K, Y, C * weights, epsilon)
    expected = pairwise_kernels(NEW, X, **options) @ beta
    # The intercept aside, which the solver does not give: see the next test.
    np.testing.assert_allclose(found - found.mean(), expected - expected.mean(), atol=1e-6)


def test_rows_between_zero_and_bound_are_on_the_edge_of_the_tube():
    model = ExactSVR(C=10.0, epsilon=0.5, gamma=0.3, tol=1e-10).fit(X, Y)
    residual = Y - model.predict(X)
    free = (model._beta != 0) & (abs(model._beta) < 10.0 * (1 - 1e-9))
    assert free.sum() > 5
    np.testing.assert_allclose(abs(residual[free]), 0.5, atol=1e-9)


def test_libsvm_is_not_exact_however_small_its_tolerance():
    settings = {"C": 100.0, "epsilon": 0.1, "gamma": 0.01}
    true = ExactSVR(**settings, tol=1e-10).fit(X, Y).predict(NEW)
    off = [
        abs(SVR(**settings, tol=tol).fit(X, Y).predict(NEW) - true).max() for tol in (1e-8, 1e-11)
    ]
    assert min(off) > 1e-6
    assert max(off) < 1e-3


def test_every_svr_inside_an_estimator_becomes_exact():
    model = TransformedTargetRegressor(make_pipeline(StandardScaler(), SVR(C=7.0)))
    machine = exact(model).regressor.named_steps["svr"]
    assert (type(machine), machine.C) == (ExactSVR, 7.0)
    assert type(model.regressor.named_steps["svr"]) is SVR
    assert type(exact(SVR())) is ExactSVR
