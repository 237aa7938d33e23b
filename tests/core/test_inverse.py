"""The inverse that is carried from one set of in-bound vectors to the next."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from spansvm.algebra.hull import hull_distances
from spansvm.algebra.systems import factorise
from spansvm.core.testing import CarriedInverse

ROWS = 160
SHIFT = 1.0


def matrix(seed=0, gamma=2.0, near=None):
    X = np.random.default_rng(seed).uniform(size=(ROWS, 4))
    if near is not None:  # the last point, that near to the first
        X[-1] = X[0] + near
    return rbf_kernel(X, gamma=gamma * 4)


def check(carried, K, points, atol):
    assert sorted(carried.points) == sorted(points)
    expected = np.linalg.inv(K[np.ix_(carried.points, carried.points)] + SHIFT)
    np.testing.assert_allclose(carried.matrix, expected, atol=atol * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_inverse_after_any_changes(seed):
    K, rng = matrix(seed), np.random.default_rng(seed)
    points = np.sort(rng.permutation(ROWS)[:100])
    carried = CarriedInverse(K, points)
    check(carried, K, points, 1e-10)
    for leaving, entering in [(0, 7), (9, 0), (5, 11), (1, 1), (30, 2), (0, 20), (0, 0), (12, 8)]:
        stay = rng.permutation(points)[leaving:]
        others = np.setdiff1d(np.arange(ROWS), points)
        points = np.sort(np.concatenate((stay, rng.permutation(others)[:entering])))
        carried.change(points)
        check(carried, K, points, 1e-9)


def test_it_is_given_up_where_a_new_factor_is_quicker():
    carried = CarriedInverse(matrix(), np.arange(80))
    carried.change(np.arange(60, 140))
    assert carried.points.size == 0
    assert CarriedInverse(matrix(), np.arange(20)).points.size == 0


@pytest.mark.parametrize(
    ("near", "size", "accurate"), [(0.1, 101, True), (2e-3, 101, False), (0.0, 0, None)]
)
def test_a_point_that_is_too_near_to_others_is_not_taken_in(near, size, accurate):
    K = matrix(near=near)
    carried = CarriedInverse(K, np.arange(100))
    assert carried.accurate
    points = np.append(np.arange(100), ROWS - 1)
    carried.change(points)
    assert carried.points.size == size
    if size:
        assert carried.accurate == accurate
        check(carried, K, points, 1e-9)


def test_nearly_dependent_points_are_good_for_steps_but_not_for_distances():
    points = np.arange(100)
    smooth, rough = CarriedInverse(matrix(gamma=0.3), points), CarriedInverse(matrix(), points)
    assert smooth.points.size == rough.points.size == 100
    assert rough.accurate
    assert not smooth.accurate
    assert CarriedInverse(matrix(gamma=1e-3), points).points.size == 0


@pytest.mark.parametrize("seed", range(3))
def test_distances_are_those_from_the_factor(seed):
    K = matrix(seed)
    points, others = np.arange(90), np.arange(100, 150)
    carried = CarriedInverse(K, np.arange(80))
    carried.change(points)
    found, expected = carried.distances(others), np.zeros(ROWS)
    factor = factorise(K, points)
    hull_distances(K, K.diagonal().copy(), others, factor, expected)
    assert (expected[:90] > 0).all()
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("box", [1e4, 10.0, 0.5, 0.02])
@pytest.mark.parametrize("seed", range(4))
def test_a_walk_ends_at_the_minimum_or_at_bounds(seed, box):
    K, rng = matrix(seed), np.random.default_rng(seed)
    c = rng.normal(size=ROWS)
    lo, hi = np.full(ROWS, -box), np.full(ROWS, box)
    x = rng.uniform(-0.3, 0.3, size=ROWS) * box
    points = np.arange(100)
    carried = CarriedInverse(K, points)
    before, g = x.copy(), K @ x + c
    carried.walk(x, g, lo, hi)
    free = np.setdiff1d(points, points[(x[points] == lo[0]) | (x[points] == hi[0])])
    assert (free.size < points.size) == (box < 100.0)
    np.testing.assert_array_equal(x[100:], before[100:])
    assert (np.abs(x) <= box).all()
    assert x.sum() == pytest.approx(before.sum(), abs=1e-13 * ROWS * box)
    np.testing.assert_allclose(g, K @ x + c, atol=1e-12 * ROWS * max(box, 1.0))
    np.testing.assert_allclose(g[free], g[free].mean(), atol=1e-12 * ROWS * max(box, 1.0))
    value = [0.5 * p @ K @ p + c @ p for p in (before, x)]
    assert value[1] < value[0]
    check(carried, K, free, 1e-9)
