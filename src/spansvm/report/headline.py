"""The finding in words: how many of ten, or a hundred, new rows the model would misclassify.

Natural frequencies ("3 of 10") are understood by more people than percentages.  The error is the
corrected one where there is one, and next to it stands that of always predicting the largest class.
"""

from __future__ import annotations

from collections.abc import Sequence

from .loo_figures import LeaveOneOutFigures
from .plain import number
from .searched import SearchedCandidates

__all__ = ["expected_error", "frequencies", "headline"]

#: Of how many rows one speaks: the first that describes all shares well enough.
_OF = (10, 100, 1000, 10_000)

#: How far, as a part of itself, a share may be from what is said about it.
_ROUNDED = 0.1


def frequencies(shares: Sequence[float], *, apart: bool = False) -> list[str]:
    """Shares as ``"3 of 10"``, all of the same number of rows; `apart` if they must differ.

    Examples
    --------
    >>> from spansvm.report.headline import frequencies
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


def headline(search: SearchedCandidates, figures: LeaveOneOutFigures) -> list[str]:
    """What was found, in sentences: the model's error, that without a model, the score."""
    if search.method == "kfold" and not search.selects_by_error and search.judged_error is None:
        # The errors are not known: those of left-out single rows may be too few.
        return [_score(search, len(figures.classes))]
    error, interval = expected_error(search, figures)
    majority = figures.majority_error
    sure = interval is not None and not interval[0] <= majority <= interval[1]
    said, without = frequencies([error, majority], apart=sure)
    rows = "new rows of new groups" if search.n_groups else "new rows"
    if error == 0.0:
        first = f"None of {figures.n_rows} rows would be misclassified when left out."
    else:
        n_wrong, _ = _counted([error, majority], sure)[1]
        about = f"About {said}" if n_wrong else said.capitalize()
        first = f"{about} {rows} would be misclassified."
    second = f"Always predicting '{figures.majority.label}' misclassifies {without}"
    if error >= majority:
        second += ": the model does no better."
    elif interval is not None and not sure:
        second += ": it is not certain that the model does better."
    else:
        second += "."
    sentences = [first, second]
    if not search.selects_by_error:
        sentences.append(_score(search, len(figures.classes)))
    return sentences


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


def _score(search: SearchedCandidates, n_classes: int) -> str:
    """The selecting score in words; the corrected one where there is one."""
    value = search.scores[search.scoring][search.best_index]
    if search.reported is not None:
        value = search.reported.value
    if value is None:
        return f"The model's {search.scoring} is not known."
    if search.scoring == "roc_auc" and n_classes == 2:
        (said,) = frequencies([value])
        return (
            f"Of two rows, one of each class, the model ranks the right one higher in {said} cases."
        )
    if search.scoring == "balanced_accuracy":
        (said,) = frequencies([1.0 - value])
        return f"If all classes were equally frequent, {said} would be misclassified."
    return f"The model's {search.scoring} is {number(value, 3)}."
