"""``RegressionReport``: everything on the page of a search of a regression, as plain data.

The counterpart of :class:`spansvm_app.report.Report`, which has classes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from spansvm import SpanSVR
from spansvm.blocks import numbers_of, take_apart, with_span_machine
from spansvm.search import Dependence

from .about import feature_names_of, n_rows, row_ids_of, steps_of, versions
from .cautions import caution_of_labels
from .given_data import caution_of_scales
from .next_steps import NextStep, next_steps_of_targets
from .overstated import (
    Overstated,
    caution_of_neighbours,
    of_copies,
    of_leaks,
    of_neighbours,
)
from .plain import number, plain
from .recipe import Recipe, describe_recipe
from .searched import SearchedCandidates, describe_search
from .target_analyses import TargetAnalyses, describe_target_analyses
from .target_figures import (
    DoubtfulTable,
    TargetFigures,
    TrainedRegression,
    describe_targets,
    describe_trained_regression,
    list_doubtful,
)
from .target_tested import TestedTargets, describe_tested_targets
from .target_words import (
    ExpectedErrors,
    RepeatedRows,
    count_repeated,
    expected_errors,
    find_target_cautions,
    headline_of_targets,
)

__all__ = ["RegressionReport"]


@dataclass(frozen=True)
class RegressionReport:
    """What a search of a regression found, as plain data.  Create it with :meth:`from_search`.

    Attributes
    ----------
    title, created : str
        What it is about; when it was created, in UTC.
    command : str or None
        The command that created it.
    n_features : int
    steps : list of str
        The estimator: its transformers and its SVM.
    best_params : dict
        The selected parameters by their full names.
    search : SearchedCandidates
    left_out : TargetFigures
    expected : ExpectedErrors
        What to expect on new rows.
    headline : list of str
        The finding in words: how far predictions are off.
    next_steps : list of NextStep
        What to do next: about more rows, values to look at.
    recipe : Recipe
        Every step of the model with its values, and code that rebuilds it.
    repeated : RepeatedRows or None
        Rows that equal others; None if there are none.
    cautions : list of str
        Reasons not to use the model as it is.
    doubtful : DoubtfulTable
    overstated : list of Overstated
        What makes left-out rows look better than new ones: leaks, copies, neighbouring rows.
    test : dict or None
        Errors on test rows, as given.
    notes : list of str
    versions : dict
    trained : TrainedRegression or None
        If the search had only a sample of the rows: the model that was then trained on all.  All
        other figures are those of a model trained on the sample.
    facts : dict or None
        What else is known about how the search was made, as given.
    analyses : TargetAnalyses or None
        Studies of the selected model: baselines, intervals, influence of features, learning curve.

    See Also
    --------
    SpanSearch : The search that it reports on.
    spansvm_app.report.write_report : Writes it as an HTML page.
    spansvm_app.report.write_json : Writes it as JSON.
    """

    title: str
    created: str
    command: str | None
    n_features: int
    steps: list[str]
    best_params: dict[str, Any]
    search: SearchedCandidates
    left_out: TargetFigures
    expected: ExpectedErrors
    headline: list[str]
    next_steps: list[NextStep]
    recipe: Recipe
    repeated: RepeatedRows | None
    cautions: list[str]
    doubtful: DoubtfulTable
    overstated: list[Overstated]
    test: dict[str, Any] | None
    notes: list[str]
    versions: dict[str, str]
    trained: TrainedRegression | None = None
    facts: dict[str, Any] | None = None
    analyses: TargetAnalyses | None = None

    @classmethod
    def from_search(
        cls,
        search: Any,
        X: Any,
        y: npt.ArrayLike,
        *,
        title: str = "Hyperparameter search",
        row_ids: Sequence[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        command: str | None = None,
        loading: str | None = None,
        fit_arguments: Mapping[str, str] | None = None,
        test: Mapping[str, Any] | None = None,
        notes: Sequence[str] = (),
        trained: SpanSVR | None = None,
        facts: Mapping[str, Any] | None = None,
        analyses: bool = True,
    ) -> RegressionReport:
        """Gather what a fitted search found.

        Parameters
        ----------
        search : SpanSearch
            Fitted, with `refit`, on a :class:`~spansvm.SpanSVR`, an :class:`sklearn.svm.SVR`
            without weights of rows, or a pipeline that ends in one.
        X, y
            The rows and targets that it was fitted on.
        title : str
        row_ids : sequence, optional
            Names of the rows; by default the index of a data frame, or numbers from 0.
        feature_names : sequence of str, optional
            By default the columns of a data frame, or ``x0``, ``x1``, ...
        command : str, optional
            The exact command, to show on the page.
        loading : str, optional
            Python code that defines `X` and `y`, for the program that makes the model again.
        fit_arguments : dict, optional
            Further arguments of ``fit`` in that program: code, by name.
        test : dict, optional
            Errors on test rows, by name: ``"rmse"`` with ``"rmse_interval"`` and ``"r2"`` are
            compared with what the search expects.
        notes : sequence of str
            What else a reader should know.
        trained : SpanSVR, optional
            If the search had only a sample of the rows: the model trained on all of them.
        facts : dict, optional
            What else is known about how the search was made, for the page and the JSON.
        analyses : bool, default=True
            Whether to study the selected model: other models on the same rows, intervals, influence
            of features, a learning curve.
        """
        check_is_fitted(search)
        targets = np.asarray(y, dtype=np.float64)
        if hasattr(search, "best_estimator_"):
            search = with_span_machine(search, X, targets)
        model = _regression(search)
        if n_rows(X) != model.shape_fit_[0] or not np.array_equal(
            targets, np.asarray(model.machines_.targets[:, 0])
        ):
            raise ValueError(
                "X and y must be the rows and targets that the search was fitted on: it had "
                f"{model.shape_fit_[0]} rows; X has {n_rows(X)}, and y has shape {targets.shape}."
            )
        names = feature_names_of(X, feature_names, readable=model.kernel != "precomputed")
        searched = describe_search(search, (facts or {}).get("seconds"))
        sets = model.left_out_sets_
        figures = describe_targets(model, None if sets is None else numbers_of(sets, targets.size))
        repeated = count_repeated(model)
        studied = None
        if analyses:
            memorises = repeated is not None and repeated.matter(figures.errors.rmse)
            studied = describe_target_analyses(
                search, X, targets, names, searched, figures, memorises=memorises
            )
        doubtful = list_doubtful(model, X, row_ids_of(X, row_ids), names)
        overstated = _overstated(studied, repeated, figures, search.dependence_)
        return cls(
            title=title,
            created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            command=command,
            n_features=int(search.n_features_in_),
            steps=steps_of(search.best_estimator_),
            best_params=plain(search.best_params_),
            search=searched,
            left_out=figures,
            expected=expected_errors(searched, figures),
            headline=headline_of_targets(
                searched,
                figures,
                None if studied is None else studied.intervals,
                None if studied is None else studied.comparison,
                overstated,
            ),
            next_steps=next_steps_of_targets(doubtful, studied, overstated),
            recipe=describe_recipe(
                search.best_estimator_, trained or model, loading, fit_arguments or {}
            ),
            repeated=repeated,
            cautions=[
                *caution_of_labels(search.best_estimator_, X, targets),
                *caution_of_scales(model, names),
                *caution_of_neighbours(
                    search.dependence_,
                    "predictions are off by",
                    "tenth of the targets",
                    lambda error: number(figures.rmse_of(error), 3),
                ),
                *find_target_cautions(searched, figures, model, repeated),
                *(studied.cautions if studied else ()),
            ],
            doubtful=doubtful,
            overstated=overstated,
            test=None if test is None else plain(test),
            notes=[str(note) for note in notes],
            versions=versions(),
            trained=None if trained is None else describe_trained_regression(trained),
            facts=None if facts is None else plain(facts),
            analyses=studied,
        )

    @property
    def tested(self) -> TestedTargets | None:
        """What the errors on test rows say; None if there are none."""
        if self.test is None:
            return None
        return describe_tested_targets(self.test, self.search, self.expected)

    @property
    def setting(self) -> str:
        """The selected candidate in words."""
        return self.search.setting(self.search.best_index)

    @property
    def summary(self) -> dict[str, Any]:
        """The main figures, as plain data."""
        figures, search = self.left_out, self.search
        errors = figures.errors
        return {
            "title": self.title,
            "task": "regression",
            "headline": self.headline,
            "next_steps": [asdict(one) for one in self.next_steps],
            "setting": self.setting,
            "best_params": self.best_params,
            "expected": asdict(self.expected),
            "corrected": None if search.corrected is None else asdict(search.corrected),
            "n_compared": search.n_compared,
            "score_name": search.scoring,
            "score": search.scores[search.scoring][search.best_index],
            "loo_rmse": errors.rmse,
            "loo_rmse_interval": errors.rmse_interval,
            "loo_mae": errors.mae,
            "loo_r2": errors.r2,
            "loo_r2_interval": errors.r2_interval,
            "mean_rmse": figures.mean_error,
            "n_rows": figures.n_rows,
            "trained": None if self.trained is None else asdict(self.trained),
            "n_candidates": search.n_candidates,
            "n_failed": search.n_failed,
            "n_support": figures.n_support,
            "n_in_bound": figures.n_in_bound,
            "repeated": None if self.repeated is None else asdict(self.repeated),
            "cautions": self.cautions,
            "n_doubtful": self.doubtful.n_doubtful,
            "test": self.test,
            "test_findings": [] if self.tested is None else self.tested.findings,
        }

    def to_json(self) -> str:
        """Everything as JSON; numbers that are not finite become null."""
        tested = None if self.tested is None else asdict(self.tested)
        content = {"summary": plain(self.summary), **plain(asdict(self)), "tested": plain(tested)}
        return json.dumps(content, indent=1, allow_nan=False)


def _overstated(
    analyses: TargetAnalyses | None, repeated: RepeatedRows | None, figures: TargetFigures,
    dependence: Dependence | None,
) -> list[Overstated]:  # fmt: skip
    """What makes left-out rows look better than new ones."""
    found: list[Overstated | None] = [of_neighbours(dependence, figures.rmse_of)]
    leaks = None if analyses is None else analyses.leaks
    if leaks is not None and leaks.error_without_all is not None:
        found.append(of_leaks([leak.name for leak in leaks.found], leaks.error_without_all))
    if repeated is not None and repeated.many(figures.errors.rmse):
        found.append(of_copies(repeated.error_together))
    return [one for one in found if one is not None]


def _regression(search: Any) -> SpanSVR:
    """The selected regression; an error if there is none, or it is not a SpanSVR."""
    if not hasattr(search, "best_estimator_"):
        raise ValueError(
            "The search has no best_estimator_; a report needs a search with refit=True."
        )
    parts = take_apart(search.best_estimator_)
    machine = parts.machine
    if not isinstance(machine, SpanSVR) or parts.wrapper is not None:
        within = "" if parts.wrapper is None else f" within {type(parts.wrapper).__name__}"
        raise TypeError(
            "A report of a regression needs a search over a SpanSVR or an SVR, alone or in a "
            f"pipeline; got {type(machine).__name__}{within}. For classes, use Report."
        )
    return machine
