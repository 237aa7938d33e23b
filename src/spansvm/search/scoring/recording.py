"""Scorers that keep the predictions they score, of estimators that are fitted elsewhere.

scikit-learn's searches fit and score in workers and return scores alone.  A recording scorer
returns a :class:`Score`: a number that brings its predictions with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics._scorer import _MultimetricScorer

from ...common.validation import n_rows
from .kept import Keeping, Kept, keep_errors, keep_responses, keep_values

__all__ = ["Notes", "Score", "recording"]

#: Methods of an estimator that predict.
_PREDICTING = ("predict", "decision_function", "predict_proba", "predict_log_proba")


class Score(float):
    """A score, and what was kept of the predictions that it is computed from."""

    kept: Kept | None = None


@dataclass(frozen=True, eq=False)
class Notes:
    """What recording scorers keep.

    Attributes
    ----------
    keeping : Keeping
    name : str
        Which of several scores candidates are selected by.
    methods : tuple of str
        Of these, the scorer that computes it asks the first that the estimator has; empty if that
        is not known.
    classes : ndarray or None
        Labels of all classes; None if the estimator does not predict one label per row.
    """

    keeping: Keeping
    name: str
    methods: tuple[str, ...]
    classes: np.ndarray | None

    def scored(
        self, scorer: Callable[..., Any], estimator: Any, X: Any, y: Any, params: Mapping[str, Any]
    ) -> Any:
        """What a scorer returns, with the predictions in the score to select by."""
        asked: dict[str, np.ndarray] = {}
        with _noting(estimator, n_rows(X), asked):
            value = (
                scorer(estimator, X, **params) if y is None else scorer(estimator, X, y, **params)
            )
        own = value.get(self.name) if isinstance(value, dict) else value
        if not isinstance(own, Real) or y is None:
            return value
        score = Score(own)
        score.kept = self._keep(asked, y)
        return {**value, self.name: score} if isinstance(value, dict) else score

    def _keep(self, asked: Mapping[str, np.ndarray], y: Any) -> Kept | None:
        first = next((method for method in self.methods if method in asked), None)
        used = {method: asked[method] for method in ([first] if first else asked)}
        labels = used.get("predict")
        if self.classes is None:
            if self.keeping.only_errors and labels is not None:
                return _keep_rows_with_errors(labels, y, self.keeping)
            return keep_values(used, self.keeping)
        if labels is None and self.keeping.only_errors:
            return Kept()
        if labels is not None and not np.isin(labels, self.classes).all():
            return Kept()
        return keep_responses(used, np.asarray(y), self.classes, self.keeping)


def _keep_rows_with_errors(labels: np.ndarray, y: Any, keeping: Keeping) -> Kept | None:
    """Which rows have an error in any of their columns."""
    truth = _dense(y)
    if truth.shape != labels.shape:
        return Kept()
    return keep_errors((labels != truth).reshape(len(labels), -1).any(axis=1), keeping)


def _dense(values: Any) -> np.ndarray:
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def recording(scorer: Callable[..., Any], notes: Notes) -> Callable[..., Any]:
    """The scorer of a search of scikit-learn, one or several, that keeps predictions."""
    if isinstance(scorer, _MultimetricScorer):
        return _RecordingSeveral(scorer, notes)
    return _RecordingOne(scorer, notes)


class _RecordingOne:
    """A scorer that keeps predictions; in all else the scorer itself."""

    def __init__(self, scorer: Callable[..., Any], notes: Notes) -> None:
        self.__wrapped__ = self._scorer = scorer  # the first is where signatures are read from
        self._notes = notes

    def __call__(self, estimator: Any, X: Any, y: Any = None, **params: Any) -> Any:
        return self._notes.scored(self._scorer, estimator, X, y, params)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_scorer", "_notes"):  # not yet there when unpickled
            raise AttributeError(name)
        return getattr(self._scorer, name)

    def __repr__(self) -> str:
        return repr(self._scorer)


class _RecordingSeveral(_MultimetricScorer):
    """Several scorers that keep the predictions of one of them."""

    def __init__(self, scorer: Any, notes: Notes) -> None:
        super().__init__(scorers=scorer._scorers, raise_exc=scorer._raise_exc)
        self._notes = notes

    def __call__(self, estimator: Any, X: Any, y: Any = None, **params: Any) -> Any:
        return self._notes.scored(super().__call__, estimator, X, y, params)


@contextmanager
def _noting(estimator: Any, n: int, asked: dict[str, np.ndarray]) -> Iterator[None]:
    """Within the block, predictions of `n` rows by the estimator, or its last step, are noted.

    Only those that are asked for from outside are: many methods call another one.
    """
    depth = [0]

    def noting(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def noted(*args: Any, **params: Any) -> Any:
            depth[0] += 1
            try:
                values = method(*args, **params)
            finally:
                depth[0] -= 1
            if depth[0] == 0 and hasattr(values, "shape") and values.shape[:1] == (n,):
                asked[name] = _dense(values)
            return values

        return noted

    before: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for one in _predicting(estimator):
        own = vars(one)
        before.append((own, dict(own)))
        own.update(
            {name: noting(name, getattr(one, name)) for name in _PREDICTING if hasattr(one, name)}
        )
    try:
        yield
    finally:
        for own, saved in before:
            for name in _PREDICTING:
                own.pop(name, None)
                if name in saved:
                    own[name] = saved[name]


def _predicting(estimator: Any) -> Iterator[Any]:
    """The estimator, and those to which its score may go without one of its own predictions."""
    while hasattr(estimator, "__dict__"):
        yield estimator
        steps = getattr(estimator, "steps", None)
        estimator = steps[-1][1] if steps else getattr(estimator, "best_estimator_", None)
