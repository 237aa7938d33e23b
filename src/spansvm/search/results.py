"""The table of a search, as GridSearchCV lays it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..qp import Array
from .evaluation import Outcome

__all__ = ["results_table"]


def results_table(
    candidates: Sequence[Mapping[str, Any]],
    outcomes: Sequence[Outcome],
    names: Sequence[str],
    n_splits: int,
    error_score: float,
) -> dict[str, Any]:
    """``cv_results_`` of a search, one row a candidate.

    Parameters
    ----------
    candidates, outcomes
        Parameters, and what came of them.
    names : sequence of str
        The scores; ``["score"]`` if there is one.
    n_splits : int
    error_score : float
        Score of candidates that failed.
    """
    table: dict[str, Any] = {}
    for kind in ("fit", "score"):
        times = [getattr(outcome, f"{kind}_time") for outcome in outcomes]
        table[f"mean_{kind}_time"] = np.array(times)
        table[f"std_{kind}_time"] = np.zeros(len(times))
    for name in sorted(set().union(*candidates)):
        table[f"param_{name}"] = _parameter_column(name, candidates)
    table["params"] = [dict(params) for params in candidates]
    for name in names:
        failed = [error_score] * n_splits
        splits = np.array([outcome.scores.get(name, failed) for outcome in outcomes], dtype=float)
        for k in range(n_splits):
            table[f"split{k}_test_{name}"] = splits[:, k]
        mean = splits.mean(axis=1)
        table[f"mean_test_{name}"] = mean
        table[f"std_test_{name}"] = splits.std(axis=1)
        table[f"rank_test_{name}"] = _ranks(mean)
    table["loo_error"] = np.array([outcome.loo_error for outcome in outcomes])
    table["loo_hinge"] = np.array([outcome.hinge for outcome in outcomes])
    for name in ("n_in_bound", "n_bounded", "n_empty"):
        table[name] = np.array([getattr(outcome, name) for outcome in outcomes])
    table["converged"] = np.array([outcome.converged for outcome in outcomes])
    return table


def _parameter_column(name: str, candidates: Sequence[Mapping[str, Any]]) -> np.ma.MaskedArray:
    """Values of a parameter; masked where a candidate does not have it, as in GridSearchCV."""
    values = [params[name] for params in candidates if name in params]
    kinds = {type(value) for value in values}
    dtype: Any = object
    if len(kinds) == 1 and np.result_type(np.asarray(values[0])).kind in "bif":
        array = np.asarray(values)
        dtype = array.dtype if array.ndim == 1 else object
    column = np.ma.MaskedArray(np.empty(len(candidates), dtype=dtype), mask=True)
    for i, params in enumerate(candidates):
        if name in params:
            column[i] = params[name]
    return column


def _ranks(scores: Array) -> np.ndarray:
    """1 for the best; equal scores share a rank, and those that failed the last."""
    if np.isnan(scores).all():
        return np.ones(scores.size, dtype=np.int32)
    filled = np.where(np.isnan(scores), np.nanmin(scores) - 1.0, scores)
    return rankdata(-filled, method="min").astype(np.int32)
