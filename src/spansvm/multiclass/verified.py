"""Left-out errors that are counted as exact leave-one-out counts them, at the price of the rule.

The span-rule (Corollary 1) counts a row as an error if its predicted margin ``m^ = m - alpha S^2``
is not positive.  Two facts tell where that can be wrong, for a row that the model itself has right:

* Removing a row only lowers its margin: with ``m <= 0`` it is an error for certain.
* The prediction is too low where other vectors become support vectors, and too high, to first
  order by ``delta_p``, where in-bound vectors have no room for what they take over
  (:mod:`spansvm.core.doubt`).

So the rows with ``m > 0`` and (``m^ <= 0`` or ``m^ < 2 delta_p``) are followed exactly
(:mod:`spansvm.machine.following`), and no others.  With several classes only those are followed
whose votes depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property, partial

import numpy as np

from ..algebra.blas import one_blas_thread
from ..common.types import Array, Mask, Rows
from ..machine.certificate import LeftOutCounts, count_left_out
from ..machine.doubt import Prediction, doubtful, predict
from ..machine.following import Follower, can_follow
from ..machine.values import Followed, LeftOutValues, left_out_values, without_traces
from .left_out import (
    LeftOutClasses,
    SpanValues,
    calibrate,
    exact_left_out,
    of_training_rows,
    span_left_out,
)
from .machines import TrainedMachines

__all__ = ["LEAVING", "VerifiedValues", "verified_left_out"]

#: A second round pays if more than this many removals for each pair may be saved.
_SECOND_ROUND = 4


class VerifiedValues(SpanValues):
    """Values predicted by the span, followed exactly where the votes of machines depend on it."""

    def __init__(self, machines: TrainedMachines) -> None:
        super().__init__(machines)
        self._rows = machines.pair_rows
        self._taken = machines.found.verified  # what was found in training
        self._followed: dict[int, Followed] = {}
        self._predictions: dict[int, Prediction] = {}  # by pair, until values are made of them
        self._classes: np.ndarray | None = None  # that are predicted
        self._seen: Mask = np.zeros(self._rows.row.size, dtype=np.bool_)  # rows that were followed

    @cached_property
    def _removable(self) -> Mask:
        """Rows, pair by pair, whose removal can be followed and changes anything.

        That is, support vectors that are not alone in their class.
        """
        machines, rows = self._machines, self._rows
        found = machines.found
        if found.indefinite or not found.converged:
            return np.zeros(rows.row.size, dtype=np.bool_)
        side = 2 * rows.column + (rows.sign > 0)
        members = np.bincount(side, machines.bounds[rows.row] > 0, 2 * len(rows.pairs))
        return (found.signed != 0.0) & (members > 1)[side]

    @cached_property
    def _margins(self) -> Array:
        """Margins in the machines that have seen the rows."""
        return self._rows.sign * self._machines.found.decisions

    @cached_property
    def _drops(self) -> Array:
        """How much lower than predicted the margins may be; NaN if unknown."""
        return self._machines.found.drops.copy()

    @cached_property
    def _given_up(self) -> Mask:
        """Rows, pair by pair, whose removals were followed in training until that was given up."""
        if self._taken is None:
            return np.zeros(self._rows.row.size, dtype=np.bool_)
        return np.isnan(self._taken.shift)

    def _followed_in(self, pair: int) -> Followed:
        """What was followed in one machine, to be added to."""
        if pair not in self._followed:
            self._followed[pair] = self._followed_in_training(pair)
        return self._followed[pair]

    def _followed_in_training(self, pair: int) -> Followed:
        found = Followed()
        if self._taken is not None:
            part = slice(*self._rows.starts[pair : pair + 2])
            rows = np.flatnonzero(self._taken.followed[part])
            found.take(
                rows, self._taken.decision[part][rows], self._taken.shift[part][rows],
                float(self._taken.error[pair]),
            )  # fmt: skip
        return found

    @cached_property
    def _when_counted(self) -> dict[int, Followed]:
        """What was followed in each machine when rows were counted, by pair; if anything was."""
        self._own  # noqa: B018  (counts them)
        return {pair: copy(found) for pair, found in self._followed.items()}

    def _look_at(self, pairs: Rows, own: Array) -> None:
        """Compute the doubt of some machines."""
        for pair in map(int, pairs):
            part = slice(*self._rows.starts[pair : pair + 2])
            model = self._machines.model(pair)
            predicted = predict(model.gram, model.solution, model.spans)
            if predicted.system is None:  # which may be large
                self._predictions[pair] = predicted
            some = self._removable[part] | ~model.solution.support
            self._drops[part] = predicted.drop
            own[part][some] = predicted.decision[some]
            followed = self._followed_in(pair)
            own[part][followed.rows] = followed.decision

    def _follow(self, entries: Rows, own: Array) -> None:
        """Follow the removal of some rows, in order, pair by pair, and set their values."""
        starts = self._rows.starts
        entries = entries[~self._seen[entries]]
        self._seen = self._seen.copy()  # a loaded one may be read-only
        self._seen[entries] = True
        given_up = self._given_up[entries]
        # With one pair that was tried in training.
        found = self._machines.found.removed(entries[~given_up]) if len(starts) > 2 else None
        if found is not None:
            (decision, shift, error), new = found, entries[~given_up]
            there = ~np.isnan(decision)
            self._set(new[there], decision[there], shift[there], error, own)
            given_up[~given_up] = np.isnan(shift)
            left = ~np.isin(entries, new[there])
            entries, given_up = entries[left], given_up[left]
        cuts = np.searchsorted(entries, starts)
        for pair in map(int, np.flatnonzero(np.diff(cuts))):
            model = self._machines.model(pair)
            if not can_follow(model.gram, model.solution):
                continue
            followed = self._followed_in(pair)
            some = slice(cuts[pair], cuts[pair + 1])
            rows = entries[some] - starts[pair]
            followed.add(rows, Follower(model.gram, model.solution), given_up[some])
            part = own[starts[pair] : starts[pair + 1]]
            part[followed.rows] = followed.decision
            part[:] = without_traces(part)

    def _set(self, entries: Rows, decision: Array, shift: Array, error: float, own: Array) -> None:
        """Set values that were followed for the rows of several pairs, in order."""
        starts, own[entries] = self._rows.starts, decision
        cuts = np.searchsorted(entries, starts)
        for pair in map(int, np.flatnonzero(np.diff(cuts))):
            some = slice(cuts[pair], cuts[pair + 1])
            self._followed_in(pair).take(
                entries[some] - starts[pair], decision[some], shift[some], error
            )
            part = own[starts[pair] : starts[pair + 1]]
            part[:] = without_traces(part)

    def _find_values(self, pair: int) -> LeftOutValues:
        # What is followed for counting need not be followed again.  What was followed after that is
        # not taken: values must not depend on what has been asked before.
        followed = self._when_counted.get(pair) or self._followed_in_training(pair)
        model = self._machines.model(pair)
        known = self._predictions.pop(pair, None) or self._machines.prediction(pair)
        return left_out_values(model.gram, model.solution, model.spans, followed, known)

    @cached_property
    def _own(self) -> Array:
        taken = self._taken
        if taken is not None:
            self._seen = taken.followed
            if not taken.doubtful.any():  # most often all was found in training
                self._classes = taken.classes
                return taken.decision
        with self._machines.holding_grams(), one_blas_thread:
            if taken is None:
                own = self._machines.left_out_by_span().copy()
                rows = self._doubtful(own)
            else:
                own, rows = taken.decision.copy(), taken.doubtful & self._removable
            if rows.any():
                self._verify(own, rows)
            elif taken is not None:
                self._classes = taken.classes
        return own

    def predicted(self, rows: Rows, n_classes: int, break_ties: bool) -> np.ndarray:
        """The index of the class that some rows are counted as."""
        if self._own.size and self._classes is not None and not break_ties:
            return self._classes[rows]
        return super().predicted(rows, n_classes, break_ties)

    @cached_property
    def decision(self) -> Array:
        """Values of the machines trained without the row, with the signs that they have.

        Followed exactly where the sign is doubtful, whether or not the votes depend on it, and
        where the value is.
        """
        with self._machines.holding_grams(), one_blas_thread:
            self._settle(np.ones(len(self._rows.pairs), dtype=np.bool_))
            signs = self._machines.of_all_rows(self._settled)
            self.counted  # noqa: B018  (while the matrices are there)
            own = np.concatenate([pair.decision for pair in self._values])
            values = self._machines.of_all_rows(own)
        return np.where((values > 0.0) == (signs > 0.0), values, signs)

    @cached_property
    def counts(self) -> list[LeftOutCounts]:
        """How many of `decision` are exact, for every machine."""
        self.decision  # noqa: B018  (says what was followed)
        found = []
        with self._machines.holding_grams(), one_blas_thread:
            for pair in range(len(self._rows.pairs)):
                model = self._machines.model(pair)
                followed = np.zeros(model.solution.y.size, dtype=np.bool_)
                followed[self._values_of(pair).rows] = True
                found.append(count_left_out(model, followed))
        return found

    def comparable_in(self, pairs: Mask) -> Array:
        """Values of the rows of all pairs: comparable in some pairs, for counting in the others."""
        with self._machines.holding_grams(), one_blas_thread:
            self._settle(pairs)
            return super().comparable_in(pairs)

    @cached_property
    def _settled(self) -> Array:
        """Values with the right signs, in those pairs that were settled."""
        return self._own.copy()

    def _settle(self, pairs: Mask) -> None:
        """Follow the doubtful signs of some pairs, whether or not votes depend on them."""
        self._when_counted  # noqa: B018  (before more is followed)
        own, wanted = self._settled, pairs[self._rows.column]
        unsure = wanted & self._doubtful(own) & np.isnan(self._drops)
        self._look_at(np.unique(self._rows.column[unsure]), own)
        self._follow(np.flatnonzero(wanted & self._doubtful(own)), own)

    def _doubtful(self, own: Array) -> Mask:
        """Rows, pair by pair, whose predicted sign may be wrong; also those of unknown doubt."""
        return self._removable & doubtful(self._margins, self._rows.sign * own, self._drops)

    def _verify(self, own: Array, rows: Mask) -> None:
        """Follow the doubtful rows on which the predicted classes depend."""
        rows = self._deciding(own, rows)
        unknown = np.unique(self._rows.column[rows & np.isnan(self._drops)])
        if unknown.size:
            self._look_at(unknown, own)
            rows = self._deciding(own, rows & self._doubtful(own))
        entries = np.flatnonzero(rows)
        # One pair may be enough: that with the smallest margin.
        first = self._smallest(own, entries)
        if entries.size > first.size + _SECOND_ROUND * len(self._rows.pairs):
            self._follow(first, own)
            rows[first] = False
            entries = np.flatnonzero(self._deciding(own, rows))
        self._follow(entries, own)

    def _deciding(self, own: Array, unsure: Mask) -> Mask:
        """Which of the values whose sign is unsure may change the class that is predicted."""
        if self._rows.n_classes == 2:
            return unsure
        row, sign = self._rows.row, self._rows.sign
        rows = np.unique(row[unsure])
        won, lost = self._machines.predicted_each(
            rows, [np.where(unsure, outcome * sign, own) for outcome in (1.0, -1.0)]
        )
        undecided = np.zeros(self._rows.indices.size, dtype=np.bool_)
        undecided[rows[won != lost]] = True
        return unsure & undecided[row]

    def _smallest(self, own: Array, entries: Rows) -> Rows:
        """Of the values of each row among `entries`, the one with the smallest margin."""
        if self._rows.n_classes == 2:
            return entries
        rows, margins = self._rows.row[entries], (self._rows.sign * own)[entries]
        order = np.lexsort((margins, rows))
        _, first = np.unique(rows[order], return_index=True)
        return np.sort(entries[order[first]])


def verified_left_out(machines: TrainedMachines, used: Mask | None = None) -> LeftOutClasses:
    """The left-out training rows of machines, counted as exact leave-one-out counts them.

    The rows that count are those of positive weight, unless `used` is given.
    """
    used = machines.bounds > 0 if used is None else used
    values = VerifiedValues(machines)
    return of_training_rows(machines, values, used, partial(calibrate, machines, values))


#: How single rows are left out, by the method of a search.
LEAVING: dict[str, Callable[..., LeftOutClasses]] = {
    "verified": verified_left_out,
    "span_rule": span_left_out,
    "loo": exact_left_out,
}
