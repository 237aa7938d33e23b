"""A fitted model without some of its training rows: the values that it gives to any others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ..common.types import Array, Rows
from ..common.validation import rows_of
from ..estimators.svc import SpanSVC
from ..estimators.svr import SpanSVR
from ..kernels.functions import dense
from ..machine.criteria import SolvedModel
from ..machine.influence import Influences
from ..multiclass.machines import TrainedMachines
from ..regression.machines import TrainedRegressions
from ..search.candidates.composite import take_apart, transform

__all__ = ["Without", "trained_model"]


def trained_model(model: Any) -> tuple[Any, list[tuple[str, Any]]]:
    """The SpanSVC or SpanSVR in a model, and the fitted transformers before it.

    Parameters
    ----------
    model : SpanSVC, SpanSVR, Pipeline, or search over one of these
        Fitted.
    """
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"A fitted SpanSVC or SpanSVR is needed; got {type(model).__name__}.")
    if hasattr(model, "estimator") and hasattr(model, "refit"):
        if not hasattr(model, "best_estimator_"):
            raise NotFittedError("The search has no best_estimator_: fit it, with refit.")
        model = model.best_estimator_
    parts = take_apart(model)
    if parts.wrapper is not None or not isinstance(parts.machine, (SpanSVC, SpanSVR)):
        name = type(parts.machine if parts.wrapper is None else parts.wrapper).__name__
        raise TypeError(
            f"A fitted SpanSVC or SpanSVR is needed, alone or at the end of a Pipeline; got {name}"
            ", which does not keep its training rows."
        )
    if not hasattr(parts.machine, "machines_"):
        raise NotFittedError(f"This {type(parts.machine).__name__} is not fitted yet.")
    if not isinstance(parts.machine.machines_, (TrainedMachines, TrainedRegressions)):
        raise ValueError("A saved model keeps no training rows: fit it again.")
    return parts.machine, parts.steps


class Without:
    """The values of some rows, and how each training row changes them.

    Parameters
    ----------
    model : SpanSVC, SpanSVR, Pipeline or search
    X : array-like or sparse matrix of shape (n, d)
        The rows whose values are of interest.
    transformed : bool, default=False
        Whether they are as the SpanSVC or SpanSVR has its own rows.

    Attributes
    ----------
    model : SpanSVC or SpanSVR
    points : ndarray or sparse matrix
        `X` as the model takes it.
    values : ndarray of shape (n, n_machines)
        One for every pair of classes; a single one of a regression.
    n_rows : int
        The number of training rows.
    """

    def __init__(self, model: Any, X: Any, *, transformed: bool = False) -> None:
        self.model, steps = trained_model(model)
        machines = self.model.machines_
        self.points = X
        if not transformed:
            self.points = rows_of(self.model, transform(dict(steps), X), reset=False)
        self.n_rows, self.values = machines.X.shape[0], machines.decide(self.points)
        kernel = machines.kernel
        self._kernel = dense(self.points) if kernel.precomputed else kernel(self.points, machines.X)

    @cached_property
    def _machines(self) -> list[tuple[SolvedModel, Rows, float]]:
        """Every machine, with its training rows and the unit of its values."""
        machines = self.model.machines_
        if isinstance(machines, TrainedRegressions):
            found, every = machines.known(), np.arange(self.n_rows)
            pairs = zip(found.solutions, found.units, strict=True)
            return [(SolvedModel(found.gram, own), every, unit.size) for own, unit in pairs]
        rows = machines.pair_rows
        parts = [slice(*rows.starts[m : m + 2]) for m in range(machines.intercepts.size)]
        return [
            (one, rows.row[own], 1.0) for one, own in zip(machines.models(), parts, strict=True)
        ]

    @cached_property
    def _influences(self) -> list[Influences]:
        return [Influences(model, self._kernel[:, rows]) for model, rows, _ in self._machines]

    def each_row(self, *, exact: bool) -> Iterator[tuple[Rows, Array]]:
        """Of every machine, its training rows, and how the values change without each of them."""
        for influences, (_, rows, unit) in zip(self._influences, self._machines, strict=True):
            yield rows, unit * influences.of_rows(exact=exact)

    def each_set(self, sets: Sequence[Rows], *, exact: bool) -> Iterator[Array]:
        """The values without each of several sets of training rows."""
        places = np.full((len(self._machines), self.n_rows), -1, dtype=np.intp)
        for m, (_, rows, _) in enumerate(self._machines):
            places[m, rows] = np.arange(rows.size)
        for members in sets:
            values = self.values.copy()
            for m, (_, _, unit) in enumerate(self._machines):
                own = places[m, members]
                own = own[own >= 0]
                if own.size:
                    values[:, m] += unit * self._influences[m].of_set(own, exact=exact)
            yield values
