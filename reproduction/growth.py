"""Experiment 6: the size from which the span-rule is faster than folds, on ringnorm data."""

from __future__ import annotations

from collections.abc import Sequence

from .complete import CompleteProblems
from .csv_files import Row
from .efficiency import SAMPLED, time_rows
from .page_tables import PageTable

__all__ = ["NAME", "TITLE", "summarise", "tables"]

NAME = "growth"
TITLE = "Experiment 6: time and size"


def summarise(results: CompleteProblems) -> list[Row]:
    """Times and support vectors by number of rows and features."""
    rows = []
    for row in time_rows(results, ringnorm=True):
        _, n, d = row.pop("data_set").split(":")
        rows.append({"d": int(d), "l": int(n), **row})
    return sorted(rows, key=lambda row: (row["d"], row["l"]))


def tables(rows: Sequence[Row]) -> list[PageTable]:
    """Milliseconds per model, and their ratio."""
    lines = [
        [
            f"{row['d']}",
            f"{row['l']}",
            *(_milliseconds(row[name]) for name in ("search", "spans", "our_folds", "libsvm")),
            f"{row['sampled']}",
            f"{row['libsvm'] / row['search']:.0f}",
            f"{row['n_in_bound']:.0f}",
            f"{row['n_support']:.0f}",
        ]
        for row in rows
    ]
    columns = ["d", "l", "span-rule, training included", "spans of a trained model",
               "5-fold, ours", "5-fold, LibSVM", "sample", "LibSVM / span-rule", "in-bound SVs",
               "all SVs"]  # fmt: skip
    caption = f"Milliseconds per model on ringnorm data, one thread. {SAMPLED}"
    return [PageTable(f"{NAME}_table", caption, columns, lines)]


def _milliseconds(value: float | str) -> str:
    return value if isinstance(value, str) else f"{1000 * value:.2f}"
