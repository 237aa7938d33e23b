"""``python -m benchmarks.committee``: the committee of a search against its single models.

Random training sets of 150 and 400 rows of public data sets, and 48 candidates of C and gamma (of
a regression also epsilon).  Test error and log loss (of a regression, mean squared error), on all
other rows, of the model that five folds select (with the scores of GridSearchCV), of the model that
the default search selects, and of the committee of the default search: as it is, as the mean of
log odds, and with probabilities that need not agree with the members' labels.  Probabilities of
single models are those of SpanSVC, calibrated on left-out values.  Also the score that the
committee reports, its 95% CI, times, and the number of kernel matrices.

Forms are compared on the first half of the data sets, and reported on the second; halves are every
other name.  One row per training set is written as soon as it is computed; existing rows are not
computed again.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row, read_rows, to_csv, write_text
from spansvm import SpanSearch, SpanSVC, SpanSVR

from . import keel, regression_data
from .measure import RESULTS, command, machine

SIZES, SPLITS, MOST_TEST_ROWS = (150, 400), 10, 3000

#: Classes with fewer training rows than folds are left out.
LEAST_OF_CLASS = 5

NAMES = (
    "australian", "banana", "bands", "bupa", "chess", "contraceptive", "crx", "german", "heart",
    "ionosphere", "led7digit", "magic", "mammographic", "monk-2", "optdigits", "penbased",
    "phoneme", "pima", "ring", "saheart", "satimage", "segment", "spambase", "splice", "texture",
    "tic-tac-toe", "titanic", "twonorm", "vehicle", "vowel", "wdbc", "wisconsin",
)  # fmt: skip

FORMS = ("folds", "single", "committee", "log_odds", "calibrated")

#: A test error is no smaller than this part of a row, so that ratios exist.
_LEAST = 0.5


def parts(name: str, size: int, split: int) -> tuple[np.ndarray, ...] | None:
    """Training and test rows and labels; None if the data set is too small."""
    X, y = keel.load(name)
    if y.size < size + regression_data.LEAST_TEST_ROWS:
        return None
    order = np.random.default_rng((29, split)).permutation(y.size)
    train, test = order[:size], order[size : size + MOST_TEST_ROWS]
    classes, counts = np.unique(y[train], return_counts=True)
    classes = classes[counts >= LEAST_OF_CLASS]
    train, test = train[np.isin(y[train], classes)], test[np.isin(y[test], classes)]
    return X[train], y[train], X[test], y[test]


def measure(name: str, size: int, split: int) -> Row | None:
    """Test errors and log losses of the models of one training set."""
    data = parts(name, size, split)
    if data is None:
        return None
    X, y, X_test, y_test = data
    grid = {
        "spansvc__C": 2.0 ** np.arange(-3, 13, 2),
        "spansvc__gamma": 2.0 ** np.arange(-7, 4, 2) / X.shape[1],
    }
    model = make_pipeline(StandardScaler(), SpanSVC())
    folds = SpanSearch(model, grid, cv=5).fit(X, y)
    search = SpanSearch(model, grid).fit(X, y)
    start = time.perf_counter()
    committee = search.committee_
    made = time.perf_counter() - start
    row: Row = {
        "data_set": name, "classes": committee.classes_.size, "size": size, "split": split,
        "test_rows": y_test.size,
    }  # fmt: skip
    start = time.perf_counter()
    probabilities = {"single": search.predict_proba(X_test)}
    middle = time.perf_counter()
    probabilities["committee"] = committee.predict_proba(X_test)
    end = time.perf_counter()
    probabilities |= {"folds": folds.predict_proba(X_test), **_others(committee, X_test)}
    labels = {"folds": folds.predict(X_test), "single": search.predict(X_test)}
    for form in FORMS:
        own = probabilities[form]
        predicted = labels.get(form, committee.classes_[own.argmax(axis=1)])
        row[f"{form}_error"] = round(float(np.mean(predicted != y_test)), 5)
        row[f"{form}_log_loss"] = round(log_loss(y_test, own, labels=committee.classes_), 5)
    low, high = committee.corrected_interval_
    reported = {
        "best_error": 1.0 - search.best_score_, "loo_error": committee.loo_error_,
        "corrected_error": 1.0 - committee.corrected_score_, "least": 1.0 - high, "most": 1.0 - low,
        "folds_seconds": folds.search_time_, "single_seconds": search.search_time_,
        "committee_seconds": made, "single_predicts": middle - start,
        "committee_predicts": end - middle,
    }  # fmt: skip
    row |= {key: round(float(value), 5) for key, value in reported.items()}
    return row | {"members": len(committee.members_), "kernels": committee.n_kernels_}


def _others(committee: Any, X: np.ndarray) -> dict[str, np.ndarray]:
    """Other means of the members' probabilities."""
    values, weights = committee._values(X), committee.weights_
    both = list(zip(committee._calibrations, values, strict=True))
    least = np.finfo(float).eps
    logs = [np.log(np.clip(own(v), least, 1.0)) for own, v in both]
    return {
        "log_odds": softmax(np.tensordot(weights, np.array(logs), axes=1), axis=1),
        "calibrated": np.tensordot(weights, np.array([o.calibrated(v) for o, v in both]), axes=1),
    }


def measure_regression(name: str, size: int, split: int) -> Row | None:
    """Test errors of the regressions of one training set."""
    if not regression_data.has(name, size):
        return None
    X, y, X_test, y_test = regression_data.parts(name, split, size)
    grid = {
        "spansvr__C": y.std() * 2.0 ** np.arange(-3, 9, 2),
        "spansvr__gamma": 2.0 ** np.arange(-5, 2, 2) / X.shape[1],
        "spansvr__epsilon": y.std() * np.array([0.05, 0.3]),
    }
    model = make_pipeline(StandardScaler(), SpanSVR())
    scoring = "neg_mean_squared_error"
    folds = SpanSearch(model, grid, cv=5, scoring=scoring).fit(X, y)
    search = SpanSearch(model, grid, scoring=scoring).fit(X, y)
    committee = search.committee_
    row: Row = {"data_set": name, "size": size, "split": split, "test_rows": y_test.size}
    low, high = committee.corrected_interval_
    numbers = {
        **{
            f"{form}_error": mean_squared_error(y_test, own.predict(X_test))
            for form, own in (("folds", folds), ("single", search), ("committee", committee))
        },
        "best_error": -search.best_score_, "loo_error": committee.loo_error_**2,
        "corrected_error": -committee.corrected_score_, "least": -high, "most": -low,
    }  # fmt: skip
    row |= {key: float(f"{value / y_test.var():.5g}") for key, value in numbers.items()}
    return row | {"members": len(committee.members_), "kernels": committee.n_kernels_}


def summarise(rows: list[Row], forms: tuple[str, ...], measures: tuple[str, ...]) -> None:
    """Ratios to the model that folds select, by half, and what the committee reports."""
    names = sorted({str(row["data_set"]) for row in rows})
    halves = {"first half": names[::2], "second half": names[1::2]}
    for half, own_names in halves.items():
        for sizes in ((150, 400), (150,), (400,)):
            for of in measures:
                text = []
                for form in forms[1:]:
                    logs = _log_ratios(rows, own_names, sizes, form, of)
                    if logs.size:
                        error = logs.std(ddof=1) / np.sqrt(logs.size) if logs.size > 1 else np.nan
                        text.append(f"{form} {np.exp(logs.mean()):.3f} +- {error:.3f}")
                print(f"{half} ({len(own_names)}), {sizes} rows, {of}: {', '.join(text)}")
    true = np.array([float(row["committee_error"]) for row in rows])
    for way in ("best_error", "loo_error", "corrected_error"):
        told = np.array([float(row[way]) for row in rows])
        print(f"{way}: mean {told.mean():.4f}, on test rows {true.mean():.4f}")
    ends = [np.array([float(row[end]) for row in rows]) for end in ("least", "most")]
    below, above = np.mean(true < ends[0]), np.mean(true > ends[1])
    print(f"95% CI: {1 - below - above:.3f} cover, {above:.3f} above, of {true.size}")


def _log_ratios(
    rows: list[Row], names: list[str], sizes: tuple[int, ...], form: str, of: str
) -> np.ndarray:
    """For each data set, the logarithm of the ratio of mean errors, averaged over sizes."""
    found = []
    for name in names:
        logs = []
        for size in sizes:
            own = [row for row in rows if row["data_set"] == name and int(row["size"]) == size]
            if own:
                least = _LEAST / sum(float(row["test_rows"]) for row in own) if of == "error" else 0
                ours, theirs = (
                    max(np.mean([float(row[f"{one}_{of}"]) for row in own]), least)
                    for one in (form, "folds")
                )
                logs.append(np.log(ours / theirs))
        if logs:
            found.append(np.mean(logs))
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.committee", description=__doc__)
    parser.add_argument("names", nargs="*", help="data sets; all by default")
    parser.add_argument("--regression", action="store_true")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    kind, of = "committee_regression" if given.regression else "committee", measure
    known: tuple[str, ...] = NAMES
    if given.regression:
        of, known = measure_regression, regression_data.NAMES
    out = given.out or RESULTS / f"{kind}.csv"
    rows: list[Row] = list(read_rows(out)[0]) if out.exists() else []
    done = {(row["data_set"], int(row["size"]), int(row["split"])) for row in rows}
    warnings.simplefilter("ignore")
    for split in range(given.splits):
        for name in given.names or known:
            for size in given.sizes:
                if (name, size, split) in done:
                    continue
                with threadpool_limits(1):
                    row = of(name, size, split)
                if row is not None:
                    rows.append(row)
                    write_text(out, to_csv(rows, [command(), machine()]))
        print(split, file=sys.stderr, flush=True)
    if given.regression:
        summarise(rows, FORMS[:3], ("error",))
    else:
        summarise(rows, FORMS, ("error", "log_loss"))


if __name__ == "__main__":
    main()
