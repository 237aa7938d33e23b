"""The estimator of a search, taken apart: an SVC or a SpanSVC, and what is around it.

The transformers and the machine's kernel determine the Gram matrix; the other parameters (``C``
and the weights) determine the model.  Candidates with the same Gram matrix share all costly work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

from sklearn import svm
from sklearn.base import RegressorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC, NuSVC

from ...common.types import Array
from ...estimators.svc import SpanSVC

__all__ = [
    "KNOWN",
    "Parts",
    "Unknown",
    "as_span_svc",
    "find_unknown",
    "fit_transformers",
    "is_absent",
    "is_wrapper",
    "own_methods",
    "rebuilt",
    "resamples",
    "take_apart",
    "transform",
    "unwrap",
]

#: Classes around a machine, besides pipelines, that the engine knows.
_WRAPPERS = (OneVsRestClassifier, CalibratedClassifierCV)

#: What the engine knows, in words.
KNOWN = (
    "a SpanSVC, a sklearn.svm.SVC, one of these in OneVsRestClassifier or CalibratedClassifierCV, "
    "or a Pipeline that ends in one"
)

#: Methods that decide what is trained and predicted; a subclass with its own is another model.
_OWN = ("fit", "predict", "decision_function")

_LINEAR = "SpanSVC(kernel='linear') is accelerated, and needs no Gram matrix for many rows"

#: For estimators that are taken for an SVC, what would be accelerated.
_INSTEAD: Sequence[tuple[type, str]] = (
    (NuSVC, "It bounds multipliers by nu: an SVC, searched over C, is accelerated."),
    (LinearSVC, f"It has squared losses and a penalised intercept. {_LINEAR}; it has no penalty, "
                "loss, dual, multi_class, fit_intercept and intercept_scaling."),
    (SGDClassifier, f"{_LINEAR}."),
    (OneVsOneClassifier, "An SVC is one-vs-one by itself, and accelerated without this class."),
    (RegressorMixin, "Only classification is accelerated."),
)  # fmt: skip


@dataclass(frozen=True)
class Unknown:
    """An estimator that the engine does not know.

    Attributes
    ----------
    name : str
        Its class.
    advice : str
        What is special about it, and what the engine would know; perhaps empty.
    is_mistake : bool
        Whether nothing could train it.
    """

    name: str
    advice: str = ""
    is_mistake: bool = False

    def __str__(self) -> str:
        return f"{self.name}. {self.advice}".strip()


class Parts(NamedTuple):
    """An estimator, taken apart.

    Attributes
    ----------
    steps : list of (str, transformer)
        The transformers, with their paths.
    prefix : str
        What the names of the machine's parameters begin with.
    machine : SVC or SpanSVC
    wrapper : OneVsRestClassifier, CalibratedClassifierCV or None
        What is around the machine besides pipelines.
    outer : str
        What the names of the wrapper's parameters begin with; the prefix if there is none.
    inner : list of (str, transformer)
        Transformers that one-vs-rest fits for each class anew.
    """

    steps: list[tuple[str, Any]]
    prefix: str
    machine: SVC | SpanSVC
    wrapper: Any
    outer: str
    inner: list[tuple[str, Any]]


def is_absent(step: Any) -> bool:
    """Whether a step of a pipeline does nothing."""
    return step is None or (isinstance(step, str) and step == "passthrough")


def is_wrapper(estimator: Any) -> bool:
    """Whether an estimator wraps a machine in a way that the engine knows."""
    return isinstance(estimator, _WRAPPERS)


def unwrap(estimator: Any, *, placeholder: bool = False) -> Parts:
    """Take an estimator apart; TypeError if the engine does not know it.

    With `placeholder` the last step of a pipeline may be missing: the grid has to provide it.
    """
    parts = take_apart(estimator)
    if not (placeholder and is_absent(parts.machine)):
        unknown = _unknown_machine(parts.machine, parts.wrapper)
        if unknown is not None:
            raise TypeError(f"estimator must be {KNOWN}; got {unknown}")
    return parts


def find_unknown(estimator: Any) -> Unknown | None:
    """What the engine does not know about an estimator; None if it can train it."""
    parts = take_apart(estimator)
    return _unknown_machine(parts.machine, parts.wrapper)


def take_apart(estimator: Any) -> Parts:
    """Take any estimator apart, as far as the engine knows what is around its machine."""
    steps: list[tuple[str, Any]] = []
    inner: list[tuple[str, Any]] = []
    prefix, outer, wrapper, machine = "", None, None, estimator
    while isinstance(machine, Pipeline) or (wrapper is None and is_wrapper(machine)):
        if isinstance(machine, Pipeline):
            for name, transformer in machine.steps[:-1]:
                if not is_absent(transformer):
                    own = inner if isinstance(wrapper, OneVsRestClassifier) else steps
                    own.append((prefix + name, transformer))
            name, machine = machine.steps[-1]
            prefix += f"{name}__"
        else:
            wrapper, outer = machine, prefix
            machine, prefix = machine.estimator, f"{prefix}estimator__"
    return Parts(steps, prefix, machine, wrapper, prefix if outer is None else outer, inner)


def _unknown_machine(machine: Any, wrapper: Any) -> Unknown | None:
    name = type(machine).__name__
    if isinstance(machine, (SVC, SpanSVC)):
        own = own_methods(machine, _OWN)
        if not own:
            return None
        base = SVC if isinstance(machine, SVC) else SpanSVC
        return Unknown(
            name,
            f"It has its own {' and '.join(own)}, and the engine trains and predicts as "
            f"{base.__name__} does: a subclass that only sets parameters is accelerated.",
        )
    if is_absent(machine):
        if wrapper is not None:
            return Unknown(f"{type(wrapper).__name__} without an estimator")
        advice = "Its last step is empty, and the grid does not provide one."
        return Unknown(name, advice, is_mistake=True)
    if isinstance(machine, type):
        advice = f"Make an object of it: {machine.__name__}()."
        return Unknown(f"the class {machine.__name__}", advice, is_mistake=True)
    if is_wrapper(machine):
        return Unknown(f"{type(wrapper).__name__} around {name}")
    advice = next((text for kind, text in _INSTEAD if isinstance(machine, kind)), "")
    if not advice and _holds_a_machine(machine):
        advice = "The SVC in it is accelerated where it is searched by itself."
    return Unknown(name, advice, is_mistake=not hasattr(machine, "fit"))


def own_methods(machine: SVC | SpanSVC, names: Sequence[str]) -> list[str]:
    """Those of the methods that a subclass of SVC or SpanSVC defines itself.

    It is asked which class defines a method, not what the method is: experiment trackers put
    others in the place of those of scikit-learn, and scikit-learn-intelex another class in the
    place of SVC, perhaps after this module was imported.
    """
    bases = (SVC, svm.SVC) if isinstance(machine, SVC) else (SpanSVC,)
    kinds = type(machine).__mro__
    definers = {name: next(kind for kind in kinds if name in vars(kind)) for name in names}
    return [
        name for name, kind in definers.items() if not any(issubclass(base, kind) for base in bases)
    ]


def _holds_a_machine(estimator: Any) -> bool:
    """Whether a parameter of an estimator, at any depth, is a machine of the engine."""
    if not hasattr(estimator, "get_params"):
        return False
    return any(isinstance(value, (SVC, SpanSVC)) for value in estimator.get_params().values())


def as_span_svc(machine: SVC | SpanSVC) -> SpanSVC:
    """A SpanSVC with the parameters of the machine.

    They are read from its attributes, as ``fit`` does: a subclass may fix some of them in
    ``__init__``, where ``get_params`` does not see them.
    """
    if isinstance(machine, SpanSVC):
        return machine
    model = SpanSVC()
    for name in [name for name in vars(model) if hasattr(machine, name)]:
        setattr(model, name, getattr(machine, name))
    return model


def rebuilt(estimator: Any, fitted: Mapping[str, Any], model: Any, prefix: str = "") -> Any:
    """A pipeline with fitted steps; `model` takes the place of what is behind the last one."""
    if not isinstance(estimator, Pipeline):
        return model
    result = copy(estimator)
    result.steps = [(name, fitted.get(prefix + name, step)) for name, step in estimator.steps[:-1]]
    name, last = estimator.steps[-1]
    result.steps.append((name, rebuilt(last, fitted, model, f"{prefix}{name}__")))
    return result


def resamples(step: Any) -> bool:
    """Whether a step replaces the training rows by others, as in imbalanced-learn."""
    return hasattr(step, "fit_resample")


def fit_transformers(
    steps: Sequence[tuple[str, Any]], X: Any, y: Array, arguments: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, Any], Any, Array]:
    """Fit copies of the transformers in turn; return them, and the rows and labels they give.

    `arguments` are those of the ``fit`` of some steps, by path.
    """
    fitted = {}
    for path, step in steps:
        transformer, own = clone(step), arguments.get(path, {})
        if resamples(transformer):
            X, y = transformer.fit_resample(X, y, **own)
        elif hasattr(transformer, "fit_transform"):
            X = transformer.fit_transform(X, y, **own)
        else:
            X = transformer.fit(X, y, **own).transform(X)
        fitted[path] = transformer
    return fitted, X, y


def transform(fitted: Mapping[str, Any], X: Any) -> Any:
    """Apply fitted transformers to other rows, which are never resampled."""
    for transformer in fitted.values():
        X = X if resamples(transformer) else transformer.transform(X)
    return X
