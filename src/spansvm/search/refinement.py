"""``method="auto"``: exact leave-one-out for the candidates that the span-rule cannot tell apart.

All candidates are evaluated by the rule, the best of them exactly.  The differences between both
tell how far the rule is off here, and so which other candidates might be better than the best exact
one: these are evaluated exactly, too, until none is left within reach, or there are too many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import Array, Mask
from .dispatch import run
from .grid import EQUAL_SCORES, neighbourhood_scores
from .work import Outcome, Work

__all__ = ["Refinement"]

#: How many candidates the rule is first measured on, and how many are evaluated exactly at most.
_FIRST, _MOST = 8, 48

#: Candidates are within reach if the rule may be off by this many standard deviations.
_REACH = 2.0

#: Candidates whose exact score is unknown stay below the best exact one by more than this.
_BELOW = 10 * EQUAL_SCORES


class Refinement:
    """Which candidates were evaluated exactly, and how that differs from the rule.

    Parameters
    ----------
    outcomes : sequence of dict
        By the rule; those of candidates that are evaluated exactly are replaced.
    candidates : sequence of dict
    refit : bool or str
        With several scores, the one to select by.  If it names none, nothing is evaluated exactly.
    ties : str
        As in :func:`~spansvm.search.grid.select`.

    Attributes
    ----------
    rule : ndarray of shape (n,)
        Scores by the rule; NaN for candidates that failed.
    exact : ndarray of shape (n,)
        Exact scores; NaN for candidates that were not evaluated exactly.
    n_differ : ndarray of shape (n,)
        For how many rows the rule and exact leave-one-out disagree on whether they are right; NaN
        as in `exact`.
    """

    def __init__(
        self,
        outcomes: Sequence[dict[int, Outcome]],
        candidates: Sequence[Mapping[str, Any]],
        refit: Any,
        ties: str,
    ) -> None:
        self._outcomes, self._candidates = outcomes, candidates
        names = {name for own in outcomes for name in own[0].scores}
        self._name = "score" if names <= {"score"} else refit
        self.rule = np.array([own[0].scores.get(self._name, np.nan) for own in outcomes])
        self.exact, self.n_differ = np.full((2, self.rule.size), np.nan)
        hinge = np.array([own[0].hinge for own in outcomes])
        order = [np.arange(hinge.size), *([] if ties == "first" else [hinge])]
        if ties == "plateau":
            order.append(-neighbourhood_scores(self.rule, candidates))
        # The same candidates come first as in the selection.
        self._ranking = np.lexsort([*order, -np.round(self.rule, 10)])

    @property
    def known(self) -> Mask:
        """Which candidates were evaluated exactly."""
        return ~np.isnan(self.exact)

    @property
    def _shifts(self) -> Array:
        return (self.exact - self.rule)[self.known]

    def within_reach(self) -> Mask:
        """Which of the other candidates may be better than the best exact one."""
        if not self.known.any():
            return ~np.isnan(self.rule)
        shifts = self._shifts
        most = self.rule + shifts.mean() + _REACH * shifts.std()
        return ~self.known & (most >= np.nanmax(self.exact) - EQUAL_SCORES)

    def selecting(self) -> Array:
        """Scores to select by: only a candidate that was evaluated exactly can be the best.

        The others count in the neighbourhood of those, as the rule predicts.
        """
        if not self.known.any():
            return self.rule
        others = np.minimum(self.rule + self._shifts.mean(), np.nanmax(self.exact) - _BELOW)
        return np.where(self.known, self.exact, others)

    def run(self, work: Work, X: Any, y: np.ndarray, n_jobs: int | None) -> None:
        """Evaluate candidates exactly, until none is left that may be the best."""
        exact = replace(work, method="loo")
        size = _FIRST
        while size > 0:
            reach = self.within_reach()
            batch = [int(i) for i in self._ranking if reach[i]][:size]
            if not batch:
                return
            chosen = [self._candidates[i] for i in batch]
            for place, _, outcome in run(exact, X, y, chosen, n_jobs):
                self._take(batch[place], outcome)
            size = min(size, _MOST - int(self.known.sum()))

    def _take(self, index: int, outcome: Outcome) -> None:
        predicted = self._outcomes[index][0]
        self._outcomes[index][0] = outcome
        self.exact[index] = outcome.scores.get(self._name, np.nan)
        if np.isnan(self.exact[index]):
            self.rule[index] = np.nan  # it failed, and is not asked again
        elif predicted.wrong is not None and outcome.wrong is not None:
            self.n_differ[index] = np.unpackbits(predicted.wrong ^ outcome.wrong).sum()
