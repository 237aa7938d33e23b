"""Experiment 1: class weights C+ and C- on the 12 benchmark data sets."""

from __future__ import annotations

from collections.abc import Sequence

from ..datasets import names
from .problems import WITH_SCORES
from .results import Results
from .selection import selection_rows, tables_of
from .tables import Row, Table

__all__ = ["NAME", "TITLE", "summarise", "tables"]

NAME = "class_weights"
TITLE = "Experiment 1: class weights"


def summarise(results: Results) -> list[Row]:
    """What each method selects, for every split."""
    return selection_rows(results, [name for name in names() if name not in WITH_SCORES])


def tables(rows: Sequence[Row]) -> list[Table]:
    """Ties as in the paper, and by our default."""
    return tables_of(rows, NAME)
