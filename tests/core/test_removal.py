"""Removals, doubts and votes of the compiled core, one against the other and by definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spansvm.algebra.systems import Bordered, bordered
from spansvm.common.pairs import labels
from spansvm.core.doubt import drops_of_bounded, drops_of_in_bound, drops_of_rows
from spansvm.core.following import follow_rows_of
from spansvm.core.removal import Paths
from spansvm.core.votes import Votes
from spansvm.kernels.functions import resolve_kernel
from spansvm.kernels.gram import Gram, HeldGram
from spansvm.kernels.pair_grams import Grams
from spansvm.machine.doubt import predict
from spansvm.machine.dual import DualSolution, box, solve_dual
from spansvm.machine.following import Vertex, find_vertex
from spansvm.machine.span import find_spans
from spansvm.machine.values import exact_values
from spansvm.multiclass.machines import PairPaths, TrainedMachines

from ..problems import random_problem


def machines(count, *, copies=False):
    """Random machines, perhaps with equal rows."""
    for seed in range(count):
        problem = random_problem(seed, most=60)
        K, y, C = problem.K, problem.y, problem.C
        if copies:
            drawn = np.random.default_rng(seed).integers(0, y.size, y.size)
            K, y, C = K[np.ix_(drawn, drawn)], y[drawn], C[drawn]
        if np.unique(y[C > 0]).size == 2:
            gram = HeldGram(K)
            yield gram, solve_dual(gram, y, C, tol=1e-10)


def first_rows(gram: Gram, solution: DualSolution) -> np.ndarray:
    twins = gram.twins(solution.y)
    return np.arange(len(gram)) if twins is None else twins.first


def start(gram: Gram, solution: DualSolution) -> tuple[Vertex, Bordered]:
    found = find_vertex(gram, solution, None)
    assert found is not None
    return found


def an_easy_machine() -> tuple[Gram, DualSolution]:
    """Overlapping classes, with several free and bounded vectors."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) < 30, 1.0, -1.0)
    X = rng.standard_normal((60, 2)) + y[:, None]
    gram = HeldGram(np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)))
    return gram, solve_dual(gram, y, np.full(60, 1.0), tol=1e-10)


@pytest.mark.parametrize("copies", [False, True])
def test_a_group_of_one_row_is_that_row(copies):
    compared = 0
    for gram, solution in machines(40, copies=copies):
        found = find_vertex(gram, solution, None)
        if found is None:
            continue
        vertex, _ = found
        paths, first = Paths(gram.values, *found), first_rows(gram, solution)
        sums, number = gram.sums_over(solution.present), float(solution.n_instances)
        for row in np.flatnonzero(solution.support)[:8]:
            q = first[row : row + 1]
            rest = np.maximum(vertex.hi[q] - vertex.lo[q] - solution.C[row], 0.0)
            own, _, _ = paths.follow_rows(q, rest, sums, number)
            group = paths.follow_group(q, *box(solution.y[q], rest))
            if group is None or np.isnan(own[0]):
                continue
            moved, moves, intercept = group
            kernel = gram.values[q[0], moved] - gram.values[q[0], q[0]]
            np.testing.assert_allclose(kernel @ moves + intercept, own[0], atol=1e-7)
            compared += 1
    assert compared > 100


def test_paths_are_the_same_one_after_the_other_in_any_order():
    gram, solution = an_easy_machine()
    rows, first = np.flatnonzero(solution.support), np.arange(len(gram))
    sums = gram.sums_over(solution.present)
    forth = follow_rows_of(gram.values, solution, first, sums, rows)
    back = follow_rows_of(gram.values, solution, first, sums, rows[::-1].copy())
    assert forth is not None
    assert back is not None
    assert np.isfinite(forth[0]).all()
    for one, other in zip(forth[:3], back[:3], strict=True):
        np.testing.assert_allclose(one, other[::-1], atol=1e-12)


def test_machines_in_single_precision_are_followed_as_accurately():
    gram, solution = an_easy_machine()
    single = HeldGram(gram.values.astype(np.float32))
    double = HeldGram(single.values.astype(np.float64))
    solution = solve_dual(double, solution.y, solution.C, tol=1e-10)
    rows, first = np.flatnonzero(solution.support), np.arange(len(gram))
    sums = double.sums_over(solution.present)
    found = [follow_rows_of(K.values, solution, first, sums, rows) for K in (single, double)]
    assert found[0] is not None
    assert found[1] is not None
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-12)


def test_a_row_that_is_no_support_vector_changes_nothing():
    gram, solution = an_easy_machine()
    rows = np.flatnonzero(~solution.support)
    sums = gram.sums_over(solution.present)
    found = follow_rows_of(gram.values, solution, np.arange(len(gram)), sums, rows)
    assert found is not None
    assert rows.size
    np.testing.assert_array_equal(found[0], solution.decision[rows])
    assert not found[1].any()


@pytest.mark.parametrize("copies", [False, True])
def test_drops_are_those_of_the_prediction(copies):
    compared = 0
    for gram, solution in machines(60, copies=copies):
        first, spans = first_rows(gram, solution), find_spans(gram, solution)
        merged = np.zeros(len(gram))
        inside = np.flatnonzero(solution.in_bound)
        system = bordered(gram, np.unique(first[inside])) if inside.size else None
        if system is None or not system.independent or np.unique(first[inside]).size < 2:
            continue
        merged[np.unique(first[inside])] = 1.0 / np.diagonal(system.projected)
        drop = drops_of_rows(gram.values, solution, first, merged)
        expected = predict(gram, solution, spans).drop
        looked_at = solution.support & (solution.y * solution.decision > -1e-9)
        assert not drop[~looked_at].any()
        known = looked_at & np.isfinite(drop) & np.isfinite(expected)
        np.testing.assert_allclose(drop[known], expected[known], rtol=1e-6, atol=1e-9)
        compared += int(known.sum())
    assert compared > 200


def test_what_does_not_fit_is_refused():
    gram, solution = an_easy_machine()
    rows, first = np.flatnonzero(solution.support), np.arange(len(gram))
    sums = gram.sums_over(solution.present)
    with pytest.raises(IndexError, match="60 is not one of 60 rows"):
        follow_rows_of(gram.values, solution, first, sums, np.array([60]))
    with pytest.raises(IndexError, match="-1 is not one"):
        follow_rows_of(gram.values, solution, first - 1, sums, rows)
    with pytest.raises(ValueError, match="for every label"):
        follow_rows_of(gram.values[:, :9].copy(), solution, first, sums, rows)
    with pytest.raises(ValueError, match="for every row"):
        follow_rows_of(gram.values, solution, first, sums[1:].copy(), rows)
    with pytest.raises(ValueError, match="for every row"):
        follow_rows_of(gram.values, solution, first[1:].copy(), sums, rows)
    vertex, system = start(gram, solution)
    with pytest.raises(ValueError, match="free vectors"):
        Paths(gram.values, vertex, system._replace(weights=system.weights[1:]))
    with pytest.raises(ValueError, match="A vertex"):
        Paths(gram.values, replace(vertex, lo=vertex.lo[1:]), system)
    with pytest.raises(IndexError, match="is not one"):
        Paths(gram.values, replace(vertex, free=vertex.free + 60), system)
    paths, q = Paths(gram.values, vertex, system), rows[:1]
    with pytest.raises(IndexError, match="is not one"):
        paths.follow_rows(q + 60, np.zeros(1), sums, 60.0)
    with pytest.raises(ValueError, match="a rest for every point"):
        paths.follow_rows(q, np.zeros(2), sums, 60.0)
    with pytest.raises(IndexError, match="is not one"):
        paths.follow_group(q + 60, np.zeros(1), np.zeros(1))
    with pytest.raises(ValueError, match="a box for every point"):
        paths.follow_group(q, np.zeros(1), np.zeros(2))
    inside = solution.in_bound
    x, (lo, hi) = solution.beta[inside], box(solution.y[inside], solution.C[inside])
    P, w = system.projected, system.weights
    kernel = gram.values[~inside][:, inside].copy()
    assert drops_of_bounded(kernel, solution.beta[~inside], P, w, x, lo, hi)[0].size == len(kernel)
    with pytest.raises(ValueError, match="in-bound"):
        drops_of_in_bound(P[:, 1:].copy(), x, lo, hi)
    with pytest.raises(ValueError, match="for every vector"):
        drops_of_bounded(kernel, x, P, w, x, lo, hi)
    with pytest.raises(ValueError, match="squared span"):
        drops_of_rows(gram.values, solution, first, sums[1:].copy())


def test_votes_that_do_not_fit_are_refused():
    columns, pair_of = np.array([[0], [0]]), np.array([[-1, 0], [0, -1]])
    starts, places = np.array([0, 3]), np.arange(3)
    votes = Votes(columns, pair_of, starts, places, np.array([1.0, 0.0, -1.0]), np.zeros(1))
    K, own = np.eye(3), np.array([[1.0], [-1.0], [1.0]])
    found = votes.count(K, places, np.array([0, 0, 1]), own)
    np.testing.assert_array_equal(found, [1, 0, 1])
    assert votes.count(K, places[:0], places[:0], own[:0]).size == 0
    with pytest.raises(IndexError, match="3 is not one of 3"):
        votes.count(K, places + 1, np.array([0, 0, 1]), own)
    with pytest.raises(IndexError, match="2 is not one of 2"):
        votes.count(K, places, np.array([0, 0, 2]), own)
    with pytest.raises(ValueError, match="for every row"):
        votes.count(K, places, np.array([0, 0, 1]), own[:2])
    with pytest.raises(ValueError, match="all pairs"):
        Votes(columns, pair_of, starts, places, np.ones(3), np.zeros(2))


def test_vectors_that_cross_their_boxes_on_the_way_are_seen_at_the_end():
    crossed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = np.where(np.arange(40) < 20, 1.0, -1.0)
        X = rng.standard_normal((40, 2)) + 0.7 * y[:, None]
        C = np.where(rng.random(40) < 0.5, 0.02, 5.0)  # some boxes are soon crossed
        gram = HeldGram(np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)))
        solution = solve_dual(gram, y, C, tol=1e-11)
        rows = np.flatnonzero(solution.alpha > 1.0)
        sums = gram.values.sum(axis=1)
        found = follow_rows_of(gram.values, solution, np.arange(40), sums, rows)
        if found is None:
            continue
        for p, value in zip(rows, found[0], strict=True):
            kept = np.flatnonzero(np.arange(40) != p)
            without = solve_dual(
                HeldGram(gram.values[np.ix_(kept, kept)]), y[kept], C[kept], tol=1e-11
            )
            ends = solution.alpha[kept], without.alpha
            across = (np.minimum(*ends) == 0.0) & (np.maximum(*ends) == C[kept])
            if across.any() and not np.isnan(value):
                crossed += 1
                expected = gram.values[p, kept] @ without.beta + without.intercept
                np.testing.assert_allclose(value, expected, atol=1e-6)
    assert crossed > 20


def test_classes_of_left_out_rows_are_those_of_exact_values_of_all_pairs():
    undecided = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        k = 3 + seed % 2
        y = np.arange(48) % k
        X = rng.standard_normal((48, 2)) + 1.2 * rng.standard_normal((k, 2))[y]
        grams = Grams(resolve_kernel("rbf", X, gamma=0.7), X, y)
        weights = np.full(48, 3.0)
        (found,) = PairPaths(grams).train_each([weights], tol=1e-6, drops=True)
        verified, rows = found.verified, grams.pair_rows
        assert not verified.doubtful.any()
        exact = np.concatenate(
            [exact_values(own.gram, own.solution).decision for own in found.models]
        )
        machines = TrainedMachines(X, rows, grams.kernel, weights, found, grams=grams)
        values = machines.of_all_rows(exact)
        np.testing.assert_array_equal(verified.classes, labels(values, np.arange(k), False))
        followed = verified.followed
        np.testing.assert_allclose(verified.decision[followed], exact[followed], atol=1e-6)
        undecided += np.count_nonzero(followed)
    assert undecided > 20
