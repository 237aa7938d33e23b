"""Learning curve: the left-out error of the selected setting on fewer rows.

The rows are cut at random into parts with every class in its share: eighths, two of which make a
quarter, two of these a half.  At every size each row is left out of the one part that contains it,
so all sizes are evaluated on the same rows, and two of them can be compared row by row.

The kernel is the selected one throughout.  ``C`` weighs the sum of the errors against the margin:
what suits all rows may be too little for a part of them.  So at each size two settings are tried,
the same ``C`` and one that is larger as the rows are fewer, and the better one counts.  One tuned
again would do a little better still: the curve may be steeper than that of repeated searches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from spansvm.blocks import wilson_interval

from ..common.types import Mask, Rows
from .paired import Difference, paired_difference
from .subject import StudiedRows, Subject

__all__ = ["HALVINGS", "LearningCurve", "LearningPoint", "learning_curve", "pieces_of"]

#: The rows are halved this often at most; a part has at least this many rows, and this many of
#: every class.
HALVINGS, _FEWEST_ROWS, _FEWEST_OF_CLASS = 3, 20, 2


@dataclass(frozen=True)
class LearningPoint:
    """The left-out error of models trained on so many rows, with its 95% CI.

    That of all rows is corrected for the selection.
    """

    n_rows: int
    n_models: int
    error: float
    interval: list[float]


@dataclass(frozen=True)
class LearningCurve:
    """Left-out errors on nested parts of the rows.

    Attributes
    ----------
    points : list of LearningPoint
        From few rows to all.
    gain : Difference
        The error with half of the rows minus that with all of them.
    """

    points: list[LearningPoint]
    gain: Difference

    @property
    def verdict(self) -> str:
        """``"falling"``, ``"flat"`` or ``"unknown"``: what the last doubling of the rows did."""
        if self.gain.interval[0] > 0.0:
            return "falling"
        last = self.points[-1].error
        # Flat: even the best gain that is compatible with the rows is small.
        return "flat" if self.gain.interval[1] <= max(0.1 * last, 0.005) else "unknown"


@threadpool_limits.wrap(limits=1, user_api="blas")
def learning_curve(
    subject: Subject, *, optimism: float = 0.0, seed: int = 0
) -> LearningCurve | str:
    """The curve of a subject, or why there is none.

    Parameters
    ----------
    subject : Subject
    optimism : float
        By how much its left-out error is too small, as it was selected on the same rows.
    seed : int
        Of the parts.
    """
    units = None if subject.sets is None else subject.units
    wrong: dict[int, Mask] = {1: subject.wrong}
    for halving in range(1, HALVINGS + 1):
        pieces = pieces_of(subject, 2**halving, seed)
        if not all(_suffices(subject, rows) for rows in pieces):
            break
        tried = [_left_out_of(subject, pieces, factor) for factor in (1.0, 2.0**halving)]
        wrong[2**halving] = min(tried, key=lambda own: int(own.sum()))
    if len(wrong) == 1:
        return (
            "There is no learning curve: half of the rows would have fewer than "
            f"{_FEWEST_OF_CLASS} of some class, or fewer than {_FEWEST_ROWS} in all."
        )
    errors = {n_parts: float(own.mean()) for n_parts, own in wrong.items()}
    errors[1] = min(errors[1] + optimism, 1.0)
    points = [
        LearningPoint(
            round(subject.n_rows / n_parts), n_parts, errors[n_parts],
            list(wilson_interval(errors[n_parts], _effective(own, units))),
        )
        for n_parts, own in sorted(wrong.items(), reverse=True)
    ]  # fmt: skip
    return LearningCurve(points, paired_difference(wrong[2], wrong[1], units, optimism))


def _effective(wrong: Mask, units: np.ndarray | None) -> float:
    """As many independent rows tell as much: fewer than there are if rows come in groups."""
    n, share = wrong.size, float(wrong.mean())
    if units is None or share in (0.0, 1.0):
        return float(n)
    sums = np.bincount(np.unique(units, return_inverse=True)[1], wrong - share)
    variance = float((sums**2).sum()) / n**2
    return min(share * (1.0 - share) / variance, float(n)) if variance > 0 else float(n)


def _left_out_of(subject: Subject, pieces: list[Rows], factor: float) -> Mask:
    """Which rows are wrong when left out of the piece that contains them; `factor` is that of C."""
    wrong = np.zeros(subject.n_rows, dtype=np.bool_)
    for rows in pieces:
        wrong[rows] = subject.of_rows(rows, factor).wrong
    return wrong


def _suffices(subject: Subject, rows: Rows) -> bool:
    sizes = np.bincount(subject.indices[rows], minlength=subject.classes.size)
    return rows.size >= _FEWEST_ROWS and int(sizes.min()) >= _FEWEST_OF_CLASS


def pieces_of(subject: StudiedRows, number: int, seed: int) -> list[Rows]:
    """The rows in so many parts, a power of two; smaller parts make up the larger ones."""
    return [np.sort(np.concatenate(own)) for own in _merged(_eighths(subject, seed), number)]


def _eighths(subject: StudiedRows, seed: int) -> list[Rows]:
    """The rows in 2 ** HALVINGS parts: stratum by stratum in turn, or whole groups."""
    n_parts, rng = 2**HALVINGS, np.random.default_rng(seed)
    # Halves, quarters and eighths are even if turns go through the parts in bit-reversed order.
    turns = sorted(range(n_parts), key=lambda number: f"{number:0{HALVINGS}b}"[::-1])
    if subject.sets is None:
        order = rng.permutation(subject.n_rows)
        order = order[np.argsort(subject.strata[order], kind="stable")]
        sets: list[Rows] = [order[place : place + 1] for place in range(order.size)]
    else:
        drawn = [subject.sets[number] for number in rng.permutation(len(subject.sets))]
        commonest = [int(np.bincount(subject.strata[own]).argmax()) for own in drawn]
        sets = [drawn[number] for number in np.argsort(commonest, kind="stable")]
    nothing = np.empty(0, dtype=np.intp)
    return [np.concatenate([nothing, *sets[turn::n_parts]]) for turn in turns]


def _merged(parts: list[Rows], n_pieces: int) -> Iterator[list[Rows]]:
    size = len(parts) // n_pieces
    for start in range(0, len(parts), size):
        yield parts[start : start + size]
