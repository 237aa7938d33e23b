"""What ``cv`` and ``groups`` mean: folds as GridSearchCV has them, or left out of one model."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from spansvm import SpanSearch, SpanSVC
from spansvm.algebra.blas import one_blas_thread
from spansvm.kernels.functions import Kernel
from spansvm.multiclass.group_left_out import sets_of
from spansvm.search.candidates import training_sets

#: LibSVM stops at its tolerance: at 1e-3, which side a row within 1e-3 of the boundary is on is its
#: choice.
TIGHT = {"tol": 1e-7}

GRID = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": ["scale", 0.01, 0.3]}


def moons(n=150):
    return make_classification(n, 6, n_informative=4, flip_y=0.1, random_state=0)


SETS = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "iris": lambda: load_iris(return_X_y=True),
    "made": moons,
}

KINDS = {
    "int": lambda n: 5,
    "stratified, shuffled": lambda n: StratifiedKFold(4, shuffle=True, random_state=1),
    "groups": lambda n: GroupKFold(3),
    "pairs": lambda n: [(np.arange(40, n), np.arange(40)), (np.arange(n - 30), np.arange(n)[-30:])],
    "generator": lambda n: (pair for pair in ShuffleSplit(3, random_state=0).split(np.zeros(n))),
    "time series": lambda n: TimeSeriesSplit(3),
    "repeated": lambda n: RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
}


def shuffled(name):
    X, y = SETS[name]()
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def assert_same_scores(ours, theirs):
    """The same to the last digit, with ranks, and nothing missing."""
    columns = [key for key in theirs.cv_results_ if "test_" in key]
    assert columns
    for key in columns:
        np.testing.assert_array_equal(ours.cv_results_[key], theirs.cv_results_[key], err_msg=key)


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy", "f1_macro"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["wine", "made"])
def test_cv_gives_the_scores_of_grid_search_cv(name, kind, scoring):
    X, y = shuffled(name)
    model = make_pipeline(StandardScaler(), SVC(**TIGHT))
    groups = {"groups": np.arange(len(y)) % 11} if kind == "groups" else {}
    options = {"scoring": scoring, "refit": False}
    ours = SpanSearch(model, GRID, cv=KINDS[kind](len(y)), **options).fit(X, y, **groups)
    theirs = GridSearchCV(model, GRID, cv=KINDS[kind](len(y)), **options).fit(X, y, **groups)
    assert_same_scores(ours, theirs)
    assert ours.n_splits_ == theirs.n_splits_
    assert ours.method_ == "kfold"
    assert ours.n_groups_ is None


@pytest.mark.parametrize("name", SETS)
def test_cv_gives_the_scores_of_grid_search_cv_on_more_sets(name):
    X, y = shuffled(name)
    model = make_pipeline(StandardScaler(), SVC(**TIGHT))
    scoring = ["accuracy", "roc_auc" if np.unique(y).size == 2 else "f1_weighted"]
    options = {"cv": 5, "scoring": scoring, "refit": "accuracy"}
    ours = SpanSearch(model, GRID, **options).fit(X, y)
    theirs = GridSearchCV(model, GRID, **options).fit(X, y)
    assert_same_scores(ours, theirs)


def test_leave_one_out_as_folds():
    X, y = moons(60)
    grid = {"C": [0.1, 1, 10]}
    ours = SpanSearch(SVC(**TIGHT), grid, cv=LeaveOneOut()).fit(X, y)
    assert_same_scores(ours, GridSearchCV(SVC(**TIGHT), grid, cv=LeaveOneOut()).fit(X, y))
    exact = SpanSearch(SVC(gamma=0.1, **TIGHT), grid, cv=LeaveOneOut(), method="loo").fit(X, y)
    plain = SpanSearch(SVC(gamma=0.1, **TIGHT), grid, method="loo").fit(X, y)
    np.testing.assert_allclose(
        exact.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )
    assert exact.n_splits_ == 60


def test_the_default_is_leave_one_out_without_cv_and_folds_with_it():
    X, y = moons()
    grid = {"C": [0.1, 1, 10]}
    for cv, method in ((None, "verified"), (3, "kfold")):
        default = SpanSearch(SVC(), grid, cv=cv).fit(X, y)
        named = SpanSearch(SVC(), grid, cv=cv, method=method).fit(X, y)
        assert default.method_ == named.method_ == method
        np.testing.assert_array_equal(
            default.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"]
        )


@pytest.mark.parametrize(
    "cv",
    [
        4,
        StratifiedKFold(3, shuffle=True, random_state=0),
        RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0),
        ShuffleSplit(3, test_size=0.3, random_state=0),
    ],
)
@pytest.mark.parametrize("name", ["wine", "made"])
@pytest.mark.parametrize("method", ["span_rule", "loo"])
def test_folds_left_out_of_one_model_are_those_that_are_trained(method, name, cv):
    X, y = shuffled(name)
    X = StandardScaler().fit_transform(X)
    grid = {"C": [0.1, 1, 10], "gamma": [0.03, 0.3]}  # nothing that depends on the rows
    ours = SpanSearch(SVC(**TIGHT), grid, method=method, cv=cv, refit=False).fit(X, y)
    theirs = GridSearchCV(SVC(**TIGHT), grid, cv=cv, refit=False).fit(X, y)
    assert_same_scores(ours, theirs)
    assert ours.n_splits_ == theirs.n_splits_
    right = [ours.cv_results_[f"split{k}_test_score"] for k in range(ours.n_splits_)]
    np.testing.assert_allclose(ours.cv_results_["loo_error"], 1 - np.mean(right, axis=0))


def test_small_folds_are_predicted():
    X, y = moons(800)
    X = StandardScaler().fit_transform(X)
    grid = {"C": [0.3, 3], "gamma": [0.1]}
    folds = StratifiedKFold(40, shuffle=True, random_state=0)
    rule, exact, trained = (
        SpanSearch(SVC(**TIGHT), grid, method=method, cv=folds).fit(X, y).cv_results_
        for method in ("span_rule", "loo", None)
    )
    np.testing.assert_allclose(exact["mean_test_score"], trained["mean_test_score"], atol=1e-12)
    np.testing.assert_allclose(rule["mean_test_score"], exact["mean_test_score"], atol=0.02)
    assert (rule["loo_hinge"] != exact["loo_hinge"]).all()


@pytest.mark.parametrize("method", ["span_rule", "loo"])
@pytest.mark.parametrize(
    "cv", [TimeSeriesSplit(3), [(np.arange(150), np.arange(150))], [(np.arange(50), np.arange(99))]]
)
def test_folds_that_are_not_all_rows_need_training(method, cv):
    X, y = moons()
    with pytest.raises(ValueError, match="fold 0 of cv trains on"):
        SpanSearch(SVC(), {"C": [1]}, method=method, cv=cv).fit(X, y)


@pytest.mark.parametrize("method", ["span_bound", "span_count", "xi_alpha", "sv_count"])
def test_bounds_know_no_folds(method):
    X, y = moons()
    with pytest.raises(ValueError, match="neither folds nor groups"):
        SpanSearch(SVC(), {"C": [1]}, method=method, cv=5).fit(X, y)


def test_groups_with_kfold_are_folds_of_one_group_each():
    X, y = moons()
    groups = np.arange(150) % 10
    grid = {"C": [0.1, 1, 10]}
    ours = SpanSearch(SVC(**TIGHT), grid, method="kfold").fit(X, y, groups=groups)
    theirs = GridSearchCV(SVC(**TIGHT), grid, cv=LeaveOneGroupOut()).fit(X, y, groups=groups)
    assert_same_scores(ours, theirs)


def test_groups_are_those_of_leave_one_group_out():
    X, y = moons()
    X = StandardScaler().fit_transform(X)
    groups = np.random.default_rng(0).integers(0, 9, 150)
    grid = {"C": [0.1, 1, 10], "gamma": [0.1]}
    folds = SpanSearch(SVC(**TIGHT), grid, cv=LeaveOneGroupOut()).fit(X, y, groups=groups)
    pooled = SpanSearch(SVC(**TIGHT), grid, method="loo").fit(X, y, groups=groups)
    sizes = [rows.size for rows in sets_of(groups)]
    each = [folds.cv_results_[f"split{k}_test_score"] for k in range(9)]
    np.testing.assert_allclose(
        pooled.cv_results_["mean_test_score"], np.average(each, axis=0, weights=sizes)
    )


def test_failed_candidates_fail_in_all_folds_of_one_model():
    X, y = moons()
    search = SpanSearch(SpanSVC(), {"C": [1, -1]}, method="span_rule", cv=3, refit=False)
    with pytest.warns(FitFailedWarning, match="3 of 6 fits failed"):
        search.fit(X, y)
    scores = [search.cv_results_[f"split{k}_test_score"] for k in range(3)]
    assert not np.isnan(np.array(scores)[:, 0]).any()
    assert np.isnan(np.array(scores)[:, 1]).all()


def test_groups_need_no_request_under_metadata_routing():
    X, y = moons()
    groups = np.arange(150) % 15
    plain = SpanSearch(SVC(), {"C": [1, 10]}).fit(X, y, groups=groups)
    with config_context(enable_metadata_routing=True):
        routed = SpanSearch(SVC(), {"C": [1, 10]}).fit(X, y, groups=groups)
    np.testing.assert_array_equal(
        plain.cv_results_["mean_test_score"], routed.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize("arguments", [{"cv": 5}, {"cv": 5, "method": "span_rule"}, {}])
def test_a_search_by_folds_or_groups_can_be_forecast(arguments):
    X, y = make_classification(1500, 6, random_state=0)
    groups = None if "cv" in arguments else np.arange(1500) // 5
    search = SpanSearch(SVC(), {"C": 2.0 ** np.arange(-5, 9), "gamma": [0.1, 1]}, **arguments)
    forecast = search.forecast(X, y, groups=groups)
    assert forecast is None or forecast.seconds > 0


def test_folds_are_evaluated_on_one_blas_thread(monkeypatch):
    # Those of a call on several wait for the next one at full speed: twice the processor time.
    seen = {}

    def watched(owner, name):
        method = getattr(owner, name)

        def watching(*arguments):
            counts = seen.setdefault(name, set())
            counts.update(library.num_threads for library in one_blas_thread._find())
            return method(*arguments)

        monkeypatch.setattr(owner, name, watching)

    watched(Kernel, "__call__")
    watched(training_sets, "from_kernel")
    X, y = moons()
    with threadpool_limits(2, user_api="blas"):
        SpanSearch(SVC(), {"C": [1.0, 10.0]}, cv=3, refit=False).fit(X, y)
    assert seen == {"__call__": {1}, "from_kernel": {1}}
