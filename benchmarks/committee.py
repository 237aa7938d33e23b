"""``python -m benchmarks.committee``: committees against single models, with a grid and without.

Random training sets of 150 and 400 rows of public data sets.  Test error and log loss (of a
regression, mean squared error), on all other rows, of

- ``folds``: the model that five folds select, with the scores of GridSearchCV, among 48 candidates
  of C and gamma (of a regression also epsilon);
- ``repeated``: that of five folds, three times over (not for regressions);
- ``single``: that of the default search;
- ``committee``: the committee of the default search, and of classes also ``mean``, the mean of the
  members' probabilities instead of their log odds;
- ``auto``, ``auto_committee``: SVCCV (SVRCV), without a grid, and with ``ensemble=True``.

Probabilities of single models are those of SpanSVC, calibrated on left-out values.  Also the score
that the committee reports and its 95% CI, seconds of the processor for searching (``seconds``; of
committees, including the search) and predicting (``predicts``, on the test rows), and the kilobytes
of pickled models.  GridSearchCV itself is timed on the first split of 150 rows.

Forms were compared on the first half of the data sets, and are reported on the second; halves are
every other name.  ``committee_forms.csv`` is of the commit in its head, where ``committee`` was the
mean of probabilities, and ``log_odds`` what it is now; ``committee_paired.csv`` is of weights by
the standard error of the difference from the best, for up to 50 members, which did no better.  One
row per training set is written as soon as it is computed; existing rows are not computed again.
"""

from __future__ import annotations

import argparse
import pickle
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row
from spansvm import SVCCV, SpanSearch, SpanSVC, SpanSVR

from . import keel, regression_data
from .measure import RESULTS, geometric_mean
from .resumed import Results, rounded

SIZES, SPLITS, MOST_TEST_ROWS = (150, 400), 10, 3000

#: Classes with fewer training rows than folds are left out.
LEAST_OF_CLASS = 5

NAMES = (
    "australian", "banana", "bands", "bupa", "chess", "contraceptive", "crx", "german", "heart",
    "ionosphere", "led7digit", "magic", "mammographic", "monk-2", "optdigits", "penbased",
    "phoneme", "pima", "ring", "saheart", "satimage", "segment", "spambase", "splice", "texture",
    "tic-tac-toe", "titanic", "twonorm", "vehicle", "vowel", "wdbc", "wisconsin",
)  # fmt: skip

WAYS = ("folds", "repeated", "single", "auto", "committee", "mean", "auto_committee")

REGRESSION_WAYS = ("folds", "single", "committee")

REPEATS = 3

#: With fewer test rows, the error on them is hardly better known than the left-out one.
MANY_TEST_ROWS = 1000

#: A test error is no smaller than this part of a row, so that ratios exist.
_LEAST = 0.5


def has(name: str, size: int) -> bool:
    """Whether a data set has so many training rows, and enough others to test."""
    return keel.load(name)[1].size >= size + regression_data.LEAST_TEST_ROWS


def parts(name: str, size: int, split: int) -> tuple[np.ndarray, ...]:
    """Training and test rows and labels; classes with hardly any rows are left out."""
    X, y = keel.load(name)
    order = np.random.default_rng((29, split)).permutation(y.size)
    train, test = order[:size], order[size : size + MOST_TEST_ROWS]
    classes, counts = np.unique(y[train], return_counts=True)
    classes = classes[counts >= LEAST_OF_CLASS]
    train, test = train[np.isin(y[train], classes)], test[np.isin(y[test], classes)]
    return X[train], y[train], X[test], y[test]


def measure(name: str, size: int, split: int) -> Row:
    """Test errors and log losses of the models of one training set."""
    X, y, X_test, y_test = parts(name, size, split)
    grid = {
        "spansvc__C": 2.0 ** np.arange(-3, 13, 2),
        "spansvc__gamma": 2.0 ** np.arange(-7, 4, 2) / X.shape[1],
    }
    model = make_pipeline(StandardScaler(), SpanSVC())
    again = RepeatedStratifiedKFold(n_splits=5, n_repeats=REPEATS, random_state=0)
    without_grid = make_pipeline(StandardScaler(), SVCCV())
    searches: dict[str, Any] = {
        "folds": SpanSearch(model, grid, cv=5), "repeated": SpanSearch(model, grid, cv=again),
        "single": SpanSearch(model, grid), "auto": without_grid,
    }  # fmt: skip
    models: dict[str, Any] = {}
    spent: dict[str, float] = {}
    for way, search in searches.items():
        models[way], spent[way] = timed(lambda search=search: search.fit(X, y))
    for way, of in (("committee", "single"), ("auto_committee", "auto")):
        searched = models[of] if of == "single" else models[of][-1].search_
        models[way], made = timed(lambda searched=searched: searched.committee_)
        spent[way] = spent[of] + made
    committee, of_auto = models["committee"], models["auto_committee"]
    models["auto_committee"] = make_pipeline(models["auto"][0], of_auto)
    probabilities, labels, predicts = {"mean": _mean(committee, X_test)}, {}, {}
    for way, own in models.items():
        probabilities[way], predicts[way] = timed(lambda own=own: own.predict_proba(X_test))
        if way in searches:
            labels[way] = own.predict(X_test)
    row: Row = {
        "data_set": name, "classes": committee.classes_.size, "size": size, "split": split,
        "test_rows": y_test.size,
    }  # fmt: skip
    for way in WAYS:
        predicted = labels.get(way, committee.classes_[probabilities[way].argmax(axis=1)])
        loss = log_loss(y_test, probabilities[way], labels=committee.classes_)
        row |= {f"{way}_error": float(np.mean(predicted != y_test)), f"{way}_log_loss": loss}
    for way, own in (("best", models["single"]), ("auto_best", models["auto"][-1])):
        row[f"{way}_error"] = 1.0 - float(own.best_score_)
    for before, own in (("", committee), ("auto_", of_auto)):
        low, high = own.corrected_interval_
        row |= {
            f"{before}loo_error": own.loo_error_,
            f"{before}corrected_error": 1.0 - own.corrected_score_,
            f"{before}least": 1.0 - high, f"{before}most": 1.0 - low,
            f"{before}members": len(own.members_), f"{before}kernels": own.n_kernels_,
        }  # fmt: skip
    for way in models:
        row |= {f"{way}_seconds": spent[way], f"{way}_predicts": predicts[way]}
    for way, own in (
        ("single", models["single"].best_estimator_[-1].to_svc()), ("committee", committee),
        ("auto_committee", of_auto),
    ):  # fmt: skip
        row[f"{way}_kilobytes"] = len(pickle.dumps(own)) / 1000
    row["gridsearchcv_seconds"] = ""
    if split == 0 and size == min(SIZES):
        peer = make_pipeline(StandardScaler(), SVC())
        own_grid = {key.replace("spansvc", "svc"): values for key, values in grid.items()}
        by_peer, seconds = timed(lambda: GridSearchCV(peer, own_grid, cv=5).fit(X, y))
        row["gridsearchcv_seconds"] = seconds
        assert abs(by_peer.best_score_ - models["folds"].best_score_) < 0.5 / y.size
    return rounded(row)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it returns, and the seconds of the processor that it took."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def _mean(committee: Any, X: np.ndarray) -> np.ndarray:
    """The mean of the members' probabilities, and not of their log odds."""
    every = zip(committee._calibrations, committee._values(X), strict=True)
    return np.tensordot(committee.weights_, [own(values) for own, values in every], axes=1)


def measure_regression(name: str, size: int, split: int) -> Row:
    """Test errors of the regressions of one training set."""
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


def summarise(rows: list[Row], ways: tuple[str, ...], measures: tuple[str, ...]) -> None:
    """Ratios to the first way, by half, and what the committees report."""
    names = sorted({str(row["data_set"]) for row in rows})
    halves = {"first half": names[::2], "second half": names[1::2]}
    for half, own_names in halves.items():
        for sizes in (SIZES, *((size,) for size in SIZES)):
            for of in measures:
                text = []
                for way in ways[1:]:
                    logs = _log_ratios(rows, own_names, sizes, way, of, ways[0])
                    if logs.size:
                        error = logs.std(ddof=1) / np.sqrt(logs.size) if logs.size > 1 else np.nan
                        text.append(f"{way} {np.exp(logs.mean()):.3f} +- {error:.3f}")
                print(f"{half} ({len(own_names)}), {sizes} rows, {of}: {', '.join(text)}")
    for way in ways[1:]:
        for of in measures:
            less, more = _beyond(rows, way, of, ways[0])
            print(
                f"{way}, {of}: smaller than that of {ways[0]} by two standard errors in "
                f"{len(less)} cells, larger in {len(more)}: {', '.join(more)}"
            )
    for before in ("", "auto_"):
        if f"{before}corrected_error" in rows[0]:
            _tell_reported(rows, before)
    for kind in ("seconds", "predicts", "kilobytes", "members", "kernels"):
        told = {
            key: _known(rows, key) for key in rows[0] if key.endswith(kind) and _known(rows, key)
        }
        means = (f"{key} {geometric_mean(values):.4g}" for key, values in told.items())
        print("geometric means:", ", ".join(means))
    timed_rows = [row for row in rows if row.get("gridsearchcv_seconds")]
    if timed_rows:
        peer = geometric_mean(_known(timed_rows, "gridsearchcv_seconds"))
        means = (
            f"{way} {geometric_mean(_known(timed_rows, f'{way}_seconds')) / peer:.2f}"
            for way in ways
            if f"{way}_seconds" in rows[0]
        )
        print(f"times of GridSearchCV's time, {len(timed_rows)} trainings:", ", ".join(means))


def _known(rows: list[Row], key: str) -> list[float]:
    return [float(row[key]) for row in rows if row[key] != ""]


def _tell_reported(rows: list[Row], before: str) -> None:
    """The errors that a committee reports, and how often its interval contains the true one."""
    true = np.array(_known(rows, f"{before}committee_error"))
    for way in ("best_error", "loo_error", "corrected_error"):
        told = np.mean(_known(rows, before + way))
        print(f"{before}{way}: mean {told:.4f}, on test rows {true.mean():.4f}")
    n_test = np.array(_known(rows, "test_rows"))
    least, most = (np.array(_known(rows, before + end)) for end in ("least", "most"))
    for fewest in (0, MANY_TEST_ROWS):
        own = n_test >= fewest
        below, above = np.mean((true < least)[own]), np.mean((true > most)[own])
        print(
            f"95% CI, at least {fewest} test rows: {1 - below - above:.3f} cover, {above:.3f} "
            f"above, of {own.sum()}"
        )


def _beyond(rows: list[Row], way: str, of: str, against: str) -> tuple[list[str], list[str]]:
    """Cells in which an error is smaller, or larger, than another by two standard errors."""
    found: tuple[list[str], list[str]] = [], []
    for cell in dict.fromkeys((row["data_set"], row["size"]) for row in rows):
        own = [row for row in rows if (row["data_set"], row["size"]) == cell]
        apart = np.subtract(_known(own, f"{way}_{of}"), _known(own, f"{against}_{of}"))
        if apart.size > 1:
            error = apart.std(ddof=1) / np.sqrt(apart.size)
            for side, sign in enumerate((-1, 1)):
                if sign * apart.mean() > 2 * error:
                    found[side].append(f"{cell[0]} {cell[1]}")
    return found


def _log_ratios(
    rows: list[Row], names: list[str], sizes: tuple[int, ...], way: str, of: str, against: str
) -> np.ndarray:
    """For each data set, the logarithm of the ratio of mean errors, averaged over sizes."""
    found = []
    for name in names:
        logs = []
        for size in sizes:
            own = [row for row in rows if (row["data_set"], row["size"]) == (name, size)]
            if own:
                least = _LEAST / sum(_known(own, "test_rows")) if of == "error" else 0
                ours, theirs = (
                    max(np.mean(_known(own, f"{one}_{of}")), least) for one in (way, against)
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
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    kind, of, ways = "committee", measure, WAYS
    enough, known = has, NAMES
    if given.regression:
        kind, of, ways = "committee_regression", measure_regression, REGRESSION_WAYS
        enough, known = regression_data.has, regression_data.NAMES
    results = Results(given.out or RESULTS / f"{kind}.csv", ("data_set", "size", "split"))
    problems = [
        (name, size, split)
        for split in range(given.first, given.first + given.splits)
        for name in given.names or known
        for size in given.sizes
        if enough(name, size)
    ]
    with threadpool_limits(1):
        results.complete(problems, of)
    summarise(results.rows, ways, ("error", "log_loss") if of is measure else ("error",))


if __name__ == "__main__":
    main()
