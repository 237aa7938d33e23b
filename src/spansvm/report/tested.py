"""The selected model on test rows, and whether that agrees with what was promised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .headline import expected_error
from .loo_figures import LeaveOneOutFigures, wilson
from .plain import number, percent, words
from .searched import SearchedCandidates

__all__ = ["TestedRows", "describe_test"]

#: Figures that have a place of their own on the page, and what the others are called.
_PLACED = (
    "error", "n_rows", "n_errors", "interval", "majority_error", "classes", "confusion", "source",
    "score", "score_name", "findings",
)  # fmt: skip
_NAMES = {"roc_auc": "area under the ROC curve", "log_loss": "log loss of the probabilities"}

#: How agreement with what was promised is said.
_AGREES = "lies within the 95% CI"


@dataclass(frozen=True)
class TestedRows:
    """How the selected model performs on test rows.

    Attributes
    ----------
    figures : dict of str to str
        Everything known, by its name, in words.
    error : float or None
    interval : list of float or None
        Wilson's 95% CI of the error.
    classes : list of str
    confusion : list of lists of int
        Rows are the labels, columns the predictions; empty if not known.
    findings : list of str
        Whether it agrees with what was promised, and whether it beats the largest class.
    doubts : list of str
        Those of them that are no good news.
    """

    __test__ = False  # for pytest: not a test

    figures: dict[str, str]
    error: float | None
    interval: list[float] | None
    classes: list[str]
    confusion: list[list[int]]
    findings: list[str]
    doubts: list[str]


def describe_test(
    test: Mapping[str, Any], search: SearchedCandidates, figures: LeaveOneOutFigures
) -> TestedRows:
    """What scores on test rows say.

    Parameters
    ----------
    test : mapping
        As :meth:`~spansvm.report.Report.from_search` takes it.
    search : SearchedCandidates
    figures : LeaveOneOutFigures
    """
    error, n_rows = test.get("error"), test.get("n_rows")
    interval = test.get("interval")
    if interval is None and error is not None and n_rows:
        interval = wilson(round(error * n_rows), n_rows)
    shown = {}
    if n_rows:
        shown["rows"] = words(n_rows)
    if error is not None:
        n_errors = test.get("n_errors")
        counted = "" if n_errors is None else f", {n_errors} misclassified"
        shown["error"] = f"{percent(error)}{counted}"
        if interval is not None:
            shown["error"] += f" (95% CI {_range(interval, percent)})"
    if test.get("majority_error") is not None:
        shown["majority-class error"] = percent(test["majority_error"])
    score = _score(test, search)
    if score is not None and search.scoring != "accuracy":
        shown[search.scoring] = words(score)
    for name, value in test.items():
        if name not in (*_PLACED, search.scoring) and value is not None:
            shown[_NAMES.get(name, name)] = words(value)
    findings = [
        *_against_promise(test, search, figures, interval),
        *_against_majority(error, test.get("majority_error")),
    ]
    return TestedRows(
        figures=shown,
        error=error,
        interval=interval,
        classes=[str(label) for label in test.get("classes", ())],
        confusion=[list(counts) for counts in test.get("confusion", ())],
        findings=findings,
        doubts=[sentence for sentence in findings if _AGREES not in sentence],
    )


def _score(test: Mapping[str, Any], search: SearchedCandidates) -> float | None:
    """The score of the search on the test rows, under whatever name it was given."""
    if test.get("score_name") == search.scoring:
        return test.get("score")
    return test.get(search.scoring)


def _against_promise(
    test: Mapping[str, Any],
    search: SearchedCandidates,
    figures: LeaveOneOutFigures,
    interval: list[float] | None,
) -> list[str]:
    """Whether the error, and the selecting score, lie in the intervals that were promised."""
    findings = []
    error, (_, promised) = test.get("error"), expected_error(search, figures)
    if error is not None and promised is not None:
        findings.append(_compared("error", error, promised, percent))
        if error > promised[1]:
            findings.append(_why_above(promised, interval, test.get("n_rows")))
    score = None if search.selects_by_error else _score(test, search)
    if score is not None and search.promise is not None:
        findings.append(_compared(search.scoring, score, search.promise.interval, number))
    return findings


def _compared(name: str, value: float, promised: list[float], show: Any) -> str:
    if promised[0] <= value <= promised[1]:
        return (
            f"The {name} of the test rows, {show(value)}, {_AGREES} that was promised, "
            f"{_range(promised, show)}."
        )
    side = "above" if value > promised[1] else "below"
    return (
        f"The {name} of the test rows, {show(value)}, lies {side} the 95% CI that was promised, "
        f"{_range(promised, show)}."
    )


def _why_above(promised: list[float], interval: list[float] | None, n_rows: Any) -> str:
    if interval is not None and interval[0] <= promised[1]:
        return f"With {n_rows} test rows this can be chance: their own 95% CI reaches into it."
    return (
        "Chance does not explain it: the test rows are of another kind than those searched, or "
        "rows that belong together (people, copies) made the promise too good."
    )


def _against_majority(error: float | None, majority: float | None) -> list[str]:
    if error is None or majority is None or error < majority:
        return []
    how = "as many" if error == majority else "more"
    return [
        f"On the test rows the model makes {how} errors {'as' if error == majority else 'than'} "
        f"always saying their largest class, {percent(majority)}."
    ]


def _range(interval: list[float], show: Any) -> str:
    return f"{show(interval[0])} to {show(interval[1])}"
