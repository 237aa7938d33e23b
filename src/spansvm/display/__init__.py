"""Plots: the scores of a search, and the leave-one-out margins of a model.

Both follow scikit-learn's displays.  matplotlib is imported when something is drawn.  ``axes`` and
``margins`` compute what is shown, also for the charts of :mod:`spansvm.report`.
"""

from .loo import LooDisplay
from .search import SpanSearchDisplay

__all__ = ["LooDisplay", "SpanSearchDisplay"]
