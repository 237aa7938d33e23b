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
