"""Predictions for rows that models were not trained on, such as the test rows of a fold.

One model gives the values of all these rows, so that they are comparable as they are.  The models
of a chain have the same rows: errors and losses are computed for all of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..common.pairs import PairRows, labels
from ..common.types import Array, Mask
from .left_out import LeftOutClasses, StoredValues, calibrated_by_span
from .machines import TrainedMachines

__all__ = ["TestedClasses", "tested", "tested_each"]


def tested(machines: TrainedMachines, values: Array, rows: PairRows) -> LeftOutClasses:
    """Rows that machines were not trained on: one model gives all values, so they are comparable.

    `rows` holds the classes of these rows.
    """
    return tested_each([machines], values[None], rows)[0]


def tested_each(
    several: Sequence[TrainedMachines], values: Array, rows: PairRows
) -> list[TestedClasses]:
    """The same for several models, whose values are of shape (n_models, n_rows, n_pairs)."""
    table = TestedValues(values, rows)
    return [TestedClasses(table, place, own) for place, own in enumerate(several)]


class TestedValues:
    """Values that several models have for the same rows, and what follows from them, at once."""

    def __init__(self, values: Array, rows: PairRows) -> None:
        self.values, self.rows = values, rows
        self.used: Mask = np.ones(rows.indices.size, dtype=np.bool_)

    @cached_property
    def margins(self) -> Array:
        """Margins of the rows of all pairs, for each model."""
        return self.rows.sign * self.values[:, self.rows.row, self.rows.column]

    @cached_property
    def hinges(self) -> Array:
        """The mean hinge loss of each model; NaN without rows."""
        losses = np.maximum(0.0, 1.0 - self.margins)
        return losses.mean(axis=1) if losses.shape[1] else np.full(losses.shape[0], np.nan)

    @cached_property
    def voted(self) -> np.ndarray:
        """The index of the class that each model predicts for each row, ties to the first."""
        n_classes = self.rows.n_classes
        found = labels(self.values.reshape(-1, self.values.shape[2]), np.arange(n_classes), False)
        return found.reshape(self.values.shape[:2])


class TestedClasses(LeftOutClasses):
    """Predictions of one of several models for rows that none of them has seen."""

    def __init__(self, table: TestedValues, place: int, machines: TrainedMachines) -> None:
        values, rows = table.values[place], table.rows
        super().__init__(
            StoredValues(values, values, values), rows.indices, rows.n_classes, table.used,
            calibrated_by_span(machines), False, rows,
        )  # fmt: skip
        self._table, self._place = table, place

    def _predicted(self, break_ties: bool) -> np.ndarray:
        return super()._predicted(True) if break_ties else self._table.voted[self._place]

    @cached_property
    def _own_margins(self) -> Array:
        return self._table.margins[self._place]

    @property
    def hinge(self) -> float:
        """Mean hinge loss; a row counts in each pair that contains its class."""
        return float(self._table.hinges[self._place]) if self.used.all() else super().hinge
