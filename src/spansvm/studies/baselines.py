"""Other models on the same left-out rows: what the selected one is worth.

- The largest class, always.
- Models of other kinds on the same transformed rows (:mod:`spansvm.studies.rivals`): logistic
  regression, a random forest, gradient boosting.  Their left-out predictions come from folds with
  every class in its share, or of whole groups.
- An SVM with default parameters: C = 1, ``gamma="scale"``, no weights; left out by the span, as the
  selected model is.
- If rows have weights or scores, the same search without them.

The selected model is the best of many candidates, and its error optimistic; the others, except the
last, are not selected.  So differences are those to its corrected error, or score.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.base import clone

from ..algebra.blas import one_blas_thread
from ..common.evaluated import evaluated
from ..common.types import Mask
from ..estimators.svc import SpanSVC
from ..estimators.weighting import SigmoidWeighting
from ..kernels.functions import resolve_kernel
from ..search.candidates.building import candidate_estimator
from ..search.candidates.composite import unwrap
from ..search.scoring.intervals import QUANTILE
from ..search.scoring.kept import Replayed
from ..search.scoring.responses import LeftOutClassifier
from .folds import folds_of
from .paired import Difference, paired_difference
from .rivals import FEW_FOLDS, classes_in_folds, classifiers, left_out_as_slow
from .scored import Scored
from .subject import Subject

__all__ = [
    "Baseline",
    "Comparison",
    "compare_baselines",
    "selection_optimism",
    "unweighted_candidates",
]

#: What needs features.
_OTHERS = "Logistic regression, forests and boosting"

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

    def surely_better(self, quantile: float) -> bool:
        """Whether it is better by more than so many standard errors: by the score, or by errors."""
        if self.score is not None and self.score_interval is None:
            return False
        if self.score_difference is None or self.score_interval is None:
            return self.difference.value + quantile * self.difference.standard_error < 0.0
        half = self.score_interval[1] - self.score_difference
        return self.score_difference > quantile / QUANTILE * half


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

    @property
    def better(self) -> Baseline | None:
        """The best of the baselines that are better than the selected model beyond chance.

        One of several is, by chance, more often than each: their intervals are wider (Bonferroni).
        It is better before the correction for selection, too, which is itself an estimate.
        """
        alarm = 0.025 / max(len(self.baselines), 1)
        known = [one for one in self.baselines if (one.score is None) == (self.score is None)]
        found = [one for one in known if one.surely_better(float(norm.isf(alarm)))]
        if self.score is None:
            found = [one for one in found if one.error < self.error]
            return min(found, key=lambda one: one.error, default=None)
        found = [one for one in found if one.score is not None and one.score > self.score]
        return max(found, key=lambda one: one.score or 0.0, default=None)


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
    found += _others(subject, scorer is not None, skipped)
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


# Models of other kinds --------------------------------------------------------------------------


def _others(subject: Subject, other_score: bool, skipped: list[str]) -> list[_Predicted]:
    """Models trained in folds; for another score than accuracy with balanced classes, too."""
    if subject.machines.kernel.precomputed or callable(subject.machines.kernel.name):
        skipped.append(f"{_OTHERS} need features, and the kernel was given instead.")
        return []
    few, many = folds_of(subject, FEW_FOLDS), folds_of(subject)
    if not few:
        skipped.append(f"{_OTHERS} were left out: there are too few rows for folds.")
        return []
    X, n_classes = subject.machines.X, subject.classes.size
    sizes = np.bincount(subject.indices)
    found, slow = [], []
    for rival in classifiers(other_score and bool(sizes.min() < _UNEQUAL * sizes.max())):
        folds = few if rival.of_trees else many
        if rival.takes_long(X.shape, 1 if n_classes == 2 else n_classes, len(folds)):
            slow.append(rival.name)
            continue
        answers = classes_in_folds(rival, X, subject.indices, folds, n_classes)
        whole = "" if subject.sets is None else " of whole groups"
        found.append(
            _Predicted(
                rival.name, f"{rival.meaning}; {len(folds)} folds{whole}",
                answers["predict"] != subject.indices, _replayed(subject, answers),
            )
        )  # fmt: skip
    skipped += left_out_as_slow(slow)
    return found


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
