"""SpanSearch: hyperparameter search by the span, with the interface of GridSearchCV."""

from __future__ import annotations

import time
import uuid
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils import assert_all_finite, indexable
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from .._validation import check_weights
from ..dual import warn_indefinite
from ..methods import predicts
from ..weighting import check_scores
from .checks import check_search
from .composite import (
    FitParams,
    candidate_estimator,
    fit_params,
    refit_arguments,
    routed_fit_params,
)
from .corrected import CorrectedScore, what_to_keep
from .dispatch import run
from .evaluation import Outcome, Work
from .forecast import Forecast, predict_cost
from .grid import list_candidates, select
from .leaving import method_used, plan_leaving
from .progress import SearchProgress
from .refinement import Refinement
from .refit import leave_out, refit_as_judged
from .results import report_failures, results_table
from .scoring import resolve_scorers
from .selected import SelectedModel
from .training_sets import forget

__all__ = ["SpanSearch"]

#: For every candidate, the outcomes by split.
_Outcomes = list[dict[int, Outcome]]


class SpanSearch(CorrectedScore, SelectedModel):
    """Search for hyperparameters by leave-one-out estimates, training each candidate once.

    Used like :class:`sklearn.model_selection.GridSearchCV`, with the same attributes after ``fit``.
    Candidates with the same transformers and kernel share one Gram matrix, and each starts from
    the solution of its neighbour.

    Parameters
    ----------
    estimator : SpanSVC, sklearn.svm.SVC, or a Pipeline that ends in one
    param_grid : dict, list of dicts, or iterable of dicts
        As in GridSearchCV; or an iterable of single candidates, such as
        :class:`sklearn.model_selection.ParameterSampler`.
    method : str, optional
        How the rows that are left out are predicted; `cv` and `groups` say which these are.

        - None: ``"span_rule"``, or ``"kfold"`` if there is a `cv`.
        - ``"span_rule"``: predictions of the span, from one model (Corollary 1).
        - ``"loo"``: exact predictions, from one model; many times slower.
        - ``"auto"``: the span-rule for all candidates, exact predictions for those that may then
          be the best (up to 48); the selected one is among these.
        - ``"kfold"``: a model trained for each fold of `cv`, or for each group.
        - ``"span_bound"``, ``"span_count"``, ``"xi_alpha"``, ``"sv_count"``: upper bounds on the
          leave-one-out error, for two classes; the score is 1 minus the bound.
    scoring : str, callable, list, tuple, set or dict, optional
        Scores of the left-out predictions: anything that GridSearchCV accepts; accuracy by
        default.  Scores that need probabilities work with every estimator: probabilities are
        calibrated on leave-one-out values (but a selected SVC has no ``predict_proba`` of its
        own).  Not available for bounds and estimates.
    cv : int, splitter or iterable, optional
        Folds, as in GridSearchCV, with the same scores.  With ``method="span_rule"`` and
        ``"loo"``, their test rows leave one model on all rows; the training rows of a fold must
        then be all others.
    refit : bool, str or callable, default=True
        Whether to train the selected model on all rows; with several scores, the name of the one
        to select by; or a function from ``cv_results_`` to the index of the selected candidate.
    ties : {"plateau", "hinge", "first"}, default="plateau"
        Which of the candidates with the best score to select.  "plateau": the one with the best
        neighbourhood on the grid (the middle of a plateau, not the rim of the grid), then the one
        with the smaller hinge loss; without a grid, "hinge".  "hinge": the smallest hinge loss of
        the left-out predictions.  "first": the first, as in GridSearchCV.  Except with "first", if
        several candidates are the same model (equal score and hinge loss), the one with the
        smallest weights (`C`, class weights) is selected.
    n_jobs : int, optional
        How many chains of candidates run at a time, in threads unless
        :func:`joblib.parallel_config` says otherwise.  Results do not depend on it.
    verbose : int, default=0
        1 shows a progress bar or, without a terminal, a line every half minute.
    error_score : "raise" or float, default=numpy.nan
        Score when a fit or a scorer fails.
    gram_budget : float or str, optional
        Memory for a Gram matrix; overrides that of a SpanSVC.  Each worker process holds one
        matrix, and with several kernels each thread does.
    corrected : bool, default=True
        Whether to keep what `corrected_score_` needs: the left-out predictions of all candidates,
        an eighth of a byte per row and candidate for accuracy, up to 256 MiB for other scores.

    Attributes
    ----------
    cv_results_ : dict of arrays
        GridSearchCV's columns, and for each candidate ``loo_error`` (by the span-rule; exact with
        ``method="loo"``, NaN with ``"kfold"``; of groups if these are left out), ``loo_hinge``
        (hinge loss of the left-out predictions), ``n_in_bound``, ``n_bounded``, ``n_empty``
        (numbers of in-bound and bounded support vectors, and of those with empty Lambda_p; summed
        over pairs of classes, averaged over folds) and ``converged``.  With ``method="auto"``,
        ``exact`` tells whose scores are exact, and ``n_differ`` for how many rows the rule was
        wrong about the left-out prediction.
    best_index_, best_params_, best_score_
        The selected candidate.  Not set if `refit` is False and there are several scores.
    corrected_score_ : float
        Score of the selected model, corrected for being the best of many candidates: the one to
        expect on new rows.  Computed on first access.  Not available for bounds, and if `refit`
        is a function.
    corrected_interval_ : (float, float)
        Its 95% CI.
    best_estimator_ : estimator
        Trained on all rows; of the class that was given.  Where LibSVM's refit of an SVC does not
        solve the problem (a very large `C`), it holds the solution that was evaluated, and a
        warning says so.
    scorer_ : callable or dict
    n_splits_ : int
        Number of folds; 1 if rows or groups are left out.
    method_ : str
        The method that was used.
    n_groups_ : int or None
        Number of groups that were left out one at a time; None for single rows and folds.
    multimetric_ : bool
    refit_time_ : float
    classes_, n_features_in_, feature_names_in_
        Those of the best estimator.

    See Also
    --------
    sklearn.model_selection.GridSearchCV : Search by cross-validation, for any estimator.
    spansvm.SpanSVC : Weighted classifier with leave-one-out predictions.
    spansvm.SpanSearchDisplay : Plot the scores of a search.
    spansvm.analyze : All estimates and bounds for one fitted model.
    spansvm.search.scoring.SpanScorer : ``span_scorer``, the span-rule for GridSearchCV.

    Notes
    -----
    Leave-one-out methods fit the transformers of a pipeline, ``gamma="scale"`` and
    ``class_weight="balanced"`` once, on all rows, including the left-out one.  With transformers
    that use the labels (feature selection) this is optimistic; use ``cv=5`` instead, which fits
    everything on the training rows of each fold.

    Leave-one-out methods do not count rows whose ``sample_weight`` is 0.  Other weights bound
    multipliers and are not counts: they do not weight the scores unless metadata routing says so.

    Leave-one-out is optimistic if rows come in groups (recordings of one person): pass `groups` to
    ``fit``, and whole groups are left out.  They are predicted, but left out exactly if they are
    large or the prediction is doubtful.

    After Ctrl-C, ``cv_results_`` and ``best_params_`` cover the finished candidates and folds.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from sklearn.svm import SVC
    >>> from spansvm import SpanSearch
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(MinMaxScaler(), SVC())
    >>> grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.01, 0.1, 1]}
    >>> search = SpanSearch(model, grid).fit(X, y)
    >>> search.best_params_
    {'svc__C': 10, 'svc__gamma': 1}
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        method: str | None = None,
        scoring: Any = None,
        cv: Any = None,
        refit: Any = True,
        ties: str = "plateau",
        n_jobs: int | None = None,
        verbose: int = 0,
        error_score: Any = np.nan,
        gram_budget: float | str | None = None,
        corrected: bool = True,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.method = method
        self.scoring = scoring
        self.cv = cv
        self.refit = refit
        self.ties = ties
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.error_score = error_score
        self.gram_budget = gram_budget
        self.corrected = corrected

    # Searching ------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        **params: Any,
    ) -> SpanSearch:
        """Train and evaluate all candidates, then train the selected one on all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (l, d)
            Whatever the first step of the estimator accepts.
        y : array-like of shape (l,)
        sample_weight : array-like of shape (l,), optional
            Factors that multiply ``C``.
        scores : array-like of shape (l,), optional
            Importance scores in [0, 1], for a :class:`~spansvm.SpanSVC` with a weighting.
        groups : array-like of shape (l,), optional
            The group of every row.  Without `cv`, whole groups are left out one at a time, and
            their predictions are scored together; otherwise for the splitter in `cv`.
        **params : dict
            Other arguments for pipeline steps, as ``step__name``; with metadata routing, whatever
            is requested.
        """
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)  # an interrupted search must not show the results of the last one
        self._correction, self._refinement = "the search has not ended", None
        X, labels = self._check_data(X, y)
        candidates = list_candidates(self.param_grid)
        work, refit_params = self._sort_out(X, labels, sample_weight, scores, groups, params)
        work = replace(work, keeping=what_to_keep(self, work, len(candidates), labels))
        outcomes: _Outcomes = [{} for _ in candidates]
        try:
            with SearchProgress(
                len(candidates), len(work.splits), shown=self.verbose > 0, forecast=self._forecast
            ) as progress:
                for index, split, outcome in self._run(
                    work, X, labels, candidates, outcomes, progress
                ):
                    outcomes[index].update(outcome.by_split(split, work.leaving))
                    if self.error_score == "raise" and outcome.exception is not None:
                        raise outcome.exception
                    progress.advance(index, outcome.headline)
                candidates = [one for one, own in zip(candidates, outcomes, strict=True) if own]
                outcomes = [own for own in outcomes if own]
                if self.method == "auto":
                    self._refinement = Refinement(outcomes, candidates, self.refit, self.ties)
                    self._refinement.run(work, X, labels, self.n_jobs)
        except KeyboardInterrupt:
            self._keep(candidates, outcomes, work)
            self._correct(outcomes, work, X, labels, groups)
            raise
        finally:
            forget(work.token)
        self._store(candidates, outcomes, work)
        self._correct(outcomes, work, X, labels, groups)
        if self.refit is not False:
            started = time.perf_counter()
            best = candidate_estimator(self.estimator, self.best_params_)
            self.best_estimator_ = refit_as_judged(best, X, labels, refit_params, self.gram_budget)
            if work.leaving.pooled and work.leaving.sets is not None:
                leave_out(self.best_estimator_, work.leaving.sets)
            self.refit_time_ = time.perf_counter() - started
            if hasattr(best, "feature_names_in_"):
                self.feature_names_in_ = best.feature_names_in_
        return self

    def _run(
        self, work: Work, X: Any, y: np.ndarray, candidates: list[dict[str, Any]],
        outcomes: _Outcomes, progress: SearchProgress,
    ) -> Iterator[tuple[int, int, Outcome]]:  # fmt: skip
        """Outcomes as they become known.

        A subclass may leave candidates without any, or append candidates to both lists.
        """
        return run(work, X, y, candidates, self.n_jobs)

    #: What the next search is expected to take; which candidates "auto" evaluated exactly.
    _forecast: Forecast | None = None
    _refinement: Refinement | None = None

    def forecast(
        self,
        X: Any,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        **params: Any,
    ) -> Forecast | None:
        """What ``fit`` with the same arguments will take, from a trial of about two seconds.

        Right within a factor of about three.  ``fit`` then shows a better time left from its first
        candidate on.

        Returns
        -------
        spansvm.search.forecast.Forecast or None
            With ``seconds``, ``gram`` and ``gram_bytes``; None for a search that takes no longer
            than a trial.
        """
        X, labels = self._check_data(X, y)
        candidates = list_candidates(self.param_grid)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fit will give them
            work, _ = self._sort_out(X, labels, sample_weight, scores, groups, params)
            self._forecast = predict_cost(work, X, labels, candidates, self.n_jobs)
        return self._forecast

    def _check_data(self, X: Any, y: npt.ArrayLike) -> tuple[Any, np.ndarray]:
        check_search(self)
        X, y = indexable(X, y)
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        if not predicts(self.method) and np.unique(labels).size > 2:
            raise ValueError(
                f"method={self.method!r} is defined for two classes; y has "
                f"{np.unique(labels).size}. Use 'span_rule', 'loo' or 'kfold'."
            )
        return X, labels

    def _sort_out(
        self, X: Any, y: np.ndarray, sample_weight: Any, scores: Any, groups: Any, others: Any
    ) -> tuple[Work, dict[str, Any]]:
        """Distribute the arguments to the machine, transformers, scorers and splitter."""
        scorers = resolve_scorers(self.estimator, self.scoring)
        score_params: dict[str, Mapping[str, Any]] = {}
        routing = get_config()["enable_metadata_routing"]
        if routing:
            given = {"sample_weight": sample_weight, "scores": scores, **others}
            if self.cv is not None:
                given["groups"] = groups
            routed = process_routing(
                self, "fit", **{name: value for name, value in given.items() if value is not None}
            )
            refit_params = dict(routed.estimator.fit)
            params = routed_fit_params(self.estimator, refit_params)
            split_params = dict(routed.splitter.split) if hasattr(self.cv, "split") else {}
            if predicts(self.method):
                score_params = {name: routed[f"scorer_{name}"].score for name in scorers}
        else:
            params = fit_params(self.estimator, sample_weight, scores, others)
            refit_params = {}
            split_params = {} if groups is None else {"groups": groups}
        checked = FitParams(
            None
            if params.sample_weight is None
            else check_weights(params.sample_weight, y.size, name="sample_weight"),
            None if params.scores is None else check_scores(params.scores, y.size),
            params.steps,
        )
        if not routing:
            refit_params = refit_arguments(self.estimator, checked)
        method = method_used(self.method, self.cv)
        leaving = plan_leaving(method, self.cv, X, y, groups, split_params)
        work = Work(
            token=uuid.uuid4().hex,
            estimator=clone(self.estimator),
            method=method,
            scorers=None if self.scoring is None else scorers,
            params=checked,
            score_params=score_params,
            leaving=leaving,
            gram_budget=self.gram_budget,
            config=get_config(),
            compares=self.method == "auto",
        )
        return work, refit_params

    def _store(self, candidates: list[dict[str, Any]], outcomes: _Outcomes, work: Work) -> None:
        """Set the fitted attributes, except the best estimator."""
        every = [outcome for own in outcomes for outcome in own.values()]
        names = list(dict.fromkeys(name for outcome in every for name in outcome.scores))
        report_failures(every, self.error_score, any_score=bool(names))
        if any(outcome.indefinite for outcome in every):
            warn_indefinite(stacklevel=4)
        scorers = resolve_scorers(self.estimator, self.scoring)
        self.scorer_ = scorers["score"] if list(scorers) == ["score"] else scorers
        self._lay_out(candidates, outcomes, names, work)
        if self.multimetric_ and not (
            self.refit is False or callable(self.refit) or self.refit in names
        ):
            raise ValueError(
                "scoring returned several scores; refit must be the name of the one to select "
                f"by: {', '.join(names)}; got {self.refit!r}."
            )
        for name in names:
            unknown = int(np.isnan(self.cv_results_[f"mean_test_{name}"]).sum())
            if unknown and all(outcome.exception is None for outcome in every):
                warnings.warn(
                    f"The score {name!r} is NaN for {unknown} of {len(candidates)} candidates.",
                    UserWarning,
                    stacklevel=3,
                )
        if callable(self.refit):
            self.best_index_ = int(self.refit(self.cv_results_))
            if not 0 <= self.best_index_ < len(candidates):
                raise IndexError(f"refit returned {self.best_index_}, not a candidate's index.")
            self.best_params_ = candidates[self.best_index_]
            if not self.multimetric_:
                means = self.cv_results_["mean_test_score"]
                self.best_score_ = float(means[self.best_index_])
        elif not (self.multimetric_ and self.refit is False):
            self._select(candidates, self.refit if self.multimetric_ else "score")

    def _lay_out(
        self,
        candidates: list[dict[str, Any]],
        outcomes: _Outcomes,
        names: list[str],
        work: Work,
    ) -> None:
        self.multimetric_, self.method_ = names != ["score"], work.method
        self.n_splits_, self.n_groups_ = work.leaving.n_splits, work.leaving.n_groups
        error_score = np.nan if self.error_score == "raise" else float(self.error_score)
        self.cv_results_ = results_table(candidates, outcomes, names, self.n_splits_, error_score)
        if self._refinement is not None:
            self.cv_results_["exact"] = self._refinement.known
            self.cv_results_["n_differ"] = self._refinement.n_differ

    def _select(self, candidates: list[dict[str, Any]], name: str) -> None:
        means = self.cv_results_[f"mean_test_{name}"]
        if self._refinement is not None:
            means = self._refinement.selecting()
        if np.isnan(means).all():
            raise ValueError(f"The score {name!r} is NaN for all candidates.")
        self.best_index_ = select(means, self.cv_results_["loo_hinge"], candidates, self.ties)
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(means[self.best_index_])

    def _keep(self, candidates: list[dict[str, Any]], outcomes: _Outcomes, work: Work) -> None:
        """Keep the results of an interrupted search; raises nothing of its own."""
        done = [i for i, own in enumerate(outcomes) if own]
        if not done:
            return
        kept, known = [candidates[i] for i in done], [outcomes[i] for i in done]
        names = list(dict.fromkeys(n for own in known for o in own.values() for n in o.scores))
        self._lay_out(kept, known, names, work)
        name = self.refit if self.multimetric_ and isinstance(self.refit, str) else "score"
        if not np.isnan(self.cv_results_.get(f"mean_test_{name}", np.nan)).all():
            self._select(kept, name)
