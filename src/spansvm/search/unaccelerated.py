"""Searches over estimators that the engine does not know: scikit-learn evaluates the candidates.

Folds, scores and the selected candidate are those of GridSearchCV.  What is ours is the corrected
score, from the predictions that scorers ask for.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import get_scorer
from sklearn.metrics._scorer import _BaseScorer, _MultimetricScorer, _PassthroughScorer
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut, check_cv
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import indexable
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.metadata_routing import process_routing

from ..kernels.gram import as_rows
from .candidates.building import machine_settings
from .candidates.composite import (
    KNOWN,
    Unknown,
    find_unknown,
    is_regression,
    own_methods,
    take_apart,
    takes_several_labels,
)
from .candidates.fit_arguments import FitParams
from .candidates.leaving import Leaving
from .candidates.shared_data import SharedData
from .evaluation.work import Outcome, Work
from .scoring.column_scores import is_indicator
from .scoring.corrected import what_to_keep
from .scoring.kept import Keeping
from .scoring.label_scores import accuracy, count_score
from .scoring.quickest_scores import Sample, quickest_scores
from .scoring.recording import Notes, recording
from .scoring.scorers import weighted_scorers

__all__ = ["UnacceleratedWarning", "find_unaccelerated", "fit_by_scikit_learn"]

#: Arguments of a search that only the engine heeds.
_OF_THE_ENGINE = ("time_budget", "checkpoint", "coarse_first", "widen")

#: Arguments of a search that are GridSearchCV's.
_SHARED = (
    "scoring", "n_jobs", "refit", "cv", "verbose", "pre_dispatch", "error_score",
    "return_train_score",
)  # fmt: skip

#: The score of a replayed fold differs from its own by less than this: values are kept in single
#: precision.
_SAME_SCORE = 1e-5


class UnacceleratedWarning(UserWarning):
    """A search is evaluated by scikit-learn, as the engine does not know its estimator."""


def find_unaccelerated(
    search: Any, candidates: Sequence[Mapping[str, Any]], y: Any
) -> Unknown | None:
    """What keeps the engine from evaluating a search; None if it can.

    TypeError if nothing can be trained, or if `method` asks for the engine by name.
    """
    unknown = None
    for estimator in machine_settings(search.estimator, candidates):
        found = find_unknown(estimator)
        if found is not None and found.is_mistake:
            raise TypeError(f"estimator must be {KNOWN}; got {found}")
        unknown = unknown or found or _unknown_use(estimator, search.scoring, y)
    if unknown is not None and search.method not in (None, "kfold"):
        raise TypeError(
            f"method={search.method!r} is of the engine, which trains {KNOWN}; got {unknown} "
            "Without method, candidates are evaluated by folds, as in GridSearchCV."
        )
    return unknown


def _unknown_use(estimator: Any, scoring: Any, y: Any) -> Unknown | None:
    """What the engine does not know to do with an estimator that it knows."""
    parts = take_apart(estimator)
    name = type(parts.machine).__name__
    if scoring is None and own_methods(parts.machine, ["score"]):
        usual = "R2" if is_regression(estimator) else "accuracy"
        return Unknown(
            name,
            f"It has its own score in place of {usual}: named in scoring, as a function of the "
            "estimator, X and y, it is accelerated.",
        )
    if is_regression(estimator) and not isinstance(parts.wrapper, MultiOutputRegressor):
        columns = np.asarray(y).shape[1:]
        if columns not in ((), (1,)):
            return Unknown(
                f"{name} with several targets",
                "A regression of several targets is accelerated in MultiOutputRegressor.",
            )
    if y is None or not takes_several_labels(estimator, y):
        return None
    around = type(parts.wrapper).__name__
    if sparse.issparse(y):
        return Unknown(f"{around} with a sparse matrix y", "With y.toarray() it is accelerated.")
    if isinstance(parts.wrapper, OneVsRestClassifier) and not is_indicator(np.asarray(y)):
        return Unknown(
            f"{around} with labels per row that are not 0 or 1", "With y != 0 it is accelerated."
        )
    return None


def fit_by_scikit_learn(
    search: Any, unknown: Unknown, candidates: Sequence[Mapping[str, Any]], X: Any, y: Any,
    params: Mapping[str, Any],
) -> None:  # fmt: skip
    """Fit a search as GridSearchCV would, with a warning that says why.

    Parameters
    ----------
    search : estimator
        Its fitted attributes are set.
    unknown : Unknown
    candidates : sequence of dict
    X, y, params
        Arguments of ``fit``.
    """
    started = time.perf_counter()
    X, y = indexable(X, y)
    options: dict[str, Any] = {name: getattr(search, name) for name in _SHARED}
    if isinstance(search.scoring, set):
        options["scoring"] = list(search.scoring)
    validate_parameter_constraints(
        GridSearchCV._parameter_constraints,
        {"estimator": search.estimator, **options},
        type(search).__name__,
    )
    options["cv"] = _splitter(search, y, params)
    grid = [{name: [value] for name, value in own.items()} for own in candidates]
    inner = _KeepingSearch(search.estimator, grid, **options)
    if getattr(search, "_skl_callbacks", None):
        inner.set_callbacks(*search._skl_callbacks)
    scorers, work = _plan(search, inner, candidates, X, y, params)
    inner.notes = _notes(search, work, candidates, y)
    _warn(search, unknown, grouped=params.get("groups") is not None)
    inner.fit(X, y, **params)
    for name, value in vars(inner).items():
        if name.endswith("_"):
            setattr(search, name, value)
    search.scorer_ = scorers
    search.method_, search.n_groups_ = "kfold", None
    search.stopped_, search.n_resumed_, search.widened_ = None, 0, []
    if callable(search.refit) and not search.multimetric_:
        search.best_score_ = search.cv_results_["mean_test_score"][search.best_index_]
    search.search_time_ = time.perf_counter() - started - getattr(search, "refit_time_", 0.0)
    _correct(search, inner.outcomes, work, X, y, params.get("groups"))


def _warn(search: Any, unknown: Unknown, *, grouped: bool) -> None:
    folds = "by the folds of cv"
    if search.cv is None:
        folds = "by leaving out one group at a time" if grouped else "by five folds"
    sentences = [
        f"This search is not accelerated: the engine trains {KNOWN}, not {unknown.name}.",
        f"All candidates are evaluated by scikit-learn as in GridSearchCV, {folds}.",
        unknown.advice,
    ]
    idle = [name for name in _OF_THE_ENGINE if getattr(search, name)]
    if idle:
        sentences.append(f"What only the engine heeds has no effect: {', '.join(idle)}.")
    warnings.warn(" ".join(filter(None, sentences)), UnacceleratedWarning, stacklevel=4)


class _Folds:
    """A splitter that splits once: asked again, a random one would give other folds."""

    def __init__(self, splitter: Any) -> None:
        self._splitter = splitter
        self._splits: list[tuple[Any, Any]] | None = None

    def get_n_splits(self, *args: Any, **params: Any) -> int:
        return self._splitter.get_n_splits(*args, **params)

    def split(self, *args: Any, **params: Any) -> list[tuple[Any, Any]]:
        if self._splits is None:
            self._splits = list(self._splitter.split(*args, **params))
        return self._splits

    def get_metadata_routing(self) -> Any:
        return self._splitter.get_metadata_routing()

    def __repr__(self) -> str:
        return repr(self._splitter)


def _splitter(search: Any, y: Any, params: Mapping[str, Any]) -> _Folds:
    if search.cv is None and params.get("groups") is not None:
        return _Folds(LeaveOneGroupOut())
    return _Folds(check_cv(search.cv, y, classifier=is_classifier(search.estimator)))


class _KeepingSearch(GridSearchCV):
    """GridSearchCV that also returns what was kept of the candidates' predictions."""

    notes: Notes | None = None
    outcomes: list[dict[int, Outcome]]

    def _get_scorers(self) -> tuple[Any, Any]:
        scorer, metric = super()._get_scorers()
        return scorer if self.notes is None else recording(scorer, self.notes), metric

    def _format_results(self, candidate_params: Any, n_splits: int, out: Any, *others: Any) -> Any:
        found = [self._outcome(result) for result in out]
        self.outcomes = [
            dict(enumerate(found[first : first + n_splits]))
            for first in range(0, len(found), n_splits)
        ]
        return super()._format_results(candidate_params, n_splits, out, *others)

    def _outcome(self, result: Mapping[str, Any]) -> Outcome:
        scores, error = result["test_scores"], result["fit_error"]
        if self.notes is not None and isinstance(scores, dict):
            scores = scores.get(self.notes.name)
        return Outcome(
            kept=getattr(scores, "kept", None),
            exception=None if error is None else RuntimeError(error),
        )


#: As which callbacks, trackers of experiments and scikit-learn's messages name it.
_KeepingSearch.__name__ = "GridSearchCV"


def _plan(
    search: Any, inner: _KeepingSearch, candidates: Sequence[Mapping[str, Any]], X: Any, y: Any,
    params: Mapping[str, Any],
) -> tuple[Any, Work]:  # fmt: skip
    """The scorers as scikit-learn has them, and what the correction has to know of the search."""
    scorer, _ = inner._get_scorers()
    several = isinstance(scorer, _MultimetricScorer)
    scorers = scorer._scorers if several else {"score": scorer}
    weight, split_params = params.get("sample_weight"), {"groups": params.get("groups")}
    given: dict[str, Mapping[str, Any]] = {}
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(inner, "fit", **params)
        split_params, own = routed.splitter.split, routed.scorer.score
        given = {"score": own}
        if several:
            each = process_routing(scorer, "score", **own)
            given = {name: each[name].score for name in scorers}
    elif weight is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn will give them
            given = weighted_scorers(scorers, weight)
    splits = [(as_rows(a), as_rows(b)) for a, b in inner.cv.split(X, y, **split_params)]
    work = Work(
        shared=SharedData(),
        estimator=search.estimator,
        method="kfold",
        scorers={
            name: _without_default(own, search.estimator, candidates)
            for name, own in scorers.items()
        },
        params=FitParams(),
        score_params=given,
        leaving=Leaving(list(splits)),
        gram_budget=None,
        config={},
    )
    keeping = _what_to_keep(search, work, candidates, y)
    return scorers if several else scorer, replace(work, keeping=keeping)


def _without_default(
    scorer: Any, estimator: Any, candidates: Sequence[Mapping[str, Any]]
) -> Callable[..., Any]:
    """The scorer; in the place of the estimator's ``score``, what that should be."""
    if not isinstance(scorer, _PassthroughScorer):
        return scorer
    settings = machine_settings(estimator, candidates)
    for is_one, name in ((is_classifier, "accuracy"), (is_regressor, "r2")):
        if all(map(is_one, settings)):
            return get_scorer(name)
    return scorer


def _what_to_keep(
    search: Any, work: Work, candidates: Sequence[Mapping[str, Any]], y: Any
) -> Keeping | str:
    """What to keep of every candidate; in words, why there is no correction if there is none."""
    if y is None or not work.splits:
        return "there are no labels to compare predictions with"
    keeping = what_to_keep(search, work, len(candidates), _array(y))
    if isinstance(keeping, str):
        return keeping
    assert work.scorers is not None
    scorer = work.scorers[keeping.scorer]
    if isinstance(scorer, _PassthroughScorer):
        return "the score of the estimator looks at more than predictions"
    if _classes(search.estimator, candidates, y) is None:
        # Whatever is predicted, rows are right or wrong.
        return replace(keeping, only_errors=count_score(scorer, np.empty(0)) is accuracy)
    return keeping


def _classes(estimator: Any, candidates: Sequence[Mapping[str, Any]], y: Any) -> np.ndarray | None:
    """Labels of all classes, if one label per row is predicted."""
    labels = _array(y)
    if labels.ndim != 1 or not all(map(is_classifier, machine_settings(estimator, candidates))):
        return None
    return np.unique(labels)


def _array(y: Any) -> np.ndarray:
    return y.toarray() if sparse.issparse(y) else np.asarray(y)


def _notes(
    search: Any, work: Work, candidates: Sequence[Mapping[str, Any]], y: Any
) -> Notes | None:
    keeping = work.keeping
    if isinstance(keeping, str):
        return None
    assert work.scorers is not None
    methods = getattr(work.scorers[keeping.scorer], "_response_method", ())
    return Notes(
        keeping,
        search.refit if isinstance(search.refit, str) else keeping.scorer,
        (methods,) if isinstance(methods, str) else tuple(methods),
        _classes(search.estimator, candidates, y),
    )


def _correct(
    search: Any, outcomes: Sequence[Mapping[int, Outcome]], work: Work, X: Any, y: Any, groups: Any
) -> None:
    """Gather what the corrected score needs, or say why there is none."""
    keeping = work.keeping
    if isinstance(keeping, str):
        search._correction = keeping
        return
    labels = _array(y)
    search._correct(outcomes, work, X, labels, groups)
    assert work.scorers is not None
    scorer = work.scorers[keeping.scorer]
    if isinstance(search.scorer_, _PassthroughScorer):
        tried = slice(None)  # accuracy, unless the estimator has a score of its own
    elif isinstance(scorer, _BaseScorer) or not hasattr(search, "best_index_"):
        return
    else:
        tried = slice(search.best_index_, search.best_index_ + 1)
    # Whether predictions are all that a function looks at is tried.
    name = search.refit if search.multimetric_ else "score"
    params = work.score_params.get(keeping.scorer, {})
    for k, split in enumerate(work.splits):
        assert split is not None
        kept = [own[k].kept for own in outcomes[tried]]
        scores = quickest_scores(scorer, params, kept, Sample(split[1], labels, X), name)
        again = scores(np.ones((1, split[1].size), dtype=np.int32))[:, 0]
        known = np.array([own is not None for own in kept])
        theirs = search.cv_results_[f"split{k}_test_{name}"][tried]
        if not np.allclose(again[known], theirs[known], rtol=0.0, atol=_SAME_SCORE):
            search._correction = "the score looks at more than predictions"
            return
