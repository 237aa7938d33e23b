"""``python -m benchmarks.regression``: models that a search of an SVR selects, and what it says.

Random training sets of 150 and of 400 rows of public data sets; C, gamma and epsilon (7 x 5 x 4) of
``make_pipeline(StandardScaler(), SVR())``, C and epsilon in units of the targets' spread, the same
candidates for all; the score is R2.  The root mean squared error, on all other rows, of the model
that is selected by GridSearchCV with five folds, and by our search: as it is by default (exact
leave-one-out), with the same folds, and by the span alone.  Also the best and the corrected score
with its interval, against R2 on the other rows.

One row per training set and way to select is written as soon as it is computed; existing rows are
not computed again, except those of `--again`.  At the end errors are compared set by set, and as
geometric means; scores are compared on the sets with many other rows.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row, to_csv, write_text
from spansvm import SpanSearch
from spansvm.search.unaccelerated import UnacceleratedWarning

from .measure import RESULTS, geometric_mean
from .regression_data import NAMES, candidates, has, load, parts
from .resumed import Results, rounded

SIZES, SPLITS = (150, 400), 10

#: The others have few rows, or take GridSearchCV minutes.
SETS = tuple(
    name for name in NAMES if name not in ("friedman2", "friedman3", "machine_cpu", "servo")
)
RUNS, ERRORS, SCORES = "regression_runs.csv", "regression.csv", "regression_scores.csv"
KEYS = ("data_set", "size", "split", "way")

#: How a model is selected.
WAYS: dict[str, Callable[..., Any]] = {
    "GridSearchCV": lambda *given: GridSearchCV(*given, cv=5),
    "default": SpanSearch,
    "folds": lambda *given: SpanSearch(*given, cv=5),
    "span": lambda *given: SpanSearch(*given, method="span_rule"),
}
OURS = tuple(way for way in WAYS if way != "GridSearchCV")

#: Scores are compared with the truth where it is known this well.
ROWS_FOR_THE_TRUTH = 600


def engine_trains(estimator: Any) -> bool:
    """Whether our search of an estimator is not left to scikit-learn."""
    X = np.arange(20.0)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnacceleratedWarning)
        try:
            SpanSearch(estimator, [{}]).fit(X, np.sin(X[:, 0]))
        except UnacceleratedWarning as warning:
            print(warning, file=sys.stderr)
            return False
    return True


def measure(name: str, size: int, split: int, way: str) -> Row:
    """One search."""
    X, y, X_test, y_test = parts(name, split, size)
    grid = candidates(X, y)
    search = WAYS[way](make_pipeline(StandardScaler(), SVR()), grid)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = time.process_time()
        search.fit(X, y)
        searching = time.process_time() - started
        predicted = search.predict(X_test)
        row: Row = {
            "data_set": name, "size": size, "split": split, "way": way,
            "test_rows": y_test.size,
            "rmse": float(np.sqrt(np.mean((predicted - y_test) ** 2))) / y.std(),
            "true": search.score(X_test, y_test), "best": search.best_score_,
        }  # fmt: skip
        if way != "GridSearchCV":
            started = time.process_time()
            row["corrected"] = search.corrected_score_
            row["low"], row["high"] = search.corrected_interval_
            row["corrected_seconds"] = time.process_time() - started
    for parameter, values in grid.items():
        place = np.flatnonzero(values == search.best_params_[parameter])
        row[parameter.removeprefix("svr__")] = int(place[0])
    row["seconds"] = searching
    return rounded(row)


def column(rows: list[Row], name: str) -> np.ndarray:
    return np.array([row[name] for row in rows], dtype=float)


def matched(rows: list[Row], way: str, **cells: object) -> tuple[list[Row], list[Row]]:
    """Rows of a way, and those of GridSearchCV for the same training sets."""
    chosen = [row for row in rows if all(row[k] == v for k, v in cells.items())]
    by_way = {
        own: {(row["data_set"], row["size"], row["split"]): row
              for row in chosen if row["way"] == own}
        for own in (way, "GridSearchCV")
    }  # fmt: skip
    both = [key for key in by_way[way] if key in by_way["GridSearchCV"]]
    return [by_way[way][key] for key in both], [by_way["GridSearchCV"][key] for key in both]


def errors(rows: list[Row]) -> list[Row]:
    """Mean test errors over those of GridSearchCV, with two standard errors over the splits."""
    lines: list[Row] = []
    for way, size in product(OURS, SIZES):
        for name in NAMES:
            ours, theirs = matched(rows, way, data_set=name, size=size)
            if not ours:
                continue
            a, b = column(ours, "rmse"), column(theirs, "rmse")
            noise = (a - b).std(ddof=1) / np.sqrt(a.size) if a.size > 1 else np.nan
            lines.append({
                "way": way, "size": size, "data_set": name, "splits": a.size,
                "GridSearchCV": b.mean(), "ours": a.mean(), "ratio": a.mean() / b.mean(),
                "two_standard_errors": 2.0 * noise / b.mean(),
                "seconds_GridSearchCV": column(theirs, "seconds").mean(),
                "seconds_ours": column(ours, "seconds").mean(),
            })  # fmt: skip
    return lines


def scores(rows: list[Row]) -> list[Row]:
    """Bias of R2, relative to what it lacks to 1, and how often the interval has the truth."""
    known = [row for row in rows if row["test_rows"] >= ROWS_FOR_THE_TRUTH]
    lines: list[Row] = []
    for way, size in product(OURS, SIZES):
        ours, theirs = matched(known, way, size=size)
        if not ours:
            continue
        truth, low, high = (column(ours, name) for name in ("true", "low", "high"))

        def line(
            estimate: str, lack: np.ndarray, true: np.ndarray, *, way: str = way, size: int = size
        ) -> Row:
            return {"way": way, "size": size, "estimate": estimate,
                    "searches": true.size, "true": true.mean(),
                    "bias": (1.0 - lack - true).mean(), "rmse": np.sqrt(
                        np.mean((1.0 - lack - true) ** 2)),
                    "relative_bias": lack.mean() / (1.0 - true).mean() - 1.0}  # fmt: skip

        lines.append(line("best of GridSearchCV", 1.0 - column(theirs, "best"),
                          column(theirs, "true")))  # fmt: skip
        lines.append(line("best", 1.0 - column(ours, "best"), truth))
        corrected = line("corrected", 1.0 - column(ours, "corrected"), truth)
        corrected |= {"covers": np.mean((low <= truth) & (truth <= high)),
                      "below": np.mean(truth < low), "width": np.mean(high - low)}  # fmt: skip
        lines.append(corrected)
    return lines


def summarise(rows: list[Row], folder: Path, notes: list[str]) -> None:
    """Write and print what the rows say."""
    compared, reported = errors(rows), scores(rows)
    for way, size in product(OURS, SIZES):
        own = [line for line in compared if line["way"] == way and line["size"] == size]
        if own:
            beyond = [np.sign(line["ratio"] - 1.0) * (abs(line["ratio"] - 1.0)
                      > line["two_standard_errors"]) for line in own]  # fmt: skip
            speed = [line["seconds_GridSearchCV"] / line["seconds_ours"] for line in own]
            print(f"{way}, {size} rows, {len(own)} sets: RMSE over that of GridSearchCV "
                  f"{geometric_mean([line['ratio'] for line in own]):.4f} (geometric mean), worse "
                  f"beyond two standard errors in {beyond.count(1.0)}, better in "
                  f"{beyond.count(-1.0)}; {geometric_mean(speed):.0f} times as fast")  # fmt: skip
    for line in reported:
        covers = f", covers {line['covers']:.3f}" if "covers" in line else ""
        print(f"{line['way']}, {line['size']} rows, {line['searches']} searches: "
              f"{line['estimate']}: bias of R2 {line['bias']:+.4f}, of 1 - R2 "
              f"{line['relative_bias']:+.1%}, RMSE {line['rmse']:.4f}{covers}")  # fmt: skip
    for file, lines in ((ERRORS, compared), (SCORES, reported)):
        if lines:
            write_text(folder / file, to_csv([rounded(line) for line in lines], notes))
            print(f"written to {folder / file}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regression", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"data sets; by default {', '.join(SETS)}")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--again", nargs="+", default=[], choices=WAYS, help="compute these anew")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for the results")
    given = parser.parse_args()
    for name in given.names:
        load(name)  # an unknown name is an error before anything is computed
    results = Results(given.results / RUNS, KEYS)
    for way in given.again:
        results.forget(way=way)
    trained = engine_trains(SVR())
    ways = [way for way in given.ways if trained or way not in OURS]
    problems = [
        (name, size, split, way)
        for name, size in product(given.names or SETS, SIZES)
        if has(name, size)
        for split, way in product(range(given.splits), ways)
    ]
    results.complete(problems, measure)
    summarise(results.rows, given.results, results.notes)


if __name__ == "__main__":
    main()
