"""The SVC that a search hands out is the model that it judged."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

from spansvm import SpanSearch, SpanSVC

#: Of scikit-learn's own example, on all of iris.
WIDE = {"C": np.logspace(-2, 10, 13), "gamma": np.logspace(-9, 3, 13)}

#: Where LibSVM fails: to single precision all kernel values are equal.
BAD = {"C": 1e9, "gamma": 1e-9}

SAID = r"LibSVM's refit with C=1e\+09, gamma=1e-09 does not solve the problem \(its kernel values"


def only(params, **options):
    """A search whose only candidate is this one."""
    return SpanSearch(SVC(), {name: [value] for name, value in params.items()}, **options)


def own_model(search, X, y, sample_weight=None):
    params = {name: getattr(SVC(**search.best_params_), name) for name in ("C", "gamma", "kernel")}
    return SpanSVC(**params).fit(X, y, sample_weight=sample_weight)


def binary():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:150], y[:150]


# Grids that are much too wide ---------------------------------------------------------


@pytest.mark.long
def test_on_a_grid_much_too_wide_the_model_is_as_good_as_that_of_grid_search_cv():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    grid = {name: values[::3] for name, values in WIDE.items()}  # all of it takes them minutes
    ours, theirs = [], []
    for seed in range(30):
        train, test, labels, expected = train_test_split(
            X, y, test_size=0.5, stratify=y, random_state=seed
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="LibSVM's refit")
            search = SpanSearch(SVC(), grid).fit(train, labels)
        judged = own_model(search, train, labels)
        np.testing.assert_array_equal(search.predict(train), judged.predict(train))
        ours.append(search.score(test, expected))
        theirs.append(GridSearchCV(SVC(), grid, cv=5).fit(train, labels).score(test, expected))
    difference = np.array(ours) - theirs
    assert difference.mean() > -2 * difference.std(ddof=1) / np.sqrt(30)
    assert np.mean(ours) > 0.94


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("ties", ["plateau", "hinge"])
def test_the_corner_of_a_wide_grid_is_not_selected_without_need(load, ties):
    X, y = load(return_X_y=True)
    X, y = scale(X)[::3], y[::3]
    search = SpanSearch(SVC(), WIDE, ties=ties, refit=False).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    tied = [search.cv_results_["params"][i] for i in np.flatnonzero(scores == scores.max())]
    assert search.best_params_["C"] < max(params["C"] for params in tied) or len(tied) == 1
    assert search.best_params_["C"] <= 1e5


# What is handed out -------------------------------------------------------------------


@pytest.mark.parametrize("load", [binary, lambda: load_iris(return_X_y=True)])
@pytest.mark.parametrize("shape", ["ovo", "ovr"])
def test_where_libsvm_fails_the_judged_solution_is_handed_out(load, shape):
    X, y = load()
    X = scale(X)
    with pytest.warns(UserWarning, match=SAID) as said:
        search = only({**BAD, "decision_function_shape": shape}).fit(X, y)
    assert len(said) == 1
    assert "best_estimator_ holds the solution that was evaluated. Use SpanSVC" in str(
        said[0].message
    )
    assert said[0].filename == __file__
    best, judged = search.best_estimator_, own_model(search, X, y)
    judged.decision_function_shape = shape
    assert type(best) is SVC
    np.testing.assert_allclose(
        best.decision_function(X), judged.decision_function(X), atol=1e-3, rtol=1e-3
    )
    np.testing.assert_array_equal(best.predict(X), judged.predict(X))
    assert (best.predict(X) == y).mean() > (SVC(**BAD).fit(X, y).predict(X) == y).mean()
    again = pickle.loads(pickle.dumps(best))
    np.testing.assert_array_equal(again.decision_function(X), best.decision_function(X))
    assert best.fit_status_ == 0
    assert best.n_support_.sum() == best.support_.size == best.dual_coef_.shape[1]


class Noisy(TransformerMixin, BaseEstimator):
    """Gives other rows in training than later, as TargetEncoder does."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def fit_transform(self, X, y=None):
        return self.fit(X, y).transform(X) + np.random.default_rng(0).normal(size=np.shape(X))

    def transform(self, X):
        return np.asarray(X)


def test_rows_behind_a_pipeline_are_those_of_the_training():
    X, y = binary()
    inner = make_pipeline(StandardScaler(), SVC())
    model = Pipeline([("noisy", Noisy()), ("inner", inner)])
    grid = {f"inner__svc__{name}": [value] for name, value in BAD.items()}
    with pytest.warns(UserWarning, match=SAID):
        best = SpanSearch(model, grid).fit(pd.DataFrame(X), y).best_estimator_
    rows = StandardScaler().fit_transform(Noisy().fit_transform(X))
    svc = best[-1][-1]
    np.testing.assert_allclose(
        svc.decision_function(rows), SpanSVC(**BAD).fit(rows, y).decision_function(rows), atol=2e-3
    )
    assert "fit" not in vars(svc)


@pytest.mark.parametrize("kind", ["sparse", "precomputed", "callable"])
def test_sparse_rows_and_other_kernels(kind):
    X, y = binary()

    def tiny(A, B):
        return np.exp(-1e-9 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))

    rows, params = X, {"C": 1e9, "kernel": tiny}
    if kind == "sparse":
        rows, params = sparse.csr_matrix(X), BAD
    elif kind == "precomputed":
        rows, params = tiny(X, X), {"C": 1e9, "kernel": "precomputed"}
    with pytest.warns(UserWarning, match="best_estimator_ holds the solution that was evaluated"):
        best = only(params).fit(rows, y).best_estimator_
    judged = SpanSVC(**BAD).fit(X, y)
    np.testing.assert_array_equal(best.predict(rows), judged.predict(X))


@pytest.mark.parametrize("method", ["kfold", "span_bound", "loo"])
def test_every_method_and_a_function_as_refit(method):
    X, y = binary()
    X, y = X[::2], y[::2]
    bad = {"C": 1e6, "gamma": 1e-8}
    with pytest.warns(UserWarning, match=r"LibSVM's refit with C=1e\+06, gamma=1e-08"):
        search = SpanSearch(
            SVC(), [{"C": [1.0]}, {name: [value] for name, value in bad.items()}],
            method=method, refit=lambda table: 1,
        ).fit(X, y)  # fmt: skip
    np.testing.assert_array_equal(search.predict(X), own_model(search, X, y).predict(X))


def test_sample_weights_are_those_of_the_fit():
    X, y = binary()
    weight = np.random.default_rng(0).uniform(0.0, 2.0, len(y)) * (np.arange(len(y)) % 5 > 0)
    with pytest.warns(UserWarning, match=SAID):
        search = only(BAD).fit(X, y, sample_weight=weight)
    judged = own_model(search, X, y, weight)
    np.testing.assert_array_equal(search.predict(X), judged.predict(X))


def test_svc_takes_the_wrong_kernel_values_where_weights_are_zero():
    X, y = load_iris(return_X_y=True)
    weight = (np.arange(150) % 4 > 0).astype(float)
    with pytest.warns(UserWarning, match="with zero weights, SVC uses the wrong kernel values"):
        search = only({"kernel": "precomputed"}).fit(X @ X.T, y, sample_weight=weight)
    judged = SpanSVC(kernel="linear").fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(search.predict(X @ X.T), judged.predict(X))


def test_probabilities_are_those_of_the_judged_model():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)  # probability is deprecated
        with pytest.warns(UserWarning, match=SAID):
            best = only({**BAD, "probability": True}).fit(X, y).best_estimator_
    expected = SpanSVC(**BAD).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(best.predict_proba(X), expected, atol=0.02)


def test_a_refit_that_stops_early_is_replaced():
    X, y = make_classification(200, flip_y=0.2, random_state=0)
    with (
        pytest.warns(ConvergenceWarning),
        pytest.warns(UserWarning, match="it stops early with max_iter=700"),
    ):
        search = only({"C": 1000.0, "gamma": 0.01, "max_iter": 700}).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), own_model(search, X, y).predict(X))


def test_a_judged_solution_that_is_no_better_is_not_handed_out():
    # Without memory for double precision our kernel values are no better than LibSVM's.
    X, y = make_classification(600, n_features=5, random_state=0)
    params = {"C": 1e6, "gamma": 1e-9}
    with pytest.warns(UserWarning, match="That model does not solve it either"):
        best = only(params, gram_budget=600 * 600 * 5).fit(X, y).best_estimator_
    np.testing.assert_array_equal(best.dual_coef_, SVC(**params).fit(X, y).dual_coef_)


# No false alarms ----------------------------------------------------------------------


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-8])
@pytest.mark.parametrize("load", [binary, lambda: load_wine(return_X_y=True)])
def test_nothing_is_said_of_ordinary_problems(load, tol):
    X, y = load()
    X = scale(X)
    weight = np.random.default_rng(0).uniform(0.0, 2.0, len(y))
    settings = [
        {"C": C, **kernel}
        for C in (1e-3, 1.0, 1e3)
        for kernel in (
            {"gamma": 1e-4},
            {"gamma": 1.0},
            {"kernel": "linear"},
            {"kernel": "poly", "coef0": 1.0, "class_weight": "balanced"},
        )
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for params in settings:
            best = only({**params, "tol": tol}).fit(X, y, sample_weight=weight).best_estimator_
            alone = SVC(**params, tol=tol).fit(X, y, sample_weight=weight)
            np.testing.assert_array_equal(best.dual_coef_, alone.dual_coef_)


def test_indefinite_kernels_are_left_to_libsvm():
    X, y = binary()
    params = {"kernel": "sigmoid", "gamma": 0.5, "coef0": -1.0}
    with pytest.warns(UserWarning, match="not positive semidefinite") as said:
        best = only(params).fit(X, y).best_estimator_
    assert len(said) == 1
    np.testing.assert_array_equal(best.dual_coef_, SVC(**params).fit(X, y).dual_coef_)
