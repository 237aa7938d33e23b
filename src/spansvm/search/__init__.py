"""Hyperparameter search by the span.

``composite`` takes the estimator apart, ``grid`` knows how candidates lie to each other,
``training_sets`` holds what they share, ``evaluation`` trains and judges them, ``dispatch`` gives
them to workers, ``results`` lays out the table, ``refit`` trains what was selected, ``selected`` is
the search after it, and ``spansearch`` the face of it all.
"""

from .scoring import span_scorer
from .spansearch import SpanSearch

__all__ = ["SpanSearch", "span_scorer"]
