"""A hyperparameter search: its data, its candidates, its results."""

from __future__ import annotations

import time
import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.utils import assert_all_finite, indexable
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..common.listing import ListsProperties
from ..common.methods import predicts
from ..common.validation import check_rest, check_sparse, check_weights
from ..display.search import SpanSearchDisplay
from ..estimators.weighting import check_scores
from ..machine.dual import warn_indefinite
from .candidates.building import candidate_estimator, machine_settings
from .candidates.composite import KNOWN, is_regression, take_apart
from .candidates.fit_arguments import FitParams, fit_params, refit_arguments, routed_fit_params
from .candidates.grid import select
from .candidates.label_steps import by_folds, find_label_step
from .candidates.leaving import method_used, plan_leaving
from .candidates.ranges import Plan
from .candidates.shared_data import SharedData
from .checks import (
    check_scorers,
    check_search,
    check_several_labels,
    check_targets,
    several_scores,
)
from .committee.building import Searched
from .committee.of_search import HasCommittee
from .conformal import SearchedRows, SelectedSets
from .dependence import Dependence, find_dependence, warn_of_dependence
from .evaluation.callbacks import CallbackSupportMixin, Tasks
from .evaluation.checkpoint import KeepsCheckpoint
from .evaluation.fit_lines import FIRST_LEVEL, FitLines
from .evaluation.forecast import Forecast, predict_cost
from .evaluation.progress import SearchProgress
from .evaluation.stages import INTERRUPTED, SearchStoppedWarning, Stages
from .evaluation.work import Outcome, Work
from .onnx_parser import tell_onnx
from .refit import leave_out, refit_as_judged
from .refit_targets import warn_of_bounds
from .results import report_early_stops, report_failures, results_table, score_names
from .scoring.corrected import CorrectedScore, selecting_scorer, what_to_keep
from .scoring.scorers import weighted_scorers
from .selected import SelectedModel
from .unaccelerated import find_unaccelerated, fit_by_scikit_learn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self

__all__ = ["BaseSearch"]

#: For every candidate, the outcomes by split.
_Outcomes = list[dict[int, Outcome]]


class BaseSearch(
    ListsProperties, CallbackSupportMixin, KeepsCheckpoint, CorrectedScore, SelectedSets,
    HasCommittee, SelectedModel,
    metaclass=ABCMeta,
):  # fmt: skip
    """A search over candidates; the public classes say where these come from."""

    #: Parameters of searches over a grid.
    coarse_first: bool = False
    widen: Sequence[str] = ()

    #: Proposes candidates while the search goes on, if it is not over a grid.
    _plan: Plan | None = None

    check_dependence: bool
    best_index_: Any
    best_params_: dict[str, Any]
    dependence_: Dependence | None

    @abstractmethod
    def _list_candidates(self) -> list[dict[str, Any]]:
        """The parameters of all candidates."""

    def fit(
        self,
        X: Any,
        y: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Train and evaluate all candidates, then train the selected one on all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (l, d)
            Whatever the first step of the estimator accepts.
        y : array-like of shape (l,) or (l, k)
            Labels, or k labels per row for one-vs-rest or several outputs; other estimators than
            the engine's may take other targets, or none.
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
        check_sparse(X)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)  # an interrupted search must not show the results of the last one
        self._correction = "the search has not ended"
        self._for_sets = None
        self.dependence_ = None
        self._committee, self._for_committee = (
            None,
            "the search has not ended, or scikit-learn did it",
        )
        tell_onnx(self)
        candidates = self._list_candidates()
        check_search(self, candidates)
        unknown = find_unaccelerated(self, candidates, y)
        if unknown is not None and self._plan is not None:
            raise TypeError(f"Ranges are searched for {KNOWN}; got {unknown}. List values instead.")
        if unknown is not None:
            given = {"sample_weight": sample_weight, "scores": scores, "groups": groups, **params}
            given = {name: value for name, value in given.items() if value is not None}
            fit_by_scikit_learn(self, unknown, candidates, X, y, given)
            return self
        X, labels = self._check_data(X, y, _is_regression(self, candidates))
        work, refit_params = self._sort_out(
            X, labels, candidates, sample_weight, scores, groups, params
        )
        most = len(candidates) if self._plan is None else self._plan.n_trials
        work = replace(work, keeping=what_to_keep(self, work, most, labels))
        with Tasks(self, X, labels, work, len(candidates)) as tasks:
            try:
                self._evaluate(X, labels, candidates, work, groups, tasks)
                self._look_for_dependence(X, labels, work)
            finally:
                work.shared.close()
            if self.refit is not False:
                self._refit(X, labels, work, refit_params, tasks)
        if self.stopped_ is None:
            self._end_checkpoint()
        return self

    def _evaluate(
        self, X: Any, y: np.ndarray, candidates: list[dict[str, Any]], work: Work, groups: Any,
        tasks: Tasks,
    ) -> None:  # fmt: skip
        """Train and evaluate all candidates, and select one."""
        about: dict[str, str] = {}
        if self.checkpoint is not None:
            about = self._about(work, X, y, candidates)
        stages = Stages(self, work, X, y, candidates, self._finished_before(about))
        outcomes = stages.outcomes
        started = time.perf_counter()
        progress = SearchProgress(
            len(candidates),
            len(work.splits),
            shown=0 < self.verbose < FIRST_LEVEL,
            forecast=self._forecast,
        )
        lines = FitLines(self.verbose, len(candidates), work.leaving.n_splits, self.error_score)
        try:
            with (
                tasks.searching(), progress, self._noticing_stops() as asked_to_stop,
                closing(stages.run(progress, asked_to_stop)) as results,
            ):  # fmt: skip
                for index, split, outcome in results:
                    own = outcome.by_split(split, work.leaving)
                    outcomes[index].update(own)
                    if self.error_score == "raise" and outcome.exception is not None:
                        raise outcome.exception
                    progress.advance(index, outcome.headline)
                    lines.tell(index, stages.candidates[index], own)
                    tasks.evaluated(index, split)
        except KeyboardInterrupt:
            self._keep(stages.candidates, outcomes, work)
            self._correct(outcomes, work, X, y, groups)
            self._write_checkpoint(stages, about)
            self.stopped_: str | None = INTERRUPTED
            self.search_time_ = time.perf_counter() - started
            raise
        self.stopped_, self.widened_ = stages.stopped, stages.widened
        self.n_resumed_ = stages.n_known
        if self.stopped_ is not None:
            self._write_checkpoint(stages, about)
        done = [index for index, own in enumerate(outcomes) if own]
        evaluated = [stages.candidates[i] for i in done]
        jobs = self.n_jobs, self.pre_dispatch
        name = selecting_scorer(self)
        self._remember(Searched(work, X, y, evaluated, groups, jobs, name))
        self._store([stages.candidates[i] for i in done], [outcomes[i] for i in done], work)
        self._correct(outcomes, work, X, y, groups)
        if self.stopped_ is not None:
            self._add_waiting(stages, done, work)
        self.search_time_ = time.perf_counter() - started

    def _widens(self, seconds: float) -> bool:
        """Whether axes are widened, after a search that took so long."""
        return bool(self.widen)

    @contextmanager
    def _noticing_stops(self) -> Iterator[Callable[[], bool]]:
        """A function that tells, within the block, whether the search has been asked to stop."""
        yield lambda: False

    def _add_waiting(self, stages: Stages, done: list[int], work: Work) -> None:
        """List the candidates that were not evaluated as well, and warn of them."""
        names = score_names(stages.outcomes)
        self._lay_out(stages.candidates, stages.outcomes, names, work)
        if hasattr(self, "best_index_"):
            self.best_index_ = np.intp(done[self.best_index_])
        goes_on = "" if self.checkpoint is None else " A search with this checkpoint goes on."
        warnings.warn(
            f"The search was stopped after {len(done)} of {len(stages.candidates)} candidates; the "
            f"others have no scores in cv_results_.{goes_on}",
            SearchStoppedWarning,
            stacklevel=4,
        )

    def _refit(
        self, X: Any, y: np.ndarray, work: Work, arguments: dict[str, Any], tasks: Tasks
    ) -> None:
        """Train the selected model on all rows."""
        started = time.perf_counter()
        best = candidate_estimator(self.estimator, self.best_params_)
        with tasks.refitting(best):
            self.best_estimator_ = refit_as_judged(best, X, y, arguments, self.gram_budget)
        sets = work.leaving.sets if work.leaving.pooled else None
        if sets is not None:
            leave_out(self.best_estimator_, sets)
        self._for_sets = SearchedRows(X, y, work.params, sets, self.gram_budget)
        if work.regression:
            warn_of_bounds(take_apart(best), y, self.cv_results_, self.best_index_)
        self.refit_time_ = time.perf_counter() - started
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_

    def _look_for_dependence(self, X: Any, y: np.ndarray, work: Work) -> None:
        """Whether rows depend on their neighbours, if single rows were left out."""
        if not self.check_dependence or not work.leaving.single_rows:
            return
        best = getattr(self, "best_index_", None)
        if best is None or np.isnan(self.cv_results_["loo_error"][best]):  # it failed
            return
        self.dependence_ = find_dependence(work, X, y, self.best_params_)
        if self.dependence_ is not None:
            warn_of_dependence(self.dependence_, regression=work.regression)

    #: What the next search is expected to take.
    _forecast: Forecast | None = None

    def forecast(
        self,
        X: Any,
        y: npt.ArrayLike | None = None,
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
        spansvm.search.evaluation.forecast.Forecast or None
            With ``seconds``, ``gram`` and ``gram_bytes``; None for a search that takes no longer
            than a trial.
        """
        if getattr(self, "study", None) is not None:
            raise ValueError("What a study will propose is not known, nor what that will take.")
        check_sparse(X)
        candidates = self._list_candidates()
        check_search(self, candidates)
        unknown = find_unaccelerated(self, candidates, y)
        if unknown is not None:
            raise TypeError(f"The engine can tell what it will take for {KNOWN}; got {unknown}")
        X, labels = self._check_data(X, y, _is_regression(self, candidates))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fit will give them
            work, _ = self._sort_out(X, labels, candidates, sample_weight, scores, groups, params)
            self._forecast = predict_cost(work, X, labels, candidates, self.n_jobs)
        return self._forecast

    def plot(
        self, *, axes: str | Sequence[str] | None = None, score: str | None = None,
        ax: Axes | None = None, **options: Any,
    ) -> SpanSearchDisplay:  # fmt: skip
        """Plot the scores of the candidates over one or two parameters; needs matplotlib.

        Parameters
        ----------
        axes : str or tuple of one or two str, optional
            The parameters to show, the horizontal one first; by default those that vary.
        score : str, optional
            The metric, if there are several; by default the one that `refit` names.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on a new figure.
        **options : dict
            For :meth:`spansvm.SpanSearchDisplay.plot`.

        Returns
        -------
        SpanSearchDisplay
            With ``figure_`` and ``ax_``; its ``from_search`` plots searches of scikit-learn, too.
        """
        return SpanSearchDisplay.from_search(self, axes=axes, score=score, ax=ax, **options)

    def _check_data(
        self, X: Any, y: npt.ArrayLike | None, regression: bool
    ) -> tuple[Any, np.ndarray]:
        check_scorers(self)
        if y is None:
            raise ValueError(
                "An SVM requires y to be passed, but the target y is None: it needs labels."
            )
        X, y = indexable(X, y)
        if regression:
            return X, check_targets(self.estimator, y, self.method)
        several = check_several_labels(self.estimator, y, self.method)
        if several is not None:
            return X, several
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        if not predicts(self.method) and np.unique(labels).size > 2:
            raise ValueError(
                f"method={self.method!r} is defined for two classes; y has "
                f"{np.unique(labels).size}. Use 'verified', 'loo' or 'kfold'."
            )
        return X, labels

    def _sort_out(
        self, X: Any, y: np.ndarray, candidates: list[dict[str, Any]], sample_weight: Any,
        scores: Any, groups: Any, others: Any,
    ) -> tuple[Work, dict[str, Any]]:  # fmt: skip
        """Distribute the arguments to the machine, transformers, scorers and splitter."""
        scorers, regression = self._scorers(), _is_regression(self, candidates)
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
            else check_weights(params.sample_weight, len(y), name="sample_weight"),
            None if params.scores is None else check_scores(params.scores, len(y)),
            params.steps,
        )
        method = method_used(self.method, self.cv)
        if method != "kfold":
            step = find_label_step(self.estimator, candidates, X, y, checked)
            if step is not None:
                folds = "5 folds" if regression or y.ndim > 1 else "5 stratified folds"
                folds = folds if groups is None else "leaving out one group at a time"
                method = by_folds(step, self.method, folds)
        if not routing:
            refit_params = refit_arguments(self.estimator, checked)
            if sample_weight is not None and method == "kfold":
                score_params = weighted_scorers(scorers, sample_weight)
        leaving = plan_leaving(
            method, self.cv, X, y, groups, split_params, classifier=not regression
        )
        if leaving.splits[0] is None:
            weight = checked.sample_weight
            check_rest(np.ones(len(y), bool) if weight is None else weight > 0, leaving.sets)
        known = None if self.scoring is None else scorers
        if regression and known is None:
            known = {"score": get_scorer("r2")}
        work = Work(
            shared=SharedData(),
            estimator=clone(self.estimator),
            method=method,
            scorers=known,
            params=checked,
            score_params=score_params,
            leaving=leaving,
            gram_budget=self.gram_budget,
            config=get_config(),
            train_scores=bool(self.return_train_score),
            regression=regression,
        )
        return work, refit_params

    def _store(self, candidates: list[dict[str, Any]], outcomes: _Outcomes, work: Work) -> None:
        """Set the fitted attributes, except the best estimator."""
        every = [outcome for own in outcomes for outcome in own.values()]
        names = score_names(outcomes)
        report_failures(every, self.error_score, any_score=bool(names))
        report_early_stops(every)
        if any(outcome.indefinite for outcome in every):
            warn_indefinite(stacklevel=4)
        scorers = self._scorers()
        self.scorer_ = scorers["score"] if list(scorers) == ["score"] else scorers
        self._lay_out(candidates, outcomes, names, work)
        if self.multimetric_ and not (
            self.refit is False or callable(self.refit) or self.refit in names
        ):
            raise ValueError(several_scores(names, self.refit))
        for name in names:
            unknown = int(np.isnan(self.cv_results_[f"mean_test_{name}"]).sum())
            if unknown and all(outcome.exception is None for outcome in every):
                warnings.warn(
                    f"The score {name!r} is NaN for {unknown} of {len(candidates)} candidates.",
                    UserWarning,
                    stacklevel=4,
                )
        if callable(self.refit):
            self.best_index_ = self._chosen(len(candidates))
            self.best_params_ = candidates[self.best_index_]
            if not self.multimetric_:
                means = self.cv_results_["mean_test_score"]
                self.best_score_ = means[self.best_index_]
        elif not (self.multimetric_ and self.refit is False):
            self._select(candidates, self.refit if self.multimetric_ else "score")

    def _chosen(self, n_candidates: int) -> Any:
        """The index that a function in `refit` returns."""
        index = self.refit(self.cv_results_)
        if not isinstance(index, Integral):
            raise TypeError(f"best_index_ returned is not an integer: refit gave {index!r}.")
        if not 0 <= int(index) < n_candidates:
            raise IndexError(
                f"best_index_ index out of range: refit gave {index}, and there are "
                f"{n_candidates} candidates."
            )
        return index

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
        self.cv_results_ = results_table(
            candidates, outcomes, names, work.leaving, error_score, train=work.train_scores
        )
        if work.regression:
            self.cv_results_["loo_loss"] = self.cv_results_.pop("loo_hinge")

    def _select(self, candidates: list[dict[str, Any]], name: str) -> None:
        means = self.cv_results_[f"mean_test_{name}"]
        if not np.isnan(means).all():
            results = self.cv_results_
            losses = results["loo_loss"] if "loo_loss" in results else results["loo_hinge"]
            self.best_index_ = np.intp(select(means, losses, candidates, self.ties))
        elif self.n_splits_ == 1:
            raise ValueError(f"The score {name!r} is NaN for all candidates.")
        else:  # as in GridSearchCV
            warnings.warn(
                f"The score {name!r} is NaN for all candidates; the first is selected. Each has a "
                "fold without a score: set error_score to a number to select by the others.",
                UserWarning,
                stacklevel=5,
            )
            self.best_index_ = np.intp(0)
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = means[self.best_index_]

    def _keep(self, candidates: list[dict[str, Any]], outcomes: _Outcomes, work: Work) -> None:
        """Keep the results of an interrupted search; raises nothing of its own."""
        done = [i for i, own in enumerate(outcomes) if own]
        if not done:
            return
        kept, known = [candidates[i] for i in done], [outcomes[i] for i in done]
        self._lay_out(kept, known, score_names(known), work)
        name = self.refit if self.multimetric_ and isinstance(self.refit, str) else "score"
        if not np.isnan(self.cv_results_.get(f"mean_test_{name}", np.nan)).all():
            self._select(kept, name)


def _is_regression(search: BaseSearch, candidates: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the machines of the candidates are those of regressions."""
    return any(map(is_regression, machine_settings(search.estimator, candidates)))
