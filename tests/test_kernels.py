from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise

from spansvm.kernels import resolve_kernel

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
        ({"gamma": "large"}, "gamma must be 'scale', 'auto' or a number"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"gamma": np.nan}, "gamma must be"),
        ({"degree": -1}, "degree must be a whole number"),
        ({"degree": 2.5}, "degree must be a whole number"),
        ({"coef0": np.inf}, "coef0 must be a finite number"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    arguments = {"kernel": "rbf"} | arguments
    with pytest.raises(ValueError, match=message):
        resolve_kernel(arguments.pop("kernel"), X, **arguments)
