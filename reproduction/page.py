"""From a store to summaries in CSV files, tables, figures, and the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from spansvm.errors import UserError

from . import (
    class_weights,
    efficiency,
    existence,
    figures,
    growth,
    instance_weights,
    prediction,
)
from .answers import answers
from .complete import CompleteProblems
from .csv_files import Row, read_rows, to_csv, write_text
from .differences import differences
from .page_tables import PageTable

__all__ = ["FOLDER", "PAGE", "draw_curves", "read_summaries", "write_page", "write_summaries"]

#: The page, and the folder next to it with everything it shows.
PAGE = "reproduction.md"
FOLDER = "reproduction"

_EXPERIMENTS = (class_weights, instance_weights, prediction, existence, efficiency, growth)

_SUMMARIES: dict[str, Callable[[CompleteProblems], list[Row]]] = {
    **{module.NAME: module.summarise for module in _EXPERIMENTS},
    prediction.CURVES: prediction.curves,
}

#: Data sets whose curves the paper shows, and the one whose test rows come from other people.
_SHOWN = ("image", "adult", "bank_marketing", "parkinson_speech")

_INTRODUCTION = """\
# The paper's experiments, reproduced

The six experiments of Sarafis, Diou and Delopoulos, *Span error bound for weighted SVM with
applications in hyperparameter selection* ([arXiv 1809.06124](https://arxiv.org/abs/1809.06124)),
on its 14 data sets. `python -m reproduction` writes this page from the CSV files in the folder
`reproduction` next to it. Columns headed "paper" are the numbers printed in the paper.

RBF kernel with gamma = 1/d, features scaled to [0, 1], candidates as in the paper: 33 x 33 class
weights, or 10 x 10 x 17 mappings of scores. Splice, adult, MNIST and Parkinson's speech have one
split. The others were split several times (banana, image and waveform as published), and numbers
are means with standard errors over the splits; the paper shows a single split. Folds are random:
if the split is fixed and the data set small, 5-fold is the mean over several partitions.

The mark ≠ means that the paper's number disagrees with ours: a single value differs by more than
one test instance; a mean differs by more than two standard deviations of the values it is taken
over. The span bound is computed with the diameter and with the radius of the ball, and is marked
if neither agrees.
"""

_QUICK = """
**This is a quick run** on a coarse grid: do not compare its numbers with the paper's.
"""


def write_summaries(results: CompleteProblems, folder: Path) -> None:
    """Reduce the store to one small CSV file per experiment."""
    notes = [*results.store.notes(), f"grid: {results.grid}"]
    for name, summarise in _SUMMARIES.items():
        rows = summarise(results)
        if rows:
            write_text(folder / f"{name}.csv", to_csv(rows, notes, digits=6))


def read_summaries(folder: Path) -> tuple[dict[str, list[Row]], list[str]]:
    """The existing summaries, and the notes in them."""
    summaries: dict[str, list[Row]] = {}
    notes: dict[str, None] = {}
    for name in _SUMMARIES:
        path = folder / f"{name}.csv"
        if path.exists():
            summaries[name], own = read_rows(path)
            notes |= dict.fromkeys(own)
    return summaries, list(notes)


def write_page(folder: Path) -> Path:
    """Write tables, figures and the page from the summaries in ``folder / FOLDER``."""
    parts = folder / FOLDER
    summaries, notes = read_summaries(parts)
    if not summaries:
        raise UserError(f"There are no results in {parts}: run 'python -m reproduction' first.")
    text = [_INTRODUCTION]
    if "grid: quick" in notes:
        text.append(_QUICK)
    answered = answers(summaries)
    if answered:
        text.append("\n## Findings\n\n" + "\n".join(f"- {answer}" for answer in answered) + "\n")
    for module in _EXPERIMENTS:
        tables = [table for table in module.tables(summaries.get(module.NAME, ())) if table.rows]
        if tables:
            text.append(f"\n## {module.TITLE}\n")
            text += [f"\n{_keep(table, parts)}" for table in tables]
            text += _figures(module.NAME, summaries, parts)
    explained = differences(summaries)
    if explained and "grid: paper" in notes:
        text.append("\n## Where we differ, and why\n")
        for part in explained:
            text.append(f"\n{_keep(part, parts)}" if isinstance(part, PageTable) else f"\n{part}\n")
    sources = [note for note in notes if not note.startswith("grid:")]
    if sources:
        text.append("\n## How it was computed\n\n" + "\n".join(f"- {n}" for n in sources) + "\n")
    write_text(folder / PAGE, "".join(text))
    return folder / PAGE


def _keep(table: PageTable, folder: Path) -> str:
    """Write a table to its own CSV and Markdown files, and return its Markdown."""
    write_text(folder / f"{table.name}.csv", table.csv)
    write_text(folder / f"{table.name}.md", table.markdown)
    return table.markdown


def _figures(name: str, summaries: Mapping[str, Sequence[Row]], folder: Path) -> list[str]:
    if name == prediction.NAME:
        rows = summaries.get(prediction.CURVES, ())
        shown = [s for s in _SHOWN if any(row["data_set"] == s for row in rows)]
        draw_curves(rows, shown, folder)
        text = [
            "\nEstimates and test error over each parameter, with the other parameters at the "
            "smallest test error. □ marks the smallest value of an estimate, ☆ the smallest test "
            "error.\n"
        ]
        return text * bool(shown) + [
            f"\n![Curves for {s}]({FOLDER}/curves_{s}.png)\n" for s in shown
        ]
    if name == growth.NAME:
        rows = summaries[name]
        figures.save(figures.time_figure(rows), folder, "growth_time")
        figures.save(figures.support_figure(rows), folder, "growth_support")
        return [
            f"\n![Time over the number of rows]({FOLDER}/growth_time.png)\n",
            f"\n![Support vectors over the number of rows]({FOLDER}/growth_support.png)\n",
        ]
    return []


def draw_curves(rows: Sequence[Row], data_sets: Sequence[str], folder: Path) -> None:
    """Draw the curves for some data sets."""
    for data_set in data_sets:
        figures.save(figures.curves_figure(rows, data_set), folder, f"curves_{data_set}")
