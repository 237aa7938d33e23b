from __future__ import annotations

import threading

import numpy as np
import pytest
from scipy import linalg
from threadpoolctl import threadpool_info

from spansvm.algebra.blas import _OneBlasThread, one_blas_thread
from spansvm.algebra.qp import symmetric_view
from spansvm.core.testing import (
    cholesky,
    cholesky_inverse,
    cholesky_solve,
    lower_inverse,
    lower_solve,
)


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 64, 65, 150])
def test_factor_inverse_and_solve(n):
    rng = np.random.default_rng(n)
    root = rng.standard_normal((n, n + 3))
    matrix = root @ root.T
    factor = matrix.copy()
    assert cholesky(factor)
    lower = np.tril(factor)
    np.testing.assert_allclose(lower @ lower.T, matrix, rtol=1e-10, atol=1e-10)

    inverse = factor.copy()
    cholesky_inverse(inverse)
    np.testing.assert_allclose(inverse, linalg.inv(matrix), rtol=1e-6, atol=1e-8)

    triangle = factor.copy()
    lower_inverse(triangle)
    np.testing.assert_allclose(np.tril(triangle) @ lower, np.eye(n), atol=1e-9)

    for columns in (rng.standard_normal((n, 5)), np.empty((n, 0))):
        solution = columns.copy()
        lower_solve(factor, solution, False)
        np.testing.assert_allclose(lower @ solution, columns, atol=1e-9)
        solution = columns.copy()
        lower_solve(factor, solution, True)
        np.testing.assert_allclose(lower.T @ solution, columns, atol=1e-9)

    rows = rng.standard_normal((2, n))
    solution = rows.copy()
    cholesky_solve(factor, solution)
    np.testing.assert_allclose(solution, np.linalg.solve(matrix, rows.T).T, rtol=1e-6, atol=1e-8)


def test_a_matrix_that_is_not_definite_is_reported():
    assert not cholesky(np.diag([1.0, -1.0]))


def test_views_share_memory_unless_they_cannot():
    matrix = np.arange(9.0).reshape(3, 3)
    assert symmetric_view(matrix) is matrix
    frozen = matrix.view()
    frozen.flags.writeable = False
    for same in (frozen, np.asfortranarray(matrix), matrix.astype(np.float32)):
        assert np.shares_memory(symmetric_view(same), same)
    assert symmetric_view(matrix.astype(np.float32)).dtype == np.float32
    assert symmetric_view(matrix.astype(int)).dtype == np.float64


class Library:
    """What threadpoolctl shows of a BLAS library."""

    num_threads = 4

    def set_num_threads(self, number):
        self.num_threads = number


def test_blas_threads_are_put_back_when_the_last_is_done():
    limit, library = _OneBlasThread(), Library()
    limit._libraries = [library]
    with limit:
        assert library.num_threads == 1
        with limit:
            assert library.num_threads == 1
        assert library.num_threads == 1
    assert library.num_threads == 4

    entered, leave = threading.Event(), threading.Event()

    def other():
        with limit:
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with limit:
        thread.start()
        entered.wait(10)
    assert library.num_threads == 1
    leave.set()
    thread.join()
    assert library.num_threads == 4


def test_the_blas_of_numpy_and_scipy_is_limited():
    with one_blas_thread:
        threads = {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}
    assert threads == {1}


def test_other_threads_get_one_blas_thread_too_and_the_number_is_put_back():
    before = one_blas_thread.usual()
    inside = []

    def work():
        with one_blas_thread:
            inside.extend(library.num_threads for library in one_blas_thread._find())

    with one_blas_thread:
        pass
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(inside) == {1}
    assert one_blas_thread.usual() == before
