"""Sigmoids of decision values: the most likely ones, whatever the origin and the outliers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, xlogy
from sklearn.metrics import log_loss

from spansvm import SpanSVC
from spansvm.multiclass.calibration import (
    PairSigmoids,
    Sigmoid,
    fit_sigmoid,
    left_out_shifts,
    limit_outliers,
)


def values_and_labels(seed=0, n=60):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    return rng.standard_normal(n) + 1.5 * positive, positive


@pytest.mark.parametrize("prior", [0.25, 1.0])
def test_the_sigmoid_is_the_most_likely_one_for_the_targets_of_platt(prior):
    values, positive = values_and_labels()
    n_positive, n_negative = positive.sum(), (~positive).sum()
    target = np.where(
        positive,
        (n_positive + prior) / (n_positive + 2 * prior),
        prior / (n_negative + 2 * prior),
    )

    def loss(parameters):
        p = expit(parameters[0] * values + parameters[1])
        return -(xlogy(target, p) + xlogy(1 - target, 1 - p)).sum()

    best = minimize(loss, [1.0, 0.0], tol=1e-12)
    sigmoid = fit_sigmoid(values, positive, prior)
    np.testing.assert_allclose([sigmoid.slope, sigmoid.offset], best.x, atol=1e-4)


def test_probabilities_do_not_depend_on_the_origin_and_the_unit_of_the_values():
    values, positive = values_and_labels()
    expected = fit_sigmoid(values, positive)(values)
    for origin, unit in ((1e4, 1.0), (-1e6, 1.0), (0.0, 1e-8), (5.0, 1e-3)):
        moved = origin + unit * values
        np.testing.assert_allclose(fit_sigmoid(moved, positive)(moved), expected, atol=1e-6)


def test_a_margin_far_below_all_others_does_not_flatten_the_sigmoid():
    values, positive = values_and_labels()
    plain = values + np.where(positive, 0.5, -0.5)  # of the model that has seen the labels
    astray = values.copy()
    first = np.flatnonzero(positive)[0]
    astray[first] = -1e5
    limited = limit_outliers(astray, plain, positive)
    others = np.arange(values.size) != first
    np.testing.assert_array_equal(limited[others], limit_outliers(values, plain, positive)[others])
    assert -20.0 < limited[first] < values[positive].min()
    # Where the model says the same of all, a limit by the label would pass the label on.
    np.testing.assert_array_equal(limit_outliers(astray, 0.01 * plain, positive), astray)


def test_probabilities_are_kept_from_0_and_1_as_far_as_in_libsvm():
    certain = PairSigmoids([Sigmoid(1000.0, 0.0)], 2)(np.array([[-1.0], [1.0]]))
    np.testing.assert_allclose(certain[:, 1], [1e-7, 1.0 - 1e-7], rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_without_a_row_its_odds_are_those_of_a_sigmoid_fitted_without_it(seed):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(150)
    positive = rng.random(150) < 1.0 / (1.0 + np.exp(-1.5 * values - 0.5))
    sigmoid = fit_sigmoid(values, positive, 0.5)
    found = left_out_shifts(sigmoid, values, values, positive, 0.5)
    for row in range(150):
        others = np.arange(150) != row
        without = fit_sigmoid(values[others], positive[others], 0.5)
        odds = without.slope * values[row] + without.offset
        expected = odds - (sigmoid.slope * values[row] + sigmoid.offset)
        assert found[row] == pytest.approx(expected, rel=0.1, abs=0.01)


def test_without_a_slope_only_the_share_of_the_class_changes():
    values, positive = np.zeros(40), np.arange(40) < 10
    sigmoid = fit_sigmoid(values, positive, 0.5)
    found = left_out_shifts(sigmoid, values, values, positive, 0.5)
    assert sigmoid.slope == 0.0
    assert np.unique(np.round(found, 12)).size == 2
    assert (found[positive] < 0).all()
    assert (found[~positive] > 0).all()


def test_the_log_loss_of_left_out_rows_is_that_of_new_rows_on_average():
    # Two parameters on 60 rows make it too small by about 2 / 60 if the sigmoid has seen the rows.
    differences = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((4060, 2))
        y = (X[:, 0] + rng.standard_normal(4060) > 0).astype(int)
        model = SpanSVC(C=0.5, gamma=0.2).fit(X[:60], y[:60])
        own = log_loss(y[:60], model.left_out_.calibrated_probabilities)
        new = log_loss(y[60:], model.predict_calibrated_proba(X[60:]))
        differences.append(own - new)
    error = np.std(differences) / np.sqrt(60)
    assert abs(np.mean(differences)) < 2.5 * error
    assert error < 0.015
