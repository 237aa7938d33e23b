"""Other models on the same left-out rows: what the selected one is worth.

- The largest class, always.
- Logistic regression (L2, C = 1) on the same transformed rows.  Its left-out predictions come from
  ten folds with every class in its share, or of whole groups: each model has seen nine tenths of
  the rows, not all but one.
- An SVM with default parameters: C = 1, ``gamma="scale"``, no weights; left out by the span, as the
  selected model is.
- If rows have weights or scores, the same search without them.

The selected model is the best of many candidates, and its error optimistic; the others, except the
last, are not selected.  So differences are those to its corrected error, or score.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from ..algebra.blas import one_blas_thread
from ..common.types import Array, Mask
from ..estimators.svc import SpanSVC
from ..estimators.weighting import SigmoidWeighting
from ..kernels.functions import resolve_kernel
from ..search.candidates.building import candidate_estimator
from ..search.candidates.composite import unwrap
from ..search.results import evaluated
from ..search.scoring.kept import Replayed
from ..search.scoring.responses import LeftOutClassifier
from .folds import folds_of
from .paired import Difference, paired_difference
from .scored import Scored
from .subject import Subject

__all__ = [
    "Baseline",
    "Comparison",
    "compare_baselines",
    "selection_optimism",
    "unweighted_candidates",
]

#: How many numbers (rows times features times classes) logistic regression may take.
_MOST_NUMBERS = 3e7

#: The decision value of a class that a fold does not know.
_NEVER = -1e9

#: Candidates of the search without weights: by predictions from one model, and otherwise.
_MOST_CANDIDATES, _MOST_SLOW = 250, 24

#: A class with fewer rows than this share of those of the largest makes classes unequal.
_UNEQUAL = 0.5


@dataclass(frozen=True)
class Baseline:
    """A model that the selected one is compared with.

    Attributes
    ----------
    name : str
    meaning : str
        What it is, and how its rows are left out.
    error : float
        Left-out error.
    difference : Difference
        Its error minus that of the selected model, both corrected for selection.
    score : float or None
        The score by which the selected model was chosen, if that is another one.
    score_difference : float or None
        Its score minus that of the selected model, both corrected for selection.
    score_interval : list of float or None
        95% CI of that (jackknife).
    """

    name: str
    meaning: str
    error: float
    difference: Difference
    score: float | None = None
    score_difference: float | None = None
    score_interval: list[float] | None = None


@dataclass(frozen=True)
class Comparison:
    """The selected model and its baselines on the same rows.

    Attributes
    ----------
    error : float
        Left-out error of the selected model.
    score : float or None
        Its score on these rows, if it was not selected by accuracy.
    optimism, score_optimism : float
        By how much they are too good, as the model was selected by them; 0 if it is unknown.
    baselines : list of Baseline
    skipped : list of str
        What was not computed, and why, a sentence each.
    """

    error: float
    score: float | None
    optimism: float
    score_optimism: float
    baselines: list[Baseline]
    skipped: list[str]


@dataclass(frozen=True, eq=False)
class _Predicted:
    """Left-out predictions of a baseline: which rows are wrong, and what a scorer receives."""

    name: str
    meaning: str
    wrong: Mask
    classifier: LeftOutClassifier | Replayed
    optimism: float = 0.0


@one_blas_thread
def compare_baselines(
    subject: Subject, search: Any = None, scorer: Callable[..., Any] | None = None
) -> Comparison:
    """Baselines on the rows of a subject.

    Parameters
    ----------
    subject : Subject
    search : SpanSearch, optional
        The search that selected it: to be repeated without weights, if there are any.
    scorer : callable, optional
        The score by which it selected, unless that is accuracy.
    """
    skipped: list[str] = []
    found = [_majority(subject)]
    found += _logistic(subject, scorer is not None, skipped)
    found.append(_plain_svm(subject))
    if search is not None and _has_instance_weights(subject, search):
        found += _without_weights(subject, search, skipped)
    units = None if subject.sets is None else subject.units
    selected = Scored(subject, scorer, LeftOutClassifier(subject.left_out, subject.classes,
                                                         subject.model))  # fmt: skip
    optimism = 0.0 if search is None else selection_optimism(search)
    by_error, by_score = (1.0, 0.0) if scorer is None else (0.0, 1.0)
    compared = []
    for one in found:
        scored, shift = Scored(subject, scorer, one.classifier), optimism - one.optimism
        compared.append(
            Baseline(
                one.name, one.meaning, float(one.wrong.mean()),
                paired_difference(one.wrong, subject.wrong, units, by_error * shift),
                scored.score, *scored.difference(selected, by_score * shift),
            )
        )  # fmt: skip
    return Comparison(
        float(subject.wrong.mean()), selected.score, by_error * optimism, by_score * optimism,
        compared, skipped,
    )  # fmt: skip


def selection_optimism(search: Any) -> float:
    """By how much the score of a selected model is too good; 0 if that is unknown."""
    if not hasattr(search, "corrected_score_"):
        return 0.0
    return float(max(search.best_score_ - search.corrected_score_, 0.0))


def _replayed(subject: Subject, responses: Mapping[str, np.ndarray]) -> Replayed:
    return Replayed(responses, subject.classes, np.arange(subject.n_rows))


# The largest class ------------------------------------------------------------------------------


def _majority(subject: Subject) -> _Predicted:
    sizes = np.bincount(subject.indices)
    largest = int(sizes.argmax())
    shares = np.tile(sizes / subject.n_rows, (subject.n_rows, 1))
    responses = {
        "predict": np.full(subject.n_rows, largest),
        "predict_proba": shares,
        "predict_log_proba": np.log(shares),
        "decision_function": np.zeros(subject.n_rows) if sizes.size == 2 else np.log(shares),
    }
    label = subject.classes[largest]
    return _Predicted(
        "largest class", f"always predicts '{label}'", subject.indices != largest,
        _replayed(subject, responses),
    )  # fmt: skip


# Logistic regression ----------------------------------------------------------------------------


def _logistic(subject: Subject, other_score: bool, skipped: list[str]) -> list[_Predicted]:
    """Logistic regression; for another score than accuracy also with balanced classes."""
    if subject.machines.kernel.precomputed or callable(subject.machines.kernel.name):
        skipped.append("Logistic regression needs features, and the kernel was given instead.")
        return []
    size = subject.machines.X.shape[1] * subject.n_rows
    several = 1 if subject.classes.size == 2 else subject.classes.size
    if size * several > _MOST_NUMBERS:
        skipped.append("Logistic regression was left out: it would take long on this many numbers.")
        return []
    folds = folds_of(subject)
    if not folds:
        skipped.append("Logistic regression was left out: there are too few rows for folds.")
        return []
    sizes = np.bincount(subject.indices)
    weights: list[str | None] = [None]
    if other_score and sizes.min() < _UNEQUAL * sizes.max():
        weights.append("balanced")
    return [_in_folds(subject, folds, weight) for weight in weights]


def _in_folds(
    subject: Subject, folds: Sequence[tuple[np.ndarray, np.ndarray]], weight: str | None
) -> _Predicted:
    X, y = subject.machines.X, subject.indices
    n_classes = subject.classes.size
    probability = np.zeros((y.size, n_classes))
    decision = np.full((y.size, n_classes), _NEVER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for train, test in folds:
            model = LogisticRegression(class_weight=weight, max_iter=200, tol=1e-3).fit(
                X[train], y[train]
            )
            known = np.ix_(test, model.classes_)  # a class of one row may not be among them
            probability[known] = model.predict_proba(X[test])
            values: Array = model.decision_function(X[test])
            decision[known] = values if values.ndim > 1 else np.column_stack((-values, values))
    predicted = decision.argmax(axis=1)
    responses = {
        "predict": predicted,
        "predict_proba": probability,
        "predict_log_proba": np.log(probability.clip(np.finfo(float).tiny)),
        "decision_function": decision if n_classes > 2 else decision[:, 1],
    }
    whole = "" if subject.sets is None else " of whole groups"
    name, weighted = "logistic regression", ""
    if weight is not None:
        name, weighted = "logistic regression, balanced", ", classes weighted equally"
    return _Predicted(
        name, f"the same features, C = 1{weighted}; {len(folds)} folds{whole}", predicted != y,
        _replayed(subject, responses),
    )  # fmt: skip


# Support vector machines ------------------------------------------------------------------------


def _plain_svm(subject: Subject) -> _Predicted:
    machines, own = subject.machines, subject.machines.kernel
    name = own.name if own.precomputed or callable(own.name) else "rbf"
    kernel = resolve_kernel(name, machines.X)
    _, left_out = subject.train(
        machines.X, subject.y, np.ones(subject.n_rows), subject.sets, kernel
    )
    gamma = ', gamma = "scale"' if name == "rbf" else ""
    return _Predicted(
        "SVC with default parameters", f"C = 1{gamma}, no weights; left out by the span",
        left_out.wrong(), LeftOutClassifier(left_out, subject.classes, SpanSVC()),
    )  # fmt: skip


def _has_instance_weights(subject: Subject, search: Any) -> bool:
    """Whether rows of one class have different weights, or could have had."""
    machine = unwrap(search.estimator).machine
    if isinstance(getattr(machine, "weighting", None), SigmoidWeighting):
        return True
    bounds = subject.machines.bounds
    return any(
        np.ptp(bounds[subject.indices == index]) > 1e-9 * bounds.max()
        for index in range(subject.classes.size)
    )


def _without_weights(subject: Subject, search: Any, skipped: list[str]) -> list[_Predicted]:
    """The best of the same candidates without scores and weights of rows."""
    candidates = unweighted_candidates(search)
    folds = search.cv is not None or search.method_ not in ("verified", "span_rule")
    most = _MOST_SLOW if folds else _MOST_CANDIDATES
    tried = candidates[:: -(-len(candidates) // most)]
    again = clone(search).set_params(
        param_grid=[{name: [value] for name, value in one.items()} for one in tried],
        verbose=0,
    )  # fmt: skip
    if folds and subject.sampled:
        skipped.append("The search without weights was left out: its folds are those of all rows.")
        return []
    groups = None if subject.sets is None and search.cv is None else subject.units
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again.fit(subject.X, subject.y, groups=groups)
    except ValueError:
        skipped.append("The search without weights failed.")
        return []
    model = unwrap(again.best_estimator_).machine
    assert isinstance(model, SpanSVC)
    count = "" if len(tried) == len(candidates) else f"{len(tried)} of "
    plural = "" if len(candidates) == 1 else "s"
    return [
        _Predicted(
            "the same search without weights",
            f"the best of {count}{len(candidates)} candidate{plural}; left out by the span",
            model.left_out_.wrong(model.break_ties),
            LeftOutClassifier(model.left_out_, subject.classes, model),
            selection_optimism(again),
        )
    ]


def unweighted_candidates(search: Any) -> list[dict[str, Any]]:
    """The candidates of a search without what scores do; each once.

    A sigmoid of the scores becomes its ceiling, the weight of a row with the highest score.
    """
    prefix = unwrap(search.estimator).prefix
    of_weighting = f"{prefix}weighting"
    found: dict[str, dict[str, Any]] = {}
    for params in evaluated(search)[0]["params"]:
        machine = unwrap(candidate_estimator(search.estimator, params)).machine
        weighting = getattr(machine, "weighting", None)
        if isinstance(weighting, SigmoidWeighting):
            params = {
                name: value for name, value in params.items() if not name.startswith(of_weighting)
            }
            params |= {of_weighting: None, f"{prefix}C": machine.C * weighting.ceiling}
        found.setdefault(repr(sorted(params.items(), key=lambda item: item[0])), params)
    return list(found.values())
