"""``python -m benchmarks.defaults``: the default search of ``spansvm tune``, against the paper's.

On nine real data sets with two classes, in random splits: test error and time of what the command
searches by default (C and gamma around the scale of the data, class weights if classes are very
unequal, the grid widened once at an edge) and of ``--search class-weights`` (C+ and C-, 33 x 33,
gamma = 1/d), which was the default before; and, to see whether more candidates would help, of a
finer and wider grid of C and gamma (19 x 14), and of ``--search C-gamma-weights`` whatever the
classes.  All select by the span-rule, on one thread, one after the other.

One row per split is written as soon as it is computed; existing rows are not computed again, unless
``--again`` asks for it, as for times on a quiet machine.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row, read_rows, to_csv, write_text
from reproduction.page_tables import mean_and_error
from spansvm import SpanSearch, SpanSVC
from spansvm.search.candidates.scales import spread_of
from spansvm_app.cli.grids import C_GAMMA, C_GAMMA_WEIGHTS, CLASS_WEIGHTS, plan_search
from spansvm_app.tables import Schema, Table, build_pipeline
from spansvm_app.tables.table import NUMERIC

from . import datasets, keel
from .measure import RESULTS, command, geometric_mean, machine

#: A grid of half the steps, with wider ends: exponents of 2 for C, and for gamma as its scale.
FINER = "finer"
FINER_C, FINER_GAMMA = range(-6, 13), range(-8, 6)

RUNS, SUMMARY = RESULTS / "defaults_runs.csv", RESULTS / "defaults.csv"

#: Training rows of the sets from KEEL; the other rows are for testing.
KEEL = {
    "heart": ("heart", 180),
    "ionosphere": ("ionosphere", 234),
    "german credit": ("german", 600),
    "spambase": ("spambase", 800),
    "magic": ("magic", 1000),
}
NAMES = (*KEEL, "image", "splice", "adult", "bank_marketing")

#: The searches by the names of their columns.
SEARCHES = {"weights": CLASS_WEIGHTS, "default": None, "finer": FINER, "weighted": C_GAMMA_WEIGHTS}


def split(name: str, number: int) -> datasets.Split:
    """Training rows and labels, test rows and labels."""
    if name not in KEEL:
        return list(datasets.splits(name, number + 1))[number]
    source, size = KEEL[name]
    X, labels = keel.load(source)
    y = np.unique(labels, return_inverse=True)[1]
    order = np.random.default_rng((0, number)).permutation(y.size)
    train, test = order[:size], order[size : size + datasets.MOST_TEST_ROWS]
    return X[train], y[train], X[test], y[test]


def table_of(X: np.ndarray, y: np.ndarray, name: str) -> Table:
    """The rows as the command reads them from a file."""
    features = tuple(str(i) for i in range(X.shape[1]))
    classes = tuple(np.unique(y).tolist())
    schema = Schema("dense", features, (NUMERIC,) * len(features), {}, None, classes)
    return Table(X, y, schema, name)


def searched(table: Table, search: str | None) -> tuple[SpanSearch, float]:
    """A search as the command makes it, and how long it took with the last training."""
    started = time.perf_counter()
    features = build_pipeline(table, SpanSVC())
    spread = spread_of(features[:-1].fit_transform(table.X))
    plan = plan_search(C_GAMMA if search == FINER else search, table, spread=spread)
    if search == FINER:
        scale = round(-np.log2(spread))
        grid = {
            "C": [2.0**exponent for exponent in FINER_C],
            "gamma": [2.0 ** (scale + exponent) for exponent in FINER_GAMMA],
        }
        plan = replace(plan, grid=grid, widens=())
    widen = [plan.in_pipeline(name) for name in plan.widens]
    result = SpanSearch(
        plan.put_into(features), plan.pipeline_grid, method="span_rule", widen=widen
    )
    result.fit(table.X, table.y)
    return result, time.perf_counter() - started


def run(name: str, number: int) -> Row:
    """Both searches on one split."""
    X, y, X_test, y_test = split(name, number)
    row: Row = {"data_set": name, "split": number, "rows": y.size, "features": X.shape[1]}
    for column, search in SEARCHES.items():
        found, seconds = searched(table_of(X, y, name), search)
        error = float((found.best_estimator_.predict(X_test) != y_test).mean())
        row |= {
            f"{column}_error": round(error, 6),
            f"{column}_seconds": round(seconds, 3),
            f"{column}_candidates": len(found.cv_results_["params"]),
        }
    return row


def compute(names: list[str], count: int, again: bool) -> None:
    rows, notes = ([], []) if again or not RUNS.exists() else read_rows(RUNS)
    notes = notes or [command(), machine()]
    done = {(row["data_set"], int(row["split"])) for row in rows}
    todo = [(name, n) for n in range(count) for name in names if (name, n) not in done]
    with threadpool_limits(1):
        searched(table_of(*split("heart", 0)[:2], "heart"), None)  # loads the compiled code
        for place, (name, number) in enumerate(todo):
            print(f"{place}/{len(todo)} {name} {number}", file=sys.stderr, flush=True)
            rows.append(run(name, number))
            write_text(RUNS, to_csv(rows, notes))


def lines(runs: list[Row], measured: Callable[[str, list[Row]], Row]) -> Iterator[Row]:
    for name in dict.fromkeys(str(row["data_set"]) for row in runs):
        yield measured(name, [row for row in runs if row["data_set"] == name])


def summarise() -> None:
    """Mean test errors with standard errors, times, and the ratios of default to weights."""
    runs, notes = read_rows(RUNS)

    def of_set(name: str, part: list[Row]) -> Row:
        line: Row = {"data_set": name, "rows": part[0]["rows"], "features": part[0]["features"]}
        line["splits"] = len(part)
        values = {
            column: np.array([row[column] for row in part], float)
            for search in SEARCHES
            for column in (f"{search}_error", f"{search}_seconds", f"{search}_candidates")
        }
        differences = values["default_error"] - values["weights_error"]
        for column, numbers in {**values, "difference": differences}.items():
            mean, error = mean_and_error(numbers)
            line[column] = round(mean, 4)
            if "error" in column or column == "difference":
                line[f"{column}_se"] = round(error, 4)
        line["error_ratio"] = round(line["default_error"] / line["weights_error"], 4)
        line["time_ratio"] = round(line["weights_seconds"] / line["default_seconds"], 2)
        print(
            f"{name:15} weights {line['weights_error']:.4f} in {line['weights_seconds']:6.2f} s   "
            f"default {line['default_error']:.4f} in {line['default_seconds']:6.2f} s   "
            f"finer {line['finer_error']:.4f}   weighted {line['weighted_error']:.4f}   "
            f"difference {line['difference']:+.4f} ({line['difference_se']:.4f})",
            flush=True,
        )
        return line

    table = list(lines(runs, of_set))
    ratio = geometric_mean([float(line["error_ratio"]) for line in table])
    faster = geometric_mean([float(line["time_ratio"]) for line in table])
    for column in ("finer", "weighted"):
        others = [float(line[f"{column}_error"]) / float(line["default_error"]) for line in table]
        print(f"test error of {column} over that of the default: {geometric_mean(others):.3f}")
    better = sum(line["difference"] < -2 * line["difference_se"] for line in table)
    worse = sum(line["difference"] > 2 * line["difference_se"] for line in table)
    print(
        f"test error of the default over that of class weights: {ratio:.3f} (geometric mean); "
        f"better by more than 2 standard errors on {better}, worse on {worse} of {len(table)}; "
        f"{faster:.1f} times as fast"
    )
    write_text(SUMMARY, to_csv(table, notes))
    print(f"written to {SUMMARY}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults", description=__doc__)
    parser.add_argument("--splits", type=int, default=5, help="splits per data set, at least 2")
    parser.add_argument("--datasets", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--again", action="store_true", help="compute all rows again")
    options = parser.parse_args()
    compute(options.datasets, options.splits, options.again)
    summarise()


if __name__ == "__main__":
    main()
