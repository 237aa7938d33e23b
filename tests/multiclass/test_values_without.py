"""Values of machines without a row, against models trained again without it."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from spansvm import SpanSVC
from spansvm.blocks import ValuesWithout


def permuted(Z, column):
    Z = Z.copy()
    Z[:, column] = np.random.default_rng(0).permutation(Z[:, column])
    return Z


def values_of(model, places, sets=None):
    without = ValuesWithout(model.machines_, sets)
    without.prepare(np.arange(len(places)))
    return without.values(places, 1)[0]


def retrained(Z, y, other, stays, weight=None, **settings):
    """The values of LibSVM's model of some rows, for `other` rows; second class positive."""
    model = SVC(tol=1e-10, decision_function_shape="ovo", **settings)
    model.fit(Z[stays], y[stays], None if weight is None else weight[stays])
    values = model.decision_function(other)
    return values[:, None] if values.ndim == 1 else -values


@pytest.mark.parametrize(("kernel", "C"), [("rbf", 10), ("linear", 10), ("poly", 1)])
def test_they_are_those_of_models_trained_without_the_row(kernel, C):
    X, y = load_breast_cancer(return_X_y=True)
    Z, y, settings = minmax_scale(X[:60, :4]), y[:60], {"C": C, "gamma": 1.0, "kernel": kernel}
    model, places = SpanSVC(tol=1e-8, **settings).fit(Z, y), permuted(Z, 3)
    ours = values_of(model, places)
    for row in range(y.size):
        expected = retrained(Z, y, places[[row]], np.arange(60) != row, **settings)
        assert ours[row] == pytest.approx(expected[0], abs=1e-4)


def test_the_same_holds_for_three_classes_and_for_weights():
    X, y = load_wine(return_X_y=True)
    Z, y = minmax_scale(X[::3, :5]), y[::3]
    weight = np.random.default_rng(0).uniform(0.2, 2.0, y.size)
    model = SpanSVC(C=3, gamma=1.0, tol=1e-8).fit(Z, y, sample_weight=weight)
    places = permuted(Z, 0)
    ours = values_of(model, places)
    for row in range(0, y.size, 2):
        stays = np.arange(y.size) != row
        expected = retrained(Z, y, places[[row]], stays, weight, C=3, gamma=1.0)
        assert ours[row] == pytest.approx(expected[0], abs=1e-4)


def test_whole_sets_are_left_out():
    X, y = load_breast_cancer(return_X_y=True)
    Z, y, groups = minmax_scale(X[:80, :3]), y[:80], np.arange(80) // 4
    model, places = SpanSVC(C=10, gamma=0.7, tol=1e-8).fit(Z, y, groups=groups), permuted(Z, 1)
    ours = values_of(model, places, model.left_out_sets_)
    for group in range(20):
        rows, stays = groups == group, groups != group
        expected = retrained(Z, y, places[rows], stays, C=10, gamma=0.7)
        assert ours[rows] == pytest.approx(expected, abs=1e-4)
