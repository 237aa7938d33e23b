"""What the test rows of ``--test`` say, next to what the search promised."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..report import Report
from ..report.plain import cut, percent, plain, words
from .held_out import HeldOut
from .terminal import Terminal

__all__ = ["print_confusion", "test_as_facts", "test_findings"]


def test_as_facts(test: HeldOut, report: Report) -> dict[str, Any]:
    """The figures and what follows from them, as plain data for the report."""
    figures: dict[str, Any] = plain(asdict(test))
    return {**figures, "findings": test_findings(test, report)}


def test_findings(test: HeldOut, report: Report) -> list[str]:
    """Sentences about test rows that do not bear out what was promised.

    A share of few rows is uncertain itself, so its own interval decides how strong they are.
    """
    search, findings = report.search, []
    promise = search.promise
    if promise is None and search.selects_by_error:
        low, high = report.leave_one_out.interval
    elif promise is not None:
        low, high = promise.interval
    else:
        low, high = -float("inf"), float("inf")
    if search.selects_by_error and not low <= test.error <= high:
        worse = test.error > high
        apart = test.interval[0] > high if worse else test.interval[1] < low
        more = (
            " This is more than chance: the test rows differ from those of the search."
            if apart
            else f" With {test.n_rows} test rows that may be chance: the 95% CI of the test error "
            f"is {percent(test.interval[0])} to {percent(test.interval[1])}."
        )
        findings.append(
            f"The test error, {percent(test.error)}, is {'above' if worse else 'below'} what the "
            f"search promised, {percent(low)} to {percent(high)}.{more}"
        )
    elif not search.selects_by_error and test.score is not None and not low <= test.score <= high:
        side = "below" if test.score < low else "above"
        findings.append(
            f"The {test.score_name} of the test rows, {words(test.score)}, is {side} what the "
            f"search promised, {words(low)} to {words(high)}."
        )
    if test.error >= test.majority_error and search.selects_by_error:
        findings.append(
            "On the test rows the model is no better than always predicting their largest class, "
            f"which errs in {percent(test.majority_error)} of them."
        )
    return findings


def print_confusion(test: HeldOut, terminal: Terminal) -> None:
    """Print the labels of the test rows against the predictions."""
    terminal.table(
        {"label": "left", **{f"predicted {cut(label)}": "right" for label in test.classes}},
        [[cut(label), *counts] for label, counts in zip(test.classes, test.confusion, strict=True)],
        f"Confusion matrix for {test.source}:",
    )
