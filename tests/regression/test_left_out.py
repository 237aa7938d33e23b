from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.svm import SVR

from spansvm.kernels.functions import resolve_kernel
from spansvm.kernels.gram import HeldGram
from spansvm.machine.following import Follower, retrain
from spansvm.machine.groups import Remover
from spansvm.multiclass.group_left_out import sets_of
from spansvm.regression.left_out import LeftOutTargets, leave_out_rows, leave_out_sets
from spansvm.regression.machines import TrainedRegressions
from spansvm.regression.paths import Tube, TubePaths

from ..problems import NoReferenceError
from ..tubes import TRAPS, random_regression, reference_svr, tolerance_of

EXACT = [trap for trap in TRAPS if trap != "single precision"]


def trained(problem) -> TrainedRegressions:
    kernel = resolve_kernel("precomputed", problem.K)
    found = TubePaths(problem.gram, problem.y[:, None]).train(
        Tube(problem.C, problem.epsilon), tol=1e-3
    )
    return TrainedRegressions(problem.K, problem.y[:, None], kernel, found)


def reference_without(problem, members):
    """Values of the members from the regression without them, by general solvers; or None."""
    rest = problem.C.copy()
    rest[members] = 0.0
    if not rest.any():
        return None
    try:
        beta, b = reference_svr(problem.K, problem.y, rest, problem.epsilon)
    except NoReferenceError:
        return None
    return problem.K[members] @ beta + b


def check_rows(seed, trap):
    problem = random_regression(seed, trap, most=20)
    left_out = leave_out_rows(trained(problem))
    near = 10 * tolerance_of(problem)
    for p in range(problem.y.size):
        expected = reference_without(problem, np.array([p]))
        if expected is not None:
            assert left_out.predictions[p] == pytest.approx(expected[0], rel=0, abs=near)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("trap", EXACT)
def test_left_out_values_are_those_of_retraining(trap, seed):
    check_rows(seed, trap)


@pytest.mark.theory
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("trap", EXACT)
def test_left_out_values_of_thousands_of_problems_are_those_of_retraining(trap, part):
    for seed in range(6000 + 40 * part, 6040 + 40 * part):
        check_rows(seed, trap)


@pytest.mark.parametrize("trap", EXACT)
def test_ways_to_leave_a_row_out_agree(trap):
    problem = random_regression(9, trap)
    found = trained(problem).known()
    (own,), (unit,) = found.solutions, found.units
    rows = np.flatnonzero(own.support)
    near = 10 * tolerance_of(problem)
    expected = found.exact_values[rows, 0]
    followed = unit.back(Follower(problem.gram, own).remove(rows).decision)
    np.testing.assert_allclose(followed, expected, rtol=0, atol=near)
    again = unit.back(retrain(problem.gram, own, rows)[0])
    np.testing.assert_allclose(again, expected, rtol=0, atol=near)


@pytest.mark.parametrize("trap", [trap for trap in EXACT if trap != "constant"])
def test_every_removal_is_followed_and_none_has_to_be_retrained(trap):
    # A path that ends off the margins would be noticed and retrained: the same values, slowly.
    number = 0
    for seed in range(20):
        problem = random_regression(seed, trap)
        found = trained(problem).known()
        assert found.removals is not None
        rows = np.flatnonzero(found.solutions[0].support)
        values, _, error = found.removals(rows)
        assert np.isfinite(values).all()
        assert error <= 1e-7
        number += rows.size
    assert number > 5


@pytest.mark.parametrize("trap", ["none", "no tube", "weights of four orders"])
def test_small_groups_are_followed_and_not_retrained(trap):
    for seed in range(20):
        problem = random_regression(seed, trap)
        own = trained(problem).found.solutions[0]
        members = np.arange(0, problem.y.size, 5)
        if own.support[members].any():
            assert Remover(problem.gram, own).follow(members) is not None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("trap", EXACT)
def test_left_out_sets_are_those_of_retraining(trap, seed):
    problem = random_regression(seed, trap)
    groups = np.random.default_rng(seed).integers(0, 4, problem.y.size)
    sets = sets_of(groups)
    left_out = leave_out_sets(trained(problem), sets)
    near = 10 * tolerance_of(problem)
    for members in sets:
        expected = reference_without(problem, members)
        if expected is not None:
            np.testing.assert_allclose(left_out.predictions[members], expected, rtol=0, atol=near)


@pytest.mark.parametrize("trap", ["none", "no tube", "integers", "equal rows", "some zero"])
def test_sets_of_one_row_are_rows(trap):
    problem = random_regression(4, trap)
    machines = trained(problem)
    alone = [np.array([row]) for row in range(problem.y.size)]
    np.testing.assert_allclose(
        leave_out_sets(machines, alone).predictions, leave_out_rows(machines).predictions,
        rtol=0, atol=10 * tolerance_of(problem),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
def test_the_span_predicts_that_residuals_grow(seed):
    # y_p - f^p(x_p) = r_p + b_p S_p^2, with S_p the distance from the hull of the in-bound vectors.
    problem = random_regression(seed, "none")
    kernel = resolve_kernel("rbf", problem.X, gamma=0.5)
    problem.gram = HeldGram(kernel(problem.X), kernel_range=kernel.range)
    machines = trained(problem)
    (own,), (unit,) = machines.found.solutions, machines.found.units
    predicted = leave_out_rows(machines, exact=False).predictions
    inside = np.flatnonzero(own.in_bound)
    assert inside.size > 2
    K, beta = problem.K, own.beta * unit.size
    values = K @ beta + unit.back(own.intercept)
    for p in range(problem.y.size):
        hull = inside[inside != p]
        base, others = hull[0], hull[1:]
        # The squared distance of x_p from the affine hull, in coordinates from one of its points.
        cross = K[p, others] - K[p, base] - K[base, others] + K[base, base]
        block = (
            K[np.ix_(others, others)] - K[others, [base]][:, None] - K[base, others] + K[base, base]
        )
        away = K[p, p] - 2.0 * K[p, base] + K[base, base]
        squared = away - cross @ np.linalg.solve(block, cross)
        expected = values[p] - beta[p] * squared
        assert predicted[p] == pytest.approx(expected, rel=0, abs=1e-6)
    assert (np.abs(problem.y - predicted) >= np.abs(problem.y - values) - 1e-9).all()


def test_friedman1_is_that_of_libsvm():
    X, y = make_friedman1(60, noise=1.0, random_state=0)
    kernel = resolve_kernel("rbf", X, gamma=0.3)
    gram = HeldGram(kernel(X), kernel_range=kernel.range)
    weight = np.random.default_rng(0).uniform(0.2, 2.0, y.size)
    for C, epsilon in ((1.0, 0.1), (30.0, 0.0), (30.0, 1.0), (100.0, 6.0)):
        found = TubePaths(gram, y[:, None]).train(Tube(C * weight, epsilon), tol=1e-3)
        machines = TrainedRegressions(X, y[:, None], kernel, found)
        left_out = leave_out_rows(machines)
        expected = np.empty(y.size)
        for p in range(y.size):
            rest = np.arange(y.size) != p
            svr = SVR(gamma=0.3, C=C, epsilon=epsilon, tol=1e-9)
            svr.fit(X[rest], y[rest], sample_weight=weight[rest])
            expected[p] = svr.predict(X[[p]])[0]
        np.testing.assert_allclose(left_out.predictions, expected, rtol=0, atol=2e-4)
        assert left_out.error == pytest.approx(np.sqrt(((y - expected) ** 2).mean()), abs=2e-4)


def test_the_row_at_an_end_of_the_interval_lets_the_intercept_go():
    # No support vector: the intercept is the middle of the interval, whose ends two rows make.
    y = np.array([0.0, 0.3, 0.6, 1.0])
    problem = random_regression(0, "few rows")
    problem.y, problem.C, problem.epsilon = y, np.ones(4), 5.0
    problem.gram = HeldGram(np.eye(4))
    left_out = leave_out_rows(trained(problem))
    np.testing.assert_allclose(left_out.predictions, [0.65, 0.5, 0.5, 0.3], atol=1e-14)


def test_a_row_of_zero_weight_is_predicted_and_does_not_count():
    problem = random_regression(3, "some zero")
    machines = trained(problem)
    left_out = leave_out_rows(machines)
    absent = problem.C == 0
    assert absent.any()
    assert np.isnan(left_out.residuals[absent]).all()
    np.testing.assert_allclose(
        left_out.predictions[absent], machines.found.decision[absent, 0], atol=1e-12
    )
    apart = (problem.y - left_out.predictions)[~absent]
    assert left_out.error == pytest.approx(np.sqrt((apart**2).mean()))


def test_losses_are_in_units_of_the_variance():
    targets = np.array([1.0, 2.0, 4.0, 9.0])
    used = np.array([True, True, True, False])
    one = LeftOutTargets(targets + np.array([1.0, -1.0, 0.0, 5.0]), targets, used)
    assert one.loss == pytest.approx((2 / 3) / targets[:3].var())
    constant = LeftOutTargets(np.ones(4), np.zeros(4), used)
    assert constant.loss == 1.0  # no variance to be in units of
    two = LeftOutTargets(
        np.column_stack([targets + 1, targets]), np.column_stack([targets, targets]), used
    )
    assert two.loss == pytest.approx(0.5 / targets[:3].var())


def test_several_targets_are_left_out_each():
    problem = random_regression(5, "none")
    targets = np.column_stack([problem.y, -3.0 * problem.y + 7.0])
    kernel = resolve_kernel("precomputed", problem.K)
    tube = Tube(problem.C, problem.epsilon)
    found = TubePaths(problem.gram, targets).train(tube, tol=1e-3)
    machines = TrainedRegressions(problem.K, targets, kernel, found)
    both = leave_out_rows(machines).predictions
    for column in range(2):
        one = machines.of_target(column)
        np.testing.assert_allclose(leave_out_rows(one).predictions, both[:, column], atol=1e-9)
        np.testing.assert_allclose(one.intercepts, machines.intercepts[[column]])
