"""Scores of known predictions without some of the rows: what a jackknife of scores needs."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...common.types import Array, Rows
from .kept import Keeping, keep_responses
from .label_scores import only_errors
from .quickest_scores import Sample, quickest_scores

__all__ = ["scores_without_parts"]


def scores_without_parts(
    scorer: Callable[..., Any], asked: Sequence[Mapping[str, np.ndarray]], y: np.ndarray,
    classes: np.ndarray, parts: Rows, n_parts: int,
) -> Array:  # fmt: skip
    """Scores of several predictions of the same rows.

    Parameters
    ----------
    scorer : callable
        A scikit-learn scorer.
    asked : sequence of dict
        Of every prediction, what the scorer asks for, by method.
    y : ndarray of shape (n,)
    classes : ndarray
        The labels of the classes.
    parts : ndarray of int of shape (n,)
        Which part every row is in.
    n_parts : int

    Returns
    -------
    ndarray of shape (n_predictions, 1 + n_parts)
        First the score of all rows, then those without one part after the other; NaN where there
        is none.
    """
    counts = np.ones((1 + n_parts, y.size), dtype=np.intp)
    counts[1:] = parts != np.arange(n_parts)[:, None]
    keeping = Keeping("", only_errors(scorer, {}, classes), sys.maxsize, np.float64)
    try:
        kept = [keep_responses(own, y, classes, keeping) for own in asked]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sample = Sample(np.arange(y.size), y, None)
            found: Array = quickest_scores(scorer, {}, kept, sample, None)(counts)
    except Exception:  # scorers raise whatever they like
        return np.full((len(asked), 1 + n_parts), np.nan)
    sizes = counts[1:].sum(axis=1)
    found[:, 1:][:, (sizes == 0) | (sizes == y.size)] = np.nan
    return found
