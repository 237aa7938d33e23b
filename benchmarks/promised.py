"""``python -m benchmarks.promised``: corrected scores and their intervals, for every kind of score.

Generated problems of 120 rows, whose truth is known from 20,000 other rows: noise with 60 rows of
each class, noise with labels at random, a signal, a signal with 20 % positives, one with groups,
one evaluated by five folds, one with three classes.  A hundred of each, 30 candidates (C and
gamma), selected by each of seven scores.  Of the selected model: how far ``best_score_`` and
``corrected_score_`` are from the score on new rows, on average; and how often
``corrected_interval_``, a 95% CI, contains that.

On noise with fixed class sizes the truth is that of new rows with the same class sizes.

One row per problem, kind and score is written as soon as it is computed; existing rows are not
computed again.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row, read_rows, to_csv, write_text
from spansvm import SpanSearch, SpanSVC

from .measure import RESULTS, command, machine

ROWS, TEST_ROWS, PROBLEMS = 120, 20_000, 100

SCORES = (
    "accuracy", "balanced_accuracy", "f1", "f1_macro", "roc_auc", "average_precision",
    "neg_log_loss",
)  # fmt: skip

#: Scores that are not defined for three classes, or are another one there.
MULTICLASS = {"f1": None, "average_precision": None, "roc_auc": "roc_auc_ovr"}

KINDS = ("noise", "random noise", "signal", "unequal", "groups", "folds", "three classes")

GRID = {"C": 10.0 ** np.arange(-1, 5), "gamma": np.array([0.02, 0.1, 0.2, 0.5, 2.0])}

RUNS, SUMMARY = "promised_runs.csv", "promised.csv"


def draw(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, Any]:
    """Rows, labels and groups."""
    d, groups = 5, None
    if kind == "noise":
        return rng.standard_normal((n, d)), np.arange(n) % 2, None
    if kind == "random noise":
        return rng.standard_normal((n, d)), rng.integers(0, 2, n), None
    X = rng.standard_normal((n, d))
    if kind == "groups":
        # Rows of a group have a common part, and mostly the same label.
        groups = np.arange(n) // 4
        X += rng.standard_normal((groups.max() + 1, d))[groups]
        value = X[:, 0] + 0.8 * X[:, 1] ** 2 - 1.6
        return X, (value + rng.standard_normal(n) > 0).astype(int), groups
    value = X[:, 0] + 0.7 * (X[:, 1] ** 2 - 1.0) + 0.8 * rng.standard_normal(n)
    if kind == "three classes":
        return X, np.digitize(value, (-0.6, 0.6)), None
    return X, (value > (1.25 if kind == "unequal" else 0.0)).astype(int), None


def measure(kind: str, score: str, number: int) -> Row | None:
    """One search, and the truth about the model that it selects."""
    name = MULTICLASS.get(score, score) if kind == "three classes" else score
    if name is None:
        return None
    X, y, groups = draw(kind, ROWS, np.random.default_rng((number, 1)))
    if np.bincount(y).min() < 8:
        return None
    X_test, y_test, _ = draw(kind, TEST_ROWS, np.random.default_rng((number, 2)))
    cv = 5 if kind == "folds" else None
    search = SpanSearch(SpanSVC(), GRID, scoring=name, cv=cv)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, y, groups=groups)
        low, high = search.corrected_interval_
        return {
            "kind": kind, "score": score, "problem": number,
            "true": round(float(get_scorer(name)(search.best_estimator_, X_test, y_test)), 5),
            "best": round(search.best_score_, 5), "corrected": round(search.corrected_score_, 5),
            "low": round(low, 5), "high": round(high, 5),
        }  # fmt: skip


def summarise(rows: list[Row]) -> list[Row]:
    lines = []
    for kind, score in product(KINDS, SCORES):
        own = [row for row in rows if row["kind"] == kind and row["score"] == score]
        if not own:
            continue
        true, best, corrected, low, high = (
            np.array([float(row[name]) for row in own])
            for name in ("true", "best", "corrected", "low", "high")
        )
        error = (corrected - true).std() / np.sqrt(len(own))
        lines.append({
            "kind": kind, "score": score, "problems": len(own), "true": round(true.mean(), 4),
            "best_bias": round((best - true).mean(), 4),
            "corrected_bias": round((corrected - true).mean(), 4),
            "standard_error": round(error, 4),
            "covers": round(((low <= true) & (true <= high)).mean(), 3),
            "too_good": round((true < low).mean(), 3), "width": round((high - low).mean(), 4),
        })  # fmt: skip
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.promised", description=__doc__)
    parser.add_argument("--scores", nargs="+", default=list(SCORES), choices=SCORES)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--problems", type=int, default=PROBLEMS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for the results")
    given = parser.parse_args()
    path = given.results / RUNS
    rows: list[Row] = list(read_rows(path)[0]) if path.exists() else []
    done = {(row["kind"], row["score"], row["problem"]) for row in rows}
    todo = [
        one for one in product(given.kinds, given.scores, range(given.problems)) if one not in done
    ]
    notes = [command(), machine()]
    with ProcessPoolExecutor(given.jobs) as pool:
        futures = [pool.submit(measure, *one) for one in todo]
        for count, future in enumerate(as_completed(futures), start=1):
            if future.result() is not None:
                rows.append(future.result())
            if count % 50 == 0 or count == len(todo):
                rows.sort(key=lambda row: (row["kind"], row["score"], row["problem"]))
                write_text(path, to_csv(rows, notes))
                print(f"{count}/{len(todo)}", file=sys.stderr, flush=True)
    lines = summarise(rows)
    for line in lines:
        print(line)
    write_text(given.results / SUMMARY, to_csv(lines, notes))


if __name__ == "__main__":
    main()
