"""Leave-one-out error of weighted SVMs from one training.

The span of the support vectors (Vapnik & Chapelle 2000; for instance weights Sarafis,
Diou & Delopoulos 2018) tells, from a single trained model, what every training
instance's decision value would be had the model not seen it.

>>> from sklearn.datasets import load_breast_cancer
>>> from sklearn.svm import SVC
>>> from spansvm import analyze
>>> X, y = load_breast_cancer(return_X_y=True)
>>> svc = SVC(C=10, class_weight="balanced").fit(X, y)
>>> round(analyze(svc, X, y).span_rule, 4)
0.0808
"""

from .analysis import SpanAnalysis, analyze
from .display import LooDisplay, SpanSearchDisplay
from .loo import exact_loo
from .search import SpanSearch, span_scorer
from .svc import SpanSVC
from .weighting import ClassWeighting, SigmoidWeighting, Weighting

__all__ = [
    "ClassWeighting",
    "LooDisplay",
    "SigmoidWeighting",
    "SpanAnalysis",
    "SpanSVC",
    "SpanSearch",
    "SpanSearchDisplay",
    "Weighting",
    "__version__",
    "analyze",
    "exact_loo",
    "span_scorer",
]

__version__ = "0.1.0"
