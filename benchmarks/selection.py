"""``python -m benchmarks.selection``: how good the selected models are.

On real data in repeated splits, with two grids: class weights (C+ and C-, the paper's 33 x 33,
gamma = 1/d) and C x gamma (8 x 6).  All candidates are trained on all training rows and tested, so
that the best of the grid is known.  Then each of these selects one:

- the span-rule with each tie rule of SpanSearch, and with the worst of the tied candidates (the
  paper's convention);
- 5-fold cross-validation: by GridSearchCV itself on the C x gamma grid; on the 33 x 33 grid, where
  LibSVM would take days, by ``SpanSearch(method="kfold")``, which gives the same scores
  (``tests/search/test_search.py``), with the first of the tied candidates, as in GridSearchCV, and
  with the other tie rules.

One row per split is written as soon as it is computed; existing rows are not computed again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row, read_rows, to_csv, write_text
from reproduction.page_tables import mean_and_error
from spansvm import ClassWeighting, SpanSearch, SpanSVC
from spansvm.estimators.weighting import PAPER_CLASS_WEIGHTS
from spansvm.kernels.functions import resolve_kernel
from spansvm.kernels.gram import HeldGram
from spansvm.multiclass.path import follow
from spansvm.search.candidates.grid import select

from .datasets import MOST_TEST_ROWS, NAMES, Split, splits
from .measure import RESULTS, command, geometric_mean, machine

RUNS = RESULTS / "selection_runs.csv"
SUMMARY = RESULTS / "selection.csv"

WEIGHTS = np.array(PAPER_CLASS_WEIGHTS)
C_VALUES, GAMMAS = 2.0 ** np.arange(-4, 11, 2), 2.0 ** np.arange(-7, 4, 2)

#: The tie rules of grids.
TIES = ("plateau", "hinge", "first")
RULES = (*(f"span_{ties}" for ties in TIES), "span_worst")
FOLD_RULES = tuple(f"kfold_{ties}" for ties in TIES)


def class_weight_grid(split: Split) -> tuple[SpanSVC, dict[str, object]]:
    model = SpanSVC(gamma=1.0 / split[0].shape[1], weighting=ClassWeighting())
    return model, {"weighting__positive": WEIGHTS, "weighting__negative": WEIGHTS}


def c_gamma_grid(split: Split) -> tuple[SVC, dict[str, object]]:
    return SVC(), {"C": C_VALUES, "gamma": GAMMAS}


GRIDS: dict[str, Callable[[Split], tuple[object, dict[str, object]]]] = {
    "weights": class_weight_grid,
    "C-gamma": c_gamma_grid,
}


def test_errors(split: Split, candidates: list[Mapping[str, float]]) -> np.ndarray:
    """Test error of every candidate, trained on all training rows."""
    X, y, X_test, y_test = split
    result = np.empty(len(candidates))
    kernel_of = [params.get("gamma", 1.0 / X.shape[1]) for params in candidates]
    for gamma in sorted(set(kernel_of)):
        kernel = resolve_kernel("rbf", X, gamma=gamma)
        gram, test_values = HeldGram(kernel(X)), kernel(X_test, X)
        own = np.flatnonzero(np.array(kernel_of) == gamma)
        weights = (_weights(candidates[index], y) for index in own)
        for index, model in zip(own, follow(gram, y, weights), strict=True):
            solution = model.solution
            values = test_values[:, solution.support] @ solution.beta[solution.support]
            predicted = np.where(values + solution.intercept > 0, 1, -1)
            result[index] = (predicted != y_test).mean()
    return result


def _weights(params: Mapping[str, float], y: np.ndarray) -> np.ndarray:
    """``C_i`` of a candidate."""
    positive = params.get("weighting__positive", 1.0)
    return params.get("C", 1.0) * np.where(y > 0, positive, params.get("weighting__negative", 1.0))


def span_rows(grid: str, split: Split) -> tuple[dict[str, float], SpanSearch, np.ndarray]:
    """Test errors of the span-rule's selections on one split; the search, and all test errors."""
    model, axes = GRIDS[grid](split)
    span = SpanSearch(model, axes, refit=False).fit(*split[:2])
    candidates = span.cv_results_["params"]
    errors = test_errors(split, candidates)
    row = {"best": float(errors.min())}
    scores, hinge = span.cv_results_["mean_test_score"], span.cv_results_["loo_hinge"]
    for ties in TIES:
        row[f"span_{ties}"] = float(errors[select(scores, hinge, candidates, ties)])
    row["span_worst"] = float(errors[scores >= scores.max() - 1e-10].max())
    return row, span, errors


def run(name: str, number: int, grid: str, split: Split, raw: Path | None) -> dict[str, object]:
    """Test errors of each rule's selection on one split."""
    model, axes = GRIDS[grid](split)
    X, y = split[:2]
    own, span, errors = span_rows(grid, split)
    candidates = span.cv_results_["params"]
    row: dict[str, object] = {"data_set": name, "grid": grid, "split": number, **own}
    folds = SpanSearch(model, axes, refit=False, method="kfold", cv=5).fit(X, y)
    scores, hinge = folds.cv_results_["mean_test_score"], folds.cv_results_["loo_hinge"]
    for ties in TIES:
        row[f"kfold_{ties}"] = errors[select(scores, hinge, candidates, ties)]
    row["grid_search_cv"] = ""
    if grid == "C-gamma":
        theirs = GridSearchCV(model, axes, refit=False, cv=5).fit(X, y)
        row["grid_search_cv"] = errors[theirs.best_index_]
    if raw is not None:
        raw.mkdir(exist_ok=True)
        tables = {
            f"{kind}_{column}": search.cv_results_[key]
            for kind, search in (("span", span), ("kfold", folds))
            for column, key in (("score", "mean_test_score"), ("hinge", "loo_hinge"))
        }
        np.savez(raw / f"{grid}_{name}_{number}.npz", test_error=errors, **tables)
    return row


def known() -> tuple[list[Row], list[str]]:
    """The existing rows, and the notes above them."""
    return read_rows(RUNS) if RUNS.exists() else ([], [command(), machine()])


def missing(names: list[str], grids: list[str], count: int) -> Iterator[tuple[str, int, str]]:
    done = {(row["data_set"], row["split"], row["grid"]) for row in known()[0]}
    for grid, name in product(grids, names):
        for number in range(count):
            if (name, number, grid) not in done:
                yield name, number, grid


def compute(names: list[str], grids: list[str], count: int, raw: Path | None) -> None:
    todo = list(missing(names, grids, count))
    rows, notes = known()
    with threadpool_limits(1):
        for done, (name, number, grid) in enumerate(todo):
            print(f"{done}/{len(todo)} {grid} {name} {number}", file=sys.stderr, flush=True)
            split = list(splits(name, number + 1))[number]
            row = run(name, number, grid, split, raw)
            rows.append({key: round(v, 6) if isinstance(v, float) else v for key, v in row.items()})
            write_text(RUNS, to_csv(rows, notes))


def refresh() -> None:
    """Recompute the selections of the span-rule; those of the folds stay as they are."""
    rows, notes = known()
    for done, row in enumerate(rows):
        name, number, grid = row["data_set"], row["split"], row["grid"]
        print(f"{done}/{len(rows)} {grid} {name} {number}", file=sys.stderr, flush=True)
        split = list(splits(name, number + 1))[number]
        with threadpool_limits(1):
            own, _, _ = span_rows(grid, split)
        row.update({key: round(value, 6) for key, value in own.items()})
    notes[-1] = f"{notes[-1]}; best and span columns: {machine()}"
    write_text(RUNS, to_csv(rows, notes))


def summarise() -> None:
    """Mean test errors with standard errors, and geometric means of the ratios to the best."""
    runs, notes = known()
    lines: list[Row] = []
    for grid in dict.fromkeys(row["grid"] for row in runs):
        rules = [*RULES, *FOLD_RULES, *(["grid_search_cv"] if grid == "C-gamma" else [])]
        reference = "grid_search_cv" if grid == "C-gamma" else "kfold_first"
        ratios: dict[str, list[float]] = {rule: [] for rule in rules}
        for name in dict.fromkeys(row["data_set"] for row in runs):
            part = [row for row in runs if row["grid"] == grid and row["data_set"] == name]
            if not part:
                continue
            values = {
                rule: np.array([row[rule] for row in part], float) for rule in ["best", *rules]
            }
            line: Row = {"grid": grid, "data_set": name, "splits": len(part)}
            measured = {**values, "minus_folds": values["span_plateau"] - values[reference]}
            for column, numbers in measured.items():
                mean, error = mean_and_error(numbers)
                line |= {column: round(mean, 4), f"{column}_error": round(error, 4)}
            lines.append(line)
            floor = 1.0 / MOST_TEST_ROWS  # a best error of 0 would make every ratio infinite
            for rule in rules:
                ratios[rule].append((values[rule].mean() + floor) / (values["best"].mean() + floor))
        print(f"\n{grid}: mean test error over that of the best candidate, geometric mean")
        for rule in rules:
            print(f"  {rule:16} {geometric_mean(ratios[rule]):.3f}")
        here = [line for line in lines if line["grid"] == grid]
        better = sum(line["minus_folds"] < -2 * line["minus_folds_error"] for line in here)
        worse = sum(line["minus_folds"] > 2 * line["minus_folds_error"] for line in here)
        print(f"  span_plateau against {reference}: better by more than 2 standard errors on "
              f"{better}, worse on {worse} of {len(here)}")  # fmt: skip
    write_text(SUMMARY, to_csv(lines, notes))
    print(f"written to {SUMMARY}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.selection", description=__doc__)
    parser.add_argument("--splits", type=int, default=10, help="splits per data set, 2 to 10")
    parser.add_argument("--datasets", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--grids", nargs="+", default=list(GRIDS), choices=list(GRIDS))
    parser.add_argument("--raw", type=Path, help="folder for the scores of all candidates")
    parser.add_argument("--refresh", action="store_true", help="recompute the span-rule's rows")
    options = parser.parse_args()
    if options.refresh:
        refresh()
    compute(options.datasets, options.grids, options.splits, options.raw)
    summarise()


if __name__ == "__main__":
    main()
