"""What workers of a search are given, and what they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..candidates.fit_arguments import FitParams
from ..candidates.leaving import Leaving
from ..candidates.shared_data import SharedData
from ..candidates.training_sets import Split
from ..scoring.kept import Keeping, Kept

__all__ = ["Chain", "Outcome", "Work"]


@dataclass(frozen=True)
class Work:
    """Everything that the candidates of a search share, except the data.

    Attributes
    ----------
    shared : SharedData
        What candidates share in a process; released when the search is over.
    estimator : estimator
    method : str
        One of :data:`spansvm.common.methods.METHODS`.
    scorers : dict or None
        Scorers by name; None for accuracy.
    params : FitParams
    score_params : dict
        Keyword arguments by scorer.
    leaving : Leaving
        Which rows are left out.
    gram_budget : float, str or None
        Replaces that of the machine.
    config : dict
        scikit-learn's configuration, which other threads and processes do not inherit.
    keeping : Keeping or str
        What to keep of every candidate's predictions; or why nothing is.
    train_scores : bool
        Whether training rows are scored as well.
    regression : bool
        Whether targets are predicted, not classes.
    recording : bool
        Whether predictions are kept as they are, and not scored.
    """

    shared: SharedData
    estimator: Any
    method: str
    scorers: Mapping[str, Callable[..., Any]] | None
    params: FitParams
    score_params: Mapping[str, Mapping[str, Any]]
    leaving: Leaving
    gram_budget: float | str | None
    config: Mapping[str, Any]
    keeping: Keeping | str = ""
    train_scores: bool = False
    regression: bool = False
    recording: bool = False

    @property
    def splits(self) -> Sequence[Split]:
        """Folds that are trained one by one; otherwise one None, for all rows."""
        return self.leaving.splits


@dataclass(frozen=True)
class Chain:
    """Candidates that follow each other on one split.

    Attributes
    ----------
    split : int
        Index of the split.
    indices : list of int
        Indices of the candidates.
    candidates : list of dict
        Their parameters.
    transformers, kernel : str
        Keys of their transformers and of their kernel.
    """

    split: int
    indices: list[int]
    candidates: list[Mapping[str, Any]]
    transformers: str
    kernel: str


@dataclass(frozen=True)
class Outcome:
    """The result of a candidate on one split.

    ``exception`` is why it failed, or why a scorer did; ``error`` is the text for the user.
    ``scores`` holds the scores that were computed, ``errors`` their standard errors where rows are
    left out of one model, ``train_scores`` those of the training rows, ``kept`` the predictions
    that are needed again, and ``folds`` the outcomes of single folds if one model predicts them
    all.  ``gap`` is the violation of the KKT conditions if the training stopped early.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    errors: Mapping[str, float] = field(default_factory=dict)
    train_scores: Mapping[str, float] = field(default_factory=dict)
    loo_error: float = np.nan
    hinge: float = np.nan
    n_in_bound: int = 0
    n_bounded: int = 0
    n_empty: int = 0
    converged: bool = False
    gap: float = 0.0
    indefinite: bool = False
    fit_time: float = 0.0
    score_time: float = 0.0
    exception: Exception | None = None
    error: str = ""
    kept: Kept | None = None
    folds: tuple[Outcome, ...] = ()

    @property
    def headline(self) -> float:
        """The first score, for the progress bar."""
        scores = self.folds[0].scores if self.folds else self.scores
        return float(next(iter(scores.values()), np.nan))

    def by_split(self, split: int, leaving: Leaving) -> dict[int, Outcome]:
        """The outcome of its split, or those of all folds that one model was to predict."""
        if leaving.sets is None or leaving.pooled:
            return {split: self}
        return dict(enumerate(self.folds or [self] * leaving.n_splits))
