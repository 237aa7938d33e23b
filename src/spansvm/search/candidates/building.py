"""Candidates of a search as estimators, and which of them share transformers and Gram matrix."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.utils import get_tags

from ...kernels.functions import kernel_arguments
from .composite import Parts, as_span_machine, take_apart, unwrap

__all__ = [
    "Candidates",
    "candidate_estimator",
    "content_key",
    "machine_settings",
    "setting_keys",
    "step_settings",
]

#: Parameters of the machine that do not affect the Gram matrix.  If one were missing here, matrices
#: would be computed more often than necessary.
_FREE = frozenset(
    (
        "C", "epsilon", "class_weight", "weighting", "tol", "max_iter", "decision_function_shape",
        "break_ties", "shrinking", "cache_size", "probability", "random_state", "verbose",
    )
)  # fmt: skip


#: Parameters of the kernel that are numbers.
_OF_KERNEL = ("gamma", "degree", "coef0")


class Candidates:
    """The estimators of candidates, one after the other.

    Most differ only in parameters of the machine (``C``, weights, ``gamma``), and there are many of
    them: these parameters are set without the overhead of ``set_params``, on the machine alone.

    Attributes
    ----------
    estimator : estimator
        That of the latest candidate.
    machine : SpanSVC
        With the parameters of its machine.
    agrees : bool
        Whether the probabilities of its machine agree with its labels, if there are two classes:
        those of a SpanSVC do, those of an SVC need not.
    """

    def __init__(self, estimator: Any) -> None:
        self._given = estimator
        self._before: Mapping[str, Any] | None = None

    def build(self, params: Mapping[str, Any]) -> None:
        """Turn to a candidate, and check the parameters of its machine."""
        self._turn_to(params)
        self.machine.check_parameters()

    def keys(self, params: Mapping[str, Any]) -> tuple[str, str]:
        """A key of the transformers of a candidate and a key of its kernel."""
        self._turn_to(params)
        return self._of_steps, content_key(list(kernel_arguments(self.machine).values()))

    def _turn_to(self, params: Mapping[str, Any]) -> None:
        if not self._is_neighbour(params):
            self._before = None
            self.estimator = candidate_estimator(self._given, params)
            parts = unwrap(self.estimator)
            self._prefix, self.machine = parts.prefix, as_span_machine(parts.machine)
            self.agrees = parts.machine is self.machine
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
        parts = unwrap(self.estimator)
        around = [parts.steps, parts.inner, _around(parts.wrapper)]
        return content_key([*around, get_tags(self.estimator).input_tags.pairwise])

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
            # A copy: candidates that wait for their training have the one before.
            own = copy(getattr(self.machine, name))
            setattr(own, inner, value)
            setattr(self.machine, name, own)
        else:
            setattr(self.machine, name, value)


def _around(wrapper: Any) -> Any:
    """What a wrapper does to rows and targets; most leave them as they are."""
    if not isinstance(wrapper, TransformedTargetRegressor):
        return type(wrapper).__name__
    own = wrapper.get_params(deep=False)
    return {name: value for name, value in own.items() if name != "regressor"}


def candidate_estimator(estimator: Any, params: Mapping[str, Any]) -> Any:
    """A copy of the estimator with copies of the candidate's parameters."""
    copies = {name: clone(value, safe=False) for name, value in params.items()}
    return clone(estimator).set_params(**copies)


def setting_keys(
    estimator: Any, candidates: Sequence[Mapping[str, Any]], builder: Candidates | None = None
) -> list[tuple[str, str]]:
    """For each candidate, a key of its transformers and a key of its kernel.

    If both are equal, so is the Gram matrix.  The keys are read from the candidate's estimator, as
    a candidate may replace any part of the given one.  An unknown parameter raises here, before
    anything is trained.  A `builder` of such estimators may be given, for further use.
    """
    prefix = unwrap(estimator, placeholder=True).prefix
    known: dict[Any, tuple[str, str]] = {}
    checked: set[frozenset[str]] = set()
    result, built = [], Candidates(estimator) if builder is None else builder
    for params in candidates:
        names = frozenset(params)
        # The other parameters are known not to affect the Gram matrix.
        part = [name for name in params if not _is_free(prefix, name)]
        short = tuple(sorted((name, _short(params[name])) for name in part))
        if short not in known or names not in checked:
            known[short] = built.keys(params)
            checked.add(names)
        result.append(known[short])
    return result


def step_settings(estimator: Any, candidates: Sequence[Mapping[str, Any]]) -> list[Parts]:
    """The estimator taken apart, once for every setting of its transformers."""
    given = unwrap(estimator, placeholder=True)
    names = set().union(*candidates)
    # What takes the place of the machine, or of what is around it, may have steps of its own.
    replaced = any(given.prefix.startswith(f"{name}__") for name in names)
    of_steps = {
        name
        for name in names
        if not name.startswith(given.prefix) or (replaced and not _is_free(given.prefix, name))
    }
    if not of_steps:
        return [given]
    settings: dict[Any, dict[str, Any]] = {}
    for params in candidates:
        own = {name: params[name] for name in sorted(of_steps & params.keys())}
        settings.setdefault(tuple((name, _short(own[name])) for name in own), own)
    return [unwrap(candidate_estimator(estimator, own)) for own in settings.values()]


def machine_settings(estimator: Any, candidates: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The estimator, once for every machine that candidates put into it."""
    prefix = take_apart(estimator).prefix
    replacing = {
        name
        for name in set().union(*candidates)
        if prefix.startswith(f"{name}__") or name.split("__")[-1] == "steps"
    }
    if not replacing:
        return [estimator]
    settings: dict[Any, dict[str, Any]] = {}
    for params in candidates:
        own = {name: params[name] for name in sorted(replacing & params.keys())}
        settings.setdefault(tuple((name, id(value)) for name, value in own.items()), own)
    return [candidate_estimator(estimator, own) for own in settings.values()]


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


def content_key(thing: Any) -> str:
    """Equal for equal things; objects that cannot be pickled are equal to nothing."""
    try:
        return str(joblib.hash(thing))
    except Exception:
        return uuid.uuid4().hex
