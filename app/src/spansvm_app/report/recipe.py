"""The selected model as a recipe: every step with its values, and Python code that rebuilds it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from numbers import Integral, Real
from textwrap import indent
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from spansvm import SpanSVC, SpanSVR

from ..common.wording import listed
from .plain import cut, plain

__all__ = ["LOADED", "Recipe", "Step", "describe_recipe"]

#: Where the rows of the code come from if nothing else is known.
LOADED = "# X, y: the rows and the labels that the search was fitted on"

#: Parameters of the SVM that are described in words, whatever their names, or not at all.
_NOT_LISTED = ("kernel", "degree", "gamma", "coef0", "C", "epsilon", "class_weight", "weighting")

#: The models of this package.
_SVMS = (SpanSVC, SpanSVR)

#: Lines of code no longer than this are not broken.
_WIDTH = 96


@dataclass(frozen=True)
class Step:
    """One step of the model.

    Attributes
    ----------
    name, what : str
        Its name in the pipeline, and its class.
    settings : dict
        Values by name: numbers, texts, a list for a range, a dict for values by class.
    columns : str
        What it is applied to; empty for the SVM, which gets what the steps before it give.
    """

    name: str
    what: str
    settings: dict[str, Any]
    columns: str


@dataclass(frozen=True)
class Recipe:
    """How the selected model is made.

    Attributes
    ----------
    steps : list of Step
        The transformers, in order, and the SVM.
    code : str or None
        A Python program that makes the model again; None if a part of it cannot be written as
        code, such as a function.
    """

    steps: list[Step]
    code: str | None


class _UnwritableError(Exception):
    """A value that cannot be written as code."""


def describe_recipe(
    estimator: Any, machine: SpanSVC | SpanSVR, loading: str | None, arguments: Mapping[str, str]
) -> Recipe:
    """The recipe of a fitted estimator.

    Parameters
    ----------
    estimator : SpanSVC, SpanSVR or Pipeline
    machine : SpanSVC or SpanSVR
        Its last step, or the same trained on more rows.
    loading : str, optional
        Code that defines `X` and `y`.
    arguments : mapping
        Further arguments of ``fit``: code, by name.
    """
    steps = [*_transformers(estimator), _svm(machine)]
    writer = _Writer(_resolved(machine))
    try:
        model = writer.write(estimator)
    except _UnwritableError:
        return Recipe(steps, None)
    given = "".join(f", {name}={value}" for name, value in arguments.items())
    code = f"{writer.imports}\n\n{loading or LOADED}\nmodel = {model}\nmodel.fit(X, y{given})\n"
    return Recipe(steps, code)


def _resolved(machine: SpanSVC | SpanSVR) -> dict[str, Any]:
    """Parameters whose values are known only after training: gamma as a number."""
    kernel = machine.machines_.kernel
    return {"gamma": kernel.gamma} if "gamma" in kernel.parameters else {}


# Steps ----------------------------------------------------------------------------------------


def _transformers(estimator: Any, columns: str = "all columns", name: str = "") -> list[Step]:
    """The transformers of a pipeline; those of a ColumnTransformer with their columns."""
    if isinstance(estimator, Pipeline):
        return [
            step
            for own, part in estimator.steps
            if not isinstance(part, _SVMS)
            for step in _transformers(part, columns, own)
        ]
    if isinstance(estimator, ColumnTransformer):
        return [
            step
            for own, part, selected in estimator.transformers
            for step in _transformers(part, _columns(selected), own)
        ]
    if estimator is None or estimator == "passthrough":
        return [Step(name, "unchanged", {}, columns)]
    if estimator == "drop":
        return [Step(name, "left out", {}, columns)]
    if isinstance(estimator, _SVMS):
        return []
    settings = {key: _setting(value) for key, value in _changed(estimator).items()}
    return [Step(name, type(estimator).__name__, settings, columns)]


def _columns(selected: Any) -> str:
    if isinstance(selected, str) or not isinstance(selected, (Sequence, np.ndarray)):
        return cut(selected)
    return listed([cut(name) for name in selected], 8)


def _svm(machine: SpanSVC | SpanSVR) -> Step:
    kernel = machine.machines_.kernel
    settings: dict[str, Any] = {"kernel": cut(getattr(kernel.name, "__name__", kernel.name))}
    settings |= {name: plain(getattr(kernel, name)) for name in kernel.parameters}
    settings["C"] = plain(machine.C)
    if isinstance(machine, SpanSVR):
        settings["epsilon"] = plain(machine.epsilon)
    if np.unique(machine.machines_.bounds).size > 1 or machine.weighting is not None:
        settings |= _weights(machine)
    settings["tolerance"] = plain(machine.tol)
    defaults = _defaults(type(machine))
    for name, value in machine.get_params(deep=False).items():
        if name not in (*_NOT_LISTED, "tol") and value != defaults[name]:
            settings[name] = plain(value)
    if isinstance(machine, SpanSVR):
        return Step("svm", "support vector regression", settings, "")
    if machine.classes_.size > 2:
        settings["classes"] = f"{machine.classes_.size}, one machine for each pair"
    return Step("svm", "support vector machine", settings, "")


def _weights(machine: SpanSVC | SpanSVR) -> dict[str, Any]:
    """The weights of classes and rows."""
    settings: dict[str, Any] = {}
    if isinstance(machine, SpanSVC) and machine.class_weight is not None:
        settings["class weights"] = {
            cut(label): float(weight)
            for label, weight in zip(machine.classes_, machine.class_weight_, strict=True)
        }
    if machine.weighting is not None:
        kind = {"kind": type(machine.weighting).__name__}
        settings["weighting"] = kind | plain(machine.weighting.get_params())
    bounds = machine.machines_.bounds
    if isinstance(machine, SpanSVR):
        return {**settings, "C of the rows": _range(bounds)}
    own = machine.machines_.indices
    settings["C by class"] = {
        cut(label): _range(bounds[own == index]) for index, label in enumerate(machine.classes_)
    }
    return settings


def _range(values: np.ndarray) -> Any:
    low, high = float(values.min()), float(values.max())
    return low if low == high else [low, high]


def _setting(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and any(isinstance(one, np.ndarray) for one in value):
        return f"given for {len(value)} {'column' if len(value) == 1 else 'columns'}"
    return plain(value)


# Code -----------------------------------------------------------------------------------------


class _Writer:
    """Writes estimators and their parameters as code, and remembers what must be imported."""

    def __init__(self, resolved: Mapping[str, Any]) -> None:
        self._numpy, self._modules = False, defaultdict[str, set[str]](set)
        self._resolved = resolved

    @property
    def imports(self) -> str:
        """The imports that the code needs."""
        lines = [
            f"from {module} import {', '.join(sorted(names))}"
            for module, names in sorted(self._modules.items())
        ]
        return "\n".join(["import numpy as np", *lines] if self._numpy else lines)

    def write(self, value: Any) -> str:
        """The value as an expression."""
        if value is None or isinstance(value, (bool, str)):
            return repr(value)
        if isinstance(value, np.bool_):
            return repr(bool(value))
        if isinstance(value, Integral):
            return repr(int(value))
        if isinstance(value, Real):
            return repr(float(value)) if math.isfinite(value) else f'float("{float(value)}")'
        if isinstance(value, np.ndarray):
            self._numpy = True
            kind = f", dtype={'object' if value.dtype == object else repr(value.dtype.str)}"
            return f"np.array({self.write(value.tolist())}{kind})"
        if isinstance(value, (list, tuple)):
            marks = "[]" if isinstance(value, list) else "()"
            last = "," if isinstance(value, tuple) and len(value) == 1 else ""
            return self._joined(marks[0], [self.write(one) for one in value], last + marks[1])
        if isinstance(value, dict):
            parts = [f"{self.write(key)}: {self.write(one)}" for key, one in value.items()]
            return self._joined("{", parts, "}")
        if isinstance(value, type) and value.__module__ == "numpy":
            self._numpy = True
            return f"np.{value.__name__}"
        if isinstance(value, BaseEstimator) or hasattr(value, "get_params"):
            return self._estimator(value)
        raise _UnwritableError

    def _estimator(self, estimator: Any) -> str:
        kind = type(estimator)
        self._modules[_module_of(kind)].add(kind.__name__)
        given = _changed(estimator)
        if isinstance(estimator, _SVMS):
            given.update(self._resolved)
        # The only argument without a default comes first, and needs no name.
        required = [name for name, default in _defaults(kind).items() if default is _REQUIRED]
        parts = [
            self.write(value) if name in required else f"{name}={self.write(value)}"
            for name, value in given.items()
        ]
        return self._joined(f"{kind.__name__}(", parts, ")")

    def _joined(self, start: str, parts: Sequence[str], end: str) -> str:
        line = f"{start}{', '.join(parts)}{end}"
        if len(line) <= _WIDTH - 8 and "\n" not in line:
            return line
        inner = indent(",\n".join(parts) + ",", "    ")
        return f"{start}\n{inner}\n{end.lstrip(',')}"


#: The default of an argument that has none.
_REQUIRED = object()


def _module_of(kind: type) -> str:
    """The shortest module that a class can be imported from."""
    parts = kind.__module__.split(".")
    for end in range(1, len(parts) + 1):
        module = ".".join(parts[:end])
        if module != "__main__" and getattr(import_module(module), kind.__name__, None) is kind:
            return module
    raise _UnwritableError


def _defaults(kind: Callable[..., Any]) -> dict[str, Any]:
    """The parameters of a class, in order, with their defaults."""
    parameters = signature(kind).parameters.values()
    return {one.name: _REQUIRED if one.default is one.empty else one.default for one in parameters}


def _changed(estimator: Any) -> dict[str, Any]:
    """Parameters that differ from their defaults, in the order of the constructor."""
    values = estimator.get_params(deep=False)
    return {
        name: values[name]
        for name, default in _defaults(type(estimator)).items()
        if name in values and not _equal(values[name], default)
    }


def _equal(value: Any, default: Any) -> bool:
    if value is default:
        return True
    simple = isinstance(value, (str, Real, tuple))
    return simple and type(value) is type(default) and bool(value == default)
