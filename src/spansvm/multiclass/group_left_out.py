"""Predictions of all machines for rows that are left out in sets: groups, or test rows of folds.

Every pair of classes loses the set's rows of its two classes.  The model without the set then
gives the values of all its rows: also of those whose class is not in the pair, and of those of zero
weight.  A pair that loses a whole class decides for the other (:mod:`spansvm.machine.groups`), so
that a class that only one set contains is never predicted for its rows.

Sets of one row are left out as in leave-one-out.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property, partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..algebra.blas import one_blas_thread
from ..common.pairs import PairRows
from ..common.types import Array, Mask, Rows
from ..machine.groups import Remover
from ..machine.values import LOOSE, accuracy_of, ranking, without_traces
from .left_out import (
    CountedValues,
    LeftOutClasses,
    StoredValues,
    calibrate,
    calibrated_by_span,
    of_training_rows,
)
from .machines import TrainedMachines
from .verified import LEAVING

__all__ = ["GroupValues", "folds_left_out", "groups_left_out", "numbers_of", "sets_of"]


def sets_of(groups: np.ndarray) -> list[Rows]:
    """The rows of every group."""
    _, codes = np.unique(groups, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)


def numbers_of(sets: Sequence[Rows], n_rows: int) -> Rows:
    """The number of every row's set."""
    numbers = np.empty(n_rows, dtype=np.intp)
    for number, rows in enumerate(sets):
        numbers[rows] = number
    return numbers


def groups_left_out(
    machines: TrainedMachines,
    sets: Sequence[Rows],
    used: Mask | None = None,
    method: str = "verified",
) -> LeftOutClasses:
    """All training rows, each from the model without its set; together the sets are all rows.

    Probabilities are calibrated on these values.

    Parameters
    ----------
    machines : TrainedMachines
    sets : list of ndarray of int
    used : ndarray of bool, optional
        The rows that count; by default those of positive weight.
    method : {"verified", "span_rule", "loo"}, default="verified"
        How rows that are a set of their own are left out.  With "loo" all sets are exact.
    """
    used = machines.bounds > 0 if used is None else used
    if all(rows.size == 1 for rows in sets):
        return LEAVING[method](machines, used)
    values = GroupValues(machines, sets, method)
    return of_training_rows(machines, values, used, partial(calibrate, machines, values))


def folds_left_out(
    machines: TrainedMachines, sets: Sequence[Rows], exact: bool = False
) -> Iterator[LeftOutClasses]:
    """The test rows of one fold after the other; each has one model, so values are comparable.

    Where nothing fixes the intercept, the model with all rows has another: then the shift between
    both is subtracted.

    Probabilities are calibrated by the span, as for folds that are trained.
    """
    unfixed = machines.unfixed
    for rows, (values, shift) in zip(sets, _values(machines, sets, exact, unfixed), strict=True):
        own = PairRows(machines.indices[rows], machines.n_classes)
        comparable = values - np.where(unfixed, shift, 0.0)
        yield LeftOutClasses(
            StoredValues(values, values, comparable, unfixed), own.indices, own.n_classes,
            np.ones(rows.size, dtype=np.bool_), calibrated_by_span(machines), False, own,
        )  # fmt: skip


class GroupValues(CountedValues):
    """Values of the training rows without their sets; computed on first access."""

    def __init__(self, machines: TrainedMachines, sets: Sequence[Rows], method: str) -> None:
        self._machines, self._method, self._exact = machines, method, method == "loo"
        self._single = np.array([rows[0] for rows in sets if rows.size == 1], dtype=np.intp)
        self._sets = [rows for rows in sets if rows.size > 1]

    @cached_property
    def _of_sets(self) -> tuple[Array, Array]:
        """Values for counting and for ranking; those of single rows are yet to be filled in."""
        machines = self._machines
        counted = np.zeros((machines.indices.size, machines.intercepts.size))
        comparable = np.zeros_like(counted)
        every = np.ones(machines.intercepts.size, dtype=np.bool_)
        found = _values(machines, self._sets, self._exact, every)
        for rows, (values, shift) in zip(self._sets, found, strict=True):
            counted[rows], comparable[rows] = values, values - shift
        if self._exact:
            counted = np.apply_along_axis(without_traces, 0, counted)
        return counted, comparable

    @cached_property
    def _alone(self) -> LeftOutClasses:
        every = np.ones(self._machines.indices.size, dtype=np.bool_)
        return LEAVING[self._method](self._machines, every)

    def _with_single(self, values: Array, form: str) -> Array:
        if self._single.size:
            values = values.copy()
            values[self._single] = getattr(self._alone.values, form)[self._single]
        return values

    @cached_property
    def counted(self) -> Array:
        """For counting errors."""
        return self._with_single(self._of_sets[0], "counted")

    @cached_property
    def decision(self) -> Array:
        """For use as decision values."""
        return self._with_single(self._of_sets[0], "decision")

    @cached_property
    def comparable(self) -> Array:
        """For ranking and for probabilities: without the shift of all other rows."""
        machines, values = self._machines, self._of_sets[1].copy()
        models = machines.models()
        for column, model in enumerate(models):
            accuracy = accuracy_of(model.gram, model.solution)
            values[:, column] = ranking(model.solution, values[:, column], accuracy)
        return self._with_single(values, "comparable")

    @property
    def unfixed(self) -> Mask:
        """Which pairs have an intercept that nothing fixes."""
        return self._machines.unfixed


def _values(
    machines: TrainedMachines, sets: Sequence[Rows], exact: bool, shifted: Mask
) -> list[tuple[Array, Array]]:
    """For every set, the values of its rows in all pairs, and the mean shift of all other rows.

    Shifts are found of the pairs `shifted`.
    """
    found = []
    with machines.holding_grams(), one_blas_thread:
        plain = machines.of_all_rows(np.concatenate([s.decision for s in machines.solutions]))
        grams, models = machines.grams(), machines.models()
        removers = [Remover(model.gram, model.solution) for model in models]
        places = machines.pair_rows.place if machines.n_classes > 2 else None
        local = np.full((len(models), machines.indices.size), -1, dtype=np.intp)
        for column, own in enumerate(machines.pair_rows.rows):
            local[column, own] = np.arange(own.size)
        gaps = [model.solution.gap for model in models]
        for rows in sets:
            values, shift = plain[rows].copy(), np.zeros(len(removers))
            where = rows if places is None else places[rows]
            leaving = local[:, np.unique(rows)]
            for column in map(int, np.flatnonzero((leaving >= 0).any(axis=1))):
                remover, members = removers[column], leaving[column]
                members = members[members >= 0]
                removed = remover.remove(members, exact=exact)
                if removed.unchanged:
                    continue
                kernel = grams.whole.block(where, grams.places[column][removed.rows])
                values[:, column] = removed.values(plain[rows, column], kernel)
                if shifted[column]:
                    own = local[column, rows]
                    inside = own >= 0
                    shift[column] = remover.shift(removed, own[inside], values[inside, column])
                gaps.append(removed.gap)
            found.append((values, shift))
    loose = int((np.array(gaps) > LOOSE).sum())
    if exact and loose:
        warnings.warn(
            f"{loose} of {len(gaps)} models without a group meet the KKT conditions only to within "
            f"{max(gaps):.2g}. Scale the features, or reduce C.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return found
