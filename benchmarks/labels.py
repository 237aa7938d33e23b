"""``python -m benchmarks.labels``: wrong labels that are found, against cleanlab.

Labels of public data sets are changed by seed: to any other class, or each class to its neighbour
(10 %, pairs).  Ways to find them:

- ``model``: ``find_label_issues`` of the model that SpanSearch selects;
- ``committee``: of the search, which asks its committee;
- ``cleanlab``: on 5-fold probabilities of an SVC that GridSearchCV has tuned, on the same grid.

For each way, among as many rows as were changed, those of the lowest quality, how many were
changed (precision at k); the average precision of the ranking; how many rows are reported, and how
many of these were changed; processor seconds.  Nothing was tuned on these sets.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import average_precision_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row, to_csv, write_text
from spansvm import SpanSearch, SpanSVC, find_label_issues

from . import keel
from .measure import RESULTS, command, machine, write
from .opponents import CLEANLAB
from .resumed import Problem, Results, rounded

GRID = {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": [0.001, 0.01, 0.03, 0.1, 0.3, 1.0]}
MOST_ROWS = 400

SHIPPED: dict[str, Callable[..., Any]] = {
    "breast cancer": load_breast_cancer, "digits": load_digits, "wine": load_wine,
}  # fmt: skip
SETS = [
    *SHIPPED, "banana", "german", "heart", "ionosphere", "phoneme", "segment", "vehicle", "vowel",
    "contraceptive",
]  # fmt: skip

#: The share of changed labels, and whether they go to the neighbouring class.
NOISES = {"none": (0.0, False), "5 %": (0.05, False), "10 %": (0.1, False), "20 %": (0.2, False),
          "10 %, pairs": (0.1, True)}  # fmt: skip

WAYS = ("model", "committee", "cleanlab")


def rows_of(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scaled rows and classes."""
    X, y = SHIPPED[name](return_X_y=True) if name in SHIPPED else keel.load(name)
    y = np.unique(y, return_inverse=True)[1]
    some = np.random.default_rng((seed, 1)).permutation(y.size)[:MOST_ROWS]
    return StandardScaler().fit_transform(X[some]), y[some]


def spoilt(y: np.ndarray, noise: str, seed: int) -> np.ndarray:
    """The labels, some of them changed."""
    share, to_neighbour = NOISES[noise]
    rng, classes = np.random.default_rng((seed, 2)), int(y.max()) + 1
    rows = rng.permutation(y.size)[: round(share * y.size)]
    step = 1 if to_neighbour else rng.integers(1, classes, rows.size)
    result = y.copy()
    result[rows] = (y[rows] + step) % classes
    return result


def judged(quality: np.ndarray, issues: np.ndarray, wrong: np.ndarray, seconds: float) -> Row:
    """How good a way is."""
    count = int(wrong.sum())
    worst = np.argsort(quality, kind="stable")[:count]
    return {
        "precision_at_k": wrong[worst].mean() if count else "",
        "average_precision": average_precision_score(wrong, -quality) if count else "",
        "reported": issues.size, "right": int(wrong[issues].sum()), "seconds": seconds,
    }  # fmt: skip


def ours(X: np.ndarray, y: np.ndarray, wrong: np.ndarray) -> tuple[dict[str, Row], SpanSearch]:
    """What our ways find, and the search."""
    start = time.process_time()
    search = SpanSearch(SpanSVC(), GRID).fit(X, y)
    searched, found = time.process_time() - start, {}
    for way, model in (("model", search.best_estimator_), ("committee", search)):
        start = time.process_time()
        table = find_label_issues(model)
        seconds = searched + time.process_time() - start
        issues = np.flatnonzero(table.is_label_issue)
        found[way] = judged(table.label_quality.to_numpy(), issues, wrong, seconds)
    return found, search


def measured_again(row: Row) -> Row:
    """A row of the table with what our ways find now; times are those of before."""
    name, noise, seed = str(row["data_set"]), str(row["noise"]), int(str(row["seed"]))
    X, truth = rows_of(name, seed)
    y = spoilt(truth, noise, seed)
    found, _ = ours(X, y, y != truth)
    new = {
        f"{way}_{key}": value
        for way, own in found.items() for key, value in own.items() if key != "seconds"
    }  # fmt: skip
    print(name, noise, seed, flush=True)
    return {**row, **rounded(new)}


def measure(name: str, noise: str, seed: int) -> Row:
    """One row of the table."""
    X, truth = rows_of(name, seed)
    y = spoilt(truth, noise, seed)
    wrong = y != truth
    found, search = ours(X, y, wrong)
    theirs = CLEANLAB.run(name, X=X, y=y, **GRID)
    if theirs is not None:
        quality, issues = np.array(theirs["quality"]), np.array(theirs["issues"], dtype=int)
        found["cleanlab"] = judged(quality, issues, wrong, theirs["seconds"])
    row: Row = {"data_set": name, "noise": noise, "seed": seed, "rows": y.size}
    row |= {"classes": int(truth.max()) + 1, "changed": int(wrong.sum())}
    row["loo_error"] = search.best_estimator_.loo_error_
    for way in WAYS:
        empty: Row = dict.fromkeys(found["model"], "")
        row |= {f"{way}_{key}": value for key, value in found.get(way, empty).items()}
    return rounded(row)


def summary(rows: list[Row]) -> Iterator[Row]:
    """Means over sets and seeds, for every noise and way."""
    for noise in NOISES:
        own = [row for row in rows if row["noise"] == noise and row["cleanlab_seconds"] != ""]
        for way in WAYS if own else ():

            def of(key: str, own: list[Row] = own, way: str = way) -> np.ndarray:
                return np.array([float(str(row[f"{way}_{key}"]).strip() or "nan") for row in own])

            reported, right = of("reported"), of("right")
            changed = np.array([float(str(row["changed"])) for row in own])
            sizes = np.array([float(str(row["rows"])) for row in own])
            ratio = np.array([float(str(row["cleanlab_seconds"])) for row in own]) / of("seconds")
            some = noise != "none"
            yield rounded({
                "noise": noise, "way": way, "problems": len(own),
                "precision_at_k": float(of("precision_at_k").mean()) if some else "",
                "average_precision": float(of("average_precision").mean()) if some else "",
                "reported_share": float((reported / sizes).mean()),
                "precision": float(right.sum() / max(reported.sum(), 1)) if some else "",
                "recall": float(right.sum() / changed.sum()) if some else "",
                "times_cleanlab": float(np.exp(np.log(ratio).mean())),
            })  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labels", description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--again", action="store_true", help="only our ways, with times and cleanlab as they are"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results(RESULTS / "labels_runs.csv", ("data_set", "noise", "seed"))
    problems: list[Problem] = [
        (name, noise, seed)
        for seed in range(options.seeds) for name in SETS for noise in NOISES
    ]  # fmt: skip
    with threadpool_limits(1):
        if options.again:
            notes = [*results.notes, command(), machine()]
            rows = [measured_again(row) for row in results.rows]
            write_text(results.path, to_csv(rows, notes))
            results.rows = rows
        else:
            results.complete(problems, measure)
    table = list(summary(results.rows))
    for row in table:
        print(row)
    write("labels", table)


if __name__ == "__main__":
    main()
