"""What programs that tune an SVC with GridSearchCV or RandomizedSearchCV rely on."""

from __future__ import annotations

import re
import warnings
from functools import wraps

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import accuracy_score, f1_score, log_loss, make_scorer, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    RandomizedSearchCV,
    cross_val_predict,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler, minmax_scale
from sklearn.svm import SVC

from spansvm import ClassWeighting, SpanRandomizedSearch, SpanSearch, SpanSVC
from spansvm.search import UnacceleratedWarning
from spansvm.search.scoring.standard_errors import StandardErrors

EXACT = {"tol": 1e-6}


@pytest.fixture(scope="module")
def flowers():
    """Three classes that overlap, in no order."""
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(y.size)
    return (X + rng.normal(scale=0.5, size=X.shape))[order], y[order]


@pytest.fixture(scope="module")
def tumours():
    X, y = load_breast_cancer(return_X_y=True)
    return minmax_scale(X)[::3], y[::3]


def same_scores(ours, theirs):
    """Both searches have the same scores on every split."""
    for name, column in theirs.cv_results_.items():
        if "_test_" in name or "_train_" in name:
            np.testing.assert_allclose(ours.cv_results_[name], column, atol=1e-12, err_msg=name)


# Arguments of GridSearchCV and RandomizedSearchCV -------------------------------------


@pytest.mark.parametrize("scoring", [None, "f1_macro", ["accuracy", "balanced_accuracy"]])
def test_train_scores_are_those_of_grid_search_cv(flowers, scoring):
    options = {"cv": 4, "return_train_score": True, "scoring": scoring, "refit": False}
    model = make_pipeline(StandardScaler(), SVC(**EXACT))
    grid = {"svc__C": [0.1, 10]}
    ours, theirs = (kind(model, grid, **options) for kind in (SpanSearch, GridSearchCV))
    same_scores(ours.fit(*flowers), theirs.fit(*flowers))


@pytest.mark.parametrize("options", [{}, {"method": "loo"}, {"method": "span_rule", "cv": 3}])
def test_without_trained_folds_train_scores_are_those_of_the_model_on_all_rows(flowers, options):
    X, y = flowers
    search = SpanSearch(SVC(**EXACT), {"C": [0.1, 10]}, return_train_score=True, **options)
    found = search.fit(X, y).cv_results_["mean_train_score"]
    expected = [SVC(C=C, **EXACT).fit(X, y).score(X, y) for C in (0.1, 10)]
    np.testing.assert_allclose(found, expected)


def test_train_scores_do_not_count_rows_of_zero_weight(flowers):
    X, y = flowers
    weight = np.ones(y.size)
    weight[:40] = 0.0
    search = SpanSearch(SpanSVC(**EXACT), {"C": [1]}, return_train_score=True)
    search.fit(X, y, sample_weight=weight)
    expected = SpanSVC(**EXACT).fit(X[40:], y[40:]).score(X[40:], y[40:])
    assert search.cv_results_["mean_train_score"][0] == expected


def test_scorers_that_take_no_weights_are_said(flowers):
    pytest.importorskip("sklearn.callback")  # GridSearchCV passes weights on in the same versions

    def plain(truth, predicted):
        return float(np.mean(truth == predicted))

    X, y = flowers
    weight = 1.0 + np.arange(y.size) % 3
    scoring = {"plain": make_scorer(plain), "accuracy": "accuracy"}
    searches = []
    for kind in (SpanSearch, GridSearchCV):
        search = kind(SVC(**EXACT), {"C": [1]}, scoring=scoring, refit=False, cv=3)
        with pytest.warns(
            UserWarning, match=r"The scoring plain=.* does not support sample_weight"
        ):
            searches.append(search.fit(X, y, sample_weight=weight))
    same_scores(*searches)


def test_chains_may_be_dispatched_as_one_likes(flowers):
    search = SpanSearch(SVC(), {"C": [1, 10]}, n_jobs=2, pre_dispatch="all").fit(*flowers)
    assert search.best_score_ == SpanSearch(SVC(), {"C": [1, 10]}).fit(*flowers).best_score_


@pytest.mark.parametrize("folds", [None, 3])
def test_a_randomized_search_draws_the_candidates_of_randomized_search_cv(flowers, folds):
    drawn = {"C": loguniform(0.1, 100), "gamma": [0.1, 1.0], "class_weight": [None, "balanced"]}
    options = {"n_iter": 12, "random_state": 3}
    ours = SpanRandomizedSearch(SVC(**EXACT), drawn, cv=folds, **options).fit(*flowers)
    theirs = RandomizedSearchCV(SVC(**EXACT), drawn, cv=3, **options).fit(*flowers)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    if folds is not None:
        same_scores(ours, theirs)
    assert 0 <= ours.corrected_score_ <= ours.best_score_


def test_a_randomized_search_says_what_is_wrong_with_its_arguments(flowers):
    with pytest.raises(ValueError, match="n_iter must be a whole number of at least 1; got 0"):
        SpanRandomizedSearch(SVC(), {"C": [1]}, n_iter=0).fit(*flowers)
    with pytest.warns(UserWarning, match="smaller than n_iter"):
        search = SpanRandomizedSearch(SVC(), {"C": [1, 2]}, n_iter=5).fit(*flowers)
    assert len(search.cv_results_["params"]) == 2
    assert clone(search).get_params()["n_iter"] == 5


def test_a_generator_of_folds_that_is_used_up_is_named(flowers):
    X, y = flowers
    search = SpanSearch(SVC(), {"C": [1]}, cv=KFold(3).split(X)).fit(X, y)
    with pytest.raises(ValueError, match="can be used only once"):
        search.fit(X, y)


def test_a_function_in_refit_must_return_the_index_of_a_candidate(flowers):
    for value, error in ((None, TypeError), (7, IndexError)):
        with pytest.raises(error, match="best_index_"):
            SpanSearch(SVC(), {"C": [1]}, refit=lambda _, value=value: value).fit(*flowers)


def test_listing_names_computes_nothing(flowers, monkeypatch):
    search = SpanSearch(SVC(), {"C": [1, 10]}).fit(*flowers)
    monkeypatch.setattr(type(search), "_corrected", lambda *_: pytest.fail("computed"))
    assert {"corrected_score_", "best_params_", "predict"} <= set(dir(search))
    assert "predict_proba" not in dir(search)
    model = SpanSVC().fit(*flowers)
    assert "loo_error_" in dir(model)
    assert "_own" not in vars(model.left_out_.values)


def test_probabilities_are_scored_as_the_selected_model_gives_them(tumours):
    X, y = tumours
    grid, weight = {"C": [1.0]}, {0: 1, 1: 12}
    for model, name in ((SpanSVC, "probabilities"), (SVC, "calibrated_probabilities")):
        search = SpanSearch(model(class_weight=weight), grid, scoring="neg_log_loss").fit(X, y)
        left_out = SpanSVC(class_weight=weight).fit(X, y).left_out_
        assert search.best_score_ == pytest.approx(-log_loss(y, getattr(left_out, name)))


@pytest.mark.parametrize("given", [None, SVC()])
def test_a_machine_from_the_grid_is_scored_with_its_own_probabilities(tumours, given):
    X, y = tumours
    machines = [SVC(class_weight={1: 12}), SpanSVC(class_weight={1: 12})]
    from_grid = SpanSearch(Pipeline([("svc", given)]), {"svc": machines}, scoring="neg_log_loss")
    scores = from_grid.fit(X, y).cv_results_["mean_test_score"]
    for machine, score in zip(machines, scores, strict=True):
        alone = SpanSearch(machine, {"C": [1.0]}, scoring="neg_log_loss").fit(X, y)
        assert score == pytest.approx(alone.best_score_)


# Standard errors ----------------------------------------------------------------------


@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_the_standard_error_of_a_share_is_binomial(flowers, scoring):
    X, y = flowers
    results = SpanSearch(SVC(), {"C": [0.1, 1, 10]}, scoring=scoring).fit(X, y).cv_results_
    p = results["mean_test_score"]
    np.testing.assert_allclose(results["std_test_score"], np.sqrt(p * (1 - p) / y.size))


@pytest.mark.parametrize(
    ("scoring", "function"),
    [
        ("roc_auc", lambda y, value: roc_auc_score(y, value)),
        ("f1", lambda y, value: f1_score(y, value > 0)),
        (make_scorer(f1_score, average="weighted"), None),
        ("neg_log_loss", None),
    ],
)
def test_the_standard_error_of_other_scores_is_that_of_drawn_rows(tumours, scoring, function):
    X, y = tumours
    search = SpanSearch(SpanSVC(C=0.5), {"gamma": [1.0]}, scoring=scoring).fit(X, y)
    model = search.best_estimator_
    rng = np.random.default_rng(1)
    scores = []
    for _ in range(400):
        rows = rng.integers(y.size, size=y.size)
        if scoring == "neg_log_loss":
            scores.append(-log_loss(y[rows], model.left_out_.probabilities[rows]))
        elif function is None:
            scores.append(f1_score(y[rows], model.loo_predict_[rows], average="weighted"))
        else:
            values = model.loo_ranking_ if scoring == "roc_auc" else model.loo_decision_function_
            scores.append(function(y[rows], values[rows]))
    # Ten draws, where the scorer has to be called, know it within a quarter or so.
    ratio = search.cv_results_["std_test_score"][0] / np.std(scores)
    assert 0.4 < ratio < 1.7 if callable(scoring) else 0.75 < ratio < 1.3


def test_groups_that_are_left_out_together_count_together(flowers):
    X, y = flowers
    twice, groups = np.repeat(X, 2, axis=0), np.repeat(np.arange(y.size), 2)
    doubled = SpanSearch(SVC(C=0.5), {"gamma": [0.3]}).fit(twice, np.repeat(y, 2), groups=groups)
    plain = SpanSearch(SVC(C=1.0), {"gamma": [0.3]}, method="loo").fit(X, y)
    assert doubled.best_score_ == pytest.approx(plain.best_score_, abs=0.01)
    ratio = doubled.cv_results_["std_test_score"][0] / plain.cv_results_["std_test_score"][0]
    assert ratio == pytest.approx(1.0, abs=0.05)


def test_weights_widen_a_standard_error():
    errors = StandardErrors(np.arange(4))
    values, weight = np.array([0.0, 0.0, 1.0, 1.0]), np.array([1.0, 1.0, 1.0, 3.0])
    mean = 4 / 6
    expected = np.sqrt(2 * mean**2 + (1 - mean) ** 2 + (3 * (1 - mean)) ** 2) / 6
    assert errors.of_share(values > 0, weight) == pytest.approx(expected)


def test_folds_have_the_spread_of_grid_search_cv_and_bounds_have_none(tumours):
    spread = SpanSearch(SVC(), {"C": [1]}, method="span_bound").fit(*tumours)
    assert np.isnan(spread.cv_results_["std_test_score"]).all()
    ours, theirs = (kind(SVC(**EXACT), {"C": [1]}, cv=3) for kind in (SpanSearch, GridSearchCV))
    same_scores(ours.fit(*tumours), theirs.fit(*tumours))


def test_the_one_standard_error_rule_finds_a_simpler_model(tumours):
    def simplest(results):
        best = np.argmax(results["mean_test_score"])
        least = results["mean_test_score"][best] - results["std_test_score"][best]
        good = np.flatnonzero(results["mean_test_score"] >= least)
        return int(good[np.argmin(results["param_C"][good].astype(float))])

    search = SpanSearch(SVC(), {"C": np.logspace(-2, 4, 25)}, refit=simplest).fit(*tumours)
    plain = SpanSearch(SVC(), {"C": np.logspace(-2, 4, 25)}, ties="first").fit(*tumours)
    assert search.best_params_["C"] < plain.best_params_["C"]


# Estimators around an SVC -------------------------------------------------------------

REST = {"estimator__C": [0.1, 1, 10], "estimator__gamma": [0.1, 1]}


def test_one_vs_rest_has_probabilities_without_a_second_training(flowers):
    model = OneVsRestClassifier(SVC())
    found = SpanSearch(model, REST, scoring="roc_auc_ovr", refit=False).fit(*flowers)
    assert 0.9 < found.best_score_ < 1.0


@pytest.mark.parametrize("scoring", [None, "f1_macro"])
def test_one_vs_rest_has_the_scores_of_grid_search_cv(flowers, scoring):
    model, options = OneVsRestClassifier(SVC(**EXACT)), {"cv": 3, "return_train_score": True}
    ours = SpanSearch(model, REST, scoring=scoring, **options).fit(*flowers)
    theirs = GridSearchCV(model, REST, scoring=scoring, **options).fit(*flowers)
    same_scores(ours, theirs)
    assert isinstance(ours.best_estimator_, OneVsRestClassifier)


def test_one_vs_rest_of_two_classes_weighs_the_labels_that_its_machine_sees(flowers):
    X, y = flowers
    labels = np.where(y == 2, "yes", "no")
    model = OneVsRestClassifier(SVC(class_weight={0: 1, 1: 4}, **EXACT))
    ours, theirs = (kind(model, REST, cv=3) for kind in (SpanSearch, GridSearchCV))
    same_scores(ours.fit(X, labels), theirs.fit(X, labels))


def test_exact_leave_one_out_of_one_vs_rest_is_that_of_scikit_learn(flowers):
    X, y = flowers
    model = OneVsRestClassifier(SVC(C=10, gamma=1, **EXACT))
    search = SpanSearch(model, {"estimator__C": [10]}, method="loo").fit(X, y)
    expected = cross_val_predict(model, X, y, cv=LeaveOneOut())
    assert search.best_score_ == pytest.approx((expected == y).mean())
    rule = SpanSearch(model, {"estimator__C": [10]}).fit(X, y)
    assert rule.best_score_ == pytest.approx(search.best_score_, abs=0.03)


def test_transformers_inside_one_vs_rest_are_fitted_for_every_class(flowers):
    inner = make_pipeline(SelectKBest(k=2), MinMaxScaler(), SVC(**EXACT))
    model = make_pipeline(StandardScaler(), OneVsRestClassifier(inner))
    inside = "onevsrestclassifier__estimator__"
    grid = {f"{inside}svc__C": [1, 10], f"{inside}selectkbest__k": [1, 2]}
    ours, theirs = (kind(model, grid, cv=3) for kind in (SpanSearch, GridSearchCV))
    same_scores(ours.fit(*flowers), theirs.fit(*flowers))


def test_a_class_that_is_unknown_to_one_vs_rest_is_never_right(flowers):
    X, y = flowers
    known, unknown = np.flatnonzero(y != 2), np.flatnonzero(y == 2)
    test = np.concatenate((unknown[:10], known[:10]))
    model, options = OneVsRestClassifier(SVC(**EXACT)), {"cv": [(known[10:], test)]}
    ours, theirs = (kind(model, REST, **options) for kind in (SpanSearch, GridSearchCV))
    same_scores(ours.fit(X, y), theirs.fit(X, y))


def test_one_vs_rest_passes_no_weights_without_routing(flowers):
    search = SpanSearch(OneVsRestClassifier(SVC()), REST)
    with pytest.raises(TypeError, match="only if metadata routing is enabled"):
        search.fit(*flowers, sample_weight=np.ones(150))


@pytest.mark.parametrize("options", [{}, {"cv": 3}])
def test_a_calibrated_svc_is_scored_by_probabilities_and_fitted_as_it_is(flowers, options):
    model = CalibratedClassifierCV(SVC(), ensemble=False)
    search = SpanSearch(model, REST, scoring="neg_log_loss", **options).fit(*flowers)
    theirs = GridSearchCV(model, REST, scoring="neg_log_loss", cv=3).fit(*flowers)
    assert isinstance(search.best_estimator_, CalibratedClassifierCV)
    assert search.best_score_ > theirs.best_score_ - 0.02
    assert search.predict_proba(flowers[0]).shape == (150, 3)


def test_the_machine_may_come_from_the_grid(flowers):
    model = Pipeline([("scale", StandardScaler()), ("svm", None)])
    grid = [
        {"svm": [SVC()], "svm__C": [1, 10]},
        {"svm": [SVC(kernel="linear")], "scale": [None, MinMaxScaler()]},
    ]
    search = SpanSearch(model, grid).fit(*flowers)
    alone = SpanSearch(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10]}).fit(*flowers)
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"][:2], alone.cv_results_["mean_test_score"]
    )
    with pytest.raises(TypeError, match="last step is empty, and the grid does not provide one"):
        SpanSearch(model, {"scale": [MinMaxScaler()]}).fit(*flowers)


def test_a_class_is_no_estimator(flowers):
    with pytest.raises(TypeError, match=r"got the class SVC. Make an object of it: SVC\(\)"):
        SpanSearch(SVC, {"C": [1]}).fit(*flowers)
    with pytest.raises(TypeError, match="got NoneType"):
        SpanSearch(None, {"C": [1]}).fit(*flowers)


class Straight(SVC):
    """Fixes its kernel where get_params does not see it."""

    def __init__(self, C=1.0):
        super().__init__(C=C, kernel="linear", tol=1e-6)


def test_a_subclass_is_trained_with_its_own_kernel(flowers):
    ours, theirs = (kind(Straight(), {"C": [0.01, 1]}, cv=3) for kind in (SpanSearch, GridSearchCV))
    same_scores(ours.fit(*flowers), theirs.fit(*flowers))
    assert isinstance(ours.best_estimator_, Straight)
    assert ours.best_estimator_.kernel == "linear"


def test_a_candidate_that_fails_has_no_spread(flowers):
    with pytest.warns(FitFailedWarning):
        search = SpanSearch(SVC(), {"C": [-1, 1]}, cv=3).fit(*flowers)
    assert np.isnan(search.cv_results_["std_test_score"]).tolist() == [True, False]


# Samplers -----------------------------------------------------------------------------


class Doubling:
    """A sampler in the manner of imbalanced-learn: repeats the rows of the rarest class."""

    def fit_resample(self, X, y):
        labels, counts = np.unique(y, return_counts=True)
        rare = np.flatnonzero(y == labels[np.argmin(counts)])
        rows = np.concatenate((np.arange(y.size), rare))
        return X[rows], y[rows]

    def get_params(self, deep=True):
        return {}

    def set_params(self):
        return self

    def fit(self, X, y):
        return self


class Sampling(Pipeline):
    """A pipeline whose first step may resample the training rows."""

    def _validate_steps(self):
        """Samplers are allowed."""

    def fit(self, X, y):
        rows, labels = self.steps[0][1].fit_resample(X, y)
        self.steps[-1][1].fit(rows, labels)
        return self

    def predict(self, X):
        return self.steps[-1][1].predict(X)

    def score(self, X, y, sample_weight=None):
        return accuracy_score(y, self.predict(X), sample_weight=sample_weight)


def test_training_rows_of_folds_are_resampled(flowers):
    X, y = flowers[0][:110], flowers[1][:110]
    model = Sampling([("double", Doubling()), ("svc", SVC(**EXACT))])
    options = {"cv": KFold(3), "scoring": "accuracy", "return_train_score": True}
    grid = {"svc__C": [0.1, 1]}
    ours, theirs = (kind(model, grid, **options) for kind in (SpanSearch, GridSearchCV))
    same_scores(ours.fit(X, y), theirs.fit(X, y))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_rows_that_know_the_left_out_one_are_refused(flowers):
    model = Sampling([("double", Doubling()), ("svc", SVC())])
    with pytest.raises(ValueError, match="depend on the row that is left out"):
        SpanSearch(model, {"svc__C": [1]}, method="span_rule").fit(*flowers)
    with pytest.warns(UserWarning, match=r"'double' \(Doubling\) makes new training rows"):
        assert SpanSearch(model, {"svc__C": [1]}).fit(*flowers).method_ == "kfold"
    with pytest.raises(ValueError, match="sample_weight and scores do not fit"):
        SpanSearch(model, {"svc__C": [1]}, cv=3).fit(*flowers, sample_weight=np.ones(150))


def test_smote_of_imbalanced_learn(flowers):
    sampling = pytest.importorskip("imblearn.over_sampling")
    pipeline = pytest.importorskip("imblearn.pipeline")
    X, y = flowers
    rows = np.concatenate([np.flatnonzero(y == k)[:size] for k, size in enumerate((50, 20, 15))])
    model = pipeline.make_pipeline(
        StandardScaler(), sampling.SMOTE(k_neighbors=3, random_state=0), SVC(**EXACT)
    )
    grid = {"svc__C": [1, 10], "smote__k_neighbors": [2, 3]}
    ours, theirs = (kind(model, grid, cv=3) for kind in (SpanSearch, GridSearchCV))
    same_scores(ours.fit(X[rows], y[rows]), theirs.fit(X[rows], y[rows]))


# Scorers that look at the model -------------------------------------------------------


def few_vectors(model, X, y):
    return accuracy_score(y, model.predict(X)) - 1e-3 * model.n_support_.sum() - 1e-5 * model.C


def few_vectors_of_step(model, X, y):
    machine = model.named_steps["svc"]
    assert len(model) == 2
    assert model.get_params()["svc__C"] == machine.C
    right = accuracy_score(y, model[-1].predict(model[:-1].transform(X)))
    return right - 1e-3 * len(model["svc"].support_) - 1e-5 * model.steps[-1][1].C


@pytest.mark.parametrize(
    ("model", "scorer"),
    [
        (SVC(**EXACT), few_vectors),
        (SpanSVC(**EXACT), few_vectors),
        (make_pipeline(StandardScaler(), SVC(**EXACT)), few_vectors_of_step),
    ],
)
def test_scorers_may_read_the_trained_candidate(flowers, model, scorer):
    grid = {"svc__C" if isinstance(model, Pipeline) else "C": [0.1, 1, 10]}
    ours, theirs = (kind(model, grid, scoring=scorer, cv=3) for kind in (SpanSearch, GridSearchCV))
    same_scores(ours.fit(*flowers), theirs.fit(*flowers))
    X, y = flowers
    left_out = SpanSearch(model, grid, scoring=scorer).fit(X, y).cv_results_
    plain = SpanSearch(model, grid).fit(X, y).cv_results_
    for i, params in enumerate(left_out["params"]):
        machine = clone(model).set_params(**params).fit(X, y)
        machine = machine[-1] if isinstance(machine, Pipeline) else machine
        price = 1e-3 * machine.n_support_.sum() + 1e-5 * machine.C
        expected = plain["mean_test_score"][i] - price
        assert left_out["mean_test_score"][i] == pytest.approx(expected)
        assert np.isfinite(left_out["std_test_score"][i])


def test_a_scorer_of_one_vs_rest_finds_its_machines(flowers):
    def count(model, X, y):
        return -float(sum(machine.n_support_.sum() for machine in model.estimators_))

    model = OneVsRestClassifier(SVC(**EXACT))
    ours, theirs = (kind(model, REST, scoring=count, cv=3) for kind in (SpanSearch, GridSearchCV))
    same_scores(ours.fit(*flowers), theirs.fit(*flowers))


def test_a_scorer_finds_the_pipelines_of_one_vs_rest(flowers):
    def means(model, X, y):
        steps = [machine.named_steps for machine in model.estimators_]
        return float(sum(own["standardscaler"].mean_[0] * own["svc"].C for own in steps))

    model = OneVsRestClassifier(make_pipeline(StandardScaler(), SVC(**EXACT)))
    grid = {"estimator__svc__C": [0.1, 1.0]}
    ours, theirs = (kind(model, grid, scoring=means, cv=3) for kind in (SpanSearch, GridSearchCV))
    same_scores(ours.fit(*flowers), theirs.fit(*flowers))


def test_a_scorer_of_a_calibrated_machine_finds_what_is_inside(flowers):
    def inside(model, X, y):
        assert model.get_params()["estimator__svc__C"] == model.estimator[-1].C
        return model.estimator["standardscaler"].mean_[0] + model.estimator[-1].C

    model = CalibratedClassifierCV(make_pipeline(StandardScaler(), SVC()), cv=3)
    search = SpanSearch(model, {"estimator__svc__C": [0.1, 1.0]}, scoring=inside, refit=False)
    scores = search.fit(*flowers).cv_results_["mean_test_score"]
    np.testing.assert_allclose(scores, flowers[0][:, 0].mean() + np.array([0.1, 1.0]))


def test_calibrated_probabilities_that_a_scorer_asks_for_are_left_out(tumours):
    def loss(model, X, y):
        return -log_loss(y, model.predict_calibrated_proba(X))

    X, y = tumours
    model = SpanSVC(class_weight={1: 12})
    search = SpanSearch(model, {"C": [1.0]}, scoring=loss).fit(X, y)
    left_out = clone(model).fit(X, y).left_out_
    assert search.best_score_ == pytest.approx(-log_loss(y, left_out.calibrated_probabilities))
    assert search.cv_results_["std_test_score"][0] > 0
    assert np.isfinite(search.corrected_score_)


def test_a_scorer_may_clone_the_candidate(flowers):
    def size(model, X, y):
        copied = clone(model)
        assert not hasattr(copied[-1], "support_")
        return copied[-1].C

    model = make_pipeline(StandardScaler(), SVC())
    search = SpanSearch(model, {"svc__C": [0.1, 1.0]}, scoring=size, refit=False).fit(*flowers)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], [0.1, 1.0])


def test_a_scorer_finds_the_weighting_of_its_own_candidate(tumours):
    def weight(model, X, y):
        return model.weighting.positive

    grid = {"weighting__positive": [1.0, 2.0, 3.0]}
    model = SpanSVC(weighting=ClassWeighting())
    search = SpanSearch(model, grid, scoring=weight, refit=False).fit(*tumours)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], [1.0, 2.0, 3.0])


# Callbacks ----------------------------------------------------------------------------


def test_callbacks_are_told_of_the_tasks_of_grid_search_cv(flowers):
    pytest.importorskip("sklearn.callback")

    class Noting:
        def __init__(self):
            self.begun, self.ended, self.open = [], [], 0

        def setup(self, estimator, context):
            self.open += 1

        def teardown(self, estimator, context):
            self.open -= 1

        def on_fit_task_begin(self, estimator, context, *, X=None):
            self.begun.append((context.task_name, context.task_id, X is not None and len(X)))

        def on_fit_task_end(self, estimator, context):
            self.ended.append((context.task_name, context.task_id))

    told = []
    for kind in (SpanSearch, GridSearchCV):
        told.append(Noting())
        kind(SVC(), {"C": [1, 10]}, cv=3).set_callbacks(told[-1]).fit(*flowers)
    ours, theirs = told
    assert sorted(map(str, ours.begun)) == sorted(map(str, theirs.begun))
    assert sorted(ours.ended) == sorted(theirs.ended)
    broken = Noting()
    search = SpanSearch(SVC(), {"C": [-1]}).set_callbacks(broken)
    with pytest.raises(ValueError, match="C must be"):
        search.fit(*flowers)
    assert ours.open == broken.open == 0


def test_progress_bars_of_scikit_learn_work(flowers, capsys):
    callback = pytest.importorskip("sklearn.callback")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The estimator SVC does not support callbacks")
        SpanSearch(SVC(), {"C": [1, 10]}).set_callbacks(callback.ProgressBar()).fit(*flowers)
    assert "SpanSearch - search" in capsys.readouterr().out


# Programs around a search -------------------------------------------------------------


def tracked(method, calls, keep_name):
    """A method that notes its calls, as trackers of experiments put it on a class."""

    def other(self, *args, **params):
        calls.append(method.__name__)
        return method(self, *args, **params)

    return wraps(method)(other) if keep_name else other


@pytest.mark.parametrize("keep_name", [True, False])
def test_methods_that_a_tracker_replaces_are_not_own_methods(flowers, monkeypatch, keep_name):
    """mlflow's autolog does so, with a class attribute that SVC did not have of its own."""
    expected = SpanSearch(SVC(), {"C": [1, 10]}).fit(*flowers)
    calls = []
    for name in ("fit", "predict", "score"):
        monkeypatch.setattr(SVC, name, tracked(getattr(SVC, name), calls, keep_name))
    search = SpanSearch(SVC(), {"C": [1, 10]}).fit(*flowers)
    assert search.method_ == "verified"
    assert search.best_score_ == expected.best_score_
    assert calls == ["fit"]  # the refit alone
    assert search.score(*flowers) == expected.score(*flowers)


def test_another_class_in_the_place_of_svc_is_an_svc(flowers, monkeypatch):
    """scikit-learn-intelex puts it there, perhaps after spansvm was imported."""

    class Quick(SVC):
        def fit(self, X, y, sample_weight=None):
            return super().fit(X, y, sample_weight)

        def score(self, X, y, sample_weight=None):
            return super().score(X, y, sample_weight)

    with pytest.warns(UnacceleratedWarning):
        SpanSearch(Quick(), {"C": [1]}).fit(*flowers)
    monkeypatch.setattr("sklearn.svm.SVC", Quick)
    search = SpanSearch(Quick(), {"C": [1]}).fit(*flowers)
    assert search.method_ == "verified"
    assert isinstance(search.best_estimator_, Quick)


@pytest.mark.parametrize("options", [{}, {"cv": 3}, {"cv": 3, "refit": lambda results: 1}])
def test_the_best_score_and_index_are_numbers_of_numpy(flowers, options):
    ours, theirs = (
        kind(SVC(), {"C": [1, 10]}, **options).fit(*flowers) for kind in (SpanSearch, GridSearchCV)
    )
    assert type(ours.best_index_) is type(theirs.best_index_)
    assert type(ours.best_score_) is np.float64
    assert ours.best_score_.mean() == ours.best_score_
    assert type(ours.corrected_score_ if len(options) < 2 else 0.0) is float


def lines_of(printed):
    """Lines without the time that a fit took, in any order; dots fill up the space before it."""
    ends = [re.sub(r"\.{2,}| total time=.*", "", line) for line in printed.splitlines()]
    return sorted(ends)


@pytest.mark.parametrize("verbose", [2, 3, 10])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"return_train_score": True},
        {"scoring": ["accuracy", "f1_macro"], "refit": False, "return_train_score": True},
    ],
)
def test_lines_of_fits_are_those_of_grid_search_cv(flowers, capsys, verbose, options):
    printed = []
    for kind in (SpanSearch, GridSearchCV):
        kind(SVC(**EXACT), {"C": [1, 10]}, cv=3, verbose=verbose, **options).fit(*flowers)
        printed.append(capsys.readouterr().out)
    ours, theirs = map(lines_of, printed)
    assert ours == [line for line in theirs if "START" not in line]
    assert len(ours) == 7
    assert min(len(line) for line in printed[0].splitlines()[1:]) >= 80


def test_one_line_per_candidate_without_folds(flowers, capsys):
    SpanSearch(SVC(), {"C": [1, 10]}, verbose=3).fit(*flowers)
    printed = capsys.readouterr().out
    assert printed.startswith("Fitting 1 folds for each of 2 candidates, totalling 2 fits\n")
    assert len(re.findall(r"\[CV 1/1\] END \.+C=10?;, score=0\.\d{3} total time=", printed)) == 2


def test_a_class_with_one_row_is_said_by_stratified_folds():
    X, y = load_iris(return_X_y=True)
    y[0] = 7
    for search in (GridSearchCV(SVC(), {"C": [1]}), SpanSearch(SVC(), {"C": [1]}, cv=5)):
        with pytest.warns(UserWarning, match="only 1 members"):
            search.fit(X, y)
    search = SpanSearch(SVC(tol=1e-9), {"C": [1]}).fit(X, y)
    retrained = cross_val_predict(SVC(tol=1e-9), X, y, cv=LeaveOneOut())
    assert retrained[0] != 7
    assert search.best_score_ == pytest.approx((retrained == y).mean())
