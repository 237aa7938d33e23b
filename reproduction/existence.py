"""Experiment 4: how often Lambda_p is empty (Lemma 1), and how many support vectors there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .complete import CompleteProblems
from .csv_files import Row
from .page_tables import PageTable, by_data_set, title
from .paper import printed

__all__ = ["NAME", "TITLE", "summarise", "tables"]

NAME = "existence"
TITLE = "Experiment 4: does the span exist?"

_COUNTS = {"empty": "n_empty", "in_bound": "n_in_bound", "total": "n_support"}


def summarise(results: CompleteProblems) -> list[Row]:
    """Means and standard deviations over the candidates, for every split."""
    rows = []
    for key in results.complete():
        models = results.models(key)
        row: Row = {"data_set": key.data_set, "split": key.split, "variant": key.variant}
        row["models"] = models["n_empty"].size
        for name, column in _COUNTS.items():
            row[f"{name}_mean"] = float(models[column].mean())
            row[f"{name}_std"] = float(models[column].std())
        row["models_with_empty"] = int((models["n_empty"] > 0).sum())
        row["empty_bounded_mean"] = float(models["n_empty_bounded"].mean())
        row["models_without_in_bound"] = int((models["n_in_bound"] == 0).sum())
        rows.append(row)
    return rows


def tables(rows: Sequence[Row]) -> list[PageTable]:
    """Counts next to the paper's."""
    cells = printed("existence")
    lines = []
    for data_set, own in by_data_set(row for row in rows if not row["variant"]).items():
        line = [title(data_set)]
        for name, digits in (("empty", 3), ("in_bound", 1), ("total", 1)):
            here = [float(np.mean([row[f"{name}_{part}"] for row in own]))
                    for part in ("mean", "std")]  # fmt: skip
            there = [cells[data_set][f"{name}_{part}"] for part in ("mean", "std")]
            line += [f"{mean:.{digits}f} ± {std:.{digits}f}" for mean, std in (here, there)]
        share = np.mean([row["models_with_empty"] / row["models"] for row in own])
        line.append(f"{100 * share:.1f} %")
        lines.append(line)
    columns = ["data set", "empty Λp", "paper", "in-bound", "paper", "all SVs", "paper",
               "models with an empty Λp"]  # fmt: skip
    caption = "Mean ± standard deviation over the models: in-bound vectors with an empty Λp, and support vectors."  # noqa: E501
    return [PageTable(f"{NAME}_table", caption, columns, lines)]
