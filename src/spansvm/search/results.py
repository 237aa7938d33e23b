"""The table of a search, in GridSearchCV's layout, and what failed."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

from ..common.types import Array
from ..machine.dual import advice_on_stops
from .candidates.leaving import Leaving
from .evaluation.work import Outcome

__all__ = ["report_early_stops", "report_failures", "results_table", "score_names"]


def results_table(
    candidates: Sequence[Mapping[str, Any]],
    outcomes: Sequence[Mapping[int, Outcome]],
    names: Sequence[str],
    leaving: Leaving,
    error_score: float,
    *,
    train: bool = False,
) -> dict[str, Any]:
    """``cv_results_`` of a search, one row per candidate.

    Parameters
    ----------
    candidates, outcomes
        Parameters, and their outcome on each split.  After an interrupted search some outcomes
        are missing, and means are over the others.  A candidate without any was not evaluated: its
        scores and times are NaN, and its rank is the last.
    names : sequence of str
        Names of the scores; ``["score"]`` if there is only one.
    leaving : Leaving
        What was left out.
    error_score : float
        Score of failed fits.
    train : bool, default=False
        Whether there are scores of training rows.
    """
    table: dict[str, Any] = {}
    n_splits = leaving.n_splits
    unknown = dict.fromkeys(names, np.nan)
    waiting = Outcome(unknown, {}, unknown, fit_time=np.nan, score_time=np.nan)
    outcomes = [own or dict.fromkeys(range(n_splits), waiting) for own in outcomes]

    def numbers(name: str) -> Array:
        """One number per outcome; for missing ones the mean of the others."""
        rows = []
        for own in outcomes:
            found = [float(getattr(outcome, name)) for outcome in own.values()]
            mean = sum(found) / len(found)
            rows.append(found + [mean] * (n_splits - len(found)))
        return np.array(rows)

    for kind in ("fit", "score"):
        times = numbers(f"{kind}_time")
        table[f"mean_{kind}_time"] = times.mean(axis=1)
        table[f"std_{kind}_time"] = times.std(axis=1)
    for name in sorted(set().union(*candidates)):
        table[f"param_{name}"] = _parameter_column(name, candidates)
    table["params"] = [dict(params) for params in candidates]
    for name in names:
        mean = _put_scores(table, "test", name, outcomes, n_splits, error_score)
        if leaving.one_sample:  # there is no spread between folds
            table[f"std_test_{name}"] = np.array(
                [own[0].errors.get(name, np.nan) for own in outcomes]
            )
        # With folds as in GridSearchCV, to the last digit; otherwise rounding must not decide.
        table[f"rank_test_{name}"] = _ranks(mean if n_splits > 1 else np.round(mean, 10))
        if train:
            _put_scores(table, "train", name, outcomes, n_splits, error_score)
    table["loo_error"] = numbers("loo_error").mean(axis=1)
    table["loo_hinge"] = _known_mean(numbers("hinge"))
    for name in ("n_in_bound", "n_bounded", "n_empty"):
        mean = numbers(name).mean(axis=1)
        table[name] = mean if n_splits > 1 else mean.astype(np.intp)
    table["converged"] = numbers("converged").all(axis=1)
    return table


def score_names(outcomes: Sequence[Mapping[int, Outcome]]) -> list[str]:
    """The names of the scores that outcomes have."""
    every = (outcome for own in outcomes for outcome in own.values())
    return list(dict.fromkeys(name for outcome in every for name in outcome.scores))


def _put_scores(
    table: dict[str, Any],
    kind: str,
    name: str,
    outcomes: Sequence[Mapping[int, Outcome]],
    n_splits: int,
    error_score: float,
) -> Array:
    """Put a score of every split into the table, with means and deviations; return the means."""
    splits = np.full((len(outcomes), n_splits), np.nan)
    for row, own in enumerate(outcomes):
        for k, outcome in own.items():
            scores = outcome.scores if kind == "test" else outcome.train_scores
            splits[row, k] = scores.get(name, error_score)
    for k in range(n_splits):
        table[f"split{k}_{kind}_{name}"] = splits[:, k]
    mean, spread = splits.mean(axis=1), splits.std(axis=1)
    for row, own in enumerate(outcomes):
        if len(own) < n_splits:  # the search did not get to the others
            known = splits[row, sorted(own)]
            mean[row], spread[row] = known.mean(), known.std()
    table[f"mean_{kind}_{name}"], table[f"std_{kind}_{name}"] = mean, spread
    return mean


def _known_mean(rows: Array) -> Array:
    """Mean of the values in each row that are not NaN; NaN if all are."""
    known = ~np.isnan(rows)
    total = np.where(known, rows, 0.0).sum(axis=1)
    return np.where(known.any(axis=1), total / np.maximum(known.sum(axis=1), 1), np.nan)


def _parameter_column(name: str, candidates: Sequence[Mapping[str, Any]]) -> np.ma.MaskedArray:
    """Values of a parameter; masked where a candidate does not have it, as in GridSearchCV."""
    values = [params[name] for params in candidates if name in params]
    dtype: Any = object
    if all(isinstance(value, (bool, np.bool_)) for value in values):
        dtype = np.bool_
    elif all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        dtype = np.result_type(*(np.asarray(value).dtype for value in values))
    column = np.ma.MaskedArray(np.empty(len(candidates), dtype=dtype), mask=True)
    for i, params in enumerate(candidates):
        if name in params:
            column[i] = params[name]
    return column


def _ranks(scores: Array) -> np.ndarray:
    """1 for the best; equal scores share a rank, and failed candidates share the last."""
    if np.isnan(scores).all():
        return np.ones(scores.size, dtype=np.int32)
    filled = np.where(np.isnan(scores), np.nanmin(scores) - 1.0, scores)
    return rankdata(-filled, method="min").astype(np.int32)


def report_failures(outcomes: Sequence[Outcome], error_score: Any, *, any_score: bool) -> None:
    """Raise or warn about failed fits; raise if there is not `any_score` at all."""
    failed = [outcome for outcome in outcomes if outcome.exception is not None]
    if not failed:
        return
    kinds: dict[str, list[Outcome]] = {}
    for outcome in failed:
        kinds.setdefault(repr(outcome.exception), []).append(outcome)
    most = max(kinds.values(), key=len)
    assert most[0].exception is not None
    if len(most) == len(outcomes) and not any_score:
        raise most[0].exception
    text = f"{len(failed)} of {len(outcomes)} fits failed; {len(most)} of them with "
    text += most[0].error
    if not any_score:
        raise ValueError(text)
    warnings.warn(f"{text}\nTheir score is {error_score}.", FitFailedWarning, stacklevel=5)


def report_early_stops(outcomes: Sequence[Outcome]) -> None:
    """Warn about candidates whose training stopped before the tolerance was met."""
    stopped = [outcome for outcome in outcomes if outcome.gap > 0]
    if stopped:
        worst = max(outcome.gap for outcome in stopped)
        warnings.warn(
            f"{len(stopped)} of {len(outcomes)} fits stopped early, with the KKT conditions "
            f"violated by up to {worst:.2g}; their scores are those of unfinished models "
            f"('converged' is False in cv_results_). {advice_on_stops(worst)}",
            ConvergenceWarning,
            stacklevel=5,
        )
