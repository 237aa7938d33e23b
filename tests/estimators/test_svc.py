from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_svmlight_file,
    load_wine,
)
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import LeaveOneOut, cross_val_predict, train_test_split
from sklearn.preprocessing import MinMaxScaler, minmax_scale
from sklearn.svm import SVC

from spansvm import ClassWeighting, SigmoidWeighting, SpanSVC, Weighting, analyze, exact_loo
from spansvm.kernels.pair_grams import Grams


def scaled(load):
    X, y = load(return_X_y=True)
    return minmax_scale(X), y


DATA = {
    "iris": scaled(load_iris),
    "wine": scaled(load_wine),
    "breast cancer": scaled(load_breast_cancer),
    "digits": tuple(part[:700] for part in scaled(load_digits)),
}
KERNELS = {
    "rbf": {"gamma": "scale"},
    "linear": {},
    "poly": {"gamma": 0.5, "degree": 2, "coef0": 1.0},
}


def assert_same_model(ours, theirs, X):
    """Labels on at least 99.9 % of the rows, decision values within 2e-3."""
    for shape in ("ovo", "ovr"):
        ours.set_params(decision_function_shape=shape)
        theirs.set_params(decision_function_shape=shape)
        # One-vs-rest counts votes: a pair within the tolerance of 0 may change one.
        near = np.isclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3, rtol=0)
        assert near.all() if shape == "ovo" else near.mean() >= 0.99
    assert np.mean(ours.predict(X) == theirs.predict(X)) >= 0.999


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("C", [0.5, 20.0])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_predicts_as_svc_does(name, kernel, C, form):
    X, y = DATA[name]
    X_train, X_test, y_train, _ = train_test_split(form(X), y, random_state=0)
    # Both stop within a tolerance of the solution: take it small to compare the solutions.
    parameters = {"C": C, "kernel": kernel, "tol": 1e-5, **KERNELS[kernel]}
    ours = SpanSVC(**parameters).fit(X_train, y_train)
    theirs = SVC(**parameters).fit(X_train, y_train)
    assert_same_model(ours, theirs, X_test)


@pytest.mark.parametrize("name", ["wine", "breast cancer"])
def test_with_class_and_sample_weights(name):
    X, y = DATA[name]
    weight = np.random.default_rng(0).uniform(0.0, 3.0, y.size) * (np.arange(y.size) % 5 > 0)
    for class_weight in ("balanced", {0: 2.0, 1: 0.3}):
        parameters = {"C": 3.0, "gamma": 0.5, "tol": 1e-6, "class_weight": class_weight}
        ours = SpanSVC(**parameters).fit(X, y, sample_weight=weight)
        theirs = SVC(**parameters).fit(X, y, sample_weight=weight)
        assert_same_model(ours, theirs, X)
        np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)


@pytest.mark.parametrize("file", ["splice/splice.gz", "adult_a1a/a1a"])
def test_predicts_as_svc_does_on_the_data_of_the_paper(data_folder, file):
    X, y = load_svmlight_file(str(data_folder / file))
    X = minmax_scale(X.toarray())
    X_train, X_test, y_train, _ = train_test_split(X, y, random_state=0)
    parameters = {"C": 4.0, "gamma": "auto", "tol": 1e-5}
    ours = SpanSVC(**parameters).fit(X_train, y_train)
    assert_same_model(ours, SVC(**parameters).fit(X_train, y_train), X_test)


@pytest.mark.parametrize("name", ["iris", "breast cancer"])
def test_fitted_attributes_are_those_of_svc(name):
    X, y = DATA[name]
    parameters = {"C": 3.0, "gamma": 0.5, "tol": 1e-7}
    ours, theirs = SpanSVC(**parameters).fit(X, y), SVC(**parameters).fit(X, y)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    np.testing.assert_array_equal(ours.support_vectors_, theirs.support_vectors_)
    assert ours.shape_fit_ == theirs.shape_fit_
    assert ours.fit_status_ == 0
    assert ours.n_iter_.shape == theirs.n_iter_.shape
    linear = SpanSVC(kernel="linear", tol=1e-6).fit(X, y)
    np.testing.assert_allclose(
        linear.coef_, SVC(kernel="linear", tol=1e-6).fit(X, y).coef_, atol=1e-3
    )
    with pytest.raises(AttributeError, match="only available for kernel='linear'"):
        _ = ours.coef_


def test_precomputed_and_callable_kernels():
    X, y = DATA["wine"]
    K = X @ X.T
    linear = SpanSVC(kernel="linear", tol=1e-6).fit(X, y)
    given = SpanSVC(kernel="precomputed", tol=1e-6).fit(K, y)
    own = SpanSVC(kernel=lambda a, b: a @ b.T, tol=1e-6).fit(X, y)
    for model, rows in ((given, K), (own, X)):
        np.testing.assert_allclose(
            model.decision_function(rows), linear.decision_function(X), atol=1e-6
        )
        np.testing.assert_allclose(
            model.loo_decision_function_, linear.loo_decision_function_, atol=1e-5
        )
    with pytest.raises(ValueError, match="X must be a square matrix"):
        SpanSVC(kernel="precomputed").fit(K[:, :5], y)


@pytest.mark.parametrize("name", ["iris", "wine", "digits"])
def test_leave_one_out_predictions_of_more_classes(name):
    X, y = DATA[name]
    if name == "digits":
        X, y = X[:250], y[:250]
    model = SpanSVC(C=5.0, gamma=0.5).fit(X, y)
    expected = cross_val_predict(SVC(C=5.0, gamma=0.5), X, y, cv=LeaveOneOut())
    assert np.mean(model.loo_predict_ == expected) >= 0.98
    assert model.loo_error_ == np.mean(model.loo_predict_ != y)
    assert model.loo_decision_function_.shape == model.decision_function(X).shape


def test_leave_one_out_of_two_classes_is_exact_in_sign_and_the_rule_is_in_the_analysis():
    X, y = DATA["breast cancer"]
    weight = np.where(np.arange(y.size) % 7 == 0, 0.0, 1.0)
    model = SpanSVC(C=3.0, gamma=0.5).fit(X, y, sample_weight=weight)
    analysis = analyze(model)
    exact = exact_loo(model, X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.loo_decision_function_ > 0, exact > 0)
    assert model.loo_error_ == np.mean(((exact > 0) != (y == 1))[weight > 0])
    assert analysis.span_rule != pytest.approx(model.loo_error_)
    assert model.loo_decision_function_.shape == y.shape
    with pytest.raises(ValueError, match="keeps its training data"):
        analyze(model, X, y)
    with pytest.raises(ValueError, match="X and y are needed"):
        analyze(SVC().fit(X, y))
    with pytest.raises(ValueError, match="The model has 3 classes"):
        analyze(SpanSVC().fit(*DATA["iris"]))


def test_exact_leave_one_out_of_a_weighted_model():
    X, y = (part[:120] for part in DATA["breast cancer"])
    scores = np.random.default_rng(0).random(y.size)
    model = SpanSVC(C=2.0, gamma=0.5, weighting=SigmoidWeighting(steepness=5.0, ceiling=4.0))
    weight = model.weighting.instance_weights(y, scores)
    expected = exact_loo(SVC(C=2.0, gamma=0.5), X, y, weight)
    np.testing.assert_allclose(exact_loo(model, X, y, scores=scores), expected, atol=1e-6)
    with pytest.raises(ValueError, match="there is no weighting to use them"):
        exact_loo(SVC(), X, y, scores=scores)


@pytest.mark.parametrize("name", ["breast cancer", "wine", "digits"])
def test_probabilities_are_as_good_as_those_of_cross_validation(name):
    X, y = DATA[name]
    ours, theirs = [], []
    for seed in range(5):
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, random_state=seed, stratify=y, test_size=0.5
        )
        model = SpanSVC(C=5.0, gamma=0.5).fit(X_train, y_train)
        probability = model.predict_proba(X_test)
        np.testing.assert_allclose(probability.sum(axis=1), 1.0)
        assert (probability >= 0).all()
        ours.append(log_loss(y_test, probability))
        folds = CalibratedClassifierCV(SVC(C=5.0, gamma=0.5), ensemble=False)
        reference = folds.fit(X_train, y_train).predict_proba(X_test)
        theirs.append(log_loss(y_test, reference))
        if name == "breast cancer":
            assert brier_score_loss(y_test, probability[:, 1]) < 1.15 * brier_score_loss(
                y_test, reference[:, 1]
            )
    assert np.mean(ours) < (1.05 if name == "breast cancer" else 1.0) * np.mean(theirs)


def test_probabilities_of_two_classes_follow_the_decision_values():
    X, y = DATA["breast cancer"]
    model = SpanSVC(C=3.0).fit(X, y)
    order = np.argsort(model.decision_function(X))
    assert (np.diff(model.predict_proba(X)[order, 1]) >= 0).all()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


def test_ties_are_broken_as_svc_breaks_them():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 5, 200)
    parameters = {"C": 1.0, "gamma": 1.0, "tol": 1e-6}
    for break_ties in (False, True):
        ours = SpanSVC(**parameters, break_ties=break_ties).fit(X, y)
        theirs = SVC(**parameters, break_ties=break_ties).fit(X, y)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert (ours.predict(X) != SpanSVC(**parameters).fit(X, y).predict(X)).any()


def test_values_of_exactly_zero_go_where_svc_sends_them():
    for y in (np.repeat([0, 1], 2), np.repeat([0, 1, 2], 2)):
        K = np.zeros((y.size, y.size))
        ours = SpanSVC(kernel="precomputed").fit(K, y)
        theirs = SVC(kernel="precomputed").fit(K, y)
        np.testing.assert_array_equal(ours.predict(K), theirs.predict(K))
        np.testing.assert_array_equal(ours.decision_function(K), theirs.decision_function(K))


def test_a_weight_of_two_is_the_instance_twice():
    X, y = DATA["wine"]
    weight = 1.0 + (np.arange(y.size) % 3 == 0)
    weighted = SpanSVC(tol=1e-7).set_params(gamma=0.5).fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(y.size), weight.astype(int))
    twice = SpanSVC(tol=1e-7, gamma=0.5).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.decision_function(X), twice.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(weighted.predict(X), twice.predict(X))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_predictions_do_not_depend_on_the_other_rows(form):
    X, y = DATA["iris"]
    model = SpanSVC(gamma=0.5).fit(form(X), y)
    alone = model.decision_function(form(X[:1]))
    outlier = np.full((1, X.shape[1]), 1e9)
    together = model.decision_function(form(np.concatenate((X[:1], outlier))))
    np.testing.assert_allclose(together[:1], alone, atol=1e-12)
    np.testing.assert_allclose(model.decision_function(sparse.csr_matrix(X[:1])), alone, atol=1e-12)
    many = np.repeat(X, 20_000 // y.size, axis=0)
    np.testing.assert_allclose(
        model.decision_function(form(many))[:: 20_000 // y.size],
        model.decision_function(form(X)),
        atol=1e-12,
    )


def test_probabilities_do_not_contradict_the_decision():
    rng = np.random.default_rng(0)
    for _ in range(10):
        X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
        model = SpanSVC(C=1.0).fit(X, y)
        order = np.argsort(model.decision_function(X))
        assert (np.diff(model.predict_proba(X)[order, 1]) >= 0).all()
    pair = SpanSVC().fit([[0.0], [1.0]], [0, 1])
    np.testing.assert_allclose(pair.predict_calibrated_proba([[0.0], [1.0]]), 0.5)
    far = SpanSVC(kernel="linear", C=10.0).fit(*DATA["breast cancer"])
    assert np.isfinite(far.predict_log_proba(DATA["breast cancer"][0] * 1e6)).all()


def test_what_is_computed_later_does_not_depend_on_what_the_caller_does():
    X, y = (part.copy() for part in DATA["breast cancer"])
    expected = SpanSVC(C=3.0).fit(X, y).loo_error_
    model = SpanSVC(C=3.0).fit(X, y)
    X[:] = 0.0
    y[:] = 0
    assert model.loo_error_ == expected
    K = DATA["wine"][0] @ DATA["wine"][0].T
    given = SpanSVC(kernel="precomputed").fit(K, DATA["wine"][1])
    before = given.loo_error_
    given = SpanSVC(kernel="precomputed").fit(K, DATA["wine"][1])
    K[:] = 0.0
    assert given.loo_error_ == before


def test_parameters_set_after_fit_do_not_change_the_model():
    X, y = DATA["wine"]
    model = SpanSVC(gamma=0.5).fit(X, y)
    before = model.decision_function(X)
    model.set_params(kernel="precomputed", C=7.0, gamma=3.0)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_a_failed_fit_leaves_no_half_model():
    X, y = DATA["wine"]
    model = SpanSVC()
    with pytest.raises(ValueError, match="zero weight"):
        model.fit(X, y, sample_weight=(y > 0).astype(float))
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_an_indefinite_kernel_is_said_once():
    X, y = DATA["wine"]
    model = SpanSVC(kernel="sigmoid", gamma=2.0, coef0=-1.0, C=10.0)
    with pytest.warns(UserWarning, match="not positive semidefinite") as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert np.isfinite(model.loo_decision_function_).all()
    assert caught[0].filename == __file__


def test_frames_keep_their_feature_names():
    X, y = load_wine(return_X_y=True, as_frame=True)
    frame = pd.DataFrame(MinMaxScaler().fit_transform(X), columns=X.columns)
    model = SpanSVC().fit(frame, y)
    assert list(model.feature_names_in_) == list(X.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])
    named = y.map({0: "barolo", 1: "grignolino", 2: "barbera"})
    assert set(SpanSVC().fit(frame, named).predict(frame)) <= set(named)


def test_models_can_be_saved_copied_and_used_by_others():
    X, y = DATA["wine"]
    model = SpanSVC(C=3.0).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.loo_predict_, model.loo_predict_)
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert not hasattr(clone(model), "classes_")
    with pytest.raises(NotFittedError):
        _ = clone(model).loo_error_


def test_an_early_stop_is_reported():
    X, y = DATA["wine"]
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2"):
        model = SpanSVC(C=100.0, max_iter=2).fit(X, y)
    assert model.fit_status_ == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0.0}, "C must be a positive number"),
        ({"C": "1"}, "C must be a positive number"),
        ({"tol": 0.0}, "tol must be a positive number; got 0.0"),
        ({"C": True}, "C must be a positive number; got True"),
        ({"C": 10**400}, "C must be a positive number"),
        ({"class_weight": np.ones(2)}, "class_weight must be a dict"),
        ({"decision_function_shape": np.ones(2)}, "decision_function_shape must be"),
        ({"break_ties": "yes"}, "break_ties must be True or False; got 'yes'"),
        ({"class_weight": "foo"}, "class_weight must be a dict, 'balanced' or None; got 'foo'"),
        ({"max_iter": 0}, "max_iter must be -1 or at least 1"),
        ({"decision_function_shape": "all"}, "decision_function_shape must be 'ovr' or 'ovo'"),
        ({"weighting": "balanced"}, "weighting must be a Weighting"),
        ({"kernel": "cubic"}, "kernel must be one of"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"weighting": ClassWeighting(positive=-1.0)}, "positive of ClassWeighting must be"),
        ({"weighting": SigmoidWeighting()}, "SigmoidWeighting needs importance scores"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = DATA["breast cancer"]
    with pytest.raises(ValueError, match=message):
        SpanSVC(**parameters).fit(X, y)


def test_bad_data_are_named():
    X, y = DATA["breast cancer"]
    for weight, message in (
        (-np.ones(y.size), "sample_weight must not be negative"),
        (np.ones(3), "sample_weight must have one value for each of the 569"),
        ((y == 1).astype(float), "All instances of the class 0 have zero weight"),
    ):
        with pytest.raises(ValueError, match=message):
            SpanSVC().fit(X, y, sample_weight=weight)
    sigmoid = SpanSVC(weighting=SigmoidWeighting())
    for scores, message in (
        (np.full(y.size, 1.5), "scores must be between 0 and 1; they range from 1.5 to 1.5"),
        (np.full(y.size, np.nan), "scores must be finite"),
        (np.ones(3), "scores must have one value for each of the 569"),
    ):
        with pytest.raises(ValueError, match=message):
            sigmoid.fit(X, y, scores=scores)
    with pytest.raises(ValueError, match="there is no weighting to use them"):
        SpanSVC().fit(X, y, scores=np.ones(y.size))


class PowerWeighting(Weighting):
    """What a user would write."""

    def __init__(self, power=1.0):
        self.power = power

    def instance_weights(self, y, scores):
        return scores**self.power


def test_an_own_weighting_is_a_small_class():
    X, y = DATA["breast cancer"]
    scores = np.random.default_rng(0).uniform(0.1, 1.0, y.size)
    model = SpanSVC(weighting=PowerWeighting()).set_params(weighting__power=2.0)
    ours = model.fit(X, y, scores=scores).decision_function(X)
    expected = SpanSVC().fit(X, y, sample_weight=scores**2).decision_function(X)
    np.testing.assert_array_equal(ours, expected)


def test_the_gram_matrix_is_computed_once_for_all_that_is_asked_together(monkeypatch):
    X, y = load_wine(return_X_y=True)
    model = SpanSVC(gamma=0.01).fit(X, y)
    computed = []
    original = Grams.__init__

    def counting(self, *arguments):
        computed.append(self)
        original(self, *arguments)

    monkeypatch.setattr(Grams, "__init__", counting)
    with model.machines_.holding_grams():
        model.predict_proba(X)
        model.solved_models()
        assert model.loo_margin_.size == y.size
    assert len(computed) == 1
    assert model.loo_error_ >= 0  # is known by now
    assert len(computed) == 1
    model.solved_models()  # not kept: it is large
    assert len(computed) == 2


def test_rows_of_zero_weight_do_not_take_part_in_calibration():
    X, y = DATA["wine"]
    weight = np.where(np.arange(y.size) % 4 == 0, 0.0, 1.0)
    noisy = np.where(weight == 0.0, (y + 1) % 3, y)  # what they say is wrong
    kept = weight > 0
    zero = SpanSVC(gamma=0.5, tol=1e-8).fit(X, noisy, sample_weight=weight)
    removed = SpanSVC(gamma=0.5, tol=1e-8).fit(X[kept], y[kept])
    np.testing.assert_allclose(zero.predict_proba(X), removed.predict_proba(X), atol=1e-5)
    np.testing.assert_array_equal(np.isnan(zero.loo_margin_), ~kept)
    np.testing.assert_allclose(zero.loo_margin_[kept], removed.loo_margin_, atol=1e-5)
