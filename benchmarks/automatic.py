"""``python -m benchmarks.automatic``: SVCCV, without a grid, against a fine one and a tutorial's.

Random training sets of at most 300 rows (half of the rows of small sets) of public data sets;
features are standardised.  The best leave-one-out accuracy, the error on other rows, the number of
trained models and Gram matrices, and the seconds, with the last training, on one thread, of

- ``auto``: ``SVCCV()``;
- ``fine``: ``SpanSearch`` over 30 x 30 values of C (2^-5 to 2^15) and gamma (2^-15 to 2^3);
- ``folds``: ``GridSearchCV(SVC(), cv=5)`` over the 6 x 5 values of tutorials.

The steps of SVCCV were chosen on the sets of the first half; the others are for the report.  Sets
that are exceptions there have other splits in ``automatic_again.csv`` (``--first 5 --splits 20
--out``).  One row per training set is written as soon as it is computed; existing rows are not
computed again.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row
from spansvm import SVCCV, SpanSearch

from . import keel
from .measure import RESULTS, geometric_mean
from .resumed import Results, rounded
from .tutorials import GRID

TRAINING_ROWS, MOST_TEST_ROWS, SPLITS = 300, 2000, 5

DESIGN = (
    "australian", "banana", "bupa", "german", "heart", "ionosphere", "phoneme", "sonar",
    "contraceptive", "glass", "led7digit", "letter", "segment", "vehicle", "vowel",
)  # fmt: skip

CONFIRMATION = (
    "bands", "breast_cancer", "magic", "mammographic", "pima", "ring", "saheart", "spambase",
    "tic-tac-toe", "twonorm", "digits", "penbased", "satimage", "splice", "tae", "texture",
)  # fmt: skip

#: Data sets that scikit-learn ships; the others are KEEL's.
SHIPPED: dict[str, Callable[..., Any]] = {
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
}

FINE = {"C": np.logspace(-5, 15, 30, base=2), "gamma": np.logspace(-15, 3, 30, base=2)}
TUTORIAL = {name.removeprefix("svc__"): values for name, values in GRID.items()}

WAYS: dict[str, Callable[[], Any]] = {
    "auto": SVCCV,
    "fine": lambda: SpanSearch(SVC(), FINE),
    "folds": lambda: GridSearchCV(SVC(), TUTORIAL, cv=5),
}


def measure(name: str, split: int) -> Row:
    """All ways on one training set."""
    X, y = SHIPPED[name](return_X_y=True) if name in SHIPPED else keel.load(name)
    order = np.random.default_rng((29, split)).permutation(y.size)
    size = min(TRAINING_ROWS, y.size // 2)
    train, test = order[:size], order[size : size + MOST_TEST_ROWS]
    scaler = StandardScaler().fit(X[train])
    rows, new = scaler.transform(X[train]), scaler.transform(X[test])
    half = "design" if name in DESIGN else "confirmation"
    row: Row = {
        "data_set": name, "split": split, "half": half, "classes": np.unique(y).size, "rows": size,
    }  # fmt: skip
    for way, make in WAYS.items():
        with threadpool_limits(1):
            started = time.perf_counter()
            found = make().fit(rows, y[train])
            seconds = time.perf_counter() - started
        params = found.cv_results_["params"]
        row |= {
            f"{way}_score": float(found.best_score_),
            f"{way}_error": float(np.mean(found.predict(new) != y[test])),
            f"{way}_trainings": len(params) * (5 if way == "folds" else 1),
            f"{way}_grams": len({one["gamma"] for one in params}),
            f"{way}_seconds": seconds,
        }
    return rounded(row)


def column(rows: list[Row], name: str) -> np.ndarray:
    return np.array([float(row[name]) for row in rows])


def summarise(rows: list[Row], half: str) -> None:
    own = [row for row in rows if row["half"] == half]
    if not own:
        return
    by_set = {
        row["data_set"]: [one for one in own if one["data_set"] == row["data_set"]] for row in own
    }
    print(f"{half}: {len(by_set)} data sets, {len(own)} training sets")
    ratio = column(own, "auto_score") / column(own, "fine_score")
    mean = [
        np.mean(column(part, "auto_score") / column(part, "fine_score")) for part in by_set.values()
    ]
    print(
        f"  best score over that of the fine grid: mean {ratio.mean():.4f}, by data set from "
        f"{min(mean):.4f}, below 0.99 in {int((ratio < 0.99).sum())} of {ratio.size} trainings"
    )
    for other in ("fine", "folds"):
        ratios, worse = [], []
        for name, part in by_set.items():
            mine, theirs = column(part, "auto_error"), column(part, f"{other}_error")
            ratios.append(max(mine.mean(), 1e-4) / max(theirs.mean(), 1e-4))
            difference = mine - theirs
            error = difference.std(ddof=1) / np.sqrt(len(part)) if len(part) > 1 else np.inf
            if difference.mean() > 2 * error:
                worse.append(f"{name} ({mine.mean():.4f}, {theirs.mean():.4f})")
        spread = (
            np.std(np.log(ratios), ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else np.nan
        )
        print(
            f"  test error over that of {other}: geometric mean {geometric_mean(ratios):.3f} +- "
            f"{spread:.3f}; worse beyond two standard errors: {', '.join(worse) or 'nowhere'}"
        )
    for way in WAYS:
        trained, grams = column(own, f"{way}_trainings"), column(own, f"{way}_grams")
        seconds = geometric_mean(list(column(own, f"{way}_seconds")))
        print(
            f"  {way}: {trained.mean():.0f} trainings (at most {trained.max():.0f}), "
            f"{grams.mean():.1f} Gram matrices (at most {grams.max():.0f}), geometric mean of "
            f"seconds {seconds:.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.automatic", description=__doc__)
    parser.add_argument("names", nargs="*", help="data sets; all by default")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument("--out", type=Path, default=RESULTS / "automatic.csv")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results(given.out, ("data_set", "split"))
    names = given.names or (*DESIGN, *CONFIRMATION)
    splits = range(given.first, given.first + given.splits)
    results.complete([(name, split) for split in splits for name in names], measure)
    for half in ("design", "confirmation"):
        summarise(results.rows, half)


if __name__ == "__main__":
    main()
