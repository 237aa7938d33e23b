"""Hyperparameter search by the span.

``candidates`` says what is searched, ``scoring`` what predictions are worth, ``evaluation`` trains
and scores, ``committee`` averages candidates; each folder imports from those before it.  Above
them, ``base`` is the search itself, ``checks`` are those of its arguments, ``results`` builds the
table, ``refit`` trains the selected model, ``dependence`` asks whether rows depend on their
neighbours, ``selected`` is the fitted search as an estimator; ``unaccelerated`` has what
scikit-learn evaluates; ``spansearch`` and ``randomized`` are the public classes, ``automatic`` has
the estimators that search by themselves, and ``onnx`` makes skl2onnx know the searches.
"""

from .automatic.svccv import SVCCV
from .automatic.svrcv import SVRCV
from .committee import Committee, RegressionCommittee
from .dependence import DependentRowsWarning
from .evaluation.stages import SearchStoppedWarning
from .onnx import register_onnx
from .randomized import SpanRandomizedSearch
from .scoring.scorers import span_scorer
from .spansearch import SpanSearch
from .unaccelerated import UnacceleratedWarning

__all__ = [
    "SVCCV",
    "SVRCV",
    "Committee",
    "DependentRowsWarning",
    "RegressionCommittee",
    "SearchStoppedWarning",
    "SpanRandomizedSearch",
    "SpanSearch",
    "UnacceleratedWarning",
    "register_onnx",
    "span_scorer",
]
