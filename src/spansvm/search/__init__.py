"""Hyperparameter search by the span.

``composite`` takes the estimator apart, ``grid`` orders the candidates and selects among them,
``training_sets`` holds the data they share, ``evaluation`` trains and scores them, ``dispatch``
sends them to workers, ``refinement`` evaluates the best of them exactly, ``results`` builds the
table, ``refit`` trains the selected model, ``corrected`` corrects its score for having been
selected (``kept``, ``draws``, ``draw_scores``, ``count_scores``, ``intervals``), ``selected`` is
the fitted search as a classifier, and ``spansearch`` is the public class.
"""

from .scoring import span_scorer
from .spansearch import SpanSearch

__all__ = ["SpanSearch", "span_scorer"]
