"""``analyze``: every estimate of the paper for a fitted SVC, and the quantities behind them."""

from __future__ import annotations

import html
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.svm import SVC, SVR

from ..common.methods import METHODS, Method
from ..common.types import Array, Mask, Rows
from ..common.validation import check_groups, check_rest
from ..machine.criteria import CRITERIA, SolvedModel
from ..machine.fitted_svc import read_svc
from ..machine.following import can_follow
from ..machine.groups import Remover
from ..multiclass.group_left_out import sets_of
from .regression_analysis import analyze_regression
from .svc import SpanSVC
from .svr import SpanSVR

__all__ = ["SpanAnalysis", "analyze"]


def analyze(
    svc: SVC | SpanSVC | SVR | SpanSVR,
    X: Any = None,
    y: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
) -> Any:
    """Compute every estimate of the leave-one-out error of a fitted SVM, without retraining.

    Parameters
    ----------
    svc : sklearn.svm.SVC, SpanSVC, sklearn.svm.SVR or SpanSVR
        A fitted two-class model or regression: any kernel, with or without weights.
    X : array-like or sparse matrix of shape (l, d), or of shape (l, l) if precomputed
        The training data.  A :class:`~spansvm.SpanSVC` keeps them: use ``analyze(model)``.
    y : array-like of shape (l,)
        The training labels or targets.
    sample_weight : array-like of shape (l,), optional
        The sample weights that were passed to ``fit``, if any.
    groups : array-like of shape (l,), optional
        The group of every row, for ``group_error`` and ``group_decision``; by default the groups
        that a SpanSVC was fitted with.

    Returns
    -------
    SpanAnalysis or RegressionAnalysis
        Print it to see a table.

    See Also
    --------
    spansvm.exact_loo : Exact leave-one-out decision values.
    spansvm.SpanSearch : Choose hyperparameters by these estimates.
    spansvm.LooDisplay : Plot the leave-one-out values.
    spansvm.SpanSVC : A classifier that has its leave-one-out predictions as attributes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.svm import SVC
    >>> from spansvm import analyze
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> analysis = analyze(SVC(C=10).fit(X, y), X, y)
    >>> round(analysis.span_rule, 4)
    0.0808
    >>> analysis.loo_decision.shape
    (569,)
    """
    if isinstance(svc, (SVR, SpanSVR)):
        if groups is not None:
            raise ValueError("groups are for classes here: fit a SpanSVR with groups instead.")
        return analyze_regression(svc, X, y, sample_weight)
    if isinstance(svc, SpanSVC):
        if not (X is None and y is None and sample_weight is None):
            raise ValueError("A SpanSVC keeps its training data: call analyze(model).")
        model, sets = svc.solved_model(), svc.left_out_sets_
        if groups is not None:
            sets = sets_of(check_groups(groups, svc.shape_fit_[0]))
        return SpanAnalysis(model, sets)
    if not isinstance(svc, SVC):
        hint = ""
        if hasattr(svc, "steps"):
            hint = (
                " For a pipeline, analyse the last step with the data it was fitted on: "
                "analyze(pipe[-1], pipe[:-1].transform(X), y)."
            )
        raise TypeError(
            f"analyze needs a fitted SVC, SVR, SpanSVC or SpanSVR; got {type(svc).__name__}.{hint}"
        )
    if X is None or y is None:
        raise ValueError("X and y are needed: an SVC does not keep its training data.")
    solution, gram = read_svc(svc, X, y, sample_weight)
    sets = None if groups is None else sets_of(check_groups(groups, solution.y.size))
    return SpanAnalysis(SolvedModel(gram, solution), sets)


class SpanAnalysis:
    """A trained weighted SVM with the spans of its support vectors and all estimates.

    Returned by :func:`analyze`.  Everything is computed on first access.
    Arrays have one entry per training row; rows with ``C_i = 0`` count as absent.

    Attributes
    ----------
    y : ndarray of shape (l,)
        Labels: -1.0 for the smaller, +1.0 for the larger.
    alpha, C : ndarray of shape (l,)
        Lagrange multipliers and their upper bounds, the instance weights.
    in_bound, bounded : ndarray of bool of shape (l,)
        Support vectors with ``0 < alpha < C``, and with ``alpha = C``.
    converged : bool
        Whether the model is a converged solution; if not, do not rely on anything here.
    followable : bool
        Whether removals can be followed exactly: there is memory for it, and the kernel was not
        found to be indefinite.
    indefinite : bool
        Whether the kernel was found to be indefinite; the theory needs a positive semidefinite one.
    span_rule : float
        The leave-one-out error predicted by the span-rule (Corollary 1).
    span_bound, span_count, xi_alpha, sv_count : float
        Upper bounds: Theorem 1, Lemma 2 counted, eq. xialpha_rule_fsvm, the share of support
        vectors.  The first may exceed 1.
    jaakkola_haussler, opper_winther, radius_margin : float
        Estimates derived for machines without intercept or with hard margins.
    group_error : float
        The error when whole groups are left out, as predicted by the block form.

    See Also
    --------
    spansvm.analyze : Analyse a fitted model.
    """

    def __init__(self, model: SolvedModel, sets: list[Rows] | None = None) -> None:
        self._model, self._sets = model, sets
        solution = model.solution
        if sets is not None:
            check_rest(solution.present, sets)
        self.y: Array = solution.y
        self.alpha: Array = solution.alpha
        self.C: Array = solution.C
        self.in_bound: Mask = solution.in_bound
        self.bounded: Mask = solution.bounded
        self.converged: bool = solution.converged
        self.indefinite: bool = solution.indefinite

    @property
    def followable(self) -> bool:
        """Whether removals can be followed exactly."""
        return can_follow(self._model.gram, self._model.solution)

    @property
    def span(self) -> Array:
        """``S_p`` without the box (Theorem 2); 0 for instances that are not support vectors."""
        return np.sqrt(self._model.spans.squared)

    @cached_property
    def box_span(self) -> Array:
        """``S_p`` within the box (eq. SVMSpan).

        Infinity where Lambda_p is empty, 0 for instances that are not support vectors.
        """
        spans = np.zeros(self.alpha.size)
        spans[self.in_bound] = self._model.in_bound_box_span
        spans[self.bounded] = self._model.box_span(np.flatnonzero(self.bounded))
        return spans

    @property
    def span_exists(self) -> Mask:
        """Lemma 1: the support vectors whose set Lambda_p is non-empty."""
        return self._model.span_exists

    @property
    def trusted(self) -> Mask:
        """Support vectors whose leave-one-out value is exact, up to the model's tolerance.

        For these the assumption of Theorem 2 holds: when the vector is removed, the multipliers
        that move stay strictly inside their boxes and no other instance changes side.
        All False if the model is not a converged solution.
        """
        return self._model.trusted

    @property
    def loo_decision(self) -> Array:
        """``f^p(x_p)``: the decision value of every instance, had it been left out."""
        return self._model.spans.decision

    @cached_property
    def group_decision(self) -> Array:
        """The decision value of every instance, had its group been left out."""
        if self._sets is None:
            raise ValueError("There are no groups: call analyze with groups=.")
        gram, values = self._model.gram, self.loo_decision.copy()
        remover = Remover(gram, self._model.solution)
        for rows in (rows for rows in self._sets if rows.size > 1):
            removed = remover.remove(rows)
            plain = self._model.solution.decision[rows]
            values[rows] = removed.values(plain, gram.block(rows, removed.rows))
        return values

    @property
    def group_error(self) -> float:
        """The error when whole groups are left out; rows with ``C_i = 0`` are not counted."""
        wrong = self._model.solution.wrong(self.group_decision)
        return float(wrong[self.C > 0].mean())

    def __getattr__(self, name: str) -> float:
        if name not in CRITERIA:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = CRITERIA[name](self._model)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *CRITERIA})

    @property
    def estimates(self) -> list[tuple[Method, float]]:
        """Every criterion with its value, in display order."""
        return [(METHODS[name], getattr(self, name)) for name in CRITERIA]

    @property
    def s_span(self) -> float:
        """``S``: the largest span among the in-bound vectors that have one (eq. SSpan)."""
        return self._model.s_span

    @property
    def diameter(self) -> float:
        """``D``: diameter of the smallest ball in feature space that encloses the training set."""
        return self._model.diameter

    @property
    def n_empty(self) -> int:
        """``k``: the number of in-bound vectors with an empty Lambda_p."""
        return self._model.n_empty

    def _counts(self) -> list[tuple[str, str]]:
        support = self.in_bound | self.bounded
        return [
            ("instances", f"{self._model.solution.n_instances}"),
            (
                "support vectors",
                f"{support.sum()} ({self.in_bound.sum()} in-bound, {self.bounded.sum()} bounded)",
            ),
            ("empty Lambda_p", f"{self.n_empty}"),
            ("S-span, diameter D", f"{self.s_span:.4g}, {self.diameter:.4g}"),
            ("rule exact for", f"{self.trusted.sum()} of {support.sum()} support vectors"),
        ]

    def __str__(self) -> str:
        lines = [
            f"{method.label:<20}{value:>9.4f}   {method.meaning}"
            for method, value in self.estimates
        ]
        if self._sets is not None:
            meaning = f"predicted error, {len(self._sets)} groups left out"
            lines.append(f"{'groups':<20}{self.group_error:>9.4f}   {meaning}")
        lines.append("")
        lines += [f"{label:<20} {value}" for label, value in self._counts()]
        if not self.converged:
            lines.append("The model is not a converged solution: these figures may be far off.")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"SpanAnalysis of {self._model.solution.n_instances} instances\n{self}"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(method.label)}</td><td>{value:.4f}</td>"
            f'<td style="text-align:left">{html.escape(method.meaning)}</td></tr>'
            for method, value in self.estimates
        )
        counts = "".join(
            f'<tr><td>{html.escape(label)}</td><td colspan="2" style="text-align:left">'
            f"{html.escape(value)}</td></tr>"
            for label, value in self._counts()
        )
        note = "" if self.converged else "<caption>not a converged solution</caption>"
        return f"<table>{note}<tbody>{rows}{counts}</tbody></table>"
