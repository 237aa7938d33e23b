"""Linear machines on many rows, such as landmark features: bands of rows, and a vertex."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from spansvm import SpanSearch, SpanSVC
from spansvm.kernels import linear
from spansvm.kernels.functions import resolve_kernel
from spansvm.kernels.gram import HeldGram
from spansvm.kernels.lazy import LazyGram, gram_of
from spansvm.kernels.linear import distances_from_hull, near_solution
from spansvm.kernels.twins import equal_rows
from spansvm.machine.criteria import SolvedModel
from spansvm.machine.dual import solve_dual
from spansvm.multiclass.path import Path

ROWS, COMPONENTS = 4000, 40


def moons(n=ROWS, noise=0.4, seed=0):
    X, y = make_moons(n, noise=noise, random_state=seed)
    return X, np.where(y > 0, 1.0, -1.0)


def landmark_features(X, gamma=8.0, n_components=COMPONENTS):
    steps = make_pipeline(
        MinMaxScaler(), Nystroem(gamma=gamma, n_components=n_components, random_state=0)
    )
    return steps.fit_transform(X)


@pytest.fixture
def narrow(monkeypatch):
    """Bands and samples so small that a few hundred rows need several rounds."""
    for name, value in (
        ("_SAMPLED", 40), ("_SAMPLED_A_FEATURE", 5), ("_BAND", 20), ("_BAND_A_FEATURE", 2),
    ):  # fmt: skip
        monkeypatch.setattr(linear, name, value)


def test_a_search_over_landmark_features_is_that_with_their_gram_matrix():
    X, y = moons()
    model = make_pipeline(
        MinMaxScaler(),
        Nystroem(n_components=COMPONENTS, random_state=0),
        SpanSVC(kernel="linear"),
    )
    grid = {"nystroem__gamma": [1.0, 8.0], "spansvc__C": [0.1, 1.0, 10.0, 100.0]}
    search = SpanSearch(model, grid).fit(X, y)
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        Z = landmark_features(X, params["nystroem__gamma"])
        gram = gram_of(resolve_kernel("linear", Z), Z, whole=True)
        assert not isinstance(gram, LazyGram)
        expected = SolvedModel(gram, solve_dual(gram, y, params["spansvc__C"]))
        assert round((1.0 - score) * y.size) == expected.spans.errors
        if params == search.best_params_:
            Z = search.best_estimator_[:-1].transform(X)
            np.testing.assert_allclose(
                search.best_estimator_[-1].decision_function(Z),
                expected.solution.decision,
                atol=1e-6,
            )


@pytest.mark.parametrize("weights", ["equal", "class", "some zero"])
def test_left_out_values_are_those_of_the_gram_matrix_from_any_start(weights):
    X, y = moons()
    Z = landmark_features(X)
    base = {
        "equal": np.ones(ROWS),
        "class": np.where(y > 0, 5.0, 0.5),
        "some zero": (np.arange(ROWS) % 3 > 0).astype(float),
    }[weights]
    kernel = resolve_kernel("linear", Z)
    whole, lazy = gram_of(kernel, Z, whole=True), gram_of(kernel, Z)
    assert isinstance(lazy, LazyGram)
    values = [0.1, 1.0, 30.0, 1000.0]
    up, down, dense = Path(lazy, y), Path(lazy, y), Path(whole, y)
    upward = [up.step(C * base) for C in values]
    downward = [down.step(C * base) for C in values[::-1]][::-1]
    for C, *found in zip(values, upward, downward, strict=True):
        expected = dense.step(C * base)
        found.append(SolvedModel(lazy, solve_dual(lazy, y, C * base)))
        for model in found:
            assert model.solution.converged
            np.testing.assert_array_equal(model.solution.in_bound, expected.solution.in_bound)
            np.testing.assert_allclose(
                model.solution.decision, expected.solution.decision, atol=1e-7
            )
            np.testing.assert_allclose(model.spans.decision, expected.spans.decision, atol=1e-6)


def test_no_more_rows_are_in_bound_than_the_features_allow():
    X, y = moons(8000)
    Z = landmark_features(X, n_components=15)
    solution = solve_dual(gram_of(resolve_kernel("linear", Z), Z), y, 10.0)
    assert 2 <= solution.in_bound.sum() <= 16
    assert solution.gap < 1e-8


def test_left_out_values_over_landmark_features_are_those_of_retraining():
    X, y = moons(160)
    Z = landmark_features(X, n_components=8)
    lazy = LazyGram(resolve_kernel("linear", Z), Z)
    model = SolvedModel(lazy, solve_dual(lazy, y, 0.1, tol=1e-8))
    svc = SVC(kernel="linear", C=0.1, tol=1e-8)
    retrained = np.empty(y.size)
    for row in range(y.size):
        others = np.arange(y.size) != row
        own = clone(svc).fit(Z[others], y[others])
        retrained[row] = own.decision_function(Z[[row]])[0]
    certain = model.trusted | ~model.solution.support
    assert (model.trusted & model.solution.support).sum() > 5
    np.testing.assert_allclose(model.spans.decision[certain], retrained[certain], atol=1e-5)
    assert abs(model.spans.errors - int((y * retrained <= 0).sum())) <= 2


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("inside", [1, 2, 5, 12, 30])
def test_distances_in_the_space_of_features_are_those_from_kernel_values(inside, form):
    rng = np.random.default_rng(inside)
    X = rng.standard_normal((300, 12)) + 3.0
    X[3] = 0.5 * (X[0] + X[1])  # adds nothing to the hull of the others
    gram = HeldGram(X @ X.T)
    rows, others = np.arange(inside), np.arange(inside, 300)
    expected = np.zeros(300)
    gram.hull_distances(gram.factor(rows), others, expected)
    least = 1e-11 * float(gram.diagonal.max())
    found = distances_from_hull(form(X), rows, others, least)
    np.testing.assert_allclose(found, expected[others], atol=1e-6)
    lazy, filled = LazyGram(resolve_kernel("linear", X), form(X)), np.zeros(300)
    lazy.hull_distances(lazy.factor(rows), others, filled)
    np.testing.assert_array_equal(filled[others], found)
    np.testing.assert_allclose(filled[rows], expected[rows], atol=1e-6)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("seed", range(12))
def test_bands_that_are_too_narrow_become_wider(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(100, 600)), int(rng.integers(1, 20))
    X = rng.standard_normal((n, d)) + seed % 3
    if seed % 4 == 0:
        X[: n // 3] = X[n // 3 : 2 * (n // 3)]  # equal rows
    along = X @ rng.standard_normal(d)
    y = np.where(along + rng.standard_normal(n) > np.quantile(along, 0.8), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    weights = 10.0 ** rng.uniform(-1, 1, n) * (rng.random(n) < 0.9) + 1e-3
    kernel = resolve_kernel("linear", X)
    whole, lazy = HeldGram(kernel(X)), LazyGram(kernel, X)
    whole.kinds = equal_rows(X)
    exact, bands = Path(whole, y), Path(lazy, y)
    for C in 10.0 ** rng.permutation(np.arange(-2, 3)):
        expected, found = exact.step(C * weights), bands.step(C * weights)
        assert found.solution.converged
        np.testing.assert_allclose(found.solution.decision, expected.solution.decision, atol=1e-5)
        np.testing.assert_allclose(found.spans.decision, expected.spans.decision, atol=1e-4)
        assert abs(found.solution.beta.sum()) <= 1e-9 * C * weights.sum()


@pytest.mark.usefixtures("narrow")
def test_a_class_that_a_sample_misses():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 3))
    y = np.full(900, -1.0)
    y[[17, 500]] = 1.0
    kernel = resolve_kernel("linear", X)
    found = solve_dual(LazyGram(kernel, X), y, 10.0)
    expected = solve_dual(HeldGram(kernel(X)), y, 10.0)
    assert found.converged
    np.testing.assert_allclose(found.decision, expected.decision, atol=1e-6)


@pytest.mark.usefixtures("narrow")
def test_a_guide_that_is_wrong_throughout_is_corrected():
    X, y = moons(600)
    Z = landmark_features(X, n_components=10)
    lo, hi = np.minimum(0.0, y), np.maximum(0.0, y)
    expected = near_solution(Z, lo, hi, None, 1e-6)
    for guide in (np.full(600, 5.0), np.full(600, -5.0), np.sin(np.arange(600.0))):
        found = near_solution(Z, lo, hi, guide, 1e-6)
        np.testing.assert_allclose(Z.T @ found, Z.T @ expected, atol=1e-4)


def test_many_features_are_left_to_the_general_rounds(monkeypatch):
    X, y = moons(500)
    Z = landmark_features(X, n_components=10)
    monkeypatch.setattr("spansvm.kernels.lazy._MOST_FEATURES", 9)
    kernel = resolve_kernel("linear", Z)
    lazy, whole = LazyGram(kernel, Z), HeldGram(kernel(Z))
    found, expected = solve_dual(lazy, y, 1.0, tol=1e-6), solve_dual(whole, y, 1.0, tol=1e-6)
    assert found.converged
    np.testing.assert_allclose(found.decision, expected.decision, atol=1e-4)
    spans = SolvedModel(lazy, expected).spans.decision
    np.testing.assert_allclose(spans, SolvedModel(whole, expected).spans.decision, atol=1e-6)
