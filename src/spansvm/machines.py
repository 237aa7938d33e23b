"""What a fit of :class:`~spansvm.SpanSVC` leaves behind: one trained machine for each pair."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .calibration import Sigmoid, fit_sigmoid
from .criteria import SolvedModel
from .dual import DualSolution
from .gram import Gram
from .kernels import Kernel
from .pairs import class_pairs
from .qp import Array

__all__ = ["Machines", "pair_rows"]


class Machines:
    """The machines of all pairs, with what is computed from them when it is first asked for.

    An object of its own, so that prediction leaves the estimator as it is.

    Attributes
    ----------
    support : ndarray of shape (n_SV,)
        Rows that are support vectors of any pair, class by class.
    coefficients : ndarray of shape (n_SV, n_pairs)
        Their signed multipliers, positive for the second class of a pair.
    intercepts : ndarray of shape (n_pairs,)
    """

    def __init__(
        self,
        X: Any,
        indices: np.ndarray,
        bounds: Array,
        kernel: Kernel,
        solutions: list[DualSolution],
    ) -> None:
        self.X, self.indices, self.bounds = X, indices, bounds
        self.kernel, self.solutions = kernel, solutions
        self.n_classes = int(indices.max()) + 1
        self.pairs = pair_rows(indices, self.n_classes)
        signed = np.zeros((len(solutions), indices.size))
        for row, ((_, rows), solution) in enumerate(zip(self.pairs, solutions, strict=True)):
            signed[row, rows] = solution.beta
        support = np.flatnonzero(signed.any(axis=0))
        self.support = support[np.argsort(indices[support], kind="stable")].astype(np.int32)
        self.coefficients = signed[:, self.support].T
        self.intercepts = np.array([solution.intercept for solution in solutions])

    def gram(self) -> Gram:
        """Gram matrix of all training rows; computed anew, as it is large."""
        return Gram(self.kernel(self.X), kernel_range=self.kernel.range)

    @cached_property
    def leave_one_out(self) -> Array:
        """Values of all pairs for every training row, from machines that did not see it.

        A pair that has the row in its training set gives its leave-one-out value, the others
        their plain one.
        """
        gram = self.gram()
        values = gram.values[:, self.support] @ self.coefficients + self.intercepts
        for column, ((_, rows), solution) in enumerate(
            zip(self.pairs, self.solutions, strict=True)
        ):
            model = SolvedModel(gram.subset(rows), solution)
            values[rows, column] = model.leave_one_out.decision
        return values

    @cached_property
    def sigmoids(self) -> list[Sigmoid]:
        """From the value of each pair to the probability of its second class.

        With k classes, k - 1 pairs go into the probability of each class, and their priors add
        up; a pseudo-count of 1 / (k - 1)^2 instead of Platt's 1 gave the smaller log loss.
        """
        result = []
        for column, ((_, second), rows) in enumerate(self.pairs):
            used = rows & (self.bounds > 0)
            values = self.leave_one_out[used, column]
            prior = 1.0 / (self.n_classes - 1) ** 2
            result.append(fit_sigmoid(values, self.indices[used] == second, prior))
        return result


def pair_rows(
    indices: np.ndarray, n_classes: int
) -> list[tuple[tuple[int, int], npt.NDArray[np.bool_]]]:
    """For every pair of classes the rows that belong to it."""
    return [(pair, (indices == pair[0]) | (indices == pair[1])) for pair in class_pairs(n_classes)]
