from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import ParameterGrid
from sklearn.svm import SVC

from spansvm import ClassWeighting, SigmoidWeighting, SpanSVC
from spansvm.common.pairs import couple, one_vs_rest, votes
from spansvm.estimators.weighting import PAPER_CLASS_WEIGHTS, PAPER_SIGMOIDS, check_scores
from spansvm.multiclass.calibration import fit_sigmoid
from spansvm.scores import centre_closeness, local_density, neighbour_agreement


def test_class_weights_are_the_bounds_of_the_classes():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 3)), rng.integers(0, 2, 80)
    model = SpanSVC(tol=1e-6, weighting=ClassWeighting(positive=8.0, negative=0.25)).fit(X, y)
    svc = SVC(C=1.0, tol=1e-6, class_weight={0: 0.25, 1: 8.0}).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(X), atol=1e-4)
    with pytest.raises(ValueError, match="ClassWeighting is for two classes; y has 3"):
        SpanSVC(weighting=ClassWeighting()).fit(X, np.arange(80) % 3)


def test_the_sigmoid_is_that_of_the_paper():
    q = np.linspace(0, 1, 11)
    for A, B, C in ((1, 0.0, 2.0**-6), (10, 0.9, 2.0**10), (4, 0.5, 1.0)):
        weighting = SigmoidWeighting(steepness=A, midpoint=B, ceiling=C)
        expected = np.maximum(C / (1 + np.exp(-A * (q - B))), 0.01)
        np.testing.assert_allclose(weighting.instance_weights(q > 0.5, q), expected)
    steep = SigmoidWeighting(steepness=1e6).instance_weights(q > 0.5, q)
    assert np.isfinite(steep).all()
    with pytest.raises(ValueError, match="floor of SigmoidWeighting must be a number"):
        SigmoidWeighting(floor=-1.0).instance_weights(q > 0.5, q)


@pytest.mark.parametrize("function", [centre_closeness, neighbour_agreement, local_density])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_ready_made_scores_tell_an_outlier(function, form):
    rng = np.random.default_rng(0)
    X = np.concatenate((rng.normal(0, 1, (40, 2)), rng.normal(6, 1, (40, 2))))
    y = np.repeat(["a", "b"], 40)
    X[0] = 6.0, 6.0  # an "a" among the "b"
    scores = function(form(X), y)
    assert scores.shape == (80,)
    assert scores.min() >= 0
    assert scores.max() <= 1
    assert scores[0] < np.quantile(scores[:40], 0.1)


def test_the_centre_of_its_class_has_the_full_score():
    X = np.random.default_rng(0).normal(size=(200, 4))
    np.testing.assert_array_equal(centre_closeness(X, np.arange(200)), 1.0)
    np.testing.assert_array_equal(centre_closeness(np.full((6, 3), 0.1), [0, 0, 0, 1, 1, 1]), 1.0)
    y = np.arange(200) % 2
    np.testing.assert_allclose(centre_closeness(X + 1e7, y), centre_closeness(X, y), atol=1e-6)
    np.testing.assert_allclose(
        centre_closeness(sparse.csr_matrix(X), y), centre_closeness(X, y), atol=1e-6
    )


def test_density_does_not_depend_on_units():
    X = np.concatenate((np.zeros((8, 2)), np.random.default_rng(0).normal(size=(4, 2))))
    y = np.zeros(12)
    np.testing.assert_allclose(local_density(X * 1000, y), local_density(X, y))


def test_scores_of_degenerate_data():
    X, y = np.ones((5, 2)), np.array([0, 0, 0, 0, 1])
    for function in (centre_closeness, neighbour_agreement, local_density):
        scores = function(X, y)
        assert np.isfinite(scores).all()
        assert scores.min() >= 0
        assert scores.max() <= 1
    with pytest.raises(ValueError, match="n_neighbors must be at least 1"):
        neighbour_agreement(X, y, n_neighbors=0)
    with pytest.raises(ValueError, match="At least two instances"):
        neighbour_agreement(X[:1], y[:1])


def test_the_fitted_sigmoid_is_the_most_likely_one():
    rng = np.random.default_rng(0)
    values = rng.normal(0, 2, 4000)
    positive = rng.random(4000) < 1 / (1 + np.exp(-(1.5 * values - 0.7)))
    sigmoid = fit_sigmoid(values, positive)
    assert sigmoid.slope == pytest.approx(1.5, rel=0.1)
    assert sigmoid.offset == pytest.approx(-0.7, abs=0.15)
    # Scale of the values, however extreme, only scales the slope.
    for scale in (1e-12, 1e12):
        scaled = fit_sigmoid(values * scale, positive)
        np.testing.assert_allclose(scaled(values * scale), sigmoid(values), atol=1e-6)
    moved = fit_sigmoid(values + 1e6, positive)
    np.testing.assert_allclose(moved(values + 1e6), sigmoid(values), atol=1e-6)
    contrary = fit_sigmoid(-values, positive)
    assert contrary.slope == 0.0
    assert contrary(np.zeros(1))[0] == pytest.approx(positive.mean(), abs=1e-3)
    separated = fit_sigmoid(np.array([-1.0, -1.0, 1.0, 1.0]), np.arange(4) > 1)
    assert 0.5 < separated(np.array([1.0]))[0] < 0.95


def test_pairwise_probabilities_of_consistent_pairs_are_recovered():
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(4), size=50)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    pairwise = np.column_stack([truth[:, j] / (truth[:, i] + truth[:, j]) for i, j in pairs])
    np.testing.assert_allclose(couple(pairwise, 4), truth, atol=1e-4)


def test_votes_and_sums():
    values = np.array([[2.0, -1.0, 0.5]])  # 1 beats 0, 0 beats 2, 2 beats 1
    np.testing.assert_array_equal(votes(values, 3), [[1, 1, 1]])
    sums = np.array([[-1.0, 1.5, -0.5]])
    np.testing.assert_allclose(one_vs_rest(values, 3), 1 + sums / (3 * (np.abs(sums) + 1)))
    zero = np.zeros((1, 3))
    np.testing.assert_array_equal(votes(zero, 3), [[0, 1, 2]])
    np.testing.assert_array_equal(one_vs_rest(zero, 3), [[2, 1, 0]])


def test_the_values_that_are_tried_are_those_of_the_paper():
    assert (PAPER_CLASS_WEIGHTS[0], PAPER_CLASS_WEIGHTS[-1]) == (2.0**-6, 2.0**10)
    np.testing.assert_allclose(np.diff(np.log2(PAPER_CLASS_WEIGHTS)), 0.5)
    assert len(ParameterGrid(PAPER_SIGMOIDS)) == 1700
    SigmoidWeighting().set_params(**ParameterGrid(PAPER_SIGMOIDS)[0])


@pytest.mark.parametrize("wrong", [-0.01, 1.01])
def test_scores_just_outside_their_range_are_refused(wrong):
    scores = np.array([0.0, 0.5, 1.0, wrong])
    with pytest.raises(ValueError, match="scores must be between 0 and 1; they range from"):
        check_scores(scores, 4)
    np.testing.assert_array_equal(check_scores(scores[:3], 3), scores[:3])
