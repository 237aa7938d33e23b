from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, minmax_scale
from sklearn.svm import SVC, NuSVC

import spansvm
from spansvm import SpanAnalysis, analyze, exact_loo
from spansvm.common.methods import METHODS
from spansvm.machine.criteria import CRITERIA

X, Y = load_breast_cancer(return_X_y=True)
X = minmax_scale(X)
WEIGHT = np.random.default_rng(0).uniform(0.2, 2.0, Y.size)


@pytest.fixture(scope="module")
def svc():
    return SVC(C=3.0, gamma=0.5, tol=1e-6, class_weight={0: 1.0, 1: 0.5}).fit(
        X, Y, sample_weight=WEIGHT
    )


@pytest.fixture(scope="module")
def analysis(svc):
    return analyze(svc, X, Y, WEIGHT)


def test_arrays_run_over_the_training_rows(svc, analysis):
    for name in (
        "alpha", "C", "in_bound", "bounded", "span", "box_span", "span_exists", "trusted",
        "loo_decision",
    ):  # fmt: skip
        assert getattr(analysis, name).shape == (Y.size,), name
    np.testing.assert_allclose(analysis.C, 3.0 * WEIGHT * np.where(Y == 1, 0.5, 1.0))
    support = np.flatnonzero(analysis.in_bound | analysis.bounded)
    np.testing.assert_array_equal(support, np.sort(svc.support_))
    others = np.setdiff1d(np.arange(Y.size), support)
    assert not analysis.span[others].any()
    assert not analysis.box_span[others].any()
    np.testing.assert_allclose(
        analysis.loo_decision[others], svc.decision_function(X)[others], atol=1e-9
    )


def test_the_rule_predicts_leave_one_out(svc, analysis):
    exact = exact_loo(svc, X, Y, WEIGHT)
    error = np.mean((exact > 0) != (Y == 1))
    assert analysis.span_rule == pytest.approx(error, abs=3 / Y.size)
    assert analysis.span_rule == np.mean(np.where(Y == 1, 1, -1) * analysis.loo_decision <= 0)
    trusted = analysis.trusted
    assert trusted.sum() > 5
    np.testing.assert_allclose(analysis.loo_decision[trusted], exact[trusted], atol=1e-4)
    for bound in ("span_bound", "span_count", "xi_alpha", "sv_count"):
        assert getattr(analysis, bound) >= error


def test_a_vector_whose_box_holds_has_one_span_only(analysis):
    inside = analysis.in_bound | analysis.bounded
    trusted = analysis.trusted
    np.testing.assert_allclose(analysis.box_span[trusted], analysis.span[trusted], atol=1e-6)
    assert (analysis.box_span[inside] >= analysis.span[inside] - 1e-6).all()


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_dense_sparse_and_precomputed_agree(kernel):
    parameters = {"C": 3.0, "gamma": 0.5, "tol": 1e-6}
    dense = SVC(kernel=kernel, **parameters).fit(X, Y)
    reference = analyze(dense, X, Y)
    rows = sparse.csr_matrix(X)
    other = analyze(SVC(kernel=kernel, **parameters).fit(rows, Y), rows, Y)
    K = reference._model.gram.values
    third = analyze(SVC(kernel="precomputed", **parameters).fit(K, Y), K, Y)
    for name in ("span_rule", "span_bound", "span_count", "sv_count", "diameter"):
        assert getattr(other, name) == pytest.approx(getattr(reference, name), rel=1e-3), name
        assert getattr(third, name) == pytest.approx(getattr(reference, name), rel=1e-3), name
    np.testing.assert_allclose(other.loo_decision, reference.loo_decision, atol=1e-3)
    np.testing.assert_allclose(third.loo_decision, reference.loo_decision, atol=1e-3)


def test_estimates_are_computed_when_asked_for(svc, monkeypatch):
    lazy = analyze(svc, X, Y, WEIGHT)
    monkeypatch.setattr(
        "spansvm.kernels.gram.Gram.radius",
        property(lambda _: pytest.fail("the ball was not asked for")),
    )
    assert lazy.span_rule >= 0
    assert lazy.xi_alpha >= 0


def test_printing_shows_every_estimate(analysis):
    text = str(analysis)
    for name in CRITERIA:
        label = METHODS[name].label
        assert label in text
        assert f"{getattr(analysis, name):.4f}" in text
        assert label in analysis._repr_html_()
    assert f"{analysis.trusted.sum()} of" in text
    assert repr(analysis).startswith("SpanAnalysis of 569 instances")
    assert max(map(len, text.splitlines())) <= 88


def test_every_criterion_is_an_attribute_under_the_name_of_its_method(analysis):
    assert set(CRITERIA) <= set(dir(analysis))
    for name, criterion in CRITERIA.items():
        assert getattr(analysis, name) == criterion(analysis._model)
        assert name in SpanAnalysis.__doc__
    with pytest.raises(AttributeError, match="has no attribute 'kfold'"):
        analysis.kfold  # noqa: B018


def test_what_is_no_svc_is_refused():
    pipe = make_pipeline(MinMaxScaler(), SVC()).fit(X, Y)
    with pytest.raises(TypeError, match=r"got Pipeline\. For a pipeline, analyse the last step"):
        analyze(pipe, X, Y)
    assert isinstance(analyze(pipe[-1], pipe[:-1].transform(X), Y), SpanAnalysis)
    with pytest.raises(TypeError, match="needs a fitted SVC, SVR, SpanSVC or SpanSVR; got NuSVC"):
        analyze(NuSVC().fit(X, Y), X, Y)


def test_every_public_name_is_documented():
    for name in spansvm.__all__:
        assert getattr(spansvm, name).__doc__
    for name, attribute in vars(SpanAnalysis).items():
        if not name.startswith("_"):
            assert attribute.__doc__, name
