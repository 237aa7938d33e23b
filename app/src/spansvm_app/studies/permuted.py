"""What permuted values do to predictions of left-out rows: to errors, scores, and to luck."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spansvm.blocks import LeftOutClasses, LeftOutClassifier, StoredValues, scores_without_parts

from ..common.types import Array, Mask, Rows
from .scored import PARTS, asked_of, jackknife_error, parts_of
from .subject import Subject

__all__ = ["Effect", "Judged"]


@dataclass(frozen=True, eq=False)
class Effect:
    """What permuting a feature does to every row, and to the score and its standard error."""

    each: Array
    spoiled: float
    decrease: float | None
    error: float | None


class Judged:
    """Errors and scores of permuted rows, next to those of the same rows as they are.

    Parameters
    ----------
    subject : Subject
    rows : ndarray of int
        The rows that are permuted.
    shifts : ndarray of shape (n_rows, n_pairs)
        What is subtracted from their values so that they can be ranked.
    scorer : callable or None
    values : ndarray of shape (n_rows, n_pairs)
        Their left-out values as they are.

    Attributes
    ----------
    wrong : ndarray of bool
        Which rows are misclassified as they are.
    """

    def __init__(
        self, subject: Subject, rows: Rows, shifts: Array, scorer: Callable[..., Any] | None,
        values: Array,
    ) -> None:  # fmt: skip
        self._subject, self._scorer, self._shifts = subject, scorer, shifts
        self._indices, self._y, self._units = (
            subject.indices[rows], subject.y[rows], subject.units[rows]
        )  # fmt: skip
        self.wrong, self._said = self._wrong(values), self._labels(values)
        found = self._scored(values[None])
        self._scores = None if found is None else found[0]

    @property
    def scored(self) -> bool:
        """Whether the rows have a score."""
        return self._scores is not None

    def effect(self, permuted: Array) -> Effect:
        """That of permuted values of shape (n_repeats, n_rows, n_pairs)."""
        each = np.array([self._wrong(own) for own in permuted]) - self.wrong.astype(float)
        said = np.array([self._labels(own) for own in permuted])
        decrease = error = None
        if self._scores is not None:
            found = self._scored(permuted)
            if found is not None:
                fallen = self._scores - found.mean(axis=0)
                decrease, error = float(fallen[0]), jackknife_error(fallen[1:])
        return Effect(each, self._spoiled(said), None if error is None else decrease, error)

    def _spoiled(self, said: np.ndarray) -> float:
        """Which part of the luck is lost: all of it if predictions have become unrelated."""
        n_classes = len(self._subject.classes)
        before = np.bincount(self._said, minlength=n_classes) / self._said.size
        after = np.bincount(said.ravel(), minlength=n_classes) / said.size
        unrelated = 1.0 - float(before @ after)
        changed = float((said != self._said).mean())
        return min(changed / unrelated, 1.0) if unrelated > 0.0 else 0.0

    def _wrong(self, values: Array) -> Mask:
        """Which rows are misclassified."""
        return self._left_out(values).wrong(self._subject.model.break_ties)

    def _labels(self, values: Array) -> Rows:
        """Which class each row is predicted to have."""
        every = np.arange(len(self._subject.classes))
        return self._left_out(values).labels(every, self._subject.model.break_ties)

    def _left_out(self, values: Array) -> LeftOutClasses:
        subject = self._subject
        return LeftOutClasses(
            StoredValues(values, values, values - self._shifts, subject.machines.unfixed),
            self._indices, len(subject.classes), np.ones(self._y.size, dtype=np.bool_),
            subject.left_out.calibration,
        )  # fmt: skip

    def _scored(self, several: Array) -> Array | None:
        """Scores of several values of the rows, first those of all, then without each part."""
        if self._scorer is None:
            return None
        subject, asked = self._subject, []
        for values in several:
            classifier = LeftOutClassifier(self._left_out(values), subject.classes, subject.model)
            answers = asked_of(self._scorer, classifier, self._y)
            if answers is None:
                return None
            asked.append(answers)
        found = scores_without_parts(
            self._scorer, asked, self._y, subject.classes, parts_of(self._units), PARTS
        )  # fmt: skip
        return found if np.isfinite(found[:, 0]).all() else None
