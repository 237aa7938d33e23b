import numpy as np

from spansvm.dual import solve_dual
from spansvm.gram import Gram
from spansvm.kernels import Kernel
from spansvm.path import solve_from


def test_a_long_path_that_goes_up_and_up_again_stays_finite_and_right():
    rng = np.random.default_rng(3)
    gram = Gram(Kernel("rbf")(rng.normal(size=(80, 2))))
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
    gram = Gram(Kernel("rbf", gamma=0.1)(rng.normal(size=(120, 3)) + 0.4 * y[:, None]))
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
