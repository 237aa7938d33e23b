"""How far the span-rule can be trusted for the selected model, and all other estimates."""

from __future__ import annotations

from dataclasses import dataclass

from ..analysis import SpanAnalysis
from ..pairs import class_pairs
from ..svc import SpanSVC
from .loo_figures import LeaveOneOutFigures
from .plain import cut, percent, plain

__all__ = ["Estimate", "Trust", "TrustOfPair", "describe_trust"]

#: Where the span-rule is known to be weak: fewer rows than this, fewer in-bound vectors, a greater
#: share of the majority-class error.
_FEW_ROWS, _FEW_IN_BOUND, _NOISY = 100, 10, 0.75


@dataclass(frozen=True)
class TrustOfPair:
    """Support vectors of the machine for two classes, by kind."""

    classes: list[str]
    n_rows: int
    n_support: int
    n_in_bound: int
    n_bounded: int
    n_empty: int
    n_trusted: int
    converged: bool


@dataclass(frozen=True)
class Estimate:
    """One estimate of the leave-one-out error, and what it is."""

    name: str
    label: str
    value: float | None
    meaning: str


@dataclass(frozen=True)
class Trust:
    """How far the span-rule can be trusted for the model.

    Attributes
    ----------
    pairs : list of TrustOfPair
    exact_share : float
        Share of the rows for which the rule is exact: rows that are not support vectors, and
        ``trusted`` support vectors; over all pairs.
    verdict : str
        In plain words.
    doubts : list of str
        Reasons to compare with exact leave-one-out; empty if there are none.
    estimates : list of Estimate
        All estimates; for two classes only.
    """

    pairs: list[TrustOfPair]
    exact_share: float
    verdict: str
    doubts: list[str]
    estimates: list[Estimate]

    @property
    def n_support(self) -> int:
        """Support vectors, over all pairs."""
        return sum(pair.n_support for pair in self.pairs)

    @property
    def n_trusted(self) -> int:
        """Support vectors for which the rule is exact."""
        return sum(pair.n_trusted for pair in self.pairs)


def describe_trust(
    model: SpanSVC, figures: LeaveOneOutFigures, selected_error: float | None
) -> Trust:
    """How far the span-rule can be trusted for a fitted model, and all other estimates.

    Parameters
    ----------
    model : SpanSVC
    figures : LeaveOneOutFigures
    selected_error : float or None
        The error by which the model was selected; None if it was selected by another score.
    """
    analyses = [SpanAnalysis(solved) for solved in model.solved_models()]
    pairs = [
        TrustOfPair(
            classes=[cut(model.classes_[index]) for index in pair],
            n_rows=int((analysis.C > 0).sum()),
            n_support=int((analysis.in_bound | analysis.bounded).sum()),
            n_in_bound=int(analysis.in_bound.sum()),
            n_bounded=int(analysis.bounded.sum()),
            n_empty=analysis.n_empty,
            n_trusted=int(analysis.trusted.sum()),
            converged=analysis.converged,
        )
        for pair, analysis in zip(class_pairs(len(model.classes_)), analyses, strict=True)
    ]
    n_rows, n_support, n_trusted = (
        sum(getattr(pair, name) for pair in pairs) for name in ("n_rows", "n_support", "n_trusted")
    )
    sets = model.left_out_sets_
    return Trust(
        pairs=pairs,
        exact_share=(n_rows - n_support + n_trusted) / n_rows,
        verdict=_verdict(n_rows, n_support, n_trusted, len(pairs))
        if sets is None
        else _verdict_on_groups(len(sets)),
        doubts=_doubts(pairs, figures, selected_error, analyses[0].indefinite, sets is not None),
        estimates=_estimates(analyses[0]) if len(pairs) == 1 else [],
    )


def _estimates(analysis: SpanAnalysis) -> list[Estimate]:
    estimates = []
    for method, value in analysis.estimates:
        meaning = method.meaning
        if method.is_bound and not method.selects:
            # It ignores the intercept and the slack, which the model has: it may be too small.
            meaning = "a bound only for models without intercept and slack"
            if value < analysis.span_rule:
                meaning += "; not for this one, whose error is larger"
        if method.is_bound and value >= 1:
            meaning += "; at least 1, so uninformative"
        estimates.append(Estimate(method.name, method.label, plain(value), meaning))
    return estimates


def _verdict(n_rows: int, n_support: int, n_trusted: int, n_pairs: int) -> str:
    over = "" if n_pairs == 1 else f" Counts are summed over the {n_pairs} pairs of classes."
    exact = n_rows - n_support + n_trusted
    text = (
        f"The leave-one-out value is exact for {exact} of {n_rows} rows "
        f"({percent(exact / n_rows)}): {n_rows - n_support} are not support vectors, so the model "
        f"is the same without them, and the rule's assumption holds for {n_trusted} of the "
        f"{n_support} support vectors."
    )
    if n_trusted < n_support:
        text += f" For the other {n_support - n_trusted} it is a prediction."
    return text + over


def _verdict_on_groups(n_groups: int) -> str:
    return (
        f"Each of {n_groups} groups is left out at once. The prediction is followed exactly, or "
        "the model retrained, where a group is large, where fewer than ten in-bound vectors stay, "
        "or where they have no room for what the group gives up. What follows is about single "
        "rows, left out alone."
    )


def _doubts(
    pairs: list[TrustOfPair],
    figures: LeaveOneOutFigures,
    selected_error: float | None,
    indefinite: bool,
    grouped: bool,
) -> list[str]:
    doubts = []
    if not all(pair.converged for pair in pairs):
        doubts.append("The solver did not converge: do not rely on any figure of this model.")
    if indefinite:
        doubts.append("The theory assumes a positive semidefinite kernel, and this one is not.")
    empty = sum(pair.n_empty for pair in pairs)
    if empty and not grouped:
        doubts.append(
            f"{empty} in-bound {'vector has' if empty == 1 else 'vectors have'} an empty Λₚ, "
            "where the span is undefined."
        )
    fewest = min(pairs, key=lambda pair: pair.n_in_bound)
    if fewest.n_in_bound < _FEW_IN_BOUND and not grouped:
        which = f" between {' and '.join(fewest.classes)}" if len(pairs) > 1 else ""
        count = f"only {fewest.n_in_bound}" if fewest.n_in_bound else "none"
        doubts.append(
            f"The span-rule rests on in-bound vectors, and the machine{which} has {count} of them."
        )
    if figures.n_rows < _FEW_ROWS:
        doubts.append(f"There are only {figures.n_rows} rows.")
    # A model that never predicts some class already has its caution.
    if (
        selected_error is not None
        and selected_error > _NOISY * figures.majority_error
        and not figures.never_said
    ):
        doubts.append(
            "The model is hardly better than always predicting the largest class: the labels may "
            "be noisy, or the features may say little about them."
        )
    return doubts
