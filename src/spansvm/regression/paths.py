"""Regressions on one Gram matrix, along chains of weights and tubes.

Where the Gram matrix is held, all candidates of a chain, and all targets, are trained in one
compiled call (:mod:`spansvm.core.chains`); otherwise, and where something is unusual, one by one
(:func:`spansvm.machine.tube.solve_tube`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..algebra.blas import one_blas_thread
from ..algebra.qp import default_max_iter, flat_curvature
from ..common.types import Array, Mask, Rows
from ..core.chains import Chains
from ..core.results import Results
from ..kernels.gram import Gram
from ..machine.dual import DualSolution
from ..machine.following import Follower
from ..machine.span import find_spans, intercept_moves
from ..machine.tube import Units, solve_tube

__all__ = ["MOST_EXACT", "Regressions", "Tube", "TubePaths"]

#: With more rows, left-out values are those that the span predicts, unless exact ones are asked
#: for: following all of them takes many times as long as training.
MOST_EXACT = 4000

#: Memory for the results of one call, in bytes.
_RESULTS = 64e6

#: A linear machine whose mean weight, times the mean squared norm, is more than the first number
#: is reached sooner from others with smaller weights, by the second number at most each.
_EASY, _HARDER = 1.0, 256.0


class Tube(NamedTuple):
    """What a regression is trained with: ``C_i`` of every row, and half the width of the tube."""

    bounds: Array
    epsilon: float


class TubePaths:
    """Regressions of one or several targets for a sequence of tubes, each started from the last.

    Parameters
    ----------
    gram : Gram
    targets : ndarray of shape (l, k)
    definite, linear : bool, default=False
        Whether the kernel is known to be positive semidefinite; whether it is the linear one.
    """

    def __init__(
        self, gram: Gram, targets: Array, definite: bool = False, linear: bool = False
    ) -> None:
        self.gram, self.targets, self._definite, self._linear = gram, targets, definite, linear
        self._counted = np.zeros(targets.shape[0], dtype=np.bool_)
        self._latest: list[DualSolution] | None = None
        self.units: list[Units] = []
        self.scaled: list[Array] = []

    def _count(self, tubes: Sequence[Tube]) -> None:
        """Take the targets of rows that count; of others, any number may have been given."""
        counted = self._counted.copy()
        for tube in tubes:
            counted |= tube.bounds > 0.0
        if np.array_equal(counted, self._counted):
            return
        self._counted, self._latest = counted, None
        self.units = [Units(own, counted) for own in self.targets.T]
        pairs = zip(self.units, self.targets.T, strict=True)
        self.scaled = [np.where(counted, unit.of(own), 0.0) for unit, own in pairs]
        self.__dict__.pop("_chains", None)  # those of before

    def train(self, tube: Tube, *, tol: float, max_iter: int = -1) -> Regressions:
        """Train one regression for every target."""
        return next(self.train_each([tube], tol=tol, max_iter=max_iter))

    def train_each(
        self,
        tubes: Sequence[Tube],
        *,
        tol: float,
        max_iter: int = -1,
        spans: bool = True,
        drops: bool = False,
        values: bool = False,
    ) -> Iterator[Regressions]:
        """Train the regressions of all targets for one tube after the other.

        `spans`, `drops` and `values` tell what will be needed of left-out rows, as in
        :meth:`spansvm.multiclass.machines.PairPaths.train_each`: what is verified is followed row
        by row, and needs no spans; values always matter.
        """
        self._count(tubes)
        easier: list[Tube] = []
        if max_iter == -1 and self._latest is None and "_chains" not in self.__dict__:
            easier = self._easier(tubes[0])
        if max_iter != -1 or self.gram.values is None:
            for tube in easier:
                self._one_by_one(tube, tol, max_iter)
            yield from (self._one_by_one(tube, tol, max_iter) for tube in tubes)
            return
        at_once = self.at_once(max_iter)
        for start in range(0, len(tubes), at_once):
            begin = time.perf_counter()
            needed = spans and (not drops or len(self.gram) > MOST_EXACT)
            if easier:
                self._together(easier, tol, False)
                easier = []
            several = self._together(tubes[start : start + at_once], tol, needed)
            seconds = (time.perf_counter() - begin) / len(several)
            for found in several:
                found.seconds = seconds
                yield found

    def _easier(self, tube: Tube) -> list[Tube]:
        """Tubes with smaller weights, from which a hard machine is reached sooner; none if easy."""
        weights = tube.bounds[tube.bounds > 0.0]
        if not self._linear or weights.size == 0:
            return []
        size = float(weights.mean()) * float(self.gram.diagonal.mean())
        hard = size / min(unit.size for unit in self.units)
        if hard <= _EASY:
            return []
        count = int(np.ceil(np.log(hard / _EASY) / np.log(_HARDER)))
        shares = (_EASY / hard) ** (np.arange(count, 0, -1) / count)
        return [tube._replace(bounds=share * tube.bounds) for share in shares]

    def at_once(self, max_iter: int = -1) -> int:
        """The number of tubes that are trained in one go."""
        if max_iter != -1 or self.gram.values is None:
            return 1
        return max(1, int(_RESULTS // (66.0 * self.targets.size)))

    # In one call ------------------------------------------------------------------------------

    @cached_property
    def _chains(self) -> Chains:
        held, (n, k) = self.gram.held(), self.targets.shape
        first = [self._first(own) for own in self.scaled]
        chains = Chains(
            held.values, np.tile(held.diagonal, k), np.tile(np.arange(n), k),
            np.concatenate(self.scaled), np.concatenate(first), np.arange(k + 1) * n,
            np.full(k, flat_curvature(held.values, held.diagonal)),
            np.full(k, default_max_iter(n)),
        )  # fmt: skip
        chains.set_targets()
        return chains

    def _first(self, scaled: Array) -> Rows:
        twins = self.gram.twins(scaled)
        return np.arange(scaled.size) if twins is None else twins.first

    @one_blas_thread
    def _together(self, tubes: Sequence[Tube], tol: float, spans: bool) -> list[Regressions]:
        n, k = self.targets.shape
        sizes = np.array([unit.size for unit in self.units])
        results = Results(len(tubes), n * k, k, True)
        weights = np.array([(tube.bounds / sizes[:, None]).ravel() for tube in tubes])
        results.epsilon[:] = np.array([tube.epsilon for tube in tubes])[:, None] / sizes
        wanted = min(unit.tolerance(tol) for unit in self.units), spans, False, False, False
        others: list[dict[int, DualSolution]] = [{} for _ in tubes]
        self._chains.train(np.arange(k), weights, wanted, results)
        for m in map(int, np.flatnonzero(~results.done.all(axis=0))):
            while not results.done[:, m].all():
                step = int(results.done[:, m].argmin())
                others[step][m] = self._train_alone(m, step, weights[step], wanted[0], results)
                self._chains.train(np.array([m]), weights, wanted, results, step + 1)
        return [
            self._regressions(tube, weights[step], results, step, others[step], spans)
            for step, tube in enumerate(tubes)
        ]

    def _train_alone(
        self, m: int, step: int, weights: Array, tol: float, results: Results
    ) -> DualSolution:
        """Train a regression that is unusual, from where it is."""
        n, target = self.targets.shape[0], self.scaled[m]
        own = slice(m * n, (m + 1) * n)
        solution = solve_tube(
            self.gram, target, weights[own], float(results.epsilon[step, m]),
            beta0=self._chains.signed[own].copy(), tol=tol,
        )  # fmt: skip
        solution = replace(solution, indefinite=solution.indefinite or self._indefinite)
        results.done[step, m] = True
        twins, beta = self.gram.twins(target), solution.beta
        self._chains.take(
            m, beta if twins is None else twins.merge(beta),
            solution.decision - solution.intercept - target,
            (solution.intercept, solution.gap), solution.converged,
        )  # fmt: skip
        return solution

    def _regressions(
        self, tube: Tube, weights: Array, results: Results, step: int,
        others: dict[int, DualSolution], spans: bool,
    ) -> Regressions:  # fmt: skip
        n, k = self.targets.shape
        solutions: list[DualSolution] = []
        for m in range(k):
            own = slice(m * n, (m + 1) * n)
            solutions.append(others.get(m) or DualSolution(
                alpha=results.alpha[step, own], C=weights[own], y=results.side[step, own],
                intercept=float(results.intercept[step, m]), decision=results.decision[step, own],
                gap=float(results.gap[step, m]), converged=True,
                iterations=int(results.iterations[step, m]),
                indefinite=self._indefinite, target=self.scaled[m],
                epsilon=float(results.epsilon[step, m]),
            ))  # fmt: skip
        found = Regressions(self.gram, tube, self.units, solutions)
        if not others:
            chains = self._chains
            found.removals = lambda entries: chains.remove(entries, weights, results, step)
            found.n_empty = int(results.n_empty[step].sum())
            if spans:
                found.by_span = list(results.left_out[step].reshape(k, n))
        return found

    @cached_property
    def _indefinite(self) -> bool:
        return not self._definite and self.gram.indefinite

    # One by one -------------------------------------------------------------------------------

    @one_blas_thread
    def _one_by_one(self, tube: Tube, tol: float, max_iter: int) -> Regressions:
        begin = time.perf_counter()
        limit, solutions = None if max_iter == -1 else max_iter, []
        for m, unit in enumerate(self.units):
            before = None if self._latest is None else self._latest[m].beta
            solution = solve_tube(
                self.gram, self.scaled[m], tube.bounds / unit.size, tube.epsilon / unit.size,
                beta0=before, tol=unit.tolerance(tol), max_iter=limit,
            )  # fmt: skip
            indefinite = solution.indefinite or self._indefinite
            solutions.append(replace(solution, indefinite=indefinite))
        self._latest = solutions if limit is None else None
        found = Regressions(self.gram, tube, self.units, solutions)
        found.seconds = time.perf_counter() - begin
        return found


class Regressions:
    """The trained regressions of all targets, and their left-out rows.

    Values are in the units of the targets; `solutions` are not (:class:`~..machine.tube.Units`).

    Parameters
    ----------
    gram : Gram
    tube : Tube
    units : list of Units
    solutions : list of DualSolution

    Attributes
    ----------
    seconds : float
        What the training took.
    """

    seconds = 0.0

    #: Left-out values of every target as the span predicts them, in the units of the solutions.
    by_span: list[Array] | None = None

    #: Removals in one compiled call, as :meth:`spansvm.core.chains.Chains.remove`.
    removals: Callable[[Rows], tuple[Array, Array, float]] | None = None

    def __init__(
        self, gram: Gram, tube: Tube, units: Sequence[Units], solutions: list[DualSolution]
    ) -> None:
        self.gram, self.tube, self.units, self.solutions = gram, tube, units, solutions
        self.converged = all(own.converged for own in solutions)
        self.indefinite = any(own.indefinite for own in solutions)
        self.n_in_bound = sum(int(own.in_bound.sum()) for own in solutions)
        self.n_bounded = sum(int(own.bounded.sum()) for own in solutions)
        self.n_empty = 0
        self.iterations = np.array([own.iterations for own in solutions])

    @property
    def gap(self) -> float:
        """The largest violation of the KKT conditions, in the units of the targets."""
        pairs = zip(self.solutions, self.units, strict=True)
        return max(own.gap * unit.size for own, unit in pairs)

    def _columns(self, values: Sequence[Array]) -> Array:
        """Values of every target in its own units, as columns."""
        pairs = zip(self.units, values, strict=True)
        return np.column_stack([unit.back(own) for unit, own in pairs])

    @cached_property
    def signed(self) -> Array:
        """Signed multipliers of all rows, a column for every target."""
        pairs = zip(self.solutions, self.units, strict=True)
        return np.column_stack([own.beta * unit.size for own, unit in pairs])

    @property
    def intercepts(self) -> Array:
        """The intercept for every target."""
        return self._columns([np.array([own.intercept]) for own in self.solutions])[0]

    @property
    def decision(self) -> Array:
        """Predictions for all rows, which the machines have seen."""
        return self._columns([own.decision for own in self.solutions])

    # Left out ---------------------------------------------------------------------------------

    @cached_property
    def span_values(self) -> Array:
        """Predictions for all rows, each left out, as Theorem 2 predicts them."""
        if self.by_span is None:
            self.by_span = [find_spans(self.gram, own).decision for own in self.solutions]
        moved = [
            values + intercept_moves(own)
            for values, own in zip(self.by_span, self.solutions, strict=True)
        ]
        return self._columns(moved)

    @cached_property
    @one_blas_thread
    def exact_values(self) -> Array:
        """The same, with every removal followed exactly, or retrained where it cannot be."""
        n, found = len(self.gram), []
        for m, own in enumerate(self.solutions):
            values, rows = own.decision + intercept_moves(own), np.flatnonzero(own.support)
            values[rows] = np.nan
            if self.removals is not None and self.gram.has_room() and not own.indefinite:
                values[rows] = self.removals(rows + m * n)[0]
            lost: Mask = np.isnan(values)
            if lost.any():
                tried = self.removals is not None
                rows = np.flatnonzero(lost)
                given_up = np.full(rows.size, tried)
                removed = Follower(self.gram, own).remove(rows, given_up)
                values[rows] = removed.decision
            found.append(values)
        return self._columns(found)

    def without_matrices(self) -> Regressions:
        """The same without the Gram matrix and factors, which may be large."""
        bare = [replace(own, factor=None, sums=None) for own in self.solutions]
        return Regressions(self.gram, self.tube, self.units, bare)
