"""One machine per pair of classes: training and decision values."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from typing import Any

import numpy as np

from ..common.pairs import PairRows, labels
from ..common.types import Array, Mask, Rows
from ..core.votes import Votes
from ..kernels.expansion import Expansion
from ..kernels.functions import Kernel
from ..kernels.pair_grams import Grams
from ..machine.criteria import SolvedModel
from ..machine.doubt import Prediction
from ..machine.dual import DualSolution
from .path import Models, Solutions, Trainer
from .together import trainer_of

__all__ = ["Machines", "PairPaths", "TrainedMachines", "from_kernel"]

#: How many pairs a class takes part in until a row's votes are decided, roughly; the time of a term
#: in a matrix product, relative to that of one found by its index; and that of the calls for it.
_VOTES, _PRODUCT, _CALLS = 3.0, 0.125, 1e5

#: With more than this share of the rows, values of all are quicker than a copy of some.
_MOST = 0.6

#: Number of kernel values held at a time.
_BLOCK_NUMBERS = 8_000_000


class PairPaths:
    """Machines of all pairs for a sequence of weight vectors, each started from the last."""

    def __init__(self, grams: Grams) -> None:
        self.grams = grams
        self._trainers: dict[int, Trainer] = {}  # by their limits on iterations

    def train(self, bounds: Array, *, tol: float, max_iter: int = -1) -> Models:
        """Train the machines of all pairs of classes; see :meth:`train_each`."""
        return next(self.train_each([bounds], tol=tol, max_iter=max_iter))

    def train_each(
        self,
        weights: Sequence[Array],
        *,
        tol: float,
        max_iter: int = -1,
        spans: bool = True,
        drops: bool = False,
        values: bool = False,
    ) -> Iterator[Models]:
        """Train the machines of all pairs of classes for one weight vector after the other.

        Parameters
        ----------
        weights : list of ndarray of shape (l,)
            ``C_i`` of every instance.
        tol, max_iter
            As in :class:`~spansvm.SpanSVC`.
        spans : bool, default=True
            Whether left-out values will be needed.
        drops : bool, default=False
            Whether they will be verified.
        values : bool, default=False
            Whether their size will matter, and not only their signs.
        """
        tol = float(tol)  # compiled code takes no other numbers
        trainer, row = self._trainer(max_iter), self.grams.pair_rows.row
        for start in range(0, len(weights), trainer.at_once):
            begin = time.perf_counter()
            part = np.array([own[row] for own in weights[start : start + trainer.at_once]])
            several = trainer.steps(part, tol=tol, spans=spans, drops=drops, values=values)
            seconds = (time.perf_counter() - begin) / len(several)
            yield from (self._marked(models, seconds) for models in several)

    def at_once(self, max_iter: int = -1) -> int:
        """The number of weight vectors that are trained in one go."""
        return self._trainer(max_iter).at_once

    def _marked(self, models: Models, seconds: float) -> Models:
        models.seconds = seconds
        if self.grams.indefinite or models.indefinite:
            models.set_indefinite()
        return models

    def _trainer(self, max_iter: int) -> Trainer:
        if max_iter not in self._trainers:
            limit = None if max_iter == -1 else max_iter
            self._trainers[max_iter] = trainer_of(self.grams, limit)
        return self._trainers[max_iter]


class Machines(Expansion):
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

    def holding_grams(self) -> AbstractContextManager[None]:
        """Without training rows there is nothing to hold."""
        return nullcontext()


class TrainedMachines(Machines):
    """Machines with their training rows and solutions; the rest is computed on demand.

    Parameters
    ----------
    X, kernel
        Training rows and the kernel.
    pair_rows : PairRows
        The classes of the rows, and the rows of every pair of classes.
    bounds : ndarray of shape (l,)
        ``C_i`` of every instance.
    found : Models
        What :class:`PairPaths` found.
    budget : float or str, optional
        Memory for Gram matrices.
    grams : Grams, optional
        If given, it is kept with the models, and leave-one-out values need not recompute it.
    """

    def __init__(
        self,
        X: Any,
        pair_rows: PairRows,
        kernel: Kernel,
        bounds: Array,
        found: Models,
        budget: float | str | None = None,
        grams: Grams | None = None,
    ) -> None:
        self.X, self.pair_rows, self.kernel, self.bounds = X, pair_rows, kernel, bounds
        self.indices, self.n_classes = pair_rows.indices, pair_rows.n_classes
        self._budget, self._grams, self._holders = budget, grams, 0
        self._models = None if grams is None else found
        self._held: Models | None = None
        # Matrices and factors may be large.
        self.found: Solutions = found if grams is not None else found.without_matrices()

    @cached_property
    def solutions(self) -> list[DualSolution]:
        """The solution of every pair."""
        return self.found.solutions

    @cached_property
    def _signed(self) -> Array:
        """Signed multipliers of every row in its k - 1 pairs, positive for the second class."""
        return self.found.signed[self.pair_rows.by_row]

    @cached_property
    def support(self) -> np.ndarray:  # type: ignore[override]
        """Rows that are support vectors of any pair, class by class."""
        order = self.pair_rows.class_by_class
        return order[self._signed[order].any(axis=1)].astype(np.int32)

    @cached_property
    def vectors(self) -> Any:
        """The support vectors; empty if the kernel is precomputed."""
        return np.empty((0, 0)) if self.kernel.precomputed else self.X[self.support]

    @cached_property
    def coefficients(self) -> Array:  # type: ignore[override]
        """Signed multipliers of the support vectors, one column per pair."""
        result = np.zeros((self.support.size, self.intercepts.size))
        columns = np.array(self.pair_rows.columns)[self.indices[self.support]]
        np.put_along_axis(result, columns, self._signed[self.support], axis=1)
        return result

    @cached_property
    def intercepts(self) -> Array:  # type: ignore[override]
        """The intercept of each pair."""
        return self.found.intercepts

    @cached_property
    def unfixed(self) -> Mask:
        """Which pairs have no in-bound vector: their intercept is the middle of an interval."""
        alpha, rows = np.abs(self.found.signed), self.pair_rows
        inside = (alpha > 0.0) & (alpha < self.bounds[rows.row])
        return ~np.logical_or.reduceat(inside, rows.starts[:-1])

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
        grams = Grams(self.kernel, self.X, self.indices, self._budget, self.pair_rows)
        self._grams = grams if self._holders else None
        return grams

    @contextmanager
    def holding_grams(self) -> Iterator[None]:
        """Within this context, Gram matrices and models that are not kept are computed once."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if not self._holders:
                self._held = None
                if self._models is None:
                    self._grams = None

    def known(self) -> Models:
        """The machines with their Gram matrices; rebuilt unless kept."""
        found = self._models or self._held
        if found is None:
            found = Models(list(map(SolvedModel, self.grams().of_pairs, self.solutions)))
            self._held = found if self._holders else None
        return found

    def model(self, pair: int) -> SolvedModel:
        """The machine of one pair with its Gram matrix; rebuilt unless kept."""
        return self.known().model(pair)

    def prediction(self, pair: int) -> Prediction | None:
        """What the span predicts for the rows of one pair, if that was found in training."""
        return self.known().prediction(pair)

    def models(self) -> list[SolvedModel]:
        """The machine of every pair with its Gram matrix; rebuilt unless kept."""
        return self.known().models

    def left_out_by_span(self) -> Array:
        """Left-out values (Theorem 2) of the rows of all pairs, one after the other."""
        return self.known().left_out

    def of_rows(self, rows: Rows, own: Array) -> Array:
        """Values of all pairs for some training rows.

        `own` are the values of the rows of all pairs, one after the other.  A pair has not seen the
        rows of other classes: for these its plain value is used.
        """
        pair_rows = self.pair_rows
        values = np.empty((rows.size, self.intercepts.size))
        if self.n_classes > 2:
            whole, places = self.grams().whole, pair_rows.place[rows]
            held = whole.values if whole.dtype == np.float64 else None
            if held is not None and rows.size > _MOST * len(whole):
                values = self.from_kernel(held)[places]  # the matrix is symmetric
            else:
                step = max(1, _BLOCK_NUMBERS // len(whole))
                for start in range(0, rows.size, step):
                    part = whole.whole_rows(places[start : start + step])
                    values[start : start + step] = self.from_kernel(part.T)
        columns = np.array(pair_rows.columns)[self.indices[rows]]
        np.put_along_axis(values, columns, own[pair_rows.by_row[rows]], axis=1)
        return values

    def predicted(self, rows: Rows, own: Array, break_ties: bool) -> np.ndarray:
        """The class that wins the most pairs, for some rows; `own` as in :meth:`of_rows`."""
        return self.predicted_each(rows, [own], break_ties)[0]

    def predicted_each(
        self, rows: Rows, each: Sequence[Array], break_ties: bool = False
    ) -> list[np.ndarray]:
        """The same for several `own`.

        Where ties are broken by the values, all of these are computed; and where there are many
        support vectors, since that is then quicker.
        """
        whole, signed = self.grams().whole, self.found.signed
        of_one = _VOTES * self.n_classes * np.count_nonzero(signed) / self.intercepts.size
        of_all = len(whole) * (1.0 + _PRODUCT * self.n_classes)
        many = rows.size * (of_one - of_all) > _CALLS
        if not (break_ties or many or whole.values is None):
            return [self.by_votes(rows, own) for own in each]
        values, found = self.of_rows(rows, each[0]), []
        columns = np.array(self.pair_rows.columns)[self.indices[rows]]
        for own in each:
            np.put_along_axis(values, columns, own[self.pair_rows.by_row[rows]], axis=1)
            found.append(labels(values, np.arange(self.n_classes), break_ties))
        return found

    def by_votes(self, rows: Rows, own: Array) -> np.ndarray:
        """The same, with no more values than are needed; the Gram matrix should be held."""
        pair_rows = self.pair_rows
        return self._votes.count(
            self.grams().whole.held().values, pair_rows.place[rows], self.indices[rows],
            own[pair_rows.by_row[rows]],
        )  # fmt: skip

    @cached_property
    def _votes(self) -> Votes:
        rows = self.pair_rows
        return Votes(
            np.array(rows.columns), rows.pair_of, rows.starts, rows.place[rows.row],
            self.found.signed, self.intercepts,
        )  # fmt: skip

    def of_all_rows(self, own: Array) -> Array:
        """:meth:`of_rows` for all training rows."""
        return self.of_rows(np.arange(self.indices.size), own)

    def from_kernel(self, values: Array) -> Array:
        """Values of all pairs for some rows, from the kernel values of the training rows with them.

        `values` has a column for each of the rows.  With more than two classes, the training rows
        are class by class: a support vector takes part only in the pairs of its class.
        """
        return from_kernel([self], values)[0]


def from_kernel(several: Sequence[TrainedMachines], values: Array) -> Array:
    """:meth:`TrainedMachines.from_kernel` of several machines with the same training rows.

    One product of matrices for all; the result has shape (n_machines, n_rows, n_pairs).
    """
    rows, count, n = several[0].pair_rows, len(several), values.shape[1]
    signed = np.stack([own._signed for own in several], axis=1)
    intercepts = np.stack([own.intercepts for own in several])
    if rows.n_classes == 2:
        return (signed[:, :, 0].T @ values + intercepts)[:, :, None]
    result = np.repeat(intercepts.T[:, :, None], n, axis=2)
    supports: Mask = np.any(signed, axis=(1, 2))
    end = 0
    for members, columns in zip(rows.members, rows.columns, strict=True):
        end += members.size
        block, weights, used = values[end - members.size : end], signed[members], supports[members]
        if 2 * np.count_nonzero(used) < members.size:
            block, weights = block[used], weights[used]
        weights = weights.transpose(2, 1, 0).reshape(-1, block.shape[0])
        result[columns] += (weights @ block).reshape(columns.size, count, n)
    return result.transpose(1, 2, 0)
