"""The column to predict: classes for a classifier, numbers for a regression, and which of both."""

from __future__ import annotations

import numpy as np

from spansvm.errors import UserError

from ..common.tasks import CLASSIFICATION, REGRESSION, TASKS, is_quantity
from ..common.wording import closest_name
from .columns import Column
from .table import CATEGORICAL

__all__ = [
    "Target",
    "check_classes",
    "check_task",
    "known_labels",
    "known_target",
    "note_many_classes",
]

#: A target with more distinct integers than this may be a measurement.
_MANY_CLASSES = 10


def check_task(task: str | None) -> None:
    """UserError unless it is None or one of the tasks."""
    if task is not None and task not in TASKS:
        raise UserError(
            f"There is no task '{task}'{closest_name(task, TASKS)}; --task must be "
            f"{' or '.join(TASKS)}."
        )


class Target:
    """What is to be predicted for every row.

    Parameters
    ----------
    what : str
        What it is called at the start of a sentence, such as "The target 'price' of sales.csv".
    labels : ndarray of int or str
        The values as names of classes.
    numbers : ndarray of float, or None
        The values as numbers; None if they are texts.
    task : str, optional
        What was asked for; by default it is chosen by the values.
    rows : ndarray of int, optional
        The number of each row in the file, from 1, for messages.

    Attributes
    ----------
    task, why : str
        The task, and a sentence that says which was chosen, why, and how to choose the other.
    values : ndarray
        Labels, or numbers.
    classes : tuple
        Empty for a regression.
    """

    def __init__(
        self, what: str, labels: np.ndarray, numbers: np.ndarray | None, *, task: str | None = None,
        rows: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        check_task(task)
        self._what, self._numbers, self._rows = what, numbers, rows
        quantity = numbers is not None and is_quantity(numbers)
        self.task = task or (REGRESSION if quantity else CLASSIFICATION)
        if self.task == REGRESSION:
            self.values, self.classes = self._checked_numbers(), ()
        else:
            self._check_whole()
            check_classes(labels, what)
            self.values, self.classes = labels, tuple(np.unique(labels).tolist())
        self.why = "" if task is not None else self._reason()

    @classmethod
    def of_column(cls, source: str, column: Column, task: str | None) -> Target:
        """The target in a column of a file."""
        named = column.declared != CATEGORICAL and bool(column.are_numbers().all())
        if named and column.n_missing:
            column.names()  # says which are missing
        return cls(
            f"The target '{column.name}' of {source}", column.labels(),
            column.numbers() if named else None, task=task, rows=column.rows,
        )  # fmt: skip

    def _checked_numbers(self) -> np.ndarray:
        if self._numbers is None:
            raise UserError(
                f"{self._what} holds texts, and a regression predicts numbers; leave --task out, "
                "or pass --target with a column of numbers."
            )
        if np.unique(self._numbers).size < 2:
            raise UserError(
                f"{self._what} is {self._numbers[0]:g} in all {self._numbers.size} rows; at least "
                "two different values are needed."
            )
        return self._numbers

    def _check_whole(self) -> None:
        if self._numbers is None:
            return
        parts = self._numbers != np.round(self._numbers)
        if parts.any():
            index = int(np.argmax(parts))
            row = index + 1 if self._rows is None else int(self._rows[index])
            raise UserError(
                f"{self._what} has {self._numbers[index]:g} in row {row}, but classes must be "
                f"integers or text; pass --task {REGRESSION} to predict numbers, or --target with "
                "a column of classes."
            )

    def _reason(self) -> str:
        n_values = np.unique(self.values).size
        if self.task == REGRESSION:
            assert self._numbers is not None
            whole = bool((self._numbers == np.round(self._numbers)).all())
            kind = (
                "different whole numbers" if whole else "different numbers, not all of them whole"
            )
            other = f" --task {CLASSIFICATION} makes each of them a class." if whole else ""
            return f"{self._what} has {n_values} {kind}, so this is a regression.{other}"
        if self._numbers is None:
            return f"{self._what} holds {n_values} texts, so this is a classification."
        return (
            f"{self._what} has {n_values} different whole numbers, so this is a classification. "
            f"--task {REGRESSION} predicts a number instead."
        )


def check_classes(y: np.ndarray, what: str) -> None:
    """UserError unless there are at least two classes, and several rows for most."""
    classes = np.unique(y)
    if classes.size < 2:
        raise UserError(
            f"{what} is '{classes[0]}' in all {y.size} rows; at least two classes are needed."
        )
    if classes.size > max(2, y.size // 2):
        advice = ""
        if y.dtype.kind in "iuf":
            advice = f", or --task {REGRESSION} if it is a quantity"
        raise UserError(
            f"{what} has {classes.size} different values in {y.size} rows; pass --target with the "
            f"column that holds the classes{advice}."
        )


def note_many_classes(y: np.ndarray, what: str) -> tuple[str, ...]:
    """A note if there are so many integers that they may not be classes."""
    n_classes = np.unique(y).size
    if y.dtype.kind != "i" or n_classes <= _MANY_CLASSES:
        return ()
    return (f"{what} has {n_classes} different integers; each is treated as a class.",)


def known_target(
    column: Column, task: str, classes: tuple[int | str, ...], notes: list[str]
) -> np.ndarray | None:
    """The values of a column as a model predicts them; None, with a note, if they are not that."""
    if task == REGRESSION:
        if column.n_missing or not column.are_numbers().all():
            notes.append(f"Some values of '{column.name}' are not numbers, so it is not used.")
            return None
        return column.numbers()
    y = None
    if column.n_missing == 0:
        y = column.names() if isinstance(classes[0], str) else column.labels()
    return known_labels(y, classes, notes)


def known_labels(
    y: np.ndarray | None, classes: tuple[int | str, ...], notes: list[str]
) -> np.ndarray | None:
    """The labels; None, with a note, if they are not all classes of the model."""
    if y is None:
        notes.append("Some labels are missing, so the labels are not used.")
        return None
    # A single text label makes all of them text.
    known = set(map(str, classes))
    unknown = [label for label in np.unique(y).tolist() if str(label) not in known]
    if unknown:
        notes.append(
            f"The label {unknown[0]} is not a class of the model, so the labels are not used."
        )
        return None
    return y
