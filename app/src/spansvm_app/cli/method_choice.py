"""The method, folds and scorers of a search, from ``--method``, ``--scoring`` and ``--groups``."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)

from spansvm.blocks import predicts
from spansvm.errors import UserError

from ..common.positive import positive_class
from ..common.tasks import REGRESSION
from ..common.wording import closest_name
from ..tables import Table
from .options import SELECTING
from .terminal import Terminal, without_traceback

__all__ = [
    "RMSE",
    "SPLITTERS",
    "Folds",
    "choose_folds",
    "choose_method",
    "choose_regression_scorers",
    "choose_scorers",
    "default_scoring",
    "scorer_named",
]

#: The score of a regression that is in units of the target.
RMSE = "neg_root_mean_squared_error"

_FOLDS = 5

#: The splitters of ``--cv``, with their arguments; a random state is that of ``--seed``.
SPLITTERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "KFold": (KFold, {"shuffle": True, "random_state": None}),
    "StratifiedKFold": (StratifiedKFold, {"shuffle": True, "random_state": None}),
    "RepeatedKFold": (RepeatedKFold, {"n_repeats": 5, "random_state": None}),
    "RepeatedStratifiedKFold": (RepeatedStratifiedKFold, {"n_repeats": 5, "random_state": None}),
    "ShuffleSplit": (ShuffleSplit, {"test_size": 0.2, "random_state": None}),
    "StratifiedShuffleSplit": (StratifiedShuffleSplit, {"test_size": 0.2, "random_state": None}),
    "TimeSeriesSplit": (TimeSeriesSplit, {}),
    "GroupKFold": (GroupKFold, {"shuffle": True, "random_state": None}),
    "StratifiedGroupKFold": (StratifiedGroupKFold, {"shuffle": True, "random_state": None}),
    "LeaveOneGroupOut": (LeaveOneGroupOut, {}),
}

#: Up to this many groups, each is a fold of its own.
_FEW_GROUPS = 10


@dataclass(frozen=True)
class Folds:
    """What ``--cv`` asks for: a number of folds, or one of scikit-learn's splitters by its name.

    Attributes
    ----------
    n_folds : int or None
    splitter : str or None
    """

    n_folds: int | None = None
    splitter: str | None = None

    @classmethod
    def parse(cls, text: str | None) -> Folds | None:
        """From ``10``, ``StratifiedKFold`` or ``StratifiedKFold:10``."""
        if text is None:
            return None
        takes = (
            f"--cv takes the number of folds, or one of {', '.join(SPLITTERS)}, perhaps with one, "
            "KFold:10"
        )
        number = text.lstrip("-").isdecimal()
        name, colon, count = ("", "", text) if number else text.partition(":")
        if not (name or number) or (colon and not count):
            raise UserError(f"{takes}; got '{text}'.")
        if count and not (count.isdecimal() and int(count) >= 2):
            raise UserError(f"--cv must be at least 2, the number of folds; got {count}.")
        if number:
            return cls(n_folds=int(count))
        known = {one.lower(): one for one in SPLITTERS}
        if name.lower() not in known:
            raise UserError(
                f"There is no splitter '{name}'{closest_name(name, SPLITTERS)}; {takes}."
            )
        return cls(int(count) if count else None, known[name.lower()])

    def make(self, table: Table, seed: int) -> Any:
        """The splitter; UserError if it does not suit the rows."""
        kind, options = SPLITTERS[str(self.splitter)]
        grouped = kind in (GroupKFold, StratifiedGroupKFold, LeaveOneGroupOut)
        if grouped and table.groups is None:
            raise UserError(f"--cv {self.splitter} needs groups; pass --groups with their column.")
        if table.groups is not None and not grouped:
            raise UserError(
                f"--cv {self.splitter} would part rows of one group; use GroupKFold, "
                "StratifiedGroupKFold or LeaveOneGroupOut, or leave --groups out."
            )
        if "Stratified" in kind.__name__ and table.task == REGRESSION:
            raise UserError(
                f"--cv {self.splitter} is for classes, and the target of {table.source} is a "
                "quantity; use KFold or ShuffleSplit."
            )
        given = {name: seed if name == "random_state" else own for name, own in options.items()}
        if kind is not LeaveOneGroupOut:
            given["n_splits"] = self.n_folds or _FOLDS
        elif self.n_folds is not None:
            raise UserError(
                "--cv LeaveOneGroupOut has as many folds as groups; leave out the number."
            )
        splitter = kind(**given)
        self._check(splitter, table)
        return splitter

    def _check(self, splitter: Any, table: Table) -> None:
        """UserError if the rows cannot be split so, or training rows lack a class."""
        asked = f"--cv {self.splitter}" + ("" if self.n_folds is None else f":{self.n_folds}")
        y, n_folds = np.asarray(table.y), self.n_folds or _FOLDS
        few, of = y.size, "rows"
        if table.groups is not None:
            few, of = np.unique(table.groups).size, "groups"
            n_folds = 2 if isinstance(splitter, LeaveOneGroupOut) else n_folds
        elif isinstance(splitter, TimeSeriesSplit):
            n_folds += 1  # the first rows are only trained on
        elif isinstance(splitter, (ShuffleSplit, StratifiedShuffleSplit)):
            n_folds = 2
        if few < n_folds:
            raise UserError(f"{asked} needs at least {n_folds} {of}; there are {few}.")
        if table.task == REGRESSION:
            return
        classes, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the search says it
                absent = [
                    classes[np.bincount(codes[rows], minlength=classes.size) == 0]
                    for rows, _ in splitter.split(y, y, table.groups)
                ]
        except ValueError as error:
            raise UserError(
                f"{asked} does not suit classes of {sizes.min()} to {sizes.max()} rows "
                f"({without_traceback(str(error)).rstrip('.')}); use fewer folds or another "
                "splitter, or leave --cv out."
            ) from error
        for number, labels in enumerate(absent, 1):
            if labels.size:
                raise UserError(
                    f"Fold {number} of {asked} has no row of class {labels[0]} to train on; "
                    f"{self._advice(splitter)}."
                )

    @staticmethod
    def _advice(splitter: Any) -> str:
        """What is right where the training rows of a fold lack a class."""
        if isinstance(splitter, LeaveOneGroupOut):
            return "pass other --groups, or leave --groups out"
        if isinstance(splitter, (GroupKFold, StratifiedGroupKFold)):
            return "pass other --groups or another --seed, or leave --groups out"
        if "Stratified" in type(splitter).__name__:
            return "leave --cv out"
        return "use --cv StratifiedKFold, or leave --cv out"


def choose_method(method: str | None, folds: Folds | None, table: Table, terminal: Terminal) -> str:
    """The method: leave-one-out by default, also for groups; folds if any are asked for."""
    if folds is not None:
        if method not in (None, "kfold"):
            raise UserError(f"--cv is for --method kfold, not for {method}; leave one of them out.")
        method = "kfold"
    if method is None:
        if table.groups is not None:
            terminal.note(
                "The rows come in groups, so whole groups are left out: leaving out single rows "
                "would be too optimistic."
            )
        return "verified"
    if method not in SELECTING:
        raise UserError(
            f"There is no method '{method}'{closest_name(method, SELECTING)}; --method must be one "
            f"of {', '.join(SELECTING)}."
        )
    if not predicts(method) and table.task == REGRESSION:
        raise UserError(
            f"--method {method} is a bound on the errors of a classifier, and the target of "
            f"{table.source} is a quantity; use verified, loo or kfold."
        )
    if not predicts(method) and len(table.schema.classes) > 2:
        raise UserError(
            f"--method {method} is for two classes, but {table.source} has "
            f"{len(table.schema.classes)}; use verified, loo or kfold."
        )
    if table.groups is not None and not predicts(method):
        raise UserError(
            f"--method {method} is a bound for single rows and knows no groups; leave --groups "
            "out, or use verified, loo or kfold."
        )
    return method


def choose_folds(method: str, table: Table, seed: int, folds: Folds | None = None) -> Any:
    """Folds for ``kfold``, five unless others are asked for; else None.

    Groups are never split; if there are few, each is a fold of its own, as with other methods.
    """
    if folds is not None and folds.splitter is not None:
        return folds.make(table, seed)
    asked = None if folds is None else folds.n_folds
    n_folds = asked or _FOLDS
    labels = np.asarray(table.y)
    if table.groups is None:
        if method != "kfold":
            return None
        if table.task == REGRESSION:
            if labels.size < n_folds:
                raise UserError(
                    f"--cv {n_folds} needs at least as many rows; there are {labels.size}."
                )
            return KFold(n_folds, shuffle=True, random_state=seed)
        classes, counts = np.unique(labels, return_counts=True)
        if counts.min() < n_folds:
            needs = "--method kfold" if asked is None else f"--cv {asked}"
            raise UserError(
                f"Class {classes[counts.argmin()]} has only {counts.min()} rows, but {needs} needs "
                f"{n_folds} of each class; use --method verified or loo."
            )
        return StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    n_groups = np.unique(table.groups).size
    if n_groups < 2:
        raise UserError(
            f"All rows of {table.source} are in one group; leave --groups out, or pass another "
            "column."
        )
    if asked is not None and asked > n_groups:
        raise UserError(f"--cv {asked} needs at least as many groups, but there are {n_groups}.")
    few = asked is None and (n_groups <= _FEW_GROUPS or method != "kfold")
    splitter = LeaveOneGroupOut() if few else GroupKFold(n_folds, shuffle=True, random_state=seed)
    if table.task == REGRESSION:
        return splitter if method == "kfold" else None
    for rows, _ in splitter.split(labels, labels, table.groups):
        absent = np.setdiff1d(labels, labels[rows])
        if absent.size:
            which, advice = ("group", "") if few else ("fold", ", another --seed")
            raise UserError(
                f"All rows of class {absent[0]} are in one {which}, so a model trained on the "
                f"others cannot learn it; pass other --groups{advice}, or leave --groups out."
            )
    return splitter if method == "kfold" else None


def choose_scorers(
    scoring: str | None, method: str, table: Table, terminal: Terminal
) -> dict[str, Any] | None:
    """The scorer by its name in scikit-learn; None for accuracy.

    Scores of a single class, such as f1, are for class 1 of 0 and 1, as in scikit-learn, and else
    for the rarer class, which is noted.  ``kfold`` always adds accuracy, as only that gives the
    cross-validation error.
    """
    if scoring is None:
        return None
    scorers = {scoring: _choose_scorer(scoring, method, table, terminal)}
    # The first one is what the progress shows.
    return {**scorers, "accuracy": get_scorer("accuracy")} if method == "kfold" else scorers


def default_scoring(table: Table) -> str:
    """The score that selects if none is asked for."""
    return "r2" if table.task == REGRESSION else "accuracy"


def choose_regression_scorers(scoring: str, method: str, table: Table) -> dict[str, Any]:
    """The scorer of a regression by its name in scikit-learn.

    ``kfold`` always adds the root mean squared error, as only that is in units of the target.
    """
    scorer = _known_scorer(scoring, "r2, neg_mean_absolute_error, neg_root_mean_squared_error")
    if "regression" not in scorer._score_func.__module__:
        raise UserError(
            f"The score {scoring} is for classes, and the target of {table.source} is a quantity; "
            "use one such as r2, neg_mean_absolute_error or neg_root_mean_squared_error."
        )
    y = np.asarray(table.y)
    if (
        ("log" in scoring and y.min() <= -1)
        or ("poisson" in scoring and y.min() < 0)
        or ("gamma" in scoring and y.min() <= 0)
    ):
        raise UserError(
            f"The score {scoring} is not defined for targets as small as {y.min():g}; use one such "
            "as r2 or neg_mean_absolute_error."
        )
    return {scoring: scorer, **({RMSE: get_scorer(RMSE)} if method == "kfold" else {})}


def _known_scorer(scoring: str, such_as: str) -> Any:
    if scoring not in get_scorer_names():
        raise UserError(
            f"There is no score '{scoring}'{closest_name(scoring, get_scorer_names())}; --scoring "
            f"takes scikit-learn's names, such as {such_as}."
        )
    return get_scorer(scoring)


def _choose_scorer(scoring: str, method: str, table: Table, terminal: Terminal) -> Any:
    if not predicts(method):
        raise UserError(
            f"--method {method} gives one number and no predictions that {scoring} could score; "
            "leave --scoring out, or use --method verified."
        )
    scorer = _known_scorer(scoring, "accuracy, balanced_accuracy, f1, roc_auc")
    kind = scorer._score_func.__module__
    if "regression" in kind or "cluster" in kind:
        raise UserError(
            f"The score {scoring} is not for classification; use one such as accuracy, "
            "balanced_accuracy, f1 or roc_auc."
        )
    if scoring == "roc_auc" and len(table.schema.classes) > 2:
        raise UserError(
            f"The score roc_auc is for two classes, but {table.source} has "
            f"{len(table.schema.classes)}; use roc_auc_ovr."
        )
    return _for_one_class(scoring, scorer, table, terminal)


def scorer_named(scoring: str, table: Table, trained: np.ndarray | None = None) -> Any:
    """A scorer for the rows of a table; None if it has no such name, as for bounds.

    `trained` are the labels that the model was trained on, which decide the positive class.
    """
    if scoring == "accuracy" or scoring not in get_scorer_names():
        return None
    if table.task == REGRESSION:
        return get_scorer(scoring)
    return _for_one_class(scoring, get_scorer(scoring), table, None, trained)


def _for_one_class(
    scoring: str, scorer: Any, table: Table, terminal: Terminal | None,
    trained: np.ndarray | None = None,
) -> Any:  # fmt: skip
    """The scorer, made to score the positive class, if it is for one class."""
    settings = scorer._kwargs
    takes_one_class = "pos_label" in signature(scorer._score_func).parameters
    if not takes_one_class or settings.get("average", "binary") != "binary":
        return scorer
    classes = table.schema.classes
    if len(classes) > 2:
        raise UserError(
            f"The score {scoring} is for two classes, but {table.source} has {len(classes)}; use "
            "one such as accuracy, f1_macro or neg_log_loss."
        )
    y = np.asarray(table.y) if trained is None else trained
    positive = classes[positive_class(classes, [int((y == label).sum()) for label in classes])]
    if positive == 1:
        return scorer
    if terminal is not None:
        terminal.note(f"The score {scoring} is for class '{positive}'.")
    result = copy(scorer)
    result._kwargs = {**settings, "pos_label": positive}
    return result
