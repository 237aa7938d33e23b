from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from spansvm import SpanSVR
from spansvm.kernels.functions import resolve_kernel
from spansvm.kernels.gram import HeldGram
from spansvm.kernels.lazy import gram_of
from spansvm.regression import paths as regression_paths
from spansvm.regression.paths import Tube, TubePaths

from ..tubes import TRAPS, Regression, assert_kkt, random_regression, tolerance_of

EXACT = [trap for trap in TRAPS if trap != "single precision"]
SEEDS = st.integers(0, 10**6)


def train(problem, tubes=None, targets=None):
    """The regressions of a chain of tubes; by default, the one of the problem."""
    targets = problem.y if targets is None else targets
    paths = TubePaths(problem.gram, targets.reshape(problem.y.size, -1))
    tubes = [Tube(problem.C, problem.epsilon)] if tubes is None else tubes
    return list(paths.train_each(tubes, tol=1e-3))


def random_tubes(problem, seed, length=6):
    """Weights and widths in no order: from nothing to above the range, C over five decades."""
    rng = np.random.default_rng(seed)
    widths = np.array([0.0, 0.0, 0.05, 0.2, 0.5, 2.0]) * (problem.size - problem.epsilon or 1.0)
    base = problem.C / problem.C.max() * problem.size
    tubes = []
    for _ in range(length):
        bounds = base * 10 ** rng.uniform(-3, 2)
        if rng.random() < 0.2:
            bounds = bounds * rng.choice([0.0, 1.0, 3.0], problem.y.size, p=[0.2, 0.5, 0.3])
            bounds[: problem.y.size // 2] = base[: problem.y.size // 2]
        tubes.append(Tube(bounds, float(rng.choice(widths))))
    # A tube of the same weights and another width, and back: nothing but the edges moves.
    tubes.append(Tube(tubes[-1].bounds, float(rng.choice(widths))))
    tubes.append(tubes[-2])
    return tubes


def with_tube(problem, tube):
    return Regression(
        problem.trap, problem.X, problem.y, tube.bounds, tube.epsilon, problem.kernel, problem.gram
    )


def check_training(seed, trap):
    problem = random_regression(seed, trap)
    (found,) = train(problem)
    assert found.converged
    assert_kkt(problem, found.signed[:, 0], found.intercepts[0])
    expected = problem.K @ found.signed[:, 0] + found.intercepts[0]
    np.testing.assert_allclose(
        found.decision[:, 0], expected, rtol=0, atol=tolerance_of(problem)
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("trap", EXACT)
def test_solutions_meet_the_kkt_conditions_at_both_edges(trap, seed):
    check_training(seed, trap)


@pytest.mark.theory
@pytest.mark.parametrize("trap", EXACT)
def test_solutions_of_thousands_of_problems_meet_the_kkt_conditions(trap):
    for seed in range(4000, 4400):
        check_training(seed, trap)


def just_fits(problem, signed):
    """Rows whose multiplier just fits into the bounds of their equals.

    Then no vector may be free without the row, and rounding decides where the intercept lies.
    """
    equal = (problem.X[:, None] == problem.X).all(axis=2) & (problem.y[:, None] == problem.y)
    total, rest = np.abs(equal @ signed), equal @ problem.C - problem.C
    return (rest > 0.0) & (np.abs(total - rest) <= 1e-9 * total)


def check_chain(seed, trap):
    problem = random_regression(seed, trap)
    tubes = random_tubes(problem, seed)
    forwards, backwards = train(problem, tubes), train(problem, tubes[::-1])[::-1]
    for tube, there, back in zip(tubes, forwards, backwards, strict=True):
        (alone,) = train(problem, [tube])
        own = with_tube(problem, tube)
        near = tolerance_of(own)
        for found in (there, back):
            assert found.converged
            assert_kkt(own, found.signed[:, 0], found.intercepts[0])
            np.testing.assert_allclose(found.decision, alone.decision, rtol=0, atol=near)
            clear = ~just_fits(own, found.signed[:, 0])
            np.testing.assert_allclose(
                found.exact_values[clear], alone.exact_values[clear], rtol=0, atol=10 * near
            )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("trap", EXACT)
def test_a_chain_in_any_order_gives_the_solutions_from_scratch(trap, seed):
    check_chain(seed + 100, trap)


@pytest.mark.parametrize(
    ("seed", "trap"),
    [(5059, "none"), (5052, "huge targets"), (5056, "tube above the range"), (5015, "all bounded")],
)
def test_removals_are_followed_again_if_bounds_fall_or_rows_leave(seed, trap):
    # The solution stays the same; without a row, it meets other bounds and other rows.
    check_chain(seed, trap)


@pytest.mark.theory
@pytest.mark.parametrize("trap", EXACT)
def test_hundreds_of_chains_give_the_solutions_from_scratch(trap):
    for seed in range(5000, 5060):
        check_chain(seed, trap)


@pytest.mark.parametrize("seed", range(5))
def test_long_chains_over_a_grid_stay_accurate(seed):
    problem = random_regression(seed, "none", most=40)
    grid = [
        Tube(np.full(problem.y.size, C), epsilon)
        for C in np.logspace(-2, 3, 8)
        for epsilon in (0.0, 0.01, 0.1, 0.5, 5.0)
    ]
    for tube, found in zip(grid, train(problem, grid), strict=True):
        assert_kkt(with_tube(problem, tube), found.signed[:, 0], found.intercepts[0])


@pytest.mark.parametrize("trap", ["none", "no tube", "integers", "equal rows", "some zero"])
def test_several_targets_are_several_regressions(trap):
    problem = random_regression(11, trap)
    rng = np.random.default_rng(0)
    targets = np.column_stack(
        [problem.y, 1e4 * rng.permutation(problem.y), np.ones(problem.y.size)]
    )
    tubes = random_tubes(problem, 5, length=3)
    together = train(problem, tubes, targets)
    for column in range(3):
        alone = train(problem, tubes, targets[:, column])
        for tube, several, one in zip(tubes, together, alone, strict=True):
            own = with_tube(problem, tube)
            own.y = targets[:, column]
            near = tolerance_of(own)
            assert_kkt(own, several.signed[:, column], several.intercepts[column])
            np.testing.assert_allclose(
                several.decision[:, column], one.decision[:, 0], rtol=0, atol=near
            )
            np.testing.assert_allclose(
                several.exact_values[:, column], one.exact_values[:, 0], rtol=0, atol=10 * near
            )


@pytest.mark.parametrize("trap", ["none", "no tube", "equal rows", "integers", "some zero"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_matrices_in_parts_give_the_same_along_a_chain(trap, kernel):
    problem = random_regression(13, trap)
    function = resolve_kernel(kernel, problem.X, gamma=0.5)
    problem.gram = HeldGram(function(problem.X), kernel_range=function.range)
    tubes = random_tubes(problem, 1, length=3)
    lazy = TubePaths(gram_of(function, problem.X, 1.0), problem.y[:, None])
    assert lazy.gram.values is None
    for tube, held, parts in zip(
        tubes, train(problem, tubes), lazy.train_each(tubes, tol=1e-8), strict=True
    ):
        own = with_tube(problem, tube)
        np.testing.assert_allclose(
            parts.decision, held.decision, rtol=0, atol=1e-6 * problem.size + tolerance_of(own)
        )


# Invariances --------------------------------------------------------------------------------------


def values_of(X, y, C, epsilon, weight=None, gamma=0.4, **params):
    """Predictions for the rows of a regression, seen and left out."""
    model = SpanSVR(C=C, epsilon=epsilon, gamma=gamma, **params).fit(X, y, sample_weight=weight)
    return np.column_stack([model.predict(X), model.loo_predict_])


def smooth(seed):
    problem = random_regression(seed, ("none", "no tube", "integers")[seed % 3], most=20)
    rng = np.random.default_rng(seed)
    return problem.X, problem.y, float(10 ** rng.uniform(-1.5, 2)), problem.epsilon


@given(SEEDS)
def test_the_order_of_rows_does_not_matter(seed):
    X, y, C, epsilon = smooth(seed)
    order = np.random.default_rng(seed).permutation(y.size)
    found = values_of(X[order], y[order], C, epsilon)
    np.testing.assert_allclose(found, values_of(X, y, C, epsilon)[order], atol=1e-7)


@given(SEEDS)
def test_negated_targets_give_negated_functions(seed):
    X, y, C, epsilon = smooth(seed)
    np.testing.assert_allclose(
        values_of(X, -y, C, epsilon), -values_of(X, y, C, epsilon), atol=1e-7
    )


@given(SEEDS, st.floats(-6, 6), st.floats(-100, 100))
def test_targets_in_other_units_are_the_same_regression(seed, exponent, shift):
    X, y, C, epsilon = smooth(seed)
    unit = 10.0**exponent
    found = values_of(X, unit * (y + shift), unit * C, unit * epsilon)
    np.testing.assert_allclose(found / unit - shift, values_of(X, y, C, epsilon), atol=1e-6)


@given(SEEDS)
def test_zero_weight_is_removal(seed):
    X, y, C, epsilon = smooth(seed)
    weight = (np.random.default_rng(seed).random(y.size) < 0.7).astype(float)
    weight[:2] = 1.0
    used = weight > 0
    found = values_of(X, y, C, epsilon, weight)
    np.testing.assert_allclose(found[used], values_of(X[used], y[used], C, epsilon), atol=1e-7)
    np.testing.assert_allclose(found[~used, 1], found[~used, 0], atol=1e-12)


@pytest.mark.parametrize("marker", [1e3, -1e9, 1e15])
@pytest.mark.parametrize("budget", [None, 1.0])
def test_the_targets_of_rows_of_zero_weight_do_not_matter(marker, budget):
    # As where a target is missing, and a number that cannot be one stands for it.
    X, y, C, epsilon = smooth(3)
    absent = np.arange(y.size) % 4 == 0
    found = values_of(
        X, np.where(absent, marker, y), C, epsilon, (~absent).astype(float), gram_budget=budget
    )
    expected = values_of(X, y, C, epsilon, (~absent).astype(float))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_rows_that_did_not_count_may_do_so_later():
    problem = random_regression(3, "none")
    problem.y[::4] += 100.0
    some, every = Tube(problem.C.copy(), problem.epsilon), Tube(problem.C, problem.epsilon)
    some.bounds[::4] = 0.0
    paths = TubePaths(problem.gram, problem.y[:, None])
    first, second, third = (paths.train(tube, tol=1e-3) for tube in (some, every, some))
    expected = train(problem, [some])[0]
    for found in (first, third):
        np.testing.assert_allclose(found.decision, expected.decision, rtol=0, atol=1e-6)
        np.testing.assert_allclose(found.exact_values, expected.exact_values, rtol=0, atol=1e-6)
    assert_kkt(problem, second.signed[:, 0], second.intercepts[0])


@given(SEEDS)
def test_weight_two_is_a_doubled_row(seed):
    X, y, C, epsilon = smooth(seed)
    weight = np.random.default_rng(seed).integers(1, 3, y.size).astype(float)
    double = np.repeat(np.arange(y.size), weight.astype(int))
    found, expected = (
        values_of(X, y, C, epsilon, weight),
        values_of(X[double], y[double], C, epsilon),
    )
    np.testing.assert_allclose(found[double, 0], expected[:, 0], atol=1e-7)


@given(SEEDS)
def test_dense_sparse_precomputed_and_callable_are_one(seed):
    X, y, C, epsilon = smooth(seed)
    K = rbf_kernel(X, gamma=0.4)
    expected = values_of(X, y, C, epsilon)
    np.testing.assert_allclose(values_of(sparse.csr_matrix(X), y, C, epsilon), expected, atol=1e-7)
    np.testing.assert_allclose(
        values_of(K, y, C, epsilon, kernel="precomputed"), expected, atol=1e-6
    )
    np.testing.assert_allclose(
        values_of(X, y, C, epsilon, kernel=lambda A, B: rbf_kernel(A, B, gamma=0.4)),
        expected, atol=1e-6,
    )  # fmt: skip


def test_far_jumps_between_no_tube_and_one_above_the_range():
    problem = random_regression(2, "integers")
    wide = 10.0 * np.ptp(problem.y)
    tubes = [Tube(problem.C, epsilon) for epsilon in (0.0, wide, 0.0, wide, 0.5, 0.0)]
    found = train(problem, tubes)
    for tube, one in zip(tubes, found, strict=True):
        assert_kkt(with_tube(problem, tube), one.signed[:, 0], one.intercepts[0])
    for a, b in ((0, 2), (1, 3), (0, 5)):
        np.testing.assert_allclose(
            found[a].decision, found[b].decision, rtol=0, atol=1e-8 * problem.size
        )
    middle = 0.5 * (problem.y.max() + problem.y.min())
    np.testing.assert_allclose(found[1].decision, middle, atol=1e-9)


def test_a_hard_linear_machine_is_reached_from_easier_ones(monkeypatch):
    """Also alone: in fewer than half of the steps, and to the same solution."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 30))
    y = X @ rng.standard_normal(30) + rng.standard_normal(1000)

    def fitted(C):
        return SpanSVR(kernel="linear", C=C).fit(X, y)

    easy, hard = fitted(1e-3), fitted(100.0)
    monkeypatch.setattr(regression_paths, "_EASY", np.inf)
    at_once = fitted(100.0)
    assert hard.n_iter_ < 0.5 * at_once.n_iter_
    np.testing.assert_allclose(hard.coef_, at_once.coef_, atol=1e-6)
    np.testing.assert_allclose(hard.intercept_, at_once.intercept_, atol=1e-6)
    np.testing.assert_array_equal(fitted(1e-3).dual_coef_, easy.dual_coef_)


def test_machines_with_limited_steps_and_other_kernels_begin_where_they_are_asked_to(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 4)), rng.standard_normal(100)
    models = [SpanSVR(C=100.0), SpanSVR(kernel="linear", C=100.0, max_iter=100_000)]
    found = [model.fit(X, y).dual_coef_ for model in models]
    monkeypatch.setattr(regression_paths, "_EASY", np.inf)
    for model, before in zip(models, found, strict=True):
        np.testing.assert_array_equal(model.fit(X, y).dual_coef_, before)
