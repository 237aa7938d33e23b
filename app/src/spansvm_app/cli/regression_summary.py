"""What ``spansvm tune`` found for a quantity, in words and tables."""

from __future__ import annotations

from typing import Any

from ..report import RegressionReport
from ..report.plain import number, percent, words
from .held_out_targets import HeldOutTargets
from .terminal import Terminal

__all__ = ["doubtful_rows", "error_in_words", "print_regression_summary"]

#: How many doubtful values are shown.
_DOUBTFUL = 10

#: Where figures come from if only a sample was searched.
_SAMPLE = ", of a model trained on the sample"


def error_in_words(value: float | None, interval: list[float] | None) -> str:
    """An error with its confidence interval."""
    ends = ""
    if interval is not None:
        ends = f" (95% CI {number(interval[0])} to {number(interval[1])})"
    return f"{number(value)}{ends}"


def print_regression_summary(
    report: RegressionReport,
    setting: str,
    test: HeldOutTargets | None,
    terminal: Terminal,
    *,
    named: bool,
) -> None:
    """Print the main findings.

    Parameters
    ----------
    report : RegressionReport
    setting : str
        The selected parameters in words.
    test : HeldOutTargets, optional
    terminal : Terminal
    named : bool
        Whether rows have names; if not, they are numbered.
    """
    terminal.say(" ".join(report.headline))
    terminal.say()
    search, found, errors = report.search, report.expected, report.left_out.errors
    of_sample = "" if report.trained is None else _SAMPLE
    lines = [["best setting", setting]]
    corrected = "corrected " if found.corrected else ""
    folds = search.method == "kfold"
    judged = "cross-validation " if folds and not found.rmse_interval else corrected
    lines.append([f"{judged}RMSE", f"{error_in_words(found.rmse, found.rmse_interval)}{of_sample}"])
    if found.r2 is not None:
        own = corrected if found.r2_interval else "cross-validation " if folds else corrected
        lines.append([f"{own}R2", f"{error_in_words(found.r2, found.r2_interval)}{of_sample}"])
    best_of = f", the best of {search.n_compared} candidates" if search.n_compared > 1 else ""
    if search.scoring != "r2":
        if search.reported is not None:
            value = error_in_words(search.reported.value, search.reported.interval)
            lines.append([search.reported_name, value])
        score = search.scores[search.scoring][search.best_index]
        lines.append([search.scoring, f"{words(score)}{best_of}"])
    name = search.left_out_name.replace("error", "RMSE")
    lines.append([name, f"{number(errors.rmse)}; mean absolute error {number(errors.mae)}"])
    if report.trained is not None:
        of_all = report.trained.errors
        lines.append(["the same on all rows", error_in_words(of_all.rmse, of_all.rmse_interval)])
    lines.append(["RMSE of the mean", f"{number(report.left_out.mean_error)}; {_gain(report)}"])
    if test is not None:
        lines += _of_test(test)
    width = max(len(label) for label, _ in lines) + 3
    for label, text in lines:
        terminal.say(f"{label + ' ':.<{width}} {text}")
    terminal.say("RMSE is the root mean squared error, in units of the target.")
    _print_notes(report, test, terminal)
    _print_doubtful(report, terminal, named=named)


def _gain(report: RegressionReport) -> str:
    mean, rmse = report.left_out.mean_error, report.expected.rmse
    if rmse >= mean:
        return "the model does no better"
    return f"the model's is {percent(1 - rmse / mean)} smaller"


def _of_test(test: HeldOutTargets) -> list[list[str]]:
    lines = [
        ["test RMSE", error_in_words(test.rmse, test.rmse_interval)],
        ["test R2", error_in_words(test.r2, test.r2_interval)],
    ]
    if test.score is not None and test.score_name != "r2":
        lines.append([f"test {test.score_name}", words(test.score)])
    if test.coverage is not None:
        share = percent(test.level).replace(".0%", "%")
        lines.append([f"within {share} intervals", percent(test.coverage)])
    return lines


def _print_notes(report: RegressionReport, test: HeldOutTargets | None, terminal: Terminal) -> None:
    search = report.search
    if search.reported is not None:
        terminal.note(search.best_of_many)
    elif search.n_compared > 1 and test is None:
        terminal.note(
            f"Selecting the best of {search.n_compared} candidates makes these figures optimistic; "
            "--test FILE evaluates the model on held-out rows."
        )
    for caution in report.cautions:
        terminal.note(f"Caution: {caution}")
    if search.at_edge:
        widened = "even after it was widened" if report.facts and report.facts["widened"] else ""
        terminal.note(
            f"Caution: The best setting is at the edge of the grid ({', '.join(search.at_edge)})"
            f"{f', {widened}' if widened else ''}; a wider grid may do better."
        )
    for doubt in () if report.tested is None else report.tested.doubts:
        terminal.note(f"Caution: {doubt}")


def doubtful_rows(report: RegressionReport) -> list[Any]:
    """The values that the other rows contradict most, if they do so clearly."""
    rows = [row for row in report.doubtful.rows if abs(row.in_spreads) > 3.0]
    return rows[:_DOUBTFUL]


def _print_doubtful(report: RegressionReport, terminal: Terminal, *, named: bool) -> None:
    rows = doubtful_rows(report)
    if not rows:
        terminal.say("No value is contradicted by the other rows beyond what is usual.")
        return
    headings = {
        "row": "left", "value": "right", "predicted": "right", "residual": "right",
        "in spreads": "right",
    }  # fmt: skip
    terminal.table(
        headings,
        [
            [row.row_id, *(number(value) for value in (row.actual, row.predicted, row.residual)),
             number(row.in_spreads, 2)]
            for row in rows
        ],
        f"The {len(rows)} most doubtful values, with the model's prediction when left out:"
        if len(rows) > 1
        else "The most doubtful value, with the model's prediction without it:",
    )  # fmt: skip
    if not named:
        terminal.say("Row 1 is the first row of data, after any header.")
