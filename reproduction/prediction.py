"""Experiment 3: how well the estimates predict the test error, in numbers and in curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from spansvm.common.types import Array

from .complete import CompleteProblems
from .csv_files import Row
from .page_tables import PageTable, by_data_set, mean_and_error, number, title
from .paper import printed
from .problems import Key
from .trials import SUBJECTS

__all__ = ["CURVES", "NAME", "PREDICTORS", "TITLE", "curves", "summarise", "tables"]

NAME = "prediction"
TITLE = "Experiment 3: prediction of the test error"
CURVES = "curves"

#: Methods whose values are errors, and the paper's names for them.
PREDICTORS = {"span_rule": "span-rule", "kfold": "5-fold", "xi_alpha": "ξα"}


def summarise(results: CompleteProblems) -> list[Row]:
    """Root mean square difference between estimate and test error, over all candidates."""
    rows: list[Row] = []
    for key in results.complete():
        models = results.models(key)
        head = {"data_set": key.data_set, "split": key.split, "variant": key.variant}
        for method, partition, estimate in _estimates(results, key, models):
            rmse = float(np.sqrt(np.mean((estimate - models["test_error"]) ** 2)))
            rows.append({**head, "method": method, "partition": partition, "rmse": rmse})
    return rows


def _estimates(
    results: CompleteProblems, key: Key, models: Mapping[str, Array]
) -> Iterator[tuple[str, int | str, Array]]:
    yield "span_rule", "", models["span_rule"]
    yield "xi_alpha", "", models["xi_alpha"]
    for scheme, (estimate, _) in results.folds(key).items():
        if scheme == SUBJECTS:
            yield SUBJECTS, "", estimate
        else:
            yield "kfold", int(scheme.split()[1]), estimate


def curves(results: CompleteProblems) -> list[Row]:
    """Estimates along each parameter, with the others at the smallest test error.

    For the first split of each data set, and its first partition into folds.
    """
    rows: list[Row] = []
    for key in results.complete():
        if key.split or key.variant:
            continue
        folds = results.folds(key)
        first = [scheme for scheme in folds if scheme != SUBJECTS]
        if not first:
            continue
        models, candidates = results.models(key), results.candidates(key)
        models["kfold"] = folds[first[0]][0]
        if SUBJECTS in folds:
            models[SUBJECTS] = folds[SUBJECTS][0]
        best = candidates[int(np.argmin(models["test_error"]))]
        for axis in best:
            others = [name for name in best if name != axis]
            for index, candidate in enumerate(candidates):
                if all(candidate[name] == best[name] for name in others):
                    row = {"data_set": key.data_set, "axis": axis, "value": candidate[axis]}
                    for name in (*PREDICTORS, SUBJECTS, "test_error"):
                        row[name] = float(models[name][index]) if name in models else ""
                    rows.append(row)
    return rows


def tables(rows: Sequence[Row]) -> list[PageTable]:
    """RMSE next to the paper's."""
    cells = printed("prediction")
    lines = []
    for data_set, own in by_data_set(row for row in rows if not row["variant"]).items():
        means = {
            method: mean_and_error([row["rmse"] for row in own if row["method"] == method])
            for method in PREDICTORS
            if any(row["method"] == method for row in own)
        }
        least = min(mean for mean, _ in means.values())
        line = [title(data_set)]
        for method in PREDICTORS:
            text = number(*means[method]) if method in means else ""
            bold = method in means and means[method][0] == least
            line += [f"**{text}**" if bold else text, number(cells[data_set][method])]
        lines.append(line)
    columns = ["data set"]
    for heading in PREDICTORS.values():
        columns += [heading, "paper"]
    caption = "RMSE between estimate and test error, over all candidates."
    return [PageTable(f"{NAME}_table", caption, columns, lines)]
