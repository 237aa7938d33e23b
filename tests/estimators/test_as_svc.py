"""A SpanSVC handed out as a fitted SVC."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from spansvm import ClassWeighting, SpanSVC, analyze
from spansvm.kernels.functions import dense

TIGHT = {"tol": 1e-8}


def data(n_classes, n=120):
    return make_classification(
        n, n_features=6, n_informative=4, n_classes=n_classes, flip_y=0.1, random_state=n_classes
    )


def linear(A, B):
    return A @ B.T


KERNELS = {
    "rbf": {"gamma": 0.2},
    "scale": {},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "precomputed": {"kernel": "precomputed"},
    "callable": {"kernel": linear},
    "sparse": {"gamma": "auto"},
    "sparse linear": {"kernel": "linear"},
}


def rows_for(kind, X):
    if kind == "precomputed":
        return X @ X.T
    return sparse.csr_matrix(X) if kind.startswith("sparse") else X


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", list(KERNELS))
def test_the_svc_is_what_fitting_it_would_give(kind, n_classes):
    X, y = data(n_classes)
    X = rows_for(kind, X)
    labels = np.array(["ash", "birch", "cedar", "fir"])[y]
    options = {"C": 3.0, "class_weight": "balanced", **KERNELS[kind], **TIGHT}
    ours = SpanSVC(**options).fit(X, labels)
    svc = ours.to_svc()
    theirs = SVC(**options).fit(X, labels)
    check_is_fitted(svc)
    assert type(svc) is SVC
    assert svc.get_params() == theirs.get_params()
    assert vars(svc).keys() - {"n_features_in_"} == vars(theirs).keys() - {"n_features_in_"}
    for name in ("classes_", "support_", "n_support_", "class_weight_", "shape_fit_"):
        np.testing.assert_array_equal(getattr(svc, name), getattr(theirs, name), err_msg=name)
    for name in ("support_vectors_", "dual_coef_", "intercept_", "_dual_coef_", "_intercept_"):
        mine, other = getattr(svc, name), getattr(theirs, name)
        assert type(mine) is type(other), name
        if sparse.issparse(other):
            assert mine.data.size == other.data.size, name
            mine, other = mine.toarray(), other.toarray()
        np.testing.assert_allclose(mine, other, atol=1e-3, err_msg=name)
        assert mine.dtype == other.dtype, name
    for name in ("support_", "n_support_", "n_iter_"):
        assert getattr(svc, name).dtype == getattr(theirs, name).dtype, name
    for shape in ("ovo", "ovr"):
        ours.decision_function_shape = svc.decision_function_shape = shape
        np.testing.assert_allclose(
            svc.decision_function(X), ours.decision_function(X), atol=1e-8, err_msg=shape
        )
    np.testing.assert_array_equal(svc.predict(X), ours.predict(X))
    if "linear" in kind:
        assert sparse.issparse(ours.coef_) == sparse.issparse(svc.coef_) == (kind != "linear")
        np.testing.assert_allclose(dense(ours.coef_), dense(svc.coef_), atol=1e-8)


@pytest.mark.parametrize("kind", ["scale", "precomputed", "callable", "sparse"])
def test_the_svc_can_be_stored_copied_and_fitted_again(kind):
    X, y = data(3)
    X = rows_for(kind, X)
    svc = SpanSVC(**KERNELS[kind], C=2.0, **TIGHT).fit(X, y).to_svc()
    again = pickle.loads(pickle.dumps(svc))
    np.testing.assert_array_equal(again.decision_function(X), svc.decision_function(X))
    refitted = clone(svc).fit(X, y)
    np.testing.assert_allclose(refitted.decision_function(X), svc.decision_function(X), atol=1e-4)
    with pytest.raises(ValueError, match="features"):
        SpanSVC().fit(*data(2)).to_svc().predict(np.ones((2, 3)))


def test_rows_of_zero_weight_are_counted_as_svc_counts_them():
    X, y = data(2)
    weight = np.random.default_rng(0).uniform(0, 2, len(y)) * (np.arange(len(y)) % 4 > 0)
    ours = SpanSVC(gamma=0.3, **TIGHT).fit(X, y, sample_weight=weight)
    theirs = SVC(gamma=0.3, **TIGHT).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(ours.to_svc().support_, theirs.support_)
    analysis = analyze(ours.to_svc(), X, y, sample_weight=weight)
    assert analysis.span_rule == pytest.approx(analyze(ours).span_rule)


@pytest.mark.parametrize("kind", ["precomputed", "callable"])
def test_kernel_values_are_the_right_ones_where_weights_are_zero(kind):
    X, y = data(3)
    X = rows_for(kind, X)
    weight = (np.arange(len(y)) % 4 > 0).astype(float)
    ours = SpanSVC(**KERNELS[kind]).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(
        ours.to_svc().decision_function(X), ours.decision_function(X), atol=1e-8
    )


def test_a_weighting_stays_in_the_solution():
    X, y = data(2)
    weighting = ClassWeighting(positive=8.0, negative=0.5)
    ours = SpanSVC(weighting=weighting).fit(X, y)
    svc = ours.to_svc()
    np.testing.assert_allclose(svc.decision_function(X), ours.decision_function(X), atol=1e-9)
    assert "weighting" not in svc.get_params()


def test_a_saved_model_can_be_handed_out_unless_its_kernel_needs_all_rows():
    X, y = load_wine(return_X_y=True)
    X = minmax_scale(X)
    model = SpanSVC(C=10).fit(X, y)
    saved = model.without_training_rows().to_svc()
    np.testing.assert_array_equal(saved.decision_function(X), model.to_svc().decision_function(X))
    saved = SpanSVC(kernel=linear).fit(X, y).without_training_rows()
    with pytest.raises(ValueError, match="needs all training rows"):
        saved.to_svc()


def test_feature_names_are_handed_on():
    X, y = load_iris(return_X_y=True, as_frame=True)
    svc = SpanSVC().fit(X, y).to_svc()
    assert list(svc.feature_names_in_) == list(X.columns)
    with pytest.raises(ValueError, match="feature names"):
        svc.predict(pd.DataFrame(X.to_numpy(), columns=list("abcd")))


def test_a_model_without_support_vectors_can_be_handed_out():
    X, y = data(2)
    ours = SpanSVC(tol=10.0, gram_budget=1.0).fit(X, y)
    assert ours.support_.size == 0
    np.testing.assert_array_equal(ours.to_svc().decision_function(X), ours.decision_function(X))
