"""What the studies of a selected regression found, in words and as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spansvm.blocks import selecting_scorer

from ..studies.association import strongest
from ..studies.columns import column_of
from ..studies.covered import cover
from ..studies.influence import MOST_FEATURES
from ..studies.target_baselines import TargetComparison, compare_target_baselines
from ..studies.target_influence import TargetInfluence, measure_target_influence
from ..studies.target_leaks import TargetLeaks, find_target_leaks
from ..studies.target_learning import TargetCurve, target_learning_curve
from ..studies.target_subject import TargetSubject
from .analyses import MANY, MOST_RANKED, OF_MANY, tried
from .plain import cut, number, percent
from .searched import SearchedCandidates
from .target_figures import IntervalFigures, TargetFigures, describe_intervals
from .target_words import expected_errors

__all__ = ["TargetAnalyses", "describe_target_analyses"]

#: Scores that are squared errors in another form: the table has them anyway.
_SQUARED = ("r2", "neg_root_mean_squared_error", "neg_mean_squared_error")

_MEMORY = " Many rows are identical, so part of that may be memorisation."


@dataclass(frozen=True)
class TargetAnalyses:
    """Studies of the selected regression; what could not be studied is None, and `notes` say why.

    Attributes
    ----------
    n_rows, n_all : int
        How many rows were studied, and how many the model was trained on.
    comparison : TargetComparison or None
        With other models on the same rows.
    leaks : TargetLeaks or None
        Columns that nearly are the target.
    intervals : IntervalFigures or None
        Prediction intervals for rows of other folds.
    influence : TargetInfluence or None
        Of the features, by permuting them.
    learning_curve : TargetCurve or None
    verdicts : dict
        What these mean, in a sentence or two.
    cautions : list of str
        One for each column that nearly is the target.
    notes : list of str
        What was sampled or left out, and why.
    """

    n_rows: int
    n_all: int
    comparison: TargetComparison | None
    leaks: TargetLeaks | None
    intervals: IntervalFigures | None
    influence: TargetInfluence | None
    learning_curve: TargetCurve | None
    verdicts: dict[str, str]
    cautions: list[str]
    notes: list[str]


def describe_target_analyses(
    search: Any, X: Any, y: np.ndarray, names: Sequence[str], searched: SearchedCandidates,
    figures: TargetFigures, *, memorises: bool = True,
) -> TargetAnalyses:  # fmt: skip
    """Study the selected model of a fitted search.

    Parameters
    ----------
    search : SpanSearch
    X, y
        What it was fitted on.
    names : sequence of str
        Of the columns; empty if they mean nothing to a reader.
    searched : SearchedCandidates
        What is said of the search.
    figures : TargetFigures
        Left-out figures of the selected model.
    memorises : bool
        Whether the error changes if equal rows leave together.
    """
    subject = TargetSubject.of(search.best_estimator_, X, y, names)
    notes: list[str] = []
    if subject.sampled:
        notes.append(
            "To save time, these studies are of a model with the same setting, trained on "
            f"{subject.n_rows} of the {subject.n_all} rows."
        )
    repeated = memorises and subject.n_repeated > MANY * subject.n_rows
    if repeated:
        notes.append(
            f"{subject.n_repeated} of {subject.n_rows} rows have an identical one, which stays "
            "when they are left out: models that can memorise look better, features more "
            "influential, and the learning curve steeper."
        )
    found = expected_errors(searched, figures)
    optimism = 0.0
    if found.corrected and searched.method != "kfold":
        optimism = max(found.rmse - figures.errors.rmse, 0.0)
    comparison = tried(
        notes, "Other models",
        lambda: compare_target_baselines(subject, _scorer(search, searched), optimism),
    )  # fmt: skip
    leaks = tried(notes, "Leaks", lambda: find_target_leaks(subject))
    covered = tried(notes, "Prediction intervals", lambda: cover(subject))
    influence = None
    if subject.names:
        columns = _permuted(subject)
        influence = tried(
            notes, "The influence of features",
            lambda: measure_target_influence(subject, columns=columns, optimism=optimism),
        )  # fmt: skip
    curve = tried(
        notes, "The learning curve", lambda: target_learning_curve(subject, optimism=optimism)
    )
    intervals = None
    if covered is not None:
        intervals = describe_intervals(covered, subject.model)
    verdicts = {}
    if comparison is not None:
        notes += comparison.skipped
        verdicts["comparison"] = _of_comparison(comparison, searched, repeated)
    if intervals is not None:
        verdicts["intervals"] = _of_intervals(intervals)
    if influence is not None:
        verdicts["influence"] = _of_influence(influence, repeated)
    if curve is not None:
        verdicts["learning_curve"] = _of_curve(curve)
    return TargetAnalyses(
        n_rows=subject.n_rows,
        n_all=subject.n_all,
        comparison=comparison,
        leaks=leaks,
        intervals=intervals,
        influence=influence,
        learning_curve=curve,
        verdicts=verdicts,
        cautions=[] if leaks is None else _of_leaks(leaks),
        notes=notes,
    )


def _scorer(search: Any, searched: SearchedCandidates) -> Callable[..., Any] | None:
    """The scorer that the search selected by, unless it is a squared error."""
    if searched.scoring in _SQUARED:
        return None
    scorers = search.scorer_ if isinstance(search.scorer_, Mapping) else {"score": search.scorer_}
    found: Callable[..., Any] | None = scorers.get(selecting_scorer(search))
    return found


def _permuted(subject: TargetSubject) -> list[int]:
    """The columns to permute: all, or those that tell most about the target."""
    number_of = len(subject.names)
    if number_of <= MOST_FEATURES:
        return list(range(number_of))
    if number_of > MOST_RANKED:
        return list(range(OF_MANY))
    columns = [column_of(subject.X, column) for column in range(number_of)]
    return strongest(columns, subject.strata, OF_MANY)


# In words ---------------------------------------------------------------------------------------


def _of_comparison(
    comparison: TargetComparison, searched: SearchedCandidates, repeated: bool
) -> str:
    """How the selected model does against the best of the others."""
    best = min(comparison.baselines, key=lambda one: one.rmse)
    difference = best.difference
    if not difference.clear:
        text = (
            "Chance can explain the difference between the selected model and the strongest of "
            f"these ({best.name})"
        )
        text += ": the search found nothing better." if difference.value <= 0.0 else "."
    else:
        low, high = sorted(abs(end) for end in difference.interval)
        word = "less" if difference.value > 0.0 else "more"
        text = (
            f"For left-out rows the selected model is off by {number(abs(difference.value), 2)} "
            f"{word} than the strongest of these ({best.name}; 95% CI {number(low, 2)} to "
            f"{number(high, 2)})."
        )
        if repeated:
            text += _MEMORY
    if searched.n_compared > 1:
        text += (
            f" The selected model is the best of {searched.n_compared} candidates on these same "
            "rows, which favours it"
        )
        text += "; the differences are corrected for that." if comparison.optimism else " a little."
    return text


def _of_intervals(intervals: IntervalFigures) -> str:
    """Whether intervals cover what they promise."""
    at = intervals.at(intervals.shown)
    low, high = at.coverage_interval
    text = (
        f"Intervals of {percent(at.level).replace('.0%', '%')} contained {percent(at.coverage)} of "
        f"{intervals.n_rows} values that their models had not seen (95% CI {percent(low)} to "
        f"{percent(high)})"
    )
    if low <= at.level <= high:
        return f"{text}: they hold what they promise."
    if at.coverage < at.level:
        return f"{text}: fewer than they promise, beyond chance."
    return f"{text}: more than they promise."


def _of_influence(influence: TargetInfluence, repeated: bool) -> str:
    clear = [one for one in influence.features if one.clear]
    if not clear:
        return "No single feature has an influence beyond chance."
    first = clear[0]
    text = (
        f"The error of left-out rows grows most, by {number(first.increase, 2)} from "
        f"{number(influence.error, 3)}, if {cut(first.name)} is permuted."
    )
    others = len(influence.features) - len(clear)
    if others:
        of = "feature" if others == 1 else "features"
        text += f" {others} {of} of {len(influence.features)} may have none at all."
    return text + (_MEMORY if repeated else "")


def _of_curve(curve: TargetCurve) -> str:
    before, last = curve.points[-2], curve.points[-1]
    text = (
        f"From {before.n_rows} to {last.n_rows} rows the error went from "
        f"{number(before.error, 3)} to {number(last.error, 3)}"
    )
    return (
        text
        + {
            "falling": ": more rows would probably help further, but each doubling helps less.",
            "flat": ": more rows of this kind would hardly help. Other features might.",
            "unknown": ", too uncertain to tell whether more rows would help.",
        }[curve.verdict]
    )


def _of_leaks(leaks: TargetLeaks) -> list[str]:
    """Cautions about columns that alone nearly give the order of the targets."""
    what = "it" if len(leaks.found) == 1 else "such features"
    return [
        f"The feature '{cut(leak.name)}' alone puts the rows in the order of the target (rank "
        f"correlation {leak.order:.4f}). If it is not known before the target is, leave it out: "
        f"without {what} predictions are off by {number(leaks.error_without_all, 3)} instead of "
        f"{number(leaks.error, 3)}."
        for leak in leaks.found
    ]
