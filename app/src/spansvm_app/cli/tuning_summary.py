"""What ``spansvm tune`` found, in words and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from spansvm.blocks import EQUAL_SCORES

from ..report import RegressionReport, Report
from ..report.naming import in_order, name_parameters, value_in_words
from ..report.plain import percent, plain, words
from .grids import own_name
from .held_out import HeldOut, print_confusion
from .regression_summary import doubtful_rows
from .terminal import Terminal

__all__ = ["describe_setting", "error_in_words", "print_summary", "summary_as_json"]

#: What is not repeated from the report.
_LONG = ("features", "contradicted_by", "agreeing")

#: How many suspicious labels are shown.
_SUSPICIOUS = 10

#: Where figures come from if only a sample was searched.
_SAMPLE = ", of a model trained on the sample"


def describe_setting(params: Mapping[str, Any], classes: tuple[int | str, ...]) -> str:
    """The selected parameters in words: ``C+ (class yes) = 4, C- (class no) = 0.5``."""
    parameters = in_order(params)
    return ", ".join(
        f"{name} = {value_in_words(params[parameter])}"
        for parameter, name in zip(parameters, name_parameters(parameters, classes), strict=True)
    )


def _own_names(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters by the model's own names, not the pipeline's."""
    return {own_name(name): value for name, value in params.items()}


def error_in_words(n_errors: int, n_rows: int, interval: list[float]) -> str:
    """An error with its confidence interval."""
    low, high = (percent(end) for end in interval)
    share = percent(n_errors / n_rows)
    return f"{share} ({n_errors} of {n_rows} rows; 95% CI {low} to {high})"


def print_summary(
    report: Report, setting: str, test: HeldOut | None, terminal: Terminal, *, named: bool
) -> None:
    """Print the main findings.

    Parameters
    ----------
    report : Report
    setting : str
        The selected parameters in words.
    test : HeldOut, optional
    terminal : Terminal
    named : bool
        Whether rows have names; if not, they are numbered.
    """
    terminal.say(" ".join(report.headline))
    terminal.say()
    loo, search, judged = report.leave_one_out, report.search, report.search.judged_error
    trained, lines = report.trained, [["best setting", setting]]
    score = search.scores[search.scoring][search.best_index]
    reported, best_of = search.reported, ""
    if reported is not None:
        shown = percent if search.selects_by_error else words
        value, low, high = (shown(one) for one in (reported.value, *reported.interval))
        text = f"{value} (95% CI {low} to {high})"
        lines.append([search.reported_name, text if trained is None else f"{text}{_SAMPLE}"])
        best_of = f", the best of {search.n_compared} candidates"
    if search.scoring != "accuracy":
        lines.append([search.scoring, f"{words(score)}{best_of}"])
    if judged is not None:
        reason = f" (selection criterion){best_of}" if search.selects_by_error else ""
        lines.append([judged.name, f"{percent(judged.error)}{reason}"])
    in_words = error_in_words(loo.n_errors, loo.n_rows, loo.interval)
    if reported is not None and search.selects_by_error and judged is None:
        in_words = f"{percent(loo.error)} ({loo.n_errors} of {loo.n_rows} rows){best_of}"
    if trained is not None:
        in_words += _SAMPLE
    lines.append([search.left_out_name, in_words])
    if trained is not None:
        of_all = error_in_words(trained.n_errors, trained.n_rows, trained.interval)
        lines.append(["the same on all rows", of_all])
    majority = percent(loo.majority_error)
    if trained is not None:
        majority += " of the sample"
    if search.selects_by_error:
        error = loo.error if judged is None else judged.error
        error = error if reported is None else reported.value
        majority += f"; {_comparison(error, loo.majority_error)}"
    lines.append(["majority-class error", majority])
    if test is not None:
        lines.append(["test error", error_in_words(test.n_errors, test.n_rows, test.interval)])
        if search.scoring != "accuracy" and test.score is not None and search.n_compared:
            lines.append([f"test {test.score_name}", words(test.score)])
    width = max(len(label) for label, _ in lines) + 3
    for label, text in lines:
        terminal.say(f"{label + ' ':.<{width}} {text}")
    if reported is not None:
        terminal.note(search.best_of_many)
    elif search.n_compared > 1 and test is None:
        terminal.note(
            f"Selecting the best of {search.n_compared} candidates makes these figures optimistic; "
            "--test FILE evaluates the model on held-out rows."
        )
    for caution in report.cautions:
        terminal.note(f"Caution: {caution}")
    if report.suggested_scoring is not None:
        terminal.note(
            f"A rarer class is often missed; try --scoring {report.suggested_scoring}, for which "
            "every class counts alike."
        )
    for doubt in report.trust.doubts:
        terminal.note(f"Caution: {doubt}")
    if search.at_edge:
        widened = "even after it was widened" if report.facts and report.facts["widened"] else ""
        terminal.note(
            f"Caution: The best setting is at the edge of the grid ({', '.join(search.at_edge)})"
            f"{f', {widened}' if widened else ''}; a wider grid may do better."
        )
    for doubt in () if report.tested is None else report.tested.doubts:
        terminal.note(f"Caution: {doubt}")
    if test is not None:
        print_confusion(test, terminal)
    _print_suspicious(report, terminal, named=named)


def _comparison(error: float, majority_error: float) -> str:
    if error > majority_error - EQUAL_SCORES:
        return "the model does no better"
    return f"the model makes {percent(1 - error / majority_error)} fewer errors"


def _contradicted(report: Report) -> list[Any]:
    """The labels that the other rows contradict most; those that are right are not suspicious."""
    rows = [row for row in report.suspicious.rows if row.label != row.predicted]
    return rows[:_SUSPICIOUS]


def _print_suspicious(report: Report, terminal: Terminal, *, named: bool) -> None:
    rows = _contradicted(report)
    if not rows:
        terminal.say(report.suspicious.explanation or "No label is contradicted by the other rows.")
        return
    headings = {"row": "left", "label": "left", "predicted": "left", "probability": "right"}
    terminal.table(
        headings,
        [[row.row_id, row.label, row.predicted, percent(row.probability)] for row in rows],
        f"The {len(rows)} most suspicious labels, with their probability and the prediction when "
        "left out:"
        if len(rows) > 1
        else "The suspicious label, with its probability and the prediction when left out:",
    )
    if report.suspicious.explanation:
        terminal.say(report.suspicious.explanation)
    if not named:
        terminal.say("Row 1 is the first row of data, after any header.")


def summary_as_json(
    report: Report | RegressionReport, setting: str, files: list[str]
) -> dict[str, Any]:
    """What is printed and more, as plain data."""
    classes = isinstance(report, Report)
    rows = _contradicted(report) if isinstance(report, Report) else doubtful_rows(report)
    return {
        **report.summary,
        "setting": setting,
        "best_params": _own_names(report.best_params),
        "test": report.test,
        "facts": report.facts,
        "suspicious" if classes else "doubtful": [
            plain({key: value for key, value in asdict(row).items() if key not in _LONG})
            for row in rows
        ],
        "notes": report.notes,
        "files": files,
    }
