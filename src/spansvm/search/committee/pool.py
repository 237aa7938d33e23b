"""Left-out predictions of all candidates that a committee may be made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ...common.types import Array, Rows
from ..evaluation.checkpoint import key_of
from .means import from_logs, log_probabilities
from .weights import standard_errors, weigh

__all__ = ["Pool", "PoolBuilder"]

#: Memory for the predictions of all candidates, in bytes; of more, those of the best are kept.
_BUDGET = 2**28

#: Predictions of so many candidates are kept whatever they take.
_LEAST_KEPT = 20


@dataclass(frozen=True, eq=False)
class Pool:
    """Predictions of candidates for left-out rows.

    Attributes
    ----------
    candidates : list of dict
        By their loss; equal ones in an order that does not depend on the grid's.
    predictions : ndarray of shape (n_candidates, n, k) or (n_candidates, n)
        Logarithms of probabilities, or targets.
    losses : ndarray of shape (n_candidates, n)
    rows : ndarray of shape (n,)
        Which rows are predicted; with repeated folds some of them several times.
    units : ndarray of shape (n,)
        What is drawn together: the row, or the group, of every prediction, counted from 0.
    logs : bool
        Whether the predictions are logarithms.
    """

    candidates: list[dict[str, Any]]
    predictions: Array
    losses: Array
    rows: Rows
    units: Rows
    logs: bool

    def weights(self, max_members: int, counts: np.ndarray | None = None) -> Array:
        """Weights of the candidates: of all rows, or one row of weights for each draw."""
        drawn = np.ones((1, self.rows.size)) if counts is None else counts.astype(np.float64)
        means = drawn @ self.losses.T / drawn.sum(axis=1)[:, None]
        errors = standard_errors(self.losses[means.argmin(axis=1)], self.units, drawn)
        found = weigh(means, errors, max_members)
        return found[0] if counts is None else found

    def mean(self, weights: Array) -> Array:
        """The committee's probabilities, or targets; for several vectors of weights, one each."""
        mean: Array = np.tensordot(weights, self.predictions, axes=1)
        return from_logs(mean) if self.logs else mean


class PoolBuilder:
    """Collects the predictions of candidates, in bounded memory.

    What is kept depends on the losses only, and not on the order in which candidates come.

    Parameters
    ----------
    rows, units : ndarray of shape (n,)
        As in :class:`Pool`.
    classes : bool
        Whether probabilities are predicted, and not targets.
    """

    def __init__(self, rows: Rows, units: Rows, *, classes: bool) -> None:
        self._rows, self._units, self._classes = rows, units, classes
        self._known: list[tuple[tuple[Any, ...], dict[str, Any], Array, Array]] = []

    def add(self, params: Mapping[str, Any], predictions: Array, losses: Array) -> None:
        """Take the predictions of a candidate; what has no finite loss is no candidate."""
        if not np.isfinite(losses).all():
            return
        place = round(float(losses.mean()), 10), *_order(params)
        if self._classes:
            predictions = log_probabilities(predictions)
        self._known.append((place, dict(params), predictions, losses))
        most = max(_LEAST_KEPT, _BUDGET // (predictions.nbytes + losses.nbytes))
        if len(self._known) > most:
            self._known.remove(max(self._known, key=lambda one: one[0]))

    def pool(self) -> Pool:
        """All that was kept; ValueError if nothing was."""
        if not self._known:
            raise ValueError("No candidate could be evaluated, so that there is no committee.")
        known = sorted(self._known, key=lambda one: one[0])
        _, candidates, predictions, losses = zip(*known, strict=True)
        return Pool(
            list(candidates), np.array(predictions), np.array(losses), self._rows, self._units,
            self._classes,
        )  # fmt: skip


def _order(params: Mapping[str, Any]) -> tuple[Any, ...]:
    """Small numbers first, parameter by parameter; others by their content."""
    numbers = [
        float(value) if isinstance(value, Real) else np.inf for _, value in sorted(params.items())
    ]
    return tuple(numbers), key_of(params)
