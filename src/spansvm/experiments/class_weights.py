"""Experiment 1: class weights C+ and C- on the 12 benchmark data sets."""

from __future__ import annotations

from collections.abc import Sequence

from ..datasets import names
from .problems import WITH_SCORES
from .results import Results
from .selection import default_table, paper_table, selection_rows
from .tables import Row, Table

__all__ = ["NAME", "TITLE", "summarise", "tables"]

NAME = "class_weights"
TITLE = "Experiment 1: class weights"


def summarise(results: Results) -> list[Row]:
    """What each method selects, for every split."""
    return selection_rows(results, [name for name in names() if name not in WITH_SCORES])


def tables(rows: Sequence[Row]) -> list[Table]:
    """Ties as in the paper, and by our default."""
    return [
        paper_table(rows, f"{NAME}_table", "Test error of the selected model; ties as in the paper "
                    "(the worst of the tied models)."),
        default_table(rows, f"{NAME}_default", "The same by the library's default for ties."),
    ]  # fmt: skip
