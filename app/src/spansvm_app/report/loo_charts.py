"""Charts of leave-one-out values: margins by class, ROC, calibration."""

from __future__ import annotations

from collections.abc import Sequence

from .loo_figures import Calibration, LeaveOneOutFigures, Operation
from .naming import LONGEST_LABEL
from .plain import cut, number, percent
from .svg import Drawing, Frame, Markup, Scale

__all__ = ["draw_calibration", "draw_margins", "draw_operations"]

_SIDE = 460.0

#: Height of a class's histogram, at least and at most, and of all of them together.
_LEAST_PANEL, _PANEL, _HIGHEST = 44.0, 112.0, 900.0


def draw_margins(figures: LeaveOneOutFigures) -> Markup:
    """Histograms of the margins, one per class; left of 0 a class loses to another."""
    margins = figures.margins
    top, bottom, width = 6.0, 58.0, 640.0
    # Many classes share the height of a screen or two; the label stands above the bars.
    panel = min(max(_HIGHEST / len(figures.classes), _LEAST_PANEL), _PANEL)
    above = min(44.0, 0.4 * panel)
    label = "Histograms of leave-one-out margins, one per class"
    drawing = Drawing(width, top + panel * len(figures.classes) + bottom, label)
    frame = Frame(drawing, 16, top, width - 16, drawing.height - bottom)
    scale = Scale(margins.edges[0], margins.edges[-1], frame.left, frame.right)
    frame.across(frame.scaled(scale, 8), grid=True)
    last = len(margins.edges) - 2
    for index, one in enumerate(figures.classes):
        foot, counts = top + panel * (index + 1), margins.counts[index]
        highest = max(*counts, 1)
        for bar, count in enumerate(counts):
            if not count:
                continue
            left, right = margins.edges[bar], margins.edges[bar + 1]
            if bar == 0 and margins.open_below:
                where = f"below {number(right, 3)}"
            elif bar == last and margins.open_above:
                where = f"above {number(left, 3)}"
            else:
                where = f"{number(left, 3)} to {number(right, 3)}"
            # A single row among thousands stays visible.
            height = max((panel - above) * count / highest, 1.5)
            middle = (left + right) / 2
            kind = "wrong" if middle < 0 else "right"
            drawing.add(
                "rect", class_=f"tipped {kind}",
                data_tip=f"{one.label}\nmargin {where}\n{_rows(count)}",
                x=scale(left) + 0.5, y=foot - height,
                width=max(scale(right) - scale(left) - 1, 1.0), height=height,
            )  # fmt: skip
        drawing.add("line", class_="axis", x1=frame.left, x2=frame.right, y1=foot, y2=foot)
        drawing.add(
            "text", one.label, class_="row", x=frame.left, y=foot - panel + min(26.0, above)
        )
    drawing.add("line", class_="zero", x1=scale(0), x2=scale(0), y1=frame.top, y2=frame.bottom)
    foot = drawing.height - 8
    name = "leave-one-out margin"
    drawing.add("text", name, class_="name", x=width / 2, y=foot, text_anchor="middle")
    return drawing.markup()


def draw_operations(operations: Sequence[Operation]) -> Markup:
    """ROC curves; the dot is the model's own operating point."""
    drawing, frame, across, up = _square("ROC curve from leave-one-out values")
    for index, one in enumerate(operations):
        places = [
            (across(x), up(y)) for x, y in zip(one.false_positive, one.true_positive, strict=True)
        ]
        drawing.line(places, f"curve series{index}")
    for index, one in enumerate(operations):
        tip = f"{one.label}: AUC {number(one.auc)}\nfalse positive rate {percent(one.at[0])}"
        tip += f"\ntrue positive rate {percent(one.at[1])}"
        drawing.add("circle", class_=f"tipped series{index}", data_tip=tip,
                    cx=across(one.at[0]), cy=up(one.at[1]), r=6.0)  # fmt: skip
        y = frame.bottom - 20 - 24 * (len(operations) - 1 - index)
        label = f"{cut(one.label, LONGEST_LABEL)}, AUC {one.auc:.4f}"
        drawing.add("circle", class_=f"series{index}", cx=frame.right - 14, cy=y, r=5.0)
        drawing.add("text", label, x=frame.right - 26, y=y, dy="0.35em", text_anchor="end")
    frame.axis_names("false positive rate", "true positive rate")
    return drawing.markup()


def draw_calibration(calibration: Calibration) -> Markup:
    """Observed shares against predicted probabilities, with Wilson's 95% CIs."""
    drawing, frame, across, up = _square("Calibration of leave-one-out probabilities")
    groups = list(
        zip(
            calibration.predicted, calibration.observed, calibration.low, calibration.high,
            calibration.n_rows, strict=True,
        )
    )  # fmt: skip
    for predicted, _, low, high, _ in groups:
        x = across(predicted)
        drawing.add("line", class_="whisker", x1=x, x2=x, y1=up(low), y2=up(high))
    drawing.line([(across(x), up(y)) for x, y, *_ in groups], "curve series0")
    for predicted, observed, low, high, count in groups:
        tip = (
            f"{_rows(count)}\npredicted {percent(predicted)}\nobserved {percent(observed)} "
            f"(95% CI {percent(low)} to {percent(high)})"
        )
        drawing.add("circle", class_="tipped series0", data_tip=tip,
                    cx=across(predicted), cy=up(observed), r=6.0)  # fmt: skip
    frame.axis_names(
        f"predicted probability of {cut(calibration.of, LONGEST_LABEL)}", "observed share"
    )
    return drawing.markup()


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _square(label: str) -> tuple[Drawing, Frame, Scale, Scale]:
    """A chart from 0 to 1 on both axes, with its diagonal."""
    drawing = Drawing(_SIDE, _SIDE - 40, label)
    frame = Frame(drawing, 74, 12, _SIDE - 14, drawing.height - 60)
    across = Scale(0, 1, frame.left, frame.right)
    up = Scale(0, 1, frame.bottom, frame.top)
    frame.across(frame.scaled(across, 5))
    frame.up(frame.scaled(up, 5))
    drawing.line([(frame.left, frame.bottom), (frame.right, frame.top)], "diagonal")
    return drawing, frame, across, up
