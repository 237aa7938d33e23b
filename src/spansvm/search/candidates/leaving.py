"""What a search leaves out: single rows, groups of rows, or the test rows of folds.

`method` says how the rows that are left out are predicted, `groups` and `cv` which ones they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import LeaveOneGroupOut, check_cv

from ...common.methods import predicts
from ...common.types import Rows
from ...common.validation import check_groups
from ...kernels.gram import as_rows
from ...multiclass.group_left_out import sets_of
from .training_sets import Split

__all__ = ["Leaving", "method_used", "plan_leaving"]


@dataclass(frozen=True)
class Leaving:
    """What is left out.

    Attributes
    ----------
    splits : list of (train, test), or of None
        Folds that are trained one by one; otherwise one None, for models on all rows.
    sets : list of ndarray of int, or None
        Rows that leave a model on all rows together; None for single rows.
    pooled : bool
        Whether the predictions of all sets are scored together, as those of single rows are, or
        each set is a split of its own.
    """

    splits: list[Split]
    sets: list[Rows] | None = None
    pooled: bool = True

    @property
    def n_groups(self) -> int | None:
        """The number of groups that are left out one at a time; None for single rows and folds."""
        return None if self.sets is None or not self.pooled else len(self.sets)

    @property
    def single_rows(self) -> bool:
        """Whether rows are left out one by one."""
        return self.splits[0] is None and self.sets is None

    @property
    def one_sample(self) -> bool:
        """Whether all left-out rows are scored together, not fold by fold."""
        return self.splits[0] is None and self.pooled

    @property
    def n_splits(self) -> int:
        """The number of scores of each candidate."""
        return len(self.splits) if self.sets is None or self.pooled else len(self.sets)


def method_used(method: str | None, cv: Any) -> str:
    """The method of a search: by default leave-one-out, or the folds of `cv` if there are any."""
    if method is not None:
        return method
    return "verified" if cv is None else "kfold"


def plan_leaving(
    method: str, cv: Any, X: Any, y: np.ndarray, groups: Any, split_params: Mapping[str, Any],
    *, classifier: bool = True,
) -> Leaving:  # fmt: skip
    """What the arguments of a search mean.

    Parameters
    ----------
    method : str
    cv : int, splitter, iterable or None
    X, y
        All rows.
    groups : array-like or None
        Those that are left out if there is no `cv`.
    split_params : dict
        Arguments of the splitter.
    classifier : bool, default=True
        Whether folds are stratified, where `cv` is a number.
    """
    if not predicts(method) and (cv is not None or groups is not None):
        raise ValueError(
            f"method={method!r} bounds the error when single rows are left out; it knows neither "
            "folds nor groups. Leave out cv and groups, or use method=None or 'loo'."
        )
    if method == "kfold":
        splitter = check_cv(cv, y, classifier=classifier)
        if cv is None and groups is not None:
            splitter, split_params = LeaveOneGroupOut(), {"groups": check_groups(groups, len(y))}
        return Leaving(list(_folds(splitter, X, y, split_params)))
    if cv is not None:
        folds = _folds(check_cv(cv, y, classifier=classifier), X, y, split_params)
        for number, (train, test) in enumerate(folds):
            _check_complement(method, number, train, test, len(y))
        return Leaving([None], [test for _, test in folds], pooled=False)
    if groups is None:
        return Leaving([None])
    return Leaving([None], sets_of(check_groups(groups, len(y))))


def _folds(
    splitter: Any, X: Any, y: np.ndarray, params: Mapping[str, Any]
) -> list[tuple[Rows, Rows]]:
    folds = [(as_rows(train), as_rows(test)) for train, test in splitter.split(X, y, **params)]
    if not folds:
        raise ValueError(
            "cv has no folds. A generator, such as KFold().split(X), can be used only once: pass "
            "list(...) of it, or the splitter itself."
        )
    return folds


def _check_complement(method: str, number: int, train: Rows, test: Rows, n: int) -> None:
    """ValueError unless the training rows are all rows but the test rows."""
    if not np.array_equal(np.sort(train), np.setdiff1d(np.arange(n), test)):
        raise ValueError(
            f"method={method!r} leaves the test rows of a fold out of one model on all {n} rows, "
            f"but fold {number} of cv trains on {train.size} rows and tests on {test.size}, which "
            "are not all rows, each once (as with TimeSeriesSplit). Use method=None, which trains "
            "on the training rows of each fold."
        )
