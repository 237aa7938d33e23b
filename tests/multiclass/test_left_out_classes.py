"""Values of unseen rows and what they mean for a classifier, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from spansvm import SpanSVC
from spansvm.common.methods import METHODS, predicts
from spansvm.multiclass.calibration import PairSigmoids, Sigmoid
from spansvm.multiclass.left_out import LeftOutClasses, StoredValues

X, Y = load_wine(return_X_y=True)
X = minmax_scale(X)


def held(values, indices, n_classes, used=None, **options) -> LeftOutClasses:
    values = np.asarray(values, dtype=float)
    sigmoids = PairSigmoids([Sigmoid(1.0, 0.0)] * values.shape[1], n_classes)
    used = np.ones(len(indices), dtype=bool) if used is None else np.asarray(used)
    stored = StoredValues(values, values, values)
    return LeftOutClasses(stored, np.asarray(indices), n_classes, used, sigmoids, **options)


def test_a_value_of_exactly_0_is_an_error_of_either_class_when_left_out():
    zeros = held([[0.0], [0.0]], [0, 1], 2)
    assert zeros.wrong().tolist() == [True, True]
    # Test rows are counted as predict would have it: 0 is the second class.
    tested = held([[0.0], [0.0]], [0, 1], 2, zero_is_lost=False)
    assert tested.wrong().tolist() == [True, False]


def test_rows_that_do_not_count_are_in_no_mean():
    left_out = held([[2.0], [-0.5], [-3.0]], [1, 1, 1], 2, used=[True, True, False])
    assert left_out.error() == 0.5
    assert left_out.error(weight=np.array([3.0, 1.0, 9.0])) == 0.25
    assert left_out.hinge == pytest.approx((0.0 + 1.5) / 2)
    np.testing.assert_array_equal(left_out.margin, [2.0, -0.5, np.nan])


def test_hinge_and_margin_are_those_of_the_own_class_in_its_own_pairs():
    # Pairs (0, 1), (0, 2), (1, 2); positive for the second.
    values = [[-0.5, 2.0, 9.0], [0.25, 9.0, -4.0], [9.0, -1.0, 0.5]]
    left_out = held(values, [0, 1, 2], 3)
    own = [[0.5, -2.0], [0.25, 4.0], [-1.0, 0.5]]
    np.testing.assert_array_equal(left_out.margin, np.min(own, axis=1))
    assert left_out.hinge == pytest.approx(np.maximum(0.0, 1.0 - np.ravel(own)).mean())


def test_a_class_that_the_model_does_not_know_is_wrong_and_has_no_hinge_loss():
    left_out = held([[3.0], [3.0]], [1, -1], 2, zero_is_lost=False)
    assert left_out.wrong().tolist() == [False, True]
    assert left_out.hinge == 0.0
    assert np.isnan(held([[3.0]], [-1], 2).hinge)


def test_what_is_stored_says_the_same_as_what_is_computed():
    model = SpanSVC(C=10.0).fit(X, Y)
    left_out, stored = model.left_out_, model.without_training_rows().left_out_
    np.testing.assert_array_equal(left_out.wrong(), stored.wrong())
    np.testing.assert_array_equal(left_out.margin, stored.margin)
    np.testing.assert_array_equal(left_out.probabilities, stored.probabilities)
    assert left_out.hinge == stored.hinge
    assert model.loo_error_ == left_out.error() == np.mean(left_out.wrong())


def test_a_method_either_predicts_or_is_a_number_for_two_classes():
    assert predicts("span_rule")
    assert predicts("kfold")
    assert not predicts("span_count")
    assert all(method.from_one_model for method in METHODS.values() if not method.predicts)
