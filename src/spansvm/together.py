"""All machines of a model on one path, trained in one compiled call (:mod:`spansvm._together`).

For machines of up to some hundred rows, whose training takes less time than what Python would do
for each of them.  The results are those of :class:`spansvm.path.Path`, machine by machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from . import _together as at
from ._calls import addresses
from ._factor import Factor, limits_of
from ._linalg import one_blas_thread
from ._together import advance
from ._typing import Array
from .criteria import SolvedModel
from .dual import DualSolution, solve_dual
from .gram import Gram
from .lazy import LazyGram
from .pairs import lost
from .path import Models
from .qp import default_max_iter, flat_curvature
from .span import Spans

__all__ = ["JointModels", "Together"]

#: The largest machine, and the largest factor that is kept for the next step, in rows.
_LARGEST, _LARGEST_FACTOR = 700, 512

#: The quantities of `rows` that a model consists of.
_KEPT = (at.WEIGHT, at.ALPHA, at.DECISION, at.SPAN, at.LEFT_OUT)


class Together:
    """Models of several machines for a sequence of weight vectors, each started from the last.

    Parameters
    ----------
    grams : list of Gram
    labels : list of ndarray
        For every machine, -1.0 or +1.0 for its rows.
    """

    def __init__(self, grams: Sequence[Gram], labels: Sequence[Array]) -> None:
        self.grams, self.labels = grams, labels
        sizes = np.array([len(gram) for gram in grams])
        self.starts = np.concatenate(([0], np.cumsum(sizes)))
        total, count = int(self.starts[-1]), sizes.size
        self.rows = np.zeros((12, total))
        self.places = np.zeros((3, total), dtype=np.int64)
        self.marks = np.zeros((2, total), dtype=np.bool_)
        self.numbers, self.counts = np.zeros((6, count)), np.zeros((8, count), dtype=np.int64)
        self.rows[at.DIAGONAL] = np.concatenate([gram.diagonal for gram in grams])
        self.rows[at.LABEL] = np.concatenate(labels)
        self.rows[at.GRADIENT] = -self.rows[at.LABEL]
        first = []
        for gram, y in zip(grams, labels, strict=True):
            twins = gram.twins(y)
            first.append(np.arange(y.size) if twins is None else twins.first)
        self.places[at.FIRST] = np.concatenate(first)
        self.numbers[at.FLAT] = [flat_curvature(gram.values, gram.diagonal) for gram in grams]
        self.counts[at.LIMIT] = [default_max_iter(int(size)) for size in sizes]
        self.sums, self.scales = np.zeros(4 * total), np.zeros(2 * count)
        self.slots = np.concatenate(([0], np.cumsum(np.minimum(sizes, _LARGEST_FACTOR) ** 2)))
        self.factors = np.empty(int(self.slots[-1]))
        self.steps = 0
        self._buffer, self._begin = _joined([gram.values for gram in grams])

    @staticmethod
    def suits(grams: Sequence[Gram]) -> bool:
        """Whether machines with these matrices can be trained together."""
        return all(not isinstance(gram, LazyGram) and len(gram) <= _LARGEST for gram in grams)

    @one_blas_thread
    def step(self, C: Array, *, tol: float) -> JointModels:
        """The models with the weights `C` of the rows of all machines, one after the other."""
        self.steps += 1
        self.rows[at.WEIGHT] = C
        dtype = self._buffer.dtype
        advance(
            self._buffer, self._begin, self.starts, self.rows, self.places, self.marks, self.sums,
            self.scales, self.factors, self.slots, self.numbers, self.counts, tol,
            limits_of(dtype), addresses(dtype),
        )  # fmt: skip
        others = {
            int(m): self._train_alone(int(m), tol)
            for m in np.flatnonzero(self.counts[at.DONE] == 0)
        }
        return JointModels(self, others)

    def _train_alone(self, m: int, tol: float) -> SolvedModel:
        """Train a machine that is unusual, from where it is."""
        gram, y = self.grams[m], self.labels[m]
        own = slice(*self.starts[m : m + 2])
        rows = self.rows[:, own]
        start = np.abs(rows[at.SIGNED])
        solution = solve_dual(gram, y, rows[at.WEIGHT].copy(), alpha0=start, tol=tol)
        model = SolvedModel(gram, solution)
        spans, twins = model.spans, gram.twins(y)
        beta = solution.beta
        rows[at.SIGNED] = beta if twins is None else twins.merge(beta)
        rows[at.GRADIENT] = solution.gradient
        rows[at.ALPHA], rows[at.DECISION] = solution.alpha, solution.decision
        rows[at.SPAN], rows[at.LEFT_OUT] = spans.squared, spans.decision
        self.numbers[[at.DRIFT, at.INTERCEPT, at.GAP], m] = 0.0, solution.intercept, solution.gap
        self.scales[2 * m : 2 * m + 2] = 0.0
        known = solution.in_bound.sum(), solution.bounded.sum(), model.n_empty
        self.counts[[at.N_IN_BOUND, at.N_BOUNDED, at.N_EMPTY], m] = known
        self.counts[[at.N_INSIDE, at.N_KEPT], m] = 0
        self.counts[at.ITERATIONS, m] = solution.iterations
        if not solution.converged:  # the next step starts from scratch
            rows[at.SIGNED], rows[at.GRADIENT] = 0.0, -y
            rows[at.LOW] = rows[at.HIGH] = 0.0
        return model

    def factor(self, m: int) -> Factor | None:
        """The factor of a machine's in-bound vectors, with twins merged, if it was kept."""
        counts, numbers = self.counts[:, m], self.numbers[:, m]
        inside, kept = counts[at.N_INSIDE], counts[at.N_KEPT]
        if not kept:
            return None
        one, slot = self.starts[m], self.slots[m]
        matrix = self.factors[slot : slot + kept**2].reshape(kept, kept)
        return Factor(
            matrix.copy(),
            self.places[at.INSIDE, one : one + inside].copy(),
            self.places[at.KEPT, one : one + kept].copy(),
            self.marks[at.REPEATED, one : one + inside].copy(),
            float(numbers[at.SHIFT]),
            float(numbers[at.RIDGE]),
        )


class JointModels(Models):
    """What one step of :class:`Together` found."""

    def __init__(self, together: Together, others: dict[int, SolvedModel]) -> None:
        counts, numbers = together.counts, together.numbers
        self._together, self._others, self._step = together, others, together.steps
        self._rows = together.rows[list(_KEPT)]
        self._gaps = numbers[at.GAP].copy()
        self.n_in_bound = int(counts[at.N_IN_BOUND].sum())
        self.n_bounded = int(counts[at.N_BOUNDED].sum())
        self.n_empty = int(counts[at.N_EMPTY].sum())
        self.iterations = counts[at.ITERATIONS].copy()
        self.intercepts = numbers[at.INTERCEPT].copy()
        self.gap = float(self._gaps.max())
        self.left_out = self._rows[-1]
        solutions = [model.solution for model in others.values()]
        self.converged = all(solution.converged for solution in solutions)
        self.indefinite = any(solution.indefinite for solution in solutions)

    @cached_property
    def signed(self) -> Array:
        return self._together.rows[at.LABEL] * self._rows[1]

    @cached_property
    def models(self) -> list[SolvedModel]:
        return [self._model(m) for m in range(self.iterations.size)]

    @property
    def solutions(self) -> list[DualSolution]:  # type: ignore[override]
        return [model.solution for model in self.models]

    def _model(self, m: int) -> SolvedModel:
        if m in self._others:
            return self._others[m]
        together = self._together
        C, alpha, decision, squared, left_out = self._rows[:, slice(*together.starts[m : m + 2])]
        y = together.labels[m]
        solution = DualSolution(
            alpha=alpha, C=C, y=y, intercept=float(self.intercepts[m]), decision=decision,
            gap=float(self._gaps[m]), converged=True, iterations=int(self.iterations[m]),
            indefinite=self.indefinite,
            factor=together.factor(m) if together.steps == self._step else None,
        )  # fmt: skip
        model = SolvedModel(together.grams[m], solution)
        errors = int(((C > 0.0) & lost(y * left_out)).sum())
        model.spans = Spans(squared, left_out, errors)
        return model

    def set_indefinite(self) -> None:
        self.indefinite = True
        for model in self._others.values():
            model.solution = replace(model.solution, indefinite=True)


def _joined(matrices: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The matrices one after the other, and where each begins; no copy if they already are."""
    begin = np.concatenate(([0], np.cumsum([matrix.size for matrix in matrices])))
    if len(matrices) == 1:
        return matrices[0].reshape(-1), begin
    base = matrices[0].base
    if base is not None and base.ndim == 1 and base.size == begin[-1]:
        return base, begin
    return np.concatenate([matrix.ravel() for matrix in matrices]), begin
