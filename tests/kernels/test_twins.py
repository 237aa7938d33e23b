"""Equal rows: what is said of them is a property of the data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from spansvm import SpanSearch, SpanSVC, analyze, exact_loo
from spansvm.algebra.qp import solve_qp
from spansvm.kernels.functions import resolve_kernel
from spansvm.kernels.gram import HeldGram
from spansvm.kernels.lazy import gram_of
from spansvm.kernels.twins import Twins, equal_points, equal_rows
from spansvm.machine.dual import box, solve_dual
from spansvm.machine.span import box_span_squared, span_exists


def with_copies(seed, n=80):
    """Rows on a coarse grid, so that many repeat others, with equal and with other labels."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 2)), 0)
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y


def test_equal_rows_are_found_in_every_form():
    X = np.array([[1.0, 0.0], [2.0, 0.5], [1.0, -0.0], [2.0, 0.5], [3.0, 0.0]])
    expected = [0, 1, 0, 1, 4]
    assert equal_rows(X).tolist() == expected
    assert equal_rows(sparse.csr_matrix(X)).tolist() == expected
    assert equal_points(resolve_kernel("rbf", X, gamma=0.5)(X)).tolist() == expected
    assert equal_rows(X[[0, 1, 4]]) is None
    assert equal_points(np.eye(3)) is None


def test_points_that_are_merely_close_are_not_equal():
    X = np.array([[0.0], [1e-6], [1.0]])
    assert equal_rows(X) is None
    assert equal_points(X @ X.T + 1.0) is None


def test_only_equal_labels_are_merged():
    twins = Twins(np.array([0, 0, 0, 3]), np.array([1.0, -1.0, 1.0, 1.0]))
    assert twins.first.tolist() == [0, 1, 0, 3]
    assert twins.several.tolist() == [True, False, True, False]
    assert twins.merge(np.array([1.0, 2.0, 3.0, 4.0])).tolist() == [4.0, 2.0, 0.0, 4.0]


@pytest.mark.parametrize("seed", range(4))
def test_twins_share_their_multiplier_in_proportion_to_their_bounds(seed):
    X, y = with_copies(seed)
    C = np.random.default_rng(seed).uniform(0.5, 2.0, y.size)
    gram = gram_of(resolve_kernel("rbf", X, gamma=0.7), X)
    solution = solve_dual(gram, y, C)
    twins = gram.twins(y)
    assert twins.several.any()
    share = solution.alpha / C
    np.testing.assert_allclose(share, share[twins.first], atol=1e-12)
    # It is a solution all the same.
    decision = gram.values @ solution.beta + solution.intercept
    np.testing.assert_allclose(decision, solution.decision, atol=1e-9)
    assert abs(solution.beta.sum()) < 1e-9
    assert solution.gap < 1e-8


@pytest.mark.parametrize("seed", range(3))
def test_a_candidate_has_the_same_error_in_a_search_and_alone(seed):
    X, y = with_copies(seed)
    grid = {"C": [0.1, 0.5, 1, 3, 10, 50, 200], "gamma": [0.1, 1]}
    search = SpanSearch(SVC(), grid, refit=False).fit(X, y)
    again = SpanSearch(
        SVC(), {name: values[::-1] for name, values in grid.items()}, refit=False, n_jobs=2
    ).fit(X, y)
    backwards = {
        str(params): error
        for params, error in zip(
            again.cv_results_["params"], again.cv_results_["loo_error"], strict=True
        )
    }
    for params, error in zip(
        search.cv_results_["params"], search.cv_results_["loo_error"], strict=True
    ):
        model = SpanSVC(**params).fit(X, y)
        assert error == pytest.approx(model.loo_error_)
        assert error == pytest.approx(backwards[str(params)])


def test_the_order_of_equal_rows_does_not_matter():
    X, y = with_copies(0)
    order = np.random.default_rng(1).permutation(y.size)
    for C in (0.3, 3.0, 30.0):
        one = SpanSVC(C=C, gamma=0.7).fit(X, y)
        other = SpanSVC(C=C, gamma=0.7).fit(X[order], y[order])
        assert one.loo_error_ == other.loo_error_
        np.testing.assert_allclose(
            other.loo_decision_function_, one.loo_decision_function_[order], atol=1e-6
        )


def test_a_fitted_svc_is_read_with_its_twins_sharing():
    X, y = with_copies(2)
    svc = SVC(C=3.0, gamma=0.7, tol=1e-6).fit(X, y)
    ours = SpanSVC(C=3.0, gamma=0.7).fit(X, y)
    assert analyze(svc, X, y).span_rule == analyze(ours).span_rule
    np.testing.assert_allclose(analyze(svc, X, y).alpha, analyze(ours).alpha, atol=1e-4)


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_with_every_row_doubled_the_rule_follows_exact_leave_one_out(load):
    X, y = load(return_X_y=True)
    rows = y < 2
    X, y = minmax_scale(X[rows])[::3], y[rows][::3]
    X, y = np.vstack((X, X)), np.concatenate((y, y))
    for C in (0.1, 1.0, 10.0, 100.0):
        model = SpanSVC(C=C, gamma=0.5).fit(X, y)
        exact = ((exact_loo(model, X, y) > 0) != y).mean()
        assert model.loo_error_ == pytest.approx(exact, abs=0.03)
        left_out = model.loo_decision_function_.reshape(2, -1)
        np.testing.assert_allclose(left_out[0], left_out[1], atol=1e-6)


def test_one_kernel_value_everywhere_is_dull():
    gram = HeldGram(np.ones((20, 20)))
    y = np.where(np.arange(20) < 5, 1.0, -1.0)
    solution = solve_dual(gram, y, np.ones(20))
    np.testing.assert_allclose(solution.decision, -1.0)
    model = SpanSVC(kernel="precomputed").fit(np.ones((20, 20)), y)
    assert model.loo_error_ == 0.25
    np.testing.assert_allclose(model.loo_decision_function_, -1.0, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(np.ones((3, 20)))[:, 1], 0.25, atol=0.03)


def test_a_constant_model_of_balanced_classes_ranks_nothing():
    y = np.repeat([0, 1], 10)
    model = SpanSVC(kernel="precomputed").fit(np.ones((20, 20)), y)
    assert np.unique(model.loo_ranking_).size == 1
    rows = np.ones((2, 20))
    np.testing.assert_allclose(model.predict_calibrated_proba(rows), 0.5, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(rows), 0.5, atol=2e-4)


@pytest.mark.parametrize("labels", ["equal", "opposite"])
def test_a_copy_of_one_row_takes_no_trust_from_the_others(labels):
    """Once a ridge stood in for the copy, and its rounding decided: 2 of 250 were trusted."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 40))
    y = np.where(rng.random(80) < 0.5, 1.0, -1.0)
    model = SpanSVC(C=3.0, gamma=0.25).fit(X, y)
    assert analyze(model).trusted.sum() > 60
    more = np.append(y, y[0] if labels == "equal" else -y[0])
    with_copy = analyze(SpanSVC(C=3.0, gamma=0.25).fit(np.vstack((X, X[:1])), more))
    assert with_copy.trusted[1:80].sum() > 60
    values = exact_loo(SpanSVC(C=3.0, gamma=0.25), np.vstack((X, X[:1])), more)
    trusted = with_copy.trusted
    np.testing.assert_allclose(values[trusted], with_copy.loo_decision[trusted], atol=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_box_spans_of_equal_rows_are_those_of_a_quadratic_program_over_all_of_them(seed):
    X, y = with_copies(seed, n=40)
    gram = gram_of(resolve_kernel("rbf", X, gamma=0.7), X)
    solution = solve_dual(gram, y, np.random.default_rng(seed).uniform(0.5, 2.0, y.size), tol=1e-9)
    rows = np.flatnonzero(solution.support & span_exists(solution))
    found = box_span_squared(gram, solution, rows)
    lo, hi = box(solution.y, solution.C)
    inside = np.flatnonzero(solution.in_bound)
    assert rows.size
    for p, squared in zip(rows, found, strict=True):
        others = inside[inside != p]
        ends = (np.stack((lo, hi)) - solution.beta)[:, others] / solution.beta[p]
        program = solve_qp(
            gram.block(others, others), -gram.block(others, np.array([p]))[:, 0],
            ends.min(axis=0), ends.max(axis=0), 1.0, tol=1e-10,
        )  # fmt: skip
        column = gram.block(others, np.array([p]))[:, 0]
        expected = gram.diagonal[p] + 2.0 * program.objective(-column)
        assert squared == pytest.approx(max(expected, 0.0), abs=1e-7)


def test_sparse_rows_are_equal_however_they_are_stored():
    # (1, 0, 2) three times: plain, with a zero that is stored, and with an entry in two parts.
    data, columns = [1.0, 2.0, 1.0, 0.0, 2.0, 1.0, 1.5, 0.5], [0, 2, 0, 1, 2, 0, 2, 2]
    X = sparse.csr_matrix((data, columns, [0, 2, 5, 8]), shape=(3, 3))
    np.testing.assert_array_equal(equal_rows(X), [0, 0, 0])


def test_equal_points_are_found_in_single_precision():
    K = np.array([[1.0, 1.0, 0.3], [1.0, 1.0, 0.3], [0.3, 0.3, 1.0]], dtype=np.float32)
    K[1, 2] = K[2, 1] = np.nextafter(K[0, 2], np.float32(1.0))
    np.testing.assert_array_equal(equal_points(K), [0, 0, 2])
    assert equal_points(K.astype(np.float64)) is None


def test_what_a_gram_matrix_remembers_is_for_the_same_labels_and_rows():
    gram = HeldGram(np.ones((4, 4)) + np.diag([0.0, 0.0, 0.0, 1.0]))
    first, second = np.array([1.0, 1.0, -1.0, 1.0]), np.array([1.0, -1.0, -1.0, 1.0])
    for y in (first, second, first):
        expected = [0, 0, 2, 3] if y is first else [0, 1, 1, 3]
        np.testing.assert_array_equal(gram.twins(y).first, expected)
    for rows in ([0, 1], [1, 2, 3], [0, 1]):
        mask = np.isin(np.arange(4), rows)
        np.testing.assert_array_equal(gram.sums_over(mask), gram.values[:, mask].sum(axis=1))
    part = gram.subset(np.array([False, True, True, True]))
    np.testing.assert_array_equal(part.kinds, [0, 0, 2])
