"""One machine per pair of classes: training and decision values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ._linalg import one_blas_thread
from ._typing import Array
from .criteria import SolvedModel
from .dual import DualSolution
from .gram import Gram
from .kernels import Kernel, dense
from .lazy import gram_of
from .pairs import class_pairs
from .path import Path

__all__ = ["Grams", "Machines", "PairPaths", "TrainedMachines"]

#: Number of kernel values held at a time in prediction.
_BLOCK_NUMBERS = 8_000_000


class Grams:
    """The Gram matrix of a training set, and those of the pairs of classes.

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
        """The Gram matrices of the pairs; with two classes, the whole matrix itself."""
        return [self.whole.subset(rows) for _, rows in self.pairs]

    @cached_property
    def indefinite(self) -> bool:
        """Whether the kernel was found not to be positive semidefinite."""
        return not self.kernel.definite and self.whole.indefinite


class PairPaths:
    """Machines of all pairs for a sequence of weight vectors, each started from the last."""

    def __init__(self, grams: Grams) -> None:
        self.grams = grams
        self._paths = [
            Path(gram, np.where(grams.indices[rows] == second, 1.0, -1.0))
            for ((_, second), rows), gram in zip(grams.pairs, grams.of_pairs, strict=True)
        ]

    @one_blas_thread
    def train(self, bounds: Array, *, tol: float, max_iter: int = -1) -> list[SolvedModel]:
        """Train the machines of all pairs of classes.

        Parameters
        ----------
        bounds : ndarray of shape (l,)
            ``C_i`` of every instance.
        tol, max_iter
            As in :class:`~spansvm.SpanSVC`.
        """
        limit = None if max_iter == -1 else max_iter
        models = [
            path.step(bounds[rows], tol=tol, max_iter=limit)
            for path, (_, rows) in zip(self._paths, self.grams.pairs, strict=True)
        ]
        if self.grams.indefinite or any(model.solution.indefinite for model in models):
            for model in models:
                model.solution = replace(model.solution, indefinite=True)
        return models


class Machines:
    """The support vectors and coefficients of the machines of all pairs: enough to predict.

    Parameters
    ----------
    kernel : Kernel
    indices : ndarray of shape (l,)
        The class of every training row.
    bounds : ndarray of shape (l,)
        ``C_i`` of every training row.
    support : ndarray of shape (n_SV,)
        Rows that are support vectors of any pair, class by class.
    vectors : ndarray or sparse matrix of shape (n_SV, d)
        The support vectors; empty if the kernel is precomputed.
    coefficients : ndarray of shape (n_SV, n_pairs)
        Their signed multipliers.
    intercepts : ndarray of shape (n_pairs,)
    """

    def __init__(
        self,
        kernel: Kernel,
        indices: np.ndarray,
        bounds: Array,
        support: np.ndarray,
        vectors: Any,
        coefficients: Array,
        intercepts: Array,
    ) -> None:
        self.kernel, self.indices, self.bounds = kernel, indices, bounds
        self.n_classes = int(indices.max()) + 1
        self.support, self.vectors = support, vectors
        self.coefficients, self.intercepts = coefficients, intercepts

    def decide(self, X: Any) -> Array:
        """Values of all pairs for new rows; for a precomputed kernel, rows of kernel values."""
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

    def holding_grams(self) -> AbstractContextManager[None]:
        """Without training rows there is nothing to hold."""
        return nullcontext()


class TrainedMachines(Machines):
    """Machines with their training rows and solutions; the rest is computed on demand.

    Parameters
    ----------
    X, indices, kernel
        Training rows, the class index of each, and the kernel.
    bounds : ndarray of shape (l,)
        ``C_i`` of every instance.
    models : list of SolvedModel
        The models that :class:`PairPaths` trained.
    budget : float or str, optional
        Memory for Gram matrices.
    grams : Grams, optional
        If given, it is kept with the models, and leave-one-out values need not recompute it.
    """

    def __init__(
        self,
        X: Any,
        indices: np.ndarray,
        kernel: Kernel,
        bounds: Array,
        models: list[SolvedModel],
        budget: float | str | None = None,
        grams: Grams | None = None,
    ) -> None:
        self.X, self.indices, self.kernel, self.bounds = X, indices, kernel, bounds
        self.n_classes = int(indices.max()) + 1
        self.solutions: list[DualSolution] = [model.solution for model in models]
        self._budget, self._grams, self._holders = budget, grams, 0
        self._models = None if grams is None else models
        if grams is None:  # the factors may be large
            self.solutions = [replace(solution, factor=None) for solution in self.solutions]
        else:
            self.pairs = grams.pairs

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
    def support(self) -> np.ndarray:  # type: ignore[override]
        """Rows that are support vectors of any pair, class by class."""
        support = np.flatnonzero(self._signed.any(axis=1))
        return support[np.argsort(self.indices[support], kind="stable")].astype(np.int32)

    @cached_property
    def vectors(self) -> Any:
        """The support vectors; empty if the kernel is precomputed."""
        return np.empty((0, 0)) if self.kernel.precomputed else self.X[self.support]

    @cached_property
    def coefficients(self) -> Array:  # type: ignore[override]
        """Signed multipliers of the support vectors, one column per pair."""
        return self._signed[self.support]

    @cached_property
    def intercepts(self) -> Array:  # type: ignore[override]
        """The intercept of each pair."""
        return np.array([solution.intercept for solution in self.solutions])

    def without_rows(self) -> Machines:
        """The machines without the training rows."""
        return Machines(
            self.kernel, self.indices, self.bounds,
            self.support, self.vectors, self.coefficients, self.intercepts,
        )  # fmt: skip

    def grams(self) -> Grams:
        """Gram matrices of the training rows; recomputed unless kept, as they are large."""
        if self._grams is not None:
            return self._grams
        grams = Grams(self.kernel, self.X, self.indices, self._budget)
        self._grams = grams if self._holders else None
        return grams

    @contextmanager
    def holding_grams(self) -> Iterator[None]:
        """Within this context, Gram matrices that are not kept are computed only once."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if not self._holders and self._models is None:
                self._grams = None

    def models(self) -> list[SolvedModel]:
        """The machine of every pair with its Gram matrix; rebuilt unless kept."""
        return self._models or [
            SolvedModel(gram, solution)
            for gram, solution in zip(self.grams().of_pairs, self.solutions, strict=True)
        ]

    def of_all_rows(self, of_pairs: Sequence[Array]) -> Array:
        """Values of all pairs for all training rows, from the values for the rows of each pair.

        A pair has not seen the rows of other classes: for these its plain value is used.
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


def _pair_rows(indices: np.ndarray) -> list[tuple[tuple[int, int], npt.NDArray[np.bool_]]]:
    """For every pair of classes, the rows that belong to it."""
    pairs = class_pairs(int(indices.max()) + 1)
    return [(pair, (indices == pair[0]) | (indices == pair[1])) for pair in pairs]
