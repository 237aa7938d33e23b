"""Experiment 5: seconds per model, with the span-rule and with folds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .complete import CompleteProblems
from .csv_files import Row
from .datasets import names
from .page_tables import PageTable, title
from .paper import printed
from .problems import n_training_rows
from .timing import FOLDS_BY_LIBSVM, OUR_FOLDS, SEARCH, SPANS, TRAINING, works

__all__ = ["NAME", "SAMPLED", "TITLE", "summarise", "tables", "time_rows"]

#: How far LibSVM's times can be trusted.
SAMPLED = (
    "LibSVM's folds are timed for as many candidates as the column 'sample' says, on a regular "
    "lattice of the grid; with few of them, their mean may be far from that of the whole grid."
)

NAME = "efficiency"
TITLE = "Experiment 5: time per model"


def time_rows(results: CompleteProblems, *, ringnorm: bool) -> list[Row]:
    """Mean seconds per model, for every problem that was timed completely."""
    store = results.store
    rows: list[Row] = []
    for key in store.problems("times"):
        if key.data_set.startswith("ringnorm:") != ringnorm:
            continue
        columns = ["method", "seconds", "models", "n_in_bound", "n_support", "versions"]
        times = {row[0]: row[1:] for row in store.rows("times", columns, key)}
        if set(works(results.candidates(key), n_training_rows(key))) - set(times):
            continue
        row: Row = {"data_set": key.data_set}
        for name, method in (("search", SEARCH), ("our_folds", OUR_FOLDS)):
            row[name] = times[method][0] / times[method][1] if method in times else ""
        for name, method in (("training", TRAINING), ("spans", SPANS), ("libsvm", FOLDS_BY_LIBSVM)):
            sampled = [value[0] for other, value in times.items() if other.startswith(f"{method} ")]
            row[name] = float(np.mean(sampled))
            row["sampled"] = len(sampled)
        row["models"], row["n_in_bound"], row["n_support"] = times[SEARCH][1:4]
        row["versions"] = times[SEARCH][4]
        rows.append(row)
    return rows


def summarise(results: CompleteProblems) -> list[Row]:
    """Times on the data sets, in the paper's order."""
    rows = time_rows(results, ringnorm=False)
    return sorted(rows, key=lambda row: names().index(row["data_set"]))


def tables(rows: Sequence[Row]) -> list[PageTable]:
    """Our times, LibSVM's on the same machine, and the paper's on theirs."""
    cells = printed("seconds")
    lines = [
        [
            title(row["data_set"]),
            *(_seconds(row[name]) for name in ("search", "spans", "our_folds", "libsvm")),
            f"{row['sampled']}",
            f"{row['libsvm'] / row['search']:.0f}",
            *(f"{cells[row['data_set']][name]:.3f}" for name in ("span_rule", "kfold")),
        ]
        for row in rows
    ]
    columns = ["data set", "span-rule, training included", "spans of a trained model",
               "5-fold, ours", "5-fold, LibSVM", "sample", "LibSVM / span-rule",
               "paper, other hardware: span-rule", "paper: 5-fold"]  # fmt: skip
    caption = f"Seconds per model, one thread. {SAMPLED}"
    return [PageTable(f"{NAME}_table", caption, columns, lines)]


def _seconds(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.2g}" if value < 1 else f"{value:.1f}"
