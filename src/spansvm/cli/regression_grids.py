"""What ``spansvm tune`` searches for a regression: C, gamma and epsilon around the data's scales.

C bounds how far one row can pull the function, and epsilon is what residuals may be at no cost:
both are in units of the target.  So C is relative to its standard deviation, and epsilon to the
size of the residuals that a first model leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..common.errors import UserError
from ..estimators.svr import SpanSVR
from ..tables import Table
from .grids import (
    C_GAMMA_EPSILON,
    SEARCHES,
    SearchPlan,
    check_kernel,
    plan_from_file,
    scaled_grid,
    start_values,
)

__all__ = ["noise_of", "plan_regression"]

#: Exponents of 2 for epsilon, relative to the size of the residuals.
_EPSILON = (-4, -2, 0)

#: Gamma goes so many steps of 4 further down than for classes: functions are smoother.
_SMOOTHER = 1

#: Rows of the first model, and the least noise that it can find, relative to the target's spread.
_ROWS, _LEAST = 500, 1e-3


def plan_regression(
    search: str | None, table: Table, encoded: Any, *, spread: float, kernel: str | None = None
) -> SearchPlan:
    """What to search.

    Parameters
    ----------
    search : str, optional
        C-gamma-epsilon, the default, or the path of a YAML or JSON file.
    table : Table
    encoded : array or sparse matrix
        Its transformed rows.
    spread : float
        Of these, by :func:`~spansvm.cli.grids.spread_of`: the scale of gamma.
    kernel : {"rbf", "linear", "poly"}, optional
        Default: "rbf".
    """
    check_kernel(kernel)
    if search in SEARCHES and search != C_GAMMA_EPSILON:
        raise UserError(
            f"--search {search} is for classification, and the target of {table.source} is a "
            f"quantity; use --search {C_GAMMA_EPSILON}, a file, or --task classification."
        )
    model = SpanSVR(**start_values(kernel))
    if search is not None and search != C_GAMMA_EPSILON:
        return plan_from_file(search, table, model.set_params(gamma="auto"), kernel)
    targets = np.asarray(table.y, dtype=np.float64)
    unit = 2.0 ** round(np.log2(float(targets.std())))
    noise = 2.0 ** round(np.log2(noise_of(encoded, targets, model)))
    grid = scaled_grid(kernel or "rbf", spread, unit, _SMOOTHER)
    grid["epsilon"] = [noise * 2.0**exponent for exponent in _EPSILON]
    widens = tuple(name for name in ("C", "gamma") if name in grid)
    return SearchPlan(C_GAMMA_EPSILON, model, grid, widens=widens)


def noise_of(encoded: Any, targets: np.ndarray, model: SpanSVR) -> float:
    """The size of the residuals of left-out rows, of a model with usual parameters on some rows.

    1.4826 times the median: the standard deviation, if they are normal; few odd rows do not count.
    """
    rows = np.arange(targets.size)
    if rows.size > _ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(rows.size)[:_ROWS])
    spread = float(targets.std())
    first = SpanSVR(kernel=model.kernel, coef0=model.coef0, C=spread, epsilon=0.1 * spread)
    residuals = np.abs(first.fit(encoded[rows], targets[rows]).loo_residual_)
    return min(max(1.4826 * float(np.median(residuals)), _LEAST * spread), spread)
