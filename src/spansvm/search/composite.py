"""The estimator of a search (an SVC, a SpanSVC, or a pipeline around one), taken apart.

The transformers and the machine's kernel determine the Gram matrix; the other parameters (``C``
and the weights) determine the model.  Candidates with the same Gram matrix share all costly work.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import process_routing

from .._typing import Array
from .._validation import n_rows
from ..kernels import kernel_arguments
from ..svc import SpanSVC

__all__ = [
    "Candidates",
    "FitParams",
    "as_span_svc",
    "candidate_estimator",
    "fit_params",
    "fit_transformers",
    "has_rows",
    "refit_arguments",
    "routed_fit_params",
    "setting_keys",
    "take_rows",
    "transform",
    "unwrap",
]

#: Parameters of the machine that do not affect the Gram matrix.  If one were missing here, matrices
#: would be computed more often than necessary.
_FREE = frozenset(
    (
        "C", "class_weight", "weighting", "tol", "max_iter", "decision_function_shape",
        "break_ties", "shrinking", "cache_size", "probability", "random_state", "verbose",
    )
)  # fmt: skip


#: Parameters of the kernel that are numbers.
_OF_KERNEL = ("gamma", "degree", "coef0")


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


def unwrap(estimator: Any) -> tuple[list[tuple[str, Any]], str, SVC | SpanSVC]:
    """The transformers with their paths, the prefix of the machine's parameters, the machine."""
    steps = []
    prefix = ""
    machine = estimator
    while isinstance(machine, Pipeline):
        for name, transformer in machine.steps[:-1]:
            if transformer is not None and transformer != "passthrough":
                steps.append((prefix + name, transformer))
        name, machine = machine.steps[-1]
        prefix += f"{name}__"
    if not isinstance(machine, (SVC, SpanSVC)):
        raise TypeError(
            "estimator must be a SpanSVC, a sklearn.svm.SVC, or a Pipeline that ends in one; "
            f"got {type(machine).__name__}."
        )
    return steps, prefix, machine


def as_span_svc(machine: SVC | SpanSVC) -> SpanSVC:
    """A SpanSVC with the parameters of the machine."""
    if not isinstance(machine, SpanSVC):
        given = machine.get_params(deep=False)
        shared = SpanSVC().get_params(deep=False).keys() & given.keys()
        machine = SpanSVC(**{name: given[name] for name in shared})
    return machine


class Candidates:
    """The estimators of candidates, one after the other.

    Most differ only in parameters of the machine (``C``, weights, ``gamma``), and there are many of
    them: these parameters are set without the overhead of ``set_params``, on the machine alone.
    """

    def __init__(self, estimator: Any) -> None:
        self._given = estimator
        self._before: Mapping[str, Any] | None = None

    def build(self, params: Mapping[str, Any]) -> tuple[Any, SpanSVC]:
        """The estimator of a candidate, and its machine as a SpanSVC."""
        self._turn_to(params)
        self.machine.check_parameters()
        return self.estimator, self.machine

    def keys(self, params: Mapping[str, Any]) -> tuple[str, str]:
        """A key of the transformers of a candidate and a key of its kernel."""
        self._turn_to(params)
        return self._of_steps, _hash(list(kernel_arguments(self.machine).values()))

    def _turn_to(self, params: Mapping[str, Any]) -> None:
        if not self._is_neighbour(params):
            self._before = None
            self.estimator = candidate_estimator(self._given, params)
            _, self._prefix, machine = unwrap(self.estimator)
            self.machine = as_span_svc(machine)
            vars(self).pop("_of_steps", None)
        else:
            for name in sorted(params):
                if _is_free(self._prefix, name) or self._is_of_kernel(name, params[name]):
                    value = params[name]
                    value = value if _is_number(value) else clone(value, safe=False)
                    self._set(name[len(self._prefix) :], value)
        self._before = params

    @cached_property
    def _of_steps(self) -> str:
        steps, _, _ = unwrap(self.estimator)
        return _hash([steps, get_tags(self.estimator).input_tags.pairwise])

    def _is_neighbour(self, params: Mapping[str, Any]) -> bool:
        before = self._before
        return before is not None and params.keys() == before.keys() and all(
            params[name] is before[name]
            or self._is_of_kernel(name, params[name], before[name])
            or (
                _is_free(self._prefix, name)
                and name.count("__") <= self._prefix.count("__") + 1
            )
            for name in params
        )  # fmt: skip

    def _is_of_kernel(self, name: str, *values: Any) -> bool:
        """Whether these are numbers that the kernel of the machine depends on."""
        of_machine = name.startswith(self._prefix) and name[len(self._prefix) :] in _OF_KERNEL
        return of_machine and all(map(_is_number, values))

    def _set(self, name: str, value: Any) -> None:
        name, _, inner = name.partition("__")
        if inner:
            setattr(getattr(self.machine, name), inner, value)
        elif hasattr(self.machine, name):  # otherwise only LibSVM has it
            setattr(self.machine, name, value)


def candidate_estimator(estimator: Any, params: Mapping[str, Any]) -> Any:
    """A copy of the estimator with copies of the candidate's parameters."""
    copies = {name: clone(value, safe=False) for name, value in params.items()}
    return clone(estimator).set_params(**copies)


def setting_keys(estimator: Any, candidates: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """For each candidate, a key of its transformers and a key of its kernel.

    If both are equal, so is the Gram matrix.  The keys are read from the candidate's estimator, as
    a candidate may replace any part of the given one.  An unknown parameter raises here, before
    anything is trained.
    """
    _, prefix, _ = unwrap(estimator)
    known: dict[Any, tuple[str, str]] = {}
    checked: set[frozenset[str]] = set()
    result, built = [], Candidates(estimator)
    for params in candidates:
        names = frozenset(params)
        if names not in checked:
            candidate_estimator(estimator, params)
            checked.add(names)
        # The other parameters are known not to affect the Gram matrix.
        part = {name: value for name, value in params.items() if not _is_free(prefix, name)}
        short = tuple(sorted((name, _short(value)) for name, value in part.items()))
        if short not in known:
            known[short] = built.keys(part)
        result.append(known[short])
    return result


def _is_number(value: Any) -> bool:
    return type(value) in (int, float, np.float64, np.int64)


def _short(value: Any) -> str:
    """A key of a value: equal for equal values, and quickly computed for numbers and names."""
    if _is_number(value) or type(value) in (bool, str):
        return f"{type(value).__name__} {value!r}"
    try:
        return str(joblib.hash(value))
    except Exception:  # objects that cannot be pickled are equal only to themselves
        return f"object {id(value)}"


def _is_free(prefix: str, name: str) -> bool:
    return name.startswith(prefix) and name[len(prefix) :].split("__")[0] in _FREE


def _keys_of(estimator: Any) -> tuple[str, str]:
    steps, _, machine = unwrap(estimator)
    before = _hash([steps, get_tags(estimator).input_tags.pairwise])
    return before, _hash(list(kernel_arguments(machine).values()))


def _hash(thing: Any) -> str:
    """Equal for equal things; objects that cannot be pickled are equal to nothing."""
    try:
        return str(joblib.hash(thing))
    except Exception:
        return uuid.uuid4().hex


def fit_params(
    estimator: Any, sample_weight: Any, scores: Any, others: Mapping[str, Any]
) -> FitParams:
    """Sort the arguments of ``fit`` without metadata routing: by prefix, as Pipeline does."""
    steps, prefix, _ = unwrap(estimator)
    paths = [path for path, _ in steps]
    machine = {"sample_weight": sample_weight, "scores": scores}
    for_steps: dict[str, dict[str, Any]] = {}
    for name, value in others.items():
        path, _, own = name.rpartition("__")
        if own in machine and prefix and name == prefix + own:
            if machine[own] is not None:
                raise TypeError(f"fit got {own} twice, as {own} and as {name}.")
            machine[own] = value
        elif path in paths:
            for_steps.setdefault(path, {})[own] = value
        else:
            raise TypeError(f"fit got an unexpected argument {name!r}.")
    return FitParams(machine["sample_weight"], machine["scores"], for_steps)


def routed_fit_params(estimator: Any, params: Mapping[str, Any]) -> FitParams:
    """Sort the arguments of ``fit`` with metadata routing: by request."""
    if not params:
        return FitParams()
    for_steps: dict[str, Mapping[str, Any]] = {}
    prefix = ""
    while isinstance(estimator, Pipeline) and params:
        routed = process_routing(estimator, "fit", **params)
        for name, transformer in estimator.steps[:-1]:
            if transformer is not None and transformer != "passthrough":
                for_steps[prefix + name] = routed[name].fit_transform
        name, estimator = estimator.steps[-1]
        params = routed[name].fit
        prefix += f"{name}__"
    return FitParams(params.get("sample_weight"), params.get("scores"), for_steps)


def refit_arguments(estimator: Any, params: FitParams) -> dict[str, Any]:
    """The keyword arguments of the estimator's own ``fit``, without metadata routing."""
    _, prefix, _ = unwrap(estimator)
    arguments = {
        f"{path}__{name}": value
        for path, values in params.steps.items()
        for name, value in values.items()
    }
    for name in ("sample_weight", "scores"):
        if getattr(params, name) is not None:
            arguments[prefix + name] = getattr(params, name)
    return arguments


def fit_transformers(
    steps: Sequence[tuple[str, Any]], X: Any, y: Array, params: FitParams
) -> tuple[list[Any], Any]:
    """Fit copies of the transformers in turn; return them and the transformed `X`."""
    fitted = []
    for path, step in steps:
        transformer = clone(step)
        arguments = params.steps.get(path, {})
        if hasattr(transformer, "fit_transform"):
            X = transformer.fit_transform(X, y, **arguments)
        else:
            X = transformer.fit(X, y, **arguments).transform(X)
        fitted.append(transformer)
    return fitted, X


def transform(fitted: Sequence[Any], X: Any) -> Any:
    """Apply fitted transformers to other rows."""
    for transformer in fitted:
        X = transformer.transform(X)
    return X
