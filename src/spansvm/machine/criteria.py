"""Estimates and bounds of the leave-one-out error, one small function each.

All are functions of one :class:`SolvedModel`: a trained weighted SVM with the
quantities that several of them share, each computed on first access.
To add one, write a function here and an entry of the same name in :mod:`spansvm.common.methods`.

``theta(t)``, the step function of the paper, counts ``t >= 0``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..algebra.blas import one_blas_thread
from ..algebra.hull import AffineHull
from ..common.methods import METHODS
from ..common.types import Array, Mask, Rows
from ..kernels.gram import Gram, as_gram
from .dual import DualSolution
from .span import (
    Spans,
    box_span_squared,
    find_spans,
    hull_of,
    opper_winther_shift,
    removals,
    span_exists,
    with_factor,
)

__all__ = [
    "CRITERIA",
    "SolvedModel",
    "jaakkola_haussler",
    "opper_winther",
    "radius_margin",
    "span_bound",
    "span_count",
    "span_rule",
    "sv_count",
    "xi_alpha",
]


#: A prediction is exact if it meets the KKT conditions as well as the model, or to within this.
_EXACT = 1e-8


class SolvedModel:
    """A trained weighted SVM and the quantities that estimates share: spans, Lemma 1, the ball.

    Parameters
    ----------
    K : Gram or array-like of shape (l, l)
        Gram matrix of the training instances.
    solution : DualSolution
        The model trained on it.
    """

    def __init__(self, K: Gram | npt.ArrayLike, solution: DualSolution) -> None:
        self.gram = as_gram(K)
        self.solution = solution
        self._before: tuple[DualSolution, Spans] | None = None
        if len(self.gram) != solution.y.size:
            raise ValueError(
                f"K has {len(self.gram)} rows, but the solution has {solution.y.size} instances."
            )

    @cached_property
    def spans(self) -> Spans:
        """Spans without the box and leave-one-out decision values (Theorem 2)."""
        known, self._before = self._before, None
        solution = self._with_factor if known is None else self.solution
        return find_spans(self.gram, solution, known)

    def follow(self, before: SolvedModel) -> None:
        """Reuse the spans of another model on the same Gram matrix if they are the same."""
        if "spans" in vars(before):
            self._before = before.solution, before.spans

    @cached_property
    def _with_factor(self) -> DualSolution:
        return with_factor(self.gram, self.solution)

    @cached_property
    def hull(self) -> AffineHull:
        """The affine hull of the in-bound vectors."""
        return hull_of(self.gram, self._with_factor)

    def box_span(self, rows: Rows) -> Array:
        """``S_p`` within the box for the given support vectors; infinity if Lambda_p is empty."""
        return np.sqrt(box_span_squared(self.gram, self.solution, rows, self.hull, self.spans))

    @cached_property
    def span_exists(self) -> Mask:
        """Lemma 1: the support vectors whose Lambda_p is non-empty."""
        return span_exists(self.solution)

    @cached_property
    def in_bound_box_span(self) -> Array:
        """``S_p`` within the box for the in-bound vectors; infinity if Lambda_p is empty."""
        return self.box_span(np.flatnonzero(self.solution.in_bound))

    @property
    def s_span(self) -> float:
        """``S``: the largest span among the in-bound vectors that have one (eq. SSpan), or 0."""
        spans = self.in_bound_box_span
        return float(spans[np.isfinite(spans)].max(initial=0.0))

    @property
    def n_empty(self) -> int:
        """``k``: the number of in-bound vectors with an empty Lambda_p."""
        return int((self.solution.in_bound & ~self.span_exists).sum())

    @cached_property
    def training_gram(self) -> Gram:
        """Gram matrix of the instances that take part in training."""
        return self.gram.subset(self.solution.present)

    @property
    def radius(self) -> float:
        """Radius of the smallest ball that encloses the training set."""
        return self.training_gram.radius

    @property
    def diameter(self) -> float:
        """``D``: diameter of the smallest ball that encloses the training set."""
        return 2.0 * self.radius

    @cached_property
    def trusted(self) -> Mask:
        """Support vectors whose removal satisfies the assumption of Theorem 2.

        Up to the model's own tolerance; all False if the model has not converged.
        """
        mask = np.zeros(self.solution.y.size, dtype=np.bool_)
        if self.solution.converged:
            slack = max(self.solution.gap, _EXACT)
            with one_blas_thread:
                for removal in removals(self.gram, self.solution, slack, hull=self.hull):
                    mask[removal.row] = removal.exact
        return mask


def span_rule(model: SolvedModel) -> float:
    """Corollary 1: the share of instances with ``alpha_p S_p^2 >= y_p f(x_p)``."""
    return _share(model, model.spans.errors)


def span_bound(model: SolvedModel, *, ball: str = "diameter") -> float:
    """Theorem 1: ``(S sum max(D, 1/sqrt(C_p)) alpha_p + k + m) / l``.

    Parameters
    ----------
    model : SolvedModel
    ball : {"diameter", "radius"}, default="diameter"
        The meaning of ``D``.  The theorem needs the diameter, which reproduces most cells of the
        paper; the cell of splice is reproduced by the radius, which does not give a bound.
    """
    inside, reach = _reach(model, ball)
    spans = model.in_bound_box_span
    counted = float((reach * model.solution.alpha[inside])[np.isfinite(spans)].sum())
    return _share(model, model.s_span * counted + model.n_empty + _n_bounded(model))


def span_count(model: SolvedModel) -> float:
    """Lemma 2, counted: in-bound vectors with ``alpha_p S_p max(D, 1/sqrt(C_p)) >= 1``, + k + m.

    Only these, those with an empty Lambda_p and the bounded vectors can be leave-one-out errors.
    The result never exceeds the bound of Theorem 1 or the share of support vectors.
    """
    inside, reach = _reach(model, "diameter")
    products = model.solution.alpha[inside] * model.in_bound_box_span * reach
    return _share(model, int((products >= 1.0).sum()) + _n_bounded(model))


def xi_alpha(model: SolvedModel) -> float:
    """Eq. xialpha_rule_fsvm: the share of instances with ``2 alpha_p R_Delta^2 + xi_p >= 1``."""
    solution = model.solution
    products = 2.0 * solution.alpha * model.training_gram.spread + solution.slack
    return _share(model, int((products >= 1.0).sum()))


def sv_count(model: SolvedModel) -> float:
    """Eq. sv_count_bound: the share of support vectors."""
    return _share(model, int(model.solution.support.sum()))


def jaakkola_haussler(model: SolvedModel) -> float:
    """Share of instances that are support vectors with ``alpha_p K(x_p, x_p) >= y_p f(x_p)``.

    A bound for hard margins without intercept; here used as an estimate.
    """
    solution = model.solution
    shift = solution.alpha * model.gram.diagonal
    return _share(model, int(((shift >= solution.y * solution.decision) & solution.support).sum()))


def opper_winther(model: SolvedModel) -> float:
    """Share of instances that are support vectors with ``alpha_p / (K_SV^-1)_pp >= 1``.

    The span-rule without the intercept.  The formula assumes that every support vector is
    in-bound; a bounded one moves by ``alpha_p (K_pp - k_p' K_II^-1 k_p)``, compared with its own
    margin ``y_p f(x_p)``, which is the same expression where the margin is 1.
    """
    solution = model.solution
    shift = solution.alpha * opper_winther_shift(model.gram, solution)
    margin = np.where(solution.in_bound, 1.0, solution.y * solution.decision)
    return _share(model, int(((shift >= margin) & solution.support).sum()))


def radius_margin(model: SolvedModel) -> float:
    """``D^2 ||w||^2 / (4 l)``: a bound for hard margins without intercept, else an estimate."""
    return _share(model, model.radius**2 * max(model.solution.norm_squared, 0.0))


def _reach(model: SolvedModel, ball: str) -> tuple[Mask, Array]:
    """The in-bound vectors, and ``max(D, 1/sqrt(C_p))`` for each of them."""
    if ball not in ("diameter", "radius"):
        raise ValueError(f"ball must be 'diameter' or 'radius'; got {ball!r}.")
    inside = model.solution.in_bound
    size = model.diameter if ball == "diameter" else model.radius
    return inside, np.maximum(size, 1.0 / np.sqrt(model.solution.C[inside]))


def _n_bounded(model: SolvedModel) -> int:
    return int(model.solution.bounded.sum())


def _share(model: SolvedModel, count: float) -> float:
    return float(count) / model.solution.n_instances


#: The criteria by their names in :data:`spansvm.common.methods.METHODS`; smaller is better.
CRITERIA: dict[str, Callable[[SolvedModel], float]] = {
    name: globals()[name] for name, method in METHODS.items() if method.from_one_model
}
