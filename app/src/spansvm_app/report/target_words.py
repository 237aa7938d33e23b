"""A regression in words: its headline, what to expect of it, and reasons not to trust it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from spansvm import SpanSVR
from spansvm.blocks import (
    equal_training_rows,
    numbers_of,
    sets_of,
)

from ..studies import TargetComparison
from .overstated import Overstated, worst
from .plain import fixed, number, percent
from .searched import SearchedCandidates
from .target_figures import IntervalFigures, TargetFigures

__all__ = [
    "ExpectedErrors",
    "RepeatedRows",
    "count_repeated",
    "expected_errors",
    "find_target_cautions",
    "headline_of_targets",
]

#: Scores that are squared errors in another form.
_R2, _RMSE, _MSE = "r2", "neg_root_mean_squared_error", "neg_mean_squared_error"

#: Copies are worth a caution from this share of the rows on; removals at most to leave them out.
_MANY_COPIES, _MOST_REMOVALS = 0.01, 3000

#: Few rows; an R2 that is hardly more than nothing.
_FEW_ROWS, _HARDLY = 50, 0.05

#: A positive target whose 99th percentile is this many times its first spans orders of magnitude.
_MAGNITUDES = 100.0

#: With most support vectors at a bound, a C this small, in spreads of the target, is too small.
_SMALL_C, _MOST_BOUNDED = 0.02, 0.9


@dataclass(frozen=True)
class ExpectedErrors:
    """The errors to expect on new rows, with their 95% CIs, if there are any.

    Attributes
    ----------
    rmse, r2 : float or None
    rmse_interval, r2_interval : list of float or None
    corrected : bool
        Whether they are corrected for being the best of many.
    """

    rmse: float
    rmse_interval: list[float] | None
    r2: float | None
    r2_interval: list[float] | None
    corrected: bool


def expected_errors(search: SearchedCandidates, figures: TargetFigures) -> ExpectedErrors:
    """The corrected errors, if candidates were selected by a squared error; else the left-out."""
    reported, own, spread = search.reported, figures.errors, figures.target_spread
    if search.method == "kfold":
        of_folds = search.scores.get(_RMSE, [None] * search.n_candidates)[search.best_index]
        r2 = search.scores.get(_R2, [None] * search.n_candidates)[search.best_index]
        interval = None
        if reported is not None and search.scoring == _R2:
            r2, interval = reported.value, reported.interval
        rmse = own.rmse if of_folds is None else -of_folds
        if reported is not None and search.scoring == _RMSE:
            ends = [-end for end in reversed(reported.interval)]
            return ExpectedErrors(-reported.value, ends, r2, None, True)
        return ExpectedErrors(rmse, None, r2, interval, interval is not None)
    if reported is None or search.scoring not in (_R2, _RMSE, _MSE):
        return ExpectedErrors(own.rmse, own.rmse_interval, own.r2, own.r2_interval, False)

    def rmse_from(score: float) -> float:
        if search.scoring == _R2:
            return float(spread * np.sqrt(max(1.0 - score, 0.0)))
        return -score if search.scoring == _RMSE else float(np.sqrt(max(-score, 0.0)))

    low, high = (rmse_from(end) for end in reversed(reported.interval))
    rmse = rmse_from(reported.value)
    if low <= 0.0:
        # The interval is cut off at a perfect score, as with odd rows; errors of drawn rows tell
        # more.
        low = min(own.rmse_interval[0], rmse)
    r2, *ends = (1.0 - (error / spread) ** 2 for error in (rmse, high, low))
    return ExpectedErrors(rmse, [low, high], r2, ends, True)


def headline_of_targets(
    search: SearchedCandidates,
    figures: TargetFigures,
    intervals: IntervalFigures | None,
    comparison: TargetComparison | None = None,
    overstated: Sequence[Overstated] = (),
) -> list[str]:
    """What was found, in sentences: how far predictions are off, and what that is worth.

    What makes left-out rows look better than new ones is left aside, if anything does.
    """
    found = expected_errors(search, figures)
    reason = worst(overstated, found.rmse)
    if reason is not None:
        return [
            f"{reason.without} predictions for new rows are off by about "
            f"{number(reason.error, 3)} (root mean squared).",
            f"{reason.with_it}, by {number(found.rmse, 3)}: believe that only if {reason.believe}.",
            f"Always predicting the mean is off by {number(figures.mean_error, 3)}.",
        ]
    rows = "new rows of new groups" if search.n_groups else "new rows"
    ends = "" if found.rmse_interval is None else f"; 95% CI {_range(found.rmse_interval)}"
    off = number(found.rmse, 3)
    sentences = [f"Predictions for {rows} are off by about {off} (root mean squared{ends})."]
    mean = f"Always predicting the mean is off by {number(figures.mean_error, 3)}"
    if found.r2 is not None:
        ends = (
            ""
            if found.r2_interval is None
            else (f" (95% CI {fixed(found.r2_interval[0])} to {fixed(found.r2_interval[1])})")
        )
        sentences.append(f"R2 is {fixed(found.r2)}{ends}.")
    if found.rmse >= figures.mean_error:
        mean += ": the model does no better"
    elif found.rmse_interval is not None and found.rmse_interval[1] >= figures.mean_error:
        mean += ": it is not certain that the model does better"
    sentences.append(f"{mean}.")
    rival = None if comparison is None else comparison.better
    if rival is not None:
        sentences.append(
            f"Another model does better beyond chance: {rival.name} is off by "
            f"{number(rival.rmse, 3)}, and this one by "
            f"{number(rival.rmse - rival.difference.value, 3)}."
        )
    if intervals is not None:
        at = intervals.at(intervals.shown)
        sentences.append(
            f"A {percent(at.level).replace('.0%', '%')} prediction interval is about "
            f"{number(at.width, 3)} wide."
        )
    return sentences


def _range(ends: list[float]) -> str:
    return f"{number(ends[0], 3)} to {number(ends[1], 3)}"


# Reasons not to trust it ------------------------------------------------------------------------


@dataclass(frozen=True)
class RepeatedRows:
    """Rows that equal others in all features, as the SVM sees them, and do not leave with them.

    Attributes
    ----------
    n_rows, n_repeated : int
        How many rows there are, and how many repeat an earlier one.
    error_together : float or None
        Left-out root mean squared error if copies leave together; None if it is not known.
    """

    n_rows: int
    n_repeated: int
    error_together: float | None

    def matter(self, error: float) -> bool:
        """Whether they change an error, as it is shown; taken for granted if that is not known."""
        return self.error_together is None or number(self.error_together, 3) != number(error, 3)

    def many(self, error: float) -> bool:
        """Whether they are worth a caution."""
        return self.n_repeated >= _MANY_COPIES * self.n_rows and self.matter(error)

    def in_words(self, error: float) -> str:
        """What there is, what it does to an error that leaves rows out alone, what to do."""
        repeat = "row repeats" if self.n_repeated == 1 else "rows repeat"
        does = "which stays when they are left out, and gives much of the answer away"
        if self.error_together is not None:
            does = (
                "and if copies leave together, predictions are off by "
                f"{number(self.error_together, 3)} instead of {number(error, 3)}"
            )
        return (
            f"{self.n_repeated} of {self.n_rows} {repeat} an earlier one in all features, {does}; "
            "if new rows will not repeat old ones as often, remove the copies, or give each set of "
            "copies a group of its own."
        )


def count_repeated(model: SpanSVR) -> RepeatedRows | None:
    """Copies among the training rows of a fitted model; None if there are none."""
    kinds = equal_training_rows(model.machines_)
    if kinds is None:
        return None
    used = model.machines_.bounds > 0
    sets = model.left_out_sets_
    units = np.arange(used.size) if sets is None else numbers_of(sets, used.size)
    _, codes, sizes = np.unique(
        np.column_stack((kinds, units)), axis=0, return_inverse=True, return_counts=True
    )
    staying = used & (np.bincount(kinds)[kinds] > sizes[codes.ravel()])
    if not staying.any():
        return None
    together = None
    copies = sets_of(kinds)
    if sets is None and len(copies) <= _MOST_REMOVALS:
        of_copies = copy(model)
        of_copies.leave_out(copies)
        together = of_copies.loo_error_
    n_repeated = int(staying.sum()) - np.unique(kinds[staying]).size
    return RepeatedRows(int(used.sum()), n_repeated, together)


def find_target_cautions(
    search: SearchedCandidates, figures: TargetFigures, model: SpanSVR,
    repeated: RepeatedRows | None,
) -> list[str]:  # fmt: skip
    """All cautions of a regression, in words."""
    cautions = []
    if figures.n_rows < _FEW_ROWS:
        cautions.append(f"There are only {figures.n_rows} rows.")
    error = figures.errors.rmse
    if repeated is not None and repeated.many(error):
        cautions.append(repeated.in_words(error))
    targets = np.asarray(model.machines_.targets[:, 0])
    cautions += _of_magnitudes(targets)
    small = _of_small_bounds(model, figures)
    cautions += small
    found = expected_errors(search, figures)
    if not small and found.r2 is not None and found.r2 < _HARDLY:
        cautions.append(
            "The model is hardly better than always predicting the mean: the features may say "
            "little about the target, or the target may be noise."
        )
    return cautions


def _of_magnitudes(targets: np.ndarray) -> list[str]:
    """A caution if the largest targets decide everything."""
    if targets.min() <= 0:
        return []
    low, high = np.quantile(targets, (0.01, 0.99))
    if high < _MAGNITUDES * low:
        return []
    return [
        f"The target spans orders of magnitude, from {number(float(targets.min()), 3)} to "
        f"{number(float(targets.max()), 3)}: squared errors are those of the largest values. "
        "Consider its logarithm as the target: errors are then relative ones (in Python, "
        "TransformedTargetRegressor with func=np.log)."
    ]


def _of_small_bounds(model: SpanSVR, figures: TargetFigures) -> list[str]:
    """A caution if C is so small, in units of the target, that the function hardly moves."""
    largest = float(np.max(model.machines_.bounds))
    bounded = figures.n_bounded > _MOST_BOUNDED * max(figures.n_support, 1)
    if not bounded or largest >= _SMALL_C * figures.target_spread:
        return []
    return [
        f"C = {number(largest, 3)} is small for a target whose standard deviation is "
        f"{number(figures.target_spread, 3)}: {figures.n_bounded} of {figures.n_support} support "
        "vectors are at that bound, and the function hardly follows the data. C is in units of the "
        f"target: search values around {number(figures.target_spread, 2)}, or divide the target by "
        "its standard deviation."
    ]
