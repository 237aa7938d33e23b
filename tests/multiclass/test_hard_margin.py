"""``C = inf``: the classes are separated, or a warning says that they are not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from spansvm import SpanSearch, SpanSVC, exact_loo

IRIS = load_iris(return_X_y=True)


def separable():
    X, y = load_breast_cancer(return_X_y=True)
    return {
        "two of iris, linear": ({"kernel": "linear"}, IRIS[0][:100], IRIS[1][:100]),
        "breast cancer": ({}, minmax_scale(X), y),
        "generated": ({}, *make_classification(random_state=1)),
        "three classes": ({"gamma": 2.0}, *IRIS),
    }


@pytest.mark.parametrize("name", separable())
def test_an_infinite_weight_is_the_hard_margin_of_svc(name):
    options, X, y = separable()[name]
    ours = SpanSVC(C=np.inf, tol=1e-6, **options).fit(X, y)
    theirs = SVC(C=float("inf"), tol=1e-6, **options).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), y)
    # LibSVM's kernel values are in single precision.
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), rtol=1e-3, atol=1e-3
    )
    larger = SpanSVC(C=1e3 * np.abs(ours.dual_coef_).max(), tol=1e-6, **options).fit(X, y)
    np.testing.assert_allclose(ours.dual_coef_, larger.dual_coef_, rtol=1e-6)
    assert ours.fit_status_ == 0


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_the_unit_of_the_features_does_not_matter(unit):
    X, y = IRIS[0][:100], IRIS[1][:100]
    plain = SpanSVC(C=np.inf, kernel="linear").fit(X, y)
    scaled = SpanSVC(C=np.inf, kernel="linear").fit(unit * X, y)
    np.testing.assert_allclose(scaled.decision_function(unit * X), plain.decision_function(X))


def test_left_out_values_are_those_of_machines_without_bounds():
    _, X, y = separable()["breast cancer"]
    model = SpanSVC(C=np.inf, gamma=0.5).fit(X, y)
    exact = exact_loo(SpanSVC(C=1e10, gamma=0.5), X, y)
    assert np.mean((exact > 0) == (model.loo_decision_function_ > 0)) > 0.995
    assert np.median(np.abs(exact - model.loo_decision_function_)) < 1e-3


@pytest.mark.parametrize(
    ("options", "X", "y"),
    [
        ({"kernel": "linear"}, IRIS[0][50:], IRIS[1][50:]),
        ({}, np.array([[0.0], [0.0], [1.0], [2.0]]), np.array([0, 1, 0, 1])),
    ],
    ids=["overlapping", "contradicting"],
)
def test_classes_that_cannot_be_separated_are_reported(options, X, y):
    with pytest.warns(ConvergenceWarning, match="none was found that does") as caught:
        model = SpanSVC(C=np.inf, **options).fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert np.isfinite(model.decision_function(X)).all()
    assert model.fit_status_ == 1


def test_rows_of_zero_weight_stay_out_and_other_weights_do_not_matter():
    X, y = (part[50:].copy() for part in IRIS)
    plain = SpanSVC(C=1e6, kernel="linear").fit(X, y)
    weight = np.where(plain.predict(X) == y, 0.5 + (y > 1), 0.0)
    rows = weight > 0
    weighted = SpanSVC(C=np.inf, kernel="linear").fit(X, y, sample_weight=weight)
    removed = SpanSVC(C=np.inf, kernel="linear").fit(X[rows], y[rows])
    np.testing.assert_allclose(
        weighted.decision_function(X), removed.decision_function(X), atol=1e-6
    )


def test_other_functions_say_that_they_need_a_number():
    X, y = IRIS[0][:100], IRIS[1][:100]
    with pytest.raises(ValueError, match=r"supported by SpanSVC\.fit alone"):
        exact_loo(SpanSVC(C=np.inf), X, y)
    with pytest.raises(ValueError, match=r"supported by SpanSVC\.fit alone"):
        SpanSearch(SpanSVC(), {"C": [np.inf]}).fit(X, y)
