"""The estimator of a search, taken apart: an SVC, an SVR or one of ours, and what is around it.

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
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR
from sklearn.utils.multiclass import is_multilabel

from ...common.types import Array
from ...common.validation import check_sparse
from ...estimators.svc import SpanSVC
from ...estimators.svr import SpanSVR

__all__ = [
    "KNOWN",
    "Machine",
    "Parts",
    "Unknown",
    "as_span_machine",
    "find_unknown",
    "fit_transformers",
    "is_absent",
    "is_regression",
    "is_wrapper",
    "name_inside",
    "own_methods",
    "rebuilt",
    "resamples",
    "take_apart",
    "takes_several_labels",
    "transform",
    "unwrap",
]

#: Machines that candidates are trained as.
Machine = SpanSVC | SpanSVR

#: Machines that the engine knows, and classes around them, besides pipelines: of either task.
_CLASSIFIERS, _REGRESSORS = (SVC, SpanSVC), (SVR, SpanSVR)
_AROUND_CLASSIFIERS = (OneVsRestClassifier, CalibratedClassifierCV, MultiOutputClassifier)
_AROUND_REGRESSORS = (TransformedTargetRegressor, MultiOutputRegressor)

#: Those of them that fit a copy of what they wrap for each class, label or target.
_FOR_EACH = (OneVsRestClassifier, MultiOutputClassifier, MultiOutputRegressor)

#: What the engine knows, in words.
KNOWN = (
    "SVC, SVR, SpanSVC and SpanSVR, these in OneVsRestClassifier, MultiOutputClassifier, "
    "CalibratedClassifierCV, TransformedTargetRegressor or MultiOutputRegressor, and a Pipeline "
    "that ends in one"
)

#: Methods that decide what is trained and predicted; a subclass with its own is another model.
_OWN = ("fit", "predict", "decision_function")

_LINEAR = "SpanSVC(kernel='linear') is accelerated, and needs no Gram matrix for many rows"

_LINEAR_REGRESSION = "SpanSVR(kernel='linear') is accelerated"

#: For estimators that are taken for an SVC or an SVR, what would be accelerated.
_INSTEAD: Sequence[tuple[type, str]] = (
    (NuSVC, "It bounds multipliers by nu: an SVC, searched over C, is accelerated."),
    (LinearSVC, f"It has squared losses and a penalised intercept. {_LINEAR}; it has no penalty, "
                "loss, dual, multi_class, fit_intercept and intercept_scaling."),
    (SGDClassifier, f"{_LINEAR}."),
    (OneVsOneClassifier, "An SVC is one-vs-one by itself, and accelerated without this class."),
    (NuSVR, "It chooses the width of the tube by nu: an SVR, searched over epsilon, is "
            "accelerated."),
    (LinearSVR, f"It has a penalised intercept. {_LINEAR_REGRESSION}; it has no loss, dual, "
                "fit_intercept and intercept_scaling."),
    (SGDRegressor, f"{_LINEAR_REGRESSION}."),
    (RegressorMixin, "Of regressors, an SVR is accelerated."),
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
    machine : SVC, SpanSVC, SVR or SpanSVR
    wrapper : OneVsRestClassifier, TransformedTargetRegressor, ... or None
        What is around the machine besides pipelines.
    outer : str
        What the names of the wrapper's parameters begin with; the prefix if there is none.
    inner : list of (str, transformer)
        Transformers that one-vs-rest fits for each class anew, and a classifier of several outputs
        for each of these.
    """

    steps: list[tuple[str, Any]]
    prefix: str
    machine: Any
    wrapper: Any
    outer: str
    inner: list[tuple[str, Any]]


def is_absent(step: Any) -> bool:
    """Whether a step of a pipeline does nothing."""
    return step is None or (isinstance(step, str) and step == "passthrough")


def is_wrapper(estimator: Any) -> bool:
    """Whether an estimator wraps a machine in a way that the engine knows."""
    return isinstance(estimator, (*_AROUND_CLASSIFIERS, *_AROUND_REGRESSORS))


def is_regression(estimator: Any) -> bool:
    """Whether the machine of an estimator is that of a regression."""
    return isinstance(take_apart(estimator).machine, _REGRESSORS)


def takes_several_labels(estimator: Any, y: Any) -> bool:
    """Whether an estimator is given, or needs, several labels per row."""
    wrapper = take_apart(estimator).wrapper
    if isinstance(wrapper, OneVsRestClassifier):
        return bool(is_multilabel(y))
    return isinstance(wrapper, MultiOutputClassifier)


def name_inside(wrapper: Any) -> str:
    """The parameter of a wrapper that holds the machine."""
    return "regressor" if isinstance(wrapper, TransformedTargetRegressor) else "estimator"


def unwrap(estimator: Any, *, placeholder: bool = False) -> Parts:
    """Take an estimator apart; TypeError if the engine does not know it.

    With `placeholder` the last step of a pipeline may be missing: the grid has to provide it.
    """
    parts = take_apart(estimator)
    if not (placeholder and is_absent(parts.machine)):
        unknown = _unknown_machine(parts)
        if unknown is not None:
            raise TypeError(f"estimator must be {KNOWN}; got {unknown}")
    return parts


def find_unknown(estimator: Any) -> Unknown | None:
    """What the engine does not know about an estimator; None if it can train it."""
    return _unknown_machine(take_apart(estimator))


def take_apart(estimator: Any) -> Parts:
    """Take any estimator apart, as far as the engine knows what is around its machine."""
    steps: list[tuple[str, Any]] = []
    inner: list[tuple[str, Any]] = []
    prefix, outer, wrapper, machine = "", None, None, estimator
    while isinstance(machine, Pipeline) or (wrapper is None and is_wrapper(machine)):
        if isinstance(machine, Pipeline):
            for name, transformer in machine.steps[:-1]:
                if not is_absent(transformer):
                    own = inner if isinstance(wrapper, _FOR_EACH) else steps
                    own.append((prefix + name, transformer))
            name, machine = machine.steps[-1]
            prefix += f"{name}__"
        else:
            wrapper, outer = machine, prefix
            name = name_inside(machine)
            machine, prefix = getattr(machine, name), f"{prefix}{name}__"
    return Parts(steps, prefix, machine, wrapper, prefix if outer is None else outer, inner)


def _unknown_machine(parts: Parts) -> Unknown | None:
    machine, wrapper = parts.machine, parts.wrapper
    name = type(machine).__name__
    base = next((kind for kind in (*_CLASSIFIERS, *_REGRESSORS) if isinstance(machine, kind)), None)
    if base is not None:
        around = _AROUND_REGRESSORS if base in _REGRESSORS else _AROUND_CLASSIFIERS
        if wrapper is not None and not isinstance(wrapper, around):
            return Unknown(f"{type(wrapper).__name__} around {name}")
        if parts.inner and isinstance(wrapper, MultiOutputRegressor):
            return Unknown(
                "MultiOutputRegressor around a Pipeline",
                "A Pipeline that ends in MultiOutputRegressor is accelerated.",
            )
        own = own_methods(machine, _OWN if base in _CLASSIFIERS else _OWN[:2])
        if not own:
            return None
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
        advice = "The SVM in it is accelerated where it is searched by itself."
    return Unknown(name, advice, is_mistake=not hasattr(machine, "fit"))


def own_methods(machine: Any, names: Sequence[str]) -> list[str]:
    """Those of the methods that a subclass of SVC, SVR or one of ours defines itself.

    It is asked which class defines a method, not what the method is: experiment trackers put
    others in the place of those of scikit-learn, and scikit-learn-intelex other classes in the
    place of SVC and SVR, perhaps after this module was imported.
    """
    known = (SVC, SpanSVC, SVR, SpanSVR)
    first = next(kind for kind in known if isinstance(machine, kind))
    bases = (first, getattr(svm, first.__name__, first))
    kinds = type(machine).__mro__
    definers = {name: next(kind for kind in kinds if name in vars(kind)) for name in names}
    return [
        name for name, kind in definers.items() if not any(issubclass(base, kind) for base in bases)
    ]


def _holds_a_machine(estimator: Any) -> bool:
    """Whether a parameter of an estimator, at any depth, is a machine of the engine."""
    if not hasattr(estimator, "get_params"):
        return False
    machines = (*_CLASSIFIERS, *_REGRESSORS)
    return any(isinstance(value, machines) for value in estimator.get_params().values())


def as_span_machine(machine: Any) -> Any:
    """A SpanSVC or SpanSVR with the parameters of the machine.

    They are read from its attributes, as ``fit`` does: a subclass may fix some of them in
    ``__init__``, where ``get_params`` does not see them.
    """
    if isinstance(machine, (SpanSVC, SpanSVR)):
        return machine
    model = SpanSVR() if isinstance(machine, SVR) else SpanSVC()
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
    check_sparse(X)
    for transformer in fitted.values():
        X = X if resamples(transformer) else transformer.transform(X)
    return X
