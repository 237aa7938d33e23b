"""What a fit of :class:`~spansvm.SpanSVC` leaves behind: one trained machine for each pair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from ._typing import Array
from .calibration import Sigmoid, fit_sigmoid, limit_outliers
from .dual import DualSolution, solve_dual
from .gram import Gram
from .kernels import Kernel, dense
from .lazy import gram_of
from .left_out import LeftOut, left_out
from .pairs import class_pairs, probabilities
from .path import solve_from
from .span import LeaveOneOut, span_leave_one_out

__all__ = ["Grams", "Machines", "StoredMachines", "train_pairs"]

#: How many kernel values are held at a time in prediction.
_BLOCK_NUMBERS = 8_000_000


class Grams:
    """The Gram matrix of a training set, and those of its pairs of classes.

    Attributes
    ----------
    whole : Gram
    pairs : list of (pair, ndarray of bool)
        Every pair of classes, with the rows that belong to it.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        indices: np.ndarray,
        budget: float | str | None = None,
    ) -> None:
        self.kernel, self.indices = kernel, indices
        self.whole = gram_of(kernel, X, budget)
        self.pairs = _pair_rows(indices)

    @cached_property
    def of_pairs(self) -> list[Gram]:
        """The Gram matrices of the pairs; the whole one itself, if there are two classes."""
        return [self.whole.subset(rows) for _, rows in self.pairs]

    @cached_property
    def indefinite(self) -> bool:
        """Whether the kernel is seen not to be positive semidefinite."""
        return not self.kernel.definite and self.whole.indefinite


def train_pairs(
    grams: Grams,
    bounds: Array,
    *,
    tol: float,
    max_iter: int = -1,
    before: list[DualSolution] | None = None,
) -> list[DualSolution]:
    """Train the machines of all pairs of classes.

    Parameters
    ----------
    grams : Grams
    bounds : ndarray of shape (l,)
        ``C_i`` of every instance.
    tol, max_iter
        As in :class:`~spansvm.SpanSVC`.
    before : list of DualSolution, optional
        What this gave for other bounds: where to start.
    """
    limit = None if max_iter == -1 else max_iter
    solutions = []
    for column, ((_, second), rows) in enumerate(grams.pairs):
        gram, C = grams.of_pairs[column], bounds[rows]
        if before is None:
            y = np.where(grams.indices[rows] == second, 1.0, -1.0)
            solution = solve_dual(gram, y, C, tol=tol, max_iter=limit)
        else:
            solution = solve_from(gram, before[column], C, tol=tol, max_iter=limit)
        solutions.append(solution)
    if grams.indefinite or any(solution.indefinite for solution in solutions):
        solutions = [replace(solution, indefinite=True) for solution in solutions]
    return solutions


class Machines:
    """The machines of all pairs, with what is computed from them when it is first asked for.

    An object of its own, so that prediction leaves the estimator as it is.

    Parameters
    ----------
    X, indices, kernel
        Training rows, the index of the class of each, and the kernel.
    bounds : ndarray of shape (l,)
        ``C_i`` of every instance.
    solutions : list of DualSolution
        What :func:`train_pairs` gave for them.
    budget : float or str, optional
        Memory for Gram matrices.
    grams : Grams, optional
        If given it is kept, and leave-one-out values need not compute it again.

    """

    def __init__(
        self,
        X: Any,
        indices: np.ndarray,
        kernel: Kernel,
        bounds: Array,
        solutions: list[DualSolution],
        budget: float | str | None = None,
        grams: Grams | None = None,
    ) -> None:
        self.X, self.indices, self.kernel = X, indices, kernel
        self.bounds, self.solutions = bounds, solutions
        self._budget, self._given, self._grams = budget, grams, grams
        self._before: list[tuple[DualSolution, LeaveOneOut]] | None = None
        if grams is not None:
            self.pairs = grams.pairs
        self.n_classes = int(indices.max()) + 1

    @cached_property
    def pairs(self) -> list[tuple[tuple[int, int], npt.NDArray[np.bool_]]]:
        """Every pair of classes, with the rows that belong to it."""
        return _pair_rows(self.indices)

    @cached_property
    def _signed(self) -> Array:
        """Signed multipliers of every row in every pair, positive for its second class."""
        signed = np.zeros((self.indices.size, len(self.solutions)))
        for column, ((_, rows), solution) in enumerate(
            zip(self.pairs, self.solutions, strict=True)
        ):
            signed[rows, column] = solution.beta
        return signed

    @cached_property
    def support(self) -> np.ndarray:
        """Rows that are support vectors of any pair, class by class."""
        support = np.flatnonzero(self._signed.any(axis=1))
        return support[np.argsort(self.indices[support], kind="stable")].astype(np.int32)

    @cached_property
    def vectors(self) -> Any:
        """The support vectors; empty if the kernel is precomputed."""
        return np.empty((0, 0)) if self.kernel.precomputed else self.X[self.support]

    @cached_property
    def coefficients(self) -> Array:
        """Signed multipliers of the support vectors, one column a pair."""
        return self._signed[self.support]

    @cached_property
    def intercepts(self) -> Array:
        """One a pair."""
        return np.array([solution.intercept for solution in self.solutions])

    def decide(self, X: Any) -> Array:
        """Values of all pairs for other rows; of a precomputed kernel, for rows of its values."""
        result = np.empty((X.shape[0], self.intercepts.size))
        step = max(1, _BLOCK_NUMBERS // max(self.support.size, 1))
        precomputed = self.kernel.precomputed
        for start in range(0, X.shape[0], step):
            rows = X[start : start + step]
            values = (
                dense(rows[:, self.support]) if precomputed else self.kernel(rows, self.vectors)
            )
            result[start : start + step] = values @ self.coefficients + self.intercepts
        return result

    def grams(self) -> Grams:
        """Gram matrices of the training rows; computed anew, as they are large, unless kept."""
        return self._grams or Grams(self.kernel, self.X, self.indices, self._budget)

    @contextmanager
    def _holding_grams(self) -> Iterator[None]:
        """Within this, Gram matrices that are not kept are computed once."""
        self._grams = self.grams()
        try:
            yield
        finally:
            self._grams = self._given

    @cached_property
    def spans(self) -> list[LeaveOneOut]:
        """What the span says of the training rows of each pair (Theorem 2)."""
        known: Iterable[tuple[DualSolution, LeaveOneOut] | None] = self._before or repeat(None)
        grams = self.grams().of_pairs
        spans = [
            span_leave_one_out(gram, solution, before)
            for gram, solution, before in zip(grams, self.solutions, known, strict=False)
        ]
        self._before = None
        return spans

    def follow(self, before: Machines) -> None:
        """Take over spans of other machines on the same Gram matrix, where they are the same."""
        self._before = list(zip(before.solutions, before.spans, strict=True))

    @cached_property
    def rule(self) -> Array:
        """Values of all pairs for every left-out training row, by the span: to be counted."""
        with self._holding_grams():
            return self.of_all_rows([span.decision for span in self.spans])

    @cached_property
    def _left_out(self) -> list[LeftOut]:
        grams = self.grams().of_pairs
        return [left_out(*each) for each in zip(grams, self.solutions, self.spans, strict=True)]

    @cached_property
    def comparable(self) -> Array:
        """Values of left-out rows as the machines themselves would say them of new rows.

        To be ranked, and to make probabilities of: followed exactly where the span is doubtful,
        and without the shift that the removal gives to all rows.
        """
        with self._holding_grams():
            return self.of_all_rows([pair.ranking for pair in self._left_out])

    @cached_property
    def leave_one_out(self) -> Array:
        """Values of left-out rows from the machines without them.

        Followed exactly where the span is doubtful, but for rows of which the rule says the
        other class: as it says.
        """
        with self._holding_grams():
            values = self.of_all_rows([pair.decision for pair in self._left_out])
        return np.where((values > 0.0) == (self.rule > 0.0), values, self.rule)

    def of_all_rows(self, of_pairs: Sequence[Array]) -> Array:
        """Values of all pairs for all training rows, from those for the rows of each pair.

        Rows of other classes were not seen by a pair: they have its plain value.
        """
        values = self._plain.copy()
        for column, ((_, rows), own) in enumerate(zip(self.pairs, of_pairs, strict=True)):
            values[rows, column] = own
        return values

    @cached_property
    def _plain(self) -> Array:
        """Values of each pair for the rows that do not belong to it."""
        values = np.zeros((self.indices.size, len(self.solutions)))
        if self.n_classes == 2:
            return values
        whole = self.grams().whole
        for column, (_, rows) in enumerate(self.pairs):
            if not rows.all():
                support = self.coefficients[:, column] != 0
                others = np.flatnonzero(~rows)
                kernel_values = whole.block(others, self.support[support])
                values[others, column] = (
                    kernel_values @ self.coefficients[support, column] + self.intercepts[column]
                )
        return values

    @property
    def margins(self) -> Array:
        """The least leave-one-out value of the own class over its pairs; NaN without weight."""
        result = np.where(self.bounds > 0, np.inf, np.nan)
        for values, ((_, second), rows) in zip(self.leave_one_out.T, self.pairs, strict=True):
            signed = np.where(self.indices == second, values, -values)
            result[rows] = np.minimum(result, signed)[rows]
        return result

    @cached_property
    def sigmoids(self) -> list[Sigmoid]:
        """From the value of each pair to the probability of its second class.

        With k classes, k - 1 pairs go into the probability of each class, and their priors add
        up; a pseudo-count of 1 / (2 (k - 1)) gave a smaller log loss than Platt's 1 does.
        """
        result = []
        prior = 0.5 / (self.n_classes - 1)
        for column, ((_, second), rows) in enumerate(self.pairs):
            used = rows & (self.bounds > 0)
            positive = self.indices[used] == second
            plain = self.solutions[column].decision[used[rows]]
            values = limit_outliers(self.comparable[used, column], plain, positive)
            result.append(fit_sigmoid(values, positive, prior))
        return result

    def probabilities(self, values: Array) -> Array:
        """Probabilities of the classes for values of all pairs."""
        pairwise = [
            sigmoid(column) for sigmoid, column in zip(self.sigmoids, values.T, strict=True)
        ]
        return probabilities(np.column_stack(pairwise), self.n_classes)


class StoredMachines(Machines):
    """Machines without their training rows: what predictions and leave-one-out values need.

    Everything is computed here, so that nothing is left to compute from the rows.
    """

    def __init__(self, machines: Machines) -> None:
        self.kernel, self.n_classes = machines.kernel, machines.n_classes
        self.indices, self.bounds = machines.indices, machines.bounds
        self.support, self.vectors = machines.support, machines.vectors
        self.coefficients, self.intercepts = machines.coefficients, machines.intercepts
        self.rule, self.comparable = machines.rule, machines.comparable
        self.leave_one_out, self.sigmoids = machines.leave_one_out, machines.sigmoids

    def grams(self) -> Grams:
        """ValueError: there are no rows to compute it from."""
        raise ValueError(
            "A saved model keeps no training rows: fit it again to compute from its Gram matrix."
        )


def _pair_rows(indices: np.ndarray) -> list[tuple[tuple[int, int], npt.NDArray[np.bool_]]]:
    """For every pair of classes the rows that belong to it."""
    pairs = class_pairs(int(indices.max()) + 1)
    return [(pair, (indices == pair[0]) | (indices == pair[1])) for pair in pairs]
