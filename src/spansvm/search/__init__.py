"""Hyperparameter search by the span.

``candidates`` says what is searched, ``scoring`` what predictions are worth, ``evaluation`` trains
and scores, ``committee`` averages candidates; each folder imports from those before it.  Above
them, ``base`` is the search itself, ``checks`` are those of its arguments, ``results`` builds the
table, ``refit`` trains the selected model, ``dependence`` asks whether rows depend on their
neighbours, ``selected`` is the fitted search as an estimator; ``unaccelerated`` has what
scikit-learn evaluates; ``spansearch`` and ``randomized`` are the public classes, ``automatic`` has
the estimators that search by themselves, and ``onnx`` makes skl2onnx know the searches.
"""

from typing import TYPE_CHECKING

from ..common.lazy import lazy_names

if TYPE_CHECKING:
    from ..common.evaluated import evaluated
    from .automatic.svccv import SVCCV
    from .automatic.svrcv import SVRCV
    from .committee.classifier import Committee
    from .committee.regressor import RegressionCommittee
    from .dependence import Dependence, DependentRowsWarning
    from .evaluation.checkpoint import Checkpoint
    from .evaluation.forecast import Forecast
    from .evaluation.stages import SearchStoppedWarning, Widened
    from .onnx import register_onnx
    from .randomized import SpanRandomizedSearch
    from .scoring.scorers import span_scorer
    from .spansearch import SpanSearch
    from .unaccelerated import UnacceleratedWarning

__all__ = [
    "SVCCV",
    "SVRCV",
    "Checkpoint",
    "Committee",
    "Dependence",
    "DependentRowsWarning",
    "Forecast",
    "RegressionCommittee",
    "SearchStoppedWarning",
    "SpanRandomizedSearch",
    "SpanSearch",
    "UnacceleratedWarning",
    "Widened",
    "evaluated",
    "register_onnx",
    "span_scorer",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "SVCCV": "search.automatic.svccv",
        "SVRCV": "search.automatic.svrcv",
        "Checkpoint": "search.evaluation.checkpoint",
        "Committee": "search.committee.classifier",
        "Dependence": "search.dependence",
        "DependentRowsWarning": "search.dependence",
        "Forecast": "search.evaluation.forecast",
        "RegressionCommittee": "search.committee.regressor",
        "SearchStoppedWarning": "search.evaluation.stages",
        "SpanRandomizedSearch": "search.randomized",
        "SpanSearch": "search.spansearch",
        "UnacceleratedWarning": "search.unaccelerated",
        "Widened": "search.evaluation.stages",
        "evaluated": "common.evaluated",
        "register_onnx": "search.onnx",
        "span_scorer": "search.scoring.scorers",
    },
)
