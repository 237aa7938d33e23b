from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVR

from spansvm.kernels.functions import resolve_kernel
from spansvm.kernels.gram import HeldGram
from spansvm.machine.dual import DualSolution
from spansvm.machine.groups import Remover
from spansvm.machine.span import removals
from spansvm.machine.tube import Units, solve_tube

from ..problems import NoReferenceError
from ..tubes import TRAPS, assert_kkt, random_regression, reference_svr, tolerance_of

ROUGH = {"single precision"}  # kernel values are not those of a positive semidefinite matrix
EXACT = [trap for trap in TRAPS if trap not in ROUGH]


def solve(problem, C=None, **others) -> tuple[DualSolution, Units]:
    """The trained regression, and the units that it is in."""
    unit = Units(problem.y, np.ones(problem.y.size, dtype=bool))
    C = problem.C if C is None else C
    others.setdefault("tol", 1e-6)
    solution = solve_tube(
        problem.gram, unit.of(problem.y), C / unit.size, problem.epsilon / unit.size, **others
    )
    return solution, unit


def check_kkt(seed, trap):
    problem = random_regression(seed, trap)
    solution, unit = solve(problem)
    assert solution.converged
    assert_kkt(problem, solution.beta * unit.size, unit.back(solution.intercept))
    # What the solution says of itself: sides, edges, decision values.
    assert set(np.unique(solution.y)) <= {-1.0, 1.0}
    values = problem.K @ (solution.beta * unit.size) + unit.back(solution.intercept)
    scale = tolerance_of(problem)
    np.testing.assert_allclose(unit.back(solution.decision), values, rtol=0, atol=scale)
    edge = unit.back(solution.edge)
    np.testing.assert_allclose(values[solution.in_bound], edge[solution.in_bound], atol=scale)
    # Inside the tube the side is that of the nearer edge; the far one is not forgotten.
    inside = (solution.alpha == 0.0) & solution.present
    assert (np.abs(values - problem.y)[inside] <= problem.epsilon + scale).all()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("trap", EXACT)
def test_solutions_meet_the_kkt_conditions_at_both_edges(trap, seed):
    check_kkt(seed, trap)


@pytest.mark.theory
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("trap", EXACT)
def test_solutions_of_thousands_of_problems_meet_the_kkt_conditions(trap, part):
    for seed in range(1000 + 50 * part, 1050 + 50 * part):
        check_kkt(seed, trap)


@pytest.mark.parametrize("seed", range(6))
def test_in_single_precision_what_rounding_leaves_is_no_more_than_the_tolerance(seed):
    problem = random_regression(seed, "single precision")
    kernel = resolve_kernel("rbf", problem.X, gamma=0.7)
    problem.gram = HeldGram(kernel(problem.X).astype(np.float32), kernel_range=kernel.range)
    solution, unit = solve(problem, tol=1e-4)
    assert solution.converged
    beta, b = solution.beta * unit.size, unit.back(solution.intercept)
    assert_kkt(problem, beta, b, tolerance=1e-4 * problem.size)


def check_reference(seed, trap):
    problem = random_regression(seed, trap)
    solution, unit = solve(problem)
    try:
        beta, b = reference_svr(problem.K, problem.y, problem.C, problem.epsilon)
    except NoReferenceError:
        return
    expected = problem.K @ beta + b
    values = unit.back(solution.decision)
    np.testing.assert_allclose(values, expected, rtol=0, atol=10 * tolerance_of(problem))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("trap", EXACT)
def test_functions_are_those_of_general_solvers(trap, seed):
    check_reference(seed + 20, trap)


@pytest.mark.theory
@pytest.mark.parametrize("trap", EXACT)
def test_functions_of_thousands_of_problems_are_those_of_general_solvers(trap):
    for seed in range(2000, 2200):
        check_reference(seed, trap)


@pytest.mark.parametrize("seed", range(20))
def test_functions_are_those_of_libsvm(seed):
    problem = random_regression(seed, EXACT[seed % 9])
    assert problem.trap not in ("huge targets", "tiny targets")
    solution, unit = solve(problem)
    # Rows of zero weight: support_ of an SVR does not count them.
    used = problem.C > 0
    K = problem.K[np.ix_(used, used)]
    svr = SVR(kernel="precomputed", C=1.0, epsilon=problem.epsilon, tol=1e-10)
    svr.fit(K, problem.y[used], sample_weight=problem.C[used])
    # LibSVM keeps kernel values in single precision.
    size = 1e-6 * np.abs(K).max() * problem.C.max()
    np.testing.assert_allclose(
        unit.back(solution.decision)[used], svr.predict(K), rtol=0, atol=1e-5 + size
    )


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("trap", ["none", "no tube", "integers", "equal rows", "all bounded"])
def test_any_start_gives_the_same_solution(trap, seed):
    problem = random_regression(seed, trap)
    rng = np.random.default_rng(seed)
    expected, unit = solve(problem)
    start = rng.choice([-1.0, 0.0, 0.3, 1.0], problem.y.size) * problem.C / unit.size
    found, _ = solve(problem, beta0=start)
    assert_kkt(problem, found.beta * unit.size, unit.back(found.intercept))
    np.testing.assert_allclose(found.decision, expected.decision, rtol=0, atol=1e-7)


def test_a_tube_that_holds_all_targets_has_no_support_vector_and_the_middle_as_intercept():
    y = np.array([0.0, 1.0, 0.2, 0.7])
    K = np.exp(-(np.subtract.outer(y, y) ** 2))
    solution = solve_tube(HeldGram(K), y, 1.0, 0.8)
    assert not solution.support.any()
    assert solution.intercept == pytest.approx(0.5, abs=1e-15)
    assert solution.objective == 0.0


def test_without_a_tube_in_bound_rows_lie_on_their_targets():
    problem = random_regression(3, "no tube")
    solution, unit = solve(problem)
    inside = solution.alpha < solution.C
    assert inside.sum() > 2
    np.testing.assert_allclose(
        unit.back(solution.decision)[inside], problem.y[inside], atol=1e-9 * problem.size
    )


def test_a_limit_on_iterations_is_not_converged():
    problem = random_regression(1, "none")
    solution, _ = solve(problem, max_iter=1)
    assert not solution.converged
    assert abs(solution.beta.sum()) <= 1e-12 * np.abs(solution.beta).sum()


def test_units_are_powers_of_two_and_lose_no_digit():
    y = np.array([3.0, 1e6 + 1.0, -2e5, 7.25])
    unit = Units(y, np.ones(4, dtype=bool))
    assert np.log2(unit.size) == round(np.log2(unit.size))
    np.testing.assert_allclose(unit.back(unit.of(y)), y, rtol=1e-15)
    # Numpy gives equal targets a spread of 1e-17, which is no unit.
    constant = np.full(7, 0.1)
    assert constant.std() > 0.0
    assert Units(constant, np.ones(7, dtype=bool)).size == 1.0


# Groups -------------------------------------------------------------------------------------------


def check_group(seed, trap):
    problem = random_regression(seed, trap)
    rng = np.random.default_rng(seed)
    solution, unit = solve(problem)
    remover = Remover(problem.gram, solution)
    n = problem.y.size
    for size in (1, 2, max(1, n // 4), n // 2):
        members = np.sort(rng.choice(n, min(size, n - 1), replace=False))
        rest = problem.C.copy()
        rest[members] = 0.0
        if not rest.any():
            continue
        try:
            beta, b = reference_svr(problem.K, problem.y, rest, problem.epsilon)
        except NoReferenceError:
            continue
        expected = problem.K @ beta + b
        for ways in (remover.remove(members, exact=True), remover.retrain(members)):
            values = ways.values(solution.decision, problem.K[:, ways.rows])
            np.testing.assert_allclose(
                unit.back(values), expected, rtol=0, atol=10 * tolerance_of(problem)
            )
            size = np.abs(solution.beta).sum() + np.abs(ways.moves).sum()
            assert abs(ways.moves.sum()) <= 1e-10 * size


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("trap", EXACT)
def test_groups_leave_as_if_retrained(trap, seed):
    check_group(seed, trap)


@pytest.mark.theory
@pytest.mark.parametrize("trap", EXACT)
def test_groups_of_thousands_of_problems_leave_as_if_retrained(trap):
    for seed in range(3000, 3060):
        check_group(seed, trap)


def test_predicted_removals_that_call_themselves_exact_are():
    # With rows inside the tube that may leave it at either edge.
    exact = total = 0
    for seed in (*range(20), 66, 74, 92, 139):  # in the last, rows leave it at the far edge alone
        problem = random_regression(seed, "none")
        solution, _ = solve(problem)
        remover = Remover(problem.gram, solution)
        for removal in removals(problem.gram, solution, 1e-9):
            total += 1
            if not removal.exact:
                continue
            exact += 1
            p = np.array([removal.row])
            stays = solution.in_bound.copy()
            stays[p] = False
            value = removal.gradient[p] + solution.edge[p] - removal.gradient[stays].mean()
            trained = remover.retrain(p)
            expected = trained.values(solution.decision[p], problem.K[p][:, trained.rows])
            np.testing.assert_allclose(value, expected, rtol=0, atol=1e-6)
    assert 20 < exact < total - 20


def test_a_regression_from_which_all_rows_leave_is_the_mean_of_its_units():
    problem = random_regression(0, "none")
    solution, _ = solve(problem)
    removed = Remover(problem.gram, solution).remove(np.arange(problem.y.size))
    assert removed.constant == 0.0
