"""The selected model on test rows, and whether that agrees with the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spansvm.blocks import wilson_interval

from .headline import expected_error
from .loo_figures import LeaveOneOutFigures
from .plain import percent, words
from .searched import SearchedCandidates

__all__ = ["TestedRows", "describe_test"]

#: Figures that have a place of their own on the page, and what the others are called.
_PLACED = (
    "error", "n_rows", "n_errors", "interval", "majority_error", "classes", "confusion", "source",
    "score", "score_name", "findings",
)  # fmt: skip
_NAMES = {"roc_auc": "area under the ROC curve", "log_loss": "log loss of the probabilities"}


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
        Whether it agrees with the search, and whether it beats the largest class.
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


@dataclass(frozen=True)
class _Finding:
    """What test rows say, in a sentence or two, and whether that is bad news."""

    in_words: str
    is_doubt: bool


def describe_test(
    test: Mapping[str, Any], search: SearchedCandidates, figures: LeaveOneOutFigures
) -> TestedRows:
    """What scores on test rows say.

    Parameters
    ----------
    test : mapping
        As :meth:`~spansvm_app.report.Report.from_search` takes it.
    search : SearchedCandidates
    figures : LeaveOneOutFigures
    """
    error, n_rows = test.get("error"), test.get("n_rows")
    interval = test.get("interval")
    if interval is None and error is not None and n_rows:
        interval = list(wilson_interval(round(error * n_rows) / n_rows, n_rows))
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
        *_against_search(test, search, figures, interval),
        *_against_majority(error, test.get("majority_error"), search),
    ]
    return TestedRows(
        figures=shown,
        error=error,
        interval=interval,
        classes=[str(label) for label in test.get("classes", ())],
        confusion=[list(counts) for counts in test.get("confusion", ())],
        findings=[one.in_words for one in findings],
        doubts=[one.in_words for one in findings if one.is_doubt],
    )


def _score(test: Mapping[str, Any], search: SearchedCandidates) -> float | None:
    """The score of the search on the test rows, under whatever name it was given."""
    if test.get("score_name") == search.scoring:
        return test.get("score")
    return test.get(search.scoring)


def _against_search(
    test: Mapping[str, Any],
    search: SearchedCandidates,
    figures: LeaveOneOutFigures,
    interval: list[float] | None,
) -> list[_Finding]:
    """Whether the selecting score, or the error, lies in the 95% CI from the search."""
    if not search.selects_by_error and search.reported is not None:
        score = _score(test, search)
        if score is None:
            return []
        what = f"The {search.scoring} of the test rows, {words(score)}"
        return [_compared(what, score, search.reported.interval, words)]
    error, (_, expected) = test.get("error"), expected_error(search, figures)
    if error is None or expected is None:
        return []
    found = _compared(f"The test error, {percent(error)}", error, expected, percent)
    if not found.is_doubt or interval is None:
        return [found]
    # A share of few rows is uncertain itself.
    if interval[0] > expected[1] or interval[1] < expected[0]:
        more = "This is more than chance: the test rows differ from those of the search."
    else:
        more = (
            f"With {test.get('n_rows')} test rows that may be chance: the 95% CI of the test error "
            f"is {_range(interval, percent)}."
        )
    return [_Finding(f"{found.in_words} {more}", is_doubt=True)]


def _compared(what: str, value: float, expected: list[float], show: Any) -> _Finding:
    side = "above" if value > expected[1] else "below" if value < expected[0] else "within"
    text = f"{what}, is {side} the 95% CI from the search, {_range(expected, show)}."
    return _Finding(text, is_doubt=side != "within")


def _against_majority(
    error: float | None, majority: float | None, search: SearchedCandidates
) -> list[_Finding]:
    """That the largest class does as well; another score may be worth that."""
    if error is None or majority is None or error < majority or not search.selects_by_error:
        return []
    text = (
        "On the test rows the model is no better than always predicting their largest class, "
        f"which errs in {percent(majority)} of them."
    )
    return [_Finding(text, is_doubt=True)]


def _range(interval: list[float], show: Any) -> str:
    return f"{show(interval[0])} to {show(interval[1])}"
