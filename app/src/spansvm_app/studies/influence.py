"""Influence of features: how left-out predictions suffer if a feature's values are permuted.

The model stays; row p, left out, gets the value that another row has in one column.  The values
of the machine without p are known for any x, also for x_p with a permuted value
(:class:`spansvm.blocks.ValuesWithout`).  Groups leave in the same way.

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
from threadpoolctl import threadpool_limits

from spansvm.blocks import ValuesWithout, stratified_rows, take_rows

from ..common.types import Rows
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


@threadpool_limits.wrap(limits=1, user_api="blas")
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
    without = ValuesWithout(subject.machines, subject.sets)
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
    subject: Subject, without: ValuesWithout, n_features: int, n_repeats: int, seed: int
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
