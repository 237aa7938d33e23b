"""``find_label_issues``: labels that the other rows contradict, and the rows that do.

The probabilities of each row come from the model without it, so that nothing has memorised its
label.  Which rows are issues is decided as in confident learning (Northcutt, Jiang and Chuang
2021): a class counts as present where its probability reaches the mean that the rows with its label
have; a row is an issue if the most probable class present is not its label.  Where classes overlap
that includes rows with right labels, as nothing else tells the two apart.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..common.types import Array, Mask, Rows
from ..estimators.svr import SpanSVR
from ..multiclass.left_out import LeftOutClasses
from .without import Without, trained_model

__all__ = ["LabelIssuesWarning", "find_label_issues"]

#: Residuals that are farther out, in units of their spread, are issues: about 1 of 2000 normal
#: ones.  The limit is that of Iglewicz and Hoaglin (1993).
_FAR = 3.5

#: The median of the absolute value of a normal variable, in units of its spread.
_MEDIAN = 0.6745

#: How many standard errors the left-out values of classes must be apart: those of pure noise are in
#: fewer than 1 of 100 sets (measured; rows are left out of models of the same rows).
_APART = 4.0

_FILTERS = ("confident_learning", "predicted_neq_given", "both")
_RANKINGS = ("self_confidence", "normalized_margin")


class LabelIssuesWarning(UserWarning):
    """Nothing can be said about single labels."""


class _Judged(NamedTuple):
    """What is said of every row."""

    issue: Mask
    quality: Array
    margin: Array
    given: np.ndarray
    predicted: np.ndarray


def find_label_issues(
    model: Any,
    *,
    filter_by: str = "confident_learning",
    return_indices_ranked_by: str | None = None,
    n_contradicting: int = 3,
) -> Any:
    """Find training rows whose labels, or targets, the other rows contradict.

    Names, columns and arguments are those of cleanlab where they mean the same.

    Parameters
    ----------
    model : SpanSVC, SpanSVR, Pipeline that ends in one, or search over one of these
        Fitted on the rows in question.  Of a search over classes, the committee of its best
        candidates is asked.
    filter_by : {"confident_learning", "predicted_neq_given", "both"}, default="confident_learning"
        Which rows are issues: those of which a class other than the given one is the most probable
        of the classes that count as present; those of which it is the most probable of all; or
        those of which both is true.  Targets of a regression: those whose left-out residual is
        more than 3.5 times the spread of all, which is estimated from their median.
    return_indices_ranked_by : {"self_confidence", "normalized_margin"}, optional
        If given, only the numbers of the issues are returned, the worst first: by the probability
        of the given label, or by that minus the largest of the other labels.
    n_contradicting : int, default=3
        How many rows that contradict are listed for each issue.

    Returns
    -------
    pandas.DataFrame, or ndarray of int with `return_indices_ranked_by`
        In the order of the training rows, with the columns ``is_label_issue``, ``label_quality``
        (the left-out probability of the given label; of a target, ``exp(-|residual| / spread)``),
        ``given_label``, ``predicted_label``, and ``contradicted_by``: for an issue, the numbers of
        rows with the predicted label (of targets, on that side) without which its own would be
        contradicted less, the strongest first.

    Warns
    -----
    LabelIssuesWarning
        If the rows do not predict each other's labels: then none is an issue.

    See Also
    --------
    spansvm.influence : How strongly each row contradicts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spansvm import SpanSVC, find_label_issues
    >>> X, y = load_iris(return_X_y=True)
    >>> y[7] = 2
    >>> issues = find_label_issues(SpanSVC().fit(X, y))
    >>> bool(issues.is_label_issue[7])
    True
    """
    _check(filter_by, return_indices_ranked_by)
    fitted, _ = trained_model(model)
    if isinstance(fitted, SpanSVR):
        judged = _judge_targets(fitted)
    else:
        judged = _judge_labels(fitted, _probabilities(model, fitted), filter_by)
    if return_indices_ranked_by is not None:
        issues = np.flatnonzero(judged.issue)
        by = judged.quality if return_indices_ranked_by == "self_confidence" else judged.margin
        return issues[np.argsort(by[issues], kind="stable")]
    return _frame(judged, _contradicting(fitted, judged, n_contradicting))


def _check(filter_by: Any, ranked_by: Any) -> None:
    if filter_by not in _FILTERS:
        raise ValueError(f"filter_by must be one of {', '.join(_FILTERS)}; got {filter_by!r}.")
    if ranked_by is not None and ranked_by not in _RANKINGS:
        expected = ", ".join(_RANKINGS)
        raise ValueError(
            f"return_indices_ranked_by must be one of {expected}, or None; got {ranked_by!r}."
        )


def _probabilities(model: Any, fitted: Any) -> Array:
    """Left-out probabilities of the training rows: of the committee of a search, if it has one."""
    committee = getattr(model, "committee_", None)
    if committee is not None:
        found: Array = committee.loo_predict_proba_
        if not np.isnan(found).any():  # with folds, some rows may be in none
            return found
    return fitted.left_out_.calibrated_probabilities


def _judge_labels(fitted: Any, probabilities: Array, filter_by: str) -> _Judged:
    indices, used = fitted.machines_.indices, fitted.left_out_.used
    rows = np.arange(indices.size)
    own = probabilities[rows, indices]
    others = probabilities.copy()
    others[rows, indices] = -np.inf
    sizes = np.bincount(indices[used], minlength=probabilities.shape[1])
    differs = probabilities.argmax(axis=1) != indices
    issue = np.zeros(indices.size, dtype=np.bool_)
    if _says_something(fitted.left_out_):
        reached = _reached(probabilities, indices, used)
        confident = np.where(reached, probabilities, -np.inf)
        contradicted = reached.any(axis=1) & (confident.argmax(axis=1) != indices)
        chosen = {"confident_learning": contradicted, "predicted_neq_given": differs}
        issue = used & chosen.get(filter_by, contradicted & differs)
        issue &= sizes[indices] > 1  # the only row of a class is contradicted whatever it is
    classes = fitted.classes_
    return _Judged(
        issue, own, own - others.max(axis=1), classes[indices],
        classes[probabilities.argmax(axis=1)],
    )  # fmt: skip


def _reached(probabilities: Array, indices: np.ndarray, used: Mask) -> Mask:
    """Which classes have the probability that those of their label have on average."""
    n_classes = probabilities.shape[1]
    threshold = np.full(n_classes, np.inf)
    for label in range(n_classes):
        own = used & (indices == label)
        if own.any():
            threshold[label] = probabilities[own, label].mean()
    return probabilities >= threshold


def _says_something(left_out: LeftOutClasses) -> bool:
    """Whether left-out values tell the classes apart; a warning if not.

    Probabilities would not do: on pure noise, a left-out row is nearer to the other class, which is
    larger without it, and sigmoids that fall turn even that into probabilities.
    """
    rows = left_out.pair_rows
    used = left_out.used[rows.row]
    values = left_out.values.comparable[rows.row, rows.column]
    apart = variance = 0.0
    for pair in range(len(rows.pairs)):
        sides = [values[used & (rows.column == pair) & (rows.sign == side)] for side in (1.0, -1.0)]
        if min(own.size for own in sides) > 1:
            apart += float(sides[0].mean() - sides[1].mean())
            variance += sum(float(own.var()) / (own.size - 1) for own in sides)
    if apart > _APART * np.sqrt(variance):
        return True
    warnings.warn(
        "Nothing can be said about single labels: left out, the rows of different classes have the "
        "same values.",
        LabelIssuesWarning,
        stacklevel=4,
    )
    return False


def _judge_targets(fitted: SpanSVR) -> _Judged:
    residual = fitted.loo_residual_
    targets, used = fitted.machines_.targets[:, 0], fitted.machines_.bounds > 0
    spread = float(np.median(np.abs(residual[used]))) / _MEDIAN
    # Where half of the rows are predicted to the last digit, any difference is large.
    size = np.abs(residual) / max(spread, np.finfo(np.float64).tiny)
    quality = np.exp(-size)
    return _Judged(used & (size > _FAR), quality, quality, targets, fitted.loo_predict_)


def _contradicting(fitted: Any, judged: _Judged, number: int) -> list[Rows]:
    """For each issue, the rows without which its label would be contradicted less."""
    issues = np.flatnonzero(judged.issue)
    found = [np.empty(0, dtype=np.intp)] * judged.issue.size
    if issues.size == 0 or number < 1:
        return found
    without = Without(fitted, fitted.machines_.X[issues])
    strongest = np.zeros((without.n_rows, issues.size))
    for machine, (rows, change) in enumerate(without.each_row(exact=False)):
        strongest[rows] += change * _towards(fitted, judged, issues, machine)
    for place, row in enumerate(map(int, issues)):
        pull = np.where(_opposed(fitted, judged, row), strongest[:, place], 0.0)
        order = np.argsort(-pull, kind="stable")[:number]
        found[row] = order[pull[order] > 0.0]
    return found


def _opposed(fitted: Any, judged: _Judged, row: int) -> Mask:
    """The rows that are labelled as predicted, or whose targets are on that side."""
    if isinstance(fitted, SpanSVR):
        way = np.sign(judged.predicted - judged.given)[row]
        return way * (judged.given - judged.given[row]) > 0.0
    return judged.given == judged.predicted[row]


def _towards(fitted: Any, judged: _Judged, issues: Rows, machine: int) -> Array:
    """Of each issue, which change of a machine's values would agree with its label: 1, -1 or 0."""
    if isinstance(fitted, SpanSVR):
        return np.sign(judged.given - judged.predicted)[issues]
    pairs = fitted.machines_.pair_rows.pairs
    first, second = (fitted.classes_[own] for own in pairs[machine])
    given, predicted = judged.given[issues], judged.predicted[issues]
    between = ((given == first) & (predicted == second)) | (
        (given == second) & (predicted == first)
    )
    return np.where(between, np.where(given == second, 1.0, -1.0), 0.0)


def _frame(judged: _Judged, contradicting: list[Rows]) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "find_label_issues returns a pandas.DataFrame: install pandas, or ask for "
            "return_indices_ranked_by."
        ) from error
    lists: npt.NDArray[np.object_] = np.empty(len(contradicting), dtype=object)
    for row, own in enumerate(contradicting):
        lists[row] = [int(other) for other in own]
    return pd.DataFrame(
        {
            "is_label_issue": judged.issue,
            "label_quality": judged.quality,
            "given_label": judged.given,
            "predicted_label": judged.predicted,
            "contradicted_by": lists,
        }
    )
