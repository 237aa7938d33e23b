"""The paper's figures, drawn from the summaries: curves of Experiment 3, times of Experiment 6.

Lines differ in dashes and markers as well as in colour, so that they are distinct in greyscale.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spansvm.display._figures import COLOURS
from spansvm.errors import UserError, require

from .csv_files import Row
from .page_tables import title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["curves_figure", "save", "support_figure", "time_figure"]

_BLUE, _ORANGE, _GREEN, _PURPLE = COLOURS[:4]

#: The label and line style of each estimate.
_LINES: dict[str, dict[str, Any]] = {
    "test_error": {"label": "test error", "color": "black", "lw": 2.2},
    "span_rule": {"label": "span-rule", "color": _BLUE, "lw": 1.6},
    "kfold": {"label": "5-fold", "color": _ORANGE, "lw": 1.6, "ls": (0, (5, 2))},
    "xi_alpha": {"label": r"$\xi\alpha$ bound", "color": _GREEN, "lw": 1.6, "ls": (0, (1, 1.5))},
    "subjects": {"label": "subjects left out", "color": _PURPLE, "lw": 1.6,
                 "ls": (0, (6, 2, 1, 2))},
}  # fmt: skip

#: Each parameter's symbol in the paper, and whether its axis is logarithmic.
_AXES = {
    "positive": ("$C^+$", True),
    "negative": ("$C^-$", True),
    "steepness": ("$A$", False),
    "midpoint": ("$B$", False),
    "ceiling": ("$C$", True),
}


def curves_figure(rows: Sequence[Row], data_set: str) -> Figure:
    """Estimates and test error over each parameter of one data set."""
    own = [row for row in rows if row["data_set"] == data_set]
    if not own:
        raise UserError(f"There are no curves for {data_set}: run experiment 3 on it first.")
    axes = [axis for axis in _AXES if any(row["axis"] == axis for row in own)]
    plt = require("matplotlib.pyplot", "plots")
    figure, panels = plt.subplots(
        1, len(axes), figsize=(4.2 * len(axes), 3.6), sharey=True, layout="constrained"
    )
    for panel, axis in zip(np.atleast_1d(panels), axes, strict=True):
        part = sorted((row for row in own if row["axis"] == axis), key=lambda row: row["value"])
        _draw_curves(panel, part, axis)
    np.atleast_1d(panels)[0].set_ylabel("error")
    np.atleast_1d(panels)[0].set_ylim(bottom=0)  # of all: they share the axis
    handles, labels = np.atleast_1d(panels)[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.suptitle(title(data_set))
    return figure


def _draw_curves(ax: Axes, rows: Sequence[Row], axis: str) -> None:
    symbol, logarithmic = _AXES[axis]
    values = np.array([row["value"] for row in rows], dtype=np.float64)
    places = np.log2(values) if logarithmic else values
    for name, line in _LINES.items():
        if any(row[name] == "" for row in rows):
            continue
        heights = np.array([row[name] for row in rows], dtype=np.float64)
        ax.plot(places, heights, **line)
        lowest = int(np.argmin(heights))
        # Squares of two sizes: minima often coincide.
        size = 13 if name == "span_rule" else 8
        mark: dict[str, Any] = {"marker": "s", "ms": size, "mfc": "none", "mew": 2, "zorder": 4}
        if name == "test_error":
            mark = {"marker": "*", "ms": 11, "mfc": "white", "mew": 1.2, "zorder": 5}
        ax.plot(places[lowest], heights[lowest], ls="", mec=line["color"], clip_on=False, **mark)
    ax.set_xlabel(rf"$\log_2$ {symbol}" if logarithmic else symbol)
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)


def time_figure(rows: Sequence[Row]) -> Figure:
    """Seconds per model over the number of rows, one panel per number of features."""
    lines = {
        "libsvm": {"label": "5-fold, LibSVM", "color": _ORANGE, "marker": "s", "ls": "--"},
        "our_folds": {"label": "5-fold, ours", "color": _GREEN, "marker": "^", "ls": ":"},
        "search": {"label": "span-rule, training included", "color": _BLUE, "marker": "o"},
        "spans": {"label": "spans of a trained model", "color": "0.35", "marker": "D",
                  "ls": "-."},
    }  # fmt: skip
    return _growth_figure(rows, lines, "seconds per model")


def support_figure(rows: Sequence[Row]) -> Figure:
    """Support vectors over the number of rows, one panel per number of features."""
    lines = {
        "n_support": {"label": "all support vectors", "color": _ORANGE, "marker": "s", "ls": "--"},
        "n_in_bound": {"label": "in-bound", "color": _BLUE, "marker": "o"},
    }
    return _growth_figure(rows, lines, "mean number per model")


def _growth_figure(rows: Sequence[Row], lines: dict[str, dict[str, Any]], what: str) -> Figure:
    plt = require("matplotlib.pyplot", "plots")
    dimensions = sorted({row["d"] for row in rows})
    figure, panels = plt.subplots(
        1, len(dimensions), figsize=(1.2 + 3.4 * len(dimensions), 3.6), sharey=True,
        layout="constrained", squeeze=False,
    )  # fmt: skip
    for panel, d in zip(panels[0], dimensions, strict=True):
        part = [row for row in rows if row["d"] == d]
        for name, line in lines.items():
            there = [row for row in part if row[name] != ""]
            heights = [row[name] for row in there]
            panel.plot([row["l"] for row in there], heights, ms=5, lw=1.6, **line)
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.set(title=f"$d = {d}$", xlabel="training rows $l$")
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel(what)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return figure


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure as PNG and SVG, reproducibly to the byte, and close it."""
    plt = require("matplotlib.pyplot", "plots")
    with plt.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure.savefig(folder / f"{name}.png", dpi=130, metadata={"Software": None})
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)
