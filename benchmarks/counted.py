"""``python -m benchmarks.counted``: errors counted by the default search against exact ones.

For data sets with two and with many classes, at most 400 rows each, and five kinds of search: the
leave-one-out error of every candidate as the default search counts it, as the span-rule does, and
exactly (``method="loo"``); the error of the candidate that each selects; and the time of each,
least of three, in turns, one thread.  One row per data set and kind of search is written as soon as
it is computed; existing rows are not computed again.

The criterion that decides which rows are followed was designed on other data.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row, read_rows, to_csv, write_text
from spansvm import SpanSearch

from . import keel
from .measure import RESULTS, command, geometric_mean, machine

ROWS = 400

TWO_CLASSES = (
    "australian", "banana", "bands", "bupa", "german", "heart", "ionosphere", "monk-2", "phoneme",
    "pima", "saheart", "sonar", "spambase", "titanic", "wdbc",
)  # fmt: skip

MANY_CLASSES = (
    "contraceptive", "glass", "hayes-roth", "led7digit", "letter", "movement_libras", "penbased",
    "satimage", "segment", "tae", "texture", "vehicle", "vowel", "wine",
)  # fmt: skip

METHODS: dict[str, str | None] = {"rule": "span_rule", "default": None, "exact": "loo"}

#: How often each search is timed, unless it takes longer than this.
REPEATS, SECONDS = 3, 5.0


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Scaled rows and labels of a data set."""
    X, y = keel.load(name)
    order = np.random.default_rng(0).permutation(y.size)[:ROWS]
    X, y = X[order], y[order]
    classes, counts = np.unique(y, return_counts=True)
    kept = np.isin(y, classes[counts > 1])
    return StandardScaler().fit_transform(X[kept]), y[kept]


def _rbf(X: np.ndarray) -> dict[str, Any]:
    gammas = np.array([0.01, 0.1, 0.5, 2.0, 10.0]) / X.shape[1]
    return {"C": 10.0 ** np.arange(-2, 5), "gamma": gammas}


def rbf(X: np.ndarray, y: np.ndarray) -> tuple[Any, Any, dict[str, Any]]:
    return SVC(), _rbf(X), {}


def balanced(X: np.ndarray, y: np.ndarray) -> tuple[Any, Any, dict[str, Any]]:
    return SVC(class_weight="balanced"), _rbf(X), {}


def linear(X: np.ndarray, y: np.ndarray) -> tuple[Any, Any, dict[str, Any]]:
    return SVC(kernel="linear"), {"C": 10.0 ** np.linspace(-3, 2, 11)}, {}


def weighted(X: np.ndarray, y: np.ndarray) -> tuple[Any, Any, dict[str, Any]]:
    weight = np.random.default_rng(1).uniform(0.1, 2.0, y.size)
    return SVC(), _rbf(X), {"sample_weight": weight}


def one_vs_rest(X: np.ndarray, y: np.ndarray) -> tuple[Any, Any, dict[str, Any]]:
    grid = {"estimator__C": [0.01, 1.0, 100.0], "estimator__kernel": ["linear", "rbf"]}
    return OneVsRestClassifier(SVC()), grid, {}


def groups(X: np.ndarray, y: np.ndarray) -> tuple[Any, Any, dict[str, Any]]:
    grid = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": _rbf(X)["gamma"][1:4]}
    return SVC(), grid, {"groups": np.random.default_rng(2).integers(0, y.size // 4, y.size)}


Search = Callable[[np.ndarray, np.ndarray], tuple[Any, Any, dict[str, Any]]]
SEARCHES: dict[str, Search] = {
    own.__name__: own for own in (rbf, linear, balanced, weighted, one_vs_rest, groups)
}


def measure(name: str, kind: str) -> Row:
    """Errors and times of one kind of search on one data set."""
    X, y = rows_of(name)
    model, grid, arguments = SEARCHES[kind](X, y)
    found, times = {}, {way: [] for way in METHODS}
    for _ in range(REPEATS):
        for way, method in METHODS.items():
            if times[way] and sum(times[way]) > SECONDS:
                continue
            start = time.process_time()
            search = SpanSearch(model, grid, method=method, refit=False).fit(X, y, **arguments)
            times[way].append(time.process_time() - start)
            found[way] = search
    errors = {way: search.cv_results_["loo_error"] for way, search in found.items()}
    exact = errors["exact"]
    row: Row = {
        "data_set": name, "search": kind, "rows": y.size, "classes": np.unique(y).size,
        "candidates": exact.size, "least_error": round(float(exact.min()), 4),
    }  # fmt: skip
    for way in ("rule", "default"):
        off = np.abs(errors[way] - exact)
        row[f"{way}_mean"] = round(float(off.mean()), 5)
        row[f"{way}_largest"] = round(float(off.max()), 4)
        row[f"{way}_differ"] = int((off > 1e-12).sum())
        row[f"{way}_least"] = round(float(abs(errors[way].min() - exact.min())), 4)
        chosen = exact[found[way].best_index_]
        row[f"{way}_selects"] = round(float(chosen), 4)
    row["same_selection"] = int(found["default"].best_index_ == found["exact"].best_index_)
    row |= {f"{way}_ms": round(1e3 * min(own), 1) for way, own in times.items()}
    return row


def summarise(rows: list[Row]) -> None:
    for kind in SEARCHES:
        for label, several in (("two classes", False), ("many classes", True)):
            own = [
                row for row in rows
                if row["search"] == kind and (int(row["classes"]) > 2) == several
            ]  # fmt: skip
            if not own:
                continue
            means = {way: [float(row[f"{way}_mean"]) for row in own] for way in ("rule", "default")}
            ratio = [float(row["default_ms"]) / float(row["rule_ms"]) for row in own]
            saved = [float(row["exact_ms"]) / float(row["default_ms"]) for row in own]
            print(
                f"{kind}, {label} ({len(own)} sets): |counted - exact| rule "
                f"{np.mean(means['rule']):.4f} (worst set {max(means['rule']):.4f}), default "
                f"{np.mean(means['default']):.5f} ({max(means['default']):.5f}); same selection "
                f"{sum(int(row['same_selection']) for row in own)}; time of the rule's "
                f"{geometric_mean(ratio):.2f} (largest {max(ratio):.2f}), exact takes "
                f"{geometric_mean(saved):.1f} times longer"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="data sets; all by default")
    parser.add_argument("--search", choices=SEARCHES, help="only this kind of search")
    parser.add_argument("--out", type=Path, default=RESULTS / "counted.csv")
    given = parser.parse_args()
    rows: list[Row] = list(read_rows(given.out)[0]) if given.out.exists() else []
    done = {(row["data_set"], row["search"]) for row in rows}
    warnings.simplefilter("ignore")
    for name in given.names or (*TWO_CLASSES, *MANY_CLASSES):
        for kind in [given.search] if given.search else SEARCHES:
            if (name, kind) in done or (kind == "one_vs_rest" and name in TWO_CLASSES):
                continue
            with threadpool_limits(1):
                rows.append(measure(name, kind))
            print(rows[-1], file=sys.stderr, flush=True)
            write_text(given.out, to_csv(rows, [command(), machine()]))
    summarise(rows)


if __name__ == "__main__":
    main()
