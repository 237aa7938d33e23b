"""The candidates of a fitted search, as its public attributes tell them, whatever its class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["evaluated"]


def evaluated(search: Any) -> tuple[Mapping[str, Any], int | None]:
    """``cv_results_`` and ``best_index_`` of the candidates that were evaluated.

    All of them, unless the search was stopped; no index if none is selected.
    """
    results, best = search.cv_results_, getattr(search, "best_index_", None)
    best = None if best is None else int(best)
    n_candidates = len(results["params"])
    # Other searches, whose table may have no times, evaluate all.
    rows = np.flatnonzero(~np.isnan(results.get("mean_fit_time", np.zeros(n_candidates))))
    if rows.size == n_candidates:
        return results, best
    found = {name: column[rows] for name, column in results.items() if name != "params"}
    found["params"] = [results["params"][row] for row in rows]
    return found, None if best is None else int(np.searchsorted(rows, best))
