"""Charts of the studies: influence of features, precision and recall, costs, learning curve."""

from __future__ import annotations

from collections.abc import Sequence

from ..studies import Costs, FeatureInfluence, LearningCurve, Precision
from .plain import cut, number, percent
from .svg import Drawing, Frame, Markup, Scale

__all__ = ["COST_PLACES", "draw_costs", "draw_influence", "draw_learning", "draw_precision"]

#: The horizontal ends of the chart of costs: where the script puts its marker.
COST_PLACES = (74.0, 612.0)

_LONGEST_NAME = 24


def draw_influence(features: Sequence[FeatureInfluence], scoring: str | None = None) -> Markup:
    """A bar per feature, with its interval: of the error, or of the score that is named."""
    row, top, bottom, width, left = 34.0, 8.0, 62.0, 640.0, 236.0
    height = top + row * len(features) + bottom
    # Errors are in percentage points.
    what, unit, least = ("error", 100.0, 1.0) if scoring is None else (scoring, 1.0, 1e-12)
    grows = "grows" if scoring is None else "falls"
    drawing = Drawing(width, height, f"How much the {what} {grows} if a feature is permuted")
    frame = Frame(drawing, left, top, width - 24, height - bottom)
    low = min(0.0, *(unit * one.interval[0] for one in features))
    high = max(least, *(unit * one.interval[1] for one in features))
    scale = Scale(low, high, frame.left, frame.right)
    frame.across(frame.scaled(scale, 5))
    shown = _points if scoring is None else _score
    for index, one in enumerate(features):
        middle = top + row * (index + 0.5)
        start, end = sorted((scale(0.0), scale(unit * one.shown)))
        first, last = one.interval
        tip = (
            f"{cut(one.name)}\n{what} {grows} by {shown(one.shown)}\ninterval {shown(first)} to "
            f"{shown(last)}"
        )
        kind = "right" if one.clear else "failed"
        drawing.add("rect", class_=f"tipped {kind}", data_tip=tip, x=start, y=middle - 9,
                    width=max(end - start, 1.5), height=18.0)  # fmt: skip
        drawing.add("line", class_="whisker", x1=scale(unit * first), x2=scale(unit * last),
                    y1=middle, y2=middle)  # fmt: skip
        drawing.add("text", cut(one.name, _LONGEST_NAME), class_="row", x=frame.left - 10,
                    y=middle, dy="0.35em", text_anchor="end")  # fmt: skip
    zero = scale(0.0)
    drawing.add("line", class_="zero", x1=zero, x2=zero, y1=frame.top, y2=frame.bottom)
    name = f"{what} {grows} by" + (", percentage points" if scoring is None else "")
    drawing.add("text", name, class_="name", x=(frame.left + frame.right) / 2, y=height - 8,
                text_anchor="middle")  # fmt: skip
    return drawing.markup()


def _score(value: float) -> str:
    return number(value, 2)


def draw_precision(curves: Sequence[Precision]) -> Markup:
    """Precision against recall; the dot is the model's own decision."""
    side = 460.0
    drawing = Drawing(side, side - 40, "Precision against recall, from leave-one-out values")
    frame = Frame(drawing, 74, 12, side - 14, drawing.height - 60)
    across, up = Scale(0, 1, frame.left, frame.right), Scale(0, 1, frame.bottom, frame.top)
    frame.across(frame.scaled(across, 5))
    frame.up(frame.scaled(up, 5))
    for index, one in enumerate(curves):
        if len(curves) == 1:
            level = up(one.share)
            drawing.line([(frame.left, level), (frame.right, level)], "diagonal")
        places = [(across(x), up(y)) for x, y in zip(one.recall, one.precision, strict=True)]
        drawing.line(places, f"curve series{index}")
    for index, one in enumerate(curves):
        if one.at is not None:
            tip = f"{cut(one.label)}\nrecall {percent(one.at[0])}\nprecision {percent(one.at[1])}"
            drawing.add("circle", class_=f"tipped series{index}", data_tip=tip,
                        cx=across(one.at[0]), cy=up(one.at[1]), r=6.0)  # fmt: skip
        if len(curves) == 1:
            break  # the caption says it
        y = frame.bottom - 20 - 24 * (len(curves) - 1 - index)
        drawing.add("circle", class_=f"series{index}", cx=frame.left + 14, cy=y, r=5.0)
        text = f"{cut(one.label, _LONGEST_NAME)}, average {one.average:.3f}"
        drawing.add("text", text, x=frame.left + 26, y=y, dy="0.35em")
    frame.axis_names("recall", "precision")
    return drawing.markup()


def draw_costs(costs: Costs) -> Markup:
    """Both error rates against the ratio of the costs; the script moves the marker."""
    left, right = COST_PLACES
    drawing = Drawing(640, 320, "Both error rates against the ratio of the costs")
    frame = Frame(drawing, left, 12, right, drawing.height - 64)
    steps = costs.steps
    across = Scale(steps[0].ratio, steps[-1].ratio, left, right, logarithmic=True)
    up = Scale(
        0, max(*(max(one.missed, one.alarms) for one in steps), 0.01), frame.bottom, frame.top
    )
    ticks = [(0.01, "1/100"), (0.1, "1/10"), (1.0, "1"), (10.0, "10"), (100.0, "100")]
    frame.across([(across(ratio), label) for ratio, label in ticks])
    frame.up([(up(value), percent(value).replace(".0%", "%")) for value in up.ticks(5)])
    for series, name in ((1, "missed"), (0, "alarms")):
        places = [(across(one.ratio), up(getattr(one, name))) for one in steps]
        drawing.line(places, f"curve series{series}")
    own = across(1.0)
    drawing.add("line", class_="zero", id="cost-marker", x1=own, x2=own, y1=frame.top,
                y2=frame.bottom)  # fmt: skip
    label = cut(costs.label, _LONGEST_NAME)
    frame.axis_names(f"false alarms that a missed {label} costs", "error rate")
    return drawing.markup()


def draw_learning(curve: LearningCurve) -> Markup:
    """Error against the number of rows, with 95% CIs."""
    points = curve.points
    drawing = Drawing(640, 330, "Left-out error against the number of rows")
    frame = Frame(drawing, 84, 12, 606, drawing.height - 64)
    across = Scale(points[0].n_rows / 1.15, points[-1].n_rows * 1.15, frame.left, frame.right,
                   logarithmic=True)  # fmt: skip
    highest = max(one.interval[1] for one in points)
    up = Scale(0, max(highest, 0.01), frame.bottom, frame.top)
    frame.across([(across(one.n_rows), str(one.n_rows)) for one in points])
    frame.up([(up(value), percent(value).replace(".0%", "%")) for value in up.ticks(5)])
    edge = [(across(one.n_rows), up(one.interval[1])) for one in points]
    edge += [(across(one.n_rows), up(one.interval[0])) for one in reversed(points)]
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in edge)
    drawing.add("polygon", class_="band", points=places)
    drawing.line([(across(one.n_rows), up(one.error)) for one in points], "curve series0")
    for one in points:
        several = "1 model" if one.n_models == 1 else f"{one.n_models} models"
        tip = (
            f"{one.n_rows} rows ({several})\nerror {percent(one.error)}\n95% CI "
            f"{percent(one.interval[0])} to {percent(one.interval[1])}"
        )
        drawing.add("circle", class_="tipped series0", data_tip=tip, cx=across(one.n_rows),
                    cy=up(one.error), r=6.0)  # fmt: skip
    frame.axis_names("training rows", "left-out error")
    return drawing.markup()


def _points(share: float) -> str:
    value = 100 * share
    sign = "+" if value > 0 else ""
    return sign + number(round(value, 2), 3)
