"""Checks of the parameters of a search, before anything is trained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..common.memory import parse_budget
from ..common.methods import SELECTING, predicts
from ..common.validation import Constraint, check_parameters, is_bool, is_positive
from .candidates.composite import take_apart, takes_several_labels
from .candidates.grid import TIES
from .evaluation.stages import parse_time

__all__ = [
    "check_scorers",
    "check_search",
    "check_several_labels",
    "check_targets",
    "several_scores",
]

_CONSTRAINTS: dict[str, Constraint] = {
    "method": (
        lambda value: value is None or value in SELECTING,
        f"None or one of {', '.join(SELECTING)}",
    ),
    "ties": (lambda value: value in TIES, f"one of {', '.join(TIES)}"),
    "n_jobs": (
        lambda value: value is None or (isinstance(value, Integral) and value != 0),
        "None or a whole number other than 0",
    ),
    "verbose": (
        lambda value: isinstance(value, Integral) and int(value) >= 0,
        "a whole number of at least 0",
    ),
    "error_score": (
        lambda value: isinstance(value, Real) or (isinstance(value, str) and value == "raise"),
        "'raise' or a number",
    ),
    "refit": (
        lambda value: isinstance(value, (bool, str)) or callable(value),
        "True, False, the name of a score or a function",
    ),
    "corrected": (is_bool, "True or False"),
    "check_dependence": (is_bool, "True or False"),
    "coarse_first": (is_bool, "True or False"),
    "widen": (
        lambda value: isinstance(value, (list, tuple)),
        "a list of parameters of the grid",
    ),
    "checkpoint": (
        lambda value: value is None or isinstance(value, (str, PathLike)),
        "None or the path of a file",
    ),
    "return_train_score": (is_bool, "True or False"),
}


def check_search(search: Any, candidates: Sequence[Mapping[str, Any]]) -> None:
    """Raise an error for invalid parameters of a search."""
    check_parameters(search, _CONSTRAINTS)
    if not predicts(search.method) and search.scoring is not None:
        raise ValueError(
            f"method={search.method!r} gives one number and no predictions, so scoring="
            f"{search.scoring!r} cannot be applied. Leave scoring out, or use 'verified'."
        )
    if search.gram_budget is not None:
        parse_budget(search.gram_budget)
    parse_time(search.time_budget)
    if search.checkpoint is not None and not Path(search.checkpoint).absolute().parent.is_dir():
        raise ValueError(
            f"checkpoint must be the path of a file in a folder that exists; got "
            f"{search.checkpoint!r}."
        )
    if search.widen:
        _check_axes(search, candidates)


def check_targets(estimator: Any, y: Any, method: str | None) -> np.ndarray:
    """The targets of a regression as numbers; a column each if there may be several."""
    if not predicts(method):
        raise ValueError(
            f"method={method!r} bounds the number of misclassified rows; y has no classes. Use "
            "'verified', 'loo', 'span_rule' or 'kfold'."
        )
    several = isinstance(take_apart(estimator).wrapper, MultiOutputRegressor)
    targets = np.asarray(y) if several else column_or_1d(y, warn=True)
    if several and targets.ndim != 2:
        raise ValueError(
            "y must have at least two dimensions for multi-output regression but has only one."
        )
    if targets.dtype.kind not in "biuf":
        try:
            targets = targets.astype(np.float64)
        except (TypeError, ValueError) as error:
            first = targets.ravel().tolist()[0]
            raise ValueError(
                f"A regression needs numbers to predict, but y holds {first!r}. For "
                "classes, search an SVC."
            ) from error
    assert_all_finite(targets, input_name="y")
    return targets


def check_several_labels(estimator: Any, y: Any, method: str | None) -> np.ndarray | None:
    """Several labels per row, a column each; None if the estimator has one label per row."""
    labels = np.asarray(y)
    if labels.ndim == 2:
        assert_all_finite(labels, input_name="y")
    if not takes_several_labels(estimator, y):
        return None
    if labels.ndim != 2:
        raise ValueError(
            "y must have at least two dimensions for multi-output classification but has only one."
        )
    if not predicts(method):
        raise ValueError(
            f"method={method!r} is defined for two classes; y has {labels.shape[1]} labels per "
            "row. Use 'verified', 'loo' or 'kfold'."
        )
    check_classification_targets(labels)
    return labels


def check_scorers(search: Any) -> None:
    """Raise an error for scorers that are none, and if `refit` names none of several."""
    scorers = search._scorers()
    if list(scorers) != ["score"] and not (
        search.refit is False or callable(search.refit) or search.refit in scorers
    ):
        raise ValueError(several_scores(scorers, search.refit))


def _check_axes(search: Any, candidates: Sequence[Mapping[str, Any]]) -> None:
    """Raise an error unless every axis that is to be widened can be."""
    grid = search.param_grid
    if not isinstance(grid, Mapping) and not (isinstance(grid, list) and len(grid) == 1):
        raise ValueError("widen needs a param_grid that is a single dict of lists.")
    for name in search.widen:
        if not all(is_positive(params.get(name)) for params in candidates):
            raise ValueError(
                f"widen names {name!r}, so param_grid must have a list of positive numbers for it."
            )


def several_scores(names: Iterable[str], refit: Any) -> str:
    """The message for a `refit` that does not say which of several scores to select by."""
    return (
        "For multi-metric scoring, the parameter refit must be set to a scorer key or a callable "
        f"to refit, or to False: it must name one of {', '.join(names)}; got {refit!r}."
    )
