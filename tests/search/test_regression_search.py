"""Searches of an SVR against GridSearchCV, refits and bootstraps."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, RegressorMixin, clone, is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer, r2_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    RandomizedSearchCV,
    cross_val_predict,
)
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler, scale
from sklearn.svm import SVR, LinearSVR, NuSVR
from sklearn.utils.validation import check_is_fitted

from spansvm import SpanRandomizedSearch, SpanSearch, SpanSVR
from spansvm.search import SearchStoppedWarning, UnacceleratedWarning
from spansvm.search.evaluation import stages

X, Y = load_diabetes(return_X_y=True)
X, Y = scale(X)[:90], Y[:90]
GRID = {"C": [1.0, 10.0, 100.0], "gamma": [0.01, 0.1], "epsilon": [0.0, 10.0]}
MACHINES = [SVR(tol=1e-9), SpanSVR(tol=1e-9)]


class Told(RegressorMixin, BaseEstimator):
    """Predicts what it is told."""

    def __init__(self, values=None):
        self.values = values

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, rows):
        return self.values


def left_out(estimator, X, y, cv=None, **others):
    """What refits predict for left-out rows."""
    return cross_val_predict(estimator, X, y, cv=LeaveOneOut() if cv is None else cv, **others)


SCORERS = [
    name
    for name in get_scorer_names()
    if get_scorer(name)._score_func.__module__ == "sklearn.metrics._regression"
]


def test_scorers_of_regression_were_found():
    assert {"r2", "neg_mean_squared_error", "neg_median_absolute_error"} <= set(SCORERS)
    assert len(SCORERS) >= 10


# Folds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", MACHINES, ids=["SVR", "SpanSVR"])
@pytest.mark.parametrize("cv", [3, KFold(4, shuffle=True, random_state=1)])
def test_folds_are_those_of_grid_search(machine, cv):
    scoring = ["r2", "neg_mean_squared_error", "neg_mean_absolute_error"]
    params = {"cv": cv, "scoring": scoring, "refit": "r2", "return_train_score": True}
    # LibSVM keeps kernel values in single precision: not with larger weights.
    grid = {**GRID, "C": [0.3, 1.0, 10.0]}
    ours = SpanSearch(machine, grid, **params).fit(X, Y)
    theirs = GridSearchCV(SVR(tol=1e-9), grid, **params).fit(X, Y)
    for name, column in theirs.cv_results_.items():
        if "_test_" in name or "_train_" in name:
            np.testing.assert_allclose(
                ours.cv_results_[name], column, rtol=1e-6, atol=1e-6, err_msg=name
            )
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-3)
    assert ours.score(X, Y) == pytest.approx(theirs.score(X, Y), abs=1e-6)


def test_groups_go_to_the_folds():
    groups = np.arange(Y.size) // 9
    ours = SpanSearch(SVR(tol=1e-9), GRID, cv=GroupKFold(5)).fit(X, Y, groups=groups)
    theirs = GridSearchCV(SVR(tol=1e-9), GRID, cv=GroupKFold(5)).fit(X, Y, groups=groups)
    name = "mean_test_score"
    np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-6)


def test_weights_go_to_every_fit():
    weight = np.random.default_rng(0).uniform(0.1, 3.0, Y.size)
    ours = SpanSearch(SVR(tol=1e-9), GRID, cv=4).fit(X, Y, sample_weight=weight)
    theirs = GridSearchCV(SVR(tol=1e-9), GRID, cv=4).fit(X, Y, sample_weight=weight)
    name = "mean_test_score"
    np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-6)
    assert ours.best_params_ == theirs.best_params_


def test_a_randomized_search_draws_the_same_candidates():
    spread = {"C": loguniform(1, 100), "gamma": loguniform(0.003, 0.3)}
    params = {"n_iter": 6, "random_state": 3, "cv": 3}
    ours = SpanRandomizedSearch(SVR(tol=1e-9), spread, **params).fit(X, Y)
    theirs = RandomizedSearchCV(SVR(tol=1e-9), spread, **params).fit(X, Y)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    name = "mean_test_score"
    np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-6)


# Left out -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", MACHINES, ids=["SVR", "SpanSVR"])
def test_the_selected_score_is_that_of_exact_leave_one_out(machine):
    search = SpanSearch(machine, GRID).fit(X, Y)
    retrained = left_out(SVR(tol=1e-9, **search.best_params_), X, Y)
    assert search.best_score_ == pytest.approx(r2_score(Y, retrained), abs=1e-5)
    assert search.cv_results_["mean_test_score"][search.best_index_] == search.best_score_


def test_exact_leave_one_out_of_every_candidate():
    rows, y = X[:50], Y[:50]
    search = SpanSearch(SVR(tol=1e-9), GRID, method="loo").fit(rows, y)
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        retrained = left_out(SVR(tol=1e-9, **params), rows, y)
        assert score == pytest.approx(r2_score(y, retrained), abs=1e-5)


def test_the_span_is_near_for_small_c():
    exact, rule = (SpanSearch(SVR(), GRID, method=m).fit(X, Y) for m in ("loo", "span_rule"))
    small = np.array([params["C"] <= 10 for params in exact.cv_results_["params"]])
    name = "loo_error"
    np.testing.assert_allclose(
        rule.cv_results_[name][small], exact.cv_results_[name][small], rtol=0.03
    )


def test_groups_are_left_out_whole():
    groups = np.arange(Y.size) // 6
    search = SpanSearch(SVR(tol=1e-9), GRID).fit(X, Y, groups=groups)
    machine = SVR(tol=1e-9, **search.best_params_)
    retrained = left_out(machine, X, Y, LeaveOneGroupOut(), groups=groups)
    assert search.best_score_ == pytest.approx(r2_score(Y, retrained), abs=1e-5)


def test_weighted_rows_are_left_out_of_weighted_models():
    weight = np.random.default_rng(0).choice([0.0, 0.5, 2.0], Y.size)
    search = SpanSearch(SVR(tol=1e-9), GRID, method="loo").fit(X, Y, sample_weight=weight)
    values = np.empty(Y.size)
    for p in range(Y.size):
        rest = np.arange(Y.size) != p
        model = SVR(tol=1e-9, **search.best_params_)
        model.fit(X[rest], Y[rest], sample_weight=weight[rest])
        values[p] = model.predict(X[[p]])[0]
    used = weight > 0
    error = np.sqrt(np.mean((Y - values)[used] ** 2))
    assert search.cv_results_["loo_error"][search.best_index_] == pytest.approx(error, rel=1e-4)


def test_pure_noise_is_not_explained():
    rng = np.random.default_rng(0)
    rows, y = rng.standard_normal((120, 5)), rng.standard_normal(120)
    search = SpanSearch(SVR(), {"C": [0.01, 1.0, 100.0], "gamma": [0.01, 0.3, 3.0]}).fit(rows, y)
    assert search.best_score_ < 0.05
    assert search.corrected_score_ < 0.05


def test_selection_does_not_depend_on_order_or_workers():
    search = SpanSearch(SVR(), GRID, return_train_score=True).fit(X, Y)
    order = {name: values[::-1] for name, values in GRID.items()}
    back = SpanSearch(SVR(), order, return_train_score=True).fit(X, Y)
    assert back.best_params_ == search.best_params_
    assert back.best_score_ == pytest.approx(search.best_score_, abs=1e-9)
    for name in ("mean_test_score", "mean_train_score", "std_test_score"):
        np.testing.assert_allclose(
            back.cv_results_[name][::-1], search.cv_results_[name], rtol=0, atol=1e-7
        )
    both = SpanSearch(SVR(), GRID, return_train_score=True, n_jobs=2).fit(X, Y)
    for name in ("mean_test_score", "mean_train_score", "std_test_score"):
        np.testing.assert_array_equal(both.cv_results_[name], search.cv_results_[name])
    assert both.corrected_score_ == search.corrected_score_


def test_train_scores_are_those_of_all_rows():
    search = SpanSearch(SVR(), GRID, return_train_score=True).fit(X, Y)
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_train_score"], strict=True
    ):
        model = SVR(tol=1e-9, **params).fit(X, Y)
        assert score == pytest.approx(model.score(X, Y), abs=1e-5)


# Scores -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scoring", SCORERS)
@pytest.mark.parametrize("cv", [None, 3])
def test_every_scorer_of_regression(scoring, cv):
    y = Y / 100.0  # positive, as some scorers need
    grid = {"C": [1.0, 10.0], "gamma": [0.01]}
    search = SpanSearch(SVR(tol=1e-9, epsilon=0.05), grid, scoring=scoring, cv=cv).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    if cv is not None:
        theirs = GridSearchCV(SVR(tol=1e-9, epsilon=0.05), grid, scoring=scoring, cv=cv).fit(X, y)
        np.testing.assert_allclose(scores, theirs.cv_results_["mean_test_score"], atol=1e-6)
    else:
        machine = SVR(tol=1e-9, epsilon=0.05, **search.best_params_)
        values = left_out(machine, X, y)
        expected = get_scorer(scoring)(Told(values), X, y)
        assert search.best_score_ == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    "scoring",
    [
        "r2", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error",
        "explained_variance",
    ],
)  # fmt: skip
@pytest.mark.parametrize("data", ["diabetes", "friedman1"])
def test_standard_errors_are_those_of_a_bootstrap(scoring, data):
    rows, y = load_diabetes(return_X_y=True)
    rows, y = scale(rows)[:300], y[:300]
    if data == "friedman1":
        rows, y = make_friedman1(300, noise=1.0, random_state=0)
        rows = scale(rows)
    params = {"C": [30.0 if data == "diabetes" else 1.0], "gamma": [0.03]}
    search = SpanSearch(SpanSVR(), params, scoring=scoring).fit(rows, y)
    values = search.best_estimator_.loo_predict_
    rng, scorer = np.random.default_rng(0), get_scorer(scoring)
    drawn = []
    for _ in range(1000):
        own = rng.integers(0, y.size, y.size)
        drawn.append(scorer(Told(values[own]), rows[own], y[own]))
    assert search.cv_results_["std_test_score"][0] == pytest.approx(np.std(drawn), rel=0.1)


def test_the_corrected_score_is_in_its_interval():
    search = SpanSearch(SVR(), GRID).fit(X, Y)
    low, high = search.corrected_interval_
    assert low < search.corrected_score_ < high
    assert search.corrected_score_ <= search.best_score_


def test_own_scorers_and_several():
    def bias(y, predicted):
        return float(np.mean(y - predicted))

    scoring = {"r2": "r2", "bias": make_scorer(bias, greater_is_better=False)}
    search = SpanSearch(SVR(), GRID, scoring=scoring, refit="r2").fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_bias"]).all()
    assert search.best_score_ == search.cv_results_["mean_test_r2"].max()


def test_a_constant_target_does_not_fail():
    y = np.full(Y.size, 3.5)
    search = SpanSearch(SVR(), GRID).fit(X, y)
    assert search.best_score_ == r2_score(y, y) == 1.0
    np.testing.assert_allclose(search.predict(X), 3.5)
    folds = SpanSearch(SVR(), GRID, cv=3).fit(X, y)
    assert folds.best_score_ == 1.0


def test_single_rows_have_no_r2():
    # As in GridSearchCV: a fold of one row.
    with pytest.warns(UndefinedMetricWarning), pytest.warns(UserWarning, match="non-finite"):
        GridSearchCV(SVR(), {"C": [1.0]}, cv=LeaveOneOut(), refit=False).fit(X[:9], Y[:9])
    search = SpanSearch(SVR(), {"C": [100.0]}).fit(X[:9], Y[:9])
    assert np.isfinite(search.best_score_)


# Around the machine -------------------------------------------------------------------------------


def test_pipelines():
    model = make_pipeline(StandardScaler(), SVR(tol=1e-9))
    grid = {f"svr__{name}": values for name, values in GRID.items()}
    raw = 50.0 * X + 7.0
    ours = SpanSearch(model, grid, cv=3).fit(raw, Y)
    theirs = GridSearchCV(model, grid, cv=3).fit(raw, Y)
    name = "mean_test_score"
    np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-6)
    default = SpanSearch(model, grid).fit(raw, Y)
    retrained = left_out(SVR(tol=1e-9, **{k[5:]: v for k, v in default.best_params_.items()}),
                         StandardScaler().fit_transform(raw), Y)  # fmt: skip
    assert default.best_score_ == pytest.approx(r2_score(Y, retrained), abs=1e-5)
    np.testing.assert_allclose(
        default.predict(raw), default.best_estimator_.predict(raw), atol=1e-9
    )


@pytest.mark.parametrize(
    "around",
    [
        {"func": np.log1p, "inverse_func": np.expm1},
        {"transformer": StandardScaler()},
        {"transformer": QuantileTransformer(n_quantiles=20)},
    ],
    ids=["function", "scaler", "quantiles"],
)
def test_transformed_targets(around):
    model = TransformedTargetRegressor(SVR(tol=1e-9, gamma=0.02), **around)
    grid = {"regressor__C": [0.1, 1.0, 3.0], "regressor__epsilon": [0.01, 0.1]}
    ours = SpanSearch(model, grid, cv=3).fit(X, Y)
    theirs = GridSearchCV(model, grid, cv=3).fit(X, Y)
    name = "mean_test_score"
    np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-6)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-4)
    default = SpanSearch(model, grid).fit(X, Y)
    # The transformer of the targets is that of all rows, as those of features are.
    whole = clone(model).fit(X, Y)
    moved = whole.transformer_.transform(Y[:, None])[:, 0]
    own = {key.removeprefix("regressor__"): value for key, value in default.best_params_.items()}
    retrained = left_out(SVR(tol=1e-9, gamma=0.02, **own), X, moved)
    back = whole.transformer_.inverse_transform(retrained[:, None])[:, 0]
    assert default.best_score_ == pytest.approx(r2_score(Y, back), abs=1e-4)


def test_several_targets():
    targets = np.column_stack([Y, X[:, 0] + 0.1 * Y, 1e3 * np.sin(Y)])
    model = MultiOutputRegressor(SVR(tol=1e-9, gamma=0.02))
    grid = {"estimator__C": [0.1, 10.0], "estimator__epsilon": [0.01, 1.0]}
    ours = SpanSearch(model, grid, cv=3).fit(X, targets)
    theirs = GridSearchCV(model, grid, cv=3).fit(X, targets)
    name = "mean_test_score"
    np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-6)
    default = SpanSearch(model, grid).fit(X, targets)
    best = clone(model).set_params(**default.best_params_)
    assert default.best_score_ == pytest.approx(
        r2_score(targets, left_out(best, X, targets)), abs=1e-4
    )
    assert default.predict(X).shape == targets.shape
    np.testing.assert_allclose(default.predict(X), best.fit(X, targets).predict(X), rtol=1e-3)


def test_a_step_that_looks_at_the_targets_goes_to_folds():
    model = make_pipeline(SelectKBest(f_regression, k=3), SVR())
    with pytest.warns(UserWarning, match=r"SelectKBest.*fold") as told:
        search = SpanSearch(model, {"svr__C": [1.0, 10.0]}).fit(X, Y)
    assert not any(issubclass(one.category, UnacceleratedWarning) for one in told)
    theirs = GridSearchCV(model, {"svr__C": [1.0, 10.0]}, cv=5).fit(X, Y)
    assert search.best_score_ == pytest.approx(theirs.best_score_, abs=0.05)


def test_a_precomputed_kernel():
    K = X @ X.T
    grid = {"C": [0.01, 1.0]}
    ours = SpanSearch(SVR(kernel="precomputed", tol=1e-9), grid, cv=3).fit(K, Y)
    theirs = GridSearchCV(SVR(kernel="precomputed", tol=1e-9), grid, cv=3).fit(K, Y)
    name = "mean_test_score"
    np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-6)
    plain = SpanSearch(SVR(kernel="linear"), grid).fit(X, Y)
    assert SpanSearch(SVR(kernel="precomputed"), grid).fit(K, Y).best_score_ == pytest.approx(
        plain.best_score_, abs=1e-6
    )


# The fitted search --------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", MACHINES, ids=["SVR", "SpanSVR"])
def test_the_refitted_model_is_the_evaluated_one(machine):
    search = SpanSearch(machine, GRID).fit(X, Y)
    best = search.best_estimator_
    assert type(best) is type(machine)
    check_is_fitted(best)
    assert is_regressor(search)
    assert not hasattr(search, "classes_")
    for name, value in search.best_params_.items():
        assert getattr(best, name) == value
    fresh = SVR(tol=1e-9, **search.best_params_).fit(X, Y)
    np.testing.assert_allclose(best.predict(X), fresh.predict(X), atol=1e-3)
    np.testing.assert_array_equal(search.predict(X), best.predict(X))
    assert search.score(X, Y) == pytest.approx(r2_score(Y, search.predict(X)))
    assert search.n_features_in_ == X.shape[1]
    assert search.refit_time_ >= 0


def test_a_span_svr_comes_with_its_left_out_values():
    search = SpanSearch(SpanSVR(), GRID).fit(X, Y)
    best = search.best_estimator_
    assert r2_score(Y, best.loo_predict_) == pytest.approx(search.best_score_, abs=1e-9)
    assert best.predict_interval(X).shape == (Y.size, 2)


def test_stages_and_edges():
    grid = {"C": [1.0, 2.0, 4.0, 8.0], "gamma": [0.01, 0.02, 0.04]}
    whole = SpanSearch(SVR(), grid).fit(X, Y)
    coarse = SpanSearch(SVR(), grid, coarse_first=True).fit(X, Y)
    assert coarse.best_params_ == whole.best_params_
    wider = SpanSearch(SVR(), grid, widen=["C"]).fit(X, Y)
    assert wider.best_params_["C"] > 8.0  # the best is beyond the edge
    assert wider.best_score_ > whole.best_score_


def test_a_search_that_was_stopped_goes_on(tmp_path, monkeypatch):
    whole = SpanSearch(SVR(), GRID).fit(X, Y)
    path = tmp_path / "search.npz"
    with monkeypatch.context() as patched:
        clock = iter(range(10_000))
        patched.setattr(stages, "time", SimpleNamespace(monotonic=lambda: next(clock)))
        with pytest.warns(SearchStoppedWarning):
            first = SpanSearch(SVR(), GRID, checkpoint=path, time_budget=4).fit(X, Y)
    done = np.isfinite(first.cv_results_["mean_test_score"])
    assert 0 < done.sum() < done.size
    second = SpanSearch(SVR(), GRID, checkpoint=path).fit(X, Y)
    assert second.n_resumed_ > 0
    assert second.best_params_ == whole.best_params_
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_array_equal(second.cv_results_[name], whole.cv_results_[name])
    assert second.corrected_score_ == whole.corrected_score_


# What is not for the engine -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "name"), [(NuSVR(), "NuSVR"), (LinearSVR(max_iter=100_000), "LinearSVR")]
)
def test_other_machines_are_left_to_scikit_learn(model, name):
    grid = {"C": [0.1, 1.0]}
    with pytest.warns(UnacceleratedWarning, match=rf"{name}.*SVR"):
        search = SpanSearch(model, grid, cv=3).fit(X, scale(Y))
    theirs = GridSearchCV(model, grid, cv=3).fit(X, scale(Y))
    assert search.best_params_ == theirs.best_params_


def test_several_columns_without_a_wrapper_are_left_to_scikit_learn():
    with (
        pytest.warns(UnacceleratedWarning, match="MultiOutputRegressor"),
        pytest.raises(ValueError, match="1d array"),
    ):
        SpanSearch(SVR(), {"C": [1.0]}, cv=3).fit(X, np.column_stack([Y, Y]))


def test_wrong_targets_and_methods_are_named():
    with pytest.raises(ValueError, match="y holds 'high'"):
        SpanSearch(SVR(), GRID).fit(X, np.where(Y > 100, "high", "low"))
    with pytest.raises(ValueError, match="NaN"):
        SpanSearch(SVR(), GRID).fit(X, np.where(Y > 100, np.nan, Y))
    with pytest.raises(ValueError, match="xi_alpha"):
        SpanSearch(SVR(), GRID, method="xi_alpha").fit(X, Y)
    with pytest.raises(ValueError, match="at least two dimensions"):
        SpanSearch(MultiOutputRegressor(SVR()), {"estimator__C": [1.0]}).fit(X, Y)
    with pytest.raises(ValueError, match="epsilon must be"):
        SpanSearch(SVR(), {"epsilon": [-1.0]}, error_score="raise").fit(X, Y)


def test_a_bound_that_is_too_small_for_the_targets_is_named():
    prices = 1e6 * Y
    with pytest.warns(UserWarning, match="the selected C is 10: no row can move a prediction"):
        constant = SpanSearch(SVR(), {"C": [1.0, 10.0]}).fit(X, prices)
    assert constant.best_score_ < 0.01
    scaled = TransformedTargetRegressor(SVR(), transformer=StandardScaler())
    search = SpanSearch(scaled, {"regressor__C": [1.0, 10.0]}).fit(X, prices)
    assert search.best_score_ > constant.best_score_ + 0.1
