"""All machines of a model on one path, trained in one compiled call (:mod:`spansvm.core.chains`).

For machines whose Gram matrix is held.  The results are those of
:class:`spansvm.multiclass.path.OneByOne`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..algebra.blas import one_blas_thread
from ..algebra.qp import default_max_iter, flat_curvature
from ..common.memory import has_room
from ..common.types import Array, Rows
from ..core.chains import Chains
from ..core.results import Results
from ..core.verdicts import Ballots
from ..kernels.pair_grams import Grams
from ..machine.criteria import SolvedModel
from ..machine.doubt import Prediction, reaches
from ..machine.dual import DualSolution, solve_dual
from ..machine.span import Spans
from ..machine.values import Verified
from .path import Models, OneByOne, Trainer

__all__ = ["JointModels", "Together", "trainer_of"]

#: Memory for the results of one call, in bytes.
_RESULTS = 64e6


def trainer_of(grams: Grams, max_iter: int | None = None) -> Trainer:
    """What trains the machines of all pairs.

    `max_iter` limits the iterations of each.  They are those of the plain solver: chains need fewer
    steps that count, and others would stop early.
    """
    if max_iter is not None or grams.whole.values is None:
        return OneByOne(grams, max_iter)
    return Together(grams)


class Together:
    """The :class:`~spansvm.multiclass.path.Trainer` of machines whose Gram matrix is held.

    Parameters
    ----------
    grams : Grams
    """

    def __init__(self, grams: Grams) -> None:
        self.grams = grams
        whole, places = grams.whole.held(), grams.places
        sizes = np.array([own.size for own in places])
        self.starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.intp)
        rows = np.concatenate(places)
        self.labels = np.concatenate(grams.labels)
        self.chains = Chains(
            whole.values, whole.diagonal[rows], rows, self.labels,
            grams.points.first_twins(whole.kinds), self.starts,
            np.array([flat_curvature(whole.values, whole.diagonal[own]) for own in places]),
            np.array([default_max_iter(int(size)) for size in sizes]),
        )  # fmt: skip

    @property
    def at_once(self) -> int:
        """The number of weight vectors that should be given to one call."""
        return max(1, int(_RESULTS // (58.0 * self.labels.size)))

    @one_blas_thread
    def steps(
        self,
        weights: Array,
        *,
        tol: float,
        spans: bool = True,
        drops: bool = False,
        values: bool = False,
    ) -> list[JointModels]:
        """The models for several weight vectors, one after the other; see :class:`Trainer`."""
        drops, values = drops and spans, values and spans
        # With several pairs it depends on the votes which removals are followed.
        wanted = float(tol), spans, drops, drops and self.starts.size == 2, values
        size, count = weights.shape[0], self.starts.size - 1
        results = Results(size, self.labels.size, count, with_values=values)
        others: list[dict[int, SolvedModel]] = [{} for _ in range(size)]
        self.chains.train(np.arange(count), weights, wanted, results)
        for m in map(int, np.flatnonzero(~results.done.all(axis=0))):
            while not results.done[:, m].all():
                first = int(results.done[:, m].argmin())
                others[first][m] = self._train_alone(m, first, weights[first], tol, results)
                self.chains.train(np.array([m]), weights, wanted, results, first + 1)
        classes = self._verify(weights, results, others) if drops and count > 1 else None
        return [
            JointModels(self, wanted, weights[step], results, step, others[step], classes)
            for step in range(size)
        ]

    def _verify(
        self, weights: Array, results: Results, others: Sequence[dict[int, SolvedModel]]
    ) -> np.ndarray | None:
        """The classes of left-out rows, with the values followed on which they depend."""
        if not has_room(int(np.diff(self.starts).max())):
            return None
        usual = np.array([step for step, alone in enumerate(others) if not alone], dtype=np.intp)
        return self.chains.verify(self._ballots, weights, results, usual)

    @cached_property
    def _ballots(self) -> Ballots:
        rows = self.grams.pair_rows
        return Ballots(
            np.array(rows.columns), rows.pair_of, rows.by_row, rows.row, rows.indices, rows.place,
            self.labels,
        )  # fmt: skip

    def _train_alone(
        self, m: int, step: int, weights: Array, tol: float, results: Results
    ) -> SolvedModel:
        """Train a machine that is unusual, from where it is."""
        gram, y = self.grams.of_pair(m), self.grams.labels[m]
        own = slice(*self.starts[m : m + 2])
        twins = gram.twins(y)
        start = np.abs(self.chains.signed[own])
        solution = solve_dual(gram, y, weights[own], alpha0=start, tol=tol)
        if self.grams.indefinite:
            solution = replace(solution, indefinite=True)
        model = SolvedModel(gram, solution)
        spans, beta = model.spans, solution.beta
        results.alpha[step, own], results.decision[step, own] = solution.alpha, solution.decision
        results.span[step, own], results.left_out[step, own] = spans.squared, spans.decision
        results.drop[step, own] = np.nan
        results.verified[step, own], results.doubtful[step, own] = spans.decision, True
        results.intercept[step, m], results.gap[step, m] = solution.intercept, solution.gap
        results.iterations[step, m], results.n_empty[step, m] = solution.iterations, model.n_empty
        results.n_in_bound[step, m] = solution.in_bound.sum()
        results.n_bounded[step, m] = solution.bounded.sum()
        results.done[step, m] = True
        self.chains.take(
            m, beta if twins is None else twins.merge(beta), solution.gradient,
            (solution.intercept, solution.gap), solution.converged,
        )  # fmt: skip
        return model


class JointModels(Models):
    """What one step of :class:`Together` found."""

    def __init__(
        self,
        together: Together,
        wanted: tuple[float, bool, bool, bool, bool],
        weights: Array,
        results: Results,
        step: int,
        others: dict[int, SolvedModel],
        classes: np.ndarray | None,
    ) -> None:
        self._together, (_, self._spans, self._drops, self._exact, _) = together, wanted
        self._known: dict[int, SolvedModel] = dict(others)
        self._others = frozenset(others)  # trained in another way
        self._classes = None if classes is None or others else classes[step]
        self._weights, self._results, self._step = weights, results, step
        self.iterations, self.intercepts = results.iterations[step], results.intercept[step]
        self.n_in_bound = int(results.n_in_bound[step].sum())
        self.n_bounded = int(results.n_bounded[step].sum())
        self._n_empty = int(results.n_empty[step].sum())
        self.gap = float(results.gap[step].max())
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
        return self._results.left_out[self._step] if self._spans else super().left_out

    @property
    def drops(self) -> Array:
        """How much lower than the left-out values of the span margins may be; NaN if unknown."""
        if not self._drops:
            return super().drops
        lone = self._results.n_free[self._step] < 2  # those values were corrected
        sizes = np.diff(self._together.starts)
        return np.where(np.repeat(lone, sizes), np.nan, self._results.drop[self._step])

    def prediction(self, place: int) -> Prediction | None:
        """What the span predicts for the rows of one machine, if that was found in training."""
        results, own = self._results, slice(*self._together.starts[place : place + 2])
        if not results.with_values or place in self._others:
            return None
        outside = results.outside[self._step, own]
        if np.isnan(outside).any():
            return None
        model = self.model(place)
        return Prediction(
            model.spans.decision.copy(), results.moved[self._step, own].copy(),
            outside * reaches(model.solution, model.spans), results.drop[self._step, own],
        )  # fmt: skip

    @property
    def verified(self) -> Verified | None:
        """Left-out values whose signs are exact, if they were found in training."""
        if not self._exact and self._classes is None:
            return None
        results, step = self._results, self._step
        return Verified(
            results.verified[step], results.shift[step], results.followed[step],
            results.doubtful[step], results.error[step], self._classes,
        )  # fmt: skip

    def removed(self, entries: Rows) -> tuple[Array, Array, float] | None:
        """Values of some rows of all machines, in order, each from its machine without it.

        As :meth:`spansvm.core.chains.Chains.remove` says; None if there is no room.
        """
        together = self._together
        if not has_room(int(np.diff(together.starts).max())):
            return None
        return together.chains.remove(entries, self._weights, self._results, self._step)

    @property
    def decisions(self) -> Array:
        """Decision values of the rows of all machines, one after the other."""
        return self._results.decision[self._step]

    @property
    def signed(self) -> Array:
        """Signed multipliers of the rows of all machines, one after the other."""
        return self._together.labels * self._results.alpha[self._step]

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
        C, results, step = self._weights[own], self._results, self._step
        solution = DualSolution(
            alpha=results.alpha[step, own], C=C, y=y, intercept=float(self.intercepts[m]),
            decision=results.decision[step, own], gap=float(results.gap[step, m]), converged=True,
            iterations=int(self.iterations[m]), indefinite=self.indefinite,
        )  # fmt: skip
        model = SolvedModel(together.grams.of_pair(m), solution)
        if self._spans:
            left_out = results.left_out[step, own]
            errors = int((solution.present & solution.wrong(left_out)).sum())
            model.spans = Spans(results.span[step, own], left_out, errors)
        return model

    def set_indefinite(self) -> None:
        """The kernel is not positive semidefinite: mark all solutions."""
        self.indefinite = True
        for model in self._known.values():
            model.solution = replace(model.solution, indefinite=True)
