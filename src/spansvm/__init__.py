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

from .common.lazy import lazy_names

if TYPE_CHECKING:
    __version__: str
    from .display import LooDisplay, SpanSearchDisplay
    from .estimators.analysis import SpanAnalysis, analyze
    from .estimators.loo import exact_loo
    from .estimators.svc import SpanSVC
    from .estimators.svr import SpanSVR
    from .estimators.weighting import ClassWeighting, SigmoidWeighting, Weighting
    from .rows.influence import influence
    from .rows.labels import LabelIssuesWarning, find_label_issues
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
    "LabelIssuesWarning",
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
    "SVCCV": "search.automatic.svccv",
    "SVRCV": "search.automatic.svrcv",
    "ClassWeighting": "estimators.weighting",
    "Committee": "search.committee.classifier",
    "DependentRowsWarning": "search.dependence",
    "LabelIssuesWarning": "rows.labels",
    "LooDisplay": "display.loo",
    "RegressionCommittee": "search.committee.regressor",
    "SigmoidWeighting": "estimators.weighting",
    "SpanAnalysis": "estimators.analysis",
    "SpanRandomizedSearch": "search.randomized",
    "SpanSVC": "estimators.svc",
    "SpanSVR": "estimators.svr",
    "SpanSearch": "search.spansearch",
    "SpanSearchDisplay": "display.search",
    "Weighting": "estimators.weighting",
    "analyze": "estimators.analysis",
    "data_values": "rows.values",
    "exact_loo": "estimators.loo",
    "find_label_issues": "rows.labels",
    "influence": "rows.influence",
    "span_scorer": "search.scoring.scorers",
}


_get, __dir__ = lazy_names(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        globals()[name] = import_module("importlib.metadata").version(__name__)
        return globals()[name]
    return _get(name)
