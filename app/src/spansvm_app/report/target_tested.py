"""The selected regression on test rows, and whether that agrees with the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .plain import number, percent, words
from .searched import SearchedCandidates
from .target_words import ExpectedErrors

__all__ = ["TestedTargets", "describe_tested_targets"]

#: What figures are called; others are shown by their own names.
_NAMES = {
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
    "r2": "R2",
    "mean_rmse": "error of predicting the mean",
}


@dataclass(frozen=True)
class TestedTargets:
    """How the selected model performs on test rows.

    Attributes
    ----------
    figures : dict of str to str
        Everything known, by its name, in words.
    rmse : float or None
    rmse_interval : list of float or None
    findings : list of str
        Whether it agrees with the search, beats the mean, and intervals hold.
    doubts : list of str
        Those of them that are no good news.
    """

    __test__ = False  # for pytest: not a test

    figures: dict[str, str]
    rmse: float | None
    rmse_interval: list[float] | None
    findings: list[str]
    doubts: list[str]


def describe_tested_targets(
    test: Mapping[str, Any], search: SearchedCandidates, expected: ExpectedErrors
) -> TestedTargets:
    """What errors on test rows say.

    Parameters
    ----------
    test : mapping
        As :meth:`~spansvm_app.report.RegressionReport.from_search` takes it.
    search : SearchedCandidates
    expected : ExpectedErrors
    """
    shown = {}
    if test.get("n_rows"):
        shown["rows"] = words(test["n_rows"])
    for key, name in _NAMES.items():
        if test.get(key) is not None:
            ends = test.get(f"{key}_interval")
            more = f" (95% CI {_range(ends)})" if ends else ""
            shown[name] = f"{number(test[key])}{more}"
    if test.get("score") is not None and search.scoring not in ("r2", *shown):
        shown[search.scoring] = words(test["score"])
    coverage, level = test.get("coverage"), test.get("level")
    if coverage is not None and level is not None:
        shown[f"within intervals of {_level(level)}"] = percent(coverage)
    findings = [*_against_search(test, expected), *_against_mean(test), *_covered(test)]
    return TestedTargets(
        figures=shown,
        rmse=test.get("rmse"),
        rmse_interval=test.get("rmse_interval"),
        findings=[text for text, _ in findings],
        doubts=[text for text, is_doubt in findings if is_doubt],
    )


def _against_search(test: Mapping[str, Any], expected: ExpectedErrors) -> list[tuple[str, bool]]:
    rmse, own, ends = test.get("rmse"), test.get("rmse_interval"), expected.rmse_interval
    if rmse is None or ends is None:
        return []
    side = "above" if rmse > ends[1] else "below" if rmse < ends[0] else "within"
    text = (
        f"The root mean squared error of the test rows, {number(rmse, 3)}, is {side} the 95% CI "
        f"from the search, {_range(ends)}."
    )
    if side != "within" and own is not None:
        if own[0] > ends[1] or own[1] < ends[0]:
            text += " This is more than chance: the test rows differ from those of the search."
        else:
            text += (
                f" With {test.get('n_rows')} test rows that may be chance: the 95% CI of the test "
                f"error is {_range(own)}."
            )
    return [(text, side != "within")]


def _against_mean(test: Mapping[str, Any]) -> list[tuple[str, bool]]:
    rmse, mean = test.get("rmse"), test.get("mean_rmse")
    if rmse is None or mean is None or rmse < mean:
        return []
    return [
        (
            "On the test rows the model is no better than always predicting their mean, which is "
            f"off by {number(mean, 3)}.",
            True,
        )
    ]


def _covered(test: Mapping[str, Any]) -> list[tuple[str, bool]]:
    coverage, level, ends = (test.get(name) for name in ("coverage", "level", "coverage_interval"))
    if coverage is None or level is None or ends is None:
        return []
    text = f"Prediction intervals of {_level(level)} contain {percent(coverage)} of the test values"
    if ends[1] < level:
        return [(f"{text}: fewer than they promise, beyond chance.", True)]
    return [(f"{text}.", False)]


def _level(level: float) -> str:
    return percent(level).replace(".0%", "%")


def _range(ends: list[float]) -> str:
    return f"{number(ends[0], 3)} to {number(ends[1], 3)}"
