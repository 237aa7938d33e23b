"""Pictures of what the benchmarks measured, from benchmarks/results."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from docs.figures.drawing import BLUE, GREEN, GREY, ORANGE, RED, figure
from docs.figures.measured import chosen, column, committees, mean_ratio, read


def benchmark_speed() -> Figure:
    """Times the speed of GridSearchCV, by data set."""
    ours, folds = read("users", work="verified"), read("users", work="kfold")
    order = np.argsort(column(ours, "ratio"))
    names = [f"{ours[i]['problem']}, {ours[i]['classes']} classes" for i in order]
    drawn, ax = figure(7.0, 4.2)
    places = np.arange(order.size)
    ax.barh(
        places + 0.2,
        column(ours, "ratio")[order],
        0.38,
        color=BLUE,
        label="leave-one-out (default)",
    )
    ax.barh(
        places - 0.2,
        column(folds, "ratio")[order],
        0.38,
        color=ORANGE,
        label="cv=5: the same folds",
    )
    ax.set_yticks(places, names)
    _one(ax, "times the speed of GridSearchCV(cv=5), processor time")
    ax.legend(loc="lower right")
    return drawn


def benchmark_scores() -> Figure:
    """Times the speed of GridSearchCV, by score, of a tutorial's search."""
    rows = [row for row in read("tutorials") if row["data"] != "geometric mean"]
    kinds = list(dict.fromkeys(row["search"] for row in rows))
    drawn, ax = figure(7.0, 0.35 * len(kinds) + 0.9)
    for place, kind in enumerate(reversed(kinds)):
        ratios = column([row for row in rows if row["search"] == kind], "ratio")
        ax.plot(ratios, np.full(ratios.size, place), "o", color=BLUE, alpha=0.55, ms=6)
        ax.plot(mean_ratio(ratios), place, "|", color=RED, ms=15, mew=2.5)
    ax.set_yticks(range(len(kinds)), reversed(kinds))
    _one(ax, "times the speed of GridSearchCV; dots: data sets, bars: geometric mean")
    return drawn


def benchmark_regression() -> Figure:
    """Times the speed of GridSearchCV, searches of SVR."""
    works = {
        "default": (BLUE, "exact leave-one-out"),
        "folds": (ORANGE, "cv=5"),
        "span": (GREEN, "span_rule"),
    }
    problems = list(dict.fromkeys(row["problem"] for row in read("regression_speed")))
    drawn, ax = figure(7.0, 2.8)
    for shift, (work, (colour, name)) in zip((0.27, 0.0, -0.27), works.items(), strict=True):
        rows = read("regression_speed", work=work)
        places = [problems.index(row["problem"]) + shift for row in rows]
        ax.barh(places, column(rows, "ratio"), 0.25, color=colour, label=name)
    ax.set_yticks(range(len(problems)), problems)
    _one(ax, "times the speed of GridSearchCV(SVR(), cv=5), processor time")
    _above(drawn)
    return drawn


def benchmark_selection() -> Figure:
    """Test error of the selected model over that of five folds, by data set."""
    found = sorted(chosen(), key=lambda one: one[2])
    drawn, ax = figure(7.0, 3.4)
    for classes, colour in (("two classes", BLUE), ("more classes", ORANGE)):
        own = [(place, ratio) for place, (_, count, ratio) in enumerate(found)
               if (count == 2) == (classes == "two classes")]  # fmt: skip
        ax.plot(*np.array(own).T, "o", color=colour, label=classes)
    ax.axhline(1, color=GREY, ls=":")
    ax.set_xticks(range(len(found)), [name for name, _, _ in found], rotation=90, fontsize=8)
    ax.set(ylabel="test error over that of\nfive folds' choice")
    ax.legend(loc="lower right")
    return drawn


def benchmark_reported() -> Figure:
    """How far off reported errors are, and how often their intervals contain the truth."""
    rows = {
        row["estimate"]: row for row in read("corrected", size="all", grid="all", data_set="all")
    }
    ways = {
        "plain": "best score",
        "corrected": "corrected score",
        "nested": "nested folds",
        "held_out": "held out",
    }
    own = [rows[way] for way in ways]
    colours = [ORANGE, BLUE, GREY, GREY]
    drawn, (left, right) = figure(7.0, 2.2, columns=2, sharey=True)
    left.barh(list(ways.values()), column(own, "relative_bias"), 0.6, color=colours)
    left.axvline(0, color="black", lw=0.8)
    left.set(xlabel="bias of the reported error")
    right.barh(list(ways.values()), column(own, "covers"), 0.6, color=colours)
    right.axvline(0.95, color=GREY, ls=":")
    right.set(xlabel="95 % interval contains the truth", xlim=(0.7, 1))
    for ax in (left, right):
        ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    left.invert_yaxis()
    return drawn


def benchmark_committee() -> Figure:
    """Error and log loss of committees over those of the model that five folds select."""
    drawn, axes = figure(7.0, 2.4, columns=2, sharey=True)
    for ax, (measure, name) in zip(
        axes, {"error": "test error", "log_loss": "log loss"}.items(), strict=True
    ):
        for place, (form, colour) in enumerate((("single", ORANGE), ("log_odds", BLUE))):
            ratios = committees(measure, form)
            ax.plot(ratios, np.full(ratios.size, place), "o", color=colour, alpha=0.5, ms=6)
            ax.plot(mean_ratio(ratios), place, "|", color=colour, ms=30, mew=2.5)
        ax.axvline(1, color=GREY, ls=":")
        ax.set(ylim=(-0.6, 1.6), xlabel=f"{name} over that of five folds' choice")
        ax.set_yticks([0, 1], ["single model", "committee"])
    return drawn


def benchmark_intervals() -> Figure:
    """Coverage of prediction intervals, and the time that they take."""
    rows = [row for row in read("regression_intervals") if row["model"] != "searched"]
    ways = {"SpanSVR": BLUE, "jackknife+": ORANGE, "CV+": GREEN}
    drawn, (left, right) = figure(7.0, 2.8, columns=2)
    for way, colour in ways.items():
        own = [row for row in rows if row["way"] == way]
        name = way if way == "SpanSVR" else f"MAPIE, {way}"
        places = np.arange(len(own)) + 0.12 * (list(ways).index(way) - 1)
        left.plot(places, column(own, "covers"), "o", color=colour, label=name)
        right.plot(places, 1e3 * column(own, "seconds"), "o", color=colour)
    ours = [row for row in rows if row["way"] == "SpanSVR"]
    for ax in (left, right):
        ax.set_xticks(
            range(len(ours)),
            [f"{row['size']}, {float(row['model']):g}" for row in ours],
            fontsize=8,
        )
        ax.set_xlabel("rows, C")
    left.axhline(0.9, color=GREY, ls=":")
    left.set(ylim=(0.86, 0.96), title="new targets in 90 % intervals")
    left.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    left.legend(loc="upper left", fontsize=8)
    right.set(yscale="log", title="milliseconds")
    return drawn


def benchmark_labels() -> Figure:
    """How well wrong labels are ranked."""
    kinds = {
        "5 %": "5 %",
        "10 %": "10 %",
        "20 %": "20 %",
        "10 %, pairs": "10 %, to the\nnext class",
    }
    ways = {
        "committee": (BLUE, "committee"),
        "model": (GREEN, "single model"),
        "cleanlab": (ORANGE, "cleanlab"),
    }
    drawn, ax = figure(6.4, 2.6)
    for shift, (way, (colour, name)) in zip((-0.12, 0.0, 0.12), ways.items(), strict=True):
        heights = [
            float(read("labels", noise=kind, way=way)[0]["average_precision"]) for kind in kinds
        ]
        ax.plot(np.arange(len(kinds)) + shift, heights, "o", ms=8, color=colour, label=name)
    ax.set_xticks(range(len(kinds)), kinds.values())
    ax.set(xlabel="labels changed", ylabel="average precision", ylim=(0.64, 0.84))
    _above(drawn)
    return drawn


def scaling() -> Figure:
    """Processor time per candidate on many rows."""
    kinds = {
        "exact": (BLUE, "all rows in the kernel"),
        "landmarks 300": (GREEN, "300 landmarks"),
        "folds 300": (ORANGE, "LinearSVC, 5 folds"),
    }
    problems = ("adult 8000", "adult 24000", "clusters 100000", "clusters 1000000")
    drawn, ax = figure(7.0, 2.8)
    for shift, (method, (colour, name)) in zip((0.27, 0.0, -0.27), kinds.items(), strict=True):
        rows = [row for row in read("large", method=method) if row["problem"] in problems]
        each = column(rows, "process_seconds") / column(rows, "evaluated")
        places = [problems.index(row["problem"]) + shift for row in rows]
        ax.barh(places, each, 0.25, color=colour, label=name)
    names = [f"{name.split()[0]}, {int(name.split()[1]):,} rows" for name in problems]
    ax.set_yticks(range(len(problems)), names)
    ax.set(xscale="log", xlabel="seconds of processor time per candidate")
    _above(drawn)
    return drawn


def _above(drawn: Figure) -> None:
    """The legend in one line above the axes."""
    drawn.legend(loc="outside upper left", ncols=3)


def _one(ax: Axes, label: str) -> None:
    """The axis of a ratio, which begins at 0 and has a line at 1."""
    ax.axvline(1, color=GREY, ls=":")
    ax.set(xlabel=label, xlim=(0, None))


FIGURES = (
    benchmark_speed, benchmark_scores, benchmark_regression, benchmark_selection,
    benchmark_reported, benchmark_committee, benchmark_intervals, benchmark_labels, scaling,
)  # fmt: skip
