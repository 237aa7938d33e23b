"""The span of one vector, drawn in the plane: the picture of the page "How it works"."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from docs.figures.drawing import BLUE, CLASSES, GREY, RED, figure, points
from spansvm import SpanSVC, analyze

#: Two classes in the plane, the second above the first.
ROWS = np.array(
    [
        *[(0.0, 1.8), (0.3, 1.9), (0.5, 0.1), (3.3, 1.8), (2.1, 0.2), (3.1, 0.1), (0.4, 0.9)],
        *[(0.7, 2.1), (0.5, 2.9), (1.9, 2.9), (1.3, 3.4), (3.6, 3.4), (1.2, 2.5), (1.8, 3.3)],
    ]
)
LABELS = np.repeat([0, 1], 7)


def span() -> Figure:
    """The machine with a vector, the hull of the others and its distance; the machine without."""
    model, analysis, place = trusted()
    rows = np.flatnonzero(analysis.in_bound)
    others = ROWS[rows[rows != place]]
    foot = _foot(ROWS[place], others)
    drawn, axes = figure(8.0, 4.1, columns=2, sharex=True, sharey=True)
    for ax in axes:
        points(ax, ROWS, LABELS, 40)
        ax.set_aspect("equal")
    _lines(axes[0], model)
    axes[0].scatter(*ROWS[rows].T, s=130, facecolors="none", edgecolors="0.2", linewidths=1.4)
    along = others[0] + np.outer([-9.0, 9.0], others[1] - others[0])
    axes[0].plot(*along.T, ":", color=GREY, lw=1.8)
    axes[0].plot(*np.array([ROWS[place], foot]).T, color=RED, lw=2.5)
    _name(axes[0], ROWS[place], "$x_p$", (-5, -20))
    _name(axes[0], (ROWS[place] + foot) / 2, "$S_p$", (8, 4))
    value = model.decision_function(ROWS[[place]])[0]
    axes[0].set_title(f"with $x_p$: its value is {value:.2f}")
    without = SpanSVC(kernel="linear", C=model.C).fit(
        np.delete(ROWS, place, 0), np.delete(LABELS, place)
    )
    _lines(axes[1], without)
    axes[1].scatter(*ROWS[place], s=60, color="white", edgecolors=CLASSES[LABELS[place]], lw=1.6)
    left_out = without.decision_function(ROWS[[place]])[0]
    axes[1].set_title(f"trained without it: its value is {left_out:.2f}")
    low, high = ROWS.min(axis=0) - 0.4, ROWS.max(axis=0) + 0.4
    axes[0].set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    return drawn


def trusted() -> tuple:
    """The model of the picture, its analysis, and the in-bound vector that is left out."""
    model = SpanSVC(kernel="linear", C=4.0).fit(ROWS, LABELS)
    analysis = analyze(model)
    inside = np.flatnonzero(analysis.in_bound & analysis.trusted)
    if inside.size == 0:
        raise RuntimeError("no in-bound vector of the picture can be left out by the span alone")
    return model, analysis, int(inside[np.argmax(analysis.span[inside])])


def _foot(point: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The nearest place of the line through two points."""
    direction = others[1] - others[0]
    return others[0] + direction * ((point - others[0]) @ direction / (direction @ direction))


def _lines(ax: Axes, model: SpanSVC) -> None:
    """Where the decision value is 0, and the margins, where it is 1 and -1."""
    across, up = np.meshgrid(np.linspace(-1, 5, 60), np.linspace(-1, 5, 60))
    values = model.decision_function(np.c_[across.ravel(), up.ravel()]).reshape(across.shape)
    ax.contour(
        across, up, values, [-1, 0, 1], colors=BLUE, linestyles=["--", "-", "--"], linewidths=1.3
    )


def _name(ax: Axes, place: np.ndarray, text: str, shift: tuple[int, int]) -> None:
    ax.annotate(text, place, textcoords="offset points", xytext=shift, fontsize=12)


FIGURES = (span,)
