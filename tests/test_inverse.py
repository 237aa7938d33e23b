"""The inverse that is carried from one set of in-bound vectors to the next."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from spansvm._factor import factorise, limits_of
from spansvm._hull import hull_distances
from spansvm._inverse import (
    ACCURATE,
    SIZE,
    change_points,
    distances_by_inverse,
    inverse_walk,
    start_inverse,
)

ROWS = 160
SHIFT = 1.0


def matrix(seed=0, gamma=2.0, near=None):
    X = np.random.default_rng(seed).uniform(size=(ROWS, 4))
    if near is not None:  # the last point, that near to the first
        X[-1] = X[0] + near
    return rbf_kernel(X, gamma=gamma * 4)


class Carried:
    """An inverse of some points of K."""

    def __init__(self, K, points):
        self.K = K
        self.M, self.known = np.full((ROWS, ROWS), np.nan), np.full(ROWS, -1)
        self.held = np.zeros(2, dtype=np.int64)
        factor = factorise(K, points, limits_of(K.dtype))
        start_inverse(factor.matrix, points, SHIFT, factor.ridge, self.known, self.M, self.held)

    def change(self, points):
        change_points(self.K, self.M, self.known, self.held, points, SHIFT)

    @property
    def points(self):
        return self.known[: self.held[SIZE]]

    @property
    def inverse(self):
        n = self.held[SIZE]
        return np.tril(self.M[:n, :n]) + np.tril(self.M[:n, :n], -1).T

    def check(self, points, atol):
        assert sorted(self.points) == sorted(points)
        expected = np.linalg.inv(self.K[np.ix_(self.points, self.points)] + SHIFT)
        np.testing.assert_allclose(self.inverse, expected, atol=atol * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_inverse_after_any_changes(seed):
    K, rng = matrix(seed), np.random.default_rng(seed)
    points = np.sort(rng.permutation(ROWS)[:100])
    carried = Carried(K, points)
    carried.check(points, 1e-10)
    for leaving, entering in [(0, 7), (9, 0), (5, 11), (1, 1), (30, 2), (0, 20), (0, 0), (12, 8)]:
        stay = rng.permutation(points)[leaving:]
        others = np.setdiff1d(np.arange(ROWS), points)
        points = np.sort(np.concatenate((stay, rng.permutation(others)[:entering])))
        carried.change(points)
        carried.check(points, 1e-9)


def test_it_is_given_up_where_a_new_factor_is_quicker():
    carried = Carried(matrix(), np.arange(80))
    carried.change(np.arange(60, 140))
    assert carried.held[SIZE] == 0
    assert Carried(matrix(), np.arange(20)).held[SIZE] == 0


@pytest.mark.parametrize(
    ("near", "size", "accurate"), [(0.1, 101, True), (2e-3, 101, False), (0.0, 0, None)]
)
def test_a_point_that_is_too_near_to_others_is_not_taken_in(near, size, accurate):
    carried = Carried(matrix(near=near), np.arange(100))
    assert carried.held[ACCURATE]
    points = np.append(np.arange(100), ROWS - 1)
    carried.change(points)
    assert carried.held[SIZE] == size
    if size:
        assert carried.held[ACCURATE] == accurate
        carried.check(points, 1e-9)


def test_nearly_dependent_points_are_good_for_steps_but_not_for_distances():
    smooth, rough = Carried(matrix(gamma=0.3), np.arange(100)), Carried(matrix(), np.arange(100))
    assert smooth.held[SIZE] == rough.held[SIZE] == 100
    assert rough.held[ACCURATE]
    assert not smooth.held[ACCURATE]
    assert Carried(matrix(gamma=1e-3), np.arange(100)).held[SIZE] == 0


@pytest.mark.parametrize("seed", range(3))
def test_distances_are_those_from_the_factor(seed):
    K = matrix(seed)
    points, others = np.arange(90), np.arange(100, 150)
    carried = Carried(K, np.arange(80))
    carried.change(points)
    found, expected = np.zeros(ROWS), np.zeros(ROWS)
    distances_by_inverse(K, K.diagonal().copy(), carried.M, carried.points, others, SHIFT, found)
    factor = factorise(K, points, limits_of(K.dtype))
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
    carried = Carried(K, points)
    before, g = x.copy(), K @ x + c
    inverse_walk(K, x, g, lo, hi, carried.M, carried.known, carried.held)
    free = np.setdiff1d(points, points[(x[points] == lo[0]) | (x[points] == hi[0])])
    assert (free.size < points.size) == (box < 100.0)
    np.testing.assert_array_equal(x[100:], before[100:])
    assert (np.abs(x) <= box).all()
    assert x.sum() == pytest.approx(before.sum(), abs=1e-13 * ROWS * box)
    np.testing.assert_allclose(g, K @ x + c, atol=1e-12 * ROWS * max(box, 1.0))
    np.testing.assert_allclose(g[free], g[free].mean(), atol=1e-12 * ROWS * max(box, 1.0))
    value = [0.5 * p @ K @ p + c @ p for p in (before, x)]
    assert value[1] < value[0]
    carried.check(free, 1e-9)
