"""What ``spansvm tune`` found, in words and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..report import Report
from ..report.plain import cut, percent, plain, words
from .grids import STEP
from .held_out import HeldOut
from .terminal import Terminal
from .training_record import JudgedError

__all__ = ["describe_setting", "error_in_words", "findings_as_json", "print_findings"]

#: As many suspicious labels are shown.
_SUSPICIOUS = 10

_NAMES = {
    "weighting__steepness": "steepness A",
    "weighting__midpoint": "midpoint B",
    "weighting__ceiling": "ceiling C",
    "weighting__floor": "floor sigma",
}


def describe_setting(params: Mapping[str, Any], classes: tuple[int | str, ...]) -> str:
    """The selected parameters in words: ``C+ = 4 (class 'yes'), C- = 0.5 (class 'no')``."""
    parts = []
    # C+ comes first, as people say it.
    for name, value in sorted(_own_names(params).items(), key=lambda one: "negative" in one[0]):
        if name in ("weighting__positive", "weighting__negative"):
            positive = name.endswith("positive")
            label = cut(classes[-1 if positive else 0])
            parts.append(f"C{'+' if positive else '-'} = {words(value)} (class '{label}')")
        else:
            parts.append(f"{_NAMES.get(name, name)} = {words(value)}")
    return ", ".join(parts)


def _own_names(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters by the model's own names, not the pipeline's."""
    return {name.removeprefix(f"{STEP}__"): value for name, value in params.items()}


def error_in_words(n_errors: int, n_rows: int, interval: list[float]) -> str:
    """An error with its interval."""
    low, high = (percent(end) for end in interval)
    share = percent(n_errors / n_rows)
    return f"{share} ({n_errors} of {n_rows} rows; 95% interval {low} to {high})"


def print_findings(
    report: Report, setting: str, judged: JudgedError | None, test: HeldOut | None,
    terminal: Terminal,
) -> None:  # fmt: skip
    """Print what matters most.

    Parameters
    ----------
    report : Report
    setting : str
        The selected parameters in words.
    judged : JudgedError, optional
        What the candidate was selected by, if that is another error than the span-rule's.
    test : HeldOut, optional
    terminal : Terminal
    """
    loo, search = report.leave_one_out, report.search
    lines = [["best setting", setting]]
    score = search.scores[search.scoring][search.best_index]
    if search.scoring != "accuracy":
        lines.append([search.scoring, words(score)])
    if judged is not None:
        lines.append([judged.name, f"{percent(judged.error)} (what it was selected by)"])
    name = "leave-one-out error" if judged is None else "span-rule"
    lines.append([name, error_in_words(loo.n_errors, loo.n_rows, loo.interval)])
    error = loo.error if judged is None else judged.error
    comparison = _comparison(error, loo.majority_error)
    lines.append(["largest class alone", f"{percent(loo.majority_error)} error; {comparison}"])
    if test is not None:
        lines.append(["test error", error_in_words(test.n_errors, test.n_rows, test.interval)])
    width = max(len(label) for label, _ in lines) + 3
    for label, text in lines:
        terminal.say(f"{label + ' ':.<{width}} {text}")
    if test is None:
        terminal.note(
            f"These figures are of the best of {search.n_candidates} candidates and so a little "
            "optimistic; --test FILE takes rows that the search has not seen."
        )
    for doubt in report.trust.doubts:
        terminal.note(f"Careful: {doubt}")
    if search.at_edge:
        terminal.note(
            f"Careful: the best setting is at the edge of the grid ({', '.join(search.at_edge)}); "
            "a wider one may be better."
        )
    _print_suspicious(report, terminal)


def _comparison(error: float, majority_error: float) -> str:
    if error >= majority_error:
        return "the model is no better than that"
    return f"the model makes {percent(1 - error / majority_error)} fewer errors"


def _print_suspicious(report: Report, terminal: Terminal) -> None:
    rows = report.suspicious.rows[:_SUSPICIOUS]
    headings = {"row": "left", "label": "left", "model without it": "left", "margin": "right"}
    terminal.table(
        headings,
        [[row.row_id, row.label, row.predicted, f"{row.margin:.3f}"] for row in rows],
        f"The {len(rows)} most suspicious labels, by what the model says without them:",
    )


def findings_as_json(
    report: Report, setting: str, judged: JudgedError | None, test: HeldOut | None,
    files: list[str],
) -> dict[str, Any]:  # fmt: skip
    """What :func:`print_findings` says and more, as plain data."""
    return {
        **report.summary,
        "setting": setting,
        "best_params": _own_names(report.best_params),
        "judged_error": None if judged is None else asdict(judged),
        "test": None if test is None else plain(asdict(test)),
        "suspicious": [
            plain({key: value for key, value in asdict(row).items() if key != "features"})
            for row in report.suspicious.rows[:_SUSPICIOUS]
        ],
        "notes": report.notes,
        "files": files,
    }
