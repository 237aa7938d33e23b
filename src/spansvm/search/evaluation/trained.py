"""A trained candidate, and its estimator as if it had been fitted by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.multiclass import OneVsRestClassifier, _ConstantPredictor
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.preprocessing import LabelBinarizer
from sklearn.svm import SVC, SVR

from ...estimators.svr import SpanSVR
from ...estimators.weighting import weigh
from ...multiclass.machines import TrainedMachines
from ..candidates.building import candidate_estimator
from ..candidates.composite import Parts, rebuilt, unwrap
from ..candidates.fit_arguments import FitParams
from ..candidates.label_sets import LabelProblems
from ..candidates.regression_sets import TargetRows
from ..candidates.training_sets import TrainingSet

__all__ = ["Trained"]


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained candidate.

    Attributes
    ----------
    given : estimator
        That of the search.
    candidate : dict
        The parameters of the candidate.
    machine : SpanSVC or SpanSVR
        With these parameters, not fitted.
    agrees : bool
        Whether its probabilities agree with its labels, if there are two classes: the candidate's
        own machine is a SpanSVC, not an SVC.
    problems : Problems or RegressionProblems
    params : FitParams
        Of the training rows.
    machines : list of TrainedMachines, or of TrainedRegressions
        Of each problem.
    """

    given: Any
    candidate: Mapping[str, Any]
    machine: Any
    agrees: bool
    problems: Any
    params: FitParams
    machines: list[Any]

    def fitted(self) -> Any:
        """The candidate's estimator with what was found in training."""
        return self._fitted

    @cached_property
    def _fitted(self) -> Any:
        estimator = candidate_estimator(self.given, self.candidate)
        parts, rows = unwrap(estimator), self.problems.rows
        # Pipelines inside a wrapper: one-vs-rest has fitted their transformers for each class.
        within = f"{parts.outer}estimator__"
        if isinstance(self.machine, SpanSVR):
            return rebuilt(estimator, rows.fitted, fitted_regressor(self, parts, rows))
        models = [
            self._model(own, part, isinstance(parts.machine, SVC))
            for own, part in zip(self.problems.sets, self.machines, strict=True)
        ]
        model = models[0]
        if isinstance(self.problems, LabelProblems):
            model = _fitted_labels(self.problems, parts, models, within)
        elif isinstance(parts.wrapper, OneVsRestClassifier):
            model = clone(parts.wrapper)
            model.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(rows.y)
            model.classes_, model.n_features_in_ = self.problems.classes, models[0].n_features_in_
            model.estimators_ = [
                rebuilt(parts.wrapper.estimator, own.rows.fitted, machine, within)
                for own, machine in zip(self.problems.sets, models, strict=True)
            ]
        elif isinstance(parts.wrapper, CalibratedClassifierCV):
            model = clone(parts.wrapper)
            model.classes_, model.n_features_in_ = self.problems.classes, models[0].n_features_in_
            model.estimator = rebuilt(parts.wrapper.estimator, rows.fitted, models[0], within)
        return rebuilt(estimator, rows.fitted, model)

    def _model(self, own: TrainingSet, machines: TrainedMachines, as_svc: bool) -> Any:
        weights, _ = weigh(self.machine, own.y, self.params.sample_weight, self.params.scores)
        model = clone(self.machine).hold(machines, own.classes, weights)
        return model.to_svc() if as_svc else model


def _fitted_labels(
    problems: LabelProblems, parts: Parts, models: Sequence[Any], within: str
) -> Any:
    """A classifier of several labels per row with the machines of each."""
    model = clone(parts.wrapper)
    found = iter(
        rebuilt(parts.wrapper.estimator, own.rows.fitted, machine, within)
        for own, machine in zip(problems.sets, models, strict=True)
    )
    model.classes_, model.n_features_in_ = problems.classes, models[0].n_features_in_
    if isinstance(parts.wrapper, MultiOutputClassifier):
        model.estimators_ = list(found)
        return model
    model.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(problems.rows.y)
    model.estimators_ = []
    for column in problems.classes:
        if int(column) in problems.constant:
            known = np.array([int(problems.constant[int(column)])])
            own = _ConstantPredictor().fit(np.zeros((1, model.n_features_in_)), known)
        else:
            own = next(found)
        model.estimators_.append(own)
    return model


def fitted_regressor(trained: Trained, parts: Parts, rows: TargetRows) -> Any:
    """The regressor of a candidate, and what is around it, with what was found in training."""
    machines, as_given = trained.machines[0], isinstance(parts.machine, SVR)
    models = []
    for column in range(rows.targets.shape[1]):
        model = clone(trained.machine).hold(machines.of_target(column))
        models.append(model.to_svr() if as_given else model)
    if isinstance(parts.wrapper, MultiOutputRegressor):
        wrapper = clone(parts.wrapper)
        wrapper.estimators_, wrapper.n_features_in_ = models, models[0].n_features_in_
        return wrapper
    if isinstance(parts.wrapper, TransformedTargetRegressor):
        within = f"{parts.outer}regressor__"
        wrapper = rows.wrapper
        wrapper.regressor_ = rebuilt(parts.wrapper.regressor, rows.fitted, models[0], within)
        return wrapper
    return models[0]
