from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spansvm.kernels.gram import HeldGram
from spansvm.machine import criteria
from spansvm.machine.criteria import CRITERIA, SolvedModel
from spansvm.machine.dual import train_dual

from ..problems import random_problem, reference_loo, reference_qp


def classical(problem, C):
    """The estimates for one C for all, written down from Vapnik and Chapelle (2000).

    Bordered matrix inverse, no weights, no boxes of their own; the diameter from a general
    solver.  Returns None where the bordered matrix is close to singular.
    """
    K, y = problem.K, problem.y
    solution = train_dual(problem.gram, y, C, tol=1e-10)
    alpha, f = solution.alpha, solution.decision
    inside = np.flatnonzero((alpha > 0) & (alpha < C))
    bounded = np.flatnonzero(alpha == C)
    n = inside.size
    if n < 2:
        return None
    bordered = np.ones((n + 1, n + 1))
    bordered[:n, :n] = K[np.ix_(inside, inside)]
    bordered[n, n] = 0.0
    if np.linalg.cond(bordered) > 1e8:
        return None
    inverse = np.linalg.inv(bordered)
    wrong = 0
    for a, p in enumerate(inside):
        wrong += alpha[p] / inverse[a, a] >= y[p] * f[p]
    for p in bounded:
        v = np.append(K[inside, p], 1.0)
        wrong += alpha[p] * (K[p, p] - v @ inverse @ v) >= y[p] * f[p]
    size = y.size
    x, _ = reference_qp(2 * K, -np.diag(K), np.zeros(size), np.ones(size), 1.0)
    diameter = 2 * np.sqrt(x @ np.diag(K) - x @ K @ x)
    slack = np.maximum(0, 1 - y * f)
    spread = 1.0 if problem.kernel == "rbf" else K.max() - K.min()
    return solution, {
        "span_rule": wrong / size,
        "xi_alpha": (2 * alpha * spread + slack >= 1).sum() / size,
        "sv_count": (alpha > 0).sum() / size,
        "jaakkola_haussler": ((alpha * np.diag(K) >= y * f) & (alpha > 0)).sum() / size,
        "radius_margin": diameter**2 * ((y * alpha) @ K @ (y * alpha)) / (4 * size),
        "reach": max(diameter, 1 / np.sqrt(C)),
        "inside": inside,
        "bounded": bounded,
    }


def test_equal_weights_give_the_classical_formulas():
    checked = 0
    for seed in range(60):
        problem = random_problem(seed)
        result = classical(problem, 2.0 ** (seed % 11 - 5))
        if result is None:
            continue
        solution, expected = result
        model = SolvedModel(problem.gram, solution)
        for name in ("span_rule", "xi_alpha", "sv_count", "jaakkola_haussler", "radius_margin"):
            assert CRITERIA[name](model) == pytest.approx(expected[name], rel=1e-6), name
        total = model.s_span * expected["reach"] * solution.alpha[expected["inside"]].sum()
        bound = (total + expected["bounded"].size) / problem.y.size
        assert model.n_empty == 0
        assert criteria.span_bound(model) == pytest.approx(bound, rel=1e-6)
        products = solution.alpha[expected["inside"]] * model.in_bound_box_span * expected["reach"]
        count = ((products >= 1).sum() + expected["bounded"].size) / problem.y.size
        assert criteria.span_count(model) == pytest.approx(count)
        checked += 1
    assert checked > 25


def test_the_radius_in_place_of_the_diameter():
    problem = random_problem(3)
    model = SolvedModel(problem.gram, train_dual(problem.gram, problem.y, 10.0, tol=1e-8))
    solution = model.solution
    for ball, size in (("diameter", 2 * model.radius), ("radius", model.radius)):
        reach = np.maximum(size, 1 / np.sqrt(10.0))
        total = model.s_span * reach * solution.alpha[solution.in_bound].sum()
        expected = (total + solution.bounded.sum()) / problem.y.size
        assert criteria.span_bound(model, ball=ball) == pytest.approx(expected)
    with pytest.raises(ValueError, match="ball must be 'diameter' or 'radius'; got 'cube'"):
        criteria.span_bound(model, ball="cube")


def test_vectors_with_empty_lambda_count_as_errors():
    """Theorem 1 with k > 0: the bound of a model with nothing else is the support vector count."""
    found = 0
    for seed in range(300):
        problem = random_problem(seed)
        model = SolvedModel(problem.gram, train_dual(problem.gram, problem.y, problem.C, tol=1e-9))
        solution = model.solution
        if not model.n_empty:
            continue
        found += 1
        assert criteria.span_count(model) >= (
            (model.n_empty + solution.bounded.sum()) / solution.n_instances
        )
        if model.n_empty == solution.in_bound.sum():
            assert criteria.span_bound(model) == criteria.sv_count(model)
    assert found > 5


def test_xi_alpha_is_no_bound_where_a_lambda_set_is_empty():
    """The weighted xi-alpha bound of the literature misses an error that Theorem 1 counts.

    The multiplier of the in-bound vector is small, its weight is needed to balance the
    classes: without it the intercept jumps, which the proof for equal weights excludes.
    """
    X = np.array([[0.0], [0.1], [3.0], [3.1]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    C = np.array([0.1, 0.3, 0.15, 0.15])
    K = np.exp(-((X - X.T) ** 2))
    model = SolvedModel(HeldGram(K, kernel_range=(0, 1)), train_dual(K, y, C, tol=1e-10))
    p = 1
    assert model.solution.in_bound[p]
    assert model.n_empty == 1
    value, unique = reference_loo(K, y, C, p)
    assert unique
    assert y[p] * value < 0
    xi_alpha_counts = 2 * model.solution.alpha + model.solution.slack >= 1
    assert not xi_alpha_counts[p]
    assert criteria.span_count(model) == 1.0


def test_every_criterion_is_a_number_for_every_model():
    for seed in range(40):
        problem = random_problem(seed)
        model = SolvedModel(problem.gram, train_dual(problem.gram, problem.y, problem.C))
        for name, criterion in CRITERIA.items():
            value = criterion(model)
            assert isinstance(value, float), name
            assert np.isfinite(value), name
            assert value >= 0, name


def test_vectors_with_empty_lambda_are_counted_once_and_add_nothing_to_the_sum():
    """Theorem 1, with S and k from its definitions: the sum is over the vectors with a span."""
    found = 0
    for seed in range(300):
        problem = random_problem(seed)
        model = SolvedModel(problem.gram, train_dual(problem.gram, problem.y, problem.C, tol=1e-9))
        solution, exists = model.solution, model.span_exists
        some = solution.in_bound & exists
        k = int((solution.in_bound & ~exists).sum())
        if not (some.any() and k):
            continue
        found += 1
        spans = model.in_bound_box_span[exists[solution.in_bound]]
        reach = np.maximum(model.diameter, 1 / np.sqrt(problem.C[some]))
        total = spans.max() * (reach * solution.alpha[some]).sum()
        expected = (total + k + solution.bounded.sum()) / solution.n_instances
        assert CRITERIA["span_bound"](model) == pytest.approx(expected)
    assert found > 5


def test_rows_of_zero_weight_do_not_widen_the_spread_of_kernel_values():
    X = np.random.default_rng(0).standard_normal((40, 2))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1.0, -1.0)
    X[::4] *= 30.0
    C = np.where(np.arange(40) % 4 == 0, 0.0, 0.05)
    kept = C > 0
    K = X @ X.T
    zero = SolvedModel(K, train_dual(K, y, C, tol=1e-9))
    K = K[np.ix_(kept, kept)]
    removed = SolvedModel(K, train_dual(K, y[kept], C[kept], tol=1e-9))
    assert CRITERIA["xi_alpha"](zero) == CRITERIA["xi_alpha"](removed) < 1.0


def test_the_range_of_a_kernel_is_known_for_some_of_its_points_too():
    K = np.array([[1.0, 0.9, 0.8], [0.9, 1.0, 0.9], [0.8, 0.9, 1.0]])
    gram = HeldGram(K, kernel_range=(0.0, 1.0))
    assert gram.subset(np.array([True, True, False])).spread == gram.spread == 1.0
    part = HeldGram(K).subset(np.array([True, True, False]))
    assert part.spread == pytest.approx(0.1)


def test_nothing_is_trusted_if_the_model_is_no_solution():
    problem = random_problem(3)
    solution = train_dual(problem.gram, problem.y, problem.C, tol=1e-9)
    assert SolvedModel(problem.gram, solution).trusted.any()
    assert not SolvedModel(problem.gram, replace(solution, converged=False)).trusted.any()
