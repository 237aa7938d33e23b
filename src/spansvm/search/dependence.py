"""Whether rows depend on those beside them, in the order in which they were given.

Leave-one-out, like shuffled folds, is right for independent rows.  Where neighbours in the file are
alike, because they are of one person, place or time, the row that is left out has others like it
among those that stay.  So blocks of neighbouring rows leave the one trained machine of the selected
candidate (blocks as those of h-block cross-validation: Burman, Chow & Nolan, Biometrika 81, 1994).
Every model loses something by losing so many rows: as a control the same rows leave it in blocks
that have the same classes, but whose rows were exchanged within their class (targets: within their
tenth).  Of independent rows nothing distinguishes the two, also if the file is sorted by class.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..common.types import Array, Mask, Rows
from .candidates.leaving import Leaving
from .candidates.subsets import tenths
from .evaluation.dispatch import plan
from .evaluation.evaluator import train
from .evaluation.trained import Trained
from .evaluation.work import Work

__all__ = ["Dependence", "DependentRowsWarning", "find_dependence", "warn_of_dependence"]

#: With fewer rows there are too few blocks to tell anything.
_FEWEST_ROWS = 60

#: Blocks of so many rows decide, but never more than this part of the rows: what larger ones cost
#: is that the model has lost too many.
_DECIDES, _LARGEST_PART = 25, 10

#: If these notice a dependence, so do the others: they say how far it reaches.
_OTHERS = (5, 10, 50, 100)

#: So many blocks of that size, evenly spread over the file: fewer of many rows and many machines,
#: as each takes longer; of smaller blocks as many rows.
_FEWEST_BLOCKS, _BLOCKS_TIMES_ROWS = 12, 6000

#: With more machines (of pairs of classes), the fewest are these.
_FEW_MACHINES, _FEWEST_OF_MANY = 3, 8

#: How often rows are exchanged.
_EXCHANGES = 2

#: A dependence is noticed if the difference is larger than so many times its noise, and than this
#: part of the error (``benchmarks/dependence.py`` counts false alarms: none).
_TIMES_NOISE, _RELEVANT = 5.0, 0.25


class DependentRowsWarning(UserWarning):
    """Neighbouring rows depend on each other, so that leave-one-out scores are too good."""


@dataclass(frozen=True, eq=False)
class Dependence:
    """How well rows are predicted that leave the selected model with their neighbours in the file.

    Errors are shares of misclassified rows; of a regression, mean squared residuals in units of the
    variance of y, so that 1 minus the error is R2.

    Attributes
    ----------
    noticed : bool
        Whether rows depend on their neighbours: in blocks of 25 rows, or of a tenth of the rows if
        they are fewer than 250, the errors differ beyond their noise.
    block_size : ndarray of int
        How many neighbouring rows left together: that size and, if a dependence was noticed, others
        from 5 to 100, up to a tenth of the rows.
    n_rows : ndarray of int
        How many rows left in all; of many rows only some do.
    error : ndarray
        Of these rows, each without its block.
    exchanged_error : ndarray
        Of the same rows in blocks of the same classes, after rows were exchanged within their
        class, or targets within their tenth.
    times_noise : ndarray
        The difference, in units of what it would be by chance; no row of a regression counts for
        more than the variance of y.
    """

    noticed: bool
    block_size: np.ndarray
    n_rows: np.ndarray
    error: Array
    exchanged_error: Array
    times_noise: Array

    @property
    def most(self) -> int:
        """The index of the block size with the largest difference between the errors."""
        return int(np.argmax(self.error - self.exchanged_error))


@dataclass(frozen=True)
class _Compared:
    """Blocks of one size: an entry of every column of :class:`Dependence`."""

    block_size: int
    n_rows: int
    error: float
    exchanged_error: float
    times_noise: float

    @property
    def noticed(self) -> bool:
        difference = self.error - self.exchanged_error
        return self.times_noise > _TIMES_NOISE and difference > _RELEVANT * self.exchanged_error


def find_dependence(
    work: Work, X: Any, y: np.ndarray, candidate: Mapping[str, Any]
) -> Dependence | None:
    """Whether rows depend on their neighbours, by one candidate; None if they cannot tell.

    It follows from the data and the candidate alone.

    Parameters
    ----------
    work : Work
        Of a search that left out single rows.
    X, y
        All rows.
    candidate : dict
    """
    weight = work.params.sample_weight
    rows = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
    if rows.size < _FEWEST_ROWS:
        return None
    size = min(_DECIDES, rows.size // _LARGEST_PART)
    trained = _trained(work, X, y, candidate)
    loss = _squares(y[rows]) if work.regression else _misclassified(trained)
    blocks = _Blocks(trained, loss, rows, _kinds(y, work.regression))
    decided = blocks.compare(size)
    if decided is None:
        return None
    compared = [decided]
    if decided.noticed:
        sizes = [own for own in _OTHERS if own != size and own * _LARGEST_PART <= rows.size]
        compared += [own for own in map(blocks.compare, sizes) if own is not None]
        compared.sort(key=lambda own: own.block_size)
    return Dependence(
        decided.noticed,
        np.array([own.block_size for own in compared]),
        np.array([own.n_rows for own in compared]),
        np.array([own.error for own in compared]),
        np.array([own.exchanged_error for own in compared]),
        np.array([own.times_noise for own in compared]),
    )


def warn_of_dependence(found: Dependence, *, regression: bool) -> None:
    """Warn if rows depend on their neighbours, with the number and what can be done."""
    if not found.noticed:
        return
    size, error, exchanged = (
        own[found.most] for own in (found.block_size, found.error, found.exchanged_error)
    )
    what = f"{error:.3g} of them are misclassified, but {exchanged:.3g} if"
    among = "class"
    if regression:
        what = f"R2 is {1.0 - error:.3g}, but {1.0 - exchanged:.3g} if"
        among = "tenth of the targets"
    warnings.warn(
        f"Rows depend on their neighbours: where {size} neighbouring rows are left out together, "
        f"{what} rows are exchanged within their {among}. Leave-one-out scores, and those of "
        "shuffled folds, are too good for new rows that have no such neighbours. If rows belong "
        "to persons, places or recordings, pass groups= to fit; of a series in time, cv="
        f"TimeSeriesSplit(); otherwise blocks: groups=np.arange(len(y)) // {size}. "
        "check_dependence=False switches this off; dependence_ has the figures.",
        DependentRowsWarning,
        stacklevel=4,
    )


def _trained(work: Work, X: Any, y: np.ndarray, candidate: Mapping[str, Any]) -> Trained:
    """A candidate trained on all rows; blocks are predicted from one model, or followed."""
    work = replace(
        work, leaving=Leaving([None], [], pooled=False), method="span_rule", scorers=None,
        train_scores=False,
    )  # fmt: skip
    (chain,) = plan(work, [candidate])
    (found,) = train(work, X, y, chain)
    return found


def _kinds(y: np.ndarray, regression: bool) -> np.ndarray:
    """The class of every row, or the tenth of its target: rows of one kind are exchanged."""
    if not regression:
        return np.unique(y, axis=0 if y.ndim > 1 else None, return_inverse=True)[1].ravel()
    columns = y.reshape(len(y), -1).astype(np.float64)
    spread = columns.std(axis=0)
    return tenths(((columns - columns.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)).mean(1))


class _Blocks:
    """Leaves blocks of rows out of a trained candidate.

    Parameters
    ----------
    trained : Trained
    loss : callable
        From predictions of left-out rows to the loss of each.
    rows : ndarray of int
        Those that count, in their order.
    kinds : ndarray of int
        Of all rows; they are exchanged within their kind.
    """

    def __init__(
        self, trained: Trained, loss: Callable[[Any], Array], rows: Rows, kinds: np.ndarray
    ) -> None:
        self._trained, self._loss, self._rows, self._kinds = trained, loss, rows, kinds
        self._n_of_kind = np.bincount(kinds[rows])

    def compare(self, size: int) -> _Compared | None:
        """Blocks of one size against those of exchanged rows; None if no row can tell."""
        random = np.random.default_rng(0)
        blocks = self._neighbours(size)
        ways = [blocks, *(self._exchanged(blocks, random) for _ in range(_EXCHANGES))]
        counts = self._counts(blocks)
        if not counts.any():
            return None
        losses = np.zeros((len(ways), counts.size))
        every = [rows for way in ways for rows in way]
        problems, machines = self._trained.problems, self._trained.machines
        left_out = iter(problems.leave_out_folds(machines, "span_rule", every))
        for own, way in zip(losses, ways, strict=True):
            for rows in way:
                own[rows] = self._loss(next(left_out))
        losses[:, ~counts] = 0.0
        n_rows = int(counts.sum())
        errors = losses.sum(axis=1) / n_rows
        return _Compared(
            size, n_rows, float(errors[0]), float(errors[1:].mean()),
            _times_noise(np.minimum(losses, 1.0), ways),
        )  # fmt: skip

    def _neighbours(self, size: int) -> list[Rows]:
        """Blocks of neighbouring rows, evenly spread over the file."""
        n = self._rows.size
        n_machines = sum(own.intercepts.size for own in self._trained.machines)
        fewest = _FEWEST_BLOCKS if n_machines <= _FEW_MACHINES else _FEWEST_OF_MANY
        number = max(fewest, _BLOCKS_TIMES_ROWS // (n * n_machines)) * max(1, _DECIDES // size)
        number = min(number, n // size)
        starts = np.arange(number) * (n - size) // (number - 1)
        return [self._rows[start : start + size] for start in starts]

    def _exchanged(self, blocks: Sequence[Rows], random: np.random.Generator) -> list[Rows]:
        """Blocks of the same kinds of rows, in which these are exchanged."""
        rows = np.concatenate(blocks)
        kinds, result = self._kinds[rows], np.empty_like(rows)
        for kind in np.unique(kinds):
            own = kinds == kind
            result[own] = random.permutation(rows[own])
        return np.split(result, len(blocks))

    def _counts(self, blocks: Sequence[Rows]) -> Mask:
        """The rows of all blocks, except those whose kind leaves with them: nothing predicts it."""
        counts = np.zeros(self._kinds.size, dtype=np.bool_)
        for rows in blocks:
            kinds = self._kinds[rows]
            counts[rows] = np.bincount(kinds)[kinds] < self._n_of_kind[kinds]
        return counts


def _misclassified(trained: Trained) -> Callable[[Any], Array]:
    """1 for every row that is misclassified, 0 for the others."""
    return lambda left_out: left_out.wrong(trained.machine.break_ties).astype(np.float64)


def _squares(y: np.ndarray) -> Callable[[Any], Array]:
    """Squared residuals in units of the variance of these targets; the mean of several."""
    variance = y.astype(np.float64).var(axis=0)
    units = np.where(variance > 0.0, variance, 1.0)
    return lambda left_out: (left_out.residuals**2 / units).reshape(left_out.used.size, -1).mean(1)


def _times_noise(losses: Array, ways: Sequence[Sequence[Rows]]) -> float:
    """How much more rows lose in the blocks of the first way than in the others, over its noise.

    The noise is that of each of the other ways against the rest, block by block; and that of one
    row, as rows may happen to differ in none of them.
    """
    exchanged, number = losses[1:], len(losses) - 1
    difference = float((losses[0] - exchanged.mean(axis=0)).sum())
    variance = 0.0
    for own, way in zip(exchanged, ways[1:], strict=True):
        apart = own - (exchanged.sum(axis=0) - own) / (number - 1)
        variance += sum(float(apart[rows].sum()) ** 2 for rows in way) / number
    variance *= (1.0 + 1.0 / number) / (1.0 + 1.0 / (number - 1))
    return difference / float(np.sqrt(variance + 1.0))
