"""Candidates without a grid: coarse ones first, then finer ones around the best.

A pattern search on a lattice of powers of two.  After the coarse stage every round proposes the
unknown neighbours of the best candidate: some steps of C at no new Gram matrix, one step of gamma,
and the other parameters one by one; where there are none left, steps become finer.  Candidates
beyond the ends of an axis are neighbours as well, but an axis goes on being widened only while that
raises the best score by more than its standard error: the score of the best rises a little with
every candidate, good or not.

The rounds depend on the scores alone, never on time or on how many workers there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

__all__ = ["Axis", "Choices", "Refinement", "Setting"]

#: How many steps of C to either side are neighbours, and how many where another value of a
#: parameter besides C and gamma is tried.
_REACH, _SIDE_REACH = 3, 1

#: Places that differ by less, of steps that are not powers of two, are the same.
_DIGITS = 9

#: Gram matrices of a search, at most, unless the coarse stage has more.
_KERNELS = 8


@dataclass(frozen=True)
class Axis:
    """A parameter with positive values, by its exponents of 2; or with any values.

    Attributes
    ----------
    name : str
    unit : float
        The value of exponent 0.
    exponents : tuple of float
        Those of the coarse stage, in ascending order.
    steps : tuple of float
        By how much neighbours differ, coarse to fine.
    limits : (float, float)
        The least and the largest exponent.
    linear : bool
        Whether values themselves take the place of exponents.
    """

    name: str
    unit: float
    exponents: tuple[float, ...]
    steps: tuple[float, ...]
    limits: tuple[float, float] = (-np.inf, np.inf)
    linear: bool = False

    @property
    def coarse(self) -> list[Any]:
        """Places of the coarse stage."""
        return [round(one, _DIGITS) for one in self.exponents]

    @property
    def first(self) -> Any:
        """The place in the coarse stage, if there is to be one only: the middle."""
        return self.coarse[len(self.exponents) // 2]

    def value(self, place: Any) -> float:
        """The value of the parameter."""
        inside = min(max(place, self.limits[0]), self.limits[1])
        return float(self.unit * (inside if self.linear else 2.0**inside))

    def around(self, place: Any, level: int, reach: int) -> list[Any]:
        """Places within so many steps, the nearest first."""
        step = self.steps[min(level, len(self.steps) - 1)]
        near = [round(place + k * step, _DIGITS) for k in _offsets(reach)]
        low, high = self.limits[0] - 10.0**-_DIGITS, self.limits[1] + 10.0**-_DIGITS
        return [one for one in near if low <= one <= high]


@dataclass(frozen=True)
class Choices:
    """A parameter whose values are listed; places are their numbers."""

    name: str
    values: tuple[Any, ...]
    ordered: bool = True

    #: There are no finer steps.
    steps = (1.0,)

    @property
    def coarse(self) -> list[Any]:
        """Places of the coarse stage."""
        return list(range(len(self.values)))

    @property
    def first(self) -> Any:
        """The place in the coarse stage, if there is to be one only: the middle, or the first."""
        return len(self.values) // 2 if self.ordered else 0

    def value(self, place: Any) -> Any:
        """The value of the parameter."""
        return self.values[place]

    def around(self, place: Any, level: int, reach: int) -> list[Any]:
        """Places within so many steps, the nearest first; all, if they have no order."""
        if not self.ordered:
            return [place, *(other for other in self.coarse if other != place)]
        near = [place + k for k in _offsets(reach)]
        return [one for one in near if 0 <= one < len(self.values)]


Setting = Axis | Choices
_Place = tuple[Any, ...]
#: The number of an axis, and whether it is its upper end.
_Side = tuple[int, bool]


class Refinement:
    """Which candidates to evaluate next.

    Parameters
    ----------
    weight : Axis or Choices
        Of C: changes need no new Gram matrix.
    kernel : Axis or Choices, optional
        Of gamma.
    others : sequence of Axis or Choices
        Further parameters, which have one value in the coarse stage.
    n_trials : int
        How many candidates, at most.
    of_kernel : set of str
        Names of the `others` that change the kernel.

    Attributes
    ----------
    places : list of tuple
        Of the candidates that were proposed.
    """

    def __init__(
        self,
        weight: Setting,
        kernel: Setting | None = None,
        others: Sequence[Setting] = (),
        *,
        n_trials: int = 80,
        of_kernel: Iterable[str] = (),
    ) -> None:
        main = [weight] if kernel is None else [weight, kernel]
        self.settings: list[Setting] = [*main, *others]
        self.n_trials = n_trials
        self._n_main, self._level = len(main), 0
        changing = set(of_kernel)
        self._of_kernel = [
            number
            for number, setting in enumerate(self.settings)
            if setting is kernel or setting.name in changing
        ]
        self._kernels: set[_Place] = set()
        self._score_before: dict[_Side, float] = {}
        self.places: list[_Place] = []
        coarse = [one.coarse for one in main] + [[one.first] for one in others]
        self._ends = [(min(own), max(own)) for own in coarse]
        every = list(product(*coarse))
        if len(every) > n_trials:  # the few that are allowed lie around the middle
            every.sort(key=lambda place: _from_middle(place, coarse))
        self._add(every, np.inf)

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """The candidates that were proposed, the coarse ones at first."""
        return [self._params(place) for place in self.places]

    @property
    def n_kernels(self) -> int:
        """How many Gram matrices the candidates need."""
        return len(self._kernels)

    def more(self, scores: np.ndarray, best: int, error: float) -> list[dict[str, Any]]:
        """The next candidates, all of them new; none if the search is over.

        Parameters
        ----------
        scores : ndarray
            Of the candidates so far.
        best : int
            The selected one of them.
        error : float
            The standard error of its score; NaN if it is not known.
        """
        place, first, score = self.places[best], len(self.places), float(scores[best])
        while self._level < max(len(one.steps) for one in self.settings):
            self._add(self._allowed(self._neighbours(place), score, error), _KERNELS)
            if len(self.places) > first:
                return [self._params(one) for one in self.places[first:]]
            self._level += 1
        return []

    def _params(self, place: _Place) -> dict[str, Any]:
        both = zip(self.settings, place, strict=True)
        return {setting.name: setting.value(own) for setting, own in both}

    def _add(self, places: Iterable[_Place], most_kernels: float) -> None:
        """Take the places that are new, as far as trials and Gram matrices are left."""
        known = set(self.places)
        for place in places:
            kernel = tuple(place[number] for number in self._of_kernel)
            fits = kernel in self._kernels or len(self._kernels) < most_kernels
            if place in known or not fits or len(self.places) >= self.n_trials:
                continue
            known.add(place)
            self._kernels.add(kernel)
            self.places.append(place)
            self._ends = [
                (min(low, own), max(high, own))
                for (low, high), own in zip(self._ends, place, strict=True)
            ]

    def _neighbours(self, place: _Place) -> list[_Place]:
        """Places around one: of its own kernel, of other kernels, with other settings."""
        near = [
            setting.around(own, self._level, 1)[1:]
            for setting, own in zip(self.settings, place, strict=True)
        ]
        weights = self.settings[0].around(place[0], self._level, _REACH)
        few = self.settings[0].around(place[0], self._level, _SIDE_REACH)
        found = [(own, *place[1:]) for own in weights]
        for number in range(1, len(place)):
            for other, own in product(near[number], weights if number < self._n_main else few):
                found.append((own, *place[1:number], other, *place[number + 1 :]))
        return found

    def _allowed(self, places: Sequence[_Place], score: float, error: float) -> list[_Place]:
        """Without those beyond the ends of axes that are no longer widened."""
        known, outside = set(self.places), {}
        for place in places:
            if place not in known:
                outside[place] = [
                    (number, own > high)
                    for number, (own, (low, high)) in enumerate(zip(place, self._ends, strict=True))
                    if not low <= own <= high
                ]
        ended = {
            side
            for side, before in self._score_before.items()
            if not score > before + (error if error > 0 else 0.0)
        }
        kept = [place for place, sides in outside.items() if not ended.intersection(sides)]
        self._score_before |= {side: score for place in kept for side in outside[place]}
        return kept


def _offsets(reach: int) -> list[int]:
    return sorted(range(-reach, reach + 1), key=abs)


def _from_middle(place: _Place, coarse: Sequence[Sequence[Any]]) -> tuple[float, ...]:
    """How far a place is from the middle of the coarse stage, in steps; then its own order."""
    both = zip(place, coarse, strict=True)
    steps = [own.index(one) - (len(own) - 1) / 2 for one, own in both]
    return (sum(step**2 for step in steps), *steps)
