"""The arguments of a search's ``fit`` besides the data, sorted by recipient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import process_routing

from ...common.validation import n_rows
from .composite import is_absent, is_wrapper, name_inside, resamples, unwrap

__all__ = [
    "FitParams",
    "fit_params",
    "has_rows",
    "refit_arguments",
    "routed_fit_params",
    "take_rows",
]


@dataclass(frozen=True)
class FitParams:
    """The arguments of ``fit`` besides the data, by recipient.

    Attributes
    ----------
    sample_weight, scores : array-like or None
        For the machine.
    steps : dict
        Maps the path of a transformer (``"scale"``, ``"inner__scale"``) to the keyword arguments
        of its ``fit_transform``.
    """

    sample_weight: Any = None
    scores: Any = None
    steps: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def take(self, rows: np.ndarray, n: int) -> FitParams:
        """The arguments restricted to some of the `n` rows."""

        def part(value: Any) -> Any:
            return take_rows(value, rows) if has_rows(value, n) else value

        return FitParams(
            part(self.sample_weight),
            part(self.scores),
            {
                path: {name: part(value) for name, value in params.items()}
                for path, params in self.steps.items()
            },
        )


def has_rows(value: Any, n: int) -> bool:
    """Whether a value has one entry for each of `n` rows."""
    return (hasattr(value, "shape") or hasattr(value, "__len__")) and (
        not np.isscalar(value) and np.ndim(value) > 0 and n_rows(value) == n
    )


def take_rows(values: Any, rows: np.ndarray) -> Any:
    """Some rows of an array, a sparse matrix, a data frame or a list."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if sparse.issparse(values):
        return values.tocsr()[rows]
    if hasattr(values, "shape"):
        return values[rows]
    return [values[row] for row in rows]


def fit_params(
    estimator: Any, sample_weight: Any, scores: Any, others: Mapping[str, Any]
) -> FitParams:
    """Sort the arguments of ``fit`` without metadata routing: by prefix, as Pipeline does."""
    parts = unwrap(estimator, placeholder=True)
    paths = [path for path, _ in parts.steps]
    machine = {"sample_weight": sample_weight, "scores": scores}
    for_steps: dict[str, dict[str, Any]] = {}
    for name, value in others.items():
        path, _, own = name.rpartition("__")
        if own in machine and parts.outer and name == parts.outer + own:
            if machine[own] is not None:
                raise TypeError(f"fit got {own} twice, as {own} and as {name}.")
            machine[own] = value
        elif path in paths:
            for_steps.setdefault(path, {})[own] = value
        else:
            raise TypeError(f"fit got an unexpected argument {name!r}.")
    given = [name for name, value in machine.items() if value is not None]
    if given and isinstance(parts.wrapper, OneVsRestClassifier):
        raise TypeError(
            f"OneVsRestClassifier passes {given[0]} on only if metadata routing is enabled: see "
            "sklearn.set_config(enable_metadata_routing=True)."
        )
    return FitParams(machine["sample_weight"], machine["scores"], for_steps)


def routed_fit_params(estimator: Any, params: Mapping[str, Any]) -> FitParams:
    """Sort the arguments of ``fit`` with metadata routing: by request."""
    if not params:
        return FitParams()
    for_steps: dict[str, Mapping[str, Any]] = {}
    prefix = ""
    while params and (isinstance(estimator, Pipeline) or is_wrapper(estimator)):
        routed = process_routing(estimator, "fit", **params)
        if is_wrapper(estimator):
            name = name_inside(estimator)
            params, estimator = routed[name].fit, getattr(estimator, name)
            prefix += f"{name}__"
            continue
        for name, transformer in estimator.steps[:-1]:
            if resamples(transformer):
                for_steps[prefix + name] = routed[name].fit_resample
            elif not is_absent(transformer):
                for_steps[prefix + name] = routed[name].fit_transform
        name, estimator = estimator.steps[-1]
        params = routed[name].fit
        prefix += f"{name}__"
    return FitParams(params.get("sample_weight"), params.get("scores"), for_steps)


def refit_arguments(estimator: Any, params: FitParams) -> dict[str, Any]:
    """The keyword arguments of the estimator's own ``fit``, without metadata routing."""
    outer = unwrap(estimator, placeholder=True).outer
    arguments = {
        f"{path}__{name}": value
        for path, values in params.steps.items()
        for name, value in values.items()
    }
    for name in ("sample_weight", "scores"):
        if getattr(params, name) is not None:
            arguments[outer + name] = getattr(params, name)
    return arguments
