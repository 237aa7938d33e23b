"""Many weight vectors on one Gram matrix: each model starts from the one before.

Between neighbours on a grid of weights, few support vectors change between in-bound and bounded.
Bounded vectors move with their bounds; the others stay where they are or are clipped.  The gradient
is updated from the rows of the multipliers that moved; if all of a class move by one factor, from
the sum of their rows, which is carried along.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..algebra.blas import one_blas_thread
from ..algebra.qp import STALE, default_max_iter
from ..common.types import Array, Rows
from ..common.validation import check_both_classes, check_labels, check_weights
from ..core.solver import rounding_level
from ..kernels.gram import BoundedSums, Gram, as_gram
from ..kernels.pair_grams import Grams
from ..machine.criteria import SolvedModel
from ..machine.doubt import Prediction
from ..machine.dual import DualSolution, box, from_qp, solve_dual, terms_of
from ..machine.values import Verified

__all__ = ["Models", "OneByOne", "Path", "Solutions", "Trainer", "follow", "solve_from"]


class Solutions:
    """Trained machines with the same kernel and weights.

    Attributes
    ----------
    solutions : list of DualSolution
    converged, indefinite : bool
        Whether all have converged; whether the kernel was found not to be positive semidefinite.
    gap : float
        The largest violation of the KKT conditions.
    iterations, intercepts : ndarray
        Of every machine.
    signed, decisions, drops : ndarray
        Signed multipliers of the rows of all machines, one after the other; their decision values;
        how much lower their left-out margins may be than predicted, NaN if unknown.
    """

    def __init__(self, solutions: Sequence[DualSolution]) -> None:
        self._solutions = list(solutions)
        self.converged = all(solution.converged for solution in solutions)
        self.indefinite = any(solution.indefinite for solution in solutions)
        self.gap = max(solution.gap for solution in solutions)
        self.iterations = np.array([solution.iterations for solution in solutions])
        self.intercepts = np.array([solution.intercept for solution in solutions])

    @property
    def solutions(self) -> list[DualSolution]:
        """The solution of every machine."""
        return self._solutions

    @property
    def signed(self) -> Array:
        """Signed multipliers of the rows of all machines, one after the other."""
        return np.concatenate([solution.beta for solution in self.solutions])

    @property
    def decisions(self) -> Array:
        """Decision values of the rows of all machines, one after the other."""
        return np.concatenate([solution.decision for solution in self.solutions])

    @property
    def verified(self) -> Verified | None:
        """Left-out values whose signs are exact, if they were found in training."""
        return None

    def removed(self, entries: Rows) -> tuple[Array, Array, float] | None:
        """Values of some rows of all machines, each from its machine without it; here None."""
        return None

    def prediction(self, place: int) -> Prediction | None:
        """What the span predicts for the rows of one machine; here that was not found."""
        return None

    @property
    def drops(self) -> Array:
        """How much lower left-out margins may be than predicted; here that is unknown: NaN."""
        return np.full(sum(solution.y.size for solution in self.solutions), np.nan)


class Models(Solutions):
    """Trained machines with their Gram matrices.

    Attributes
    ----------
    models : list of SolvedModel
    left_out : ndarray
        Left-out values (Theorem 2) of the rows of all machines, one after the other.
    n_in_bound, n_bounded, n_empty : int
        Sums over the machines.
    seconds : float
        How long it took.
    """

    seconds = 0.0

    def __init__(self, models: Sequence[SolvedModel]) -> None:
        super().__init__([model.solution for model in models])
        self._models = list(models)
        self.n_in_bound = sum(int(s.in_bound.sum()) for s in self.solutions)
        self.n_bounded = sum(int(s.bounded.sum()) for s in self.solutions)

    @property
    def models(self) -> list[SolvedModel]:
        """The model of every machine."""
        return self._models

    def model(self, place: int) -> SolvedModel:
        """The model of one machine."""
        return self.models[place]

    @property
    def n_empty(self) -> int:
        """The number of in-bound vectors with an empty Lambda_p."""
        return sum(model.n_empty for model in self.models)

    @property
    def left_out(self) -> Array:
        """Left-out values of the rows of all machines, one after the other."""
        with one_blas_thread:
            return np.concatenate([model.spans.decision for model in self.models])

    def without_matrices(self) -> Solutions:
        """The solutions alone."""
        return Solutions([replace(solution, factor=None) for solution in self.solutions])

    def set_indefinite(self) -> None:
        """The kernel is not positive semidefinite: mark all solutions."""
        for model in self.models:
            model.solution = replace(model.solution, indefinite=True)
        self._solutions, self.indefinite = [model.solution for model in self.models], True


class Trainer(Protocol):
    """Models of several machines for a sequence of weight vectors, each started from the last."""

    @property
    def at_once(self) -> int:
        """The number of weight vectors that should be given to one call."""

    def steps(
        self,
        weights: Array,
        *,
        tol: float,
        spans: bool = True,
        drops: bool = False,
        values: bool = False,
    ) -> Sequence[Models]:
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
        values : bool, default=False
            Whether it will be needed how far left-out values may be off.
        """


class OneByOne:
    """The :class:`Trainer` of machines on any Gram matrix: a path each; spans are found on demand.

    Parameters
    ----------
    grams : Grams
    max_iter : int, optional
        Limit on the solver's iterations.
    """

    at_once = 1

    def __init__(self, grams: Grams, max_iter: int | None = None) -> None:
        self._grams, self._max_iter = grams, max_iter

    @cached_property
    def _paths(self) -> list[Path]:
        return list(map(Path, self._grams.of_pairs, self._grams.labels))

    @one_blas_thread
    def steps(
        self,
        weights: Array,
        *,
        tol: float,
        spans: bool = True,
        drops: bool = False,
        values: bool = False,
    ) -> list[Models]:
        """The models for several weight vectors, one after the other; see :class:`Trainer`."""
        step = partial(Path.step, tol=tol, max_iter=self._max_iter)
        split = self._grams.pair_rows.split
        return [Models(list(map(step, self._paths, split(each)))) for each in weights]


class Path:
    """Models of one machine for a sequence of weight vectors.

    Parameters
    ----------
    gram : Gram
    y : ndarray of shape (l,)
        Labels, -1.0 or +1.0.
    """

    def __init__(self, gram: Gram | npt.ArrayLike, y: npt.ArrayLike) -> None:
        self.gram, self.y = as_gram(gram), check_labels(y)
        self._before: SolvedModel | None = None

    def step(
        self, C: npt.ArrayLike, *, tol: float = 1e-3, max_iter: int | None = None
    ) -> SolvedModel:
        """The model with the weights `C`, started from the previous one if that converged.

        It reuses the spans of the previous model if they are the same.
        """
        before, tol = self._before, float(tol)
        if before is None:
            solution = solve_dual(self.gram, self.y, C, tol=tol, max_iter=max_iter)
        else:
            C = check_weights(C, self.y.size, name="C")
            check_both_classes(self.y, C)
            solution = solve_from(self.gram, before.solution, C, tol=tol, max_iter=max_iter)
        model = SolvedModel(self.gram, solution)
        if before is not None:
            model.follow(before)
        self._before = model if solution.converged else None
        return model


def follow(
    gram: Gram | npt.ArrayLike,
    y: npt.ArrayLike,
    weights: Iterable[npt.ArrayLike],
    *,
    tol: float = 1e-3,
) -> Iterator[SolvedModel]:
    """The models, with their leave-one-out values, along a chain of weight vectors.

    Parameters
    ----------
    gram : Gram or array-like of shape (l, l)
    y : array-like of shape (l,)
        Labels, -1 or +1.
    weights : iterable of array-like of shape (l,), or of numbers
        ``C_i`` of every instance, or one for all; consecutive ones should be similar.
    tol : float, default=1e-3
        Largest violation of the KKT conditions.
    """
    path = Path(gram, y)
    for C in weights:
        yield path.step(C, tol=tol)


def solve_from(
    gram: Gram, before: DualSolution, C: Array, *, tol: float, max_iter: int | None = None
) -> DualSolution:
    """Train with the weights `C`, from the solution for other weights on the same Gram matrix.

    The solution meets the KKT conditions to `tol`, like one trained from scratch.  Warnings are
    left to the caller.  The sums that `before` carries are consumed: only one path can continue
    from it.

    The gradient and the sum of the multipliers are updated from step to step, and keep the rounding
    errors of the largest multipliers on the way: with C from 1e10 down to 1, they would exceed the
    tolerance, and the violation of the KKT conditions would not show it.  They are then renewed.
    """
    y = before.y
    x, old, new, twins = before.beta, before.C, C, gram.twins(y)
    if twins is not None:
        x, old, new = twins.merge(x), twins.merge(old), twins.merge(new)
    terms = terms_of(y, new)
    drift = max(before.drift, rounding_level(x, gram.diagonal))
    sums: BoundedSums | None
    x, g, sums = gram.move_bounds(x, before.gradient, box(y, old), terms, before.sums)
    drift = max(drift, rounding_level(x, gram.diagonal))
    limit = default_max_iter(y.size) if max_iter is None else max_iter
    result = gram.solve(x, g, terms, tol=tol, max_iter=limit, known=before.factor)
    if result.converged and drift > STALE:
        sums, drift, used = None, 0.0, result.iterations
        x, g = gram.make_feasible(result.x, gram.gradient(result.x, terms.c), terms)
        limit = max(limit - used, 1)
        result = gram.solve(x, g, terms, tol=tol, max_iter=limit, known=result.factor)
        result = replace(result, iterations=used + result.iterations)
    return replace(from_qp(gram, result, y, C, terms, sums), drift=drift)
