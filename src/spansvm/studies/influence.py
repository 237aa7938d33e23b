"""Influence of features: how left-out predictions suffer if a feature's values are permuted.

The model stays; row p, left out, gets the value that another row has in one column.  The machine
without p differs from the one with it in a few multipliers and the intercept
(:class:`~spansvm.machine.groups.Removed`: block form of Theorem 2, or the followed solution), so

    f^p(x) = f(x) + sum_j m_j K(x_j, x) + e

for any x, also for x_p with a permuted value: only rows of kernel values are computed.  Groups
leave in the same way.

The permuted value is independent of the label and of the other rows.  Where the feature is pure
noise, so is the true value: a left-out row cannot be told from its permuted copy, and the expected
influence is exactly 0.  (Not so for rows that have seen the model: there noise is memorised.)

An influence is that on the score by which the model was selected: its error, or another one.  The
model is the best of many candidates on these rows, so part of its score is luck, which permuted
predictions lose.  A feature that changes few predictions can spoil little of it: its part is that
of the predictions that it changes, of those that differ between unrelated ones.

Columns are permuted as the user knows them, before any transformer: a text column is one feature,
however many columns encode it.  Features that say the same can replace each other: each of them
then has little influence, and only all of them together much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from ..algebra.blas import one_blas_thread
from ..common.types import Array, Rows
from ..machine.groups import Removed, Remover
from ..search.candidates.fit_arguments import take_rows
from ..search.candidates.subsets import stratified_rows
from .columns import column_of, with_column
from .permuted import Effect, Judged
from .scored import PARTS
from .subject import Subject

__all__ = ["ALARM", "MOST_FEATURES", "FeatureInfluence", "Influence", "measure_influence"]

#: Kernel values that may be computed; rows that may be left out of machines of pairs.
_KERNEL_VALUES, _REMOVALS = 4 * 10**7, 4000

#: How often a feature is permuted; rows that are permuted at least and at most; features at most.
_REPEATS, _FEWEST_REPEATS, _FEWEST_ROWS, _MOST_ROWS, MOST_FEATURES = 5, 2, 200, 1000, 100

#: Features of a row whose kernel value takes twice as long as that of a short one.
_LONG = 100

#: The chance that the influence of any feature is called clear where none has any (measured: in 3
#: of 100 sets of noise, as rows are predicted by models of the same rows).
ALARM = 0.01

#: Kernel values held at a time.
_BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True)
class FeatureInfluence:
    """What permuting one feature does.

    Attributes
    ----------
    column : int
    name : str
    increase : float
        Of the left-out error, on average over the repeats.
    standard_error : float
        Of the increase, over rows: their choice and that of the permuted values.
    over_repeats : float
        Of the increase, over repeats alone.
    spoiled : float
        Which part of the luck of the selection permuted predictions lose, from 0 to 1.
    interval : list of float
        For the increase, or for the decrease of the score if that is known: it holds for all
        features at once, and its lower end allows for the luck of the selection.
    clear : bool
        Whether the interval is above 0.
    score_decrease, score_error : float or None
        Of the score by which the model was selected, on average over the repeats, and its standard
        error over rows (jackknife).
    """

    column: int
    name: str
    increase: float
    standard_error: float
    over_repeats: float
    spoiled: float
    interval: list[float]
    clear: bool
    score_decrease: float | None = None
    score_error: float | None = None

    @property
    def shown(self) -> float:
        """What is judged: the decrease of the score, or the increase of the error."""
        return self.increase if self.score_decrease is None else self.score_decrease


@dataclass(frozen=True)
class Influence:
    """Influence of all features, the greatest first.

    Attributes
    ----------
    features : list of FeatureInfluence
    error : float
        Left-out error of the rows that are permuted.
    n_rows, n_repeats : int
        How many rows are permuted, and how often each.
    n_features : int
        How many features there are; not all of many are permuted.
    scored : bool
        Whether the influence is that on a score, not on the error.
    """

    features: list[FeatureInfluence]
    error: float
    n_rows: int
    n_repeats: int
    n_features: int
    scored: bool = False


@one_blas_thread
def measure_influence(
    subject: Subject,
    *,
    columns: Sequence[int] | None = None,
    scorer: Callable[..., Any] | None = None,
    optimism: float = 0.0,
    n_repeats: int = _REPEATS,
    seed: int = 0,
) -> Influence:
    """Permute one feature after the other.

    Parameters
    ----------
    subject : Subject
    columns : sequence of int, optional
        Which ones; all by default.
    scorer : callable, optional
        A scikit-learn scorer whose decrease is measured, too.
    optimism : float
        By how much the left-out error, or the score if there is a scorer, is too good, as the model
        was selected by it on the same rows.
    n_repeats : int
        How often each feature is permuted.
    seed : int
        Of the rows that are drawn, and of the permutations.
    """
    chosen = list(range(len(subject.names)) if columns is None else columns)
    without = _Without(subject)
    rows, n_repeats = _affordable(subject, without, len(chosen), n_repeats, seed)
    without.prepare(rows, ranked=scorer is not None)
    rng = np.random.default_rng(seed)
    base = without.values(subject.machines.X[rows], 1)[0]
    judged = Judged(subject, rows, without.shifts, scorer, base)
    columns_of = []
    for column in chosen:
        values = column_of(subject.X, column)
        drawn = np.array([rng.permutation(rows.size) for _ in range(n_repeats)])
        # One transformation for all repeats, row by row.
        several = np.repeat(rows, n_repeats)
        X = with_column(take_rows(subject.X, several), column, values[rows][drawn.T.ravel()])
        permuted = without.values(subject.transformed(X), n_repeats)
        columns_of.append((column, judged.effect(permuted)))
    scored = all(effect.decrease is not None for _, effect in columns_of) and judged.scored
    # Of a score that permuted rows do not have, the luck says nothing about the error.
    luck = optimism if scored or scorer is None else 0.0
    found = [
        _summarised(column, subject.names[column], effect, len(chosen), scored, luck)
        for column, effect in columns_of
    ]
    found.sort(key=lambda one: (-one.shown, -one.increase, one.column))
    error = float(judged.wrong.mean())
    return Influence(found, error, rows.size, n_repeats, len(subject.names), scored)


def _summarised(
    column: int, name: str, effect: Effect, n_features: int, scored: bool, optimism: float
) -> FeatureInfluence:
    n_repeats, n = effect.each.shape
    of_rows, of_repeats = effect.each.mean(axis=0), effect.each.mean(axis=1)
    increase = float(effect.each.mean())
    error = float(of_rows.std(ddof=1)) / n**0.5 if n > 1 else 0.0
    over_repeats = float(of_repeats.std(ddof=1)) / n_repeats**0.5 if n_repeats > 1 else 0.0
    alarm = ALARM / max(n_features, 1)
    if scored:
        assert effect.decrease is not None
        assert effect.error is not None
        value, half = effect.decrease, float(student.isf(alarm, PARTS - 1)) * effect.error
    else:
        value, half = increase, float(norm.isf(alarm)) * error
    interval = [value - optimism * effect.spoiled - half, value + half]
    return FeatureInfluence(
        column, name, increase, error, over_repeats, effect.spoiled, interval,
        half > 0.0 and interval[0] > 0.0,
        effect.decrease if scored else None, effect.error if scored else None,
    )  # fmt: skip


def _affordable(
    subject: Subject, without: _Without, n_features: int, n_repeats: int, seed: int
) -> tuple[Rows, int]:
    """The rows to permute, and how often: as many as the time allows."""
    # Kernel values of long rows take longer.
    length = 1 + int(subject.machines.X.shape[1]) // _LONG
    of_one = max(n_features * without.n_active * length, 1)
    most = min(_KERNEL_VALUES // (of_one * _FEWEST_REPEATS), _MOST_ROWS)
    most = max(min(most, _REMOVALS // (len(subject.classes) - 1)), _FEWEST_ROWS)
    rows = np.arange(subject.n_rows)
    if most < subject.n_rows:
        rows = stratified_rows(subject.y, most, seed=seed)
    affordable = _KERNEL_VALUES // (of_one * rows.size)
    return rows, min(n_repeats, max(affordable, _FEWEST_REPEATS))


class _Without:
    """Values of the machines without a row, or without its group, at any other place."""

    def __init__(self, subject: Subject) -> None:
        self._subject, self._machines = subject, subject.machines
        signed = subject.machines.found.signed
        supports = np.zeros(subject.n_rows, dtype=np.bool_)
        supports[subject.machines.pair_rows.row[signed != 0.0]] = True
        self._supports = supports
        self.n_active = int(supports.sum())

    def prepare(self, rows: Rows, *, ranked: bool = False) -> None:
        """Leave out every row, or its group; with the shift of the others if values are ranked."""
        subject, machines = self._subject, self._machines
        units, sets = subject.units, subject.sets
        members = {
            int(unit): np.array([row]) if sets is None else sets[unit]
            for unit, row in zip(units[rows], rows, strict=True)
        }
        active = self._supports.copy()
        self.shifts = np.zeros((rows.size, machines.intercepts.size))
        found = []
        with machines.holding_grams():
            for column, (model, own) in enumerate(
                zip(machines.models(), machines.pair_rows.rows, strict=True)
            ):
                local = np.full(subject.n_rows, -1, dtype=np.intp)
                local[own] = np.arange(own.size)
                remover = Remover(model.gram, model.solution)
                removed: dict[int, Removed] = {}
                for unit, own_set in members.items():
                    inside = local[own_set]
                    inside = inside[inside >= 0]
                    if inside.size:
                        removed[unit] = remover.remove(inside)
                        if ranked:
                            shift = remover.shift(removed[unit], inside)
                            self.shifts[units[rows] == unit, column] = shift
                changes = [
                    (place, removed[unit])
                    for place, unit in enumerate(units[rows].tolist())
                    if unit in removed and not removed[unit].unchanged
                ]
                found.append(_Changes(changes, own))
                active[found[-1].moved] = True
        self._active = np.flatnonzero(active)
        self._place = np.full(subject.n_rows, -1, dtype=np.intp)
        self._place[self._active] = np.arange(self._active.size)
        self._changes = found
        self._coefficients = self._of_active()
        self._points = machines.X[self._active]
        self._size = rows.size

    def _of_active(self) -> Array:
        """Signed multipliers of the active rows, one column per pair."""
        machines, pairs = self._machines, self._machines.pair_rows
        result = np.zeros((self._active.size, machines.intercepts.size))
        known = self._place[pairs.row] >= 0
        result[self._place[pairs.row[known]], pairs.column[known]] = machines.found.signed[known]
        return result

    def values(self, points: Any, n_repeats: int) -> Array:
        """Values of all pairs, of shape (n_repeats, n_rows, n_pairs).

        `points` holds `n_repeats` places for each of the prepared rows, row by row.
        """
        machines, size = self._machines, self._size
        result = np.empty((size, n_repeats, machines.intercepts.size))
        step = max(1, _BLOCK_NUMBERS // max(self._active.size * n_repeats, 1))
        for start in range(0, size, step):
            part = result[start : start + step]
            stop = start + part.shape[0]
            kernel = np.asarray(
                machines.kernel(points[start * n_repeats : stop * n_repeats], self._points)
            )
            plain = kernel @ self._coefficients + machines.intercepts
            part[:] = plain.reshape(part.shape)
            kernel = kernel.reshape(*part.shape[:2], -1)
            for column, changes in enumerate(self._changes):
                changes.add_to(part[:, :, column], kernel, self._place[changes.moved], start)
        return result.swapaxes(0, 1)


class _Changes:
    """How the machine of one pair changes without each of the rows that it was trained on.

    Attributes
    ----------
    moved : ndarray of int
        The rows whose multipliers change without some row.
    """

    def __init__(self, changes: Sequence[tuple[int, Removed]], own: Rows) -> None:
        self._constant = [(at, one.constant) for at, one in changes if one.constant is not None]
        changes = [(at, one) for at, one in changes if one.constant is None]
        self._at = np.array([at for at, _ in changes], dtype=np.intp)
        self._intercepts = np.array([one.intercept for _, one in changes])
        local = np.unique(np.concatenate([np.empty(0, np.intp), *(one.rows for _, one in changes)]))
        self.moved = own[local]
        self._moves = np.zeros((len(changes), local.size))
        for number, (_, one) in enumerate(changes):
            self._moves[number, np.searchsorted(local, one.rows)] = one.moves

    def add_to(self, values: Array, kernel: Array, places: Rows, start: int) -> None:
        """Change values of shape (n, n_repeats), of the rows from `start` on.

        `kernel` holds their kernel values, and `places` says where those of `moved` are.
        """
        for at, constant in self._constant:
            if start <= at < start + values.shape[0]:
                values[at - start] = constant
        here = np.flatnonzero((self._at >= start) & (self._at < start + values.shape[0]))
        if here.size == 0:
            return
        changed = self._at[here] - start
        values[changed] += self._intercepts[here, None]
        if places.size:
            # The moves sum to 0; differences are exact where kernel values are nearly equal.
            block = kernel[changed][:, :, places]
            block -= block[:, :, :1]
            values[changed] += np.matmul(block, self._moves[here][:, :, None])[:, :, 0]
