"""``Report``: everything on the report's page, gathered as plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from spansvm import SpanSVC, SpanSVR
from spansvm.blocks import take_apart, with_span_machine
from spansvm.search import Dependence

from .about import feature_names_of, n_rows, row_ids_of, steps_of, versions
from .analyses import Analyses, describe_analyses
from .cautions import (
    Duplicates,
    caution_of_labels,
    count_duplicates,
    find_cautions,
    suggested_scoring,
)
from .given_data import caution_of_scales, caution_of_target
from .headline import headline, may_be_constant
from .loo_figures import (
    LeaveOneOutFigures,
    TrainedModel,
    describe_leave_one_out,
    describe_trained,
)
from .next_steps import NextStep, next_steps
from .overstated import (
    Overstated,
    caution_of_neighbours,
    of_copies,
    of_leaks,
    of_neighbours,
)
from .plain import percent, plain
from .recipe import Recipe, describe_recipe
from .searched import SearchedCandidates, describe_search
from .suspicious import SuspiciousTable, list_suspicious
from .tested import TestedRows, describe_test
from .trust import Trust, describe_trust

__all__ = ["Report"]


@dataclass(frozen=True)
class Report:
    """What a search found, as plain data.  Create it with :meth:`from_search`.

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
    leave_one_out : LeaveOneOutFigures
    trust : Trust
    headline : list of str
        The finding in words: how many of ten new rows the model would misclassify.
    next_steps : list of NextStep
        What to do next: about more rows, labels to look at, classes that are missed.
    recipe : Recipe
        Every step of the model with its values, and code that rebuilds it.
    duplicates : Duplicates or None
        Rows that equal others; None if there are none.
    cautions : list of str
        Reasons not to use the model as it is: copies among the rows, classes that it does not
        predict.
    suspicious : SuspiciousTable
    overstated : list of Overstated
        What makes left-out rows look better than new ones: leaks, copies, neighbouring rows.
    test : dict or None
        Scores on test rows, as given.
    notes : list of str
    versions : dict
    trained : TrainedModel or None
        If the search had only a sample of the rows: the model that was then trained on all.  All
        other figures are those of a model trained on the sample.
    facts : dict or None
        What else is known about how the search was made, as given.
    analyses : Analyses or None
        Studies of the selected model: baselines, leaks, influence of features, costs, learning
        curve.

    See Also
    --------
    SpanSearch : The search that it reports on.
    spansvm_app.report.write_report : Writes it as an HTML page.
    spansvm_app.report.write_json : Writes it as JSON.
    LooDisplay : Plots the margins with matplotlib.
    """

    title: str
    created: str
    command: str | None
    n_features: int
    steps: list[str]
    best_params: dict[str, Any]
    search: SearchedCandidates
    leave_one_out: LeaveOneOutFigures
    headline: list[str]
    next_steps: list[NextStep]
    recipe: Recipe
    trust: Trust
    duplicates: Duplicates | None
    cautions: list[str]
    suspicious: SuspiciousTable
    overstated: list[Overstated]
    test: dict[str, Any] | None
    notes: list[str]
    versions: dict[str, str]
    trained: TrainedModel | None = None
    facts: dict[str, Any] | None = None
    analyses: Analyses | None = None

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
        trained: SpanSVC | None = None,
        facts: Mapping[str, Any] | None = None,
        analyses: bool = True,
    ) -> Report:
        """Gather what a fitted search found.

        Parameters
        ----------
        search : SpanSearch
            Fitted, with `refit`, on a :class:`~spansvm.SpanSVC`, an :class:`sklearn.svm.SVC`
            without weights of rows, or a pipeline that ends in one.
        X, y
            The rows and labels that it was fitted on.
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
            Scores on test rows, by name.  ``"error"`` is shown at the top, with a 95% CI if
            ``"n_rows"`` is given, and compared with what the search expects and with
            ``"majority_error"``.  ``"score"``, with ``"score_name"``, is that of the search.
            ``"confusion"``, a list of lists, is shown as a table, with the labels in
            ``"classes"``.
        notes : sequence of str
            What else a reader should know.
        trained : SpanSVC, optional
            If the search had only a sample of the rows: the model trained on all of them.
        facts : dict, optional
            What else is known about how the search was made, for the page and the JSON.
        analyses : bool, default=True
            Whether to study the selected model: other models on the same rows, leaks, influence of
            features, a learning curve.
        """
        check_is_fitted(search)
        labels = np.asarray(y)
        if hasattr(search, "best_estimator_"):
            search = with_span_machine(search, X, labels)
        model = _machine(search)
        if n_rows(X) != model.shape_fit_[0] or not np.array_equal(labels, model.training_labels_):
            raise ValueError(
                "X and y must be the rows and labels that the search was fitted on: it had "
                f"{model.shape_fit_[0]} rows; X has {n_rows(X)}, and y has shape {labels.shape}."
            )
        names = feature_names_of(X, feature_names, readable=model.kernel != "precomputed")
        searched = describe_search(search, (facts or {}).get("seconds"))
        with model.machines_.holding_grams():
            figures = describe_leave_one_out(model)
            trust = describe_trust(model)
            # With folds, the model leaves out single rows whatever the groups.
            grouped = bool((facts or {}).get("rows", {}).get("grouped"))
            duplicates = count_duplicates(model, grouped=grouped)
            studied = None
            if analyses:
                memorises = duplicates is not None and duplicates.matter(figures.error)
                studied = describe_analyses(search, X, labels, names, searched, memorises=memorises)
        suspicious = list_suspicious(search, X, row_ids_of(X, row_ids), names)
        unsure = may_be_constant(searched, figures, studied)
        overstated = _overstated(studied, duplicates, figures, search.dependence_)
        on_all = None if trained is None else describe_trained(trained)
        return cls(
            title=title,
            created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            command=command,
            n_features=int(search.n_features_in_),
            steps=steps_of(search.best_estimator_),
            best_params=plain(search.best_params_),
            search=searched,
            leave_one_out=figures,
            headline=headline(searched, figures, studied, on_all, overstated),
            next_steps=next_steps(searched, figures, suspicious, studied, overstated),
            recipe=describe_recipe(
                search.best_estimator_, trained or model, loading, fit_arguments or {}
            ),
            trust=trust,
            duplicates=duplicates,
            cautions=[
                *caution_of_labels(search.best_estimator_, X, labels),
                *caution_of_target(labels),
                *caution_of_scales(model, names),
                *caution_of_neighbours(search.dependence_, "the error is", "class", percent),
                *find_cautions(searched, figures, duplicates, unsure=unsure),
                *(studied.cautions if studied else ()),
            ],
            suspicious=suspicious,
            overstated=overstated,
            test=None if test is None else plain(test),
            notes=[str(note) for note in notes],
            versions=versions(),
            trained=on_all,
            facts=None if facts is None else plain(facts),
            analyses=studied,
        )

    @property
    def tested(self) -> TestedRows | None:
        """What the scores on test rows say; None if there are none."""
        if self.test is None:
            return None
        return describe_test(self.test, self.search, self.leave_one_out)

    @property
    def suggested_scoring(self) -> str | None:
        """A score that may help where a rare class is never predicted; None if there is none."""
        return suggested_scoring(self.search, self.leave_one_out)

    @property
    def setting(self) -> str:
        """The selected candidate in words."""
        return self.search.setting(self.search.best_index)

    @property
    def summary(self) -> dict[str, Any]:
        """The main figures, as plain data."""
        figures, search, trust = self.leave_one_out, self.search, self.trust
        return {
            "title": self.title,
            "headline": self.headline,
            "next_steps": [asdict(one) for one in self.next_steps],
            "setting": self.setting,
            "best_params": self.best_params,
            "corrected_error": _if_error(search, "value"),
            "corrected_error_interval": _if_error(search, "interval"),
            "corrected": None if search.corrected is None else asdict(search.corrected),
            "n_compared": search.n_compared,
            "score_name": search.scoring,
            "score": search.scores[search.scoring][search.best_index],
            "judged_error": plain(
                None if search.judged_error is None else asdict(search.judged_error)
            ),
            "loo_error": figures.error,
            "loo_error_interval": figures.interval,
            "majority_error": figures.majority_error,
            "n_rows": figures.n_rows,
            "trained": None if self.trained is None else asdict(self.trained),
            "n_candidates": search.n_candidates,
            "n_failed": search.n_failed,
            "n_support": sum(one.n_support for one in figures.classes),
            "n_in_bound": sum(pair.n_in_bound for pair in trust.pairs),
            "n_empty": sum(pair.n_empty for pair in trust.pairs),
            "exact_share": trust.exact_share,
            "duplicates": None if self.duplicates is None else asdict(self.duplicates),
            "cautions": self.cautions,
            "doubts": trust.doubts,
            "n_suspicious": self.suspicious.n_contradicted,
            "test": self.test,
            "test_findings": [] if self.tested is None else self.tested.findings,
        }

    def to_json(self) -> str:
        """Everything as JSON; numbers that are not finite become null."""
        tested = None if self.tested is None else asdict(self.tested)
        content = {"summary": self.summary, **plain(asdict(self)), "tested": plain(tested)}
        return json.dumps(content, indent=1, allow_nan=False)


def _overstated(
    analyses: Analyses | None, duplicates: Duplicates | None, figures: LeaveOneOutFigures,
    dependence: Dependence | None,
) -> list[Overstated]:  # fmt: skip
    """What makes left-out rows look better than new ones."""
    found: list[Overstated | None] = [of_neighbours(dependence, float)]
    leaks = None if analyses is None else analyses.leaks
    if leaks is not None and leaks.found and leaks.error_without_all is not None:
        found.append(of_leaks([leak.name for leak in leaks.found], leaks.error_without_all))
    if duplicates is not None and not duplicates.grouped and duplicates.many(figures.error):
        found.append(of_copies(duplicates.error_together))
    return [one for one in found if one is not None]


def _machine(search: Any) -> SpanSVC:
    """The selected SVM; an error if there is none, or it is not a SpanSVC."""
    if not hasattr(search, "best_estimator_"):
        raise ValueError(
            "The search has no best_estimator_; a report needs a search with refit=True."
        )
    machine = take_apart(search.best_estimator_).machine
    if isinstance(machine, SpanSVR):
        raise TypeError("Report is for classes; the report of a regression is a RegressionReport.")
    if not isinstance(machine, SpanSVC):
        raise TypeError(
            "A report needs a search over a SpanSVC or an SVC, alone or in a pipeline; got "
            f"{type(machine).__name__} within another class."
        )
    if not hasattr(machine, "machines_"):
        last = search.best_estimator_
        while isinstance(last, Pipeline):
            last = last.steps[-1][1]
        raise TypeError(
            "A report needs a SpanSVC, or a pipeline that ends in one; in the best estimator it is "
            f"within {type(last).__name__}, which trains copies of it."
        )
    return machine


def _if_error(search: SearchedCandidates, name: str) -> Any:
    """An attribute of the corrected score, if that is an error."""
    known = search.corrected if search.selects_by_error else None
    return None if known is None else getattr(known, name)
