"""Distances from hulls of points that depend on each other, against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from spansvm.kernels.gram import HeldGram
from spansvm.machine.criteria import SolvedModel
from spansvm.machine.dual import DualSolution


def squared_distance(X, p, others):
    """Of the point `p` from the affine hull of `others`, in rational numbers."""
    points = [[Fraction(int(value)) for value in row] for row in X]
    base, *rest = (points[i] for i in others)
    left = [a - b for a, b in zip(points[p], base, strict=True)]
    basis: list[list[Fraction]] = []
    for point in rest:
        basis += [_without([a - b for a, b in zip(point, base, strict=True)], basis)]
        if not any(basis[-1]):
            basis.pop()
    return float(sum(value**2 for value in _without(left, basis)))


def _without(vector, basis):
    """The part of a vector that is at right angles to an orthogonal basis."""
    for other in basis:
        share = sum(a * b for a, b in zip(vector, other, strict=True)) / sum(b * b for b in other)
        vector = [a - share * b for a, b in zip(vector, other, strict=True)]
    return vector


def dependent_points(seed):
    """More points than a subspace of low dimension needs, and some others; all of integers."""
    rng = np.random.default_rng(seed)
    rank, d = int(rng.integers(1, 4)), 4
    n = rank + int(rng.integers(2, 5))
    inside = rng.integers(-3, 4, (n, rank)) @ rng.integers(-2, 3, (rank, d))
    X = np.vstack((inside, rng.integers(-9, 10, (4, d))))
    return (X, n) if len(np.unique(X, axis=0)) == len(X) else dependent_points(seed + 1000)


def distances(X, n):
    """Those found, those there are, and the mean squared length of the points of the hull."""
    K = (X @ X.T).astype(float)  # exact: integers far below 2^53
    found = np.zeros(len(X))
    gram = HeldGram(K)
    gram.hull_distances(gram.factor(np.arange(n)), np.arange(n, len(X)), found)
    hull = range(n)
    exact = [squared_distance(X, p, [i for i in hull if i != p]) for p in range(len(X))]
    return found, np.array(exact), K.diagonal()[:n].mean()


@pytest.mark.parametrize("seed", range(30))
def test_what_a_ridge_adds_to_distances_is_taken_off_again(seed):
    X, n = dependent_points(seed)
    found, exact, scale = distances(X, n)
    np.testing.assert_allclose(found, exact, rtol=0.0, atol=1e-12 * scale)


@pytest.mark.parametrize("seed", range(30))
def test_points_that_all_but_depend_on_each_other_are_as_far_as_if_they_did(seed):
    X, n = dependent_points(seed)
    moved = 10**7 * X + np.random.default_rng(seed).integers(-1, 2, X.shape)
    _, exact, scale = distances(X, n)
    K = (moved @ moved.T).astype(float) / 1e14
    gram, found = HeldGram(K), np.zeros(len(X))
    gram.hull_distances(gram.factor(np.arange(n)), np.arange(n, len(X)), found)
    np.testing.assert_allclose(found, exact, atol=1e-2 * scale)


def test_predictions_among_dependent_vectors_are_exact():
    """A hard margin with eight vectors on it, in the plane: any one of them can be spared."""
    far = 1000.0 * np.array([-3.0, -1.0, 1.0, 3.0])
    X = np.column_stack((np.repeat([1.0, -1.0], 4), np.tile(far, 2)))
    y, alpha = X[:, 0], np.full(8, 0.125)
    K = X @ X.T
    np.testing.assert_array_equal(K @ (y * alpha), y)
    solution = DualSolution(
        alpha=alpha, C=np.ones(8), y=y, intercept=0.0, decision=y.copy(), gap=0.0,
        converged=True, iterations=0,
    )  # fmt: skip
    model = SolvedModel(K, solution)
    assert model.trusted.all()
    np.testing.assert_allclose(model.spans.decision, y, atol=1e-6)
    np.testing.assert_allclose(model.in_bound_box_span, 0.0, atol=1e-3)
