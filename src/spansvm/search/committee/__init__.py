"""A committee of the candidates of a search that could have been the best.

``weights`` says how much each candidate counts, ``pool`` has the left-out predictions of all,
``members`` predicts by those that count, ``correction`` corrects the score; ``classifier`` and
``regressor`` are the public classes, ``building`` makes them, ``of_search`` is what a search has of
them.
"""

from .classifier import Committee
from .regressor import RegressionCommittee

__all__ = ["Committee", "RegressionCommittee"]
