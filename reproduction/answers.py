"""The paper's findings, each answered with our numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .csv_files import Row
from .page_tables import by_data_set, mean_and_error, title
from .paper import printed
from .selection import values_of

__all__ = ["answers"]

#: Growth of time is measured from this many rows on: below that, fixed costs hide it.
_GROWING = 1024


def answers(summaries: Mapping[str, Sequence[Row]]) -> list[str]:
    """One Markdown text per finding; those of experiments that were not run are left out."""
    selected = [*summaries.get("class_weights", ()), *summaries.get("instance_weights", ())]
    result = []
    if any(row["method"] == "kfold" for row in selected):
        result.append(_selection(selected))
    if any(row["method"] == "kfold" for row in summaries.get("prediction", ())):
        result.append(_prediction(summaries["prediction"]))
    if any(not row["variant"] for row in summaries.get("existence", ())):
        result.append(_existence(summaries["existence"]))
    if summaries.get("efficiency"):
        result.append(_efficiency(summaries["efficiency"]))
    if summaries.get("growth"):
        result.append(_growth(summaries["growth"]))
    return result


def _selection(rows: Sequence[Row]) -> str:
    sets = _with_folds(rows)
    at_most, beyond = {}, {}
    several = [name for name in sets if len(set(values_of(rows, name, "kfold", "split"))) > 1]
    for column in ("worst", "chosen"):
        differences = {name: _less_folds(rows, name, column) for name in sets}
        at_most[column] = sum(np.mean(values) <= 1e-9 for values in differences.values())
        spread = [mean_and_error(differences[name]) for name in several]
        beyond[column] = [
            sum(mean < -2 * error for mean, error in spread),
            sum(mean > 2 * error for mean, error in spread),
        ]
    text = (
        "**Is the span-rule at least as good as 5-fold cross-validation?** Its mean test error is "
        f"not larger on {at_most['worst']} of {len(sets)} data sets with the paper's tie rule "
        f"(the paper: 12 of 14), and on {at_most['chosen']} with ours."
    )
    if several:
        (better, worse), (our_better, our_worse) = beyond["worst"], beyond["chosen"]
        text += (
            f" On the {len(several)} data sets with several splits, the mean difference exceeds "
            f"two standard errors on {better} in favour of the rule and on {worse} in favour of "
            f"folds (with our tie rule: {our_better} and {our_worse})."
        )
    return text


def _with_folds(rows: Sequence[Row]) -> list[str]:
    return [
        name
        for name, own in by_data_set(row for row in rows if not row["variant"]).items()
        if any(row["method"] == "kfold" for row in own)
    ]


def _less_folds(rows: Sequence[Row], name: str, column: str) -> list[float]:
    """Test error with the span-rule minus that with folds, split by split.

    For a fixed split with several partitions into folds: one difference per partition.
    """
    rule = dict(
        zip(values_of(rows, name, "span_rule", "split"),
            values_of(rows, name, "span_rule", column), strict=True)
    )  # fmt: skip
    folds = zip(
        values_of(rows, name, "kfold", "split"), values_of(rows, name, "kfold", column), strict=True
    )
    return [rule[split] - value for split, value in folds]


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
    cells = [row["empty_mean"] for row in printed("existence").values()]
    return (
        f"**Does the span exist?** {100 * (1 - share):.1f} % of the models have no in-bound vector "
        f"with an empty Λp. The largest mean number of such vectors per model is "
        f"{means[most]:.2f} ({title(most)}; the paper's largest is {max(cells):.3f}), and there "
        f"are none at all on {none} of {len(means)} data sets (the paper: {cells.count(0.0)} of "
        f"{len(cells)})."
    )


def _efficiency(rows: Sequence[Row]) -> str:
    ratios = {row["data_set"]: row["libsvm"] / row["search"] for row in rows}
    least, most = (f(ratios, key=lambda name: ratios[name]) for f in (min, max))
    samples = [row["sampled"] for row in rows]
    faster = sum(row["spans"] < row["libsvm"] for row in rows)
    return (
        "**Is it fast?** LibSVM's 5 folds for a model take "
        f"{ratios[least]:.2g} times ({title(least)}) to {ratios[most]:.0f} times ({title(most)}) "
        "as long as the same model in a search by the span-rule, training included (estimated "
        f"from {min(samples)} to {max(samples)} candidates; small samples are rough). The spans "
        "of a trained model alone, which is what the paper times, take less time than LibSVM's "
        f"folds on {faster} of {len(rows)} data sets (the paper, with general quadratic programs: "
        "5 of 14)."
    )


def _growth(rows: Sequence[Row]) -> str:
    slower = [row["l"] for row in rows if row["search"] >= row["libsvm"]]
    sizes = sorted({row["l"] for row in rows})
    where = (
        f"there is no longer a crossover: it is faster at every size from {sizes[0]} to "
        f"{sizes[-1]} rows"
        if not slower
        else f"the last size at which folds are faster is {max(slower)} rows"
    )
    return (
        f"**When is it faster than folds?** On ringnorm data, {where} (the paper: above 4096 "
        f"rows).{_exponents(rows)}"
    )


def _exponents(rows: Sequence[Row]) -> str:
    """How time grows with size, if there are enough sizes to tell."""
    parts = []
    for d in sorted({row["d"] for row in rows}):
        part = [row for row in rows if row["d"] == d and row["l"] >= _GROWING]
        if len(part) > 2:
            slopes = [_slope(part, name) for name in ("search", "libsvm")]
            parts.append(f"l^{slopes[0]:.1f} against l^{slopes[1]:.1f} for d = {d}")
    if not parts:
        return ""
    return f" From {_GROWING} rows on, time grows as {', '.join(parts)} (ours, LibSVM's folds)."


def _slope(rows: Sequence[Row], name: str) -> float:
    """Slope of log time over log size."""
    slope = np.polyfit(np.log([row["l"] for row in rows]), np.log([row[name] for row in rows]), 1)
    return float(slope[0])
