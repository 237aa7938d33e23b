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
from sklearn.multiclass import OneVsRestClassifier
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
    weights = {params["C"] for params in tied}
    assert search.best_params_["C"] < max(weights) or len(weights) == 1
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
    params = {"C": 1e8, "gamma": 1e-8}
    with pytest.warns(UserWarning, match="That model does not solve it either"):
        best = only(params, gram_budget=600 * 600 * 5).fit(X, y).best_estimator_
    np.testing.assert_array_equal(best.dual_coef_, SVC(**params).fit(X, y).dual_coef_)


# An intercept that nothing fixes ------------------------------------------------------

#: Every multiplier is at its bound: the intercept may be anywhere in an interval.
SMALL = 1e-4

#: By as much as rounding may do it the sums of the bounds differ, on any machine.
HAIR = 1e-12

#: What is around the machine, and the name of its C in a grid.
AROUND = {
    "alone": (lambda machine: machine, "C"),
    "pipeline": (lambda machine: make_pipeline(StandardScaler(), machine), "{}__C"),
    "one-vs-rest": (OneVsRestClassifier, "estimator__C"),
    "pipeline in one-vs-rest": (
        lambda machine: OneVsRestClassifier(make_pipeline(StandardScaler(), machine)),
        "estimator__{}__C",
    ),
}

MANY = r"LibSVM's refit with C=0.0001(, gamma=.*)? is one solution of many"


def loose(n_classes=2, one_vs_rest=False):
    """Rows, labels, and weights that make the classes that a machine separates weigh the same."""
    sizes, weights = [100, 50], {0: 1.0, 1: 2.0 + HAIR}
    if n_classes == 3:
        sizes = [50, 50, 50]
        weights = weights if one_vs_rest else {0: 1.0, 1: 1.0 + HAIR, 2: 1.0 - HAIR}
    y = np.repeat(np.arange(n_classes), sizes)
    X = np.random.default_rng(0).normal(size=(150, 4))
    X[:, :2] += 2.0 * np.array([(0, 0), (1, 1), (-1, 1)])[y]
    return X, y, {"C": SMALL, "class_weight": weights}


@pytest.mark.parametrize("cv", [None, 5])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("around", AROUND)
def test_where_nothing_fixes_the_intercept_the_evaluated_one_is_handed_out(around, n_classes, cv):
    X, y, params = loose(n_classes, "rest" in around)
    wrap, name = AROUND[around]
    model, grid = wrap(SVC(**params)), {name.format("svc"): [SMALL]}
    with pytest.warns(UserWarning, match=MANY) as said:
        search = SpanSearch(model, grid, cv=cv, scoring="balanced_accuracy").fit(X, y)
    assert "best_estimator_ holds the solution that was evaluated" in str(said[0].message)
    assert all(warning.filename == __file__ for warning in said)
    evaluated, alone = (wrap(kind(**params)).fit(X, y) for kind in (SpanSVC, SVC))
    expected = evaluated.decision_function(X)
    np.testing.assert_allclose(search.decision_function(X), expected, atol=1e-9)
    np.testing.assert_array_equal(search.predict(X), evaluated.predict(X))
    assert np.abs(alone.decision_function(X) - expected).max() > 0.5


def test_so_it_is_wherever_rounding_puts_the_intercept():
    for seed in range(10):
        X, y = make_classification(100, weights=[0.6 + 0.03 * seed], random_state=seed)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=MANY)
            search = only({"C": SMALL, "class_weight": "balanced"}, cv=5).fit(X, y)
        expected = SpanSVC(C=SMALL, class_weight="balanced").fit(X, y).decision_function(X)
        np.testing.assert_allclose(search.decision_function(X), expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["sparse", "precomputed", "callable", "loose tolerance"])
def test_so_it_is_for_any_kernel_and_tolerance(kind):
    X, y, weighed = loose()
    rows, params = X, {**weighed, "kernel": "linear"}
    if kind == "sparse":
        rows = sparse.csr_matrix(X)
    elif kind == "precomputed":
        rows, params = X @ X.T, {**weighed, "kernel": "precomputed"}
    elif kind == "callable":
        params = {**weighed, "kernel": lambda A, B: A @ B.T}
    else:
        params["tol"] = 0.1
    with pytest.warns(UserWarning, match=MANY):
        best = only(params).fit(rows, y).best_estimator_
    expected = SpanSVC(**weighed, kernel="linear").fit(X, y)
    np.testing.assert_allclose(
        best.decision_function(rows), expected.decision_function(X), atol=1e-9
    )


def test_its_probabilities_are_those_of_the_evaluated_model():
    X, y, params = loose()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)  # probability is deprecated
        with pytest.warns(UserWarning, match=MANY):
            best = only({**params, "probability": True}).fit(X, y).best_estimator_
    expected = SpanSVC(**params).fit(X, y).predict_calibrated_proba(X)
    np.testing.assert_allclose(best.predict_proba(X), expected, atol=0.02)


def test_rows_that_transformers_give_only_in_training_are_left_to_libsvm():
    X, y, params = loose(3, one_vs_rest=True)
    model = OneVsRestClassifier(make_pipeline(Noisy(), SVC(**params)))
    search = SpanSearch(model, {"estimator__svc__C": [SMALL]}).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), model.fit(X, y).predict(X))


def test_classes_of_the_same_size_need_nothing_of_that():
    # LibSVM's multipliers are at their bounds to the last bit, and it takes the middle, too.
    X, y = make_classification(100, flip_y=0.0, random_state=0)
    assert np.bincount(y).tolist() == [50, 50]
    best = only({"C": 1e-3}).fit(X, y).best_estimator_
    np.testing.assert_array_equal(best.dual_coef_, SVC(C=1e-3).fit(X, y).dual_coef_)
    expected = SpanSVC(C=1e-3).fit(X, y).decision_function(X)
    np.testing.assert_allclose(best.decision_function(X), expected, atol=1e-6)


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
