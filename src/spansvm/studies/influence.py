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

from ..algebra.blas import one_blas_thread
from ..common.pairs import errors
from ..common.types import Array, Mask, Rows
from ..machine.groups import Removed, Remover
from ..multiclass.left_out import LeftOutClasses, StoredValues
from ..search.candidates.fit_arguments import take_rows
from ..search.candidates.subsets import stratified_rows
from ..search.scoring.responses import LeftOutClassifier
from .columns import column_of, with_column
from .scored import score_of
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
    clear : bool
        Whether the increase is more than chance explains, in any of the features, and more than
        the luck of the selection, which a permuted feature spoils.
    score_decrease, score_error : float or None
        The same of the score by which the model was selected, and its standard error over repeats.
    """

    column: int
    name: str
    increase: float
    standard_error: float
    over_repeats: float
    clear: bool
    score_decrease: float | None = None
    score_error: float | None = None


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
    """

    features: list[FeatureInfluence]
    error: float
    n_rows: int
    n_repeats: int
    n_features: int


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
        By how much the left-out error is too small, as the model was selected on the same rows.
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
    scored = _PermutedScores(subject, rows, scorer)
    base = without.values(subject.machines.X[rows], 1)[0]
    wrong, score = scored.wrong(base), scored.score(base, without)
    found = []
    quantile = float(norm.isf(ALARM / max(len(chosen), 1)))
    for column in chosen:
        values = column_of(subject.X, column)
        drawn = np.array([rng.permutation(rows.size) for _ in range(n_repeats)])
        # One transformation for all repeats, row by row.
        several = np.repeat(rows, n_repeats)
        X = with_column(take_rows(subject.X, several), column, values[rows][drawn.T.ravel()])
        permuted = without.values(subject.transformed(X), n_repeats)
        each = np.array([scored.wrong(own) for own in permuted]) - wrong.astype(float)
        scores = [scored.score(own, without) for own in permuted]
        found.append(
            _summarised(column, subject.names[column], each, score, scores, optimism, quantile)
        )
    found.sort(key=lambda one: (-one.increase, -(one.score_decrease or 0.0), one.column))
    return Influence(found, float(wrong.mean()), rows.size, n_repeats, len(subject.names))


def _summarised(
    column: int,
    name: str,
    each: Array,
    score: float | None,
    scores: Sequence[float | None],
    optimism: float,
    quantile: float,
) -> FeatureInfluence:
    n_repeats, n = each.shape
    of_rows, of_repeats = each.mean(axis=0), each.mean(axis=1)
    decrease = scatter = None
    known = [one for one in scores if one is not None]
    if score is not None and len(known) == n_repeats:
        decrease = score - float(np.mean(known))
        scatter = float(np.std(known, ddof=1)) / n_repeats**0.5 if n_repeats > 1 else 0.0
    increase = float(each.mean())
    error = float(of_rows.std(ddof=1)) / n**0.5 if n > 1 else 0.0
    return FeatureInfluence(
        column,
        name,
        increase,
        error,
        float(of_repeats.std(ddof=1)) / n_repeats**0.5 if n_repeats > 1 else 0.0,
        increase - optimism > quantile * error > 0.0,
        decrease,
        scatter,
    )


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


class _PermutedScores:
    """Errors and scores of values of the permuted rows."""

    def __init__(self, subject: Subject, rows: Rows, scorer: Callable[..., Any] | None) -> None:
        self._subject, self._scorer = subject, scorer
        self._indices, self._y = subject.indices[rows], subject.y[rows]

    def wrong(self, values: Array) -> Mask:
        """Which rows are misclassified."""
        n_classes = len(self._subject.classes)
        return errors(values, self._indices, n_classes, self._subject.model.break_ties)

    def score(self, values: Array, without: _Without) -> float | None:
        """Their score; None if there is no scorer, or it fails."""
        if self._scorer is None:
            return None
        subject = self._subject
        left_out = LeftOutClasses(
            StoredValues(values, values, values - without.shifts, subject.machines.unfixed),
            self._indices, len(subject.classes), np.ones(self._y.size, dtype=np.bool_),
            subject.left_out.calibration,
        )  # fmt: skip
        classifier = LeftOutClassifier(left_out, subject.classes, subject.model)
        return score_of(self._scorer, classifier.given_to(self._scorer), self._y)
