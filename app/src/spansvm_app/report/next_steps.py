"""What to do next, in a few lines: leaks, copies, neighbours, more rows, labels, missed classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..common.wording import listed
from .analyses import Analyses
from .cautions import HELP, missed_classes
from .headline import frequencies
from .loo_figures import ClassFigures, LeaveOneOutFigures
from .overstated import Overstated
from .plain import cut, percent
from .searched import SearchedCandidates
from .suspicious import SuspiciousTable
from .target_analyses import TargetAnalyses
from .target_figures import DoubtfulTable

__all__ = ["NextStep", "next_steps", "next_steps_of_targets"]

#: How many rows are named.
_NAMED = 3

#: Residuals beyond this many spreads are doubtful.
_DOUBTFUL = 3.0

_ROWS = {
    "falling": "would probably help",
    "flat": "of this kind would hardly help; other features might",
    "unknown": "may help or not: these are too few to tell",
}


@dataclass(frozen=True)
class NextStep:
    """One line: what it is about, what to do, and the section of the page that says why."""

    topic: str
    text: str
    section: str


def next_steps(
    search: SearchedCandidates,
    figures: LeaveOneOutFigures,
    suspicious: SuspiciousTable,
    analyses: Analyses | None,
    overstated: Sequence[Overstated],
) -> list[NextStep]:
    """The lines of a classifier."""
    found = [NextStep(one.topic, one.advice, one.section) for one in overstated]
    curve = None if analyses is None else analyses.learning_curve
    found += _more_rows(None if curve is None else curve.verdict)
    found.append(NextStep("Labels", _of_labels(suspicious), "suspicious"))
    if search.method != "kfold":
        found.append(NextStep("Classes", _of_classes(search, figures), "decisions"))
    return found


def next_steps_of_targets(
    doubtful: DoubtfulTable, analyses: TargetAnalyses | None, overstated: Sequence[Overstated]
) -> list[NextStep]:
    """The lines of a regression."""
    found = [NextStep(one.topic, one.advice, one.section) for one in overstated]
    curve = None if analyses is None else analyses.learning_curve
    found += _more_rows(None if curve is None else curve.verdict)
    rows = [one.row_id for one in doubtful.rows if abs(one.in_spreads) > _DOUBTFUL]
    text = "none is farther from its prediction than is usual."
    if rows:
        text = (
            f"look at {_rows(rows)} first; {doubtful.n_doubtful} are far from what the others say."
        )
    found.append(NextStep("Values", text, "doubtful"))
    return found


def _more_rows(verdict: str | None) -> list[NextStep]:
    """The line about more rows; none if there is no learning curve."""
    return [] if verdict is None else [NextStep("More rows", f"{_ROWS[verdict]}.", "learning")]


def _rows(names: Sequence[Any]) -> str:
    shown = listed([cut(name, 24) for name in names[:_NAMED]])
    return f"{'row' if len(names) == 1 else 'rows'} {shown}"


def _of_labels(suspicious: SuspiciousTable) -> str:
    """Which labels to look at first, if any are doubted."""
    doubted = [one.row_id for one in suspicious.rows if one.doubted]
    if not doubted:
        return "none that can be judged is doubted."
    if suspicious.n_doubted == 1:
        return f"look at {_rows(doubted)}, the only one that is doubted."
    return f"look at {_rows(doubted)} first; {suspicious.n_doubted} are doubted."


def _of_classes(search: SearchedCandidates, figures: LeaveOneOutFigures) -> str:
    """Which class is missed, and what helps; or that none is."""
    missed = missed_classes(figures)
    if missed:
        one = missed[0]
        text = f"'{one.label}' is often missed ({_missed(one)} of its rows)"
        if search.selects_by_error:
            return f"{text}. Accuracy rewards that; {HELP}."
        return f"{text}. spansvm predict --cost applies costs to this model."
    known = [one for one in figures.classes if one.n_rows]
    worst = max(known, key=lambda one: one.n_errors / one.n_rows)
    if 3 * worst.n_errors > worst.n_rows:  # of too few rows, or no rarer than others
        return f"'{worst.label}' is missed most ({_missed(worst)} of its rows)."
    found = sorted(1.0 - one.n_errors / one.n_rows for one in known)
    return f"none is often missed: {percent(found[0])} to {percent(found[-1])} of each are found."


def _missed(one: ClassFigures) -> str:
    if one.n_rows < 100:
        return f"{one.n_errors} of {one.n_rows}"
    return frequencies([one.n_errors / one.n_rows])[0]
