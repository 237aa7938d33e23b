"""``analyze`` of a regression: left-out errors by the span, bounds, and what they are made of.

With the in-bound vectors staying in-bound, row p without itself has the residual
``|r_p| + |b_p| S_p^2`` (Theorem 2 with the edge of the tube in the place of the margin); see Chang
and Lin (2005) for one C.  As in Theorem 1, ``max(|r_p|, epsilon) + |b_p| S_p D`` bounds it whatever
moves, with the span within the boxes and the diameter D of the data, if no Lambda_p is empty.
"""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.svm import SVR

from ..common.types import Array, Mask
from ..common.validation import check_rest
from ..core.leaving import span_exists
from ..machine.criteria import SolvedModel
from ..machine.span import box_span_squared
from ..regression.machines import TrainedRegressions
from ..regression.paths import Regressions
from .svr import SpanSVR

__all__ = ["RegressionAnalysis", "analyze_regression"]

#: Predictions of the given model and of ours may differ by this multiple of the tolerance, or by
#: this fraction of the spread of the targets.
_TIMES, _DIFFERENT = 20.0, 0.1


def analyze_regression(
    svr: SVR | SpanSVR,
    X: Any = None,
    y: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> RegressionAnalysis:
    """See :func:`spansvm.analyze`."""
    if isinstance(svr, SpanSVR):
        if not (X is None and y is None and sample_weight is None):
            raise ValueError("A SpanSVR keeps its training data: call analyze(model).")
        return RegressionAnalysis(svr)
    if X is None or y is None:
        raise ValueError("X and y are needed: an SVR does not keep its training data.")
    model = SpanSVR()
    own = svr.get_params()
    model.set_params(**{name: own[name] for name in own.keys() & model.get_params().keys()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it has given its own
        model.fit(X, y, sample_weight)
    apart = float(np.abs(model.predict(X) - svr.predict(X)).max())
    if apart > max(_TIMES * svr.tol, _DIFFERENT * float(np.std(np.asarray(y)))):
        raise ValueError(
            "X, y and sample_weight must be what the model was fitted on: its predictions for them "
            f"differ by up to {apart:.2g} from those of a model that is. (With a very large C the "
            "cause may be LibSVM's single-precision kernel values: use SpanSVR.)"
        )
    return RegressionAnalysis(model)


class RegressionAnalysis:
    """A trained weighted regression with the spans of its support vectors and all estimates.

    Returned by :func:`spansvm.analyze`.  Everything is computed on first access.  Arrays have one
    entry per training row; errors are in units of the target.

    Attributes
    ----------
    y : ndarray of shape (l,)
        Targets.
    beta, C : ndarray of shape (l,)
        Signed multipliers and the bounds of their sizes.
    in_bound, bounded : ndarray of bool of shape (l,)
        Support vectors strictly inside their boxes, and at their bounds.
    decision : ndarray of shape (l,)
        Predictions of the model for its training rows.

    See Also
    --------
    spansvm.analyze : Analyse a fitted model.
    """

    def __init__(self, model: SpanSVR) -> None:
        machines = model.machines_
        if not isinstance(machines, TrainedRegressions):
            raise ValueError("A saved model has no training rows: fit it again to analyse it.")
        check_rest(machines.bounds > 0)
        self._found: Regressions = machines.known()
        solution, unit = self._found.solutions[0], self._found.units[0]
        self._solution, self._unit = solution, unit
        self.epsilon = float(model.epsilon)
        self.y: Array = machines.targets[:, 0]
        self.beta, self.C = solution.beta * unit.size, machines.bounds
        self.in_bound: Mask = solution.in_bound
        self.bounded: Mask = solution.bounded
        self.decision: Array = self._found.decision[:, 0]
        self.converged = solution.converged

    @cached_property
    def _model(self) -> SolvedModel:
        return SolvedModel(self._found.gram, self._solution)

    @property
    def span(self) -> Array:
        """``S_p`` without the box; 0 for rows that are no support vectors."""
        return np.sqrt(self._model.spans.squared)

    @cached_property
    def box_span(self) -> Array:
        """``S_p`` within the box (eq. Sp_calc); infinite where Lambda_p is empty."""
        rows = np.flatnonzero(self._solution.support)
        result = np.zeros(self.y.size)
        result[rows] = np.sqrt(box_span_squared(self._found.gram, self._solution, rows))
        return result

    @cached_property
    def span_exists(self) -> Mask:
        """Lemma 1, with the side of the tube as the label; False for no support vectors."""
        return span_exists(self._solution)

    @property
    def loo_prediction(self) -> Array:
        """``f^p(x_p)`` as the span predicts it."""
        return self._found.span_values[:, 0]

    @property
    def exact_prediction(self) -> Array:
        """``f^p(x_p)``, with every removal followed exactly."""
        return self._found.exact_values[:, 0]

    @property
    def diameter(self) -> float:
        """``D``: diameter of the smallest ball in feature space that encloses the training set."""
        return 2.0 * self._found.gram.radius

    def _mean(self, values: Array) -> float:
        return float(values[self.C > 0].mean())

    @property
    def span_absolute(self) -> float:
        """Mean absolute left-out error, predicted by the span."""
        return self._mean(np.abs(self.y - self.loo_prediction))

    @property
    def span_squared(self) -> float:
        """Mean squared left-out error, predicted by the span."""
        return self._mean((self.y - self.loo_prediction) ** 2)

    @property
    def span_bound(self) -> float:
        """Bound on the mean absolute left-out error; infinite if some Lambda_p is empty."""
        return self._bound(self.box_span * self.diameter)

    @property
    def radius_bound(self) -> float:
        """The same with the diameter in the place of every span."""
        return self._bound(np.full(self.y.size, self.diameter**2))

    def _bound(self, products: Array) -> float:
        """``mean(max(|r_p|, epsilon) + |b_p| S_p D)``, with these products."""
        if not (self.in_bound.any() and self.span_exists[self._solution.support].all()):
            return np.inf
        size = np.maximum(np.abs(self.y - self.decision), self.epsilon)
        return self._mean(size + np.abs(self.beta) * products)

    @property
    def sv_count(self) -> float:
        """Bound on the share of rows that are off by more than epsilon: that of support vectors."""
        return self._mean(self._solution.support.astype(np.float64))

    @property
    def estimates(self) -> list[tuple[str, float, str]]:
        """Name, value and meaning of every estimate."""
        return [
            ("span, absolute", self.span_absolute, "predicted mean absolute left-out error"),
            ("span, squared", self.span_squared, "predicted mean squared left-out error"),
            ("span bound", self.span_bound, "bound on the mean absolute left-out error"),
            ("radius bound", self.radius_bound, "the same, with the diameter for every span"),
            ("support vectors", self.sv_count, "bound on the share off by more than epsilon"),
        ]

    def __str__(self) -> str:
        lines = [f"{name:<20}{value:>12.5g}   {told}" for name, value, told in self.estimates]
        support = self.in_bound | self.bounded
        lines += [
            "",
            f"{'instances':<20} {int((self.C > 0).sum())}",
            f"{'support vectors':<20} {support.sum()} ({self.in_bound.sum()} in-bound, "
            f"{self.bounded.sum()} bounded)",
            f"{'diameter D':<20} {self.diameter:.4g}",
        ]
        if not self.converged:
            lines.append("The model is not a converged solution: these figures may be far off.")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"RegressionAnalysis of {int((self.C > 0).sum())} instances\n{self}"
