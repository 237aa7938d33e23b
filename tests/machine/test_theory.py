"""The theorems, on random problems, against models trained by a general QP solver."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from scipy.optimize import linprog

from spansvm.estimators.loo import exact_loo_decision
from spansvm.kernels.gram import HeldGram
from spansvm.machine.criteria import (
    SolvedModel,
    span_bound,
    span_count,
    sv_count,
    xi_alpha,
)
from spansvm.machine.dual import train_dual

from ..problems import random_problem, reference_loo

BLOCKS = [pytest.param(range(60), id="some")] + [
    pytest.param(range(start, start + 100), marks=pytest.mark.theory, id=f"{start}")
    for start in range(60, 6060, 100)
]
every_block = pytest.mark.parametrize("seeds", BLOCKS)


@lru_cache(maxsize=128)
def solved(seed):
    problem = random_problem(seed)
    return problem, SolvedModel(
        problem.gram, train_dual(problem.gram, problem.y, problem.C, tol=1e-9)
    )


@lru_cache(maxsize=128)
def retrained(seed):
    """True leave-one-out decision values, and whether they are known and unique."""
    problem, model = solved(seed)
    solution = model.solution
    values = solution.decision.copy()
    unique = np.ones(values.size, dtype=bool)
    # Where no vector is in-bound, any row may limit the interval that the intercept is in.
    changing = solution.support if solution.in_bound.any() else solution.present
    for p in np.flatnonzero(changing):
        values[p], unique[p] = reference_loo(problem.K, problem.y, problem.C, p)
    return values, unique


@every_block
def test_theorem_2_holds_wherever_trusted(seeds):
    checked = unknown = 0
    for seed in seeds:
        problem, model = solved(seed)
        exact, unique = retrained(seed)
        trusted = model.trusted & ~np.isnan(exact)
        assert unique[trusted].all(), seed
        solution = model.solution
        change = problem.y * (solution.decision - exact)
        predicted = solution.alpha * model.spans.squared
        scale = np.maximum(1.0, np.abs(exact))
        np.testing.assert_array_less((np.abs(change - predicted) / scale)[trusted], 1e-6)
        checked += trusted.sum()
        unknown += np.isnan(exact).sum()
    assert checked > len(seeds)
    assert unknown < 0.05 * checked


@every_block
def test_lemma_1_is_the_feasibility_of_the_box(seeds):
    empty = 0
    for seed in seeds:
        problem, model = solved(seed)
        solution = model.solution
        inside = np.flatnonzero(solution.in_bound)
        for p in inside:
            others = inside[inside != p]
            signs = problem.y[others] * problem.y[p]
            ends = np.stack((-solution.alpha[others], (problem.C - solution.alpha)[others]))
            ends = ends * signs / solution.alpha[p]
            room = ends.max(axis=0).sum() - 1.0
            if abs(room) < 1e-9:
                continue  # equality, up to rounding
            feasible = others.size > 0 and (
                linprog(
                    np.zeros(others.size),
                    A_eq=np.ones((1, others.size)),
                    b_eq=[1.0],
                    bounds=np.sort(ends, axis=0).T,
                ).status
                == 0
            )
            assert model.span_exists[p] == feasible
            empty += not feasible
    assert empty > 0


@every_block
def test_the_span_is_at_most_the_diameter_of_the_in_bound_vectors(seeds):
    for seed in seeds:
        problem, model = solved(seed)
        inside = model.solution.in_bound
        if inside.sum() < 2:
            continue
        diameter = 2.0 * HeldGram(problem.K[np.ix_(inside, inside)]).radius
        spans = model.in_bound_box_span
        assert spans[np.isfinite(spans)].max(initial=0.0) <= diameter * (1 + 1e-6) + 1e-9


@every_block
def test_bounds_are_not_below_the_leave_one_out_error(seeds):
    """Where the intercept of every leave-one-out model is unique, as the theorems assume."""
    for seed in seeds:
        problem, model = solved(seed)
        exact, unique = retrained(seed)
        errors = (problem.y * exact <= 0) & unique & model.solution.present
        loo = errors.sum() / model.solution.n_instances
        for bound in (span_bound, span_count, sv_count):
            assert bound(model) >= loo - 1e-12, (bound.__name__, seed)
        # The proof of xi-alpha needs an in-bound vector to take over: Lambda_p not empty.
        defined = errors & (model.span_exists | ~model.solution.support)
        assert xi_alpha(model) >= defined.sum() / model.solution.n_instances - 1e-12, seed


@every_block
def test_the_counted_bound_lies_between_the_rule_of_support_vectors_and_theorem_1(seeds):
    for seed in seeds:
        _, model = solved(seed)
        assert span_count(model) <= sv_count(model)
        assert span_count(model) <= span_bound(model) + 1e-12


@every_block
def test_exact_leave_one_out_is_what_retraining_gives(seeds):
    for seed in seeds:
        problem, model = solved(seed)
        exact, unique = retrained(seed)
        ours = exact_loo_decision(problem.gram, model.solution)
        scale = np.maximum(1.0, np.abs(exact))
        np.testing.assert_array_less((np.abs(ours - exact) / scale)[unique], 1e-5)
