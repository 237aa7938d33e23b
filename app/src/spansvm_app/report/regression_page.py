"""What the page of a regression shows besides what every page does."""

from __future__ import annotations

from typing import Any

from .plain import fixed, number, percent
from .regression import RegressionReport
from .target_charts import (
    draw_actual,
    draw_covered,
    draw_residuals,
    draw_target_influence,
    draw_target_learning,
)

__all__ = ["FILTERS", "regression_page"]

#: How many features the chart shows.
_MOST_FEATURES = 15


def _plus(value: float) -> str:
    """A difference with its sign."""
    return f"+{number(value, 3)}" if value > 0 else number(value, 3)


def _level(share: float) -> str:
    return percent(share).replace(".0%", "%")


#: Filters of the template.
FILTERS = {"plus": _plus, "level": _level, "fixed": fixed}


def regression_page(report: RegressionReport) -> dict[str, Any]:
    """Figures and charts of the template, by name."""
    analyses = report.analyses
    intervals = None if analyses is None else analyses.intervals
    influence = None if analyses is None else analyses.influence
    curve = None if analyses is None else analyses.learning_curve
    shown = [] if influence is None else influence.features[:_MOST_FEATURES]
    return {
        "left_out": report.left_out,
        "analyses": analyses,
        "intervals": intervals,
        "actual_chart": draw_actual(report.left_out),
        "residuals_chart": draw_residuals(report.left_out),
        "shown_points": len(report.left_out.points),
        "covered_chart": "" if intervals is None else draw_covered(intervals),
        "shown_features": len(shown),
        "influence_chart": draw_target_influence(shown) if shown else "",
        "learning_chart": "" if curve is None else draw_target_learning(curve),
    }
