"""What ``analyze`` and ``exact_loo`` say of a regression."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale
from sklearn.svm import SVR

from spansvm import SpanSVR, analyze, exact_loo


@pytest.fixture(scope="module")
def data():
    X, y = load_diabetes(return_X_y=True)
    return scale(X)[:120], y[:120]


def random_problem(rng):
    n = int(rng.integers(8, 30))
    X = rng.normal(size=(n, 2))
    y = rng.normal(size=n) * rng.choice([0.5, 3.0]) + X[:, 0]
    model = SpanSVR(
        C=10.0 ** rng.uniform(-2, 2),
        gamma=10.0 ** rng.uniform(-2, 1),
        epsilon=rng.choice([0.0, 0.05, 0.3, 1.0]),
    )
    return model.fit(X, y, rng.uniform(0.1, 3.0, n)), y


def test_bounds_bound_the_left_out_error_of_every_model_that_has_spans():
    rng, bounded = np.random.default_rng(0), 0
    for _ in range(150):
        model, y = random_problem(rng)
        analysis = analyze(model)
        error = np.abs(y - analysis.exact_prediction)
        assert error.mean() <= analysis.span_bound * (1.0 + 1e-9)
        assert analysis.span_bound <= analysis.radius_bound * (1.0 + 1e-9)
        if analysis.in_bound.any():
            assert (error > analysis.epsilon * (1 + 1e-7) + 1e-7).mean() <= analysis.sv_count
        bounded += np.isfinite(analysis.span_bound)
    assert bounded > 50


def test_without_changes_of_sets_the_residual_grows_by_the_squared_span(data):
    X, y = data
    analysis = analyze(SpanSVR(C=1000, gamma=0.3, epsilon=5).fit(X, y))
    seen = y - analysis.decision
    grown = np.sign(analysis.beta) * (seen + analysis.beta * analysis.span**2)
    left_out = np.sign(analysis.beta) * (y - analysis.loo_prediction)
    support = analysis.in_bound | analysis.bounded
    np.testing.assert_allclose(left_out[support], grown[support], rtol=1e-9)
    np.testing.assert_array_equal(analysis.loo_prediction[~support], analysis.decision[~support])


def test_an_svr_of_scikit_learn_is_analysed_with_its_training_rows(data):
    X, y = data
    svr = SVR(C=30, gamma=0.05, epsilon=10).fit(X, y)
    ours = analyze(SpanSVR(C=30, gamma=0.05, epsilon=10).fit(X, y))
    theirs = analyze(svr, X, y)
    assert theirs.span_absolute == ours.span_absolute
    assert "predicted mean absolute left-out error" in str(theirs)
    assert repr(theirs).startswith("RegressionAnalysis of 120 instances")
    with pytest.raises(ValueError, match="must be what the model was fitted on"):
        analyze(svr, X, y[::-1])
    with pytest.raises(ValueError, match="does not keep its training data"):
        analyze(svr)
    with pytest.raises(ValueError, match=r"call analyze\(model\)"):
        analyze(SpanSVR().fit(X, y), X, y)
    with pytest.raises(ValueError, match="fit a SpanSVR with groups"):
        analyze(svr, X, y, groups=np.arange(120))


@pytest.mark.parametrize("epsilon", [0.0, 10.0])
def test_exact_leave_one_out_is_that_of_retraining(data, epsilon):
    X, y = data
    svr = SVR(C=30, gamma=0.05, epsilon=epsilon, tol=1e-9)
    values = exact_loo(svr, X, y)
    for row in range(0, 120, 10):
        rest = np.arange(120) != row
        again = svr.fit(X[rest], y[rest]).predict(X[[row]])[0]
        assert values[row] == pytest.approx(again, abs=1e-3)
    people = np.arange(120) // 4
    groups = exact_loo(svr, X, y, groups=people)
    rest = people != 7
    again = svr.fit(X[rest], y[rest]).predict(X[~rest])
    np.testing.assert_allclose(groups[~rest], again, atol=1e-3)
