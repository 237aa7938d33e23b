"""Trained regressions with their rows: what predicts, and what leaves rows out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..algebra.blas import one_blas_thread
from ..common.types import Array, Rows
from ..kernels.expansion import Expansion
from ..kernels.functions import Kernel
from ..kernels.gram import Gram
from ..kernels.lazy import gram_of
from ..machine.groups import Remover
from .paths import Regressions

__all__ = ["RegressionMachines", "TrainedRegressions"]


class RegressionMachines(Expansion):
    """The support vectors and coefficients of the regressions of all targets: enough to predict.

    Parameters
    ----------
    kernel, support, vectors, coefficients, intercepts
        As in :class:`~spansvm.kernels.expansion.Expansion`.
    bounds : ndarray of shape (l,)
        ``C_i`` of every training row.
    targets : ndarray of shape (l, k)
    """

    def __init__(
        self, kernel: Kernel, bounds: Array, targets: Array, support: np.ndarray, vectors: Any,
        coefficients: Array, intercepts: Array,
    ) -> None:  # fmt: skip
        self.kernel, self.bounds, self.targets = kernel, bounds, targets
        self.support, self.vectors = support, vectors
        self.coefficients, self.intercepts = coefficients, intercepts


class TrainedRegressions(RegressionMachines):
    """Regressions with their training rows and solutions; the rest is computed on demand.

    Parameters
    ----------
    X, targets, kernel
        Training rows, targets of shape (l, k), and the kernel.
    found : Regressions
        What :class:`~spansvm.regression.paths.TubePaths` found.
    keep : bool, default=True
        Whether the Gram matrix is kept; otherwise it is computed again where it is needed.
    budget : float or str, optional
        Memory for it.
    """

    def __init__(
        self, X: Any, targets: Array, kernel: Kernel, found: Regressions, *, keep: bool = True,
        budget: float | str | None = None,
    ) -> None:  # fmt: skip
        self.X, self.targets, self.kernel, self.bounds = X, targets, kernel, found.tube.bounds
        self._budget, self._known = budget, found if keep else None
        self.found = found if keep else found.without_matrices()

    @cached_property
    def support(self) -> np.ndarray:  # type: ignore[override]
        """Rows that are support vectors of any target."""
        return np.flatnonzero(self.found.signed.any(axis=1)).astype(np.int32)

    @cached_property
    def vectors(self) -> Any:
        """The support vectors; empty if the kernel is precomputed."""
        return np.empty((0, 0)) if self.kernel.precomputed else self.X[self.support]

    @cached_property
    def coefficients(self) -> Array:  # type: ignore[override]
        """Signed multipliers of the support vectors, one column per target."""
        return self.found.signed[self.support]

    @cached_property
    def intercepts(self) -> Array:  # type: ignore[override]
        """The intercept for every target."""
        return self.found.intercepts

    def known(self) -> Regressions:
        """The regressions with their Gram matrix; computed again unless it is kept."""
        if self._known is not None:
            return self._known
        found = self.found
        return Regressions(self._gram(), found.tube, found.units, found.solutions)

    def _gram(self) -> Gram:
        return gram_of(self.kernel, self.X, self._budget, whole=True)

    def of_target(self, column: int) -> TrainedRegressions:
        """The regression of one of the targets."""
        found = self.found
        if self.targets.shape[1] == 1:
            return self
        one = slice(column, column + 1)
        own = Regressions(found.gram, found.tube, found.units[one], found.solutions[one])
        return TrainedRegressions(self.X, self.targets[:, one], self.kernel, own)

    def without_rows(self) -> RegressionMachines:
        """The machines without the training rows."""
        return RegressionMachines(
            self.kernel, self.bounds, self.targets, self.support, self.vectors, self.coefficients,
            self.intercepts,
        )  # fmt: skip

    # Left out ---------------------------------------------------------------------------------

    @one_blas_thread
    def without_sets(
        self, sets: Sequence[Rows], *, exact: bool = False
    ) -> tuple[list[Array], list[Changes]]:
        """Predictions for every set without it, and how the functions change without each."""
        found = self.known()
        values = [found.decision[members] for members in sets]
        changes = []
        for m, (own, unit) in enumerate(zip(found.solutions, found.units, strict=True)):
            remover = Remover(found.gram, own)
            rows, moves, shifts = [], [], np.zeros(len(sets))
            for number, members in enumerate(sets):
                removed = remover.remove(members, exact=exact)
                kernel = found.gram.block(members, removed.rows)
                values[number][:, m] = unit.back(removed.values(own.decision[members], kernel))
                rows.append(removed.rows)
                moves.append(removed.moves * unit.size)
                shifts[number] = removed.intercept * unit.size
            changes.append(Changes(rows, moves, shifts))
        return values, changes


class Changes:
    """How the function of one target changes without each of several sets of rows.

    Parameters
    ----------
    rows, moves : list of ndarray
        For each set, the rows whose signed multipliers change, and by how much.
    shifts : ndarray
        The changes of the intercept.

    Attributes
    ----------
    used : ndarray of int
        The rows whose multipliers change without any set.
    weights : ndarray of shape (n_sets, n_used)
        By how much.
    """

    def __init__(self, rows: Sequence[Rows], moves: Sequence[Array], shifts: Array) -> None:
        self.used = np.unique(np.concatenate([*rows, np.empty(0, dtype=np.intp)]))
        self.shifts = shifts
        self.weights = np.zeros((shifts.size, self.used.size))
        for number, (own, change) in enumerate(zip(rows, moves, strict=True)):
            self.weights[number, np.searchsorted(self.used, own)] = change
