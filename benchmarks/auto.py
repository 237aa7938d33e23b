"""``python -m benchmarks.auto``: whether exact leave-one-out of the best candidates is worth it.

On the data sets, splits and grids of ``benchmarks.selection``, the test error of the candidate that
is selected by the span-rule, by ``method="auto"``, and on the C x gamma grid by exact leave-one-out
of all candidates; the time of each; and for how many rows the rule was wrong about a prediction.
One row per split is written as soon as it is computed; existing rows are not computed again.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row, read_rows, to_csv, write_text
from spansvm import SpanSearch

from .datasets import MOST_TEST_ROWS, NAMES, splits
from .measure import RESULTS, command, geometric_mean, machine
from .selection import GRIDS, test_errors

METHODS = ("span_rule", "auto", "loo")


def measure(name: str, number: int, grid: str) -> Row:
    """Test errors of the selections on one split, and what they took."""
    split = list(splits(name, number + 1))[number]
    X, y = split[:2]
    row: Row = {"data_set": name, "grid": grid, "split": number, "rows": y.size}
    errors = None
    for method in METHODS if grid == "C-gamma" else METHODS[:2]:
        model, axes = GRIDS[grid](split)
        start = time.perf_counter()
        search = SpanSearch(model, axes, method=method, refit=False).fit(X, y)
        row[f"{method}_seconds"] = round(time.perf_counter() - start, 4)
        if errors is None:
            errors = test_errors(split, search.cv_results_["params"])
            row["best"] = round(float(errors.min()), 6)
        row[method] = round(float(errors[search.best_index_]), 6)
        if method == "auto":
            known = search.cv_results_["exact"]
            row["n_exact"] = int(known.sum())
            row["differ_share"] = round(
                float(np.nanmean(search.cv_results_["n_differ"])) / y.size, 6
            )
    return row


def known(path: Path) -> tuple[list[Row], list[str]]:
    return read_rows(path) if path.exists() else ([], [command(), machine()])


def compute(path: Path, names: list[str], count: int) -> None:
    rows, notes = known(path)
    done = {(row["grid"], row["data_set"], row["split"]) for row in rows}
    todo = [one for one in product(GRIDS, names, range(count)) if one not in done]
    with threadpool_limits(1):
        for finished, (grid, name, number) in enumerate(todo):
            print(f"{finished}/{len(todo)} {grid} {name} {number}", file=sys.stderr, flush=True)
            rows.append(measure(name, number, grid))
            write_text(path, to_csv(rows, notes))


def summarise(path: Path) -> None:
    """Print ratios of mean test errors to the best, geometric means over the data sets."""
    rows, _ = known(path)
    floor = 1.0 / MOST_TEST_ROWS
    for grid in GRIDS:
        part = [row for row in rows if row["grid"] == grid]
        names = list(dict.fromkeys(row["data_set"] for row in part))
        for method in METHODS if grid == "C-gamma" else METHODS[:2]:
            ratios = []
            for name in names:
                own = [row for row in part if row["data_set"] == name]
                means = [np.mean([row[column] for row in own]) for column in (method, "best")]
                ratios.append((means[0] + floor) / (means[1] + floor))
            times = [row[f"{method}_seconds"] / row["span_rule_seconds"] for row in part]
            print(f"{grid:8} {method:10} error over the best {geometric_mean(ratios):.3f}, "
                  f"time over the rule's {geometric_mean(times):.2f}")  # fmt: skip
        differences = np.array([row["auto"] - row["span_rule"] for row in part])
        error = differences.std(ddof=1) / np.sqrt(differences.size)
        print(f"{grid:8} auto minus span_rule {differences.mean():+.5f} ± {error:.5f}; exact "
              f"candidates {np.mean([row['n_exact'] for row in part]):.1f}; rows that differ "
              f"{np.mean([row['differ_share'] for row in part]):.4f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.auto", description=__doc__)
    parser.add_argument("--splits", type=int, default=10, help="splits per data set, 2 to 10")
    parser.add_argument("--datasets", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for the results")
    options = parser.parse_args()
    path = options.results / "auto.csv"
    measure(options.datasets[0], 0, "C-gamma")  # compiles
    compute(path, options.datasets, options.splits)
    summarise(path)
    print(f"written to {path}")


if __name__ == "__main__":
    main()
