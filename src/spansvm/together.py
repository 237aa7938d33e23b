"""All machines of a model on one path, trained in one compiled call (:mod:`spansvm._together`).

For machines of up to 2000 rows, whose training may take less time than what Python would do
for each of them.  The results are those of :class:`spansvm.path.Path`, machine by machine.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import _together as at
from ._calls import addresses
from ._factor import limits_of
from ._linalg import one_blas_thread
from ._together import advance
from ._typing import Array, Rows
from .criteria import SolvedModel
from .dual import DualSolution, solve_dual
from .lazy import LazyGram
from .pair_grams import Grams
from .pairs import lost
from .path import Models
from .qp import default_max_iter, flat_curvature
from .span import Spans

__all__ = ["JointModels", "Together"]

#: The largest machine, in rows.
_LARGEST = 2000

#: Memory for the results of one call, in bytes.
_RESULTS = 64e6


class Together:
    """Models of several machines for a sequence of weight vectors, each started from the last.

    Parameters
    ----------
    grams : Grams
    """

    def __init__(self, grams: Grams) -> None:
        self.grams = grams
        whole, places = grams.whole, grams.places
        sizes = np.array([own.size for own in places])
        self.starts = np.concatenate(([0], np.cumsum(sizes)))
        total, count = int(self.starts[-1]), sizes.size
        self.rows = np.zeros((7, total))
        self.places = np.zeros((2, total), dtype=np.int64)
        self.bounded = np.zeros(total, dtype=np.bool_)
        self.numbers, self.counts = np.zeros((2, count)), np.zeros((2, count), dtype=np.int64)
        self.places[at.PLACE] = np.concatenate(places)
        self.rows[at.DIAGONAL] = whole.diagonal[self.places[at.PLACE]]
        self.rows[at.LABEL] = np.concatenate(grams.labels)
        self.rows[at.GRADIENT] = -self.rows[at.LABEL]
        self.places[at.FIRST] = grams.points.first_twins(whole.kinds)
        self.numbers[at.FLAT] = [
            flat_curvature(whole.values, whole.diagonal[own]) for own in places
        ]
        self.counts[at.LIMIT] = [default_max_iter(int(size)) for size in sizes]
        self.sums, self.scales = np.zeros(4 * total), np.zeros(2 * count)
        self.measures = np.zeros((2, count))  # of the latest step
        self._part = np.empty((int(sizes.max()) if count > 1 else 0,) * 2, dtype=whole.dtype)

    @staticmethod
    def suits(grams: Grams) -> bool:
        """Whether the machines can be trained together."""
        small = max(own.size for own in grams.places) <= _LARGEST
        return small and not isinstance(grams.whole, LazyGram)

    @property
    def at_once(self) -> int:
        """The number of weight vectors that should be given to one call."""
        return max(1, int(_RESULTS // (48.0 * self.rows.shape[1])))

    @one_blas_thread
    def steps(
        self, weights: Array, *, tol: float, spans: bool = True, drops: bool = False
    ) -> list[JointModels]:
        """The models for several weight vectors, one after the other.

        Parameters
        ----------
        weights : ndarray of shape (n, n_rows)
            The weights of the rows of all machines in each.
        tol : float
        spans : bool, default=True
            Whether spans and left-out values will be needed; if not, they are computed on demand.
        drops : bool, default=False
            Whether it will be needed how much lower the left-out margins may be.
        """
        self._spans, self._drops = spans, spans and drops
        size, total, count = weights.shape[0], self.rows.shape[1], self.scales.size // 2
        found = np.zeros((size, 5, total))
        measures = np.tile(self.measures, (size, 1, 1))
        tallies = np.zeros((size, 5, count), dtype=np.int64)
        others: list[dict[int, SolvedModel]] = [{} for _ in range(size)]
        self._advance(np.arange(count), weights, tol, found, measures, tallies)
        for m in np.flatnonzero(~tallies[:, at.DONE].all(axis=0)):
            while not tallies[:, at.DONE, m].all():
                first = int(tallies[:, at.DONE, m].argmin())
                others[first][int(m)] = self._train_alone(
                    int(m), weights[first], tol, found[first], measures[first], tallies[first]
                )
                rest = slice(first + 1, None)
                if first + 1 < size:
                    measures[first + 1, :, m] = measures[first, :, m]
                    self._advance(
                        np.array([m]), weights[rest], tol, found[rest], measures[rest],
                        tallies[rest],
                    )  # fmt: skip
        self.measures = measures[-1]
        return [
            JointModels(self, spans, self._drops, *results)
            for results in zip(weights, found, measures, tallies, others, strict=True)
        ]

    def _advance(
        self, machines: Rows, weights: Array, tol: float, found: Array, measures: Array,
        tallies: np.ndarray,
    ) -> None:  # fmt: skip
        K = self.grams.whole.values
        advance(
            K, self._part, self.starts, machines, weights, self.rows, self.places, self.bounded,
            self.sums, self.scales, self.numbers, self.counts, tol, limits_of(K.dtype),
            addresses(K.dtype), self._spans, self._drops, found, measures, tallies,
        )  # fmt: skip

    def _train_alone(
        self, m: int, weights: Array, tol: float, found: Array, measures: Array,
        tallies: np.ndarray,
    ) -> SolvedModel:  # fmt: skip
        """Train a machine that is unusual, from where it is."""
        gram, y = self.grams.of_pair(m), self.grams.labels[m]
        own = slice(*self.starts[m : m + 2])
        rows, twins = self.rows[:, own], gram.twins(y)
        start = np.abs(rows[at.SIGNED])
        solution = solve_dual(gram, y, weights[own], alpha0=start, tol=tol)
        if self.grams.indefinite:
            solution = replace(solution, indefinite=True)
        model = SolvedModel(gram, solution)
        spans, beta = model.spans, solution.beta
        found[:4, own] = solution.alpha, solution.decision, spans.squared, spans.decision
        found[at.DROP, own] = np.nan
        measures[[at.INTERCEPT, at.GAP], m] = solution.intercept, solution.gap
        inside, bounded = solution.in_bound.sum(), solution.bounded.sum()
        tallies[:, m] = 1, solution.iterations, inside, bounded, model.n_empty
        rows[at.SIGNED] = beta if twins is None else twins.merge(beta)
        rows[at.GRADIENT] = solution.gradient
        self.numbers[at.DRIFT, m] = 0.0
        self.scales[2 * m : 2 * m + 2] = 0.0
        self.counts[at.READY, m] = 0
        if not solution.converged:  # the next step starts from scratch
            rows[at.SIGNED], rows[at.GRADIENT] = 0.0, -y
            rows[at.LOW] = rows[at.HIGH] = 0.0
        return model


class JointModels(Models):
    """What one step of :class:`Together` found."""

    def __init__(
        self,
        together: Together,
        spans: bool,
        drops: bool,
        weights: Array,
        found: Array,
        measures: Array,
        tallies: np.ndarray,
        others: dict[int, SolvedModel],
    ) -> None:
        self._together, self._spans = together, spans
        self._drops = drops
        self._known: dict[int, SolvedModel] = dict(others)
        self._weights, self._found, self._gaps = weights, found, measures[at.GAP]
        _, self.iterations, n_in_bound, n_bounded, n_empty = tallies
        self.n_in_bound, self.n_bounded = int(n_in_bound.sum()), int(n_bounded.sum())
        self._n_empty = int(n_empty.sum())
        self.intercepts = measures[at.INTERCEPT]
        self.gap = float(self._gaps.max())
        solutions = [model.solution for model in others.values()]
        self.converged = all(solution.converged for solution in solutions)
        self.indefinite = any(solution.indefinite for solution in solutions)

    @property
    def n_empty(self) -> int:
        """The number of in-bound vectors with an empty Lambda_p."""
        return self._n_empty

    @property
    def left_out(self) -> Array:
        """Left-out values of the rows of all machines, one after the other."""
        return self._found[at.LEFT_OUT] if self._spans else super().left_out

    @property
    def drops(self) -> Array:
        """How much lower left-out margins may be than predicted; NaN if unknown."""
        return self._found[at.DROP] if self._drops else super().drops

    @property
    def decisions(self) -> Array:
        """Decision values of the rows of all machines, one after the other."""
        return self._found[at.DECISION]

    @property
    def signed(self) -> Array:
        """Signed multipliers of the rows of all machines, one after the other."""
        return self._together.rows[at.LABEL] * self._found[at.ALPHA]

    @property
    def models(self) -> list[SolvedModel]:
        """The model of every machine, built on first access."""
        return [self.model(m) for m in range(self.iterations.size)]

    def model(self, place: int) -> SolvedModel:
        """The model of one machine, built on first access."""
        if place not in self._known:
            self._known[place] = self._model(place)
        return self._known[place]

    @property
    def solutions(self) -> list[DualSolution]:
        """The solution of every machine."""
        return [model.solution for model in self.models]

    def _model(self, m: int) -> SolvedModel:
        together = self._together
        own, y = slice(*together.starts[m : m + 2]), together.grams.labels[m]
        C, (alpha, decision, squared, left_out, _) = self._weights[own], self._found[:, own]
        solution = DualSolution(
            alpha=alpha, C=C, y=y, intercept=float(self.intercepts[m]), decision=decision,
            gap=float(self._gaps[m]), converged=True, iterations=int(self.iterations[m]),
            indefinite=self.indefinite,
        )  # fmt: skip
        model = SolvedModel(together.grams.of_pair(m), solution)
        if self._spans:
            errors = int(((C > 0.0) & lost(y * left_out)).sum())
            model.spans = Spans(squared, left_out, errors)
        return model

    def set_indefinite(self) -> None:
        """The kernel is not positive semidefinite: mark all solutions."""
        self.indefinite = True
        for model in self._known.values():
            model.solution = replace(model.solution, indefinite=True)
