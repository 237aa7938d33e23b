"""``python -m benchmarks.corrected``: which error of the selected model to report.

Random training sets of 100 and of 400 rows of ten data sets with thousands of other rows, two
grids: class weights (33 x 33, gamma = 1/d) and C x gamma (8 x 6).  A model is selected on all
training rows; its error on up to 10,000 other rows is the truth.  It is estimated by

- plain: the leave-one-out error of the selected candidate, with Wilson's interval;
- corrected: ``corrected_score_`` and ``corrected_interval_`` of the same search; also with Wilson's
  interval for as many rows, and with the percentiles of the scores on the rows not drawn;
- nested: 5 outer folds, a search on each of their training parts; Wilson's interval;
- held_out: a search on 80 % of the rows, tested on the others; Wilson's interval for these.

The last two select other models, on fewer rows, but would be quoted for this one.

One row per training set and grid is written as soon as it is computed; existing rows are not
computed again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row, read_rows, to_csv, write_text
from reproduction.datasets import load, ringnorm
from spansvm import ClassWeighting, SpanSearch, SpanSVC
from spansvm.estimators.weighting import PAPER_CLASS_WEIGHTS
from spansvm.search.scoring.bootstrap import repeat_selection

from .datasets import Pool, pool
from .measure import RESULTS, command, machine
from .selection import C_VALUES, GAMMAS

NAMES = (
    "banana", "image", "waveform", "ringnorm", "mushrooms", "skin_nonskin", "splice", "mnist_3_8",
    "bank_marketing", "adult",
)  # fmt: skip
SIZES = (100, 400)
GRIDS = ("weights", "C-gamma")
MOST_TEST_ROWS = 10_000

#: The estimates, each with a column for the error, the ends of the interval, and the time.
ESTIMATES = ("plain", "corrected", "nested", "held_out")
#: Other intervals around the corrected error.
INTERVALS = ("wilson", "percentiles")

Problem = tuple[str, int, int, str]
RUNS, SUMMARY = "corrected_runs.csv", "corrected.csv"


@cache
def rows_of(name: str) -> Pool:
    """All rows of a data set, shuffled."""
    if name == "ringnorm":
        X, y = ringnorm(12_000, 20, seed=0)
    elif name in ("banana", "image", "waveform"):
        data = load(name, 0)
        X, y = np.vstack([data.X_train, data.X_test]), np.append(data.y_train, data.y_test)
    else:
        X, y = pool(name)
    order = np.random.default_rng(0).permutation(y.size)
    return X[order], y[order]


def make_search(grid: str, n_features: int) -> SpanSearch:
    if grid == "C-gamma":
        return SpanSearch(SpanSVC(), {"C": C_VALUES, "gamma": GAMMAS})
    axes = dict.fromkeys(("weighting__positive", "weighting__negative"), PAPER_CLASS_WEIGHTS)
    return SpanSearch(SpanSVC(gamma=1.0 / n_features, weighting=ClassWeighting()), axes)


def wilson(error: float, n_rows: int) -> tuple[float, float]:
    square = 1.959963984540054**2 / n_rows
    centre = (error + square / 2) / (1 + square)
    half = np.sqrt(error * (1 - error) * square + square**2 / 4) / (1 + square)
    return centre - half, centre + half


def measure(problem: Problem) -> Row:
    """The truth and all estimates for one training set and grid."""
    name, split, size, grid = problem
    X, y = rows_of(name)
    order = np.random.default_rng((1, split)).permutation(y.size)
    train, test = order[:size], order[size : size + MOST_TEST_ROWS]
    scaler = MinMaxScaler().fit(X[train])
    X, y, X_test, y_test = scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]
    row: Row = {"data_set": name, "split": split, "size": size, "grid": grid}

    def add(estimate: str, error: float, interval: tuple[float, float], seconds: float) -> None:
        low, high = interval
        row.update({estimate: error, f"{estimate}_low": low, f"{estimate}_high": high})
        row[f"{estimate}_seconds"] = seconds

    with threadpool_limits(1):
        start = time.perf_counter()
        search = make_search(grid, X.shape[1]).fit(X, y)
        searching = time.perf_counter() - start
        predictions = search._correction
        start = time.perf_counter()
        score, (low, high) = search.corrected_score_, search.corrected_interval_
        correcting = time.perf_counter() - start
        row["true"] = float(np.mean(search.predict(X_test) != y_test))
        error = 1.0 - search.best_score_
        add("plain", error, wilson(error, size), searching)
        add("corrected", 1.0 - score, (1.0 - high, 1.0 - low), searching + correcting)
        row["wilson_low"], row["wilson_high"] = wilson(1.0 - score, size)
        repeated = repeat_selection(predictions.scores, predictions.best, predictions.units)
        ends = 1.0 - np.percentile(repeated.selected, [97.5, 2.5])
        row["percentiles_low"], row["percentiles_high"] = ends.tolist()
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        start = time.perf_counter()
        wrong = sum(_test(grid, X, y, *fold) for fold in folds.split(X, y))
        add("nested", wrong / size, wilson(wrong / size, size), time.perf_counter() - start)
        parts = train_test_split(np.arange(size), test_size=0.2, stratify=y, random_state=0)
        start = time.perf_counter()
        error = _test(grid, X, y, *parts) / parts[1].size
        add("held_out", error, wilson(error, parts[1].size), time.perf_counter() - start)
    return {key: round(v, 6) if isinstance(v, float) else v for key, v in row.items()}


def _test(grid: str, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> int:
    """Errors on the test rows of the model that is selected on the training rows."""
    search = make_search(grid, X.shape[1]).set_params(corrected=False)
    return int((search.fit(X[train], y[train]).predict(X[test]) != y[test]).sum())


def known(folder: Path) -> tuple[list[Row], list[str]]:
    """The existing rows, and the notes above them."""
    path = folder / RUNS
    return read_rows(path) if path.exists() else ([], [command(), machine()])


def missing(folder: Path, problems: list[Problem]) -> list[Problem]:
    done = {_problem(row) for row in known(folder)[0]}
    return [problem for problem in problems if problem not in done]


def _problem(row: Row) -> Problem:
    return row["data_set"], row["split"], row["size"], row["grid"]


def compute(folder: Path, problems: list[Problem], jobs: int) -> None:
    todo = missing(folder, problems)
    rows, notes = known(folder)
    place = {problem: number for number, problem in enumerate(problems)}
    for done, row in enumerate(_measured(todo, jobs), start=1):
        rows.append(row)
        # Rows come as they are finished, but are written in order.
        rows.sort(key=lambda one: place.get(_problem(one), len(place)))
        write_text(folder / RUNS, to_csv(rows, notes))
        name, split, size, grid = _problem(row)
        print(f"{done}/{len(todo)} {name} {split} {size} {grid}", file=sys.stderr, flush=True)


def _measured(todo: list[Problem], jobs: int) -> Iterator[Row]:
    if jobs == 1:
        yield from map(measure, todo)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(measure, problem) for problem in todo]):
            yield future.result()


def summary(rows: list[Row], group: Row) -> list[Row]:
    """Bias, error, coverage and time of every estimate over some rows."""

    def column(name: str) -> np.ndarray:
        return np.array([row[name] for row in rows], dtype=float)

    truth, lines = column("true"), []
    for name in (*ESTIMATES, *INTERVALS):
        value = column("corrected" if name in INTERVALS else name)
        low, high = column(f"{name}_low"), column(f"{name}_high")
        line = {
            **group,
            "searches": len(rows),
            "estimate": f"corrected, {name}" if name in INTERVALS else name,
            "true_error": truth.mean(),
            "bias": (value - truth).mean(),
            "relative_bias": value.mean() / truth.mean() - 1.0,
            "rmse": np.sqrt(((value - truth) ** 2).mean()),
            "covers": ((low <= truth) & (truth <= high)).mean(),
            "above": (truth > high).mean(),
            "width": (high - low).mean(),
            "seconds": "" if name in INTERVALS else column(f"{name}_seconds").mean(),
        }
        lines.append({k: round(float(v), 4) if isinstance(v, float) else v
                      for k, v in line.items()})  # fmt: skip
    return lines


def summarise(folder: Path) -> None:
    """Write and print what the rows say, for each size and grid, and for each data set."""
    rows, notes = known(folder)
    lines: list[Row] = []
    for size, grid in product(SIZES, GRIDS):
        part = [row for row in rows if row["size"] == size and row["grid"] == grid]
        for name in ("all", *NAMES):
            own = [row for row in part if name in ("all", row["data_set"])]
            if own:
                lines += summary(own, {"size": size, "grid": grid, "data_set": name})
    if rows:
        lines = summary(rows, {"size": "all", "grid": "all", "data_set": "all"}) + lines
    for line in lines:
        if line["data_set"] == "all":
            print(f"{line['size']!s:>4} {line['grid']:8} {line['estimate']:22} relative bias "
                  f"{line['relative_bias']:+.3f}, RMSE {line['rmse']:.4f}, covers "
                  f"{line['covers']:.3f}, width {line['width']:.3f}, {line['seconds'] or '-'} s"
                  )  # fmt: skip
    write_text(folder / SUMMARY, to_csv(lines, notes))
    print(f"written to {folder / SUMMARY}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corrected", description=__doc__)
    parser.add_argument("--splits", type=int, default=30, help="training sets per data set")
    parser.add_argument("--datasets", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--jobs", type=int, default=1, help="processes; times are true with 1")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for the results")
    options = parser.parse_args()
    measure((options.datasets[0], 0, SIZES[0], GRIDS[1]))  # compiles
    problems = list(product(options.datasets, range(options.splits), SIZES, GRIDS))
    compute(options.results, problems, options.jobs)
    summarise(options.results)


if __name__ == "__main__":
    main()
