"""The quickest way to the scores of predictions on drawn rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score
from sklearn.metrics._scorer import _BaseScorer

from ...common.types import Array, Rows
from ..candidates.fit_arguments import has_rows, take_rows
from .bootstrap_scores import (
    AnyScorer,
    BootstrapScores,
    ConfusedLabels,
    CountedErrors,
    RowMeans,
)
from .column_scores import ColumnScores, column_score, is_indicator
from .kept import Kept, Replayed, ReplayedLabels, ReplayedValues
from .label_scores import accuracy, count_score, label_score
from .ranked_scores import RankedClasses, RankedValues, area, average_precision
from .target_scores import TargetScores, target_score

__all__ = ["Sample", "asked_by", "quickest_scores"]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows that are predicted, and what scores need to know of them.

    Attributes
    ----------
    rows : ndarray of int
        Among all rows.
    y, X
        All labels and rows.
    """

    rows: Rows
    y: np.ndarray
    X: Any

    @cached_property
    def _found(self) -> tuple[np.ndarray, np.ndarray]:
        return np.unique(self.y, return_inverse=True)

    @property
    def classes(self) -> np.ndarray:
        """The classes of all rows."""
        return self._found[0]

    @cached_property
    def indices(self) -> np.ndarray:
        """The class of each of the rows."""
        return self._found[1][self.rows]

    @cached_property
    def lacks_a_class(self) -> bool:
        """Whether none of the rows is of one of the classes."""
        return not np.bincount(self.indices, minlength=self.classes.size).all()

    @cached_property
    def labels(self) -> np.ndarray:
        """The labels of the rows."""
        return self.y if self._is_all else self.y[self.rows]

    @cached_property
    def points(self) -> Any:
        """The rows themselves."""
        return self.X if self._is_all else take_rows(self.X, self.rows)

    @cached_property
    def _is_all(self) -> bool:
        n = len(self.y)
        return self.rows.size == n and bool((self.rows == np.arange(n)).all())


def asked_by(scorer: Any) -> str | None:
    """What a scorer of scikit-learn asks of a classifier; None for any other function."""
    if not isinstance(scorer, _BaseScorer):
        return None
    methods = scorer._response_method
    return methods if isinstance(methods, str) else methods[0]


def quickest_scores(
    scorer: Any,
    params: Mapping[str, Any],
    kept: Sequence[Kept | None],
    sample: Sample,
    name: Any,
    fitted: Callable[[], Any] | None = None,
) -> BootstrapScores:
    """Scores of candidates on drawn rows, from the predictions that were kept.

    Parameters
    ----------
    scorer : callable or None
        None for accuracy.
    params : dict
        Its keyword arguments; arrays are for all rows.
    kept : sequence of Kept or None
        Predictions of each candidate; None for one that failed.
    sample : Sample
        The rows that are predicted.
    name : str
        Which score it is, if the scorer returns several.
    fitted : callable, optional
        Gives the estimator of a single candidate, for scorers that look at it.
    """
    weight = params.get("sample_weight")
    weight = None if weight is None else np.asarray(weight, dtype=np.float64)[sample.rows]
    responses = [None if own is None else own.responses for own in kept]
    # scikit-learn's scorers do not look at the rows, which may be large.
    known = replace(sample, X=None) if isinstance(scorer, _BaseScorer) else sample
    call = partial(_call, scorer, params, known, name)
    plain = set(params) <= {"sample_weight"}
    if any(own is not None and own.values for own in kept):
        of_targets = target_score(scorer) if plain and sample.y.ndim == 1 else None
        if of_targets is not None:
            target = sample.labels.astype(np.float64)
            return TargetScores(responses, target, weight, *of_targets)
        of_columns = column_score(scorer) if plain and is_indicator(sample.y) else None
        if of_columns is not None:
            return ColumnScores(responses, sample.labels, weight, of_columns)
        asked = set().union(*(own for own in responses if own is not None))
        replay = ReplayedValues if asked <= {"predict"} else ReplayedLabels
        return AnyScorer(responses, replay, call)
    classes, indices = sample.classes, sample.indices
    if any(own is not None and own.wrong is not None for own in kept):
        counted = count_score(scorer, classes)
        assert counted is not None
        bits = [None if own is None else own.wrong for own in kept]
        # Rows may have several labels each, of which accuracy counts errors of all together.
        of_class = indices if counted is not accuracy else np.zeros(sample.rows.size, dtype=np.intp)
        return CountedErrors(bits, of_class, weight, counted)
    if plain:
        ranked = _of_ranks(scorer, responses, classes, indices, weight)
        if ranked is not None:
            return ranked
    of_probabilities = getattr(scorer, "_response_method", None) == "predict_proba"
    if plain and of_probabilities and _computes(scorer, log_loss, -1):
        return RowMeans(responses, partial(_log_probability, indices), weight)
    of_labels = label_score(scorer)
    if plain and of_labels is not None:
        return ConfusedLabels(responses, indices, classes.size, weight, of_labels)
    return AnyScorer(responses, partial(_replayed, classes, fitted), call)


def _replayed(
    classes: np.ndarray, fitted: Callable[[], Any] | None, responses: Mapping[str, np.ndarray],
    rows: Rows,
) -> Replayed:  # fmt: skip
    return Replayed(responses, classes, rows, fitted)


def _of_ranks(
    scorer: Any,
    responses: Sequence[Mapping[str, np.ndarray] | None],
    classes: np.ndarray,
    indices: np.ndarray,
    weight: Array | None,
) -> BootstrapScores | None:
    """A score that follows from the order of values; None if it is none of these.

    `indices` are the classes of the predicted rows.
    """
    function, settings = getattr(scorer, "_score_func", None), dict(getattr(scorer, "_kwargs", {}))
    if getattr(scorer, "_sign", 0) != 1 or function not in (
        roc_auc_score, average_precision_score,
    ):  # fmt: skip
        return None
    several = settings.pop("multi_class", None)
    average = settings.pop("average", "macro")
    if settings:
        return None
    if classes.size == 2:
        # Labels other than 1 would have to be named as the positive class.
        if function is average_precision_score and classes[1] != 1:
            return None
        measure = area if function is roc_auc_score else average_precision
        ranked = [None if own is None else _of_second_class(own) for own in responses]
        return RankedValues(ranked, indices == 1, weight, measure)
    if several not in ("ovr", "ovo") or average not in ("macro", "weighted"):
        return None
    by_pairs = several == "ovo"
    if function is not roc_auc_score or (by_pairs and weight is not None):
        return None
    return RankedClasses(responses, indices, classes.size, weight, by_pairs, average == "weighted")


def _computes(scorer: Any, function: Any, sign: int) -> bool:
    """Whether a scorer computes a function, with this sign and without any settings."""
    return (
        getattr(scorer, "_score_func", None) is function
        and getattr(scorer, "_sign", 0) == sign
        and not scorer._kwargs
    )


def _of_second_class(responses: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The responses by which rows are ranked: of probabilities, those of the second class."""
    return {
        method: values if values.ndim == 1 else values[:, 1] for method, values in responses.items()
    }


def _log_probability(indices: np.ndarray, responses: Mapping[str, np.ndarray]) -> Array:
    """Logarithm of the probability of every row's own class, limited as in scikit-learn."""
    probabilities = responses["predict_proba"].astype(np.float64)
    own = probabilities[np.arange(indices.size), indices] / probabilities.sum(axis=1)
    least = np.finfo(np.float64).eps
    return np.log(np.clip(own, least, 1.0 - least))


def _call(
    scorer: Any, params: Mapping[str, Any], sample: Sample, name: Any,
    predictions: Any, places: Rows,
) -> float:  # fmt: skip
    """The score of replayed predictions.

    scikit-learn's scorers do not look at `X`; the row numbers stand for it.
    """
    own, y = sample.rows[places], sample.y
    given = {
        key: take_rows(value, own) if has_rows(value, len(y)) else value
        for key, value in params.items()
    }
    X = own[:, None] if sample.X is None else take_rows(sample.X, own)
    value = scorer(predictions, X, y[own], **given)
    return float(value[name] if isinstance(value, dict) else value)
