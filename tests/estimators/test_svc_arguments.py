"""Programs written for SVC run with SpanSVC: the same arguments, attributes and refusals."""

from __future__ import annotations

import inspect
import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine, make_blobs
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from spansvm import SpanSearch, SpanSVC
from spansvm.models import load_model, save_libsvm, save_model

X, Y = load_wine(return_X_y=True)
X = minmax_scale(X)

WITHOUT_EFFECT = {
    "shrinking": False,
    "probability": True,
    "cache_size": 1000,
    "verbose": 2,
    "random_state": 7,
}


def test_every_argument_of_svc_is_one_of_ours_with_its_default():
    ours = inspect.signature(SpanSVC).parameters
    for name, parameter in inspect.signature(SVC).parameters.items():
        # From scikit-learn 1.9 on the default says that the argument is deprecated there.
        expected = False if parameter.default == "deprecated" else parameter.default
        assert ours[name].default == expected, name


def test_the_order_of_arguments_is_the_one_that_was():
    positional = [
        name for name, parameter in inspect.signature(SpanSVC).parameters.items()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]  # fmt: skip
    assert positional == ["C", "kernel", "degree", "gamma", "coef0"]


def test_arguments_of_libsvm_are_accepted_without_effect():
    plain = SpanSVC(C=2.0).fit(X, Y)
    model = clone(SpanSVC(C=2.0, **WITHOUT_EFFECT)).fit(X, Y)
    assert {name: model.get_params()[name] for name in WITHOUT_EFFECT} == WITHOUT_EFFECT
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_training_prints_nothing_whatever_verbose_says(capsys):
    SpanSVC(verbose=True).fit(X, Y)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("probability", [True, False, np.True_, "deprecated"])
def test_there_are_probabilities_whatever_probability_says(probability):
    model = SpanSVC(probability=probability).fit(X, Y)
    assert model.predict_proba(X).shape == (Y.size, 3)


def test_numbers_in_single_precision_are_accepted_quietly():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SpanSVC(C=np.float32(2), tol=np.float32(1e-3)).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), SpanSVC(C=2).fit(X, Y).predict(X))
    with pytest.raises(ValueError, match="tol must be a positive number"):
        SpanSVC(tol=np.float32("inf")).fit(X, Y)


def test_a_tolerance_may_be_a_whole_number():
    assert SpanSVC(tol=1).fit(X, Y).score(X, Y) > 0.8
    search = SpanSearch(SVC(), {"tol": [1, 1e-3]}, cv=3, error_score="raise").fit(X, Y)
    assert (search.cv_results_["mean_test_score"] > 0.8).all()


@pytest.mark.parametrize("state", [None, 0, np.int64(3), np.random.RandomState(0)])
def test_every_random_state_of_scikit_learn_is_accepted(state):
    assert SpanSVC(random_state=state).fit(X, Y).fit_status_ == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"shrinking": "yes"}, "shrinking must be True or False; got 'yes'"),
        ({"probability": "yes"}, "probability must be True or False; got 'yes'"),
        ({"probability": 1}, "probability must be True or False; got 1"),
        ({"cache_size": 0}, "cache_size must be a positive number; got 0"),
        ({"cache_size": "200"}, "cache_size must be a positive number; got '200'"),
        ({"verbose": -1}, "verbose must be True, False or an integer of at least 0; got -1"),
        ({"verbose": "no"}, "verbose must be True, False or an integer of at least 0"),
        ({"random_state": "seed"}, "random_state must be None, an integer of at least 0"),
        ({"random_state": -3}, "random_state must be None, an integer of at least 0"),
        ({"random_state": 0.5}, "random_state must be None, an integer of at least 0"),
    ],
)
def test_values_of_a_wrong_kind_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        SpanSVC(**parameters).fit(X, Y)


def test_the_arguments_are_kept_in_files(tmp_path):
    model = SpanSVC(**WITHOUT_EFFECT).fit(X, Y)
    save_model(tmp_path / "model.skops", model)
    for loaded in (load_model(tmp_path / "model.skops").model, pickle.loads(pickle.dumps(model))):
        assert loaded.get_params() == model.get_params()
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(loaded.loo_predict_proba_, model.loo_predict_proba_)


def test_a_model_saved_before_an_argument_existed_has_its_default():
    model = SpanSVC(C=3.0).fit(X, Y)
    state = {name: value for name, value in vars(model).items() if name not in WITHOUT_EFFECT}
    before = SpanSVC.__new__(SpanSVC)
    before.__setstate__(state)
    assert before.get_params() == model.get_params()
    assert clone(before).C == 3.0
    np.testing.assert_array_equal(before.predict(X), model.predict(X))


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.filterwarnings("ignore:.*probability:FutureWarning")
def test_an_svc_handed_out_has_the_probabilities_that_were_asked_for(load, form):
    rows, y = load(return_X_y=True)
    rows = form(minmax_scale(rows))
    model = SpanSVC(probability=True).fit(rows, y)
    svc = model.to_svc()
    # LibSVM couples classes by an iteration that ends within 0.005.
    np.testing.assert_allclose(
        svc.predict_proba(rows), model.predict_calibrated_proba(rows), atol=5e-3
    )
    assert clone(svc).probability is True
    assert not hasattr(SpanSVC(probability=False).fit(rows, y).to_svc(), "predict_proba")


def test_ties_with_one_vs_one_are_refused_where_svc_refuses_them():
    rows, y = make_blobs(random_state=0)
    options = {"kernel": "linear", "break_ties": True, "decision_function_shape": "ovo"}
    for model in (SVC(**options).fit(rows, y), SpanSVC(**options).fit(rows, y)):
        assert model.decision_function(rows).shape == (y.size, 3)
        with pytest.raises(ValueError, match="break_ties must be False"):
            model.predict(rows)
    for attribute in ("loo_predict_", "loo_error_"):
        with pytest.raises(ValueError, match="break_ties must be False"):
            getattr(model, attribute)
    with pytest.raises(ValueError, match="break_ties must be False"):
        model.check_parameters()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_weights_of_features_cannot_be_changed_by_mistake(form):
    for y in (Y, Y == 1):
        model = SpanSVC(kernel="linear").fit(form(X), y)
        with pytest.raises(ValueError, match="read-only"):
            model.coef_[0, 0] = 0.0
        with pytest.raises(AttributeError):
            model.coef_ = np.arange(3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sparse_rows_have_sparse_coefficients_as_in_svc(n_classes, tmp_path):
    rows, y = sparse.csr_matrix(np.where(X > 0.4, X, 0.0)), np.minimum(Y, n_classes - 1)
    ours = SpanSVC(kernel="linear", tol=1e-7).fit(rows, y)
    theirs = SVC(kernel="linear", tol=1e-7).fit(rows, y)
    for name in ("dual_coef_", "coef_", "support_vectors_"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert mine.format == other.format == "csr", name
        np.testing.assert_allclose(mine.toarray(), other.toarray(), atol=1e-4, err_msg=name)
    assert ours.dual_coef_.nnz == theirs.dual_coef_.nnz
    save_model(tmp_path / "model.skops", ours)
    loaded = load_model(tmp_path / "model.skops").model
    np.testing.assert_array_equal(loaded.dual_coef_.toarray(), ours.dual_coef_.toarray())
    dense = SpanSVC(kernel="linear", tol=1e-7).fit(rows.toarray(), y)
    assert isinstance(dense.dual_coef_, np.ndarray)
    for file, model in (("sparse", ours), ("dense", dense)):
        save_libsvm(tmp_path / file, model)
    texts = [(tmp_path / file).read_text().splitlines() for file in ("sparse", "dense")]
    assert [line.split(" ")[0] for line in texts[0][:6]] == [
        line.split(" ")[0] for line in texts[1][:6]
    ]
    assert len(texts[0]) == len(texts[1])


def test_indices_of_64_bits_are_refused_as_in_svc():
    rows = sparse.csr_matrix(X)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    for model in (SVC(), SpanSVC()):
        with pytest.raises(ValueError, match="32-bit integer indices"):
            model.fit(rows, Y)


def test_gamma_is_found_where_programs_look_for_it():
    for options in ({}, {"gamma": "auto"}, {"gamma": 0.3}):
        assert SpanSVC(**options).fit(X, Y)._gamma == pytest.approx(
            SVC(**options).fit(X, Y)._gamma, rel=1e-12
        )
    assert SpanSVC(kernel="precomputed").fit(X @ X.T, Y)._gamma == 0.0


def test_a_gram_matrix_may_be_sparse():
    K = X @ X.T
    dense = SpanSVC(kernel="precomputed").fit(K, Y)
    given = SpanSVC(kernel="precomputed").fit(sparse.csr_matrix(K), Y)
    for rows in (K, sparse.csr_matrix(K)):
        np.testing.assert_allclose(given.decision_function(rows), dense.decision_function(K))
    assert given.loo_error_ == dense.loo_error_
