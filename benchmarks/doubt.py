"""``python -m benchmarks.doubt``: whether doubts of labels make better weights.

Training sets of 200 rows of public data sets; labels are changed by seed, to any other class or
each class to its neighbour (pairs).  Test error, on up to 2000 rows whose labels are as they were,
of these models, all selected on the same 30 values of C and gamma:

- ``plain``: the SVM that SpanSearch selects;
- ``committee``: the committee of that search;
- ``doubt``: weights by the sigmoid family from the left-out probability of the given label, which
  the plain model gives; the sigmoid is searched with C and gamma, by left-out errors that count
  every row once;
- ``doubt_folds``: the same, but selected by five folds whose probabilities come from a search on
  the rows of the other folds alone;
- ``doubt_committee``: the committee of a search of C and gamma with the weights of ``doubt_folds``;
- ``folds``: the plain SVM that the same folds select, without weights (``--part folds``);
- ``dropped``: searched again without the rows that ``find_label_issues(search)`` reports;
- ``cleanlearning``: cleanlab's CleanLearning around an SVC that GridSearchCV has tuned;
- ``oracle``: searched without the rows whose labels were changed.

CleanLearning takes longer than all the others together: it has a run of its own (``--part
cleanlearning``).
Forms were compared on every other data set, from the first, and are reported on the others.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row
from spansvm import SigmoidWeighting, SpanSearch, SpanSVC, find_label_issues

from . import keel
from .labels import GRID, SHIPPED
from .measure import RESULTS, write
from .opponents import CLEANLEARNING
from .resumed import Problem, Results, rounded

SIZE, MOST_TEST_ROWS = 200, 2000

SETS = [
    "banana", "breast cancer", "contraceptive", "digits", "german", "heart", "ionosphere", "magic",
    "mammographic", "phoneme", "pima", "ring", "segment", "spambase", "vehicle", "vowel",
]  # fmt: skip

#: The share of changed labels, and whether they go to the neighbouring class.
NOISES = {
    "none": (0.0, False), "20 %": (0.2, False), "10 %, pairs": (0.1, True), "30 %": (0.3, False),
    "10 %": (0.1, False), "20 %, pairs": (0.2, True), "5 %": (0.05, False),
    "30 %, pairs": (0.3, True), "5 %, pairs": (0.05, True),
}  # fmt: skip

#: The sigmoids: all weights alike, and some that fall at a probability.
SIGMOIDS = [
    {**GRID, "weighting__steepness": [0.0]},
    {**GRID, "weighting__steepness": [5.0, 10.0, 30.0], "weighting__midpoint": [0.1, 0.3, 0.5]},
]

#: What is measured in a run of its own.
PARTS = ("folds", "cleanlearning")

OURS = ("plain", "committee", "doubt", "doubt_folds", "doubt_committee", "dropped", "oracle")

#: A test error is no smaller than this part of a row, so that ratios exist.
_LEAST = 0.5


def parts_of(name: str, seed: int) -> tuple[np.ndarray, ...]:
    """Scaled rows and classes to train and to test on."""
    X, y = SHIPPED[name](return_X_y=True) if name in SHIPPED else keel.load(name)
    y = np.unique(y, return_inverse=True)[1]
    order = np.random.default_rng((seed, 5)).permutation(y.size)
    size = min(SIZE, y.size // 2)
    train, test = order[:size], order[size : size + MOST_TEST_ROWS]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def spoilt(y: np.ndarray, noise: str, seed: int) -> np.ndarray:
    """The labels, some of them changed: of one order of the rows, more with more noise."""
    share, to_neighbour = NOISES[noise]
    rng, classes = np.random.default_rng((seed, 6)), int(y.max()) + 1
    rows, steps = rng.permutation(y.size), rng.integers(1, classes, y.size)
    rows = rows[: round(share * y.size)]
    result = y.copy()
    result[rows] = (y[rows] + (1 if to_neighbour else steps[rows])) % classes
    return result


def measure_theirs(name: str, noise: str, seed: int) -> Row:
    """The test error of CleanLearning; none if it cannot run."""
    X, truth, X_test, y_test = parts_of(name, seed)
    labels = spoilt(truth, noise, seed)[None]
    found = CLEANLEARNING.run(name, X=X, X_test=X_test, labels=labels, **GRID)
    row: Row = {"data_set": name, "noise": noise, "seed": seed, "cleanlearning": ""}
    if found is not None:
        row["cleanlearning"] = float((np.array(found["predicted"][0]) != y_test).mean())
    return rounded(row)


def own_probability(model: Any, y: np.ndarray) -> np.ndarray:
    """Of every row, the left-out probability of its label."""
    classes = list(model.classes_)
    own = np.array([classes.index(label) for label in y])
    found = getattr(model, "loo_predict_proba_", None)
    if found is None:
        found = model.left_out_.calibrated_probabilities
    return np.clip(found[np.arange(y.size), own], 0.0, 1.0)


def weighted() -> SpanSVC:
    return SpanSVC(weighting=SigmoidWeighting())


def selected_by_folds(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """The parameters with the fewest errors, each fold weighted by what it does not contain."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    errors, candidates = 0.0, []
    for train, test in folds.split(X, y):
        search = SpanSearch(SpanSVC(), GRID, corrected=False).fit(X[train], y[train])
        scores = np.zeros(y.size)
        scores[train] = own_probability(search.best_estimator_, y[train])
        tried = SpanSearch(
            weighted(), SIGMOIDS, cv=[(train, test)], refit=False, corrected=False
        ).fit(X, y, scores=scores)
        candidates = tried.cv_results_["params"]
        errors = errors + test.size * (1.0 - tried.cv_results_["mean_test_score"])
    return candidates[int(np.argmin(np.round(errors, 6)))]


def measure_folds(name: str, noise: str, seed: int) -> Row:
    """The test error of what folds select without weights."""
    X, truth, X_test, y_test = parts_of(name, seed)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    search = SpanSearch(SpanSVC(), GRID, cv=folds, corrected=False)
    search.fit(X, spoilt(truth, noise, seed))
    row: Row = {"data_set": name, "noise": noise, "seed": seed}
    return rounded(row | {"folds": float((search.predict(X_test) != y_test).mean())})


def measure(name: str, noise: str, seed: int) -> Row:
    """One row of the table."""
    X, truth, X_test, y_test = parts_of(name, seed)
    y = spoilt(truth, noise, seed)
    search = SpanSearch(SpanSVC(), GRID, corrected=False).fit(X, y)
    committee, models = search.committee_, {}
    models["plain"], models["committee"] = search, committee
    own = own_probability(search.best_estimator_, y)
    models["doubt"] = SpanSearch(weighted(), SIGMOIDS, corrected=False).fit(X, y, scores=own)
    best = selected_by_folds(X, y)
    models["doubt_folds"] = weighted().set_params(**best).fit(X, y, scores=own)
    again = SpanSearch(weighted().set_params(**best), GRID, corrected=False)
    models["doubt_committee"] = again.fit(X, y, scores=own).committee_
    kept = ~find_label_issues(search).is_label_issue.to_numpy()
    for way, rows in (("dropped", kept), ("oracle", y == truth)):
        rows = rows if np.unique(y[rows]).size == np.unique(y).size else np.full(y.size, True)
        models[way] = SpanSearch(SpanSVC(), GRID, corrected=False).fit(X[rows], y[rows])
    predicted = {way: model.predict(X_test) for way, model in models.items()}
    row: Row = {"data_set": name, "noise": noise, "seed": seed, "rows": y.size}
    row |= {"classes": int(truth.max()) + 1, "changed": int((y != truth).sum())}
    row |= {"dropped_rows": int((~kept).sum()), "test_rows": y_test.size}
    row |= {"steepness": models["doubt"].best_params_["weighting__steepness"]}
    row |= {"folds_steepness": best["weighting__steepness"]}
    for way in OURS:
        row[way] = float((predicted[way] != y_test).mean())
    return rounded(row)


def ratios(rows: list[Row], way: str) -> np.ndarray:
    """For each data set, the mean logarithm of a way's test error relative to the plain one's."""
    by_set: dict[str, list[float]] = {}
    for row in rows:
        own, plain = (
            max(float(str(row[name])), _LEAST / float(str(row["test_rows"])))
            for name in (way, "plain")
        )
        by_set.setdefault(str(row["data_set"]), []).append(float(np.log(own / plain)))
    return np.array([np.mean(logs) for logs in by_set.values()])


def summary(rows: list[Row]) -> Iterator[Row]:
    """Geometric means over data sets, with standard errors, for every half, noise and way."""
    halves = {"compared": SETS[::2], "reported": SETS[1::2]}
    for half, names in halves.items():
        for noise in (*NOISES, "all"):
            own = [
                row for row in rows
                if row["data_set"] in names and noise in (row["noise"], "all")
            ]  # fmt: skip
            for way in (*OURS[1:], *PARTS) if own else ():
                logs = ratios([row for row in own if str(row.get(way, "")).strip()], way)
                if logs.size < 2:
                    continue
                yield rounded({
                    "half": half, "noise": noise, "way": way, "data_sets": logs.size,
                    "problems": len(own), "error_ratio": float(np.exp(logs.mean())),
                    "standard_error": float(
                        np.exp(logs.mean()) * logs.std(ddof=1) / np.sqrt(logs.size)
                    ),
                })  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.doubt", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--noises", type=int, default=len(NOISES), help="only the first ones")
    parser.add_argument("--part", choices=PARTS, help="measure this alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    keys = ("data_set", "noise", "seed")
    results = Results(RESULTS / "doubt_runs.csv", keys)
    parts = {name: Results(RESULTS / f"doubt_{name}_runs.csv", keys) for name in PARTS}
    problems: list[Problem] = [
        (name, noise, seed)
        for seed in range(options.seeds)
        for noise in [*NOISES][: options.noises]
        for name in SETS
    ]
    with threadpool_limits(1):
        if options.part is None:
            results.complete(problems, measure)
        else:
            alone = measure_folds if options.part == "folds" else measure_theirs
            parts[options.part].complete(problems, alone)
    for name, part in parts.items():
        known = {part.problem(row): row[name] for row in part.rows}
        for row in results.rows:
            row[name] = known.get(results.problem(row), "")
    table = list(summary(results.rows))
    for row in table:
        print(row)
    write("doubt", table)


if __name__ == "__main__":
    main()
