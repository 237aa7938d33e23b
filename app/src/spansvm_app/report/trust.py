"""How exact the leave-one-out error of the selected model is, and all other estimates."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from spansvm import SpanAnalysis, SpanSVC

from .plain import cut, percent, plain

__all__ = ["Estimate", "Trust", "TrustOfPair", "describe_trust"]


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
    """How exact the leave-one-out error of the model is.

    Attributes
    ----------
    pairs : list of TrustOfPair
    exact_share : float
        Share of the rows for which the rule is exact: rows that are not support vectors, and
        ``trusted`` support vectors; over all pairs.
    verdict : str
        In plain words.
    doubts : list of str
        Why the error is only a prediction; empty if it is exact.
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


def describe_trust(model: SpanSVC) -> Trust:
    """How exact the leave-one-out error of a fitted model is, and all other estimates."""
    analyses = [SpanAnalysis(own) for own in model.solved_models()]
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
        for pair, analysis in zip(
            combinations(range(len(model.classes_)), 2), analyses, strict=True
        )
    ]
    n_rows, n_support, n_trusted = (
        sum(getattr(pair, name) for pair in pairs) for name in ("n_rows", "n_support", "n_trusted")
    )
    sets, doubts = model.left_out_sets_, _doubts(pairs, analyses)
    return Trust(
        pairs=pairs,
        exact_share=(n_rows - n_support + n_trusted) / n_rows,
        verdict=_verdict(n_rows, n_support, n_trusted, len(pairs), exact=not doubts)
        if sets is None
        else _verdict_on_groups(len(sets)),
        doubts=doubts,
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


def _verdict(n_rows: int, n_support: int, n_trusted: int, n_pairs: int, exact: bool) -> str:
    over = "" if n_pairs == 1 else f" Counts are summed over the {n_pairs} pairs of classes."
    known = n_rows - n_support + n_trusted
    text = (
        f"The span-rule is exact for {known} of {n_rows} rows ({percent(known / n_rows)}): "
        f"{n_rows - n_support} are not support vectors, so the model is the same without them, and "
        f"the rule's assumption holds for {n_trusted} of the {n_support} support vectors."
    )
    if n_trusted < n_support and exact:
        text += (
            f" Of the other {n_support - n_trusted}, those whose predicted class could be wrong "
            "were followed exactly: the errors counted are those of leave-one-out."
        )
    return text + over


def _verdict_on_groups(n_groups: int) -> str:
    return (
        f"Each of {n_groups} groups is left out at once. The prediction is followed exactly, or "
        "the model retrained, where a group is large, where fewer than ten in-bound vectors stay, "
        "or where they have no room for what the group gives up. What follows is about single "
        "rows, left out alone."
    )


def _doubts(pairs: list[TrustOfPair], analyses: list[SpanAnalysis]) -> list[str]:
    doubts = []
    if not all(pair.converged for pair in pairs):
        doubts.append("The solver did not converge: do not rely on any figure of this model.")
    if any(analysis.indefinite for analysis in analyses):
        doubts.append("The theory assumes a positive semidefinite kernel, and this one is not.")
    elif not all(analysis.followable for analysis in analyses):
        doubts.append("The kernel matrix does not fit into the memory allowed.")
    return doubts
