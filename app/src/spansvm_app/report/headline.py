"""The finding in words: how many of ten, or a hundred, new rows the model would misclassify.

Natural frequencies ("3 of 10") are understood by more people than percentages.  The error is the
corrected one where there is one, and next to it stands that of always predicting the largest class.
If another score was asked for, it comes first.  Of unequal classes it is said what is found; a
model of another kind that is better beyond the noise is named; and if something makes left-out rows
look better than new ones, such as a feature that gives the target away, the error is that without.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..studies import Comparison
from .analyses import Analyses
from .loo_figures import FEW_IN_CLASS, ClassFigures, LeaveOneOutFigures, TrainedModel
from .overstated import Overstated, worst
from .plain import number
from .searched import SearchedCandidates

__all__ = ["expected_error", "frequencies", "headline", "may_be_constant"]

#: Of how many rows one speaks: the first that describes all shares well enough.
_OF = (10, 100, 1000, 10_000)

#: Of classes with as many rows it is said how many of a hundred are found; of others, of all.
_OF_MANY = 100

#: How far, as a part of itself, a share may be from what is said about it.
_ROUNDED = 0.1

#: Shares that differ by more than this, and by more than this part of the smaller, are others.
_OTHER, _OTHER_PART = 0.005, 0.25


def frequencies(shares: Sequence[float], *, apart: bool = False) -> list[str]:
    """Shares as ``"3 of 10"``, all of the same number of rows; `apart` if they must differ.

    Examples
    --------
    >>> from spansvm_app.report.headline import frequencies
    >>> frequencies([0.29, 0.3])
    ['3 of 10', '3 of 10']
    >>> frequencies([0.29, 0.3], apart=True)
    ['29 of 100', '30 of 100']
    >>> frequencies([0.0123, 0.37])
    ['12 of 1000', '370 of 1000']
    """
    of, counts = _counted(shares, apart)
    return [
        f"fewer than 1 of {of}" if share > 0.0 and not count else f"{count} of {of}"
        for count, share in zip(counts, shares, strict=True)
    ]


def _counted(shares: Sequence[float], apart: bool) -> tuple[int, list[int]]:
    """Of how many rows to speak, and how many of them each share is."""
    for of in _OF:
        counts = [round(share * of) for share in shares]
        near = all(
            abs(count / of - share) <= _ROUNDED * min(share, 1.0 - share)
            for count, share in zip(counts, shares, strict=True)
        )
        if near and (not apart or len(set(counts)) == len(counts)):
            break
    return of, counts


def headline(
    search: SearchedCandidates,
    figures: LeaveOneOutFigures,
    analyses: Analyses | None = None,
    trained: TrainedModel | None = None,
    overstated: Sequence[Overstated] = (),
) -> list[str]:
    """What was found, in sentences: the model's error or score, that without a model, and more.

    What makes left-out rows look better than new ones is left aside, if anything does.  If a sample
    was searched in which classes have other shares than in all rows, the errors are those of the
    model `trained` on all of them.
    """
    expected, _ = expected_error(search, figures)
    reason = worst(overstated, expected)
    if reason is not None:
        return _without(reason, expected, figures)
    # With folds the errors need not be known: those of left-out single rows may be too few.
    of_folds = search.method == "kfold"
    sentences = []
    other_shares = trained is not None and _apart(trained.majority_error, figures.majority_error)
    if not search.selects_by_error:
        sentences += _by_score(search, figures, analyses)
    if not of_folds or search.selects_by_error or search.judged_error is not None:
        sentences += _by_error(search, figures, trained if other_shares else None)
    if not of_folds and figures.unequal and not other_shares:
        sentences.append(_found(figures))
    if analyses is not None and analyses.comparison is not None:
        sentences += _of_rival(analyses.comparison, search.scoring)
    return sentences


def _apart(share: float, other: float) -> bool:
    """Whether shares differ by so much that figures of one do not hold for the other."""
    return abs(share - other) > max(_OTHER, _OTHER_PART * min(share, other))


def _by_error(
    search: SearchedCandidates, figures: LeaveOneOutFigures, trained: TrainedModel | None
) -> list[str]:
    error, interval = expected_error(search, figures)
    majority: float = figures.majority_error
    if trained is not None:
        error, interval, majority = trained.error, trained.interval, trained.majority_error
    sure = interval is not None and not interval[0] <= majority <= interval[1]
    apart = sure or not search.selects_by_error
    said, without = frequencies([error, majority], apart=apart)
    rows = "new rows of new groups" if search.n_groups else "new rows"
    if error == 0.0:
        first = f"None of {figures.n_rows} rows would be misclassified when left out."
    else:
        n_wrong, _ = _counted([error, majority], apart)[1]
        about = f"About {said}" if n_wrong else said.capitalize()
        first = f"{about} {rows} would be misclassified."
    second = f"Always predicting '{figures.majority.label}' misclassifies {without}"
    if not search.selects_by_error:
        return [first, f"{second}."]
    if error >= majority:
        second += ": the model does no better."
    elif interval is not None and not sure:
        second += ": it is not certain that the model does better."
    else:
        second += "."
    return [first, second]


def _by_score(
    search: SearchedCandidates, figures: LeaveOneOutFigures, analyses: Analyses | None
) -> list[str]:
    """The score that was asked for, and that of a constant if the model may be no better."""
    first = _score(search, figures)
    constant = _constant_score(analyses)
    if constant is None or not may_be_constant(search, figures, analyses):
        return [first]
    return [
        first,
        f"Always predicting '{figures.majority.label}' has a {search.scoring} of "
        f"{number(constant, 3)}: it is not certain that the model does better.",
    ]


def _without(reason: Overstated, expected: float, figures: LeaveOneOutFigures) -> list[str]:
    """The error without what makes left-out rows look better than new ones, and that with it."""
    said, constant = frequencies([reason.error, figures.majority_error])
    (of_all,) = frequencies([expected])
    return [
        f"{reason.without} about {said} new rows would be misclassified.",
        f"{reason.with_it}, {of_all if expected else 'none'}: believe that only if "
        f"{reason.believe}.",
        f"Always predicting '{figures.majority.label}' misclassifies {constant}.",
    ]


def _found(figures: LeaveOneOutFigures) -> str:
    """How many rows of unequal classes are found when they are left out."""
    shown, which = sorted(figures.classes, key=lambda one: one.n_rows), ""
    if len(shown) > 2:
        # A class of a few rows says nothing: without its only row, no model can know it.
        known = [one for one in shown if one.n_rows >= FEW_IN_CLASS] or shown
        of_all = f"all classes with {FEW_IN_CLASS} or more rows"
        which = f", the least of {'all classes' if len(known) == len(shown) else of_all}"
        shown = [min(known, key=_share_found)]
    counts = [f"{one.n_rows - one.n_errors} of {one.n_rows}" for one in shown]
    shares = [100 * _share_found(one) for one in shown]
    # A few that are found, or missed, are not rounded away.
    near = all(0 < round(share) < 100 or share in (0.0, 100.0) for share in shares)
    if near and min(one.n_rows for one in shown) >= _OF_MANY:
        counts = [f"{round(share)} of 100" for share in shares]
    said = [f"{count} '{one.label}'" for count, one in zip(counts, shown, strict=True)]
    return f"It finds {' and '.join(said)}{which}."


def _share_found(one: ClassFigures) -> float:
    return 1.0 - one.n_errors / max(one.n_rows, 1)


def _of_rival(comparison: Comparison, scoring: str) -> list[str]:
    """That a model of another kind is better beyond the noise, if one is."""
    rival = comparison.better
    if rival is None:
        return []
    if comparison.score is None:
        theirs, own = frequencies([rival.error, rival.error - rival.difference.value], apart=True)
        text = f"misclassifies fewer: {theirs}, and this model {own}"
    else:
        assert rival.score is not None
        assert rival.score_difference is not None
        own = number(rival.score - rival.score_difference, 3)
        text = f"has a higher {scoring}: {number(rival.score, 3)}, and this model {own}"
    return [f"Another model does better beyond chance: {rival.name} {text}."]


def _constant_score(analyses: Analyses | None) -> float | None:
    """The score of always predicting the largest class, where it is known."""
    if analyses is None or analyses.comparison is None:
        return None
    return analyses.comparison.baselines[0].score


def may_be_constant(
    search: SearchedCandidates, figures: LeaveOneOutFigures, analyses: Analyses | None
) -> bool:
    """Whether always predicting the largest class may be as good, by the score asked for."""
    if search.selects_by_error:
        error, interval = expected_error(search, figures)
        return (error if interval is None else interval[1]) >= figures.majority_error
    constant = _constant_score(analyses)
    if constant is None or search.reported is None:
        return False
    return search.reported.interval[0] <= constant


def expected_error(
    search: SearchedCandidates, figures: LeaveOneOutFigures
) -> tuple[float, list[float] | None]:
    """The error to expect on new rows, and its 95% CI, if there is one."""
    if search.selects_by_error and search.reported is not None:
        return search.reported.value, search.reported.interval
    if search.judged_error is not None:
        return search.judged_error.error, None
    # The interval of left-out single rows says nothing about folds.
    return figures.error, None if search.method == "kfold" else figures.interval


def _score(search: SearchedCandidates, figures: LeaveOneOutFigures) -> str:
    """The selecting score in words; the corrected one where there is one."""
    value = search.scores[search.scoring][search.best_index]
    if search.reported is not None:
        value = search.reported.value
    if value is None:
        return f"The model's {search.scoring} is not known."
    if search.scoring == "roc_auc" and len(figures.classes) == 2:
        (said,) = frequencies([value])
        return (
            f"Of two rows, one of each class, the model ranks the right one higher in {said} cases."
        )
    if search.scoring == "balanced_accuracy":
        (said,) = frequencies([1.0 - value])
        return f"If all classes were equally frequent, {said} would be misclassified."
    return f"The model's {search.scoring} is {number(value, 3)}."
