"""How a search was made, as plain data for the report and the JSON, and in words."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..common.evaluated import evaluated
from ..common.tasks import REGRESSION
from ..report.plain import words
from ..search.evaluation.progress import duration
from ..search.evaluation.stages import BUDGET, Widened
from ..tables import Table
from .grids import SearchPlan, own_name
from .request import TuneRequest
from .searching import Searched
from .terminal import Terminal

__all__ = ["gather_facts", "tell_facts"]


def gather_facts(
    found: Searched, plan: SearchPlan, request: TuneRequest, table: Table, n_encoded: int,
    budget: float | None,
) -> dict[str, Any]:  # fmt: skip
    """What the report needs to know that is not in the search itself.

    Parameters
    ----------
    found : Searched
    plan : SearchPlan
    request : TuneRequest
    table : Table
        All rows.
    n_encoded : int
        Number of columns after encoding.
    budget : float, optional
        Seconds.
    """
    search, size, sample = found.search, found.size, found.sample
    n_done, n_planned = len(evaluated(search)[0]["params"]), len(search.cv_results_["params"])
    return {
        "task": {"name": table.task, "why": table.why_task if table.task == REGRESSION else ""},
        "search": {"name": plan.name, "n_planned": n_planned, "why": plan.why},
        "seconds": found.seconds,
        "stopped": None
        if search.stopped_ is None
        else {
            "reason": search.stopped_,
            "n_done": n_done,
            "n_planned": n_planned,
            "in_words": _stopped(search.stopped_, n_done, n_planned, budget),
        },
        "widened": [
            {**asdict(one), "name": own_name(one.parameter), "in_words": _widened(one)}
            for one in search.widened_
        ],
        "sample": None
        if sample is None
        else {
            "n_rows": sample.table.n_rows,
            "n_of": sample.n_of,
            "asked": not size.why,
            "in_words": size.why or f"The search used a sample of {sample.in_words}.",
        },
        "approximation": None
        if size.components is None
        else {
            "n_components": size.components,
            "asked": not size.why,
            "in_words": f"The kernel is approximated from {size.components} rows (Nystroem).",
        },
        "preprocessing": {
            "scale": request.scale,
            "impute": request.impute,
            "features": list(table.feature_names),
            "column_types": list(table.column_types),
            "n_encoded": n_encoded,
        },
        "rows": {
            "n_rows": table.n_rows,
            "n_without_label": table.n_unlabelled,
            "grouped": table.groups is not None,
        },
        "resumed": search.n_resumed_,
    }


def tell_facts(facts: dict[str, Any], terminal: Terminal) -> None:
    """Note what happened during the search."""
    for one in facts["widened"]:
        terminal.note(one["in_words"], fact=True)
    if facts["resumed"]:
        terminal.note(f"{facts['resumed']} candidates were taken over from the unfinished search.")
    if facts["stopped"] is not None:
        terminal.note(f"Partial: {facts['stopped']['in_words']}", fact=True)


def _widened(one: Widened) -> str:
    far = words(one.values[-1])
    return (
        f"The best {own_name(one.parameter)} was at the edge of the grid, so values {one.side} it "
        f"were tried too, {'down' if one.side == 'below' else 'up'} to {far}."
    )


def _stopped(reason: str, n_done: int, n_planned: int, budget: float | None) -> str:
    when, chance = "by Ctrl-C", ""
    if reason == BUDGET and budget is not None:
        when = f"when its {duration(budget)} were over"
        chance = " How many are finished by then depends on the machine, and so may the result."
    selected = "; the best of these was selected" if n_done > 1 else ", which was selected"
    return (
        f"The search was stopped {when}, after {n_done} of {n_planned} candidates"
        f"{selected}.{chance} The same command with --resume continues it."
    )
