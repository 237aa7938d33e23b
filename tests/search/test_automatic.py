"""SVCCV and SVRCV: models that find their own hyperparameters."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneOut,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, SVR

from spansvm import SVCCV, SVRCV, DependentRowsWarning, SpanSearch
from spansvm.search import SearchStoppedWarning


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    return scale(X), y


@pytest.fixture(scope="module")
def tumours():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:200], y[:200]


@pytest.fixture(scope="module")
def patients():
    X, y = load_diabetes(return_X_y=True)
    return scale(X)[:150], y[:150]


@pytest.fixture(scope="module")
def fitted(tumours):
    return SVCCV().fit(*tumours)


@pytest.fixture(scope="module")
def regression(patients):
    return SVRCV().fit(*patients)


# The selected model -------------------------------------------------------------------------------


def test_the_best_score_is_that_of_exact_leave_one_out_by_libsvm(flowers):
    X, y = flowers
    model = SVCCV().fit(X, y)
    libsvm = SVC(C=model.C_, gamma=model.gamma_, tol=1e-6)
    exact = cross_val_score(libsvm, X, y, cv=LeaveOneOut()).mean()
    assert model.best_score_ == pytest.approx(exact, abs=1e-12)
    assert model.loo_error_ == pytest.approx(1.0 - exact, abs=1e-12)


def test_predictions_are_those_of_libsvm_with_the_selected_parameters(fitted, tumours):
    X, y = tumours
    libsvm = SVC(C=fitted.C_, gamma=fitted.gamma_, tol=1e-6).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), libsvm.predict(X))
    values = libsvm.decision_function(X)
    np.testing.assert_allclose(fitted.decision_function(X), values, atol=1e-3)
    assert fitted.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    assert np.exp(fitted.predict_log_proba(X)).sum(axis=1) == pytest.approx(1.0)


def test_the_score_is_close_to_that_of_a_fine_grid(fitted, tumours):
    grid = {"C": 2.0 ** np.arange(-5, 16), "gamma": 2.0 ** np.arange(-15, 4)}
    fine = SpanSearch(SVC(), grid, corrected=False).fit(*tumours)
    assert fitted.best_score_ >= 0.99 * fine.best_score_


def test_a_regression_predicts_as_libsvm_does_and_its_score_is_exact(regression, patients):
    X, y = patients
    libsvm = SVR(
        C=regression.C_, gamma=regression.gamma_, epsilon=regression.epsilon_, tol=1e-6
    )  # fmt: skip
    np.testing.assert_allclose(regression.predict(X), libsvm.fit(X, y).predict(X), rtol=1e-3)
    left_out = cross_val_predict(libsvm, X, y, cv=LeaveOneOut())
    exact = 1.0 - np.mean((y - left_out) ** 2) / np.var(y)
    assert regression.best_score_ == pytest.approx(exact, abs=1e-4)
    np.testing.assert_allclose(regression.loo_residual_, y - regression.loo_predict_)
    ends = regression.predict_interval(X[:5])
    assert (ends[:, 0] < ends[:, 1]).all()


def test_few_models_are_trained_with_few_gram_matrices(fitted, regression):
    for model in (fitted, regression):
        params = model.cv_results_["params"]
        assert len(params) <= 80
        assert len({one["gamma"] for one in params}) <= 8
        assert len({tuple(one.values()) for one in params}) == len(params)


def test_the_corrected_score_knows_all_candidates_and_is_not_above_the_best(fitted, regression):
    for model in (fitted, regression):
        low, high = model.corrected_interval_
        assert low <= model.corrected_score_ <= min(high, model.best_score_)
        assert model.corrected_score_ == model.search_.corrected_score_


# A committee --------------------------------------------------------------------------------------


def test_a_committee_predicts_if_it_is_asked_for(tumours):
    X, y = tumours
    model = SVCCV(ensemble=True, n_trials=40).fit(X, y)
    own = model.search_.committee_
    assert len(own.members_) > 1
    np.testing.assert_array_equal(model.predict_proba(X), own.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), own.predict(X))
    np.testing.assert_array_equal(model.loo_predict_proba_, own.loo_predict_proba_)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), own.predict_proba(X))
    assert model.loo_error_ == own.loo_error_ == np.mean(model.loo_predict_ != y)
    assert model.corrected_score_ == own.corrected_score_
    assert model.corrected_interval_ == own.corrected_interval_
    assert model.score(X, y) == np.mean(own.predict(X) == y)
    odds = own.predict_proba(X)[:, 1] / own.predict_proba(X)[:, 0]
    np.testing.assert_allclose(model.decision_function(X), np.log(odds))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert not hasattr(model.set_params(ensemble=False).fit(X, y), "committee_")


def test_a_committee_of_regressions_is_the_mean_of_its_members(patients):
    X, y = patients
    model = SVRCV(ensemble=True, n_trials=40).fit(X, y)
    members = zip(model.committee_.members_, model.committee_.weights_, strict=True)
    mean = sum(weight * SVR(**own, tol=1e-6).fit(X, y).predict(X) for own, weight in members)
    np.testing.assert_allclose(model.predict(X), mean, rtol=2e-3)
    assert not hasattr(model, "predict_interval")


# As other estimators ------------------------------------------------------------------------------


def test_it_works_in_pipelines_and_in_cross_validation(flowers):
    X, y = flowers
    scores = cross_val_score(make_pipeline(StandardScaler(), SVCCV()), X[::2], y[::2], cv=3)
    assert scores.min() > 0.85


def test_results_do_not_depend_on_the_number_of_workers(tumours, fitted):
    X, y = tumours
    other = SVCCV(n_jobs=2).fit(X, y)
    assert other.best_params_ == fitted.best_params_
    np.testing.assert_array_equal(
        other.cv_results_["mean_test_score"], fitted.cv_results_["mean_test_score"]
    )


def test_rows_of_weight_zero_are_as_if_they_were_not_there(flowers):
    X, y = flowers
    strange = np.vstack([X, 100.0 + X[:30]])
    labels = np.r_[y, (y[:30] + 1) % 3]
    weight = np.r_[np.ones(150), np.zeros(30)]
    with_them = SVCCV(n_trials=40).fit(strange, labels, sample_weight=weight)
    without = SVCCV(n_trials=40).fit(X, y)
    assert with_them.best_params_ == without.best_params_
    assert with_them.best_score_ == pytest.approx(without.best_score_)


def test_groups_are_left_out_together_or_given_to_the_splitter(flowers):
    X, y = flowers
    X, y = X[50:110], y[50:110]
    twice, groups = np.repeat(X, 2, axis=0), np.repeat(np.arange(60), 2)
    model = SVCCV(n_trials=20).fit(twice, np.repeat(y, 2), groups=groups)
    assert model.search_.n_groups_ == 60
    folds = SVCCV(n_trials=20, cv=GroupKFold(3)).fit(twice, np.repeat(y, 2), groups=groups)
    assert folds.search_.n_splits_ == 3


def test_with_folds_scores_are_those_of_cross_validation(flowers):
    X, y = flowers
    folds = StratifiedKFold(4)
    model = SVCCV(cv=folds, n_trials=30).fit(X, y)
    theirs = cross_val_score(SVC(C=model.C_, gamma=model.gamma_), X, y, cv=folds).mean()
    assert model.best_score_ == pytest.approx(theirs, abs=1e-12)


def test_sparse_rows_give_the_model_of_dense_ones(flowers):
    X, y = flowers
    dense = SVCCV(n_trials=35).fit(X, y)
    rare = SVCCV(n_trials=35).fit(sparse.csr_matrix(X), y)
    assert rare.best_params_ == dense.best_params_
    np.testing.assert_array_equal(rare.predict(sparse.csr_matrix(X)), dense.predict(X))


def test_a_precomputed_linear_kernel_is_the_linear_kernel(tumours):
    X, y = tumours
    linear = SVCCV(kernel="linear").fit(X, y)
    gram = SVCCV(kernel="precomputed").fit(X @ X.T, y)
    assert linear.gamma_ is None
    assert gram.C_ == linear.C_
    assert gram.best_score_ == linear.best_score_


def test_polynomials_of_both_degrees_are_tried(tumours):
    model = SVCCV(kernel="poly").fit(*tumours)
    assert set(model.cv_results_["param_degree"]) == {2, 3}
    assert model.best_score_ > 0.9


def test_given_values_are_the_only_ones(flowers):
    model = SVCCV(Cs=[1.0, 10.0], gammas=[0.1, 1.0]).fit(*flowers)
    params = {(one["C"], one["gamma"]) for one in model.cv_results_["params"]}
    assert params == {(1.0, 0.1), (1.0, 1.0), (10.0, 0.1), (10.0, 1.0)}
    model = SVCCV(gammas=[0.1]).fit(*flowers)
    assert set(model.cv_results_["param_gamma"]) == {0.1}
    assert len(set(model.cv_results_["param_C"])) > 8


def test_weights_of_the_classes_are_searched_where_the_score_asks_for_them(tumours):
    X, y = tumours
    keep = np.r_[np.flatnonzero(y == 0)[:80], np.flatnonzero(y == 1)[:30]]
    X, y = X[keep], y[keep]
    plain = SVCCV(n_trials=40).fit(X, y)
    assert "param_class_weight" not in plain.cv_results_
    weighted = SVCCV(scoring="balanced_accuracy").fit(X, y)
    assert len({str(one) for one in weighted.cv_results_["param_class_weight"]}) == 3
    own = SVCCV(scoring="balanced_accuracy", class_weight="balanced", n_trials=10).fit(X, y)
    assert own.best_estimator_.class_weight == "balanced"


def test_it_scores_new_rows_by_the_score_that_selected_it(tumours):
    X, y = tumours
    model = SVCCV(scoring="roc_auc", n_trials=10).fit(X[:150], y[:150])
    expected = roc_auc_score(y[150:], model.decision_function(X[150:]))
    assert model.score(X[150:], y[150:]) == pytest.approx(expected)


def test_it_is_saved_with_its_scores(fitted, tumours):
    again = pickle.loads(pickle.dumps(fitted))
    assert again.corrected_score_ == fitted.corrected_score_
    np.testing.assert_array_equal(again.predict(tumours[0]), fitted.predict(tumours[0]))


def test_routed_weights_reach_the_search(flowers):
    X, y = flowers
    weight = np.where(np.arange(y.size) < 60, 2.0, 1.0)
    plain = SVCCV(n_trials=8).fit(X, y, sample_weight=weight)
    with config_context(enable_metadata_routing=True):
        own = SVCCV(n_trials=8).set_fit_request(sample_weight=True)
        as_it_is = StandardScaler(with_mean=False, with_std=False)
        routed = make_pipeline(as_it_is.set_fit_request(sample_weight=False), own)
        routed.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(
        routed[-1].decision_function(X), plain.decision_function(X), atol=1e-8
    )


def test_time_that_is_over_ends_the_search(flowers):
    with pytest.warns(SearchStoppedWarning, match="was stopped after"):
        model = SVCCV(time_budget=1e-9).fit(*flowers)
    assert np.isfinite(model.best_score_)


# Dull data ----------------------------------------------------------------------------------------


def test_noise_is_not_said_to_be_more_than_noise():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((120, 4)), np.arange(120) % 2
    model = SVCCV().fit(X, y)
    low, _ = model.corrected_interval_
    assert low < 0.5
    assert model.corrected_score_ < model.best_score_


def test_a_committee_knows_of_noise_hardly_less_than_the_prior():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((600, 4)), rng.integers(0, 2, 600)
    model = SVCCV(ensemble=True).fit(X[:120], y[:120])
    low, high = model.corrected_interval_
    assert low < 0.5 < high
    assert log_loss(y[120:], model.predict_proba(X[120:])) < np.log(2.0) + 0.02


def test_one_feature_suffices():
    x = np.linspace(0.0, 1.0, 60)[:, None]
    model = SVCCV().fit(x, (np.sin(12.0 * x[:, 0]) > 0).astype(int))
    assert model.best_score_ > 0.9
    assert SVRCV().fit(x, np.sin(6.0 * x[:, 0])).best_score_ > 0.99


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_constant_features_tell_nothing():
    X, y = np.ones((20, 3)), np.arange(20) % 2
    model = SVCCV().fit(X, y)
    assert model.best_score_ <= 0.5
    assert np.unique(model.predict(X)).size == 1
    together = SVCCV(ensemble=True, n_trials=40).fit(X, y).committee_  # of one model, 20 times
    np.testing.assert_allclose(together.weights_, 1 / 20)
    np.testing.assert_allclose(together.predict_proba(X), 0.5, atol=0.05)


def test_constant_targets_are_predicted():
    X = np.random.default_rng(0).standard_normal((20, 2))
    model = SVRCV(scoring="neg_mean_absolute_error").fit(X, np.full(20, 7.0))
    np.testing.assert_allclose(model.predict(X), 7.0, atol=1.0)


@pytest.mark.parametrize("n_rows", [6, 7])
def test_six_rows_are_enough(n_rows):
    X = np.arange(n_rows, dtype=float)[:, None]
    model = SVCCV().fit(X, (X[:, 0] > 2.5).astype(int))
    assert model.best_score_ > 0.5
    assert model.predict([[-3.0], [9.0]]).tolist() == [0, 1]
    assert SVRCV().fit(X, 2.0 * X[:, 0]).best_score_ > 0.5


def test_doubled_rows_need_groups(flowers):
    """A row whose copy stays is no longer left out."""
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((40, 3)), rng.integers(2, size=40)
    twice, labels = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    with pytest.warns(DependentRowsWarning):
        assert SVCCV().fit(twice, labels).best_score_ == 1.0
    groups = np.repeat(np.arange(40), 2)
    assert SVCCV(n_trials=40).fit(twice, labels, groups=groups).corrected_score_ < 0.75


def test_26_classes_are_told_apart():
    rng = np.random.default_rng(1)
    centres = rng.standard_normal((26, 5)) * 4.0
    y = np.repeat(np.array(list("abcdefghijklmnopqrstuvwxyz")), 5)
    X = np.repeat(centres, 5, axis=0) + rng.standard_normal((130, 5))
    model = SVCCV(n_trials=40).fit(X, y)
    assert model.best_score_ > 0.8
    assert model.classes_.size == 26
    assert model.loo_predict_proba_.shape == (130, 26)


def test_a_class_of_one_row_is_missed_when_it_is_left_out():
    X, y = load_digits(return_X_y=True)
    keep = np.r_[
        np.flatnonzero(y == 0)[:20], np.flatnonzero(y == 1)[:20], np.flatnonzero(y == 2)[:1]
    ]
    model = SVCCV(n_trials=12).fit(X[keep] / 16.0, y[keep])
    assert model.loo_predict_[-1] != 2


# Wrong arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel": "sigmoid"}, "kernel must be one of rbf, linear"),
        ({"ensemble": "yes"}, "ensemble must be True or False; got 'yes'"),
        ({"n_trials": 0}, "n_trials must be a whole number of at least 1; got 0"),
        ({"Cs": [1.0, -1.0]}, "Cs must be None or a list of positive numbers"),
        ({"gammas": 3}, "gammas must be None or a list of positive numbers; got 3"),
        ({"scoring": ["accuracy", "f1"]}, "scoring must be None, the name of a score or a"),
        (
            {"class_weight": "equal"},
            "class_weight must be 'auto', 'balanced', a dict or None; got 'equal'",
        ),
        ({"Cs": range(1, 40), "gammas": [1, 2, 3]}, "There are 117 candidates of C and gamma"),
        ({"time_budget": -1}, "time_budget must be a positive number"),
    ],
)
def test_wrong_arguments_are_named(flowers, arguments, message):
    with pytest.raises(ValueError, match=message):
        SVCCV(**arguments).fit(*flowers)


def test_a_matrix_of_kernel_values_must_be_square(flowers):
    with pytest.raises(ValueError, match="must be a square matrix"):
        SVCCV(kernel="precomputed").fit(*flowers)


def test_epsilons_may_be_zero_but_not_below(patients):
    with pytest.raises(ValueError, match="epsilons must be None or a list of numbers of at least"):
        SVRCV(epsilons=[-1.0]).fit(*patients)
    model = SVRCV(Cs=[10.0], gammas=[0.01], epsilons=[0.0, 5.0]).fit(*patients)
    assert set(model.cv_results_["param_epsilon"]) == {0.0, 5.0}
