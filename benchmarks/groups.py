"""``python -m benchmarks.groups``: whole groups left out, predicted against exact.

C and gamma of an RBF kernel, 8 x 6 candidates, on Parkinson's speech (26 recordings of each person,
tested on other people) and on three data sets with groups of random rows that hold 1, 2, 5, 10 and
20 % of them.  For all candidates: the error predicted by ``SpanSearch.fit(X, y, groups=g)``, by the
block form alone, and by leaving out single rows, against the exact leave-one-group-out error
(``method="loo"``); the test error of the candidate that each selects, and of the best one; and the
processor time of whole searches in units of ``GridSearchCV(SVC(), cv=GroupKFold(5))``, of which 12
candidates are run and extrapolated.  One thread.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

import numpy as np
from sklearn.model_selection import GridSearchCV, GroupKFold, ParameterGrid
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from reproduction.datasets import load
from spansvm import SpanSearch
from spansvm.machine import groups

from .datasets import Split, splits
from .measure import write

GRID = {"C": 2.0 ** np.arange(-2, 13, 2), "gamma": 2.0 ** np.arange(-8, 3, 2)}
NAMES = ("image", "splice", "adult")
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)
MOST_ROWS, SAMPLED = 1000, 12


def problems() -> Iterator[tuple[str, Split, np.ndarray]]:
    """Names, training and test rows, groups of the training rows."""
    data = load("parkinson_speech")
    scaler = MinMaxScaler().fit(data.X_train)
    X, X_test = scaler.transform(data.X_train), scaler.transform(data.X_test)
    assert data.groups_train is not None
    yield "parkinson_speech", (X, data.y_train, X_test, data.y_test), data.groups_train
    for name in NAMES:
        X, y, X_test, y_test = next(splits(name, 1))
        X, y = X[:MOST_ROWS], y[:MOST_ROWS]
        for share in SHARES:
            size = round(share * y.size)
            yield name, (X, y, X_test, y_test), np.arange(y.size) // size


@contextmanager
def block_form_alone() -> Iterator[None]:
    """No removal is followed because its prediction is doubtful."""
    with (
        mock.patch.object(groups, "FEW_ROWS", 0),
        mock.patch.object(groups, "LARGEST_SHARE", np.inf),
        mock.patch.object(groups, "FEWEST_IN_BOUND", 0),
        mock.patch.object(groups, "LARGEST_DOUBT", np.inf),
        mock.patch.object(groups, "FARTHEST_OVER", np.inf),
    ):
        yield


def timed(work: Callable[[], SpanSearch | GridSearchCV]) -> tuple[np.ndarray, float]:
    """The errors of all candidates, and the processor time."""
    start = time.process_time()
    search = work()
    seconds = time.process_time() - start
    return 1.0 - search.cv_results_["mean_test_score"], seconds


def compare(name: str, data: Split, own: np.ndarray) -> dict[str, object]:
    X, y, X_test, y_test = data

    def search(method: str, by_groups: bool = True) -> SpanSearch:
        found = SpanSearch(SVC(), GRID, method=method, refit=False)
        return found.fit(X, y, groups=own if by_groups else None)

    exact, exact_seconds = timed(lambda: search("loo"))
    errors, seconds = {}, {}
    errors["predicted"], seconds["predicted"] = timed(lambda: search("span_rule"))
    with block_form_alone():
        errors["block"], _ = timed(lambda: search("span_rule"))
    errors["single_rows"], _ = timed(lambda: search("span_rule", by_groups=False))
    n_groups = np.unique(own).size
    folds = GroupKFold(min(5, n_groups))
    candidates = list(ParameterGrid(GRID))
    chosen = np.random.default_rng(0).permutation(len(candidates))[:SAMPLED]
    some = [{key: [value] for key, value in candidates[i].items()} for i in chosen]
    _, theirs = timed(
        lambda: GridSearchCV(SVC(), some, cv=folds, refit=False).fit(X, y, groups=own)
    )
    theirs *= len(candidates) / SAMPLED
    test = np.array([1.0 - SVC(**params).fit(X, y).score(X_test, y_test) for params in candidates])
    ours = SpanSearch(SVC(), GRID, cv=folds, refit=False).fit(X, y, groups=own)
    five_folds = 1.0 - ours.cv_results_["mean_test_score"]
    row: dict[str, object] = {
        "data_set": name, "rows": y.size, "groups": n_groups,
        "share_of_rows": round(1.0 / n_groups, 3),
    }  # fmt: skip
    for kind, found in errors.items():
        row[f"{kind}_rms"] = round(float(np.sqrt(np.mean((found - exact) ** 2))), 4)
        row[f"{kind}_largest"] = round(float(np.abs(found - exact).max()), 4)
    row["test_best"] = round(test.min(), 4)
    for kind, found in (*errors.items(), ("exact", exact), ("group_folds", five_folds)):
        # A random one of those that are equally good.
        row[f"test_{kind}"] = round(float(test[found <= found.min() + 1e-12].mean()), 4)
    row["group_folds_seconds"] = round(theirs, 2)
    row["predicted_cost"] = round(seconds["predicted"] / theirs, 4)
    row["exact_cost"] = round(exact_seconds / theirs, 4)
    print(" ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    return row


def main() -> None:
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        warm = np.random.default_rng(0).standard_normal((60, 3))
        SpanSearch(SVC(), {"C": [1]}, method="loo").fit(
            warm, warm[:, 0] > 0, groups=np.arange(60) // 3
        )
        rows = [compare(*problem) for problem in problems()]
    print(f"written to {write('groups', rows)}")


if __name__ == "__main__":
    main()
