"""How far machines are from the solutions of their problems, and which left-out values are exact.

The multipliers of a machine, and its kernel, tell whether it is what it should be, whoever trained
it: no function has a smaller primal objective than the dual objective of any multipliers that are
within their bounds and sum to 0.  All is computed anew from the multipliers and the Gram matrix,
nothing taken from the solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..algebra.blas import one_blas_thread
from ..common.types import Mask
from ..kernels.gram import Gram
from .criteria import SolvedModel
from .dual import DualSolution
from .span import intercept_moves

__all__ = ["Certificate", "LeftOutCounts", "certify", "count_left_out", "summed"]


class LeftOutCounts(NamedTuple):
    """How the left-out values of the rows of a machine were found; see :class:`Certificate`."""

    unchanged: int
    followed: int
    by_span: int
    predicted: int


@dataclass(frozen=True)
class Certificate:
    """How far a trained model is from the solution, and how many left-out values are exact.

    With more than two classes there is one machine for every pair: objectives and counts are sums
    over them, violations the largest.

    Attributes
    ----------
    gap : float
        Largest violation of the KKT conditions, in units of the decision value (of the target): by
        how much the largest intercept that some row asks for exceeds the smallest.
    primal, dual : float
        The two objectives.  That of the solution lies between them.
    duality_gap, relative_gap : float
        Their difference, and that divided by the primal objective.
    equality : float
        The absolute sum of the signed multipliers, which must be 0.
    box : float
        By how much a multiplier is below 0 or above its bound ``C_i``, at most.
    unchanged : int or None
        Left-out values of rows that are no support vectors: without them the model is the same.
        This and the following counts are of rows of positive weight in every machine, and None
        for a classifier fitted with `groups`.
    followed : int or None
        Values whose removals were followed to the solution without the row.
    by_span : int or None
        Values predicted by the span (Theorem 2) where the predicted multipliers and values meet
        the KKT conditions without the row: they are the solution.
    predicted : int or None
        Values predicted by the span where they do not, or an indefinite kernel leaves that open:
        only these are not exact.  All, if the solver stopped early.
    machines : tuple of Certificate
        The same for every machine, in the order of ``intercept_``.
    """

    gap: float
    primal: float
    dual: float
    duality_gap: float
    relative_gap: float
    equality: float
    box: float
    unchanged: int | None = None
    followed: int | None = None
    by_span: int | None = None
    predicted: int | None = None
    machines: tuple[Certificate, ...] = ()

    @property
    def exact(self) -> int | None:
        """The number of left-out values that are exact."""
        if self.unchanged is None or self.followed is None or self.by_span is None:
            return None
        return self.unchanged + self.followed + self.by_span


@one_blas_thread
def certify(
    gram: Gram, solution: DualSolution, unit: float = 1.0, counts: LeftOutCounts | None = None
) -> Certificate:
    """The certificate of one machine.

    Parameters
    ----------
    gram : Gram
    solution : DualSolution
        The model trained on it; only multipliers, bounds, labels or targets, and the intercept
        are read.
    unit : float, default=1.0
        The size of a unit of its decision values; the certificate is in units of size 1.
    counts : LeftOutCounts, optional
    """
    beta, C, present = solution.beta, solution.C, solution.present
    plain = gram.gradient(beta, np.zeros(beta.size))
    values = plain + solution.intercept
    if solution.target is None:
        loss = np.maximum(0.0, 1.0 - solution.y * values)
    else:
        loss = np.maximum(0.0, np.abs(solution.target - values) - solution.epsilon)
    half = 0.5 * float(beta @ plain)
    primal = (half + float(C[present] @ loss[present])) * unit**2
    dual = (float(beta @ solution.edge) - half) * unit**2
    outside = np.maximum(-solution.alpha, solution.alpha - C)
    return Certificate(
        gap=solution.violation(plain) * unit,
        primal=primal, dual=dual, duality_gap=primal - dual,
        relative_gap=_relative(primal, dual),
        equality=abs(float(beta.sum())) * unit,
        box=max(0.0, float(outside.max())) * unit,
        **({} if counts is None else counts._asdict()),
    )  # fmt: skip


def _relative(primal: float, dual: float) -> float:
    return (primal - dual) / primal if primal > 0.0 else 0.0


def summed(machines: Sequence[Certificate]) -> Certificate:
    """The certificate of a model that consists of some machines."""

    def total(name: str) -> int | None:
        own = [getattr(machine, name) for machine in machines]
        return None if None in own else sum(own)

    primal = sum(machine.primal for machine in machines)
    dual = sum(machine.dual for machine in machines)
    return Certificate(
        gap=max(machine.gap for machine in machines),
        primal=primal, dual=dual, duality_gap=primal - dual,
        relative_gap=_relative(primal, dual),
        equality=max(machine.equality for machine in machines),
        box=max(machine.box for machine in machines),
        **{name: total(name) for name in LeftOutCounts._fields},
        machines=tuple(machines),
    )  # fmt: skip


def count_left_out(model: SolvedModel, followed: Mask) -> LeftOutCounts:
    """How the left-out values of a machine were found, given which removals were followed.

    Of a model that has not converged no value is exact.
    """
    solution, present = model.solution, model.solution.present
    number = int(present.sum())
    if not solution.converged:
        return LeftOutCounts(0, 0, 0, number)
    followed = followed & present
    # Without an in-bound vector, rows that are no support vectors may hold the intercept.
    unchanged = present & ~solution.support & (intercept_moves(solution) == 0.0) & ~followed
    rest = solution.support & ~followed
    by_span: Mask = np.zeros(present.size, dtype=np.bool_)
    if rest.any() and not solution.indefinite:
        by_span = rest & model.trusted
    kinds = [int(kind.sum()) for kind in (unchanged, followed, by_span)]
    return LeftOutCounts(kinds[0], kinds[1], kinds[2], predicted=number - sum(kinds))
