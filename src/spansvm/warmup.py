"""Compile everything ahead: for images, clusters, and machines where the first search should be
as fast as the second.
"""

from __future__ import annotations

import numpy as np

from ._compile import compiled_functions
from ._factor import bordered
from ._typing import Array
from .criteria import CRITERIA
from .following import Follower
from .gram import Gram
from .groups import Remover
from .kernels import kernel_of
from .machines import PairPaths, TrainedMachines
from .pair_grams import Grams
from .path import Path
from .svc import SpanSVC
from .values import left_out_values

__all__ = ["warmup"]


def warmup() -> int:
    """Run whatever is compiled, once for each precision of the Gram matrix.

    Returns
    -------
    int
        How many functions had to be compiled; the others were found on disk.
    """
    before = _compiled()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(100) > 0.0, 1.0, -1.0)
    kernel = kernel_of(SpanSVC(gamma=1.0), X)
    K, classes = kernel(X, X), np.digitize(X[:, 1], (-0.5, 0.5))
    for precision in (np.float64, np.float32):
        _run_all(Gram(K.astype(precision)), y)
        _train_together(Grams(kernel, X, classes, precision().itemsize * X.shape[0] ** 2))
    return _compiled() - before


def _run_all(gram: Gram, y: Array) -> None:
    path = Path(gram, y)
    for C in (0.1, 1.0, 10.0):
        model = path.step(np.where(y > 0.0, C, 1.0))
        for criterion in CRITERIA.values():
            criterion(model)
        left_out_values(gram, model.solution)
        Follower(gram, model.solution).follow(np.flatnonzero(model.solution.support))
        bordered(gram, np.flatnonzero(model.solution.in_bound))
        Remover(gram, model.solution).follow(np.arange(5))


def _train_together(grams: Grams) -> None:
    bounds, rows = np.full(len(grams.whole), 10.0), grams.pair_rows
    found = PairPaths(grams).train(bounds, tol=1e-3)
    machines = TrainedMachines(None, rows, grams.kernel, bounds, found, grams=grams)
    machines.by_votes(np.arange(bounds.size), found.left_out)


def _compiled() -> int:
    return sum(sum(function.stats.cache_misses.values()) for function in compiled_functions)
