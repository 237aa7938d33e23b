"""The selected model with its rows, and the same setting trained on other rows or columns.

The bounds ``C_i`` of the rows and the kernel, with its `gamma` as a number, are those of the
selected model: neither scores nor weights nor the search itself are needed to train it again.
Transformers are fitted again where columns change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import check_array

from spansvm import SpanSVC
from spansvm.blocks import (
    LeftOutClasses,
    equal_training_rows,
    fit_transformers,
    parse_budget,
    stratified_rows,
    take_apart,
    take_rows,
    train_again,
    transform,
)

from ..common.types import Array, Mask, Rows
from .columns import column_of, is_missing, with_column

__all__ = ["MOST_ROWS", "StudiedRows", "Subject", "part_of_sets", "sample_of"]

#: More rows than this are sampled; but no fewer than the second number, whatever the memory.
MOST_ROWS, _FEWEST_ROWS = 4000, 1000


@dataclass(frozen=True, eq=False)
class StudiedRows:
    """A selected model and the rows that it is studied on: what both tasks have.

    Attributes
    ----------
    X : array-like, sparse matrix or data frame of shape (n, d)
        The rows as the user knows them.
    y : ndarray of shape (n,)
    names : list of str
        Of the columns; empty if they mean nothing, as with a Gram matrix.
    steps : list of (str, transformer)
        Fitted.
    model : SpanSVC or SpanSVR
        The selected one.
    machines : TrainedMachines or TrainedRegressions
        Trained on the rows: those of the model, unless rows were left aside.
    left_out : LeftOutClasses or LeftOutTargets
        Their predictions for these rows when they are left out.
    sets : list of ndarray of int, or None
        Rows that leave together; None for single rows.
    n_all : int
        How many rows the model was trained on.
    """

    X: Any
    y: np.ndarray
    names: Sequence[str]
    steps: Sequence[tuple[str, Any]]
    model: Any
    machines: Any
    left_out: Any
    sets: list[Rows] | None
    n_all: int

    @property
    def n_rows(self) -> int:
        """How many rows are studied."""
        return int(self.y.size)

    @property
    def sampled(self) -> bool:
        """Whether these are only some of the rows."""
        return self.n_rows < self.n_all

    @property
    def units(self) -> np.ndarray:
        """The set of every row: its own number, or that of its group."""
        if self.sets is None:
            return np.arange(self.n_rows)
        numbers = np.empty(self.n_rows, dtype=np.intp)
        for number, rows in enumerate(self.sets):
            numbers[rows] = number
        return numbers

    @property
    def strata(self) -> np.ndarray:
        """Which part of the targets every row is in: parts of the rows have all in their shares."""
        raise NotImplementedError

    def transformed(self, X: Any) -> Any:
        """Other rows, as the machines take them."""
        return self._as_taken(transform(dict(self.steps), X))

    def _as_taken(self, points: Any) -> Any:
        """Transformed rows as floats, dense or in CSR format; unchanged for a callable kernel."""
        if callable(self.model.kernel):
            return points
        return check_array(points, accept_sparse="csr", dtype=np.float64, input_name="X")

    def without_columns(self, columns: Sequence[int]) -> Any:
        """The transformed rows if these columns were constant."""
        X = self.X
        for column in columns:
            values = column_of(X, column)
            X = with_column(X, column, np.full(values.size, _known(values), dtype=values.dtype))
        _, points, _ = fit_transformers(self.steps, X, self.y, {})
        return self._as_taken(points)

    def taken(self, rows: Rows) -> tuple[Any, Any]:
        """Some of the rows, as the user knows them and as they were transformed."""
        points = self.machines.X
        if self.machines.kernel.precomputed:
            return self.X, points[np.ix_(rows, rows)]
        return take_rows(self.X, rows), points[rows]


@dataclass(frozen=True, eq=False)
class Subject(StudiedRows):
    """A selected classifier and the rows that it is studied on."""

    model: SpanSVC
    machines: Any
    left_out: LeftOutClasses

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        y: np.ndarray,
        names: Sequence[str],
        most_rows: int | None = None,
    ) -> Subject:
        """The subject of a fitted SpanSVC, or of a pipeline that ends in one.

        Parameters
        ----------
        estimator : SpanSVC or Pipeline
        X, y
            What it was fitted on.
        names : sequence of str
            Of the columns of `X`; empty if they mean nothing.
        most_rows : int, optional
            If there are more, 4000 by default, a sample of them is studied, with a model trained
            on it.  Rows of zero weight never take part.
        """
        parts = take_apart(estimator)
        steps, model = parts.steps, parts.machine
        most_rows = MOST_ROWS if most_rows is None else most_rows
        if model.gram_budget is not None:  # rows whose Gram matrix fits into the memory
            fitting = int((parse_budget(model.gram_budget) / 8) ** 0.5)
            most_rows = min(most_rows, max(fitting, _FEWEST_ROWS))
        assert isinstance(model, SpanSVC)
        machines = model.machines_
        sets = model.left_out_sets_
        used = np.flatnonzero(machines.bounds > 0)
        names = names if not machines.kernel.precomputed else []
        whole = cls(X, y, names, steps, model, machines, model.left_out_, sets, used.size)
        if used.size == y.size <= most_rows:
            return whole
        if used.size > most_rows:
            used = used[sample_of(y[used], part_of_sets(sets, used), most_rows)]
        return whole.of_rows(used)

    # What is known of it --------------------------------------------------------------------

    @property
    def classes(self) -> np.ndarray:
        """The labels of the classes."""
        return self._classes[0]

    @property
    def indices(self) -> np.ndarray:
        """The class of every row."""
        return self._classes[1]

    @cached_property
    def _classes(self) -> tuple[np.ndarray, np.ndarray]:
        classes, indices = np.unique(self.y, return_inverse=True)
        return classes, indices

    @cached_property
    def wrong(self) -> Mask:
        """Which rows are misclassified when they are left out."""
        return self.left_out.wrong(self.model.break_ties)

    @cached_property
    def n_repeated(self) -> int:
        """How many rows have an equal one, which stays when they are left out."""
        kinds = equal_training_rows(self.machines)
        if kinds is None:
            return 0
        _, leaving, sizes = np.unique(
            np.column_stack((kinds, self.units)), axis=0, return_inverse=True, return_counts=True
        )
        return int((np.bincount(kinds)[kinds] > sizes[leaving.ravel()]).sum())

    @cached_property
    def majority_error(self) -> float:
        """The error of always predicting the largest class."""
        return 1.0 - float(np.bincount(self.indices).max()) / self.n_rows

    @property
    def strata(self) -> np.ndarray:
        """The class of every row."""
        return self.indices

    # The setting on something else ----------------------------------------------------------

    def of_rows(self, rows: Rows, factor: float = 1.0) -> Subject:
        """The same setting, trained on some of the rows, as they were transformed.

        `factor` multiplies the bounds ``C_i``.
        """
        X, points = self.taken(rows)
        sets = part_of_sets(self.sets, rows)
        bounds = factor * self.machines.bounds[rows]
        machines, left_out = self.train(points, self.y[rows], bounds, sets)
        return Subject(
            X, self.y[rows], self.names, self.steps, self.model, machines, left_out, sets,
            self.n_all,
        )  # fmt: skip

    def train(
        self, points: Any, y: np.ndarray, bounds: Array, sets: list[Rows] | None, **changed: Any
    ) -> tuple[Any, LeftOutClasses]:
        """Machines for transformed rows, and what they say of these when they are left out."""
        return train_again(self.model, points, y, bounds, sets, **changed)


def part_of_sets(sets: list[Rows] | None, rows: Rows) -> list[Rows] | None:
    """The sets by places in `rows`; those without any row there are gone."""
    if sets is None:
        return None
    place = np.full(max(int(own.max(initial=0)) for own in sets) + 1, -1, dtype=np.intp)
    place[rows] = np.arange(rows.size)
    parts = [place[own] for own in sets]
    return [part[part >= 0] for part in parts if (part >= 0).any()]


def sample_of(y: np.ndarray, sets: list[Rows] | None, n_rows: int) -> Rows:
    """About this many rows, with every class in its share, or whole sets of rows."""
    if sets is None:
        return stratified_rows(y, n_rows)
    order = np.random.default_rng(0).permutation(len(sets))
    ends = np.cumsum([sets[number].size for number in order])
    enough = int(np.searchsorted(ends, n_rows, side="right"))
    chosen = np.concatenate([sets[number] for number in order[: max(enough, 2)]])
    # Two rows of every class at least: without them the class would be gone.
    few = [np.flatnonzero(y == label)[:2] for label in np.unique(y)]
    return np.unique(np.concatenate([chosen, *few]))


def _known(values: np.ndarray) -> Any:
    """Any value that is not missing."""
    return next((value for value in values if not is_missing(value)), values[0])
