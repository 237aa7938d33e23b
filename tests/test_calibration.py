"""Sigmoids of decision values: the most likely ones, whatever the origin and the outliers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, xlogy

from spansvm.calibration import PairSigmoids, Sigmoid, fit_sigmoid, limit_outliers


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
