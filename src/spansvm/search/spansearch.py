"""SpanSearch: a search over a grid, with the interface of GridSearchCV."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np

from .base import BaseSearch
from .candidates.grid import list_candidates
from .candidates.ranges import DEFAULT_TRIALS, StudyPlan, has_ranges, plan_ranges

__all__ = ["SpanSearch"]


class SpanSearch(BaseSearch):
    """Search for hyperparameters by leave-one-out estimates, training each candidate once.

    Used like :class:`sklearn.model_selection.GridSearchCV`, with the same attributes after ``fit``.
    Candidates with the same transformers and kernel share one Gram matrix, and each starts from
    the solution of its neighbour.

    Parameters
    ----------
    estimator : estimator
        Accelerated are SpanSVC, SpanSVR, :class:`sklearn.svm.SVC`, :class:`sklearn.svm.SVR`, and
        estimators around one: a Pipeline that ends in one; around a classifier also
        :class:`~sklearn.multiclass.OneVsRestClassifier` (one machine per class, on the same Gram
        matrix) and :class:`~sklearn.calibration.CalibratedClassifierCV` (candidates are scored
        with probabilities that are calibrated on leave-one-out values; the selected one is fitted
        as the class does it); around a regressor
        :class:`~sklearn.compose.TransformedTargetRegressor` and
        :class:`~sklearn.multioutput.MultiOutputRegressor`.  Samplers of imbalanced-learn are
        applied in each fold.  Any other estimator is evaluated by scikit-learn as in GridSearchCV,
        with an UnacceleratedWarning that says why (see Notes).
    param_grid : dict, list of dicts, or iterable of dicts
        As in GridSearchCV; or an iterable of single candidates, such as
        :class:`sklearn.model_selection.ParameterSampler`.  Values of a dict may also be ranges,
        distributions of scipy (:func:`scipy.stats.loguniform`) or Optuna: a few values of each are
        tried, then finer steps around the best, `n_trials` candidates at most.
    method : str, optional
        How the rows that are left out are predicted; `cv` and `groups` say which these are.

        - None: ``"verified"``, or ``"kfold"`` if there is a `cv` or a step of the pipeline looks
          at the labels (see Notes).
        - ``"verified"``: predictions of the span, from one model, followed exactly where the
          predicted class could be wrong: errors are those of exact leave-one-out.  Of a
          regression every row is followed exactly, as by ``"loo"``, up to 4000 rows; beyond that
          values are those of the span.
        - ``"span_rule"``: the paper's rule (Corollary 1), the predictions of the span alone.
        - ``"loo"``: exact predictions, from one model; slower.
        - ``"kfold"``: a model trained for each fold of `cv`, or for each group.
        - ``"span_bound"``, ``"span_count"``, ``"xi_alpha"``, ``"sv_count"``: upper bounds on the
          leave-one-out error, for two classes; the score is 1 minus the bound.  Not for a
          regression.
    scoring : str, callable, list, tuple, set or dict, optional
        Scores of the left-out predictions: anything that GridSearchCV accepts; accuracy or, of a
        regression, R2 by default.  Scores that need probabilities work with every estimator:
        probabilities are calibrated on leave-one-out values (but a selected SVC has no
        ``predict_proba`` of its own).  Where every multiplier is at its bound (a small C,
        balanced classes), scorers get labels without the shift that leaving out a row causes in
        all others; only the accuracy counts leave-one-out errors there, too.  Not available for
        bounds and estimates.
    cv : int, splitter or iterable, optional
        Folds, as in GridSearchCV, with the same scores.  With ``method="span_rule"`` and
        ``"loo"``, their test rows leave one model on all rows; the training rows of a fold must
        then be all others.
    refit : bool, str or callable, default=True
        Whether to train the selected model on all rows; with several scores, the name of the one
        to select by; or a function from ``cv_results_`` to the index of the selected candidate.
    ties : {"plateau", "around", "hinge", "first"}, default="plateau"
        Which of the candidates with the best score to select.  "plateau": the one with the best
        neighbourhood on the grid (the middle of a plateau, not the rim of the grid), then the one
        with the smaller hinge loss; without a grid, "hinge".  "around": the best neighbourhood
        among all candidates, on a grid or not, by the logarithms of their parameters, then the
        smaller hinge loss.  "hinge": the smallest hinge loss of the left-out predictions.
        "first": the first, as in GridSearchCV.  Except with "first", if several candidates are the
        same model (equal score and hinge loss), the one with the smallest weights (`C`, class
        weights) is selected.  A regression has the mean squared left-out residual in the place of
        the hinge loss.
    n_jobs : int, optional
        How many chains of candidates run at a time, in threads unless
        :func:`joblib.parallel_config` says otherwise.  Results do not depend on it.
    verbose : int, default=0
        1 shows a progress bar or, without a terminal or rich, a line every half minute; 2 and more
        print the lines of GridSearchCV, one for every fit.
    pre_dispatch : int or str, default="2*n_jobs"
        How many chains of candidates joblib takes at once.
    error_score : "raise" or float, default=numpy.nan
        Score when a fit or a scorer fails.
    return_train_score : bool, default=False
        Whether ``cv_results_`` has scores of the training rows.  Without `cv`, and where one model
        predicts all folds, these are all rows.
    gram_budget : float or str, optional
        Memory for a Gram matrix; overrides that of a SpanSVC, also in the refit.  Each worker
        process holds one matrix, and with several kernels each thread does; see
        :class:`~spansvm.SpanSVC` for what is not counted.
    corrected : bool, default=True
        Whether to keep what `corrected_score_` needs: the left-out predictions of all candidates,
        an eighth of a byte per row and candidate for accuracy, up to 256 MiB for other scores.
    check_dependence : bool, default=True
        Whether a DependentRowsWarning tells that rows depend on their neighbours in the order
        given, which makes leave-one-out scores too good: see `dependence_`.  Only if single rows
        are left out, neither `groups` nor the folds of `cv`.
    time_budget : float or str, optional
        Time for the evaluation of candidates, in seconds or as ``"2 min"``, ``"1h"``.  When it is
        over, the search ends after the candidate under way (but not before the first), selects
        among the finished ones and warns with a SearchStoppedWarning.  The last training comes on
        top.
    checkpoint : str or path, optional
        A file for a search that does not finish, by its `time_budget` or Ctrl-C: the outcomes of
        its finished candidates.  If the file exists, ``fit`` takes them over and evaluates the
        others, with the results of a search that was never stopped; it is an error if it comes
        from other data or other parameters.  A search that finishes deletes it.
    coarse_first : bool, default=False
        Whether candidates come in stages, those of a coarse grid first, so that a search that is
        stopped has tried values from all over it.  Costs some time, as neighbours are farther
        apart.
    widen : list of str, default=()
        Parameters with positive values whose axis gets two more values, in steps of the same
        factor, on the side where the selected candidate is at its end; once.
    n_trials : int, optional
        How many candidates are evaluated, at most, if there are ranges or a study; 80 by default.
    study : optuna.study.Study or optuna.samplers.BaseSampler, optional
        Proposes the candidates, one after the other, from Optuna's distributions in `param_grid`,
        and is told their scores.  It is to be maximised; a sampler is that of a new study.

    Attributes
    ----------
    cv_results_ : dict of arrays
        GridSearchCV's columns.  Where left-out rows are scored together there is no spread
        between folds, and ``std_test_score`` is the standard error of the score: binomial for
        accuracy, from what each row contributes for the area under the ROC curve and the log
        loss, by drawing rows for other scores (groups, if these are left out); NaN for bounds.
        And for each candidate ``loo_error`` (of exact leave-one-out; by the span-rule with
        ``method="span_rule"`` and bounds, NaN with ``"kfold"``; of groups if these are left out),
        ``loo_hinge`` (hinge loss of the left-out predictions; of a regression ``loo_loss``, their
        mean squared residual in units of the variance of y), ``n_in_bound``, ``n_bounded``,
        ``n_empty`` (numbers of in-bound and bounded support vectors, and of those with empty
        Lambda_p; summed over pairs of classes, averaged over folds) and ``converged``, False if
        the training stopped early (`max_iter`), which is warned of.  Candidates that were not
        evaluated, as the search was stopped, have NaN as scores and times, and the last rank.
    best_index_, best_params_, best_score_
        The selected candidate.  Not set if `refit` is False and there are several scores.
    corrected_score_ : float
        Score of the selected model, corrected for being the best of many candidates: the one to
        expect on new rows.  Computed on first access.  Not available for bounds, and if `refit`
        is a function.
    corrected_interval_ : (float, float)
        Its 95% CI.
    dependence_ : Dependence or None
        How much worse rows are predicted that leave the selected model together with their
        neighbours in the file, and whether that is more than chance; None if it was not looked for,
        or of fewer than 60 rows.  See :class:`spansvm.search.Dependence`.
    committee_ : Committee or RegressionCommittee
        The candidates that could have been the best, as one model that predicts their mean;
        trained on first access.
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
    stopped_ : str or None
        Why the search ended before all candidates were evaluated: ``"budget"`` or, after Ctrl-C,
        ``"interrupted"``; None if it did not.
    n_resumed_ : int
        Number of candidates that were taken over from a checkpoint.
    widened_ : list of spansvm.search.evaluation.stages.Widened
        The axes that were widened.
    search_time_ : float
        Seconds, by the clock, until a candidate was selected.
    refit_time_ : float
    classes_, n_features_in_, feature_names_in_
        Those of the best estimator.

    See Also
    --------
    sklearn.model_selection.GridSearchCV : Search by cross-validation, for any estimator.
    spansvm.SpanSVC : Weighted classifier with leave-one-out predictions.
    spansvm.Committee : Several candidates as one classifier.
    spansvm.SpanSearchDisplay : Plot the scores of a search.
    spansvm.analyze : All estimates and bounds for one fitted model.
    spansvm.search.scoring.scorers.SpanScorer : ``span_scorer``, leave-one-out for GridSearchCV.

    Notes
    -----
    Leave-one-out methods fit the transformers of a pipeline, ``gamma="scale"`` and
    ``class_weight="balanced"`` once, on all rows, including the left-out one.  With a transformer
    that looks at the labels (feature selection, target encoding) this would be optimistic.  Such a
    step is noticed: one that is not known from scikit-learn is fitted with the labels and with
    permuted ones before the search, and its rows are compared.  Then all candidates are evaluated
    by five stratified folds, as in GridSearchCV, or by leaving out one group at a time, with a
    warning; other methods that are asked for by name are refused.  The same applies to samplers.
    `cv` silences the warning.

    Leave-one-out methods do not count rows whose ``sample_weight`` is 0.  Other weights bound
    multipliers and are not counts: they do not weight the scores unless metadata routing says so.
    With `cv`, ``sample_weight`` weights the scores if the installed scikit-learn does that in
    GridSearchCV (from 1.9 on).

    Scorers receive a classifier that gives left-out predictions; its parameters and fitted
    attributes (``support_``, the steps of a pipeline) are those of the trained candidate.

    An estimator that the engine does not know (a random forest, LinearSVC, a grid whose last step
    varies between estimators) has the folds, scores, `cv_results_` and the selected candidate of
    GridSearchCV.  `corrected_score_` is computed from the predictions of the folds.  `ties`,
    `gram_budget`, `time_budget`, `checkpoint`, `coarse_first` and `widen` have no effect, and a
    `method` other than ``"kfold"`` is an error.

    Callbacks of scikit-learn (1.9 and later) are set by ``set_callbacks``.

    Leave-one-out is optimistic if rows come in groups (recordings of one person): pass `groups` to
    ``fit``, and whole groups are left out.  They are predicted, but left out exactly if they are
    large or the prediction is doubtful.

    After Ctrl-C, which ``fit`` passes on as a KeyboardInterrupt, ``cv_results_`` and
    ``best_params_`` cover the finished candidates and folds, and the `checkpoint` is written.

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
        pre_dispatch: Any = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
        gram_budget: float | str | None = None,
        corrected: bool = True,
        check_dependence: bool = True,
        time_budget: float | str | None = None,
        checkpoint: str | PathLike[str] | None = None,
        coarse_first: bool = False,
        widen: Sequence[str] = (),
        n_trials: int | None = None,
        study: Any = None,
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
        self.pre_dispatch = pre_dispatch
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.gram_budget = gram_budget
        self.corrected = corrected
        self.check_dependence = check_dependence
        self.time_budget = time_budget
        self.checkpoint = checkpoint
        self.coarse_first = coarse_first
        self.widen = widen
        self.n_trials = n_trials
        self.study = study

    def _list_candidates(self) -> list[dict[str, Any]]:
        self._plan = None
        if self.study is None and not has_ranges(self.param_grid):
            if self.n_trials is not None:
                raise ValueError(
                    "n_trials is for ranges and studies; param_grid lists its candidates."
                )
            return list_candidates(self.param_grid)
        n_trials = DEFAULT_TRIALS if self.n_trials is None else self.n_trials
        if not isinstance(n_trials, Integral) or n_trials < 1:
            raise ValueError(f"n_trials must be a whole number of at least 1; got {n_trials!r}.")
        if self.widen:
            raise ValueError("widen is for grids; a range has the ends that it is given.")
        if self.study is None:
            self._plan = plan_ranges(self.param_grid, int(n_trials))
        elif self.checkpoint is None:
            self._plan = StudyPlan(self.study, self.param_grid, int(n_trials))
        else:
            raise ValueError("checkpoint is for searches without a study, which keeps its own.")
        return self._plan.candidates
