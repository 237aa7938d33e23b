from dataclasses import replace

import numpy as np
import pytest

from spansvm.kernels.functions import Kernel
from spansvm.kernels.gram import HeldGram
from spansvm.machine.criteria import SolvedModel, span_rule
from spansvm.machine.dual import solve_dual
from spansvm.machine.span import find_spans
from spansvm.multiclass.path import Path, follow, solve_from


def test_a_long_path_that_goes_up_and_up_again_stays_finite_and_right():
    rng = np.random.default_rng(3)
    gram = HeldGram(Kernel("rbf")(rng.normal(size=(80, 2))))
    y = np.where(rng.random(80) < 0.5, 1.0, -1.0)
    upper = rng.uniform(0.003, 0.01, 80)
    before = solve_dual(gram, y, upper)
    # All bounds double six times, then fall by different factors: nothing takes the doubling back.
    for _ in range(300):
        for doubling in range(7):
            bounds = np.maximum(upper * 2.0**doubling, 0.005)
            before = solve_from(gram, before, bounds, tol=1e-6)
    again = solve_dual(gram, y, before.C, tol=1e-6)
    np.testing.assert_allclose(before.decision, again.decision, atol=1e-4)


def test_a_path_to_equal_weights_of_balanced_classes_leaves_no_vector_inside():
    rng = np.random.default_rng(0)
    y = np.repeat([-1.0, 1.0], 60)
    gram = HeldGram(Kernel("rbf", gamma=0.1)(rng.normal(size=(120, 3)) + 0.4 * y[:, None]))
    scores = rng.random(120)
    for steepness in range(1, 11):
        before = solve_dual(gram, y, 8.0 / (1.0 + np.exp(-steepness * (scores - 0.5))))
        for ceiling in (1.0, 0.1, 0.03, 0.01):
            weights = np.maximum(ceiling / (1.0 + np.exp(-steepness * (scores - 0.5))), 0.01)
            before = solve_from(gram, before, weights, tol=1e-3)
        cold = solve_dual(gram, y, weights)
        assert cold.bounded.all()
        assert before.bounded.all()
        assert abs(before.intercept - cold.intercept) < 1e-6


@pytest.mark.parametrize("gamma", [0.003, 0.1, 3.0])
def test_solutions_are_finished_and_do_not_depend_on_where_they_started(gamma):
    rng = np.random.default_rng(1)
    y = np.where(rng.random(150) < 0.4, 1.0, -1.0)
    X = rng.normal(size=(150, 4)) + 0.5 * y[:, None]
    gram = HeldGram(Kernel("rbf", gamma=gamma)(X))
    warm = solve_dual(gram, y, np.full(150, 0.01))
    for C in (0.1, 1.0, 30.0, 1000.0, 3.0, 0.03):
        warm = solve_from(gram, warm, np.full(150, C), tol=1e-3)
        cold = solve_dual(gram, y, np.full(150, C))
        assert max(warm.gap, cold.gap) < 1e-8
        np.testing.assert_allclose(warm.decision, cold.decision, atol=1e-7)
        tight = solve_dual(gram, y, np.full(150, C), tol=1e-9)
        np.testing.assert_allclose(cold.decision, tight.decision, atol=1e-7)


@pytest.mark.parametrize("way", [(1e10, 1.0), (1e10, 1e7, 1e3, 1e-2), (1e-2, 1e10, 1e4)])
def test_huge_weights_on_the_way_leave_no_rounding_behind(way):
    rng = np.random.default_rng(1)
    y = np.where(rng.random(150) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(150, 4)) + 0.5 * y[:, None]
    # Equal rows of both classes stay at their bounds, whatever the weight.
    X[:20], y[:20] = X[20:40], -y[20:40]
    gram = HeldGram(Kernel("rbf", gamma=1.0)(X))
    *_, warm = follow(gram, y, way)
    cold = solve_dual(gram, y, way[-1])
    gradient = gram.gradient(warm.solution.beta, -y)
    np.testing.assert_allclose(warm.solution.gradient, gradient, atol=1e-9)
    assert abs(warm.solution.beta.sum()) < 1e-9 * warm.solution.alpha.max()
    np.testing.assert_allclose(warm.spans.decision, find_spans(gram, cold).decision, atol=1e-7)


def test_the_factor_of_a_finished_solution_is_that_of_its_in_bound_vectors():
    rng = np.random.default_rng(2)
    y = np.where(rng.random(60) < 0.5, 1.0, -1.0)
    gram = HeldGram(Kernel("rbf", gamma=0.5)(rng.normal(size=(60, 3)) + 0.7 * y[:, None]))
    solution = solve_dual(gram, y, np.full(60, 2.0))
    for weight in (2.0, 2.001, 5.0):
        solution = solve_from(gram, solution, np.full(60, weight), tol=1e-3)
        inside = np.flatnonzero(solution.in_bound)
        factor = solution.factor
        np.testing.assert_array_equal(factor.inside, inside)
        lower = np.tril(factor.matrix)
        block = gram.block(inside, inside) + factor.shift
        np.testing.assert_allclose(lower @ lower.T, block, atol=1e-10)
        known = find_spans(gram, solution).squared
        anew = find_spans(gram, replace(solution, factor=None)).squared
        np.testing.assert_allclose(known, anew, rtol=1e-9, atol=1e-12)


def _problem():
    rng = np.random.default_rng(4)
    y = np.where(rng.random(70) < 0.5, 1.0, -1.0)
    return HeldGram(Kernel("rbf", gamma=0.5)(rng.normal(size=(70, 3)) + 0.6 * y[:, None])), y


def test_following_a_chain_gives_models_with_the_spans_of_their_own():
    gram, y = _problem()
    weights = [np.full(y.size, C) for C in (0.1, 1.0, 1.0, 50.0)]
    for C, model in zip(weights, follow(gram, y, weights, tol=1e-6), strict=True):
        alone = SolvedModel(gram, solve_dual(gram, y, C, tol=1e-6))
        np.testing.assert_allclose(model.spans.decision, alone.spans.decision, atol=1e-5)
        assert span_rule(model) == span_rule(alone)


def test_every_step_of_a_chain_is_checked_as_the_first_is():
    gram, y = _problem()
    one = np.ones(y.size)
    lists = [model.solution.alpha for model in follow(gram.values, y.astype(int), [1.0, 2.0])]
    arrays = [model.solution.alpha for model in follow(gram, y, [one, 2.0 * one])]
    np.testing.assert_array_equal(lists, arrays)
    for wrong in (-one, np.where(y > 0, 1.0, 0.0), one[:-1], np.full(y.size, np.nan)):
        for weights in ([wrong], [one, wrong]):
            with pytest.raises(ValueError, match=r"C |classes"):
                list(follow(gram, y, weights))


def test_no_model_starts_from_one_that_has_not_converged():
    gram, y = _problem()
    path = Path(gram, y)
    assert not path.step(np.full(y.size, 10.0), tol=1e-9, max_iter=1).solution.converged
    cold, C = solve_dual(gram, y, np.full(y.size, 1.0)), np.full(y.size, 1.0)
    np.testing.assert_array_equal(path.step(C).solution.alpha, cold.alpha)
    assert path.step(C).solution.iterations == 0
