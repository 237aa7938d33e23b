"""Reasons not to trust a model as it is: copies among the rows, classes that are not predicted."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from spansvm import SpanSVC
from spansvm.blocks import (
    equal_training_rows,
    find_label_step,
    numbers_of,
    sets_of,
)

from ..common.types import Rows
from ..common.wording import listed
from ..studies.decisions import UNEQUAL
from .loo_figures import FEW_IN_CLASS, ClassFigures, LeaveOneOutFigures
from .plain import fixed, percent
from .searched import SearchedCandidates

__all__ = [
    "FOR_RARE",
    "HELP",
    "Duplicates",
    "caution_of_labels",
    "count_duplicates",
    "find_cautions",
    "missed_classes",
    "suggested_scoring",
]

#: Copies are worth a caution from this share of the rows on.
_MANY_COPIES = 0.01

#: Removals at most, to leave copies out together: one for each set and pair of classes.
_MOST_REMOVALS = 3000

#: Few rows.
_FEW_ROWS = 100

#: A score that does not reward ignoring a rare class, as accuracy does; what helps.
FOR_RARE = "balanced_accuracy"
HELP = f"--scoring {FOR_RARE} does not, and spansvm predict --cost applies costs to this model"


@dataclass(frozen=True)
class Duplicates:
    """Rows that equal others in all features, as the SVM sees them.

    With groups, only copies in other groups count: the others leave together anyway.

    Attributes
    ----------
    n_rows : int
    n_repeated : int
        How many rows repeat an earlier one.
    n_same, n_other : int
        How many rows have a copy with the same label, and with another.
    error_together : float or None
        The error if copies leave together; None if it is not known.
    grouped : bool
        Whether the rows came in groups.
    """

    n_rows: int
    n_repeated: int
    n_same: int
    n_other: int
    error_together: float | None
    grouped: bool = False

    def matter(self, error: float) -> bool:
        """Whether they change an error, as it is shown; taken for granted if that is not known."""
        return self.error_together is None or percent(self.error_together) != percent(error)

    def many(self, error: float) -> bool:
        """Whether they are worth a caution."""
        return self.n_repeated >= _MANY_COPIES * self.n_rows and self.matter(error)

    def in_words(self, error: float) -> str:
        """What there is, what it does to an error that leaves rows out alone, what to do."""
        repeat = "row repeats" if self.n_repeated == 1 else "rows repeat"
        does = (
            f"which stays when they are left out: {self.n_same} have a copy with the same label, "
            f"which gives the answer away, and {self.n_other} one with another"
        )
        if self.error_together is not None:
            does = (
                f"and if copies leave together, the error is {percent(self.error_together)} "
                f"instead of {percent(error)}"
            )
        advice = "remove the copies"
        if not self.grouped:
            advice += ", or give each set of copies a group of its own"
        return (
            f"{self.n_repeated} of {self.n_rows} {repeat} an earlier one in all features, {does}; "
            f"if new rows will not repeat old ones as often, {advice}."
        )


def count_duplicates(model: SpanSVC, *, grouped: bool = False) -> Duplicates | None:
    """Copies among the training rows of a fitted model; None if there are none.

    `grouped` says whether the search had groups, even if the model leaves out single rows.
    """
    machines: Any = model.machines_
    copies = equal_training_rows(machines)
    if copies is None:
        return None
    used = machines.bounds > 0
    kinds, own = copies[used], machines.indices[used]
    apart = np.arange(used.size)[used]
    if model.left_out_sets_ is not None:
        apart = numbers_of(model.left_out_sets_, used.size)[used]
    # A row has a copy that stays in if the rows like it are more than those that leave with it.
    same, other = _n_staying(kinds, own, apart)
    if not (same | other).any():
        return None
    together = None if model.left_out_sets_ is not None else _error_together(model, sets_of(copies))
    n_repeated = int((same | other).sum()) - np.unique(kinds[same | other]).size
    return Duplicates(
        kinds.size,
        n_repeated,
        int(same.sum()),
        int(other.sum()),
        together,
        grouped or model.left_out_sets_ is not None,
    )


def _n_staying(kinds: Rows, own: np.ndarray, apart: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Which rows have a copy of the same and of another label that does not leave with them."""
    of_label = _sizes(kinds, own) - _sizes(kinds, own, apart)
    of_any = _sizes(kinds) - _sizes(kinds, apart)
    return of_label > 0, of_any > of_label


def _sizes(*keys: np.ndarray) -> np.ndarray:
    """For every row, how many rows have the same keys."""
    _, codes, counts = np.unique(
        np.column_stack(keys), axis=0, return_inverse=True, return_counts=True
    )
    return counts[codes.ravel()]


def _error_together(model: SpanSVC, sets: list[Rows]) -> float | None:
    """The error of the model if copies leave together."""
    machines: Any = model.machines_
    n_removals = sum(rows.size > 1 for rows in sets) * (machines.n_classes - 1)
    if n_removals > _MOST_REMOVALS or machines.grams().whole.values is None:
        return None
    together = copy(model)
    together.leave_out(sets)
    return together.loo_error_


def caution_of_labels(estimator: Any, X: Any, y: np.ndarray) -> list[str]:
    """A caution if a step before the model has seen the labels of the rows that are left out."""
    step = find_label_step(estimator, [{}], X, y)
    if step is None:
        return []
    return [
        f"{step} This affects all that this page says about left-out rows: errors, margins, "
        "probabilities, suspicious labels, comparisons. The scores of the folds, by which "
        "candidates were compared, are not affected."
    ]


def find_cautions(
    search: SearchedCandidates,
    figures: LeaveOneOutFigures,
    duplicates: Duplicates | None,
    *,
    unsure: bool,
) -> list[str]:
    """All cautions, in words.

    `unsure` says whether always predicting the largest class may be as good, by the score that was
    asked for.
    """
    cautions = []
    if figures.n_rows < _FEW_ROWS:
        cautions.append(f"There are only {figures.n_rows} rows.")
    if duplicates is not None and duplicates.many(figures.error):
        cautions.append(duplicates.in_words(figures.error))
    alike: dict[tuple[str, bool], list[ClassFigures]] = {}
    for one in figures.never_said:
        if one.n_rows > 1:
            key = _advice(one, search, figures), bool(one.n_fitted)
            alike.setdefault(key, []).append(one)
    cautions += [
        f"{_not_predicted(classes, figures.n_rows)}{advice.format(it=_it(classes))}"
        for (advice, _), classes in alike.items()
    ]
    single = [f"'{one.label}'" for one in figures.classes if one.n_rows == 1]
    if single:
        text = (
            f"{listed(single)} {'has' if len(single) == 1 else 'have'} a single row"
            f"{'' if len(single) == 1 else ' each'}. Left out, nothing remains to learn the class "
            "from: it counts as an error for every model."
        )
        cautions.append(f"{text} Add rows of such a class, or leave it out.")
    # A model that never predicts some class already has its caution.
    if unsure and not figures.never_said:
        cautions += _hardly_better(search, figures)
    return cautions


def _hardly_better(search: SearchedCandidates, figures: LeaveOneOutFigures) -> list[str]:
    """What it means that the model need not be better than a constant."""
    if not figures.ranks:
        by = "The" if search.selects_by_error else f"By {search.scoring}, the"
        return [
            f"{by} model is hardly better than always predicting the largest class: the labels may "
            "be noisy, or the features may say little about them."
        ]
    if not figures.unequal or not search.selects_by_error:
        return []
    best = max(figures.operations, key=lambda one: one.auc)
    low, high = (fixed(end) for end in best.interval)
    return [
        "By its errors the model is hardly better than always predicting the largest class, but it "
        f"does tell '{best.label}' from the rest (AUC {fixed(best.auc)}, 95% CI {low} to {high}): "
        "the classes are unequal, and accuracy rewards ignoring the rarer."
    ]


def _not_predicted(classes: list[ClassFigures], n_rows: int) -> str:
    """That classes are predicted for no left-out row; all or none of them for training rows."""
    names = listed([f"'{one.label}'" for one in classes])
    n_own, n_fitted = sum(one.n_rows for one in classes), sum(one.n_fitted or 0 for one in classes)
    if len(classes) == 1:
        never = f"{names} ({n_own} of {n_rows} rows have it)"
        nowhere = f"{names} is predicted for no left-out row ({n_own} of {n_rows} rows have it)"
    else:
        never = f"{names}, which {n_own} of {n_rows} rows have"
        nowhere = f"{never}, are predicted for no left-out row"
    if not n_fitted:
        return f"The model never predicts {never}."
    return (
        f"{nowhere}; the model predicts {_it(classes)} only for {n_fitted} "
        f"{'row' if n_fitted == 1 else 'rows'} that it was trained on."
    )


def _it(classes: list[ClassFigures]) -> str:
    return "it" if len(classes) == 1 else "them"


def _advice(one: ClassFigures, search: SearchedCandidates, figures: LeaveOneOutFigures) -> str:
    """What might help a class that is not predicted, as a sentence with a place for "it"."""
    if one.n_rows < FEW_IN_CLASS:
        return " There is little to learn from so few rows: add some, or leave {it} out."
    if not (_rare(one, figures) or (figures.ranks and one in missed_classes(figures))):
        return " The features may say little about {it}."
    return f" Accuracy rewards ignoring a rarer class; {HELP}." if search.selects_by_error else ""


def _rare(one: ClassFigures, figures: LeaveOneOutFigures) -> bool:
    """Whether a class has less than half of its share of the rows: too few for a sure AUC."""
    return one.n_rows * len(figures.classes) <= figures.n_rows / 2


def missed_classes(figures: LeaveOneOutFigures) -> list[ClassFigures]:
    """Classes with clearly fewer rows than the largest that are often missed; the worst first.

    Not those of so few rows that no score helps.
    """
    found = [
        one
        for one in figures.classes
        if one.n_rows >= FEW_IN_CLASS
        and one.n_rows < UNEQUAL * figures.majority.n_rows
        and 3 * one.n_errors > one.n_rows
    ]
    return sorted(found, key=lambda one: -one.n_errors / one.n_rows)


def suggested_scoring(search: SearchedCandidates, figures: LeaveOneOutFigures) -> str | None:
    """A score that may help where rarer classes are often missed; None if there is none."""
    missed = missed_classes(figures)
    helps = figures.ranks or any(_rare(one, figures) for one in missed)
    return FOR_RARE if missed and helps and search.selects_by_error else None
