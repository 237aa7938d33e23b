"""Lines of fits in the place of a progress bar, in the form in which GridSearchCV prints them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from joblib.logger import short_format_time

from .work import Outcome

__all__ = ["FIRST_LEVEL", "FitLines"]

#: From which level of `verbose` on every fit has a line; from the others on it has its score and
#: its fold, and the number of its candidate.
FIRST_LEVEL, _SCORES, _NUMBERS = 2, 3, 10

#: Columns of a line.
_WIDTH = 80


class FitLines:
    """Prints a line for every fit.

    Parameters
    ----------
    verbose : int
        Below 2 there are none.
    n_candidates, n_splits : int
    error_score : "raise" or float
        The score of a fit that failed.
    """

    def __init__(self, verbose: int, n_candidates: int, n_splits: int, error_score: Any) -> None:
        self._verbose, self._n_candidates, self._n_splits = verbose, n_candidates, n_splits
        self._failed = np.nan if error_score == "raise" else float(error_score)
        if verbose >= FIRST_LEVEL:
            print(
                f"Fitting {n_splits} folds for each of {n_candidates} candidates, totalling "
                f"{n_candidates * n_splits} fits"
            )

    def tell(self, index: int, params: Mapping[str, Any], outcomes: Mapping[int, Outcome]) -> None:
        """Print the line of a candidate on every split of which the outcome is known."""
        if self._verbose < FIRST_LEVEL:
            return
        setting = ", ".join(f"{name}={params[name]}" for name in sorted(params))
        for split, outcome in outcomes.items():
            place = ""
            if self._verbose >= _SCORES:
                place = f" {split + 1}/{self._n_splits}"
            if self._verbose >= _NUMBERS:
                place += f"; {index + 1}/{self._n_candidates}"
            seconds = short_format_time(outcome.fit_time + outcome.score_time)
            scores = self._scores(outcome) if self._verbose >= _SCORES else ""
            start = f"[CV{place}] END "
            told = f"{setting}{';' if setting else ''}{scores} total time={seconds}"
            print(start + told.rjust(_WIDTH - len(start), "."))

    def _scores(self, outcome: Outcome) -> str:
        test, train = outcome.scores or {"score": self._failed}, outcome.train_scores
        if list(test) == ["score"]:
            shown = f"{test['score']:.3f}"
            return (
                f", score=(train={train['score']:.3f}, test={shown})"
                if train
                else (f", score={shown}")
            )
        told = ""
        for name in sorted(test):
            of_training = f"train={train[name]:.3f}, " if name in train else ""
            told += f" {name}: ({of_training}test={test[name]:.3f})"
        return told
