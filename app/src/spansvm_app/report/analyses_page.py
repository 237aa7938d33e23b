"""The sections of the report's page on the studies of the selected model."""

from __future__ import annotations

import json
from typing import Any

from ..studies import Costs, CostStep, FeatureInfluence, Influence
from .analyses import Analyses
from .analysis_charts import draw_costs, draw_influence, draw_learning, draw_precision
from .plain import cut, number, percent, points, signed
from .svg import Markup

__all__ = ["render_analyses"]

#: How many features the chart shows.
_MOST_FEATURES = 15

#: What is said of a threshold, and the ratios of the table.
_COST_NAMES = (
    "threshold",
    "decision value",
    "missed",
    "false alarms",
    "cost of 100 rows",
    "with the model's own threshold",
    "with the same prediction for all",
)
_NO_VALUE = "any"

#: What the kinds of leaks are.
_LEAK_KINDS = {
    "copy": "a copy of the target",
    "counter": "a row number, in the order of the target",
    "alone": "far better alone than all others together",
}

_RATIOS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)


def render_analyses(environment: Any, template: str, analyses: Analyses, **page: Any) -> Markup:
    """The sections as HTML.

    Parameters
    ----------
    environment : jinja2.Environment
        With the filters of the page.
    template : str
    analyses : Analyses
    **page : dict
        What else the template names: ``report`` and ``search``.
    """
    environment.filters.update(points=points, signed=signed)
    influence, decisions, curve = analyses.influence, analyses.decisions, analyses.learning_curve
    shown = [] if influence is None else influence.features[:_MOST_FEATURES]
    values: dict[str, Any] = {
        "analyses": analyses,
        "leak_kinds": _LEAK_KINDS,
        "shown_features": len(shown),
        "influence_chart": _influence(influence, shown, page["search"].scoring),
        "precision_chart": draw_precision(decisions.curves) if decisions.curves else "",
        "learning_chart": "" if curve is None else draw_learning(curve),
        **({} if decisions.costs is None else _costs(decisions.costs)),
        **page,
    }
    return Markup(environment.from_string(template).render(values))


def _influence(found: Influence | None, shown: list[FeatureInfluence], scoring: str) -> Markup:
    if found is None or not shown:
        return Markup("")
    return draw_influence(shown, scoring if found.scored else None)


def _costs(costs: Costs) -> dict[str, Any]:
    steps = [_step_in_words(one, costs) for one in costs.steps]
    ratios = [one.ratio for one in costs.steps]
    nearest = [min(range(len(ratios)), key=lambda i: abs(ratios[i] / r - 1)) for r in _RATIOS]
    return {
        "cost_chart": draw_costs(costs),
        "cost_names": _COST_NAMES,
        "cost_steps": steps,
        "cost_middle": ratios.index(1.0),
        "cost_data": json.dumps(steps),
        "cost_table": [(_ratio(ratios[index]), steps[index]) for index in nearest],
    }


def _step_in_words(one: CostStep, costs: Costs) -> list[str]:
    """What the slider says at one position: a sentence, then a text for each name."""
    label, ratio = cut(costs.label), one.ratio
    side = "at least" if costs.rises else "at most"
    if ratio == 1.0:
        words = f"A missed '{label}' costs as much as a false alarm"
    elif ratio > 1.0:
        words = f"A missed '{label}' costs as much as {number(ratio, 2)} false alarms"
    else:
        words = f"A false alarm costs as much as {number(1 / ratio, 2)} missed '{label}'"
    return [
        words,
        percent(one.threshold),
        _NO_VALUE if one.decision is None else f"{side} {number(one.decision, 3)}",
        f"{one.n_missed} of {costs.n_rows} ({percent(one.missed)})",
        f"{one.n_alarms} of {costs.n_other} ({percent(one.alarms)})",
        number(100 * one.cost, 3),
        number(100 * one.own_cost, 3),
        number(100 * min(one.never_cost, one.always_cost), 3),
    ]


def _ratio(ratio: float) -> str:
    return f"{number(ratio, 2)}" if ratio >= 1 else f"1/{number(1 / ratio, 2)}"
