"""Hyperparameter search by the span.

``composite`` takes the estimator apart, ``fit_arguments`` sorts the arguments of ``fit``,
``candidates`` builds the estimators of candidates, ``grid`` orders them and selects among them,
``leaving`` decides what is left out, ``training_sets`` holds the rows and Gram matrices they are
trained on, ``shared_data`` shares these, ``evaluation`` trains candidates, ``scored`` scores them
(``trained``, ``responses``, ``standard_errors``), ``dispatch`` sends them to workers, ``stages``
decides which come first and when to stop, ``checkpoint`` keeps what is finished, ``results`` builds
the table, ``refit`` trains the selected model, ``corrected`` corrects its score for having been
selected (``kept``, ``bootstrap``, ``quickest_scores``, ``bootstrap_scores``, ``label_scores``,
``intervals``), ``selected`` is the fitted search as a classifier, ``base`` the search itself;
``spansearch`` and ``randomized`` are the public classes.
"""

from .randomized import SpanRandomizedSearch
from .scoring import span_scorer
from .spansearch import SpanSearch
from .stages import SearchStoppedWarning

__all__ = ["SearchStoppedWarning", "SpanRandomizedSearch", "SpanSearch", "span_scorer"]
