"""``find_label_issues``: labels that the other rows contradict, and the rows that do.

The probabilities of each row come from the model without it, so that nothing has memorised its
label.  Which rows are issues is decided as in confident learning (Northcutt, Jiang and Chuang
2021): a class counts as present where its probability reaches the mean that the rows with its label
have; a row is an issue if the most probable class present is not its label, nor its label the most
probable of all.  Where classes overlap that includes rows with right labels, as nothing else tells
the two apart.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from ..common.types import Array, Mask, Rows
from ..estimators.svr import SpanSVR
from ..multiclass.left_out import LeftOutClasses
from .without import trained_model
from .witnesses import Judged, find_witnesses

__all__ = ["NOTHING_SAID", "LabelIssuesWarning", "find_label_issues", "judge"]

#: Residuals that are farther out, in units of their spread, are issues: about 1 of 2000 normal
#: ones.  The limit is that of Iglewicz and Hoaglin (1993).
_FAR = 3.5

#: The median of the absolute value of a normal variable, in units of its spread.
_MEDIAN = 0.6745

#: How many standard errors the left-out values of classes must be apart: those of pure noise are in
#: fewer than 1 of 100 sets (measured; rows are left out of models of the same rows).
_APART = 4.0

#: What is said where nothing can be.
NOTHING_SAID = (
    "Nothing can be said about single labels: left out, the rows of different classes have the "
    "same values."
)

_FILTERS = ("confident_learning", "predicted_neq_given")
_RANKINGS = ("self_confidence", "normalized_margin")


class LabelIssuesWarning(UserWarning):
    """Nothing can be said about single labels."""


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
    filter_by : {"confident_learning", "predicted_neq_given"}, default="confident_learning"
        Which rows are issues: those of which a class other than the given one is the most probable
        of all and of the classes that count as present; or those of which it is the most probable
        of all.  Targets of a regression: those whose left-out residual is more than 3.5 times the
        spread of all, which is estimated from their median.
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
    judged = judge(model, filter_by)
    if not judged.telling:
        warnings.warn(NOTHING_SAID, LabelIssuesWarning, stacklevel=2)
    issues = np.flatnonzero(judged.issue)
    if return_indices_ranked_by is not None:
        by = judged.quality if return_indices_ranked_by == "self_confidence" else judged.margin
        return issues[np.argsort(by[issues], kind="stable")]
    found = find_witnesses(trained_model(model)[0], judged, issues, n_contradicting)
    return _frame(judged, {own: one.against for own, one in zip(issues, found, strict=True)})


def judge(model: Any, filter_by: str = "confident_learning") -> Judged:
    """What the model, or search, says of the label, or target, of each of its training rows.

    The arguments are those of :func:`find_label_issues`.
    """
    fitted, _ = trained_model(model)
    if isinstance(fitted, SpanSVR):
        return _judge_targets(fitted)
    return _judge_labels(fitted, _probabilities(model, fitted), filter_by)


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


def _judge_labels(fitted: Any, probabilities: Array, filter_by: str) -> Judged:
    indices, used = fitted.machines_.indices, fitted.left_out_.used
    rows = np.arange(indices.size)
    own = probabilities[rows, indices]
    others = probabilities.copy()
    others[rows, indices] = -np.inf
    sizes = np.bincount(indices[used], minlength=probabilities.shape[1])
    differs = probabilities.argmax(axis=1) != indices
    issue = np.zeros(indices.size, dtype=np.bool_)
    telling = _says_something(fitted.left_out_)
    if telling:
        issue = used & differs
        if filter_by == "confident_learning":
            reached = _reached(probabilities, indices, used)
            confident = np.where(reached, probabilities, -np.inf)
            issue &= reached.any(axis=1) & (confident.argmax(axis=1) != indices)
        issue &= sizes[indices] > 1  # the only row of a class is contradicted whatever it is
    classes = fitted.classes_
    return Judged(
        issue, own, own - others.max(axis=1), classes[indices],
        classes[probabilities.argmax(axis=1)], telling,
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
    """Whether left-out values tell the classes apart.

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
    return bool(apart > _APART * np.sqrt(variance))


def _judge_targets(fitted: SpanSVR) -> Judged:
    targets, used = fitted.machines_.targets[:, 0], fitted.machines_.bounds > 0
    residual = targets - fitted.loo_predict_
    spread = float(np.median(np.abs(residual[used]))) / _MEDIAN
    # Where half of the rows are predicted to the last digit, any difference is large.
    size = np.abs(residual) / max(spread, np.finfo(np.float64).tiny)
    quality = np.exp(-size)
    return Judged(used & (size > _FAR), quality, quality, targets, fitted.loo_predict_, True)


def _frame(judged: Judged, contradicting: dict[Any, Rows]) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "find_label_issues returns a pandas.DataFrame: install pandas, or ask for "
            "return_indices_ranked_by."
        ) from error
    lists: npt.NDArray[np.object_] = np.empty(judged.issue.size, dtype=object)
    for row in range(lists.size):
        lists[row] = [int(other) for other in contradicting.get(row, ())]
    return pd.DataFrame(
        {
            "is_label_issue": judged.issue,
            "label_quality": judged.quality,
            "given_label": judged.given,
            "predicted_label": judged.predicted,
            "contradicted_by": lists,
        }
    )
