"""Pictures that can be read on light and on dark pages.

They are drawn once, for a light page.  In the SVG every grey then becomes a variable, which the
picture's own style sheet turns around where the page is dark; the background is transparent, and
colours stay: those below can be seen on both.
"""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, RED, GREY = "#3b82c4", "#e0862b", "#2e9e78", "#d1495b", "#808080"

#: Stays white where the page is dark, for marks on dark fields: not quite a grey.
WHITE = "#fffffe"

#: Of regions and points of classes, in their order.
CLASSES = (BLUE, ORANGE, GREEN, RED)

#: For the whole of a drawing: text as text, no background, and the same bytes each time.
STYLE: dict[str, Any] = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "svg.fonttype": "none",
    "svg.hashsalt": "spansvm",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}

_METADATA = re.compile(r"<metadata>.*?</metadata>\n", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_DIGITS = re.compile(r"(?<=\d\.\d\d)\d+")
_GREY = re.compile(r"(?<=: )#([0-9a-f]{2})\1\1\b")

#: What black and white of a light page are on a dark one.
_DARK_INK, _DARK_PAPER = 0xE6, 0x1E


def figure(width: float = 7.0, height: float = 3.2, columns: int = 1, **options: Any) -> Any:
    """An empty figure and its axes, one or an array of them."""
    drawn = Figure(figsize=(width, height))
    return drawn, drawn.subplots(1, columns, **options)


def svg(drawn: Figure) -> str:
    """A figure as SVG for light and dark pages."""
    text = StringIO()
    drawn.savefig(text, format="svg")
    return for_both(text.getvalue())


def for_both(text: str) -> str:
    """An SVG with its greys as variables: black ink is light where the page is dark."""
    text = _METADATA.sub("", text)  # when it was drawn, and by what
    greys = sorted({"00", *(found[1] for found in _GREY.finditer(text))})
    text = _GREY.sub(r"var(--g\1)", text)
    light = "".join(f"--g{grey}:#{grey * 3};" for grey in greys)
    dark = "".join(f"--g{grey}:#{_turned(grey) * 3};" for grey in greys)
    style = (
        f"<style>:root{{{light}fill:var(--g00)}}"
        f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}</style>"
    )
    start = text.index(">", text.index("<svg")) + 1
    shorter = _TAG.sub(lambda tag: _DIGITS.sub("", tag[0]), text[start:])
    stripped = re.sub(r"[ \t]+$", "", shorter, flags=re.MULTILINE)
    return text[:start] + style + stripped


def _turned(grey: str) -> str:
    level = int(grey, 16) / 255
    return f"{round(_DARK_INK + level * (_DARK_PAPER - _DARK_INK)):02x}"


def regions(
    ax: Axes, model: Any, X: np.ndarray, y: np.ndarray, step: int = 120, size: float = 14.0
) -> tuple[np.ndarray, np.ndarray]:
    """The regions that a model of two features gives to classes, and the rows; returns the grid."""
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.08 * (high - low)
    axes = (np.linspace(a - m, b + m, step) for a, b, m in zip(low, high, margin, strict=True))
    across, up = np.meshgrid(*axes)
    predicted = model.predict(np.c_[across.ravel(), up.ravel()])
    classes = np.unique(y)
    place = np.searchsorted(classes, predicted).reshape(across.shape)
    colours = ListedColormap(CLASSES[: classes.size])
    ax.imshow(
        place, origin="lower", extent=(across.min(), across.max(), up.min(), up.max()),
        cmap=colours, vmin=-0.5, vmax=classes.size - 0.5, alpha=0.25, aspect="auto",
        interpolation="nearest",
    )  # fmt: skip
    ax.contour(
        across, up, place, levels=np.arange(classes.size - 1) + 0.5, colors="0.4", linewidths=1
    )
    points(ax, X, y, size)
    return across, up


def points(ax: Axes, X: np.ndarray, y: np.ndarray, size: float = 14.0) -> None:
    """Rows of two features, in the colours of their classes, without ticks."""
    for colour, label in zip(CLASSES, np.unique(y), strict=False):
        ax.scatter(*X[y == label].T, s=size, color=colour, linewidths=0)
    ax.set(xticks=[], yticks=[])


def in_style() -> Any:
    """A context in which figures are drawn."""
    return mpl.rc_context(STYLE)
