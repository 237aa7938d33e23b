"""SpanSearch against GridSearchCV, cross_val_predict and models trained one by one."""

from __future__ import annotations

import gc
import os
import pickle
import warnings
from itertools import combinations
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import (
    ConvergenceWarning,
    FitFailedWarning,
    NotFittedError,
    UnsetMetadataPassedError,
)
from sklearn.metrics import get_scorer, make_scorer, recall_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    ParameterSampler,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    QuantileTransformer,
    StandardScaler,
    minmax_scale,
)
from sklearn.svm import SVC, SVR

from spansvm import (
    ClassWeighting,
    SigmoidWeighting,
    SpanSearch,
    SpanSVC,
    Weighting,
    analyze,
    exact_loo,
)
from spansvm.common.methods import SELECTING
from spansvm.machine.criteria import CRITERIA
from spansvm.machine.dual import advice_on_stops
from spansvm.search.candidates.shared_data import SharedData
from spansvm.search.candidates.training_sets import TrainingSet

TIGHT = {"tol": 1e-8}


def small(n=80, seed=0, **options):
    return make_classification(n, n_features=5, flip_y=0.1, random_state=seed, **options)


def same_results(first, second, *, but=("time",)):
    assert first.cv_results_.keys() == second.cv_results_.keys()
    for key, column in first.cv_results_.items():
        if not any(word in key for word in but):
            np.testing.assert_array_equal(column, second.cv_results_[key], err_msg=key)
    assert first.best_index_ == second.best_index_


# What the scores are ------------------------------------------------------------------


def test_the_span_rule_of_every_candidate_is_that_of_the_model_trained_alone():
    X, y = small()
    grid = {"C": [0.1, 1, 10], "gamma": [0.1, 1.0], "class_weight": [None, {0: 1, 1: 3}]}
    search = SpanSearch(SVC(**TIGHT), grid, method="span_rule").fit(X, y)
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        svc = SVC(**TIGHT, **params).fit(X, y)
        assert score == pytest.approx(1 - analyze(svc, X, y).span_rule)


def test_candidates_do_not_depend_on_where_they_started():
    X, y = small(150, class_sep=0.5)
    grid = {"weighting__positive": 2.0 ** np.arange(-6, 9), "weighting__negative": [0.1, 1, 10]}
    model = SpanSVC(weighting=ClassWeighting(), gamma=0.5, tol=1e-9)
    search = SpanSearch(model, grid).fit(X, y)
    for i, params in enumerate(search.cv_results_["params"]):
        alone = clone(model).set_params(**params).fit(X, y)
        assert search.cv_results_["loo_error"][i] == alone.loo_error_
        solution = alone.solved_model().solution
        assert search.cv_results_["n_in_bound"][i] == solution.in_bound.sum()
        assert search.cv_results_["n_bounded"][i] == solution.bounded.sum()


def test_exact_leave_one_out_is_that_of_scikit_learn():
    X, y = small(60)
    search = SpanSearch(SVC(**TIGHT), {"C": [0.1, 10], "gamma": [0.5]}, method="loo").fit(X, y)
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        reference = cross_val_score(SVC(**TIGHT, **params), X, y, cv=LeaveOneOut())
        assert score == pytest.approx(reference.mean())


def test_exact_leave_one_out_of_three_classes():
    X, y = load_iris(return_X_y=True)
    rows = np.r_[0:150:3]
    X, y = X[rows], y[rows]
    search = SpanSearch(SVC(**TIGHT), {"C": [1, 100], "gamma": [0.1]}, method="loo").fit(X, y)
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        predicted = cross_val_predict(SVC(**TIGHT, **params), X, y, cv=LeaveOneOut())
        assert score == pytest.approx((predicted == y).mean())


@pytest.mark.parametrize(
    "scoring", [None, "roc_auc", "balanced_accuracy", ["f1", "average_precision"]]
)
def test_kfold_scores_are_those_of_grid_search_cv(scoring):
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(MinMaxScaler(), SVC(tol=1e-6))
    grid = {"svc__C": [0.1, 1, 100], "svc__gamma": ["scale", 0.1]}
    refit = "f1" if isinstance(scoring, list) else True
    options = {"scoring": scoring, "refit": refit, "cv": 3}
    ours = SpanSearch(model, grid, method="kfold", **options).fit(X, y)
    theirs = GridSearchCV(model, grid, **options).fit(X, y)
    for key in theirs.cv_results_:
        if "test_" in key and "rank" not in key:
            np.testing.assert_allclose(
                ours.cv_results_[key], theirs.cv_results_[key], atol=1e-9, err_msg=key
            )
    assert ours.n_splits_ == theirs.n_splits_ == 3
    assert ours.multimetric_ == theirs.multimetric_
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=0.01)


@pytest.mark.parametrize("kernel", ["linear", "poly", "precomputed"])
def test_kfold_of_other_kernels_and_more_classes(kernel):
    X, y = load_wine(return_X_y=True)
    X = minmax_scale(X)
    if kernel == "precomputed":
        X = X @ X.T
    model = SVC(kernel=kernel, tol=1e-6)
    options = {"param_grid": {"C": [0.1, 1, 10]}, "cv": KFold(4, shuffle=True, random_state=0)}
    ours = SpanSearch(model, method="kfold", **options).fit(X, y)
    theirs = GridSearchCV(model, **options).fit(X, y)
    for k in range(4):
        key = f"split{k}_test_score"
        np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key])


def test_sparse_rows_score_as_dense_ones():
    X, y = small()
    grid = {"C": [0.1, 1, 10]}
    for method in ("span_rule", "kfold"):
        dense = SpanSearch(SVC(gamma=0.1, **TIGHT), grid, method=method).fit(X, y)
        thin = SpanSearch(SVC(gamma=0.1, **TIGHT), grid, method=method).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(
            dense.cv_results_["mean_test_score"], thin.cv_results_["mean_test_score"]
        )


@pytest.mark.parametrize("method", sorted(set(CRITERIA) & set(SELECTING) - {"span_rule"}))
def test_criteria_are_those_of_the_analysis(method):
    X, y = small()
    search = SpanSearch(SVC(gamma=0.1, **TIGHT), {"C": [0.1, 10]}, method=method).fit(X, y)
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        analysis = analyze(SVC(gamma=0.1, **TIGHT, **params).fit(X, y), X, y)
        assert score == pytest.approx(1 - getattr(analysis, method), abs=1e-5)


@pytest.mark.parametrize(
    ("load", "names"),
    [
        (load_breast_cancer, ["accuracy", "roc_auc", "f1", "balanced_accuracy", "neg_log_loss"]),
        (load_wine, ["accuracy", "f1_macro", "roc_auc_ovr", "roc_auc_ovo", "neg_log_loss"]),
    ],
)
def test_any_scorer_works_on_leave_one_out_predictions(load, names):
    X, y = load(return_X_y=True)
    X = minmax_scale(X)
    grid = {"C": [1, 10]}
    search = SpanSearch(SVC(), grid, scoring=names, refit=names[0]).fit(X, y)
    for name in names:
        # Of two classes, the probabilities of SpanSVC agree with its labels, those of SVC need not.
        model = SVC() if "log_loss" in name or "brier" in name else SpanSVC()
        single = SpanSearch(model, grid, scoring=name).fit(X, y)
        np.testing.assert_allclose(
            single.cv_results_["mean_test_score"],
            search.cv_results_[f"mean_test_{name}"],
            atol=1e-6,
        )
    for i, params in enumerate(search.cv_results_["params"]):
        model = SpanSVC(**params).fit(X, y)
        assert search.cv_results_["mean_test_accuracy"][i] == pytest.approx(
            (model.loo_predict_ == y).mean()
        )


def test_roc_auc_is_that_of_comparable_leave_one_out_values():
    from sklearn.metrics import roc_auc_score

    X, y = small(120)
    search = SpanSearch(SpanSVC(gamma=0.2), {"C": [0.5, 5]}, scoring="roc_auc").fit(X, y)
    for i, params in enumerate(search.cv_results_["params"]):
        model = SpanSVC(gamma=0.2, **params).fit(X, y)
        expected = roc_auc_score(y, model.loo_ranking_)
        assert search.cv_results_["mean_test_score"][i] == pytest.approx(expected, abs=1e-6)


def test_a_scorer_may_return_several_scores():
    def both(estimator, X, y):
        predicted = estimator.predict(X)
        return {"right": (predicted == y).mean(), "positive": predicted.mean()}

    X, y = small()
    search = SpanSearch(SVC(), {"C": [0.1, 1, 10]}, scoring=both, refit="right").fit(X, y)
    assert search.multimetric_
    assert {"mean_test_right", "mean_test_positive"} <= search.cv_results_.keys()
    np.testing.assert_allclose(
        search.cv_results_["mean_test_right"], 1 - search.cv_results_["loo_error"]
    )
    with pytest.raises(ValueError, match="refit must be set to a scorer key"):
        SpanSearch(SVC(), {"C": [1]}, scoring=both).fit(X, y)


# What is shared -----------------------------------------------------------------------


class CountingScaler(TransformerMixin, BaseEstimator):
    fits = 0

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, y=None):
        type(self).fits += 1
        self.fitted_ = True
        return self

    def transform(self, X):
        return self.factor * np.asarray(X)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_transformers_are_fitted_once_for_each_setting(n_jobs):
    X, y = small()
    CountingScaler.fits = 0
    model = Pipeline([("scale", CountingScaler()), ("svc", SVC())])
    grid = {
        "scale__factor": [1.0, 2.0],
        "svc__gamma": [0.1, 1],
        "svc__C": np.logspace(-2, 2, 60),
        "svc__class_weight": [None, "balanced"],
    }
    SpanSearch(model, grid, refit=False, n_jobs=n_jobs, check_dependence=False).fit(X, y)
    # Before that, a step that is not known is fitted with the labels and with permuted ones.
    assert CountingScaler.fits == 2 + 2 * 2


def counted(A, B):
    counted.n_calls += 1
    return A @ B.T


def test_a_gram_matrix_is_computed_once_for_each_kernel():
    X, y = small()
    counted.n_calls = 0
    search = SpanSearch(SVC(kernel=counted), {"C": np.logspace(-2, 2, 60)}, refit=False)
    assert search.fit(X, y).dependence_ is not None
    assert counted.n_calls == 1


def test_steps_and_machines_can_be_replaced_by_the_grid():
    X, y = small()
    model = Pipeline([("scale", StandardScaler()), ("svc", SVC())])
    grid = [
        {"scale": [StandardScaler(), MinMaxScaler(), "passthrough"], "svc__C": [1.0, 10.0]},
        {"svc": [SpanSVC(kernel="linear"), SVC(kernel="poly")], "svc__C": [0.1]},
    ]
    search = SpanSearch(model, grid).fit(X, y)
    for params, error in zip(
        search.cv_results_["params"], search.cv_results_["loo_error"], strict=True
    ):
        fitted = clone(model).set_params(**params).fit(X, y)
        Z = fitted[:-1].transform(X) if params.get("scale") != "passthrough" else X
        exact = exact_loo(fitted[-1], Z, y)
        assert error == pytest.approx(np.mean((exact > 0) != (y == np.unique(y)[1])))


def test_a_machine_can_be_replaced_by_a_pipeline():
    X, y = small()
    machines = [SVC(tol=1e-6), make_pipeline(QuantileTransformer(n_quantiles=20), SVC(tol=1e-6))]
    model = Pipeline([("svc", SVC())])
    options = {"param_grid": {"svc": machines}, "cv": KFold(3)}
    ours = SpanSearch(model, method="kfold", **options).fit(X, y)
    theirs = GridSearchCV(model, **options).fit(X, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )
    assert len(set(ours.cv_results_["mean_test_score"])) == 2


def test_kernels_may_be_precomputed_or_not_in_one_grid():
    X, y = small()
    K = X @ X.T
    options = {"param_grid": {"kernel": ["precomputed", "rbf", "linear"]}, "cv": 3}
    ours = SpanSearch(SVC(tol=1e-6), method="kfold", **options).fit(K, y)
    theirs = GridSearchCV(SVC(tol=1e-6), **options).fit(K, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize("method", ["span_rule", "kfold"])
def test_transformers_that_work_in_place_leave_the_rows_alone(method):
    X, y = small()
    X = 10 * X + 30
    before = X.copy()
    results = []
    for copy in (True, False):
        model = make_pipeline(StandardScaler(copy=copy), SVC())
        search = SpanSearch(model, {"svc__C": [1, 10]}, method=method, refit=False).fit(X, y)
        np.testing.assert_array_equal(X, before)
        results.append(search.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_the_configuration_of_scikit_learn_reaches_the_workers(backend):
    X, y = small()
    frame = pd.DataFrame(X, columns=list("abcde"))
    chosen = ColumnTransformer([("kept", "passthrough", ["a", "b"])])
    model = make_pipeline(StandardScaler(), chosen, SVC())
    grid = {"svc__C": np.logspace(-2, 2, 60)}
    with config_context(transform_output="pandas"):
        alone = SpanSearch(model, grid).fit(frame, y)
        with joblib.parallel_config(backend=backend, n_jobs=2):
            together = SpanSearch(model, grid).fit(frame, y)
    same_results(alone, together)


def test_folds_may_be_masks_and_rows_a_list():
    X, y = small()
    mask = np.arange(len(y)) % 3 == 0
    cv = [(~mask, mask), (mask, ~mask)]
    ours = SpanSearch(SVC(tol=1e-6), {"C": [1, 10]}, method="kfold", cv=cv).fit(X.tolist(), y)
    theirs = GridSearchCV(SVC(tol=1e-6), {"C": [1, 10]}, cv=cv).fit(X, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )


def test_a_search_leaves_nothing_behind():
    X, y = small()

    def fails(estimator, X, y):
        raise ValueError("no")

    with pytest.warns(FitFailedWarning):
        SpanSearch(
            SVC(), {"gamma": [0.1, 1], "C": [1, 2]}, refit="good",
            scoring={"good": "accuracy", "bad": fails},
        ).fit(X, y)  # fmt: skip
    SpanSearch(SVC(), {"gamma": [0.1, 1], "C": np.arange(1, 60)}, n_jobs=2).fit(X, y)
    gc.collect()
    assert not [thing for thing in gc.get_objects() if isinstance(thing, TrainingSet)]


def test_all_chains_that_a_process_is_sent_share_data_and_the_data_are_not_sent():
    sent, other = SharedData(), SharedData()
    sent.builders.append(object())
    first, second = (pickle.loads(pickle.dumps(sent)) for _ in range(2))
    assert first is second
    assert first is not sent
    assert not first.builders
    assert pickle.loads(pickle.dumps(other)) is not first


def test_nested_pipelines():
    X, y = small()
    inner = Pipeline([("few", PCA(3)), ("svc", SpanSVC())])
    model = Pipeline([("scale", MinMaxScaler()), ("inner", inner)])
    grid = {"inner__few__n_components": [2, 4], "inner__svc__C": [1, 10]}
    search = SpanSearch(model, grid).fit(X, y)
    flat = Pipeline([("scale", MinMaxScaler()), ("few", PCA(3)), ("svc", SpanSVC())])
    other = SpanSearch(flat, {"few__n_components": [2, 4], "svc__C": [1, 10]}).fit(X, y)
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"]
    )
    assert (
        search.best_estimator_.named_steps["inner"].named_steps["svc"].loo_error_
        == (search.cv_results_["loo_error"][search.best_index_])
    )


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_results_do_not_depend_on_who_computes_them(backend):
    X, y = small(120)
    grid = {"C": 2.0 ** np.arange(-6, 8), "gamma": [0.05, 0.5], "class_weight": [None, "balanced"]}
    alone = SpanSearch(SVC(), grid).fit(X, y)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        together = SpanSearch(SVC(), grid).fit(X, y)
    same_results(alone, together)


def test_results_do_not_depend_on_the_order_of_the_candidates():
    X, y = small(120)
    values = (2.0 ** np.arange(-4, 6)).tolist()
    candidates = [{"C": c, "gamma": g} for c in values for g in (0.1, 0.4)]
    shuffled = [candidates[i] for i in np.random.default_rng(0).permutation(len(candidates))]
    first = SpanSearch(SVC(), candidates).fit(X, y)
    second = SpanSearch(SVC(), shuffled).fit(X, y)
    scores = dict(zip(map(str, shuffled), second.cv_results_["loo_error"], strict=True))
    np.testing.assert_array_equal(
        first.cv_results_["loo_error"], [scores[str(params)] for params in candidates]
    )
    assert first.best_params_ == second.best_params_


# The face of GridSearchCV -------------------------------------------------------------


@pytest.mark.parametrize("estimator", [SVC(), SpanSVC()])
def test_the_table_has_the_columns_of_grid_search_cv(estimator):
    X, y = small()
    grid = [
        {"C": [1, 0.5], "kernel": ["rbf"], "break_ties": [True]},
        {"class_weight": [None, "balanced", {0: 1, 1: 2}]},
    ]
    ours = SpanSearch(estimator, grid).fit(X, y)
    theirs = GridSearchCV(SVC(), grid, cv=2).fit(X, y)
    expected = {key for key in theirs.cv_results_ if not key.startswith("split")}
    more = {"loo_error", "loo_hinge", "n_in_bound", "n_bounded", "n_empty", "converged"}
    assert ours.cv_results_.keys() == expected | more | {"split0_test_score"}
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    for key in expected:
        if key.startswith("param_"):
            np.testing.assert_array_equal(
                ours.cv_results_[key].mask, theirs.cv_results_[key].mask, err_msg=key
            )
            assert ours.cv_results_[key].dtype == theirs.cv_results_[key].dtype
    assert pd.DataFrame(ours.cv_results_).shape == (5, len(ours.cv_results_))
    assert type(ours.best_estimator_) is type(estimator)
    assert ours.best_params_ == ours.cv_results_["params"][ours.best_index_]
    assert ours.best_score_ == ours.cv_results_["mean_test_score"].max()
    assert ours.cv_results_["rank_test_score"][ours.best_index_] == 1
    np.testing.assert_array_equal(ours.classes_, [0, 1])
    assert ours.n_features_in_ == 5


def test_the_search_predicts_as_its_best_estimator():
    X, y = small()
    search = SpanSearch(SpanSVC(), {"C": [0.1, 1, 10]}).fit(X, y)
    best = SpanSVC(**search.best_params_).fit(X, y)
    for method in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
        np.testing.assert_array_equal(getattr(search, method)(X), getattr(best, method)(X))
    assert search.score(X, y) == best.score(X, y)


@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba"])
def test_a_search_without_probabilities_says_what_has_them(method):
    X, y = small()
    search = SpanSearch(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10]})
    for _ in range(2):
        assert not hasattr(search, method)
        with pytest.raises(AttributeError, match=f"no attribute '{method}'") as raised:
            getattr(search, method)
        said = str(raised.value.__cause__)
        assert said.startswith(f"SVC has no {method} without probability=True")
        assert "Search a SpanSVC in its place" in said
        assert "committee_" in said
        search.fit(X, y)
    assert getattr(search.committee_, method)(X).shape == (y.size, 2)
    wrapped = SpanSearch(OneVsRestClassifier(SVC()), {"estimator__C": [1, 10]}).fit(X, y)
    with pytest.raises(AttributeError) as raised:
        getattr(wrapped, method)
    assert "committee_" not in str(raised.value.__cause__)
    assert not hasattr(SpanSearch(SVR(), {"C": [1]}), method)


def test_feature_names_and_data_frames_pass_through():
    data = load_iris(as_frame=True)
    search = SpanSearch(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10]})
    search.fit(data.data, data.target)
    assert list(search.feature_names_in_) == list(data.data.columns)
    assert search.score(data.data, data.target) > 0.95


def test_a_search_can_be_searched_copied_and_stored():
    X, y = small()
    search = SpanSearch(SpanSVC(), {"C": [0.1, 1, 10]})
    assert cross_val_score(search, X, y, cv=3).shape == (3,)
    again = pickle.loads(pickle.dumps(search.fit(X, y)))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    assert clone(search).get_params()["param_grid"] == search.param_grid


def test_refit_may_be_off_or_a_function():
    X, y = small()
    grid = {"C": [0.01, 1, 100]}
    off = SpanSearch(SVC(), grid, refit=False).fit(X, y)
    assert off.best_params_ in off.cv_results_["params"]
    assert not hasattr(off, "predict")
    with pytest.raises(AttributeError, match="made with `refit=False`"):
        off.score(X, y)
    last = SpanSearch(SVC(), grid, refit=lambda table: len(table["params"]) - 1).fit(X, y)
    assert last.best_params_ == {"C": 100}
    assert last.best_estimator_.C == 100
    several = SpanSearch(SVC(), grid, scoring=["f1", "roc_auc"], refit=False).fit(X, y)
    assert not hasattr(several, "best_index_")
    with pytest.raises(ValueError, match="For multi-metric scoring, the parameter refit must be"):
        SpanSearch(SVC(), grid, scoring=["f1", "roc_auc"]).fit(X, y)


@pytest.mark.parametrize("scoring", [["accuracy"], {"accuracy": "accuracy"}])
def test_one_score_may_have_a_name(scoring):
    X, y = small()
    search = SpanSearch(SVC(), {"C": [1, 10]}, scoring=scoring, refit="accuracy").fit(X, y)
    assert search.multimetric_
    assert search.best_score_ == search.cv_results_["mean_test_accuracy"].max()
    with pytest.raises(ValueError, match="parameter refit must be"):
        SpanSearch(SVC(), {"C": [1, 10]}, scoring=scoring).fit(X, y)


def test_values_of_a_parameter_may_be_lists():
    X, y = small()
    model = Pipeline([("columns", ColumnTransformer([])), ("svc", SVC())])
    values = [[("a", "passthrough", [0, 1])], [("a", "passthrough", [0, 1, 2])]]
    search = SpanSearch(model, {"columns__transformers": values}).fit(X, y)
    assert list(search.cv_results_["param_columns__transformers"]) == values
    scaler = Pipeline([("scale", MinMaxScaler()), ("svc", SVC())])
    candidates = [{"scale__feature_range": (0, 1), "svc__C": 1.0}, {"svc__C": 2.0}]
    assert SpanSearch(scaler, candidates).fit(X, y).cv_results_["params"] == candidates


def test_candidates_may_come_from_a_sampler():
    X, y = small()
    sampler = ParameterSampler({"C": np.logspace(-2, 2, 50), "gamma": [0.1, 1]}, 12, random_state=0)
    search = SpanSearch(SVC(), sampler).fit(X, y)
    assert search.cv_results_["params"] == list(sampler)
    one_by_one = SpanSearch(SVC(), iter([{"C": 1}, {"C": 2, "class_weight": {0: 1, 1: 2}}]))
    assert len(one_by_one.fit(X, y).cv_results_["params"]) == 2


def test_a_progress_bar_shows_what_is_done(capsys):
    X, y = small()
    SpanSearch(SVC(), {"C": [0.1, 1, 10]}, verbose=1).fit(X, y)
    shown = capsys.readouterr().err
    assert "3/3" in shown
    assert "best 0." in shown
    SpanSearch(SVC(), {"C": [0.1, 1, 10]}).fit(X, y)
    assert capsys.readouterr().err == ""


# Weights, scores, groups --------------------------------------------------------------


def test_rows_of_zero_weight_are_not_there():
    X, y = small()
    weight = np.ones(len(y))
    weight[::4] = 0
    grid = {"C": [0.1, 1, 10], "gamma": [0.3]}
    for options in ({}, {"scoring": "balanced_accuracy"}, {"method": "span_count"}):
        model = SpanSVC(**TIGHT)
        zero = SpanSearch(model, grid, **options).fit(X, y, sample_weight=weight)
        removed = SpanSearch(model, grid, **options).fit(X[weight > 0], y[weight > 0])
        np.testing.assert_allclose(
            zero.cv_results_["mean_test_score"], removed.cv_results_["mean_test_score"]
        )


class Discard(Weighting):
    """No weight for unimportant instances."""

    def __init__(self, below=0.0):
        self.below = below

    def instance_weights(self, y, scores):
        return (scores >= self.below).astype(float)


@pytest.mark.parametrize("method", ["span_rule", "span_count", "sv_count", "loo"])
def test_a_weighting_cannot_win_by_discarding_what_is_hard(method):
    X, y = small(120, class_sep=0.7)
    model = SpanSVC(gamma=0.3, weighting=Discard(), **TIGHT)
    easy = SpanSVC(gamma=0.3).fit(X, y).loo_decision_function_ * (2 * y - 1)
    scores = (easy > 0.2).astype(float)
    search = SpanSearch(model, {"weighting__below": [0.0, 0.5]}, method=method)
    search.fit(X, y, scores=scores)
    kept = scores > 0
    part = SpanSVC(gamma=0.3, **TIGHT).fit(X[kept], y[kept])
    wrong = (part.predict(X[~kept]) != y[~kept]).sum()
    counted = (1 - search.cv_results_["mean_test_score"][1]) * len(y)
    assert round(counted) >= wrong > 0


def test_scores_go_to_the_weighting_with_and_without_a_pipeline():
    X, y = small()
    scores = np.random.default_rng(0).random(len(y))
    model = SpanSVC(weighting=SigmoidWeighting(), gamma=0.2, **TIGHT)
    grid = {"weighting__steepness": [1.0, 10.0], "weighting__ceiling": [1.0, 10.0]}
    plain = SpanSearch(model, grid).fit(X, y, scores=scores)
    piped = SpanSearch(
        Pipeline([("pass", "passthrough"), ("svc", model)]),
        {f"svc__{name}": values for name, values in grid.items()},
    ).fit(X, y, svc__scores=scores)
    np.testing.assert_array_equal(
        plain.cv_results_["mean_test_score"], piped.cv_results_["mean_test_score"]
    )
    for i, params in enumerate(plain.cv_results_["params"]):
        alone = clone(model).set_params(**params).fit(X, y, scores=scores)
        assert plain.cv_results_["loo_error"][i] == pytest.approx(alone.loo_error_, abs=1 / len(y))
    assert plain.best_estimator_.loo_error_ == pytest.approx(1 - plain.best_score_, abs=1 / len(y))
    cv = KFold(3)
    kfold = SpanSearch(model, grid, method="kfold", cv=cv).fit(X, y, scores=scores)
    for i, params in enumerate(kfold.cv_results_["params"]):
        for k, (train, test) in enumerate(cv.split(X)):
            alone = clone(model).set_params(**params).fit(X[train], y[train], scores=scores[train])
            expected = alone.score(X[test], y[test])
            assert kfold.cv_results_[f"split{k}_test_score"][i] == pytest.approx(expected)


def test_sample_weights_in_kfold_are_those_of_grid_search_cv():
    X, y = small(120)
    weight = np.random.default_rng(0).uniform(0.2, 3, len(y))
    model, grid = SVC(gamma=0.2, tol=1e-6), {"C": [0.1, 1, 10]}
    for scoring in (None, "roc_auc", ["f1", "accuracy"]):
        options = {"cv": KFold(3), "scoring": scoring, "refit": False, "return_train_score": True}
        ours = SpanSearch(model, grid, **options).fit(X, y, sample_weight=weight)
        theirs = GridSearchCV(model, grid, **options).fit(X, y, sample_weight=weight)
        for name, column in theirs.cv_results_.items():
            if "_test_" in name or "_train_" in name:  # also whether scores are weighted
                np.testing.assert_allclose(ours.cv_results_[name], column, atol=1e-12)


def test_groups_reach_the_splitter():
    X, y = small(90)
    groups = np.repeat(np.arange(9), 10)
    grid = {"C": [0.1, 1, 10]}
    cv = GroupKFold(3)
    ours = SpanSearch(SVC(tol=1e-6), grid, method="kfold", cv=cv).fit(X, y, groups=groups)
    theirs = GridSearchCV(SVC(tol=1e-6), grid, cv=cv).fit(X, y, groups=groups)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )


def test_metadata_routing():
    X, y = small(90)
    rng = np.random.default_rng(0)
    weight, scores = rng.uniform(0.2, 3, len(y)), rng.random(len(y))
    model = SpanSVC(weighting=SigmoidWeighting(), gamma=0.2, **TIGHT)
    grid = {"weighting__ceiling": [1.0, 10.0]}
    plain = SpanSearch(model, grid).fit(X, y, sample_weight=weight, scores=scores)
    with config_context(enable_metadata_routing=True):
        with pytest.raises(UnsetMetadataPassedError):
            SpanSearch(model, grid).fit(X, y, sample_weight=weight)
        asking = clone(model).set_fit_request(sample_weight=True, scores=True)
        asking.set_score_request(sample_weight=False)
        routed = SpanSearch(asking, grid).fit(X, y, sample_weight=weight, scores=scores)
        same_results(plain, routed)
        np.testing.assert_array_equal(
            plain.best_estimator_.dual_coef_, routed.best_estimator_.dual_coef_
        )
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        pipe = Pipeline([("scale", scaler), ("svc", asking)])
        unweighted = get_scorer("accuracy").set_score_request(sample_weight=False)
        piped = SpanSearch(pipe, {"svc__weighting__ceiling": [1.0, 10.0]}, scoring=unweighted)
        piped.fit(X, y, sample_weight=weight, scores=scores)
        Z = StandardScaler().fit(X, sample_weight=weight).transform(X)
        other = SpanSearch(asking, grid, scoring=unweighted)
        other.fit(Z, y, sample_weight=weight, scores=scores)
        np.testing.assert_array_equal(
            piped.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"]
        )
        weighted = get_scorer("accuracy").set_score_request(sample_weight=True)
        search = SpanSearch(
            asking, grid, scoring={"with": weighted, "without": unweighted}, refit="with"
        ).fit(X, y, sample_weight=weight, scores=scores)
        for i, params in enumerate(search.cv_results_["params"]):
            alone = clone(model).set_params(**params).fit(X, y, weight, scores)
            right = alone.loo_predict_ == y
            expected = np.average(right, weights=weight)
            assert search.cv_results_["mean_test_with"][i] == pytest.approx(expected)
            assert search.cv_results_["mean_test_without"][i] == pytest.approx(right.mean())
        asking.set_score_request(sample_weight=True)
        itself = SpanSearch(asking, grid).fit(X, y, sample_weight=weight, scores=scores)
        np.testing.assert_allclose(
            itself.cv_results_["mean_test_score"], search.cv_results_["mean_test_with"]
        )
        groups = np.repeat(np.arange(9), 10)
        grouped = SpanSearch(SVC(), {"C": [1, 10]}, method="kfold", cv=GroupKFold(3))
        grouped.fit(X, y, groups=groups)
    ungrouped = SpanSearch(SVC(), {"C": [1, 10]}, method="kfold", cv=GroupKFold(3))
    same_results(grouped, ungrouped.fit(X, y, groups=groups))


# When things go wrong -----------------------------------------------------------------


def test_a_candidate_that_fails_is_ranked_last_and_the_search_goes_on():
    X, y = small()
    with pytest.warns(
        FitFailedWarning, match="2 of 4 fits failed; 1 of them with ValueError: C must be"
    ):
        search = SpanSearch(SVC(), [{"C": [1, -1, 10]}, {"gamma": [-3.0]}]).fit(X, y)
    np.testing.assert_array_equal(
        np.isnan(search.cv_results_["mean_test_score"]), [False, True, False, True]
    )
    assert search.cv_results_["rank_test_score"][1] == search.cv_results_["rank_test_score"][3] == 3
    np.testing.assert_array_equal(search.cv_results_["converged"], [True, False, True, False])
    with pytest.warns(FitFailedWarning):
        zero = SpanSearch(SVC(), {"C": [1, -1]}, error_score=0.0).fit(X, y)
    assert zero.cv_results_["mean_test_score"][1] == 0.0
    with pytest.raises(ValueError, match="C must be a positive number"):
        SpanSearch(SVC(), {"C": [1, -1]}, error_score="raise").fit(X, y)
    with pytest.raises(ValueError, match="3 of 3 fits failed"):
        SpanSearch(SVC(), {"C": [-1, -2, -3]}).fit(X, y)


@pytest.mark.parametrize("options", [{}, {"cv": 3}, {"scoring": "roc_auc"}])
def test_a_candidate_that_does_not_converge_is_scored_and_said(options):
    X, y = small(200, class_sep=0.3)
    model = SpanSVC(gamma=1, max_iter=300)
    with pytest.warns(ConvergenceWarning, match="stopped early, with the KKT conditions") as said:
        search = SpanSearch(model, {"C": [1e4, 1e-6]}, refit=False, **options).fit(X, y)
    assert said[0].filename == __file__
    np.testing.assert_array_equal(search.cv_results_["converged"], [False, True])
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("model", [SpanSVC(max_iter=20), SVC(max_iter=20)])
def test_a_search_in_which_nothing_converges_selects_all_the_same(model):
    X, y = small(200, class_sep=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = SpanSearch(model, {"C": [10, 1e4]}).fit(X, y)
    assert not search.cv_results_["converged"].any()
    assert search.predict(X).shape == y.shape


@pytest.mark.parametrize("method", ["span_rule", "loo"])
@pytest.mark.parametrize("groups", [None, np.arange(150) // 3])
def test_unfinished_models_still_rank_the_rows(method, groups):
    X, y = make_classification(150, 5, flip_y=0.2, random_state=0)
    areas = []
    for max_iter in (150, -1):
        search = SpanSearch(
            SpanSVC(max_iter=max_iter), {"C": [100]}, method=method, scoring="roc_auc", refit=False
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            areas.append(search.fit(X, y, groups=groups).best_score_)
        assert search.cv_results_["converged"][0] == (max_iter == -1)
        assert search.cv_results_["std_test_score"][0] > 0.02
    assert abs(areas[0] - areas[1]) < 0.05


def test_raising_the_tolerance_is_advised_only_where_it_can_help():
    X, y = small(200, class_sep=0.3)
    with pytest.warns(ConvergenceWarning, match=r"or raise max_iter\.$"):
        SpanSearch(SpanSVC(gamma=1, max_iter=3), {"C": [1e4]}, refit=False).fit(X, y)
    assert advice_on_stops(0.01).endswith("or raise max_iter, or tol.")


def test_a_fold_with_one_class_costs_that_fold():
    X, y = small()
    one, two = np.flatnonzero(y == 0), np.arange(len(y))
    search = SpanSearch(SVC(), {"C": [1]}, method="kfold", cv=[(one, two), (two, one)])
    named = "all training rows of fold 0 are of class 0"
    with (
        pytest.warns(UserWarning, match="NaN for all candidates; the first is selected"),
        pytest.warns(FitFailedWarning, match=named),
    ):
        search.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = GridSearchCV(SVC(), {"C": [1]}, cv=search.cv).fit(X, y)
    for found in (search, theirs):
        assert np.isnan(found.best_score_)
        assert found.best_params_ == {"C": 1}
        assert found.cv_results_["rank_test_score"].tolist() == [1]
        assert np.isnan(found.cv_results_["split0_test_score"]).all()
    assert search.predict(X).size == y.size
    with pytest.raises(ValueError, match=named):
        search.set_params(error_score="raise").fit(X, y)
    search.set_params(error_score=0.0)
    with pytest.warns(FitFailedWarning, match="greater than one; got 1 class"):
        search.fit(X, y)
    expected = SVC(C=1).fit(X, y).score(X[one], y[one])
    assert search.cv_results_["split0_test_score"][0] == 0.0
    assert search.cv_results_["split1_test_score"][0] == pytest.approx(expected, abs=0.03)


def test_a_scorer_that_fails_costs_its_own_score():
    def bad(estimator, X, y):
        raise RuntimeError("not today")

    X, y = small()
    search = SpanSearch(
        SVC(), {"C": [1, 10]}, scoring={"good": "accuracy", "bad": bad}, refit="good"
    )
    with pytest.warns(FitFailedWarning, match="not today"):
        search.fit(X, y)
    assert np.isnan(search.cv_results_.get("mean_test_bad", np.nan)).all()
    assert not np.isnan(search.cv_results_["mean_test_good"]).any()


def test_folds_without_known_classes_are_left_out_of_the_hinge_loss():
    X, y = load_iris(return_X_y=True)  # sorted: each fold is a class of its own
    options = {"param_grid": {"C": [0.1, 1]}, "cv": KFold(3)}
    ours = SpanSearch(SVC(), method="kfold", **options).fit(X, y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], 0.0)
    mixed = SpanSearch(SVC(), {"C": [0.1, 1]}, method="kfold", cv=KFold(5)).fit(X[:120], y[:120])
    assert not np.isnan(mixed.cv_results_["loo_hinge"]).any()


def test_scores_that_are_nan_are_said():
    def picky(estimator, X, y):
        return np.nan if estimator.settings.C < 1 else 0.5

    X, y = small()
    with pytest.warns(UserWarning, match="'score' is NaN for 1 of 2 candidates"):
        search = SpanSearch(SVC(), {"C": [0.1, 10]}, scoring=picky).fit(X, y)
    assert search.best_params_ == {"C": 10}


def test_an_error_can_stop_the_search_at_once():
    trained = []

    class Counting(Weighting):
        def __init__(self, at=0.0):
            self.at = at

        def instance_weights(self, y, scores):
            trained.append(self.at)
            raise ValueError("no weights")

    X, y = small()
    model = SpanSVC(weighting=Counting())
    with pytest.raises(ValueError, match="no weights"):
        SpanSearch(model, {"weighting__at": np.arange(9.0)}, error_score="raise").fit(X, y)
    assert trained == [0.0]


class Interrupted(Weighting):
    def __init__(self, at=0.0):
        self.at = at

    def instance_weights(self, y, scores):
        if self.at == 3.0:
            raise KeyboardInterrupt
        return np.ones(y.size)


def test_an_interrupt_keeps_what_is_done():
    X, y = small()
    search = SpanSearch(SpanSVC(weighting=Interrupted()), {"weighting__at": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(KeyboardInterrupt):
        search.set_params(error_score="raise").fit(X, y)
    assert [params["weighting__at"] for params in search.cv_results_["params"]] == [1.0, 2.0]
    assert search.best_params_ == {"weighting__at": 1.0}
    with pytest.raises(NotFittedError):
        search.predict(X)
    at_once = SpanSearch(SpanSVC(weighting=Interrupted()), {"weighting__at": [3.0]})
    with pytest.raises(KeyboardInterrupt):
        at_once.fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "jackknife"}, "method must be None or one of verified"),
        ({"ties": "best"}, "ties must be one of plateau"),
        ({"method": "span_bound", "scoring": "f1"}, "no predictions"),
        ({"param_grid": []}, "param_grid is empty"),
        ({"param_grid": [{"C": [1]}, {"Cc": [2]}]}, "Invalid parameter 'Cc'"),
        ({"scoring": []}, "scoring must be a name"),
        ({"refit": None}, "refit must be True"),
        ({"error_score": "nan"}, "error_score must be 'raise' or a number"),
        ({"n_jobs": "a"}, "n_jobs must be None or a whole number other than 0; got 'a'"),
        ({"verbose": None}, "verbose must be a whole number of at least 0; got None"),
    ],
)
def test_errors_say_what_would_be_right(options, message):
    X, y = small()
    options = {"param_grid": {"C": [1]}, **options}
    with pytest.raises(ValueError, match=message):
        SpanSearch(SVC(), **options).fit(X, y)


def test_other_errors_say_what_would_be_right():
    X, y = small()
    with pytest.raises(TypeError, match="should have a 'score' method"):
        SpanSearch(make_pipeline(SVC(), StandardScaler()), {"svc__C": [1]}).fit(X, y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        SpanSearch(SVC(), {"C": [1]}).fit(X)
    with pytest.raises(TypeError, match="param_grid must be"):
        SpanSearch(SVC(), 3).fit(X, y)
    with pytest.raises(ValueError, match="defined for two classes; y has 3"):
        SpanSearch(SVC(), {"C": [1]}, method="xi_alpha").fit(*load_iris(return_X_y=True))
    with pytest.raises(TypeError, match="unexpected argument 'weights'"):
        SpanSearch(SVC(), {"C": [1]}).fit(X, y, weights=y)
    with pytest.raises(TypeError, match="twice"):
        SpanSearch(make_pipeline(SVC()), {"svc__C": [1]}).fit(
            X, y, sample_weight=y + 1.0, svc__sample_weight=y + 1.0
        )
    with pytest.raises(ValueError, match="sample_weight must not be negative"):
        SpanSearch(SVC(), {"C": [1]}).fit(X, y, sample_weight=y - 1.0)
    with pytest.raises(ValueError, match="scores must be between 0 and 1"):
        SpanSearch(SpanSVC(weighting=SigmoidWeighting()), {"C": [1]}).fit(X, y, scores=y * 2.0)
    with pytest.raises(NotFittedError):
        SpanSearch(SVC(), {"C": [1]}).predict(X)


def test_an_indefinite_kernel_is_said_once():
    X, y = small()
    with pytest.warns(UserWarning, match="not positive semidefinite") as said:
        SpanSearch(SVC(kernel="sigmoid", gamma=1, coef0=-1), {"C": [0.1, 1, 10]}).fit(X, y)
    assert len(said) == 1


def test_a_scorer_must_predict_the_rows_that_it_is_given():
    def half(estimator, X, y):
        return (estimator.predict(X[::2]) == y[::2]).mean()

    X, y = small()
    with pytest.raises(ValueError, match="must predict exactly the rows it is given"):
        SpanSearch(SVC(), {"C": [1]}, scoring=half).fit(X, y)


def test_own_scorers_with_arguments():
    X, y = small()
    scorer = make_scorer(recall_score, pos_label=0)
    search = SpanSearch(SpanSVC(**TIGHT), {"C": [0.1, 1]}, scoring=scorer).fit(X, y)
    model = SpanSVC(**TIGHT, **search.best_params_).fit(X, y)
    expected = recall_score(y, model.loo_predict_, pos_label=0)
    assert search.best_score_ == pytest.approx(expected)


class DiesOnce(Weighting):
    """Takes its process with it, the first time."""

    def __init__(self, at=0.0, marker=""):
        self.at, self.marker = at, marker

    def instance_weights(self, y, scores):
        if self.at == 30.0 and not os.path.exists(self.marker):
            Path(self.marker).touch()
            os._exit(1)
        return np.ones(y.size)


def test_what_is_lost_with_a_worker_is_computed_again(tmp_path):
    X, y = small()
    model = SpanSVC(weighting=DiesOnce(marker=str(tmp_path / "died")))
    search = SpanSearch(model, {"weighting__at": np.arange(60.0), "gamma": [0.1, 1.0]})
    with (
        joblib.parallel_config(backend="loky", n_jobs=2),
        pytest.warns(RuntimeWarning, match="A worker was lost"),
    ):
        results = search.fit(X, y).cv_results_
    assert (tmp_path / "died").exists()
    assert not np.isnan(results["mean_test_score"]).any()


# Parts that a candidate shares with others ---------------------------------------------


def hinge_by_pairs(X, y, **parameters):
    """Mean hinge loss of left-out rows, from the analysis of a model for each pair of classes."""
    losses = []
    for pair in combinations(np.unique(y), 2):
        rows = np.isin(y, pair)
        analysis = analyze(SpanSVC(**parameters).fit(X[rows], y[rows]))
        signs = np.where(y[rows] == pair[1], 1.0, -1.0)
        losses.append(np.maximum(0.0, 1.0 - signs * analysis.loo_decision))
    return np.concatenate(losses).mean()


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_the_hinge_loss_is_that_of_left_out_rows_by_pairs_of_classes(load):
    X, y = load(return_X_y=True)
    X, y = minmax_scale(X)[::3], y[::3]
    options = {"method": "span_rule", "refit": False}
    search = SpanSearch(SVC(**TIGHT), {"C": [0.5, 20.0], "gamma": [1.0]}, **options).fit(X, y)
    for params, found in zip(
        search.cv_results_["params"], search.cv_results_["loo_hinge"], strict=True
    ):
        assert found == pytest.approx(hinge_by_pairs(X, y, **params, **TIGHT), abs=1e-5)


def test_every_parameter_of_the_kernel_makes_another_gram_matrix():
    X, y = small()
    grid = {"gamma": [0.1, 0.3], "degree": [2, 3], "coef0": [0.0, 2.0]}
    model = SpanSVC(kernel="poly", C=0.1, **TIGHT)
    search = SpanSearch(model, grid, method="span_rule", refit=False).fit(X, y)
    alone = [
        hinge_by_pairs(X, y, kernel="poly", C=0.1, **params, **TIGHT)
        for params in search.cv_results_["params"]
    ]
    np.testing.assert_allclose(search.cv_results_["loo_hinge"], alone, atol=1e-5)
    assert np.unique(np.round(alone, 4)).size == len(alone)


class Little(Weighting):
    """Little weight, or none, for rows of low scores."""

    def __init__(self, weight=0.0):
        self.weight = weight

    def instance_weights(self, y, scores):
        return np.where(scores < 0.5, self.weight, 1.0)


def test_vectors_that_come_to_their_bounds_have_spans_although_the_hull_stays():
    X, y = small(120, class_sep=0.7)
    model = SpanSVC(gamma=0.3, weighting=Little(), **TIGHT)
    wrong = SpanSVC(gamma=0.3).fit(X, y).loo_predict_ != y
    scores = np.where(wrong & (np.arange(y.size) % 2 == 0), 0.0, 1.0)
    grid = {"weighting__weight": [0.0, 1e-5]}
    together = SpanSearch(model, grid, refit=False).fit(X, y, scores=scores)
    n_in_bound, n_bounded = (together.cv_results_[f"n_{kind}"] for kind in ("in_bound", "bounded"))
    assert n_in_bound[0] == n_in_bound[1]
    assert n_bounded[0] < n_bounded[1]
    for index, weight in enumerate(grid["weighting__weight"]):
        alone = SpanSearch(model, {"weighting__weight": [weight]}, refit=False)
        alone.fit(X, y, scores=scores)
        assert together.cv_results_["loo_hinge"][index] == pytest.approx(
            alone.cv_results_["loo_hinge"][0], abs=1e-9
        )


def test_the_budget_of_a_search_is_in_place_of_that_of_the_machine():
    X, y = small()
    grid = {"C": [1.0, 10.0], "gamma": [0.3]}
    single = 4 * y.size**2  # bytes: a matrix in single precision, not in double
    plain = SpanSearch(SpanSVC(), grid, refit=False).fit(X, y)
    own = SpanSearch(SpanSVC(gram_budget=single), grid, refit=False).fit(X, y)
    given = SpanSearch(SpanSVC(), grid, refit=False, gram_budget=single).fit(X, y)
    same_results(given, own)
    assert (given.cv_results_["loo_hinge"] != plain.cv_results_["loo_hinge"]).all()
    np.testing.assert_allclose(
        given.cv_results_["loo_hinge"], plain.cv_results_["loo_hinge"], atol=1e-4
    )


def test_the_refit_keeps_to_the_budget_of_the_search():
    X, y = small()
    single = 4 * y.size**2
    search = SpanSearch(SpanSVC(), {"C": [1.0]}, gram_budget=single).fit(X, y)
    assert search.best_estimator_.gram_budget is None
    assert search.best_estimator_.machines_.grams().whole.dtype == np.float32


def test_empty_sets_are_counted_over_all_pairs_of_classes():
    X, y = load_iris(return_X_y=True)
    X, y = minmax_scale(X)[::2], y[::2]
    weight = 10.0 ** np.random.default_rng(1).uniform(-2, 2, y.size)
    grid = {"C": [0.001, 0.01, 0.1]}
    search = SpanSearch(SVC(gamma=2.0, **TIGHT), grid, refit=False)
    search.fit(X, y, sample_weight=weight)
    for C, found in zip(grid["C"], search.cv_results_["n_empty"], strict=True):
        each = []
        for pair in combinations(range(3), 2):
            rows = np.isin(y, pair)
            model = SpanSVC(C=C, gamma=2.0, **TIGHT)
            each.append(analyze(model.fit(X[rows], y[rows], sample_weight=weight[rows])).n_empty)
        assert found == sum(each)
        assert sum(each[1:]) > 0


def test_a_candidate_after_one_that_failed_starts_from_nothing():
    X, y = small(200)
    model = SpanSVC(C=100.0, gamma=0.3)
    with pytest.warns(ConvergenceWarning, match="1 of 2 fits stopped early"):
        search = SpanSearch(model, {"max_iter": [3, 10**6]}, refit=False).fit(X, y)
    alone = SpanSearch(model, {"max_iter": [10**6]}, refit=False).fit(X, y)
    assert list(search.cv_results_["converged"]) == [False, True]
    assert search.cv_results_["loo_hinge"][1] == alone.cv_results_["loo_hinge"][0]


def test_scores_that_differ_by_rounding_share_a_rank():
    def score(model, X, y):
        return {1.0: 0.3, 2.0: 0.1 + 0.2, 3.0: 0.2}[model.settings.C]

    X, y = small(20)
    search = SpanSearch(SpanSVC(), {"C": [1.0, 2.0, 3.0]}, scoring=score, refit=False).fit(X, y)
    assert list(search.cv_results_["rank_test_score"]) == [1, 1, 3]


@pytest.mark.parametrize("labels", [(0, 1), (1, 0)])
def test_a_left_out_value_of_exactly_zero_is_an_error_of_either_class(labels):
    """Without the first row the others put the boundary on it; the last is alone in its class."""
    X, y = np.array([[1.0], [0.0], [2.0]]), np.array(labels)[[0, 0, 1]]
    model = SpanSVC(kernel="linear", C=0.5).fit(X, y)
    assert analyze(model).loo_decision[0] == 0.0
    assert analyze(model).span_rule == pytest.approx(2 / 3)
    assert model.loo_error_ == pytest.approx(2 / 3)
    search = SpanSearch(model, {"C": [0.5]}, refit=False).fit(X, y)
    assert search.cv_results_["loo_error"][0] == pytest.approx(2 / 3)
    assert search.best_score_ == pytest.approx(1 / 3)


@pytest.mark.parametrize("label", [0, 1])
def test_a_discarded_row_on_the_boundary_is_an_error_of_a_bound(label):
    X = np.array([[-2.0], [-1.0], [1.0], [2.0], [0.0]])
    y = np.array([0, 0, 1, 1, label])
    scores = np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    model = SpanSVC(kernel="linear", C=10.0, weighting=Little(), **TIGHT)
    assert model.fit(X, y, scores=scores).decision_function(X)[4] == 0.0
    search = SpanSearch(model, {"C": [10.0]}, method="sv_count").fit(X, y, scores=scores)
    assert search.best_score_ == pytest.approx(1 - 3 / 5)  # two support vectors, and the row


def test_exact_leave_one_out_is_exact_however_loose_the_tolerance_and_small_the_budget():
    X, y = small()
    grid, options = {"C": [0.3, 3.0]}, {"method": "loo", "refit": False}
    expected = SpanSearch(SVC(gamma=0.3), grid, **options).fit(X, y)
    loose = SpanSearch(SVC(gamma=0.3, tol=0.1), grid, gram_budget=1.0, **options).fit(X, y)
    for name in ("loo_hinge", "mean_test_score"):
        np.testing.assert_allclose(loose.cv_results_[name], expected.cv_results_[name], atol=1e-6)
