"""Selected models: what Experiments 1 and 2 share.

A method selects the candidate with the smallest estimate.  Among ties the paper reports the worst
test error; the library's default takes the candidate with the best surroundings on the grid.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from spansvm.common.types import Array
from spansvm.search.candidates.grid import EQUAL_SCORES, select

from .complete import CompleteProblems
from .confirmation import LIBSVM, close_candidates
from .csv_files import Row
from .datasets import describe
from .page_tables import PageTable, by_data_set, mean_and_error, number, title
from .paper import printed
from .problems import Candidate, Key
from .store import ESTIMATES
from .trials import SUBJECTS

__all__ = ["MINIMUM", "agrees", "selection_rows", "tables_of", "values_of"]

#: The best possible selection.
MINIMUM = "min_error"

#: Half a unit in the last digit of the paper's cells.
_DIGITS = 0.5e-4 + 1e-9

#: Columns of the table: method, its heading, the paper's column next to it.
_BESIDE_THE_PAPER = (
    (("span_rule", "span-rule"), "span_rule"),
    (("span_bound", "span bound, D"), None),
    (("span_bound_radius", "span bound, D/2"), "span_bound"),
    (("kfold", "5-fold"), "kfold"),
    (("xi_alpha", "ξα"), "xi_alpha"),
    ((MINIMUM, "minimum"), MINIMUM),
)


def selection_rows(results: CompleteProblems, data_sets: Iterable[str]) -> list[Row]:
    """Test errors of the selected models, for every complete problem and method."""
    wanted = set(data_sets)
    rows: list[Row] = []
    for key in results.complete():
        if key.data_set in wanted:
            rows += _of_problem(results, key)
    for key in results.store.problems("models"):
        if key.data_set in wanted and key.variant == LIBSVM:
            asked = close_candidates(results.store, Key(key.data_set, key.split))
            if asked <= results.store.known("models", key):
                rows += _of_libsvm(results, key)
    return rows


def _of_problem(results: CompleteProblems, key: Key) -> list[Row]:
    models, candidates = results.models(key), results.candidates(key)
    error = models["test_error"]
    head = {"data_set": key.data_set, "split": key.split, "variant": key.variant}
    least = float(error.min())
    rows: list[Row] = [
        {**head, "method": MINIMUM, "partition": "", "estimate": least,
         "tied": int((error == least).sum()), "worst": least, "best": least, "chosen": least}
    ]  # fmt: skip
    for name in ESTIMATES:
        choice = _choose(models[name], models["hinge"], error, candidates)
        at_cell = _estimate_at_cell(key.data_set, name, models[name], error)
        rows.append({**head, "method": name, "partition": "", **choice, "at_cell": at_cell})
    for scheme, (estimate, hinge) in results.folds(key).items():
        subjects = scheme == SUBJECTS
        choice = _choose(estimate, hinge, error, candidates)
        rows.append(
            {
                **head,
                "method": SUBJECTS if subjects else "kfold",
                "partition": "" if subjects else int(scheme.split()[1]),
                **choice,
            }
        )
    return rows


def _estimate_at_cell(data_set: str, method: str, estimate: Array, error: Array) -> float | str:
    """The smallest estimate of a model whose test error is the paper's cell; fixed splits only.

    If it is far above the smallest estimate of all, the cell is not that of a selected model.
    """
    cell = printed("selection").get(data_set, {}).get(method)
    if cell is None or describe(data_set).split_kind != "fixed":
        return ""
    there = np.abs(error - cell) <= 1.0 / describe(data_set).n_test + _DIGITS
    return float(estimate[there].min()) if there.any() else ""


def _choose(
    estimate: Array, hinge: Array, error: Array, candidates: Sequence[Candidate]
) -> dict[str, Any]:
    """Test errors of the tied models, and of the one that the library selects."""
    tied = error[estimate <= estimate.min() + EQUAL_SCORES]
    chosen = error[select(-estimate, hinge, candidates, "plateau")]
    return {
        "estimate": float(estimate.min()),
        "tied": tied.size,
        "worst": float(tied.max()),
        "best": float(tied.min()),
        "chosen": float(chosen),
    }


def _of_libsvm(results: CompleteProblems, key: Key) -> list[Row]:
    """The same for the candidates trained by LibSVM; they form no grid, so have no surroundings."""
    columns = ["span_rule", "xi_alpha", "test_error"]
    table = np.array(results.store.rows("models", columns, key), dtype=np.float64)
    rows: list[Row] = []
    for column, method in enumerate(columns[:2]):
        estimate = table[:, column]
        tied = table[estimate <= estimate.min() + EQUAL_SCORES, 2]
        rows.append(
            {"data_set": key.data_set, "split": key.split, "variant": LIBSVM, "method": method,
             "partition": "", "estimate": float(estimate.min()), "tied": tied.size,
             "worst": float(tied.max()), "best": float(tied.min()), "chosen": ""}
        )  # fmt: skip
    return rows


def values_of(rows: Iterable[Row], data_set: str, method: str, column: str = "worst",
              variant: str = "") -> list[Any]:  # fmt: skip
    """The errors of one method, over splits or over partitions into folds."""
    return [
        row[column]
        for row in rows
        if (row["data_set"], row["method"], row["variant"]) == (data_set, method, variant)
    ]


def agrees(data_set: str, values: Sequence[float], cell: float) -> bool:
    """Whether a cell of the paper agrees with our values; False if there are none.

    For one value, from a fixed split: to within one test instance.  For several: within two of
    their standard deviations, since the paper's value is one more of the same kind.
    """
    if not values:
        return False
    slack = 1.0 / describe(data_set).n_test + _DIGITS
    if len(values) > 1:
        slack = max(slack, 2.0 * float(np.std(values, ddof=1)))
    return abs(float(np.mean(values)) - cell) <= slack


def paper_table(rows: Sequence[Row], name: str, caption: str) -> PageTable:
    """Worst test errors among the tied models, as in the paper, next to its cells.

    The best method is bold; disagreements are marked.
    """
    columns = ["data set"]
    for (_, heading), cell in _BESIDE_THE_PAPER:
        columns += [heading, *(["paper"] if cell else [])]
    cells = printed("selection")
    lines = []
    for data_set in by_data_set(row for row in rows if not row["variant"]):
        line = [title(data_set)]
        found = {m: values_of(rows, data_set, m) for (m, _), _ in _BESIDE_THE_PAPER}
        rivals = [float(np.mean(v)) for m, v in found.items() if v and m != MINIMUM]
        for (method, _), cell in _BESIDE_THE_PAPER:
            values = found[method]
            if not values:
                line += ["", *([number(cells[data_set][cell])] if cell else [])]
                continue
            mean, error = mean_and_error(values)
            text = number(mean, error)
            if method != MINIMUM and mean <= min(rivals) + 1e-9:
                text = f"**{text}**"
            line.append(text)
            if cell:
                value = cells[data_set][cell]
                here = [values]
                if cell == "span_bound":
                    here.append(found["span_bound"])
                mark = "" if any(agrees(data_set, v, value) for v in here) else " ≠"
                line.append(f"{number(value)}{mark}")
        lines.append(line)
    return PageTable(name, caption, columns, lines)


def tables_of(rows: Sequence[Row], name: str) -> list[PageTable]:
    """Selected test errors, with ties as in the paper and by our default."""
    return [
        paper_table(
            rows,
            f"{name}_table",
            "Test error of the selected model; ties as in the paper (the worst of the tied "
            "models).",
        ),
        default_table(rows, f"{name}_default", "The same with the library's default tie rule."),
    ]


def default_table(rows: Sequence[Row], name: str, caption: str) -> PageTable:
    """Test errors with the library's own tie rule, for more methods."""
    methods = {
        "span_rule": "span-rule",
        "kfold": "5-fold",
        SUBJECTS: "subjects left out",
        "span_count": "span count bound",
        "span_bound": "span bound, D",
        "xi_alpha": "ξα",
        "sv_count": "support vectors",
        MINIMUM: "minimum",
    }
    there = [m for m in methods if any(row["method"] == m for row in rows)]
    lines = []
    for data_set in by_data_set(row for row in rows if not row["variant"]):
        line = [title(data_set)]
        for method in there:
            values = values_of(rows, data_set, method, "chosen")
            line.append(number(*mean_and_error(values)) if values else "")
        lines.append(line)
    return PageTable(name, caption, ["data set", *(methods[m] for m in there)], lines)
