"""``Report``: everything on the report's page, gathered as plain data."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
import sklearn
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._validation import n_rows
from ..search.composite import unwrap
from ..svc import SpanSVC
from .loo_figures import (
    LeaveOneOutFigures,
    TrainedModel,
    describe_leave_one_out,
    describe_trained,
)
from .plain import cut, plain
from .searched import SearchedCandidates, describe_search
from .suspicious import SuspiciousTable, list_suspicious
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
    cautions : list of str
        Reasons not to use the model at all: classes that it never predicts.
    suspicious : SuspiciousTable
    test : dict or None
        Scores on held-out rows, as given.
    notes : list of str
    versions : dict
    trained : TrainedModel or None
        If the search had only a sample of the rows: the model that was then trained on all.  All
        other figures are those of a model trained on the sample.
    facts : dict or None
        What else is known about how the search was made, as given.

    See Also
    --------
    SpanSearch : The search that it reports on.
    spansvm.report.write_report : Writes it as an HTML page.
    spansvm.report.write_json : Writes it as JSON.
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
    trust: Trust
    cautions: list[str]
    suspicious: SuspiciousTable
    test: dict[str, Any] | None
    notes: list[str]
    versions: dict[str, str]
    trained: TrainedModel | None = None
    facts: dict[str, Any] | None = None

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
        test: Mapping[str, Any] | None = None,
        notes: Sequence[str] = (),
        trained: SpanSVC | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> Report:
        """Gather what a fitted search found.

        Parameters
        ----------
        search : SpanSearch
            Fitted, with `refit`, on a :class:`~spansvm.SpanSVC` or a pipeline that ends in one.
        X, y
            The rows and labels that it was fitted on.
        title : str
        row_ids : sequence, optional
            Names of the rows; by default the index of a data frame, or numbers from 0.
        feature_names : sequence of str, optional
            By default the columns of a data frame, or ``x0``, ``x1``, ...
        command : str, optional
            The exact command, to show on the page.
        test : dict, optional
            Scores on held-out rows, by name.  ``"error"`` is shown at the top, with a 95% CI if
            ``"n_rows"`` is given.
        notes : sequence of str
            What else a reader should know.
        trained : SpanSVC, optional
            If the search had only a sample of the rows: the model trained on all of them.
        facts : dict, optional
            What else is known about how the search was made, for the page and the JSON.
        """
        check_is_fitted(search)
        model = _machine(search)
        labels = np.asarray(y)
        if n_rows(X) != model.shape_fit_[0] or not np.array_equal(labels, model.training_labels_):
            raise ValueError(
                "X and y must be the rows and labels that the search was fitted on: it had "
                f"{model.shape_fit_[0]} rows; X has {n_rows(X)}, and y has shape {labels.shape}."
            )
        names = _feature_names(X, feature_names, readable=model.kernel != "precomputed")
        searched = describe_search(search)
        with model.machines_.holding_grams():
            figures = describe_leave_one_out(model)
            trust = describe_trust(model, figures, _selected_error(searched, figures))
        return cls(
            title=title,
            created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            command=command,
            n_features=int(search.n_features_in_),
            steps=_steps(search.best_estimator_),
            best_params=plain(search.best_params_),
            search=searched,
            leave_one_out=figures,
            trust=trust,
            cautions=_cautions(searched, figures),
            suspicious=list_suspicious(model, X, _row_ids(X, row_ids), names),
            test=None if test is None else plain(test),
            notes=[str(note) for note in notes],
            versions=_versions(),
            trained=None if trained is None else describe_trained(trained),
            facts=None if facts is None else plain(facts),
        )

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
            "cautions": self.cautions,
            "doubts": trust.doubts,
            "n_suspicious": self.suspicious.n_contradicted,
            "test": self.test,
        }

    def to_json(self) -> str:
        """Everything as JSON; numbers that are not finite become null."""
        content = {"summary": self.summary, **plain(asdict(self))}
        return json.dumps(content, indent=1, allow_nan=False)


def _machine(search: Any) -> SpanSVC:
    """The selected SVM; an error if there is none, or it is not a SpanSVC."""
    if not hasattr(search, "best_estimator_"):
        raise ValueError(
            "The search has no best_estimator_; a report needs a search with refit=True."
        )
    machine = unwrap(search.best_estimator_).machine
    if not isinstance(machine, SpanSVC):
        raise TypeError(
            "A report needs a search over a SpanSVC, which keeps its leave-one-out values; "
            f"got {type(machine).__name__}."
        )
    return machine


def _steps(estimator: Any) -> list[str]:
    """Names of the transformers and of the SVM."""
    if isinstance(estimator, Pipeline):
        return [name for _, step in estimator.steps for name in _steps(step)]
    return [] if estimator in (None, "passthrough") else [type(estimator).__name__]


def _if_error(search: SearchedCandidates, name: str) -> Any:
    """An attribute of the corrected score, if that is an error."""
    known = search.corrected if search.selects_by_error else None
    return None if known is None else getattr(known, name)


def _selected_error(search: SearchedCandidates, figures: LeaveOneOutFigures) -> float | None:
    """The error to expect of the selected model; None if it was selected by another score."""
    if not search.selects_by_error:
        return None
    if search.corrected is not None:
        return search.corrected.value
    return figures.error if search.judged_error is None else search.judged_error.error


def _cautions(search: SearchedCandidates, figures: LeaveOneOutFigures) -> list[str]:
    cautions = []
    for one in figures.never_said:
        text = (
            f"The model never predicts '{one.label}' ({one.n_rows} of {figures.n_rows} rows have "
            "it)."
        )
        if one.n_rows * len(figures.classes) > figures.n_rows / 2:
            text += " The features may say little about it."
        elif search.selects_by_error:
            text += (
                " Accuracy rewards ignoring such a rare class; a score such as balanced_accuracy "
                "does not."
            )
        cautions.append(text)
    return cautions


def _row_ids(X: Any, given: Sequence[Any] | None) -> Sequence[Any]:
    if given is None:
        return list(X.index) if hasattr(X, "iloc") else range(n_rows(X))
    if len(given) != n_rows(X):
        raise ValueError(
            f"row_ids must have one entry for each of {n_rows(X)} rows; got {len(given)}."
        )
    return list(given)


def _feature_names(X: Any, given: Sequence[str] | None, *, readable: bool) -> list[str]:
    n_columns = int(np.shape(X)[1])
    if given is not None and len(given) != n_columns:
        raise ValueError(
            f"feature_names must have one entry for each of {n_columns} columns of X; got "
            f"{len(given)}."
        )
    if not readable:
        return []
    if given is None:
        given = X.columns if hasattr(X, "columns") else [f"x{i}" for i in range(n_columns)]
    return [cut(name) for name in given]


def _versions() -> dict[str, str]:
    from .. import __version__

    return {
        "spansvm": __version__,
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
