"""Drawings as inline SVG: escaped elements, scales with ticks, colours.

Colours that change with the theme are classes of the style sheet; only those that encode a value
are written into the drawing.

Why not matplotlib, which :mod:`spansvm.display` uses for two of the charts: here every candidate
and every bar is an element that the page's script can find, describe and recolour; a matplotlib
heat map is an image or, cell by cell, a file of twice the size.  And a report needs only jinja2.
What both draw is computed once, by ``display.axes`` and ``display.margins``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np

from .plain import number

__all__ = ["PALETTE", "Drawing", "Frame", "Markup", "Scale", "thin"]

#: From dark indigo through teal to yellow; lightness grows evenly, so it also works in grey.
_ANCHORS = ((40, 28, 84), (46, 74, 135), (32, 120, 143), (47, 163, 127), (134, 197, 86),
            (244, 224, 77))  # fmt: skip

_LEVELS = 64


def _palette() -> list[str]:
    channels = np.array(_ANCHORS).T
    places = np.linspace(0, len(_ANCHORS) - 1, _LEVELS)
    mixed = [np.interp(places, range(len(_ANCHORS)), channel) for channel in channels]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in np.rint(mixed).T.astype(int)]


#: Colours for values from the least to the greatest.
PALETTE = _palette()


class Markup(str):
    """Text that is already markup and goes into a page unescaped."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Scale:
    """Maps values to positions on the page, linearly or logarithmically."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """The position of a value."""
        low, high = self.low, self.high
        if self.logarithmic:
            value, low, high = math.log(value), math.log(low), math.log(high)
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values within the scale."""
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            if last - first >= 2:
                return [10.0**power for power in range(first, last + 1, -(-(last - first) // most))]
            return [self.low, self.high]
        if self.high <= self.low:
            return [self.low]
        least = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(least))
        step = next(power * part for part in (1, 2, 5, 10) if power * part >= least * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(step * count, 12) for count in range(first, last + 1)]


def thin(count: int, most: int) -> list[int]:
    """At most `most` of `count` indices, evenly spaced, starting with the first."""
    return list(range(0, count, -(-count // most)))


class Drawing:
    """An SVG picture that fills the available width.

    Parameters
    ----------
    width, height : float
        In its own coordinates.
    label : str
        What it shows, for screen readers.
    """

    def __init__(self, width: float, height: float, label: str) -> None:
        self.width, self.height = width, height
        self.root = ElementTree.Element("svg")
        box = f"0 0 {width:g} {height:g}"
        attributes = {"viewBox": box, "role": "group", "aria-label": label, "class": "chart"}
        for name, value in attributes.items():
            self.root.set(name, value)

    def add(
        self, tag: str, text: str | None = None, parent: Any = None, **attributes: Any
    ) -> ElementTree.Element:
        """Add an element; ``class_`` becomes ``class``, and ``_`` in names becomes ``-``."""
        written = {
            name.rstrip("_").replace("_", "-"): _coordinate(value)
            for name, value in attributes.items()
            if value is not None
        }
        element = ElementTree.SubElement(self.root if parent is None else parent, tag, written)
        element.text = text
        return element

    def line(self, places: Sequence[tuple[float, float]], class_: str) -> None:
        """Draw a line through positions."""
        points = " ".join(f"{_coordinate(x)},{_coordinate(y)}" for x, y in places)
        self.add("polyline", class_=class_, points=points)

    def star(self, x: float, y: float, size: float = 11.0) -> None:
        """Draw the mark of the selected candidate."""
        corners = []
        for corner in range(10):
            radius = size if corner % 2 == 0 else 0.42 * size
            angle = math.pi * corner / 5
            corners.append((x + radius * math.sin(angle), y - radius * math.cos(angle)))
        points = " ".join(f"{_coordinate(a)},{_coordinate(b)}" for a, b in corners)
        self.add("polygon", class_="star", points=points)

    def markup(self) -> Markup:
        """The picture, to put into a page."""
        return Markup(ElementTree.tostring(self.root, encoding="unicode"))


@dataclass(frozen=True)
class Frame:
    """The part of a drawing between its axes."""

    drawing: Drawing
    left: float
    top: float
    right: float
    bottom: float

    def axis_names(self, across: str, up: str) -> None:
        """Name the two axes."""
        middle = (self.left + self.right) / 2
        foot = self.drawing.height - 8
        self.drawing.add("text", across, class_="name", x=middle, y=foot, text_anchor="middle")
        middle = (self.top + self.bottom) / 2
        turned = f"translate(18 {middle:g}) rotate(-90)"
        self.drawing.add("text", up, class_="name", transform=turned, text_anchor="middle")

    def across(self, places: Sequence[tuple[float, str]], *, grid: bool = True) -> None:
        """Ticks of the horizontal axis."""
        for x, label in places:
            if grid:
                self.drawing.add("line", class_="grid", x1=x, x2=x, y1=self.top, y2=self.bottom)
            place = {"x": x, "y": self.bottom + 22, "text_anchor": "middle"}
            self.drawing.add("text", label, **place)

    def up(self, places: Sequence[tuple[float, str]], *, grid: bool = True) -> None:
        """Ticks of the vertical axis."""
        for y, label in places:
            if grid:
                self.drawing.add("line", class_="grid", x1=self.left, x2=self.right, y1=y, y2=y)
            place = {"x": self.left - 8, "y": y, "text_anchor": "end", "dy": "0.35em"}
            self.drawing.add("text", label, **place)

    def scaled(self, scale: Scale, most: int = 6) -> list[tuple[float, str]]:
        """Ticks of a scale."""
        return [(scale(value), number(value)) for value in scale.ticks(most)]


def _coordinate(value: Any) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
