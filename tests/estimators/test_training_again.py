"""The settings of a fitted model on other rows are those of ``fit`` there."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.preprocessing import minmax_scale

from spansvm import SpanSVC, SpanSVR
from spansvm.blocks import jackknife, numbers_of, sets_of, train_again

HALF = np.arange(0, 160, 2)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return minmax_scale(X), y


@pytest.fixture(scope="module")
def patients():
    X, y = load_diabetes(return_X_y=True)
    return minmax_scale(X[:160]), y[:160]


def test_classes_are_left_out_as_by_a_model_of_these_rows(wine):
    X, y = wine
    model = SpanSVC(C=5, gamma=0.8).fit(X, y)
    machines, left_out = train_again(model, X[HALF], y[HALF], np.full(HALF.size, 5.0))
    expected = SpanSVC(C=5, gamma=0.8).fit(X[HALF], y[HALF])
    np.testing.assert_allclose(machines.intercepts, expected.machines_.intercepts, atol=1e-9)
    np.testing.assert_allclose(left_out.margin, expected.loo_margin_, atol=1e-6)


def test_bounds_are_those_that_are_given_and_groups_leave_together(wine):
    X, y = wine
    bounds, groups = np.where(y[HALF] == 1, 2.0, 0.5), HALF % 20
    sets = sets_of(groups)
    model = SpanSVC(C=5).fit(X, y)
    _, left_out = train_again(model, X[HALF], y[HALF], bounds, sets, kernel="linear")
    expected = SpanSVC(C=1, kernel="linear").fit(
        X[HALF], y[HALF], sample_weight=bounds, groups=groups
    )
    np.testing.assert_allclose(left_out.margin, expected.loo_margin_, atol=1e-6)
    assert [rows.tolist() for rows in sets_of(numbers_of(sets, HALF.size))] == [
        rows.tolist() for rows in sets
    ]


def test_targets_are_left_out_as_by_a_model_of_these_rows(patients):
    X, y = patients
    model = SpanSVR(C=50, gamma=0.8, epsilon=3.0).fit(X, y)
    for changed, epsilon in (({}, 3.0), ({"epsilon": 10.0}, 10.0)):
        machines, left_out = train_again(
            model, X[HALF], y[HALF], np.full(HALF.size, 50.0), **changed
        )
        expected = SpanSVR(C=50, gamma=0.8, epsilon=epsilon).fit(X[HALF], y[HALF])
        np.testing.assert_allclose(left_out.residuals, expected.loo_residual_, atol=0.05)
        found = jackknife(machines, None).interval(X[:5], 0.9)
        np.testing.assert_allclose(found, expected.predict_interval(X[:5], 0.9), atol=0.5)
