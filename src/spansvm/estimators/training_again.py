"""The settings of a fitted model on other rows: its machines there, and what they say left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.blas import one_blas_thread
from ..common.types import Array, Rows
from ..kernels.functions import Kernel, resolve_kernel
from ..kernels.lazy import gram_of
from ..kernels.pair_grams import Grams
from ..multiclass.group_left_out import groups_left_out
from ..multiclass.left_out import LeftOutClasses
from ..multiclass.machines import PairPaths, TrainedMachines
from ..multiclass.verified import verified_left_out
from ..regression.left_out import LeftOutTargets, leave_out_rows, leave_out_sets
from ..regression.machines import TrainedRegressions
from ..regression.paths import Tube, TubePaths
from .svc import SpanSVC
from .svr import SpanSVR

__all__ = ["train_again"]


@one_blas_thread
def train_again(
    model: SpanSVC | SpanSVR,
    X: Any,
    y: np.ndarray,
    bounds: Array,
    sets: Sequence[Rows] | None = None,
    **changed: Any,
) -> tuple[Any, Any]:
    """Train the machines of a fitted model on other rows, and leave these out.

    The bounds ``C_i`` are given as they are: neither scores nor weights are needed again.  Nor is
    `gamma`, which is a number by now.  The Gram matrix is kept, as machines and left-out values
    both need it.

    Parameters
    ----------
    model : SpanSVC or SpanSVR
        Fitted.
    X : array or sparse matrix of shape (n, d)
        Rows as the model takes them.
    y : ndarray of shape (n,)
    bounds : ndarray of shape (n,)
    sets : list of ndarray of int, optional
        Rows that leave together and make up all; single rows by default.
    **changed
        Other parameters than those of the model: `kernel`, with `gamma`, `degree` and `coef0`, and
        `epsilon` of a SpanSVR.

    Returns
    -------
    machines : TrainedMachines or TrainedRegressions
    left_out : LeftOutClasses or LeftOutTargets

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from spansvm import SpanSVC
    >>> from spansvm.blocks import train_again
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SpanSVC(C=10).fit(X, y)
    >>> half = np.arange(0, 150, 2)
    >>> machines, left_out = train_again(model, X[half], y[half], np.full(75, 10.0))
    >>> round(left_out.error(), 4)
    0.04
    """
    epsilon = changed.pop("epsilon", None)
    kernel = resolve_kernel(X=X, **changed) if changed else model.machines_.kernel
    if isinstance(model, SpanSVC):
        return _train_classes(model, X, y, bounds, sets, kernel)
    tube = Tube(bounds, float(model.epsilon if epsilon is None else epsilon))
    return _train_targets(model, X, y, tube, sets, kernel)


def _train_classes(
    model: SpanSVC, X: Any, y: np.ndarray, bounds: Array, sets: Sequence[Rows] | None,
    kernel: Kernel,
) -> tuple[TrainedMachines, LeftOutClasses]:  # fmt: skip
    budget = model.gram_budget
    grams = Grams(kernel, X, np.unique(y, return_inverse=True)[1], budget)
    found = PairPaths(grams).train(bounds, tol=model.tol, max_iter=model.max_iter)
    machines = TrainedMachines(X, grams.pair_rows, kernel, bounds, found, budget, grams=grams)
    if sets is None:
        return machines, verified_left_out(machines)
    return machines, groups_left_out(machines, sets)


def _train_targets(
    model: SpanSVR, X: Any, y: Array, tube: Tube, sets: Sequence[Rows] | None, kernel: Kernel
) -> tuple[TrainedRegressions, LeftOutTargets]:
    budget, targets = model.gram_budget, y[:, None]
    gram = gram_of(kernel, X, budget, whole=True)
    found = TubePaths(gram, targets, kernel.definite, kernel.linear).train(
        tube, tol=model.tol, max_iter=model.max_iter
    )
    machines = TrainedRegressions(X, targets, kernel, found, budget=budget)
    if sets is None:
        return machines, leave_out_rows(machines)
    return machines, leave_out_sets(machines, sets)
