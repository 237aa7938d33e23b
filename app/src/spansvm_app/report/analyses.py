"""What the studies of the selected model found, in words and as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from spansvm.blocks import selecting_scorer

from ..studies import (
    Comparison,
    Decisions,
    Influence,
    Leak,
    Leaks,
    LearningCurve,
    Subject,
    compare_baselines,
    find_leaks,
    learning_curve,
    measure_influence,
    rate_decisions,
)
from ..studies.association import strongest
from ..studies.columns import column_of
from ..studies.influence import MOST_FEATURES
from .plain import cut, number, percent, points
from .searched import SearchedCandidates

__all__ = ["MANY", "MOST_RANKED", "OF_MANY", "Analyses", "describe_analyses", "tried"]

#: Of more features than can be permuted, this many are; with more columns than the second number,
#: the first ones.
OF_MANY, MOST_RANKED = 50, 2000

#: With more than this share of equal rows, figures must be read with care; with more than the
#: second, a learning curve says nothing.
MANY, _MOSTLY = 0.05, 0.25

_MEMORY = " Many rows are identical, so part of that may be memorisation."

_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Analyses:
    """Studies of the selected model; what could not be studied is None, and `notes` say why.

    Attributes
    ----------
    n_rows, n_all : int
        How many rows were studied, and how many the model was trained on.
    comparison : Comparison or None
        With other models on the same rows.
    leaks : Leaks or None
        Columns that give the target away.
    influence : Influence or None
        Of the features, by permuting them.
    decisions : Decisions
        Precision, recall and costs.
    learning_curve : LearningCurve or None
    verdicts : dict
        What ``comparison``, ``influence`` and ``learning_curve`` mean, in a sentence or two.
    cautions : list of str
        One for each leak.
    notes : list of str
        What was sampled or left out, and why.
    """

    n_rows: int
    n_all: int
    comparison: Comparison | None
    leaks: Leaks | None
    influence: Influence | None
    decisions: Decisions
    learning_curve: LearningCurve | None
    verdicts: dict[str, str]
    cautions: list[str]
    notes: list[str]


def describe_analyses(
    search: Any, X: Any, y: np.ndarray, names: Sequence[str], searched: SearchedCandidates,
    *, memorises: bool = True,
) -> Analyses:  # fmt: skip
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
    memorises : bool
        Whether the error changes if equal rows leave together.
    """
    subject = Subject.of(search.best_estimator_, X, y, names)
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
    scorer = _scorer(search)
    with subject.machines.holding_grams():
        comparison = tried(
            notes, "Other models", lambda: compare_baselines(subject, search, scorer)
        )
        leaks = tried(notes, "Leaks", lambda: find_leaks(subject))
        # By how much the error is too small is known only if candidates were selected by it.
        of_error = 0.0 if comparison is None else comparison.optimism
        of_score = 0.0 if comparison is None else comparison.score_optimism
        influence = None
        if subject.names:
            columns = _permuted(subject)
            influence = tried(
                notes, "The influence of features",
                lambda: measure_influence(
                    subject, columns=columns, scorer=scorer,
                    optimism=of_error if scorer is None else of_score,
                ),
            )  # fmt: skip
        curve = tried(
            notes, "The learning curve", lambda: learning_curve(subject, optimism=of_error)
        )
        decisions = rate_decisions(subject)
    verdicts = {}
    if comparison is not None:
        notes += comparison.skipped
        verdicts["comparison"] = _of_comparison(comparison, searched, repeated)
    if influence is not None:
        verdicts["influence"] = _of_influence(influence, repeated, searched.scoring)
    if curve is not None:
        verdicts["learning_curve"] = _of_curve(
            curve,
            memorises and subject.n_repeated > _MOSTLY * subject.n_rows,
            corrected=of_score == 0.0,
        )
    return Analyses(
        n_rows=subject.n_rows,
        n_all=subject.n_all,
        comparison=comparison,
        leaks=leaks,
        influence=influence,
        decisions=decisions,
        learning_curve=curve,
        verdicts=verdicts,
        cautions=[] if leaks is None else [_of_leak(leak, leaks, subject) for leak in leaks.found],
        notes=notes,
    )


def tried(notes: list[str], what: str, study: Callable[[], _Found | str]) -> _Found | None:
    """What a study found; None, with a note, if it could not be carried out.

    Steps of the user's pipeline may refuse permuted or constant columns, and a long search must
    not lose its report for that.
    """
    try:
        found = study()
    except Exception as error:
        notes.append(f"{what} could not be studied: {type(error).__name__}: {cut(error)}")
        return None
    if isinstance(found, str):
        notes.append(found)
        return None
    return found


def _scorer(search: Any) -> Callable[..., Any] | None:
    """The scorer that the search selected by, unless it is accuracy."""
    if search.scoring is None or search.scoring == "accuracy":
        return None
    name = selecting_scorer(search)
    if name == "accuracy":
        return None
    scorers = search.scorer_ if isinstance(search.scorer_, Mapping) else {"score": search.scorer_}
    return scorers.get(name)


def _permuted(subject: Subject) -> list[int]:
    """The columns to permute: all, or those that tell most about the classes."""
    number_of = len(subject.names)
    if number_of <= MOST_FEATURES:
        return list(range(number_of))
    if number_of > MOST_RANKED:
        return list(range(OF_MANY))
    columns = [column_of(subject.X, column) for column in range(number_of)]
    return strongest(columns, subject.indices, OF_MANY)


# In words ---------------------------------------------------------------------------------------


def _of_comparison(comparison: Comparison, searched: SearchedCandidates, repeated: bool) -> str:
    """How the selected model does against the best of the others."""
    if comparison.score is None:
        text, differs = _by_error(comparison)
    else:
        text, differs = _by_score(comparison, searched.scoring)
    if repeated and differs:
        text += _MEMORY
    if searched.n_compared > 1:
        text += (
            f" The selected model is the best of {searched.n_compared} candidates on these same "
            "rows, which favours it"
        )
        known = searched.reported is not None
        text += "; the differences are corrected for that." if known else " a little."
    return text.strip()


def _by_error(comparison: Comparison) -> tuple[str, bool]:
    """The difference of the errors in words, and whether it is more than chance."""
    best = min(comparison.baselines, key=lambda one: one.error)
    difference = best.difference
    if not difference.clear:
        return _no_difference(best.name, difference.value <= 0.0), False
    low, high = sorted(100 * abs(end) for end in difference.interval)
    word = "fewer" if difference.value > 0.0 else "more"
    return (
        f"Of 100 left-out rows the selected model misclassifies {abs(100 * difference.value):.1f} "
        f"{word} than the strongest of these ({best.name}; 95% CI {low:.1f} to {high:.1f})."
    ), True


def _by_score(comparison: Comparison, name: str) -> tuple[str, bool]:
    """The same for the score."""
    scored = [
        (one.score_difference, one.score_interval, one.name)
        for one in comparison.baselines
        if one.score_difference is not None and one.score_interval is not None
    ]
    if not scored:
        return "", True
    difference, interval, best = max(scored)
    if interval[0] <= 0.0 <= interval[1]:
        return _no_difference(best, difference >= 0.0), False
    low, high = sorted(abs(end) for end in interval)
    word = "lower" if difference > 0.0 else "higher"
    return (
        f"For left-out rows the {name} of the selected model is {number(abs(difference), 2)} "
        f"{word} than that of the strongest of these ({best}; 95% CI {number(low, 2)} to "
        f"{number(high, 2)})."
    ), True


def _no_difference(name: str, no_better: bool) -> str:
    text = (
        "Chance can explain the difference between the selected model and the strongest of these "
        f"({name})"
    )
    return text + (": the search found nothing better." if no_better else ".")


def _of_leak(leak: Leak, leaks: Leaks, subject: Subject) -> str:
    right = f"{subject.n_rows - leak.n_wrong} of {subject.n_rows} rows"
    # Of several leaks each is compared with the features that are none.
    others = "other features" if len(leaks.found) == 1 else "features without such a caution"
    text = {
        "copy": f"looks like a copy of the target: each value stands for one class, in {right}",
        "counter": f"numbers the rows, and its number alone tells the class of {right}: they seem "
        "to have been sorted by the target",
        "alone": f"alone tells the class of {right}, far more than all {others} together",
    }[leak.kind]
    text = (
        f"The feature '{leak.name}' {text}. If it is not known before the target is, leave it out: "
        f"without it the left-out error is {percent(leak.error_without)} instead of "
        f"{percent(leaks.error)}"
    )
    if len(leaks.found) > 1 and leaks.error_without_all is not None:
        text += f", and without all such features {percent(leaks.error_without_all)}"
    return text + "."


def _of_influence(influence: Influence, repeated: bool, scoring: str) -> str:
    clear = [one for one in influence.features if one.clear]
    if not clear:
        text = "The influence of every single feature may be due to chance."
    else:
        rest = len(influence.features) - len(clear)
        first = ", ".join(f"'{cut(one.name)}'" for one in clear[:3])
        text = f"The {scoring if influence.scored else 'error'} depends most on {first}."
        if rest:
            others = "the other feature" if rest == 1 else f"the other {rest} features"
            text += f" The influence of {others} may be due to chance."
        text += _MEMORY if repeated else ""
    return text


def _of_curve(curve: LearningCurve, mostly_equal: bool, corrected: bool) -> str:
    """What the curve means; `corrected`: whether its last error is, or need not be, corrected."""
    gain, half = curve.gain, curve.points[-2].n_rows
    low, high = gain.interval
    interval = f"95% CI {points(-high)} to {points(-low)}"
    text = (
        f"From {half} to {curve.points[-1].n_rows} rows the error changed by "
        f"{points(-gain.value)} percentage points ({interval})"
    )
    if mostly_equal:
        return f"{text}. With so many identical rows, that does not tell whether more would help."
    meaning = {
        "falling": ": more rows would probably help further, but each doubling helps less.",
        "flat": ": more rows of this kind would hardly help. Other features might.",
        "unknown": ", too uncertain to tell whether more rows would help.",
    }
    text += meaning[curve.verdict]
    if not corrected and curve.verdict == "falling":
        text += (
            " Part of it may be due to the selection: candidates were selected by another score, "
            "so the error of all rows is not corrected for that."
        )
    return text
