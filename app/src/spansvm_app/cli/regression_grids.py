"""What ``spansvm tune`` searches for a regression: C, gamma, epsilon around the data's scales."""

from __future__ import annotations

from typing import Any

import numpy as np

from spansvm import SpanSVR
from spansvm.blocks import noise_of, start_values
from spansvm.errors import UserError

from ..tables import Table
from .grids import C_GAMMA_EPSILON, SEARCHES, SearchPlan, check_kernel, plan_from_file
from .scaled_grids import SMOOTHER, epsilons, scaled_grid

__all__ = ["plan_regression"]


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
        Of these: the scale of gamma.
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
    grid = scaled_grid(kernel or "rbf", spread, unit, SMOOTHER)
    grid["epsilon"] = epsilons(noise_of(encoded, targets, model))
    widens = tuple(name for name in ("C", "gamma") if name in grid)
    return SearchPlan(C_GAMMA_EPSILON, model, grid, widens=widens)
