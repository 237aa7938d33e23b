"""What was searched, as plain data: axes, candidates with their estimates, and the chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..common.evaluated import evaluated
from ..common.methods import predicts
from ..common.types import Array
from ..display.axes import Axis, mean_scores, on_grid, parameter_columns
from ..search.candidates.grid import EQUAL_SCORES
from .naming import in_order, name_parameters, value_in_words
from .plain import MINUS, plain

__all__ = [
    "JudgedError",
    "ReportedScore",
    "SearchedAxis",
    "SearchedCandidates",
    "describe_search",
]

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

#: More categories than this are neither drawn as curves nor listed.
_MOST_CATEGORIES = 6


@dataclass(frozen=True)
class JudgedError:
    """The selected candidate's error, as found by the search's method, and its name."""

    name: str
    error: float


@dataclass(frozen=True)
class ReportedScore:
    """The selected candidate's score, corrected for being the best of many, with its 95% CI.

    As an error, if candidates were selected by that.
    """

    value: float
    interval: list[float]


@dataclass(frozen=True)
class SearchedAxis:
    """One searched parameter.

    Attributes
    ----------
    parameter, name : str
        As in the grid, and as short as is unambiguous.
    labels : list of str
        Its distinct values, in order.
    positions : list of float
        Where to draw them: the values, or their ranks if they are not numbers.
    numeric, logarithmic : bool
        Whether they are numbers, and whether their ratios are roughly constant.
    codes : list of int
        Which of the values each candidate has.
    """

    parameter: str
    name: str
    labels: list[str]
    positions: list[float]
    numeric: bool
    logarithmic: bool
    codes: list[int]

    @property
    def range_in_words(self) -> str:
        """The values, summarised for a reader."""
        if self.numeric and len(self.labels) > 2:
            spacing = ", logarithmic" if self.logarithmic else ""
            return f"{self.labels[0]} to {self.labels[-1]} ({len(self.labels)} values{spacing})"
        # A value such as the weights of several classes has commas of its own.
        comma = "; " if any("," in label for label in self.labels) else ", "
        listed = comma.join(self.labels[:_MOST_CATEGORIES])
        more = len(self.labels) - _MOST_CATEGORIES
        return f"{listed} and {more} more" if more > 0 else listed


@dataclass(frozen=True)
class SearchedCandidates:
    """The search and everything known about its candidates.

    Attributes
    ----------
    method, scoring, ties : str
        How candidates were evaluated, the selection score, and how ties were broken.
    n_candidates, n_failed, n_tied : int
        How many there were, how many have no score, how many share the best one.
    seconds, refit_seconds : float
        Time of the search, by the clock; time of the last training.
    axes : list of SearchedAxis
    scores : dict of str to list
        By name of the score; the selection score comes first.  None where there is none.
    estimates : dict of str to list
        ``loo_error``, ``loo_hinge`` (of a regression ``loo_loss``), ``n_in_bound``, ``n_bounded``,
        ``n_empty``.
    converged : list of bool
    best_index : int
    chart : {"heat map", "points", "curves", "bars"}
    shown : list of int
        The axes that the chart shows, the horizontal one first; with curves, the second, if any,
        distinguishes them.
    corrected : ReportedScore or None
        Of the selected candidate; None for methods that give no predictions.
        How many groups were left out one at a time; None if single rows or folds were.
    """

    method: str
    scoring: str
    ties: str
    n_candidates: int
    n_failed: int
    n_tied: int
    seconds: float
    refit_seconds: float
    axes: list[SearchedAxis]
    scores: dict[str, list[float | None]]
    estimates: dict[str, list[float | None]]
    converged: list[bool]
    best_index: int
    chart: str
    shown: list[int]
    corrected: ReportedScore | None = None
    n_groups: int | None = None

    @property
    def selecting_scores(self) -> Array:
        """The selection scores; NaN for candidates that failed."""
        return np.array(self.scores[self.scoring], dtype=float)

    def setting(self, index: int) -> str:
        """A candidate in words."""
        return ", ".join(f"{axis.name} = {axis.labels[axis.codes[index]]}" for axis in self.axes)

    @property
    def selects_by_error(self) -> bool:
        """Whether the candidate with the least error, or bound on it, was selected."""
        return self.scoring == "accuracy" or not predicts(self.method)

    @property
    def n_compared(self) -> int:
        """How many candidates the selected one is the best of."""
        return self.n_candidates - self.n_failed

    @property
    def reported(self) -> ReportedScore | None:
        """The score to report: the corrected one; None without one, and for a single candidate."""
        return self.corrected if self.n_compared > 1 else None

    @property
    def reported_name(self) -> str:
        """What it is called."""
        return "corrected error" if self.selects_by_error else f"corrected {self.scoring}"

    @property
    def best_of_many(self) -> str:
        """Why the plain score of the selected candidate is better than the corrected one."""
        return (
            f"The uncorrected figure is the best of {self.n_compared} on the same rows, and so too "
            "optimistic. Report the corrected one, which is what to expect on new rows."
        )

    @property
    def judged_error(self) -> JudgedError | None:
        """The cross-validation error; None for other methods."""
        if self.method == "kfold" and "accuracy" in self.scores:
            score = self.scores["accuracy"][self.best_index]
            return None if score is None else JudgedError("cross-validation error", 1.0 - score)
        return None

    @property
    def loo_name(self) -> str:
        """The error when rows or groups are left out one at a time."""
        return "leave-one-out error" if self.n_groups is None else "leave-one-group-out error"

    @property
    def left_out_name(self) -> str:
        """What the selected model's leave-one-out error is called next to `judged_error`."""
        return "leave-one-out error (single rows)" if self.method == "kfold" else self.loo_name

    @property
    def at_edge(self) -> list[str]:
        """Numeric axes on which the selected candidate has the first or last value.

        Not the least epsilon: a still narrower tube hardly changes the function.
        """
        return [
            axis.name
            for axis in self.axes
            if axis.numeric
            and len(axis.labels) > 2
            and axis.codes[self.best_index] in (0, len(axis.labels) - 1)
            and (axis.name != "epsilon" or axis.codes[self.best_index] > 0)
        ]

    def ranking(self) -> list[int]:
        """Candidates from the best to the worst, the selected one first; failed ones last."""
        filled = np.where(
            np.isnan(self.selecting_scores), -np.inf, np.round(self.selecting_scores, 10)
        )
        first = np.arange(filled.size) != self.best_index
        return [int(i) for i in np.lexsort((np.arange(filled.size), first, -filled))]


def describe_search(search: Any, seconds: float | None = None) -> SearchedCandidates:
    """Everything about a fitted :class:`~spansvm.SpanSearch` except its model.

    `seconds` is the time of the search, if that was more than one ``fit``.
    """
    results, best_index = evaluated(search)
    assert best_index is not None
    scores, scoring = _scores(search)
    selecting = np.asarray(scores[scoring], dtype=float)
    axes = _axes(results["params"], getattr(search, "classes_", ()))
    chart, shown = _chart(axes)
    known = selecting[~np.isnan(selecting)]
    estimates = ("loo_error", "loo_hinge", "loo_loss", "n_in_bound", "n_bounded", "n_empty")
    return SearchedCandidates(
        method=search.method_,
        scoring=scoring,
        ties=search.ties,
        n_candidates=selecting.size,
        n_failed=selecting.size - known.size,
        n_tied=int((known >= known.max() - EQUAL_SCORES).sum()) if known.size else 0,
        seconds=float(search.search_time_ if seconds is None else seconds),
        refit_seconds=float(search.refit_time_),
        axes=axes,
        scores={name: plain(column) for name, column in scores.items()},
        estimates={name: plain(results[name]) for name in estimates if name in results},
        converged=plain(results["converged"]),
        best_index=best_index,
        chart=chart,
        shown=shown,
        corrected=_corrected(search),
        n_groups=search.n_groups_,
    )


def _corrected(search: Any) -> ReportedScore | None:
    """The corrected score; as an error if candidates are selected by accuracy."""
    if not hasattr(search, "corrected_score_"):
        return None
    score, (low, high) = search.corrected_score_, search.corrected_interval_
    if _scores(search)[1] == "accuracy":
        score, low, high = 1.0 - score, 1.0 - high, 1.0 - low
    return ReportedScore(float(score), [float(low), float(high)])


def _scores(search: Any) -> tuple[dict[str, Array], str]:
    """The mean scores by name, and the name of the selection score."""
    found = mean_scores(search)
    if list(found) == ["score"]:
        name = "score"
        if isinstance(search.scoring, str):
            name = search.scoring
        elif not predicts(search.method_):
            name = f"1 {MINUS} {search.method_}"
        elif search.scoring is None:
            name = "accuracy" if hasattr(search, "classes_") else "r2"
        return {name: found["score"]}, name
    first = search.refit if isinstance(search.refit, str) else next(iter(found))
    return {first: found.pop(first), **found}, first


def _axes(candidates: Sequence[dict[str, Any]], classes: Sequence[Any]) -> list[SearchedAxis]:
    columns = parameter_columns(candidates)
    axes = []
    parameters = in_order(columns)
    for parameter, name in zip(parameters, name_parameters(parameters, classes), strict=True):
        axis = Axis(name, columns[parameter])
        axes.append(
            SearchedAxis(
                parameter=parameter,
                name=axis.name,
                labels=[_label(axis, index) for index in range(len(axis.values))],
                positions=axis.positions.tolist(),
                numeric=axis.numeric,
                logarithmic=axis.base > 0,
                codes=axis.codes.tolist(),
            )
        )
    return axes


def _label(axis: Axis, index: int) -> str:
    value = axis.values[index]
    if value is np.ma.masked:
        return "not set"
    if axis.exponents is not None and not 0.1 <= value <= 100:
        exponent = axis.exponents[index]
        if exponent == round(exponent):
            return f"{axis.base}{f'{exponent:.0f}'.translate(_SUPERSCRIPTS)}"
    return value_in_words(value)


def _chart(axes: Sequence[SearchedAxis]) -> tuple[str, list[int]]:
    """Which chart can show the candidates, and its axes."""
    varying = [i for i, axis in enumerate(axes) if len(axis.labels) > 1]
    numeric = [i for i in varying if axes[i].numeric]
    if len(numeric) >= 2:
        largest = sorted(numeric, key=lambda i: -len(axes[i].labels))[:2]
        across, up = sorted(largest)
        filled = on_grid(axes[across].codes, axes[up].codes)
        return ("heat map" if filled else "points"), [across, up]
    if len(numeric) == 1:
        others = [i for i in varying if i not in numeric]
        tells_apart = len(others) == 1 and len(axes[others[0]].labels) <= _MOST_CATEGORIES
        return "curves", numeric + (others if tells_apart else [])
    return "bars", varying
