"""The estimator of a search, taken apart: an SVC or a SpanSVC, and what is around it.

The transformers and the machine's kernel determine the Gram matrix; the other parameters (``C``
and the weights) determine the model.  Candidates with the same Gram matrix share all costly work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

from sklearn.base import RegressorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC, NuSVC

from ...common.types import Array
from ...estimators.svc import SpanSVC

__all__ = [
    "Parts",
    "as_span_svc",
    "fit_transformers",
    "is_absent",
    "is_wrapper",
    "rebuilt",
    "resamples",
    "transform",
    "unwrap",
]

#: Classes around a machine, besides pipelines, that the engine knows.
_WRAPPERS = (OneVsRestClassifier, CalibratedClassifierCV)

#: Methods that decide what is trained and predicted; a subclass with its own is another model.
_OWN = ("fit", "predict", "decision_function")

#: For estimators that are taken for an SVC, what to use.
_INSTEAD: Sequence[tuple[type, str]] = (
    (NuSVC, "It bounds multipliers by nu, not by C: use SVC, and search C."),
    (LinearSVC, "It has squared losses and a penalised intercept: use SpanSVC(kernel='linear'), "
                "which needs no Gram matrix for many rows."),
    (SGDClassifier, "Use SpanSVC(kernel='linear'), which needs no Gram matrix for many rows."),
    (OneVsOneClassifier, "An SVC is one-vs-one by itself: leave OneVsOneClassifier out."),
    (RegressorMixin, "Searches are for classification: use GridSearchCV for regression."),
)  # fmt: skip


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
    """Take an estimator apart; TypeError if there is no SVC in it.

    With `placeholder` the last step of a pipeline may be missing: the grid has to provide it.
    """
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
    if not (placeholder and is_absent(machine)):
        _check_machine(machine, wrapper)
    return Parts(steps, prefix, machine, wrapper, prefix if outer is None else outer, inner)


def _check_machine(machine: Any, wrapper: Any) -> None:
    name = type(machine).__name__
    if not isinstance(machine, (SVC, SpanSVC)):
        if is_absent(machine):
            lacking = "Its last step is empty"
            if wrapper is not None:
                lacking = f"{type(wrapper).__name__} has no estimator"
            advice = f"{lacking}, and the grid does not provide one."
        elif isinstance(machine, type):
            name = f"the class {machine.__name__}"
            advice = f"Make an object of it: {machine.__name__}()."
        elif is_wrapper(machine):
            advice = f"{type(wrapper).__name__} around {name} is not supported."
        else:
            advice = next(
                (text for kind, text in _INSTEAD if isinstance(machine, kind)),
                "Use GridSearchCV for other estimators.",
            )
        raise TypeError(
            "estimator must be a SpanSVC, a sklearn.svm.SVC, one of these in OneVsRestClassifier "
            f"or CalibratedClassifierCV, or a Pipeline that ends in one; got {name}. {advice}"
        )
    base = SVC if isinstance(machine, SVC) else SpanSVC
    own = [method for method in _OWN if getattr(type(machine), method) is not getattr(base, method)]
    if own:
        raise TypeError(
            f"{name} has its own {' and '.join(own)}, which the engine of this search would not "
            f"use: it trains and predicts as {base.__name__} does. Use GridSearchCV, or a "
            f"subclass that only sets parameters."
        )


def as_span_svc(machine: SVC | SpanSVC) -> SpanSVC:
    """A SpanSVC with the parameters of the machine.

    They are read from its attributes, as ``fit`` does: a subclass may fix some of them in
    ``__init__``, where ``get_params`` does not see them.
    """
    if not isinstance(machine, SpanSVC):
        model = SpanSVC()
        names = [name for name in model.get_params(deep=False) if hasattr(machine, name)]
        machine = model.set_params(**{name: getattr(machine, name) for name in names})
    return machine


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
