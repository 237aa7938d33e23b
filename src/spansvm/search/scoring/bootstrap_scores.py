"""Scores of all candidates on drawn rows, from the predictions that were kept.

Rows are drawn by counts: how often each prediction is drawn.  :class:`CountedErrors` multiplies the
counts by the errors of all candidates, in blocks of bounded memory; :class:`RowMeans` by any other
values of rows whose mean is the score, and :class:`ConfusedLabels` by the cells of the confusion
matrix that rows are in.  Scores of ranks are in :mod:`spansvm.search.scoring.ranked_scores`.
:class:`AnyScorer` calls the scorer itself, once for every draw and different candidate.
"""

from __future__ import annotations

import hashlib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from ...common.types import Array, Mask, Rows
from .label_scores import CountScore, LabelScore

__all__ = [
    "AnyScorer",
    "BootstrapScores",
    "ConfusedLabels",
    "CountedErrors",
    "EachCandidate",
    "RowMeans",
    "of_mean",
]

#: By which share of the smallest cell weights change to find slopes.
_STEP = 1e-4

#: Numbers in a block of a matrix: 8 MiB.
BLOCK = 2**20


class BootstrapScores(Protocol):
    """Scores of candidates on drawn rows.

    Attributes
    ----------
    n_candidates : int
    most_draws : int
        How many draws are affordable.
    per_draw : int
        How many numbers are computed for each draw.
    limits : (float, float)
        Scores are between these.
    """

    n_candidates: int
    per_draw: int
    limits: tuple[float, float]

    @property
    def most_draws(self) -> int:
        """How many draws are affordable."""
        ...

    def __call__(self, counts: np.ndarray, wanted: Mask | None = None) -> Array:
        """Scores of shape (n_candidates, n_draws), of at least the wanted ones; NaN for none.

        `counts`, of shape (n_draws, n), holds how often each prediction is drawn.
        """
        ...

    def contributions(self) -> Array | None:
        """How much each row changes the score of the first candidate; None if not known."""
        ...


class CountedErrors:
    """Scores that follow from the numbers of misclassified rows of each class.

    Parameters
    ----------
    wrong : sequence of (ndarray of uint8, or None)
        The bits of every candidate, eight predictions to a byte; None for a candidate that failed.
    of_class : ndarray of shape (n,)
        The class of every prediction.
    weight : ndarray of shape (n,), optional
        Of every prediction in the score.
    score : CountScore
    """

    most_draws, limits = 10**9, (0.0, 1.0)

    def __init__(
        self,
        wrong: Sequence[np.ndarray | None],
        of_class: np.ndarray,
        weight: Array | None,
        score: CountScore,
    ) -> None:
        self.n_candidates, self._score, self._weight = len(wrong), score, weight
        self._known = np.array([bits is not None for bits in wrong])
        self._places = [np.flatnonzero(of_class == one) for one in np.unique(of_class)]
        self.per_draw = self.n_candidates * len(self._places)
        shape = [(int(self._known.sum()), -(-places.size // 8)) for places in self._places]
        self._bits = [np.empty(size, dtype=np.uint8) for size in shape]
        known = (bits for bits in wrong if bits is not None)
        for candidate, bits in enumerate(known):
            every = np.unpackbits(bits, count=of_class.size)
            for own, places in zip(self._bits, self._places, strict=True):
                own[candidate] = np.packbits(every[places])

    def __call__(self, counts: np.ndarray, wanted: Mask | None = None) -> Array:
        """Scores of all candidates on drawn rows."""
        # Sums of whole numbers are exact in single precision up to 2^24, in any order.
        whole = self._weight is None and counts.shape[1] < 2**20
        dtype: Any = np.float32 if whole else np.float64
        n_known = int(self._known.sum())
        rows = np.zeros((counts.shape[0], len(self._places)))
        wrong = np.zeros((n_known, counts.shape[0], len(self._places)))
        step = 8 * max(1, BLOCK // (8 * max(n_known, counts.shape[0], 1)))
        for one, (bits, places) in enumerate(zip(self._bits, self._places, strict=True)):
            for start in range(0, places.size, step):
                part = places[start : start + step]
                drawn: Any = counts[:, part].astype(dtype)
                if self._weight is not None:
                    drawn *= self._weight[part]
                errors = np.unpackbits(
                    bits[:, start // 8 : (start + step) // 8], axis=1, count=part.size
                )
                rows[:, one] += drawn.sum(axis=1)
                wrong[:, :, one] += errors.astype(dtype) @ drawn.T
        result = np.full((self.n_candidates, counts.shape[0]), np.nan)
        result[self._known] = self._score(rows, wrong)
        return result

    def contributions(self) -> Array | None:
        """By the class that each row is of, and whether it is misclassified."""
        n = sum(places.size for places in self._places)
        cells = np.empty(n, dtype=np.intp)
        for one, (bits, places) in enumerate(zip(self._bits, self._places, strict=True)):
            cells[places] = 2 * one + np.unpackbits(bits[0], count=places.size)
        return of_cells(self._of_cells, cells, 2 * len(self._places), self._weight)

    def _of_cells(self, weights: Array) -> Array:
        """Scores from the weights of the right and the wrong rows of each class in turn."""
        right, wrong = weights[:, ::2], weights[:, 1::2]
        return self._score(right + wrong, wrong)


def of_mean(values: Array, weight: Array | None) -> Array:
    """How much each row changes a mean."""
    weight = np.ones(values.size) if weight is None else weight
    total = weight.sum()
    return weight * (values - (weight @ values) / total) / total


def of_cells(
    score: Callable[[Array], Array], cells: Rows, n_cells: int, weight: Array | None
) -> Array:
    """How much each row changes a score that depends on the weights of the rows in some cells.

    Parameters
    ----------
    score : callable
        From weights of shape (n, n_cells) to n scores.
    cells : ndarray of int of shape (n_rows,)
        The cell of every row.
    n_cells : int
    weight : ndarray of shape (n_rows,), optional
    """
    weight = np.ones(cells.size) if weight is None else weight
    totals = np.bincount(cells, weight, n_cells)
    some = np.flatnonzero(totals > 0)
    step = _STEP * totals[some].min()
    steps = np.zeros((some.size, n_cells))
    steps[np.arange(some.size), some] = step
    slopes = np.zeros(n_cells)
    slopes[some] = (score(totals + steps) - score(totals - steps)) / (2.0 * step)
    return weight * slopes[cells]


class EachCandidate(ABC):
    """Scores of one candidate after the other; candidates with equal predictions only once.

    Parameters
    ----------
    responses : sequence of (dict of str to ndarray, or None)
        What was kept of every candidate; None for a candidate that failed.
    """

    #: How many scores are computed at most, unless that would be too few draws.
    _most_scores, _fewest_draws = 200_000, 20

    limits = (0.0, 1.0)

    def __init__(self, responses: Sequence[Mapping[str, np.ndarray] | None]) -> None:
        self.n_candidates = self.per_draw = len(responses)
        self._alike: dict[bytes, list[int]] = {}
        self._responses = responses
        for candidate, own in enumerate(responses):
            if own is not None and len(responses) == 1:
                self._alike[b""] = [candidate]
            elif own is not None:
                digest = hashlib.sha256()
                for method in sorted(own):
                    digest.update(own[method].tobytes())
                self._alike.setdefault(digest.digest(), []).append(candidate)

    @property
    def most_draws(self) -> int:
        """How many draws are affordable."""
        return max(self._most_scores // max(len(self._alike), 1), self._fewest_draws)

    def __call__(self, counts: np.ndarray, wanted: Mask | None = None) -> Array:
        """Scores of the wanted candidates on drawn rows."""
        result = np.full((self.n_candidates, counts.shape[0]), np.nan)
        for candidates in self._alike.values():
            draws = np.arange(counts.shape[0])
            if wanted is not None:
                draws = np.flatnonzero(wanted[candidates].any(axis=0))
            own = self._responses[candidates[0]]
            if draws.size and own is not None:
                result[np.ix_(np.array(candidates), draws)] = self._scores(own, counts[draws])
        return result

    def contributions(self) -> Array | None:
        """How much each row changes the score of the first candidate; None if not known."""
        return None

    @abstractmethod
    def _scores(self, own: Mapping[str, np.ndarray], counts: np.ndarray) -> Array:
        """Scores of a candidate's responses, one for each draw."""


class RowMeans(EachCandidate):
    """Scores that are the mean of a value of each row, such as the log loss.

    Parameters
    ----------
    responses : sequence of (dict of str to ndarray, or None)
    value : callable
        From the responses of a candidate to the values of the rows.
    weight : ndarray of shape (n,), optional
        Of every row in the score.
    """

    limits = (-np.inf, np.inf)

    def __init__(
        self,
        responses: Sequence[Mapping[str, np.ndarray] | None],
        value: Callable[[Mapping[str, np.ndarray]], Array],
        weight: Array | None,
    ) -> None:
        super().__init__(responses)
        self._value, self._weight = value, weight

    def contributions(self) -> Array | None:
        """Those to the mean."""
        own = self._responses[0]
        return None if own is None else of_mean(self._value(own), self._weight)

    def _scores(self, own: Mapping[str, np.ndarray], counts: np.ndarray) -> Array:
        weight = np.ones(counts.shape[1]) if self._weight is None else self._weight
        rows = counts @ weight
        total = counts @ (weight * self._value(own))
        return np.where(rows > 0, total / np.where(rows > 0, rows, 1.0), np.nan)


class ConfusedLabels(EachCandidate):
    """Scores that follow from the confusion matrix.

    Parameters
    ----------
    responses : sequence of (dict of str to ndarray, or None)
    indices : ndarray of shape (n,)
        The true class of every row.
    n_classes : int
    weight : ndarray of shape (n,), optional
        Of every row in the score.
    score : LabelScore
    """

    limits = (-1.0, 1.0)

    def __init__(
        self,
        responses: Sequence[Mapping[str, np.ndarray] | None],
        indices: np.ndarray,
        n_classes: int,
        weight: Array | None,
        score: LabelScore,
    ) -> None:
        super().__init__(responses)
        self._indices, self._n_classes, self._score = indices, n_classes, score
        self._weight = np.ones(indices.size) if weight is None else weight

    def contributions(self) -> Array | None:
        """By the true class of each row, and that which is predicted."""
        own, k = self._responses[0], self._n_classes
        if own is None:
            return None
        cells = self._indices * k + own["predict"]
        return of_cells(lambda m: self._score(m.reshape(-1, k, k)), cells, k * k, self._weight)

    def _scores(self, own: Mapping[str, np.ndarray], counts: np.ndarray) -> Array:
        n, k = self._indices.size, self._n_classes
        cells = self._indices * k + own["predict"]
        if counts.shape[0] == 1:
            totals: Array = np.bincount(cells, self._weight * counts[0], k * k)  # type: ignore[assignment]
            return np.where(counts.any(axis=1), self._score(totals.reshape(1, k, k)), np.nan)
        places = sparse.csr_matrix((self._weight, cells, np.arange(n + 1)), shape=(n, k * k))
        # A product with a sparse matrix on the left is a dense one.
        matrices = (places.T @ counts.T.astype(np.float64)).T.reshape(-1, k, k)
        scores = self._score(matrices)
        return np.where(counts.any(axis=1), scores, np.nan)


class AnyScorer(EachCandidate):
    """Scores by the scorer itself.

    Parameters
    ----------
    responses : sequence of (dict of str to ndarray, or None)
    replay : callable
        From responses and places to an estimator that predicts them.
    score : callable
        From that estimator and the places that it predicts to a score.
    """

    _most_scores, limits = 5_000, (-np.inf, np.inf)

    def __init__(
        self,
        responses: Sequence[Mapping[str, np.ndarray] | None],
        replay: Callable[[Mapping[str, np.ndarray], Rows], Any],
        score: Callable[[Any, Rows], float],
    ) -> None:
        super().__init__(responses)
        self._replay, self._score = replay, score

    def _scores(self, own: Mapping[str, np.ndarray], counts: np.ndarray) -> Array:
        result = np.full(counts.shape[0], np.nan)
        for draw, times in enumerate(counts):
            places = np.repeat(np.arange(times.size), times)
            with warnings.catch_warnings():
                # Some draws lack a class, of which scorers warn.
                warnings.simplefilter("ignore")
                try:
                    result[draw] = self._score(self._replay(own, places), places)
                except Exception:  # no score, as where a scorer fails in the search
                    continue
        return result
