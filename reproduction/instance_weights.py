"""Experiment 2: from importance scores to instance weights, on the two data sets with scores."""

from __future__ import annotations

from collections.abc import Sequence

from .complete import CompleteProblems
from .csv_files import Row
from .page_tables import PageTable
from .problems import WITH_SCORES
from .selection import selection_rows, tables_of

__all__ = ["NAME", "TITLE", "summarise", "tables"]

NAME = "instance_weights"
TITLE = "Experiment 2: from scores to instance weights"


def summarise(results: CompleteProblems) -> list[Row]:
    """The selection of each method, for every split."""
    return selection_rows(results, WITH_SCORES)


def tables(rows: Sequence[Row]) -> list[PageTable]:
    """With ties as in the paper, and by our default."""
    return tables_of(rows, NAME)
