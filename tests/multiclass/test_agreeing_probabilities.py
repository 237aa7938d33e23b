"""With two classes the most probable class is the predicted one, for new and for left-out rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from spansvm import SpanSearch, SpanSVC
from spansvm.models import load_model, save_model
from spansvm.multiclass.calibration import PairSigmoids, Sigmoid, agreeing


def data(n=160, rare=0.25, seed=0):
    return make_classification(
        n, n_features=5, flip_y=0.2, weights=[1 - rare], class_sep=0.6, random_state=seed
    )


WEIGHTS = {"equal": None, "balanced": "balanced", "ten": {1: 10.0}, "a hundredth": {1: 0.01}}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_most_probable_class_is_the_predicted_one(weights, C, tmp_path):
    X, y = data()
    labels = np.array(["no", "yes"])[y]
    model = SpanSVC(C=C, class_weight=None if weights == "equal" else "balanced")
    if weights not in ("equal", "balanced"):
        model.set_params(class_weight={"yes": WEIGHTS[weights][1]})
    model.fit(X, labels)
    new, _ = data(1000, seed=1)
    probability, predicted = model.predict_proba(new), model.predict(new)
    np.testing.assert_array_equal(model.classes_[probability.argmax(axis=1)], predicted)
    in_single = probability.astype(np.float32)
    np.testing.assert_array_equal(model.classes_[in_single.argmax(axis=1)], predicted)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, atol=1e-15)
    left_out = model.loo_predict_proba_
    np.testing.assert_array_equal(model.classes_[left_out.argmax(axis=1)], model.loo_predict_)
    save_model(tmp_path / "model.skops", model)
    loaded = load_model(tmp_path / "model.skops").model
    np.testing.assert_array_equal(loaded.predict_proba(new), probability)
    np.testing.assert_array_equal(loaded.loo_predict_proba_, left_out)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_only_probabilities_that_contradict_are_moved_and_hardly_beyond_one_half(weights):
    X, y = data()
    model = SpanSVC(class_weight=WEIGHTS[weights]).fit(X, y)
    new, _ = data(2000, seed=1)
    moved, calibrated = model.predict_proba(new), model.predict_calibrated_proba(new)
    agrees = calibrated[np.arange(2000), model.predict(new)] > 0.501
    np.testing.assert_array_equal(moved[agrees], calibrated[agrees])
    rest = moved[~agrees]
    assert ((rest.max(axis=1) > 0.5) & (rest.max(axis=1) <= 0.501)).all()
    if weights == "ten":
        assert np.mean(~agrees) > 0.1
    # The order is that of the decision values, strictly.
    values = model.decision_function(new)
    order = np.argsort(values)
    apart = np.diff(values[order]) > 1e-6
    assert (np.diff(moved[order, 1])[apart] > 0).all()
    assert roc_auc_score(values > np.median(values), moved[:, 1]) == 1.0


@pytest.mark.parametrize("sigmoid", [Sigmoid(0.0, -2.0), Sigmoid(0.0, 0.0), Sigmoid(0.0, 1.0)])
def test_constant_probabilities_agree_too(sigmoid):
    values = np.array([[-3.0], [-1e-300], [0.0], [1e-300], [2.0]])
    probability = PairSigmoids([sigmoid], 2)(values)
    # A value of exactly 0 is predicted as the second class, as in SVC.
    assert list(probability.argmax(axis=1)) == [0, 0, 1, 1, 1]
    share = sigmoid(np.zeros(1))[0]
    np.testing.assert_allclose(probability[0, 0], max(1 - share, 0.5), atol=2e-4)
    np.testing.assert_allclose(probability[-1, 1], max(share, 0.5), atol=2e-4)


def test_the_two_classes_are_treated_alike():
    rng = np.random.default_rng(0)
    second = rng.random(50)
    probability, predicted = np.column_stack((1 - second, second)), rng.integers(0, 2, 50)
    swapped = agreeing(probability[:, ::-1], 1 - predicted)
    np.testing.assert_array_equal(swapped[:, ::-1], agreeing(probability, predicted))


def test_a_value_of_exactly_zero_is_as_probable_as_predicted():
    K = np.zeros((4, 4))
    model = SpanSVC(kernel="precomputed").fit(K, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.decision_function(K), 0.0)
    np.testing.assert_array_equal(model.predict_proba(K).argmax(axis=1), model.predict(K))


def test_scorers_in_a_search_see_the_probabilities_that_the_model_gives():
    X, y = data()

    def agrees(estimator, X, y):
        return np.mean(estimator.predict_proba(X).argmax(axis=1) == estimator.predict(X))

    grid = {"C": [0.1, 10.0], "class_weight": [None, {1: 10.0}]}
    for cv in (None, 3):
        search = SpanSearch(SpanSVC(), grid, scoring=agrees, cv=cv).fit(X, y)
        np.testing.assert_array_equal(search.cv_results_["mean_test_score"], 1.0)


def test_more_classes_are_as_the_sigmoids_give_them():
    X, y = (part[:300] for part in load_digits(return_X_y=True))
    model = SpanSVC().fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_calibrated_proba(X))


def test_of_more_classes_the_most_probable_may_be_another_than_the_predicted_one_as_in_svc():
    X, y = load_wine(return_X_y=True)
    model, peer = SpanSVC().fit(X, y), SVC().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    for probability, predicted in (
        (model.predict_proba(X), model.predict(X)),
        (model.loo_predict_proba_, model.loo_predict_),
    ):
        assert 0.0 < np.mean(probability.argmax(axis=1) != predicted) < 0.25
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # `probability` goes with scikit-learn 1.11
        peer.set_params(probability=True, class_weight="balanced", random_state=0).fit(X, y)
    assert np.mean(peer.predict_proba(X).argmax(axis=1) != peer.predict(X)) > 0.0


# Out-of-sample probabilities ----------------------------------------------------------


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_flipped_labels_are_found_as_well_as_with_folds(load):
    X, y = (part[:500] for part in load(return_X_y=True))
    X, k = minmax_scale(X), y.max() + 1
    found = {"left out": 0, "folds": 0}
    for seed in range(2):
        rng = np.random.default_rng(seed)
        flipped = rng.permutation(y.size)[:25]
        noisy = y.copy()
        noisy[flipped] = (y[flipped] + rng.integers(1, k, 25)) % k
        model = SpanSVC().fit(X, noisy)
        folds = cross_val_predict(SpanSVC(), X, noisy, cv=5, method="predict_proba")
        for name, probability in (("left out", model.loo_predict_proba_), ("folds", folds)):
            lowest = np.argsort(probability[np.arange(y.size), noisy])[:25]
            found[name] += np.isin(lowest, flipped).sum()
    assert found["left out"] >= 40
    assert found["left out"] >= found["folds"] - 2


def test_left_out_probabilities_do_not_know_the_label():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    model = SpanSVC(C=100.0).fit(X, y)
    own = np.arange(300), y
    assert model.predict_calibrated_proba(X)[own].mean() >= 0.5
    assert abs(model.loo_predict_proba_[own].mean() - 0.5) < 0.05


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_of_zero_weight_have_the_probabilities_of_new_rows(n_classes):
    X, y = make_classification(120, n_informative=4, n_classes=n_classes, random_state=0)
    weight = (np.arange(120) % 4 > 0).astype(float)
    model = SpanSVC().fit(X, y, sample_weight=weight)
    absent, probability = weight == 0, model.loo_predict_proba_
    assert np.isfinite(probability).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_allclose(probability[absent], model.predict_proba(X[absent]), atol=1e-6)
    removed = SpanSVC(gamma=model._gamma).fit(X[~absent], y[~absent])
    np.testing.assert_allclose(probability[~absent], removed.loo_predict_proba_, atol=1e-2)


def test_with_groups_a_row_is_left_out_with_its_group():
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(30), 8)
    X = rng.normal(size=(30, 4))[people] + 0.3 * rng.normal(size=(240, 4))
    y = rng.integers(0, 2, 30)[people]
    own = np.arange(240), y
    alone, grouped = SpanSVC().fit(X, y), SpanSVC().fit(X, y, groups=people)
    # Of a person whose other rows are known, the label is known.
    assert alone.loo_predict_proba_[own].mean() > 0.7
    assert grouped.loo_predict_proba_[own].mean() < 0.6
    probable = grouped.loo_predict_proba_.argmax(axis=1)
    np.testing.assert_array_equal(probable, grouped.loo_predict_)
