"""``python -m benchmarks.automatic_regression``: SVRCV, without a grid, against a grid.

Random training sets of 200 rows of the data sets of ``benchmarks.regression``; features are
standardised.  R2 of the left-out rows and on other rows, the number of trained models and Gram
matrices, and the seconds, on one thread, of ``SVRCV()`` (``auto``) and of ``SpanSearch`` over the
7 x 5 x 4 values of C, gamma and epsilon of that benchmark (``grid``).  Nothing was chosen by these
data.  One row per training set is written as soon as it is computed; existing rows are not computed
again.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row
from spansvm import SVRCV, SpanSearch

from .automatic import column
from .measure import RESULTS, geometric_mean
from .regression_data import NAMES, candidates, has, parts
from .resumed import Results, rounded

TRAINING_ROWS, SPLITS = 200, 5

WAYS = ("auto", "grid")


def measure(name: str, split: int) -> Row:
    """Both ways on one training set."""
    X, y, X_new, y_new = parts(name, split, TRAINING_ROWS)
    scaler = StandardScaler().fit(X)
    rows, new = scaler.transform(X), scaler.transform(X_new)
    grid = {key.removeprefix("svr__"): values for key, values in candidates(X, y).items()}
    row: Row = {"data_set": name, "split": split, "rows": y.size}
    searches: dict[str, Any] = {"auto": SVRCV(), "grid": SpanSearch(SVR(), grid)}
    for way in WAYS:
        with threadpool_limits(1):
            started = time.perf_counter()
            found = searches[way].fit(rows, y)
            seconds = time.perf_counter() - started
        params = found.cv_results_["params"]
        residuals = y_new - found.predict(new)
        row |= {
            f"{way}_score": float(found.best_score_),
            f"{way}_rmse": float(np.sqrt(np.mean(residuals**2)) / y_new.std()),
            f"{way}_trainings": len(params),
            f"{way}_grams": len({one["gamma"] for one in params}),
            f"{way}_seconds": seconds,
        }
    return rounded(row)


def summarise(rows: list[Row]) -> None:
    names = list(dict.fromkeys(row["data_set"] for row in rows))
    ratios, worse = [], []
    for name in names:
        own = [row for row in rows if row["data_set"] == name]
        mine, theirs = column(own, "auto_rmse"), column(own, "grid_rmse")
        ratios.append(mine.mean() / theirs.mean())
        apart = mine - theirs
        if len(own) > 1 and apart.mean() > 2 * apart.std(ddof=1) / np.sqrt(len(own)):
            worse.append(f"{name} ({mine.mean():.4f}, {theirs.mean():.4f})")
    spread = np.std(np.log(ratios), ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else np.nan
    gain = column(rows, "auto_score") - column(rows, "grid_score")
    print(
        f"{len(names)} data sets, {len(rows)} training sets: left-out R2 minus that of the grid, "
        f"mean {gain.mean():.4f}, least {gain.min():.4f}; error on new rows over that of the grid: "
        f"geometric mean {geometric_mean(ratios):.3f} +- {spread:.3f}; worse beyond two standard "
        f"errors: {', '.join(worse) or 'nowhere'}"
    )
    for way in WAYS:
        print(
            f"  {way}: {column(rows, f'{way}_trainings').mean():.0f} trainings, "
            f"{column(rows, f'{way}_grams').mean():.1f} Gram matrices, geometric mean of seconds "
            f"{geometric_mean(list(column(rows, f'{way}_seconds'))):.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.automatic_regression", description=__doc__
    )
    parser.add_argument("names", nargs="*", help="data sets; all by default")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--out", type=Path, default=RESULTS / "automatic_regression.csv")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results(given.out, ("data_set", "split"))
    names = given.names or [name for name in NAMES if has(name, TRAINING_ROWS)]
    results.complete([(name, split) for split in range(given.splits) for name in names], measure)
    summarise(results.rows)


if __name__ == "__main__":
    main()
