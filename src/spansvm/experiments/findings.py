"""The paper's findings, each answered with our numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from .selection import values_of
from .tables import Row, by_data_set, mean_and_error, title

__all__ = ["findings"]


def findings(summaries: Mapping[str, Sequence[Row]]) -> list[str]:
    """Sentences in Markdown, one a finding; those of experiments that were not run are left out."""
    selected = [*summaries.get("class_weights", ()), *summaries.get("instance_weights", ())]
    result = []
    if any(row["method"] == "kfold" for row in selected):
        result.append(_selection(selected))
    if any(row["method"] == "kfold" for row in summaries.get("prediction", ())):
        result.append(_prediction(summaries["prediction"]))
    if summaries.get("existence"):
        result.append(_existence(summaries["existence"]))
    if summaries.get("efficiency"):
        result.append(_efficiency(summaries["efficiency"]))
    if summaries.get("growth"):
        result.append(_growth(summaries["growth"]))
    return result


def _selection(rows: Sequence[Row]) -> str:
    sets = _with_folds(rows)
    counts = {}
    for column in ("worst", "chosen"):
        pairs = [_against_folds(rows, name, column) for name in sets]
        counts[column] = [
            sum(difference <= 1e-9 for difference, _ in pairs),
            sum(difference < -2 * error for difference, error in pairs),
            sum(difference > 2 * error for difference, error in pairs),
        ]
    worst, chosen = counts["worst"], counts["chosen"]
    return (
        "**Is the span-rule at least as good as 5-fold cross-validation?** Its mean test error is "
        f"not larger on {worst[0]} of {len(sets)} data sets with the paper's rule for ties (the "
        f"paper: 12 of 14), and on {chosen[0]} with ours. Most differences are noise: beyond two "
        f"standard errors it is better on {worst[1]} and worse on {worst[2]} with the paper's "
        f"rule, better on {chosen[1]} and worse on {chosen[2]} with ours."
    )


def _with_folds(rows: Sequence[Row]) -> list[str]:
    plain = [row for row in rows if not row["variant"]]
    return [
        name
        for name, own in by_data_set(plain).items()
        if any(row["method"] == "kfold" for row in own)
    ]


def _against_folds(rows: Sequence[Row], name: str, column: str) -> tuple[float, float]:
    """Mean difference of the test errors, and its standard error (0 for a single value)."""
    rule = np.array(values_of(rows, name, "span_rule", column))
    folds = np.array(values_of(rows, name, "kfold", column))
    difference, error = mean_and_error((rule - folds).tolist())  # one rule for all partitions
    return difference, 0.0 if np.isnan(error) else error


def _prediction(rows: Sequence[Row]) -> str:
    best, total = 0, 0
    for own in by_data_set(row for row in rows if not row["variant"]).values():
        means = {
            method: np.mean([row["rmse"] for row in own if row["method"] == method])
            for method in {row["method"] for row in own} & {"span_rule", "kfold", "xi_alpha"}
        }
        if "kfold" in means:
            total += 1
            best += means["span_rule"] == min(means.values())
    return (
        "**Is it the best predictor of the test error?** Its RMSE is the smallest on "
        f"{best} of {total} data sets (the paper: 12 of 14)."
    )


def _existence(rows: Sequence[Row]) -> str:
    plain = [row for row in rows if not row["variant"]]
    means = {
        name: float(np.mean([row["empty_mean"] for row in own]))
        for name, own in by_data_set(plain).items()
    }
    most = max(means, key=lambda name: means[name])
    share = sum(row["models_with_empty"] for row in plain) / sum(row["models"] for row in plain)
    none = sum(mean == 0 for mean in means.values())
    return (
        f"**Does the span exist?** Almost always: {100 * share:.1f} % of the models have an "
        f"in-bound vector with an empty Λp. On average it is at most {means[most]:.2f} a model "
        f"({title(most)}; the paper's largest is 0.222), and exactly none on {none} of "
        f"{len(means)} data sets."
    )


def _efficiency(rows: Sequence[Row]) -> str:
    ratios = {row["data_set"]: row["libsvm"] / row["search"] for row in rows}
    least, most = (f(ratios, key=lambda name: ratios[name]) for f in (min, max))
    faster = sum(row["spans"] < row["libsvm"] for row in rows)
    return (
        "**Is it fast?** A model of a search by the span-rule, training included, takes "
        f"{ratios[least]:.0f} ({title(least)}) to {ratios[most]:.0f} times ({title(most)}) less "
        "than LibSVM's 5 folds of it. The spans of a trained model alone, which is what the paper "
        f"times, take less than LibSVM's folds on {faster} of {len(rows)} data sets (the paper, "
        "with general quadratic programs: 5 of 14)."
    )


def _growth(rows: Sequence[Row]) -> str:
    slower = [row["l"] for row in rows if row["search"] >= row["libsvm"]]
    sizes = sorted({row["l"] for row in rows})
    exponents = ", ".join(
        f"{_exponent(rows, d, 'search'):.1f} against {_exponent(rows, d, 'libsvm'):.1f} (d = {d})"
        for d in sorted({row["d"] for row in rows})
    )
    where = (
        f"there is no crossover any more: it is faster at every size from {sizes[0]} to "
        f"{sizes[-1]} rows"
        if not slower
        else f"the last size at which folds are faster is {max(slower)} rows"
    )
    return (
        f"**When is it faster than folds?** On ringnorm data {where} (the paper: above 4096 "
        f"rows). Time grows with the exponent {exponents}."
    )


def _exponent(rows: Iterable[Row], d: int, name: str) -> float:
    """Slope of the logarithm of time over that of size, from 1024 rows on if there are enough."""
    part = [row for row in rows if row["d"] == d]
    large = [row for row in part if row["l"] >= 1024]
    part = large if len(large) > 2 else part
    slope = np.polyfit(np.log([row["l"] for row in part]), np.log([row[name] for row in part]), 1)
    return float(slope[0])
