"""Charts of the candidates of a search: heat map, points, curves or ranked bars.

Every candidate drawn has the class ``mark`` and its number; the page's script does the hovering.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spansvm.display import ColourScale

from .plain import number
from .searched import SearchedAxis, SearchedCandidates
from .svg import PALETTE, Drawing, Frame, Markup, Scale, thin

__all__ = ["draw_search"]

_WIDTH, _HEIGHT = 640.0, 480.0
_MOST_TICKS, _MOST_BARS = 9, 25


def draw_search(search: SearchedCandidates) -> Markup:
    """The chart that suits the candidates."""
    label = f"Scores of {search.n_candidates} candidates"
    if search.chart == "bars":
        return _bars(search, label)
    drawing = Drawing(_WIDTH, _HEIGHT, label)
    if search.chart == "curves":
        _curves(search, Frame(drawing, 78, 34, _WIDTH - 16, _HEIGHT - 62))
    else:
        frame = Frame(drawing, 78, 36, _WIDTH - 104, _HEIGHT - 62)
        colours = ColourScale(search.selecting_scores)
        draw = _heat_map if search.chart == "heat map" else _points
        draw(search, frame, colours)
        _colour_bar(frame, colours, search.scoring)
    return drawing.markup()


def _best_of_each(places: Sequence[object], search: SearchedCandidates) -> list[int]:
    """The candidate to show at each place: the best one, with the selected one winning ties."""
    best: dict[object, int] = {}
    for candidate in search.ranking():
        best.setdefault(places[candidate], candidate)
    return sorted(best.values())


def _heat_map(search: SearchedCandidates, frame: Frame, colours: ColourScale) -> None:
    across, up = (search.axes[i] for i in search.shown)
    width = (frame.right - frame.left) / len(across.labels)
    height = (frame.bottom - frame.top) / len(up.labels)
    gap = 1.0 if min(width, height) > 8 else 0.0
    cells = frame.drawing.add("g", class_="cells")

    def corner(candidate: int) -> tuple[float, float]:
        x = frame.left + width * across.codes[candidate]
        return x, frame.bottom - height * (up.codes[candidate] + 1)

    scores = search.selecting_scores
    for candidate in _best_of_each(list(zip(across.codes, up.codes, strict=True)), search):
        x, y = corner(candidate)
        _mark(
            frame.drawing, cells, "rect", candidate, colours.level(scores[candidate], len(PALETTE)),
            x=x, y=y, width=width - gap, height=height - gap,
        )  # fmt: skip
    x, y = corner(search.best_index)
    frame.drawing.star(x + (width - gap) / 2, y + (height - gap) / 2)
    frame.across(_cell_ticks(across, frame.left, width), grid=False)
    frame.up(_cell_ticks(up, frame.bottom, -height), grid=False)
    frame.axis_names(across.name, up.name)


def _cell_ticks(axis: SearchedAxis, start: float, step: float) -> list[tuple[float, str]]:
    most = _MOST_TICKS if axis.numeric else len(axis.labels)
    return [
        (start + step * (code + 0.5), axis.labels[code]) for code in thin(len(axis.labels), most)
    ]


def _points(search: SearchedCandidates, frame: Frame, colours: ColourScale) -> None:
    across, up = (search.axes[i] for i in search.shown)
    inset = 14.0
    x_scale = _axis_scale(across, frame.left + inset, frame.right - inset)
    y_scale = _axis_scale(up, frame.bottom - inset, frame.top + inset)
    frame.across(_axis_ticks(across, x_scale, frame))
    frame.up(_axis_ticks(up, y_scale, frame))
    scores = search.selecting_scores
    # The best are drawn last, so that worse ones do not hide them.
    for candidate in reversed(search.ranking()):
        _mark(
            frame.drawing, None, "circle", candidate,
            colours.level(scores[candidate], len(PALETTE)),
            cx=x_scale(across.positions[across.codes[candidate]]),
            cy=y_scale(up.positions[up.codes[candidate]]), r=7.0,
        )  # fmt: skip
    best = search.best_index
    frame.drawing.star(
        x_scale(across.positions[across.codes[best]]), y_scale(up.positions[up.codes[best]])
    )
    frame.axis_names(across.name, up.name)


def _curves(search: SearchedCandidates, frame: Frame) -> None:
    axis = search.axes[search.shown[0]]
    group = search.axes[search.shown[1]] if len(search.shown) > 1 else None
    scores = search.selecting_scores
    known = scores[~np.isnan(scores)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    room = 0.06 * (high - low or 0.1)
    x_scale = _axis_scale(axis, frame.left + 12, frame.right - 12)
    y_scale = Scale(low - room, high + room, frame.bottom, frame.top)
    frame.across(_axis_ticks(axis, x_scale, frame))
    frame.up(frame.scaled(y_scale))
    codes = [0] * search.n_candidates if group is None else group.codes
    shown = _best_of_each(list(zip(codes, axis.codes, strict=True)), search)

    def place(candidate: int) -> tuple[float, float]:
        # Failed candidates have no score: they go to the bottom.
        score = scores[candidate]
        y = frame.bottom - 8 if np.isnan(score) else y_scale(float(score))
        return x_scale(axis.positions[axis.codes[candidate]]), y

    for curve in sorted(set(codes)):
        members = [candidate for candidate in shown if codes[candidate] == curve]
        members.sort(key=lambda candidate: axis.codes[candidate])
        drawn = [candidate for candidate in members if not np.isnan(scores[candidate])]
        if axis.numeric:
            frame.drawing.line([place(candidate) for candidate in drawn], f"curve series{curve}")
        for candidate in members:
            x, y = place(candidate)
            kind = "failed" if np.isnan(scores[candidate]) else f"series{curve}"
            frame.drawing.add("circle", class_=f"mark {kind}", data_candidate=candidate,
                              cx=x, cy=y, r=5.0)  # fmt: skip
    if group is not None:
        _legend(frame, [f"{group.name} = {label}" for label in group.labels])
    frame.drawing.star(*place(search.best_index))
    frame.axis_names(axis.name, search.scoring)


def _legend(frame: Frame, labels: Sequence[str]) -> None:
    step = (frame.right - frame.left) / len(labels)
    for index, label in enumerate(labels):
        x = frame.left + index * step
        frame.drawing.add("circle", class_=f"series{index}", cx=x + 6, cy=14.0, r=5.0)
        frame.drawing.add("text", label, x=x + 16, y=14.0, dy="0.35em")


def _bars(search: SearchedCandidates, label: str) -> Markup:
    """The best candidates, one bar each, for searches without a numeric axis."""
    shown = search.ranking()[:_MOST_BARS]
    row, width = 44.0, _WIDTH
    drawing = Drawing(width, row * len(shown) + 8, label)
    scores = search.selecting_scores
    known = scores[shown][~np.isnan(scores[shown])]
    low = min(0.0, float(known.min(initial=0.0)))
    scale = Scale(low, max(float(known.max(initial=0.0)), low + 1e-12), 16, width - 90)
    for index, candidate in enumerate(shown):
        y, score = row * index, float(scores[candidate])
        failed = np.isnan(score)
        text = "failed" if failed else number(score)
        end = scale.start if failed else scale(score)
        selected = candidate == search.best_index
        name, star = ("row selected", " ★") if selected else ("row", "")
        drawing.add("text", search.setting(candidate) + star, class_=name, x=16.0, y=y + 15)
        drawing.add("rect", class_="mark failed" if failed else "mark series0",
                    data_candidate=candidate, x=16.0, y=y + 21, height=13.0,
                    width=max(end - scale.start, 3.0))  # fmt: skip
        drawing.add("text", text, x=max(end, scale.start) + 8, y=y + 28, dy="0.35em")
    return drawing.markup()


def _mark(
    drawing: Drawing, parent: object, tag: str, candidate: int, level: int, **place: float
) -> None:
    drawing.add(
        tag, None, parent,
        class_="mark failed" if level < 0 else "mark",
        data_candidate=candidate,
        fill=None if level < 0 else PALETTE[level],
        **place,
    )  # fmt: skip


def _axis_scale(axis: SearchedAxis, start: float, end: float) -> Scale:
    return Scale(min(axis.positions), max(axis.positions), start, end, axis.logarithmic)


def _axis_ticks(axis: SearchedAxis, scale: Scale, frame: Frame) -> list[tuple[float, str]]:
    """Ticks at the values themselves if they are few, else at round numbers."""
    if len(axis.labels) > _MOST_TICKS and axis.numeric and axis.positions[0] != 0:
        return frame.scaled(scale)
    return [
        (scale(axis.positions[code]), axis.labels[code])
        for code in thin(len(axis.labels), _MOST_TICKS)
    ]


def _colour_bar(frame: Frame, colours: ColourScale, name: str) -> None:
    drawing, left = frame.drawing, frame.right + 26
    if colours.high <= colours.low:
        return
    fill = drawing.add("linearGradient", parent=drawing.add("defs"), id="colours",
                       x1=0, x2=0, y1=1, y2=0)  # fmt: skip
    for stop in range(0, len(PALETTE), 7):
        offset = f"{stop / (len(PALETTE) - 1):.3f}"
        drawing.add("stop", None, fill, offset=offset, stop_color=PALETTE[stop])
    drawing.add("rect", class_="bar", x=left, y=frame.top, width=14.0,
                height=frame.bottom - frame.top, fill="url(#colours)")  # fmt: skip
    # Above the frame, as names of scores are wider than the colour bar.
    drawing.add("text", name, class_="name", x=drawing.width - 4, y=frame.top - 16,
                text_anchor="end")  # fmt: skip
    scale = Scale(colours.low, colours.high, frame.bottom, frame.top)
    for value in scale.ticks(5):
        drawing.add("text", number(value, 3), x=left + 20, y=scale(value), dy="0.35em")
    if colours.open_below:
        drawing.add("text", "or less", class_="small", x=left - 2, y=frame.bottom + 18)
