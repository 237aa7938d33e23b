"""Experiment 2: from importance scores to instance weights, on the two data sets with scores."""

from __future__ import annotations

from collections.abc import Sequence

from .problems import WITH_SCORES
from .results import Results
from .selection import selection_rows, tables_of
from .tables import Row, Table

__all__ = ["NAME", "TITLE", "summarise", "tables"]

NAME = "instance_weights"
TITLE = "Experiment 2: from scores to instance weights"


def summarise(results: Results) -> list[Row]:
    """What each method selects, for every split."""
    return selection_rows(results, WITH_SCORES)


def tables(rows: Sequence[Row]) -> list[Table]:
    """Ties as in the paper, and by our default."""
    return tables_of(rows, NAME)
