"""``python -m benchmarks.regression_intervals``: prediction intervals for 90 %, and their price.

Random training sets of 100 and of 300 rows of public data sets.  An SVR with three values of C, in
units of the targets' spread, on standardised features; its intervals by

- SpanSVR: ``SpanSVR.predict_interval``, from one training;
- jackknife+: of MAPIE, by leaving out one row after the other;
- CV+: of MAPIE, ten folds;
- refits: jackknife+ as Barber, Candes, Ramdas and Tibshirani (2021) define it, from as many
  trainings as there are rows (only for 100 rows).

The same for a model that is searched: C, gamma and epsilon (7 x 5 x 4) by our search, with its own
``predict_interval``, and by GridSearchCV with CV+ of MAPIE around the selected model.  The share of
other rows inside the intervals, their mean width in units of the targets' spread, and the processor
time of training and predicting, on one thread.

One row per training set, model and way is written as soon as it is computed; existing rows are not
computed again, except those of `--again`.  MAPIE: ``pip install mapie``, version 1.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

import spansvm
from reproduction.csv_files import Row, to_csv, write_text
from spansvm import SpanSearch

from .measure import RESULTS, geometric_mean
from .regression import column, engine_trains
from .regression_data import candidates, has, load, parts
from .resumed import Results, rounded

LEVEL = 0.9
SIZES, SPLITS, SMALL, MOST_TEST_ROWS = (100, 300), 10, 100, 500
SETS = (
    "diabetes", "friedman1", "boston", "concrete", "kin8nm", "power_plant", "wine_red", "airfoil",
    "forest_fires", "pumadyn32nm",
)  # fmt: skip

#: C over the spread of the targets; epsilon is a tenth of that, gamma 1 / d.
STRENGTHS = (0.3, 3.0, 30.0)
SEARCHED = "searched"

RUNS, SUMMARY = "regression_intervals_runs.csv", "regression_intervals.csv"
KEYS = ("data_set", "size", "split", "model", "way")

Ends = np.ndarray
Way = Callable[[Any, np.ndarray, np.ndarray, np.ndarray], Ends]


def by_span(model: SVR, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Ends:
    """Those of SpanSVR."""
    ours = spansvm.SpanSVR(C=model.C, gamma=model.gamma, epsilon=model.epsilon)
    return ours.fit(X, y).predict_interval(X_test, confidence_level=LEVEL)


def by_mapie(model: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, cv: Any) -> Ends:
    """Those of MAPIE."""
    regression = import_module("mapie.regression")
    around = regression.CrossConformalRegressor(model, LEVEL, method="plus", cv=cv)
    _, ends = around.fit_conformalize(X, y).predict_interval(X_test)
    return ends[:, :, 0]


def by_jackknife(model: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Ends:
    return by_mapie(model, X, y, X_test, LeaveOneOut())


def by_folds(model: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Ends:
    return by_mapie(model, X, y, X_test, KFold(10, shuffle=True, random_state=0))


def by_refits(model: SVR, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Ends:
    """From a training without each row, as in eq. 1.2 of Barber et al."""
    n = y.size
    residuals, predictions = np.empty(n), np.empty((n, len(X_test)))
    for row in range(n):
        kept = np.arange(n) != row
        model.fit(X[kept], y[kept])
        residuals[row] = abs(y[row] - model.predict(X[[row]])[0])
        predictions[row] = model.predict(X_test)
    # The largest but floor(alpha (n + 1)) - 1, and the smallest likewise.
    rank = int(np.ceil(LEVEL * (n + 1) - 1e-9))
    lower = np.sort(predictions - residuals[:, None], axis=0)[n - rank]
    upper = np.sort(predictions + residuals[:, None], axis=0)[rank - 1]
    return np.column_stack([lower, upper])


def by_search(model: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Ends:
    search = SpanSearch(model, candidates(X, y)).fit(X, y)
    return search.predict_interval(X_test, confidence_level=LEVEL)


def by_grid_search(model: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Ends:
    search = GridSearchCV(model, candidates(X, y), cv=5).fit(X, y)
    return by_folds(search.best_estimator_, X, y, X_test)


WAYS: dict[str, Way] = {
    "SpanSVR": by_span,
    "jackknife+": by_jackknife,
    "CV+": by_folds,
    "refits": by_refits,
    "SpanSearch": by_search,
    "GridSearchCV, CV+": by_grid_search,
}
OF_A_SEARCH = ("SpanSearch", "GridSearchCV, CV+")
OURS = ("SpanSVR", "SpanSearch")


def measure(name: str, size: int, split: int, model: object, way: str) -> Row:
    """The intervals of one model in one way."""
    X, y, X_test, y_test = parts(name, split, size)
    X_test, y_test = X_test[:MOST_TEST_ROWS], y_test[:MOST_TEST_ROWS]
    spread = y.std()
    estimator: Any = make_pipeline(StandardScaler(), SVR())
    if model != SEARCHED:
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
        strength = float(model)  # type: ignore[arg-type]
        estimator = SVR(C=strength * spread, gamma=1.0 / X.shape[1], epsilon=0.1 * spread)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = time.process_time()
        lower, upper = WAYS[way](estimator, X, y, X_test).T
        seconds = time.process_time() - started
    row: Row = {
        "data_set": name, "size": size, "split": split, "model": model, "way": way,
        "test_rows": y_test.size,
        "covers": np.mean((lower <= y_test) & (y_test <= upper)),
        "width": np.mean(upper - lower) / spread, "seconds": seconds,
    }  # fmt: skip
    return rounded(row)


def summary(rows: list[Row]) -> list[Row]:
    """Means over data sets and splits, and ratios to the same training sets of our way."""
    lines: list[Row] = []
    for size, model, way in product(SIZES, (*STRENGTHS, SEARCHED), WAYS):
        own = [r for r in rows if (r["size"], r["model"], r["way"]) == (size, model, way)]
        if not own:
            continue
        reference = "SpanSearch" if model == SEARCHED else "SpanSVR"
        ours = {(r["data_set"], r["split"]): r for r in rows
                if (r["size"], r["model"], r["way"]) == (size, model, reference)}  # fmt: skip
        both = [(r, ours[r["data_set"], r["split"]]) for r in own
                if (r["data_set"], r["split"]) in ours]  # fmt: skip
        by_set = [np.mean(column([r for r in own if r["data_set"] == name], "covers"))
                  for name in dict.fromkeys(r["data_set"] for r in own)]  # fmt: skip
        line: Row = {
            "size": size, "model": model, "way": way, "training_sets": len(own),
            "covers": column(own, "covers").mean(), "least_of_a_data_set": min(by_set),
            "width": column(own, "width").mean(), "seconds": column(own, "seconds").mean(),
        }  # fmt: skip
        if both:
            line["width_over_ours"] = geometric_mean([r["width"] / o["width"] for r, o in both])
            line["seconds_over_ours"] = geometric_mean(
                [r["seconds"] / max(o["seconds"], 1e-4) for r, o in both]
            )
        lines.append(rounded(line))
    return lines


def possible() -> list[str]:
    """The ways that can be measured with what is installed."""
    ways = list(WAYS)
    if not hasattr(spansvm, "SpanSVR"):
        ways.remove("SpanSVR")
    if not (engine_trains(SVR()) and hasattr(SpanSearch, "predict_interval")):
        ways.remove("SpanSearch")
    try:
        import_module("mapie.regression")
    except ImportError:
        print("MAPIE is left out: it is not installed.")
        ways = [way for way in ways if way in (*OURS, "refits")]
    return ways


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.regression_intervals", description=__doc__
    )
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
    ways = [way for way in possible() if way in given.ways]
    problems = [
        (name, size, split, model, way)
        for name, size in product(given.names or SETS, SIZES)
        if has(name, size)
        for split, model, way in product(range(given.splits), (*STRENGTHS, SEARCHED), ways)
        if (way in OF_A_SEARCH) == (model == SEARCHED) and (way != "refits" or size <= SMALL)
    ]
    for own in {problem[3:]: problem for problem in problems}.values():
        measure(*own)  # imports what it needs
    results.complete(problems, measure)
    lines = summary(results.rows)
    for line in lines:
        text = f"{line['size']} rows, C {line['model']}, {line['way']}"
        ratio = f", time over ours {line['seconds_over_ours']:.1f}, width over ours " \
                f"{line['width_over_ours']:.3f}" if "width_over_ours" in line else ""  # fmt: skip
        print(f"{text:32} covers {line['covers']:.3f} (least of a data set "
              f"{line['least_of_a_data_set']:.3f}), width {line['width']:.3f}, "
              f"{line['seconds']:.4f} s{ratio}")  # fmt: skip
    write_text(given.results / SUMMARY, to_csv(lines, results.notes))
    print(f"written to {given.results / SUMMARY}")


if __name__ == "__main__":
    main()
