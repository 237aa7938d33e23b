"""Charts of a regression: predicted against actual, residuals, intervals, features, rows."""

from __future__ import annotations

from collections.abc import Sequence

from ..studies.target_influence import TargetFeature
from ..studies.target_learning import TargetCurve
from .plain import cut, number
from .svg import Drawing, Frame, Markup, Scale
from .target_figures import IntervalFigures, TargetFigures

__all__ = [
    "draw_actual",
    "draw_covered",
    "draw_residuals",
    "draw_target_influence",
    "draw_target_learning",
]

_SIDE, _LONGEST_NAME = 460.0, 24


def draw_actual(figures: TargetFigures) -> Markup:
    """Predicted against actual values of left-out rows; the diagonal is perfect."""
    drawing = Drawing(_SIDE, _SIDE - 40, "Predicted against actual values of left-out rows")
    frame = Frame(drawing, 84, 12, _SIDE - 14, drawing.height - 60)
    values = [value for point in figures.points for value in point]
    low, high = _room(min(values), max(values))
    across, up = (
        Scale(low, high, frame.left, frame.right),
        Scale(low, high, frame.bottom, frame.top),
    )
    frame.across(frame.scaled(across, 5))
    frame.up(frame.scaled(up, 5))
    drawing.line([(frame.left, frame.bottom), (frame.right, frame.top)], "diagonal")
    for actual, predicted in figures.points:
        tip = f"actual {number(actual)}\npredicted {number(predicted)}"
        drawing.add("circle", class_="tipped dot", data_tip=tip, cx=across(actual),
                    cy=up(predicted), r=_radius(figures))  # fmt: skip
    frame.axis_names("actual", "predicted when left out")
    return drawing.markup()


def draw_residuals(figures: TargetFigures) -> Markup:
    """Residuals against predictions of left-out rows."""
    drawing = Drawing(_SIDE, _SIDE - 40, "Residuals against predictions of left-out rows")
    frame = Frame(drawing, 84, 12, _SIDE - 14, drawing.height - 60)
    predicted = [point[1] for point in figures.points]
    residuals = [point[0] - point[1] for point in figures.points]
    across = Scale(*_room(min(predicted), max(predicted)), frame.left, frame.right)
    up = Scale(*_room(min(0.0, *residuals), max(0.0, *residuals)), frame.bottom, frame.top)
    frame.across(frame.scaled(across, 5))
    frame.up(frame.scaled(up, 5))
    drawing.add("line", class_="zero", x1=frame.left, x2=frame.right, y1=up(0.0), y2=up(0.0))
    for value, residual in zip(predicted, residuals, strict=True):
        tip = f"predicted {number(value)}\nresidual {number(residual)}"
        drawing.add("circle", class_="tipped dot", data_tip=tip, cx=across(value), cy=up(residual),
                    r=_radius(figures))  # fmt: skip
    frame.axis_names("predicted when left out", "actual minus predicted")
    return drawing.markup()


def _radius(figures: TargetFigures) -> float:
    return 4.0 if len(figures.points) <= 500 else 3.0


def draw_covered(intervals: IntervalFigures) -> Markup:
    """Intervals of rows of other folds by increasing prediction, with the actual values."""
    drawing = Drawing(640, 360, "Prediction intervals and actual values")
    frame = Frame(drawing, 84, 12, 626, drawing.height - 44)
    rows = [row for row in intervals.rows if abs(row[2]) < 1e300 and abs(row[3]) < 1e300]
    if not rows:
        return Markup("")
    low = min(min(row[0], row[2]) for row in rows)
    high = max(max(row[0], row[3]) for row in rows)
    up = Scale(*_room(low, high), frame.bottom, frame.top)
    frame.up(frame.scaled(up, 6))
    step = (frame.right - frame.left) / len(rows)
    width = max(min(0.62 * step, 5.0), 1.0)
    for place, (actual, predicted, first, last) in enumerate(rows):
        x = frame.left + step * (place + 0.5)
        inside = first <= actual <= last
        tip = (
            f"actual {number(actual)}\npredicted {number(predicted)}\ninterval {number(first)} to "
            f"{number(last)}"
        )
        drawing.add("rect", class_="interval", x=x - width / 2, width=width, y=up(last),
                    height=max(up(first) - up(last), 1.0))  # fmt: skip
        drawing.add("rect", class_="middle", x=x - width / 2, width=width, y=up(predicted) - 1,
                    height=2.0)  # fmt: skip
        drawing.add("circle", class_=f"tipped {'dot' if inside else 'wrong'}", data_tip=tip, cx=x,
                    cy=up(actual), r=3.6)  # fmt: skip
    frame.axis_names("rows, by increasing prediction", "target")
    return drawing.markup()


def draw_target_influence(features: Sequence[TargetFeature]) -> Markup:
    """A bar per feature, with its interval."""
    row, top, bottom, width, left = 34.0, 8.0, 62.0, 640.0, 236.0
    height = top + row * len(features) + bottom
    drawing = Drawing(width, height, "How much the error grows if a feature is permuted")
    frame = Frame(drawing, left, top, width - 24, height - bottom)
    low = min(0.0, *(one.interval[0] for one in features))
    high = max(*(one.interval[1] for one in features), low + 1e-12, 0.0)
    scale = Scale(low, high, frame.left, frame.right)
    frame.across(frame.scaled(scale, 5))
    for index, one in enumerate(features):
        middle = top + row * (index + 0.5)
        start, end = sorted((scale(0.0), scale(one.increase)))
        first, last = one.interval
        tip = (
            f"{cut(one.name)}\nerror grows by {number(one.increase, 3)}\n"
            f"interval {number(first, 3)} to {number(last, 3)}"
        )
        kind = "right" if one.clear else "failed"
        drawing.add("rect", class_=f"tipped {kind}", data_tip=tip, x=start, y=middle - 9,
                    width=max(end - start, 1.5), height=18.0)  # fmt: skip
        drawing.add("line", class_="whisker", x1=scale(first), x2=scale(last), y1=middle,
                    y2=middle)  # fmt: skip
        drawing.add("text", cut(one.name, _LONGEST_NAME), class_="row", x=frame.left - 10,
                    y=middle, dy="0.35em", text_anchor="end")  # fmt: skip
    zero = scale(0.0)
    drawing.add("line", class_="zero", x1=zero, x2=zero, y1=frame.top, y2=frame.bottom)
    drawing.add("text", "root mean squared error grows by", class_="name",
                x=(frame.left + frame.right) / 2, y=height - 8, text_anchor="middle")  # fmt: skip
    return drawing.markup()


def draw_target_learning(curve: TargetCurve) -> Markup:
    """Error against the number of rows, with 95% CIs."""
    points = curve.points
    drawing = Drawing(640, 330, "Left-out error against the number of rows")
    frame = Frame(drawing, 84, 12, 606, drawing.height - 64)
    across = Scale(points[0].n_rows / 1.15, points[-1].n_rows * 1.15, frame.left, frame.right,
                   logarithmic=True)  # fmt: skip
    up = Scale(0, max(one.interval[1] for one in points), frame.bottom, frame.top)
    frame.across([(across(one.n_rows), str(one.n_rows)) for one in points])
    frame.up(frame.scaled(up, 5))
    edge = [(across(one.n_rows), up(one.interval[1])) for one in points]
    edge += [(across(one.n_rows), up(one.interval[0])) for one in reversed(points)]
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in edge)
    drawing.add("polygon", class_="band", points=places)
    drawing.line([(across(one.n_rows), up(one.error)) for one in points], "curve series0")
    for one in points:
        several = "1 model" if one.n_models == 1 else f"{one.n_models} models"
        tip = (
            f"{one.n_rows} rows ({several})\nerror {number(one.error, 3)}\n95% CI "
            f"{number(one.interval[0], 3)} to {number(one.interval[1], 3)}"
        )
        drawing.add("circle", class_="tipped series0", data_tip=tip, cx=across(one.n_rows),
                    cy=up(one.error), r=6.0)  # fmt: skip
    frame.axis_names("training rows", "left-out error")
    return drawing.markup()


def _room(low: float, high: float) -> tuple[float, float]:
    """The range with a little room at both ends."""
    room = 0.03 * (high - low or abs(high) or 1.0)
    return low - room, high + room
