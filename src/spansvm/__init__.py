"""Leave-one-out error of weighted SVMs from one training.

The span of the support vectors (Vapnik & Chapelle 2000; with instance weights Sarafis,
Diou & Delopoulos 2018) predicts, from a single trained model, the decision value that
each training instance would have had if the model had never seen it.

>>> from sklearn.datasets import load_breast_cancer
>>> from sklearn.svm import SVC
>>> from spansvm import analyze
>>> X, y = load_breast_cancer(return_X_y=True)
>>> svc = SVC(C=10, class_weight="balanced").fit(X, y)
>>> round(analyze(svc, X, y).span_rule, 4)
0.0808
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from .display import LooDisplay, SpanSearchDisplay
    from .estimators.analysis import SpanAnalysis, analyze
    from .estimators.loo import exact_loo
    from .estimators.svc import SpanSVC
    from .estimators.svr import SpanSVR
    from .estimators.weighting import ClassWeighting, SigmoidWeighting, Weighting
    from .rows.influence import influence
    from .rows.labels import find_label_issues
    from .rows.values import data_values
    from .search import (
        SVCCV,
        SVRCV,
        Committee,
        DependentRowsWarning,
        RegressionCommittee,
        SpanRandomizedSearch,
        SpanSearch,
        span_scorer,
    )

__all__ = [
    "SVCCV",
    "SVRCV",
    "ClassWeighting",
    "Committee",
    "DependentRowsWarning",
    "LooDisplay",
    "RegressionCommittee",
    "SigmoidWeighting",
    "SpanAnalysis",
    "SpanRandomizedSearch",
    "SpanSVC",
    "SpanSVR",
    "SpanSearch",
    "SpanSearchDisplay",
    "Weighting",
    "__version__",
    "analyze",
    "data_values",
    "exact_loo",
    "find_label_issues",
    "influence",
    "span_scorer",
]

#: The module of each name, imported on first use: the help of the command line must not wait for
#: scikit-learn.
_HOMES = {
    "SVCCV": "search",
    "SVRCV": "search",
    "ClassWeighting": "estimators.weighting",
    "Committee": "search",
    "DependentRowsWarning": "search",
    "LooDisplay": "display",
    "RegressionCommittee": "search",
    "SigmoidWeighting": "estimators.weighting",
    "SpanAnalysis": "estimators.analysis",
    "SpanRandomizedSearch": "search",
    "SpanSVC": "estimators.svc",
    "SpanSVR": "estimators.svr",
    "SpanSearch": "search",
    "SpanSearchDisplay": "display",
    "Weighting": "estimators.weighting",
    "analyze": "estimators.analysis",
    "data_values": "rows.values",
    "exact_loo": "estimators.loo",
    "find_label_issues": "rows.labels",
    "influence": "rows.influence",
    "span_scorer": "search",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value = import_module("importlib.metadata").version(__name__)
    elif name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
