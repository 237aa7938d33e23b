"""The selected regression with its rows, and the same setting trained on other rows.

The counterpart of :class:`spansvm_app.studies.subject.Subject`, which has classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold

from spansvm import SpanSVR
from spansvm.blocks import (
    LeftOutTargets,
    equal_training_rows,
    jackknife,
    take_apart,
    tenths,
    train_again,
)

from ..common.types import Array, Rows
from .subject import StudiedRows, part_of_sets, sample_of

__all__ = ["MOST_TARGETS", "TargetSubject"]

#: More rows than this are sampled.
MOST_TARGETS = 1000


@dataclass(frozen=True, eq=False)
class TargetSubject(StudiedRows):
    """A selected regression and the rows that it is studied on."""

    model: SpanSVR
    machines: Any
    left_out: LeftOutTargets

    @classmethod
    def of(
        cls, estimator: Any, X: Any, y: np.ndarray, names: Sequence[str],
        most_rows: int = MOST_TARGETS,
    ) -> TargetSubject:  # fmt: skip
        """The subject of a fitted SpanSVR, or of a pipeline that ends in one.

        Parameters
        ----------
        estimator : SpanSVR or Pipeline
        X, y
            What it was fitted on.
        names : sequence of str
            Of the columns of `X`; empty if they mean nothing.
        most_rows : int
            If there are more, a sample of them is studied, with a model trained on it.  Rows of
            zero weight never take part.
        """
        parts = take_apart(estimator)
        steps, model = parts.steps, parts.machine
        assert isinstance(model, SpanSVR)
        machines = model.machines_
        sets, used = model.left_out_sets_, np.flatnonzero(machines.bounds > 0)
        names = names if not machines.kernel.precomputed else []
        y = np.asarray(y, dtype=np.float64)
        if used.size == y.size <= most_rows:
            return cls(X, y, names, steps, model, machines, model.left_out_, sets, used.size)
        # What a large model says of its left-out rows is not needed.
        unknown = LeftOutTargets(y, y, machines.bounds > 0)
        whole = cls(X, y, names, steps, model, machines, unknown, sets, used.size)
        if used.size > most_rows:
            used = used[sample_of(tenths(y[used]), part_of_sets(sets, used), most_rows)]
        return whole.of_rows(used)

    # What is known of it --------------------------------------------------------------------

    @cached_property
    def strata(self) -> np.ndarray:
        """The tenth of the targets that every row is in."""
        return tenths(self.y)

    @property
    def residuals(self) -> Array:
        """Targets minus predictions of left-out rows."""
        return self.left_out.residuals

    @property
    def groups(self) -> np.ndarray | None:
        """The units of rows that are not independent; None if all are."""
        return None if self.sets is None else self.units

    @cached_property
    def jackknife(self) -> Any:
        """The functions without every row, or every group."""
        return jackknife(self.machines, self.sets)

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

    def folds(self, number: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Training and test rows of folds, of whole groups if there are groups; may be empty."""
        number = min(number, np.unique(self.units).size)
        if number < 2 or self.n_rows < 2 * number:
            return []
        if self.sets is None:
            return list(KFold(number, shuffle=True, random_state=0).split(self.y))
        folds = GroupKFold(number, shuffle=True, random_state=0)
        return list(folds.split(self.y, self.y, self.units))

    # The setting on something else ----------------------------------------------------------

    def sampled_to(self, n_rows: int) -> TargetSubject:
        """The subject itself, or one of about so many of its rows if it has more."""
        if self.n_rows <= n_rows:
            return self
        return self.of_rows(sample_of(self.strata, self.sets, n_rows))

    def of_rows(self, rows: Rows, factor: float = 1.0) -> TargetSubject:
        """The same setting, trained on some of the rows, as they were transformed.

        `factor` multiplies the bounds ``C_i``.
        """
        X, points = self.taken(rows)
        sets = part_of_sets(self.sets, rows)
        bounds = factor * self.machines.bounds[rows]
        machines, left_out = self.train(points, self.y[rows], bounds, sets)
        return TargetSubject(
            X, self.y[rows], self.names, self.steps, self.model, machines, left_out, sets,
            self.n_all,
        )  # fmt: skip

    def train(
        self, points: Any, y: Array, bounds: Array, sets: list[Rows] | None, **changed: Any
    ) -> tuple[Any, LeftOutTargets]:
        """A machine for transformed rows, and what it says of these when they are left out."""
        return train_again(self.model, points, y, bounds, sets, **changed)
