"""Experiment 1: class weights C+ and C- on the 12 benchmark data sets."""

from __future__ import annotations

from collections.abc import Sequence

from .complete import CompleteProblems
from .csv_files import Row
from .datasets import names
from .page_tables import PageTable
from .problems import WITH_SCORES
from .selection import selection_rows, tables_of

__all__ = ["NAME", "TITLE", "summarise", "tables"]

NAME = "class_weights"
TITLE = "Experiment 1: class weights"


def summarise(results: CompleteProblems) -> list[Row]:
    """The selection of each method, for every split."""
    return selection_rows(results, [name for name in names() if name not in WITH_SCORES])


def tables(rows: Sequence[Row]) -> list[PageTable]:
    """With ties as in the paper, and by our default."""
    return tables_of(rows, NAME)
