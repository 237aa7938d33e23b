"""SpanSVR is an SVR, with leave-one-out predictions and intervals."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut, cross_val_predict
from sklearn.preprocessing import scale
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from spansvm import SigmoidWeighting, SpanSearch, SpanSVR

X, Y = load_diabetes(return_X_y=True)
X, Y = scale(X)[:80], Y[:80]

KERNELS = {
    "rbf": {"gamma": 0.05},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.1, "degree": 2, "coef0": 1.0},
}

_SCALE = "gamma='scale' depends on all rows, also on those of zero weight, and on their number"
#: SVR itself fails them for the same reason.
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": _SCALE,
    "check_sample_weight_equivalence_on_sparse_data": _SCALE,
}


def expected_failures(estimator):
    own = getattr(estimator, "estimator", estimator)
    return EXPECTED_FAILURES if own.kernel == "rbf" and own.gamma == "scale" else {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        SpanSVR(),
        SpanSVR(gamma=0.1),
        SpanSVR(kernel="linear"),
        SpanSearch(SpanSVR(), {"C": [0.1, 1, 10]}),
        SpanSearch(SVR(), {"C": [0.1, 1, 10]}),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


# The model ----------------------------------------------------------------------------------------


def theirs(**params):
    return SVR(tol=1e-9, **params)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("C", [0.1, 10.0, 300.0])
@pytest.mark.parametrize("epsilon", [0.0, 5.0, 40.0])
def test_attributes_are_those_of_svr(kernel, C, epsilon):
    params = {"C": C, "epsilon": epsilon, **KERNELS[kernel]}
    ours, svr = SpanSVR(**params).fit(X, Y), theirs(**params).fit(X, Y)
    np.testing.assert_allclose(ours.predict(X), svr.predict(X), rtol=0, atol=1e-2)
    assert ours.score(X, Y) == pytest.approx(svr.score(X, Y), abs=1e-4)
    for name in ("support_", "n_support_", "dual_coef_", "intercept_", "support_vectors_"):
        mine, other = getattr(ours, name), getattr(svr, name)
        assert type(mine) is type(other)
        assert mine.dtype == other.dtype
        assert mine.ndim == other.ndim
    assert ours.shape_fit_ == svr.shape_fit_
    assert ours.fit_status_ == svr.fit_status_ == 0
    assert ours.n_features_in_ == svr.n_features_in_
    np.testing.assert_array_equal(ours.support_vectors_, X[ours.support_])
    # The solution of a linear kernel is not unique in its multipliers: its weights are.
    if kernel == "rbf":
        np.testing.assert_array_equal(ours.support_, svr.support_)
        np.testing.assert_allclose(ours.dual_coef_, svr.dual_coef_, rtol=0, atol=1e-3 * C)
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, svr.coef_, rtol=0, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, svr.intercept_, rtol=0, atol=1e-2)


def test_parameters_are_those_of_svr_and_two_more():
    ours, svr = SpanSVR().get_params(), SVR().get_params()
    assert {name: ours[name] for name in svr} == svr
    assert set(ours) - set(svr) == {"weighting", "gram_budget"}


@pytest.mark.parametrize("kernel", KERNELS)
def test_sparse_rows_are_the_same_model(kernel):
    rows = sparse.csr_matrix(X)
    params = {"C": 20.0, "epsilon": 3.0, **KERNELS[kernel]}
    ours, dense = SpanSVR(**params).fit(rows, Y), SpanSVR(**params).fit(X, Y)
    svr = theirs(**params).fit(rows, Y)
    np.testing.assert_allclose(ours.predict(rows), dense.predict(X), rtol=0, atol=1e-6)
    assert sparse.issparse(ours.support_vectors_)
    assert sparse.issparse(ours.dual_coef_) == sparse.issparse(svr.dual_coef_)
    assert ours.dual_coef_.shape == (1, ours.support_.size)
    if kernel == "linear":
        assert sparse.issparse(ours.coef_) == sparse.issparse(svr.coef_)
        np.testing.assert_allclose(ours.coef_.toarray(), dense.coef_, atol=1e-7)


def test_weights_multiply_c():
    weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], Y.size)
    params = {"C": 20.0, "epsilon": 3.0, "gamma": 0.05}
    ours = SpanSVR(**params).fit(X, Y, sample_weight=weight)
    svr = theirs(**params).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict(X), svr.predict(X), rtol=0, atol=1e-3)
    assert (weight[ours.support_] > 0).all()
    bounded = np.isclose(np.abs(ours.dual_coef_[0]), 20.0 * weight[ours.support_])
    assert bounded.any()


def test_scores_are_weights_by_the_weighting():
    scores = np.random.default_rng(1).random(Y.size)
    weighting = SigmoidWeighting(steepness=8.0, midpoint=0.4)
    params = {"C": 20.0, "epsilon": 3.0, "gamma": 0.05}
    ours = SpanSVR(weighting=weighting, **params).fit(X, Y, scores=scores)
    weight = 1.0 / (1.0 + np.exp(-8.0 * (scores - 0.4)))
    floor = SigmoidWeighting().floor
    svr = theirs(**params).fit(X, Y, sample_weight=np.maximum(weight, floor))
    np.testing.assert_allclose(ours.predict(X), svr.predict(X), rtol=0, atol=0.2)
    assert np.abs(ours.predict(X) - theirs(**params).fit(X, Y).predict(X)).max() > 1.0


def test_precomputed_and_callable_kernels():
    K = rbf_kernel(X, gamma=0.05)
    plain = SpanSVR(C=20.0, gamma=0.05).fit(X, Y)
    for model, rows in (
        (SpanSVR(C=20.0, kernel="precomputed"), K),
        (SpanSVR(C=20.0, kernel=lambda a, b: rbf_kernel(a, b, gamma=0.05)), X),
    ):
        model.fit(rows, Y)
        np.testing.assert_allclose(model.predict(rows), plain.predict(X), rtol=0, atol=1e-6)
        np.testing.assert_allclose(model.loo_predict_, plain.loo_predict_, rtol=0, atol=1e-6)
        np.testing.assert_allclose(
            model.predict_interval(rows), plain.predict_interval(X), rtol=0, atol=1e-6
        )


@pytest.mark.parametrize("trap", ["constant", "one row", "two rows", "wide tube"])
def test_what_svr_fits_is_fitted(trap):
    rows, y, epsilon = X, Y, 0.1
    if trap == "constant":
        y = np.full(Y.size, 7.25)
    elif trap == "one row":
        rows, y = X[:1], Y[:1]
    elif trap == "two rows":
        rows, y = X[:2], Y[:2]
    else:
        epsilon = 1000.0
    ours = SpanSVR(gamma=0.05, epsilon=epsilon).fit(rows, y)
    svr = theirs(gamma=0.05, epsilon=epsilon).fit(rows, y)
    np.testing.assert_allclose(ours.predict(X), svr.predict(X), atol=1e-5)
    assert ours.support_.size == svr.support_.size
    assert ours.dual_coef_.shape == svr.dual_coef_.shape
    assert ours.support_vectors_.shape == svr.support_vectors_.shape
    if trap != "one row":
        expected = cross_val_predict(svr, rows, y, cv=LeaveOneOut())
        np.testing.assert_allclose(ours.loo_predict_, expected, atol=1e-4)
    again = pickle.loads(pickle.dumps(ours.to_svr()))
    np.testing.assert_allclose(again.predict(X), ours.predict(X), atol=1e-9)


# Left out -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("epsilon", [0.0, 5.0, 60.0])
def test_left_out_predictions_are_those_of_refits(kernel, epsilon):
    params = {"C": 20.0, "epsilon": epsilon, **KERNELS[kernel]}
    ours = SpanSVR(**params).fit(X, Y)
    expected = cross_val_predict(theirs(**params), X, Y, cv=LeaveOneOut())
    np.testing.assert_allclose(ours.loo_predict_, expected, rtol=0, atol=1e-2)
    np.testing.assert_allclose(ours.loo_residual_, Y - ours.loo_predict_)
    assert ours.loo_error_ == pytest.approx(np.sqrt(np.mean((Y - expected) ** 2)), rel=1e-4)


def test_groups_are_left_out_together():
    groups = np.arange(Y.size) % 9
    params = {"C": 20.0, "epsilon": 5.0, "gamma": 0.05}
    ours = SpanSVR(**params).fit(X, Y, groups=groups)
    np.testing.assert_allclose(ours.predict(X), SpanSVR(**params).fit(X, Y).predict(X))
    expected = cross_val_predict(theirs(**params), X, Y, cv=LeaveOneGroupOut(), groups=groups)
    np.testing.assert_allclose(ours.loo_predict_, expected, rtol=0, atol=1e-2)


def test_rows_of_zero_weight_have_no_residual():
    weight = np.ones(Y.size)
    weight[::5] = 0.0
    ours = SpanSVR(C=20.0, gamma=0.05).fit(X, Y, sample_weight=weight)
    assert np.isnan(ours.loo_residual_[::5]).all()
    assert np.isfinite(ours.loo_error_)
    np.testing.assert_allclose(ours.loo_predict_[::5], ours.predict(X)[::5])


def test_the_caller_may_change_the_rows_after_fit():
    rows = X.copy()
    ours = SpanSVR(C=20.0, gamma=0.05).fit(rows, Y)
    rows[:] = 0.0
    expected = SpanSVR(C=20.0, gamma=0.05).fit(X, Y).loo_predict_
    np.testing.assert_array_equal(ours.loo_predict_, expected)


def test_another_fit_forgets_what_was_left_out():
    ours = SpanSVR(C=20.0, gamma=0.05).fit(X, Y)
    before = ours.loo_predict_, ours.predict_interval(X[:3])
    ours.fit(X[:50], Y[:50])
    assert ours.loo_predict_.size == 50
    assert not np.array_equal(before[1], ours.predict_interval(X[:3]))
    ours.set_params(C=20.0).fit(X, Y)
    np.testing.assert_array_equal(ours.loo_predict_, before[0])
    np.testing.assert_array_equal(ours.predict_interval(X[:3]), before[1])


# Other forms --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("form", ["dense", "sparse", "weights"])
def test_to_svr_predicts_the_same(kernel, form):
    rows = sparse.csr_matrix(X) if form == "sparse" else X
    weight = np.random.default_rng(0).choice([0.0, 1.0, 2.0], Y.size) if form == "weights" else None
    ours = SpanSVR(C=20.0, epsilon=3.0, **KERNELS[kernel]).fit(rows, Y, sample_weight=weight)
    svr = ours.to_svr()
    assert type(svr) is SVR
    np.testing.assert_allclose(svr.predict(rows), ours.predict(rows), rtol=0, atol=1e-8)
    assert svr.C == 20.0
    assert svr.epsilon == 3.0
    again = pickle.loads(pickle.dumps(svr))
    np.testing.assert_array_equal(again.predict(rows), svr.predict(rows))
    assert clone(svr).fit(X, Y).predict(X).shape == Y.shape


def test_to_svr_of_other_kernels():
    K = rbf_kernel(X, gamma=0.05)
    ours = SpanSVR(C=20.0, kernel="precomputed").fit(K, Y)
    np.testing.assert_allclose(ours.to_svr().predict(K), ours.predict(K), atol=1e-8)
    ours = SpanSVR(C=20.0, kernel=lambda a, b: rbf_kernel(a, b, gamma=0.05)).fit(X, Y)
    np.testing.assert_allclose(ours.to_svr().predict(X), ours.predict(X), atol=1e-8)
    with pytest.raises(ValueError, match="callable kernel"):
        ours.without_training_rows().to_svr()


@pytest.mark.parametrize("groups", [None, np.arange(Y.size) // 4])
def test_a_saved_model_keeps_values_and_intervals(groups):
    ours = SpanSVR(C=2.0, epsilon=40.0, gamma=0.05).fit(X, Y, groups=groups)
    saved = pickle.loads(pickle.dumps(ours.without_training_rows()))
    assert not hasattr(saved.machines_, "X")
    assert len(saved.support_) < Y.size
    np.testing.assert_array_equal(saved.predict(X), ours.predict(X))
    np.testing.assert_array_equal(saved.loo_predict_, ours.loo_predict_)
    assert saved.loo_error_ == ours.loo_error_
    np.testing.assert_array_equal(
        saved.predict_interval(X, [0.8, 0.9]), ours.predict_interval(X, [0.8, 0.9])
    )
    np.testing.assert_array_equal(
        saved.without_training_rows().predict(X), ours.predict(X)
    )  # fmt: skip
    np.testing.assert_allclose(saved.to_svr().predict(X), ours.predict(X), atol=1e-8)


def test_pickled_as_it_is():
    ours = SpanSVR(C=2.0, epsilon=40.0, gamma=0.05).fit(X, Y)
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.loo_predict_, ours.loo_predict_)
    np.testing.assert_array_equal(again.predict_interval(X), ours.predict_interval(X))


def test_a_gram_matrix_in_parts_is_the_same_model():
    rows, y = make_friedman1(150, random_state=0)
    whole = SpanSVR(C=5.0, gamma=0.3).fit(rows, y)
    parts = SpanSVR(C=5.0, gamma=0.3, gram_budget="20 kB", tol=1e-6).fit(rows, y)
    np.testing.assert_allclose(parts.predict(rows), whole.predict(rows), atol=1e-5)
    np.testing.assert_allclose(parts.loo_predict_, whole.loo_predict_, atol=1e-4)
    np.testing.assert_allclose(
        parts.predict_interval(rows[:9]), whole.predict_interval(rows[:9]), atol=1e-4
    )


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0.0}, "C must be .*got 0.0"),
        ({"C": -1.0}, "C must be .*got -1.0"),
        ({"C": np.nan}, "C must be .*got nan"),
        ({"C": "1"}, "C must be .*got '1'"),
        ({"epsilon": -0.1}, "epsilon must be .*got -0.1"),
        ({"epsilon": np.inf}, "epsilon must be .*got inf"),
        ({"epsilon": np.nan}, "epsilon must be .*got nan"),
        ({"kernel": "gauss"}, "kernel.*gauss"),
        ({"gamma": -1.0}, "gamma must be .*-1.0"),
        ({"tol": 0.0}, "tol must be .*got 0.0"),
        ({"max_iter": -2}, "max_iter must be .*-2"),
        ({"gram_budget": "much"}, "much"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        SpanSVR(**params).fit(X, Y)


def test_wrong_data_are_named():
    with pytest.raises(ValueError, match="NaN"):
        SpanSVR().fit(X, np.where(Y > 100, np.nan, Y))
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples|80"):
        SpanSVR().fit(X, Y[:-1])
    with pytest.raises(ValueError, match="square matrix"):
        SpanSVR(kernel="precomputed").fit(X, Y)
    with pytest.raises(ValueError, match="1d array"):
        SpanSVR().fit(X, np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match="sample_weight"):
        SpanSVR().fit(X, Y, sample_weight=-np.ones(Y.size))
    with pytest.raises(ValueError, match="All instances have zero weight"):
        SpanSVR().fit(X, Y, sample_weight=np.zeros(Y.size))
    with pytest.raises(ValueError, match="groups"):
        SpanSVR().fit(X, Y, groups=np.full(Y.size, np.nan))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SpanSVR().fit(X, Y, groups=np.zeros(3))
    with pytest.raises(ValueError, match="scores"):
        SpanSVR(weighting=SigmoidWeighting()).fit(X, Y, scores=np.full(Y.size, 2.0))


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 90, "0.9", [], [0.5, 1.5], np.nan, None])
def test_a_wrong_confidence_level_is_named(level):
    model = SpanSVR().fit(X, Y)
    with pytest.raises(ValueError, match="confidence_level must be"):
        model.predict_interval(X, level)


def test_what_is_not_fitted_says_so():
    for ask in (
        lambda model: model.predict(X),
        lambda model: model.predict_interval(X),
        lambda model: model.loo_predict_,
        lambda model: model.loo_error_,
        lambda model: model.to_svr(),
        lambda model: model.without_training_rows(),
    ):
        with pytest.raises(NotFittedError):
            ask(SpanSVR())
    with pytest.raises(AttributeError, match="linear"):
        _ = SpanSVR().fit(X, Y).coef_


def test_a_limit_on_iterations_warns():
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = SpanSVR(C=1000.0, max_iter=2).fit(X, Y)
    assert model.fit_status_ == 1


@pytest.mark.parametrize("budget", [None, "20 kB"])
def test_an_indefinite_kernel_warns_and_its_left_out_rows_are_retrained(budget):
    model = SpanSVR(kernel="sigmoid", gamma=1.0, coef0=-1.0, C=10.0, gram_budget=budget)
    with pytest.warns(UserWarning, match="positive semidefinite"):
        model.fit(X, Y)
    assert model.fit_status_ == 0
    assert np.isfinite(model.loo_predict_).all()
