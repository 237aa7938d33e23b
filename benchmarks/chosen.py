"""``python -m benchmarks.chosen``: models selected by counted errors, against five folds.

Random training sets of at most 300 rows of the data sets of ``benchmarks.counted``, and a grid of
C and gamma (8 x 6).  The test error, on all other rows, of the model that is selected by the
span-rule, by the default search, by exact leave-one-out, and by five folds (with the scores of
GridSearchCV); ties are resolved alike.  One row per training set is written as soon as it is
computed; existing rows are not computed again.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row, read_rows, to_csv, write_text
from spansvm import SpanSearch

from . import keel
from .counted import MANY_CLASSES, TWO_CLASSES
from .measure import RESULTS, command, geometric_mean, machine

TRAINING_ROWS, MOST_TEST_ROWS, SPLITS = 300, 3000, 10

WAYS = {
    "rule": {"method": "span_rule"},
    "default": {},
    "exact": {"method": "loo"},
    "folds": {"cv": 5},
}


def measure(name: str, split: int) -> Row:
    """Test errors of the models selected on one training set."""
    X, y = keel.load(name)
    order = np.random.default_rng((7, split)).permutation(y.size)
    size = min(TRAINING_ROWS, y.size // 2)
    train, test = order[:size], order[size : size + MOST_TEST_ROWS]
    gammas = 2.0 ** np.arange(-7, 4, 2) / X.shape[1]
    grid = {"svc__C": 2.0 ** np.arange(-3, 13, 2), "svc__gamma": gammas}
    row: Row = {"data_set": name, "classes": np.unique(y).size, "split": split, "rows": size}
    for way, options in WAYS.items():
        search = SpanSearch(make_pipeline(StandardScaler(), SVC()), grid, **options)
        search.fit(X[train], y[train])
        row[way] = round(float(np.mean(search.predict(X[test]) != y[test])), 5)
        row[f"{way}_seconds"] = round(search.search_time_, 4)
    return row


def summarise(rows: list[Row]) -> None:
    for label, names in (("two classes", TWO_CLASSES), ("many classes", MANY_CLASSES)):
        ratios: dict[str, list[float]] = {way: [] for way in WAYS}
        for name in names:
            own = [row for row in rows if row["data_set"] == name]
            for way in WAYS if own else ():
                errors = [np.mean([float(row[column]) for row in own]) for column in (way, "folds")]
                ratios[way].append(max(errors[0], 1e-4) / max(errors[1], 1e-4))
        text = ", ".join(f"{way} {geometric_mean(own):.3f}" for way, own in ratios.items() if own)
        print(f"{label}: test error over that of five folds, geometric mean: {text}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chosen", description=__doc__)
    parser.add_argument("names", nargs="*", help="data sets; all by default")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--out", type=Path, default=RESULTS / "chosen.csv")
    given = parser.parse_args()
    rows: list[Row] = list(read_rows(given.out)[0]) if given.out.exists() else []
    done = {(row["data_set"], row["split"]) for row in rows}
    warnings.simplefilter("ignore")
    for name in given.names or (*TWO_CLASSES, *MANY_CLASSES):
        for split in range(given.splits):
            if (name, split) in done:
                continue
            with threadpool_limits(1):
                rows.append(measure(name, split))
            write_text(given.out, to_csv(rows, [command(), machine()]))
        print(name, file=sys.stderr, flush=True)
    summarise(rows)


if __name__ == "__main__":
    main()
