from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from spansvm import SpanSearch, SpanSVC
from spansvm.kernels.functions import (
    KERNELS,
    Kernel,
    kernel_arguments,
    kernel_of,
    resolve_kernel,
    values_between,
)

RNG = np.random.default_rng(0)
X = RNG.random((70, 6)) * (RNG.random((70, 6)) < 0.6)
Z = RNG.random((40, 6))

REFERENCES = {
    "linear": lambda a, b: pairwise.linear_kernel(a, b),
    "rbf": lambda a, b: pairwise.rbf_kernel(a, b, gamma=0.7),
    "poly": lambda a, b: pairwise.polynomial_kernel(a, b, gamma=0.7, degree=3, coef0=0.5),
    "sigmoid": lambda a, b: pairwise.sigmoid_kernel(a, b, gamma=0.7, coef0=0.5),
}


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_values_are_those_of_scikit_learn(name, convert):
    kernel = resolve_kernel(name, X, gamma=0.7, degree=3, coef0=0.5)
    np.testing.assert_allclose(kernel(convert(X)), REFERENCES[name](X, X), atol=1e-13)
    np.testing.assert_allclose(kernel(convert(X), convert(Z)), REFERENCES[name](X, Z), atol=1e-13)


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("threads", [1, 2])
def test_values_in_tiles_are_those_of_scikit_learn(name, convert, threads):
    many = np.concatenate([X, Z, X + 1.0, Z + 1.0, X - 1.0])  # several tiles, the last not full
    kernel = resolve_kernel(name, X, gamma=0.7, degree=3, coef0=0.5)
    with threadpool_limits(threads, user_api="blas"):
        found = values_between(kernel, convert(many), convert(Z))
    np.testing.assert_allclose(found, REFERENCES[name](many, Z), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", REFERENCES)
def test_gram_matrices_are_exactly_symmetric(name):
    K = resolve_kernel(name, X)(X)
    np.testing.assert_array_equal(K, K.T)


@pytest.mark.parametrize("degree", [0, 1, 2, 5, 8])
def test_polynomials_of_any_degree(degree):
    K = resolve_kernel("poly", X, gamma=0.3, degree=degree, coef0=-0.4)(X)
    np.testing.assert_allclose(K, (0.3 * X @ X.T - 0.4) ** degree, atol=1e-14)


def test_gamma_is_resolved_as_scikit_learn_does():
    assert resolve_kernel("rbf", X, gamma="auto").gamma == pytest.approx(1 / 6)
    assert resolve_kernel("rbf", X, gamma="scale").gamma == pytest.approx(1 / (6 * X.var()))
    assert resolve_kernel("rbf", sparse.csr_matrix(X)).gamma == pytest.approx(1 / (6 * X.var()))
    assert resolve_kernel("rbf", np.ones((5, 3))).gamma == 1.0
    assert resolve_kernel("rbf", X, gamma=2).gamma == 2.0


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_a_function_that_returns_no_numbers_is_told_so(strange):
    def kernel(a, b):
        values = np.asarray(a) @ np.asarray(b).T
        values[-1, 0] = strange
        return values

    y = np.arange(70) % 2
    with pytest.raises(ValueError, match="kernel must return finite numbers; it returned NaN or"):
        SpanSVC(kernel=kernel).fit(X, y)
    with pytest.raises(ValueError, match="kernel must return finite numbers"):
        SpanSearch(SVC(kernel=kernel), {"C": [1.0]}, error_score="raise").fit(X, y)
    with pytest.raises(ValueError, match="kernel must return finite numbers"):
        resolve_kernel(kernel, X)(X, Z)


def test_precomputed_and_callable_kernels():
    K = X @ X.T
    assert resolve_kernel("precomputed", K)(K) is K
    own = resolve_kernel(lambda a, b: a @ b.T + 1.0, X)
    np.testing.assert_allclose(own(X, Z), X @ Z.T + 1.0)


def test_a_matrix_that_is_no_gram_matrix_is_refused():
    K = X @ X.T
    K[3, 5] += 1.0
    with pytest.raises(ValueError, match="must be symmetric"):
        resolve_kernel("precomputed", K)(K)
    with pytest.raises(ValueError, match="must be symmetric"):
        resolve_kernel(lambda a, b: a @ np.roll(b, 1, axis=1).T, X)(X)
    with pytest.raises(ValueError, match="must be square"):
        resolve_kernel("precomputed", K)(K[:5])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel": "cubic"}, "kernel must be one of linear, poly, rbf"),
        ({"gamma": "large"}, "gamma must be 'scale', 'auto' or a non-negative number"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"gamma": np.nan}, "gamma must be"),
        ({"degree": -1}, "degree must be a non-negative integer"),
        ({"degree": 2.5}, "degree must be a non-negative integer"),
        ({"coef0": np.inf}, "coef0 must be a finite number"),
        ({"coef0": "large"}, "coef0 must be a finite number"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    arguments = {"kernel": "rbf"} | arguments
    with pytest.raises(ValueError, match=message):
        resolve_kernel(arguments.pop("kernel"), X, **arguments)


@pytest.mark.parametrize("estimator", [SVC, SpanSVC])
def test_the_kernel_of_an_estimator_has_all_its_arguments(estimator):
    arguments = {"kernel": "poly", "gamma": 0.3, "degree": 4, "coef0": 0.7}
    model = estimator(**arguments)
    assert kernel_arguments(model) == arguments
    assert kernel_of(model, X) == resolve_kernel(arguments.pop("kernel"), X, **arguments)


@pytest.mark.parametrize("name", KERNELS)
def test_parameters_that_a_kernel_does_not_name_change_nothing(name):
    rows = X @ X.T if name == "precomputed" else X
    values = {"gamma": (0.3, 0.9), "degree": (2, 5), "coef0": (0.1, 0.8)}
    first = Kernel(name, **{parameter: pair[0] for parameter, pair in values.items()})
    for parameter, (_, other) in values.items():
        changed = replace(first, **{parameter: other})
        same = np.array_equal(first(rows, rows), changed(rows, rows))
        assert same == (parameter not in first.parameters), parameter


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "precomputed"])
def test_the_diagonal_is_that_of_the_gram_matrix(name):
    kernel = resolve_kernel(name, X, gamma=0.7, degree=3, coef0=0.5)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(kernel(X)), rtol=1e-14)


def test_a_precomputed_kernel_has_no_diagonal_of_rows():
    with pytest.raises(ValueError, match="not a function of rows"):
        Kernel("precomputed").diagonal(X)


def test_a_polynomial_with_a_negative_offset_is_not_semidefinite():
    X = np.eye(3)
    assert Kernel("poly", gamma=1.0, degree=3, coef0=0.0).definite
    negative = Kernel("poly", gamma=1.0, degree=3, coef0=-1.0)
    assert np.linalg.eigvalsh(negative(X)).min() < 0
    assert not negative.definite


def test_a_point_is_at_no_distance_from_itself():
    X = np.random.default_rng(0).normal(size=(50, 7)) + 1e6  # squared norms cancel
    np.testing.assert_array_equal(np.diagonal(Kernel("rbf", gamma=10.0)(X)), 1.0)


# Rows that are no numbers -------------------------------------------------------------

ALPHABET = "abcd"


def spectrum(A, B):
    """A kernel of texts: the numbers of each letter in both, with a Gaussian."""
    ours, theirs = (np.array([[text.count(c) for c in ALPHABET] for text in own]) for own in (A, B))
    distances = ((ours[:, None] - theirs[None]) ** 2).sum(axis=-1)
    return np.exp(-0.1 * distances)


def of_first(A, B):
    return spectrum([row[0] for row in A], [row[0] for row in B])


def texts(n, n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    shares = np.full((n_classes, 4), 0.2) + 0.2 * np.eye(4)[:n_classes]
    return ["".join(rng.choice(list(ALPHABET), 8, p=shares[label])) for label in y], y


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", [list, np.array, "objects", "columns"])
def test_a_kernel_of_texts_is_searched(n_classes, form):
    words, y = texts(60, n_classes)
    numbers = np.array([[text.count(c) for c in ALPHABET] for text in words], dtype=float)
    X = {
        "objects": np.array(words, dtype=object),
        "columns": np.array(words, dtype=object)[:, None],
    }
    X = X[form] if isinstance(form, str) else form(words)
    kernel = of_first if form == "columns" else spectrum
    grid = {"C": [0.1, 1, 1e6]}
    for options in ({}, {"cv": 3}, {"method": "loo"}):
        ours = SpanSearch(SVC(kernel=kernel, tol=1e-8), grid, **options).fit(X, y)
        same = SpanSearch(SVC(gamma=0.1, tol=1e-8), grid, **options).fit(numbers, y)
        for name in ("mean_test_score", "n_in_bound"):
            np.testing.assert_array_equal(ours.cv_results_[name], same.cv_results_[name], name)
        np.testing.assert_array_equal(ours.predict(X), same.predict(numbers))
        assert ours.best_estimator_.kernel is kernel
    theirs = GridSearchCV(SVC(kernel=kernel, tol=1e-8), grid, cv=3).fit(X, y)
    ours = SpanSearch(SVC(kernel=kernel, tol=1e-8), grid, cv=3, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )


@pytest.mark.filterwarnings("ignore:LibSVM's refit")  # unless rounding happens to be right
def test_a_refit_on_texts_is_the_model_that_was_evaluated():
    """Where every multiplier is at its bound, rounding decides LibSVM's intercept."""
    words, y = texts(50, 3)
    y, settings = (y == 1).astype(int), {"C": 1e-4, "class_weight": "balanced"}
    search = SpanSearch(SVC(kernel=spectrum, **settings), {"tol": [1e-3]}).fit(words, y)
    numbers = np.array([[text.count(c) for c in ALPHABET] for text in words], dtype=float)
    expected = SpanSVC(gamma=0.1, **settings).fit(numbers, y).decision_function(numbers)
    np.testing.assert_allclose(search.decision_function(words), expected, atol=1e-6)
