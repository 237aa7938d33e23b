"""Training sets without a Gram matrix give what those with one give."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_classification
from sklearn.svm import SVC

from spansvm import SpanSearch, SpanSVC, analyze, exact_loo
from spansvm.algebra.interior import interior_point
from spansvm.common.memory import parse_budget
from spansvm.kernels.functions import dense, resolve_kernel
from spansvm.kernels.gram import HeldGram
from spansvm.kernels.lazy import LazyGram, gram_of
from spansvm.kernels.pair_grams import Grams
from spansvm.machine.criteria import CRITERIA, SolvedModel
from spansvm.machine.dual import solve_dual
from spansvm.machine.span import removals
from spansvm.machine.values import left_out_values
from spansvm.multiclass.path import solve_from

TIGHT = 1e-6


def problem(n=1500, d=5, seed=0):
    X, y = make_classification(
        n, n_features=d, n_informative=d, n_redundant=0, flip_y=0.1, class_sep=0.7,
        random_state=seed,
    )  # fmt: skip
    return X, np.where(y > 0, 1.0, -1.0)


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_a_lazy_gram_matrix_trains_the_same_machine(kernel, C):
    X, y = problem()
    function = resolve_kernel(kernel, X, gamma=0.2)
    bounds = C * np.where(y > 0, 1.0, 2.0)
    bounds[::7] = 0.0
    whole = HeldGram(function(X), kernel_range=function.range)
    # So small that most rows are computed again and again.
    lazy = LazyGram(function, X, 2e6 if kernel == "linear" else 8e6)
    expected = solve_dual(whole, y, bounds, tol=TIGHT)
    found = solve_dual(lazy, y, bounds, tol=TIGHT if kernel == "linear" else 1e-4)
    assert found.converged
    assert found.objective == pytest.approx(expected.objective, rel=1e-6)
    np.testing.assert_allclose(found.decision, expected.decision, atol=2e-3)
    assert abs(found.beta.sum()) <= 1e-9 * bounds.sum()
    assert (found.alpha[bounds == 0] == 0).all()
    # What is said of the gradient is true.
    beta = found.beta
    np.testing.assert_allclose(function(X) @ beta + found.intercept, found.decision, atol=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_every_estimate_of_a_lazy_machine(kernel):
    X, y = problem()
    function = resolve_kernel(kernel, X, gamma=0.2)
    whole, lazy = HeldGram(function(X), kernel_range=function.range), LazyGram(function, X, 8e6)
    solution = solve_dual(whole, y, np.full(y.size, 1.0), tol=1e-8)
    expected, found = SolvedModel(whole, solution), SolvedModel(lazy, solution)
    np.testing.assert_allclose(found.spans.decision, expected.spans.decision, atol=1e-7)
    for name, criterion in CRITERIA.items():
        if name == "xi_alpha" and kernel == "linear":
            assert criterion(found) >= criterion(expected)  # a coarser spread
        else:
            assert criterion(found) == pytest.approx(criterion(expected), rel=1e-6), name
    np.testing.assert_array_equal(found.trusted, expected.trusted)


def test_no_in_bound_vector():
    X, y = problem(600)
    function = resolve_kernel("rbf", X, gamma=1e-6)
    whole, lazy = HeldGram(function(X)), LazyGram(function, X)
    solution = solve_dual(whole, y, np.full(y.size, 1e-4))
    assert solution.in_bound.sum() < 2
    np.testing.assert_allclose(
        SolvedModel(lazy, solution).spans.decision,
        SolvedModel(whole, solution).spans.decision,
        atol=1e-9,
    )


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_lazy_path(kernel):
    X, y = problem()
    lazy = LazyGram(resolve_kernel(kernel, X, gamma=0.2), X, 8e6)
    before = solve_dual(lazy, y, np.full(y.size, 0.1), tol=1e-4)
    for C in (0.3, 1.0, 0.05):
        before = solve_from(lazy, before, np.full(y.size, C), tol=1e-4)
        alone = solve_dual(lazy, y, np.full(y.size, C), tol=1e-4)
        assert before.converged
        assert before.objective == pytest.approx(alone.objective, rel=1e-5)


def test_the_interior_point_method_meets_the_kkt_conditions():
    X, y = problem(3000)
    C = np.where(y > 0, 2.0, 0.5)
    alpha, b = interior_point(X, y, C, 1e-8)
    margin = y * (X @ (X.T @ (y * alpha)) + b)
    assert abs(y @ alpha) < 1e-6
    assert (margin[alpha < 1e-4 * C] > 1 - 1e-4).all()
    assert (margin[alpha > (1 - 1e-4) * C] < 1 + 1e-4).all()


def test_the_ball_around_lazy_points():
    X, _ = problem(800)
    for kernel in ("rbf", "linear"):
        function = resolve_kernel(kernel, X, gamma=0.2)
        assert LazyGram(function, X).radius == pytest.approx(HeldGram(function(X)).radius, rel=1e-6)


def test_points_at_the_origin_have_a_ball_without_extent():
    zeros = np.zeros((30, 2))
    for kernel in ("linear", "poly"):
        function = resolve_kernel(kernel, zeros, gamma=1.0)
        assert LazyGram(function, zeros).radius == HeldGram(function(zeros)).radius == 0.0
    # Some of them only: the first ball is around none but these.
    X = np.zeros((100, 2))
    X[7] = 3.0, 4.0
    assert LazyGram(resolve_kernel("linear", X), X).radius == pytest.approx(2.5, rel=1e-6)


def test_a_ball_far_from_the_origin_is_not_found_in_single_precision():
    X, _ = problem(300, d=3)
    X += 3000.0
    function = resolve_kernel("poly", X, gamma=1.0, degree=1)  # linear, but with rows that are kept
    lazy = LazyGram(function, X, 8 * 300**2)
    lazy.add_rows(np.zeros(300), np.arange(300), np.ones(300))
    assert lazy.radius == pytest.approx(HeldGram(function(X)).radius, rel=1e-4)


TINY = [1.0, 100.0, 1000.0, 20_000.0]


@pytest.mark.parametrize("budget", TINY)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("n", [6, 40, 320])
def test_budgets_of_a_few_bytes(kernel, n, budget):
    X, y = problem(2 * n, d=3)
    X, y = np.round(X[:n], 1), y[:n]
    y[:4] = 1, -1, 1, -1
    X[n // 2 :] = X[: n - n // 2]  # rows twice, with labels that may contradict each other
    function = resolve_kernel(kernel, X, gamma=0.3, degree=2, coef0=1.0)
    bounds = 10.0 * 10.0 ** np.random.default_rng(0).uniform(-3, 3, n)
    expected = solve_dual(HeldGram(function(X)), y, bounds, tol=1e-5)
    found = solve_dual(LazyGram(function, X, budget), y, bounds, tol=1e-5)
    assert expected.converged
    assert found.converged
    assert found.objective == pytest.approx(expected.objective, rel=1e-5)
    np.testing.assert_allclose(
        found.decision - found.intercept, expected.decision - expected.intercept, atol=1e-3
    )


@pytest.mark.filterwarnings("ignore:The kernel matrix is not positive semidefinite")
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid"])
def test_a_model_within_a_budget_of_one_byte(kernel):
    X, y = problem(80, d=3)
    y[::5] *= 2.0  # four classes
    model = SpanSVC(kernel=kernel, gram_budget=1).fit(X, y)
    assert model.fit_status_ == 0
    assert 0.0 <= model.loo_error_ < 1.0


def test_rows_in_single_precision_do_not_hide_the_gap():
    # Kernel values up to 1e10: in single precision the gradient is off by far more than the gap.
    rng = np.random.default_rng(424)
    X = np.round(100 * rng.standard_normal((120, 4)))
    y = np.where(rng.random(120) < 0.5, 1.0, -1.0)
    function = resolve_kernel("poly", X, gamma=1.0, degree=2)
    K, bounds = function(X), np.full(120, 1000.0)
    found = solve_dual(LazyGram(function, X, 10_000), y, bounds)
    level = np.finfo(float).eps * float((np.abs(K) @ found.alpha).max())
    gradient = K @ found.beta - y
    above, below = found.beta > np.minimum(0, y * bounds), found.beta < np.maximum(0, y * bounds)
    gap = gradient[above].max() - gradient[below].min()
    assert gap <= found.gap + 100 * level
    assert found.gap < 1e-3 + 1000 * level


def test_the_form_of_the_matrix_follows_the_budget():
    X, _ = problem(1000)
    rbf = resolve_kernel("rbf", X, gamma=0.2)
    assert gram_of(rbf, X, 8e6).values.dtype == np.float64
    single = gram_of(rbf, X, 4e6)
    assert single.values.dtype == np.float32
    np.testing.assert_allclose(single.values, rbf(X), atol=1e-7)
    assert isinstance(gram_of(rbf, X, 3.9e6), LazyGram)
    linear = resolve_kernel("linear", X)
    assert not isinstance(gram_of(linear, X), LazyGram)
    many = np.vstack([X] * 4)
    assert isinstance(gram_of(linear, many), LazyGram)


@pytest.mark.parametrize("kernel", ["linear", "poly", "sigmoid"])
def test_rows_far_from_the_origin_are_not_kept_in_single_precision(kernel):
    X, y = problem(300, d=20)
    for offset in (0.0, 100.0):
        function = resolve_kernel(kernel, X + offset, gamma=1e-5)
        gram = gram_of(function, X + offset, 6 * 300**2)
        assert isinstance(gram, LazyGram) == (offset > 0.0)
        expected = solve_dual(gram_of(function, X + offset), y, 1.0, tol=1e-6)
        found = solve_dual(gram, y, 1.0, tol=1e-6)
        np.testing.assert_allclose(found.decision, expected.decision, atol=1e-4)


def test_an_offset_does_not_change_what_a_budget_gives():
    X, y = problem(300, d=20)
    double = SpanSVC(kernel="linear").fit(X + 100, y)
    single = SpanSVC(kernel="linear", gram_budget=6 * 300**2).fit(X + 100, y)
    assert single.loo_error_ == double.loo_error_
    assert analyze(single).span_rule == analyze(double).span_rule
    np.testing.assert_allclose(single.dual_coef_.sum(), 0.0, atol=1e-10)
    np.testing.assert_allclose(
        single.decision_function(X + 100), double.decision_function(X + 100), atol=1e-6
    )


def test_points_that_are_all_the_same_are_not_kept_in_single_precision():
    same = np.ones((50, 2))
    assert isinstance(gram_of(resolve_kernel("linear", same), same, 6 * 50**2), LazyGram)


def test_functions_of_users_keep_to_the_budget():
    X, y = problem(300)
    own = resolve_kernel(lambda A, B: A @ B.T, X)
    assert gram_of(own, X, 8 * 300**2).values.dtype == np.float64
    single = gram_of(own, X, 6 * 300**2)
    assert single.values.dtype == np.float32
    np.testing.assert_allclose(single.values, X @ X.T, rtol=1e-5, atol=1e-6)
    assert isinstance(gram_of(own, X + 100, 6 * 300**2), LazyGram)
    double = SpanSVC(kernel=own.name).fit(X, y)
    parts = SpanSVC(kernel=own.name, gram_budget=300**2).fit(X, y)
    assert parts.loo_error_ == pytest.approx(double.loo_error_, abs=0.01)


def test_the_pairs_of_classes_share_a_budget():
    X, _ = problem(3000)
    grams = Grams(resolve_kernel("rbf", X, gamma=0.2), X, np.arange(3000) % 6, 16e6)
    parts = [own.budget for own in grams.of_pairs if isinstance(own, LazyGram)]
    assert len(parts) == 15
    assert sum(parts) <= 2 * 16e6


@pytest.mark.parametrize(
    ("text", "expected"),
    [("4 GiB", 2**32), ("1.5GB", 1.5e9), ("300 mb", 3e8), ("2 KiB", 2048), (1e6, 1e6), ("7b", 7)],
)
def test_budgets_are_read(text, expected):
    assert parse_budget(text) == expected


@pytest.mark.parametrize("budget", ["much", "GiB", 0, -1.0, "-1 GiB", True, [1]])
def test_budgets_that_make_no_sense(budget):
    with pytest.raises(ValueError, match="gram_budget must be"):
        parse_budget(budget)


def test_the_default_budget_is_memory_that_is_there():
    assert 2**26 < parse_budget(None) < 2**50


def test_too_little_memory_is_an_error_that_says_how_much_is_needed():
    lazy = LazyGram(resolve_kernel("rbf", np.zeros((2, 1)), gamma=1.0), np.zeros((20_000, 1)), 1e6)
    with pytest.raises(MemoryError, match=r"20000 x 20000 kernel values take 3\.0 GiB"):
        lazy.whole_rows(np.arange(20_000))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_a_linear_machine_on_many_rows_predicts_as_svc_does(form):
    X, y = problem(4000)
    ours = SpanSVC(kernel="linear", C=0.5, tol=1e-5).fit(form(X), y)
    theirs = SVC(kernel="linear", C=0.5, tol=1e-5).fit(X, y)
    assert sparse.issparse(ours.coef_) == (form is sparse.csr_matrix)
    np.testing.assert_allclose(
        ours.decision_function(form(X)), theirs.decision_function(X), atol=2e-3
    )
    np.testing.assert_allclose(dense(ours.coef_), theirs.coef_, atol=2e-3)
    assert ours.loo_error_ == pytest.approx(np.mean(theirs.predict(X) != y), abs=0.01)


def test_more_classes_without_a_gram_matrix():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600] / 16.0, y[:600]
    whole = SpanSVC(gamma=0.1, tol=1e-5).fit(X, y)
    lazy = SpanSVC(gamma=0.1, tol=1e-5, gram_budget=1e6).fit(X, y)
    np.testing.assert_allclose(lazy.decision_function(X), whole.decision_function(X), atol=2e-3)
    assert np.mean(lazy.loo_predict_ == whole.loo_predict_) > 0.998


@pytest.mark.parametrize("method", ["span_rule", "kfold", "span_count"])
def test_a_search_within_a_budget(method):
    X, y = problem(500)
    grid = {"C": [0.1, 1, 10], "class_weight": [None, "balanced"]}
    model = SVC(gamma=0.2, tol=1e-5)
    whole = SpanSearch(model, grid, method=method).fit(X, y)
    lazy = SpanSearch(model, grid, method=method, gram_budget="900 kB").fit(X, y)
    np.testing.assert_allclose(
        whole.cv_results_["mean_test_score"], lazy.cv_results_["mean_test_score"], atol=2.1 / len(y)
    )


def test_exact_leave_one_out_of_a_linear_machine_on_many_rows():
    X, y = problem(3200, d=3)
    values = exact_loo(SVC(kernel="linear", C=0.01), X, y)
    model = SpanSVC(kernel="linear", C=0.01, tol=1e-7).fit(X, y)
    assert np.mean((values > 0) == (model.loo_decision_function_ > 0)) > 0.999


def test_parts_that_are_computed_at_a_time_leave_nothing_out(monkeypatch):
    X, y = problem(90, d=3)
    function = resolve_kernel("rbf", X, gamma=0.3)
    whole = HeldGram(function(X), kernel_range=function.range)
    solution = solve_dual(whole, y, np.full(90, 1.0), tol=1e-8)
    expected = SolvedModel(whole, solution)
    trusted = expected.trusted  # before the parts get small
    assert trusted.any()
    weights, rows = np.random.default_rng(0).standard_normal(90), np.arange(90)
    monkeypatch.setattr("spansvm.kernels.lazy._BLOCK_NUMBERS", 7 * 90)
    monkeypatch.setattr("spansvm.machine.span._BLOCK_NUMBERS", 7 * 90)
    monkeypatch.setattr("spansvm.machine.doubt._BLOCK_NUMBERS", 90)
    for budget in (1.0, 8 * 90**2):  # without and with rows that are kept
        lazy = LazyGram(function, X, budget)
        sums = np.zeros(90)
        lazy.add_rows(sums, rows, weights)
        np.testing.assert_allclose(sums, whole.values @ weights, atol=1e-9)
        assert lazy.radius == pytest.approx(whole.radius, rel=1e-6)
        found = SolvedModel(lazy, solution)
        np.testing.assert_allclose(found.spans.decision, expected.spans.decision, atol=1e-7)
        np.testing.assert_array_equal(found.trusted, trusted)
        removed = [removal.row for removal in removals(lazy, solution, 1e-6)]
        np.testing.assert_array_equal(np.sort(removed), np.flatnonzero(solution.support))
    parts = left_out_values(whole, solution)
    monkeypatch.undo()
    at_once = left_out_values(whole, solution)
    np.testing.assert_array_equal(parts.comparable, at_once.comparable)
    np.testing.assert_array_equal(parts.rows, at_once.rows)


def test_many_inner_vectors_are_measured_in_parts(monkeypatch):
    """At least a thousand others at a time, however many vectors the hull is of."""
    X, _ = problem(2100, d=3)
    function = resolve_kernel("rbf", X, gamma=0.3)
    monkeypatch.setattr("spansvm.kernels.lazy._BLOCK_NUMBERS", 1)
    found = np.zeros(2100)
    inside, others = np.arange(20), np.arange(20, 2100)
    lazy, whole = LazyGram(function, X, 1e6), HeldGram(function(X))
    lazy.hull_distances(lazy.factor(inside), others, found)
    expected = np.zeros(2100)
    whole.hull_distances(whole.factor(inside), others, expected)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_no_two_values_of_a_lazy_linear_kernel_differ_by_more_than_its_spread():
    X = np.array([[3.0, 4.0], [-3.0, -4.0], [1.0, 0.0]])
    function = resolve_kernel("linear", X)
    K = function(X)
    assert LazyGram(function, X).spread == K.max() - K.min() == 50.0


def test_a_lazy_solution_is_converged_if_it_meets_the_tolerance():
    X, y = problem(300)
    lazy = LazyGram(resolve_kernel("rbf", X, gamma=0.2), X, 1e5)
    near, tol = 0, 0.03  # far from the end, where a few steps or none may be left
    for limit in range(100, 900, 10):
        solution = solve_dual(lazy, y, np.full(300, 10.0), tol=tol, max_iter=limit)
        assert solution.converged == (solution.gap <= tol)
        near += tol < solution.gap <= 10 * tol
    assert near > 3
    assert solution.converged


def test_sums_over_many_points_are_estimated_from_some_of_them(monkeypatch):
    X, _ = problem(600, d=2)
    function = resolve_kernel("rbf", X, gamma=0.1)
    mask = np.arange(600) % 5 > 0
    monkeypatch.setattr("spansvm.kernels.lazy._LOOKED_AT", 80)
    found = LazyGram(function, X, 1e6).sums_over(mask)
    np.testing.assert_allclose(found, HeldGram(function(X)).sums_over(mask), rtol=0.3)
