"""``python -m benchmarks.worth``: what training rows are worth, against pyDVL.

Of public data sets, 150 rows are trained on, a tenth of their labels changed by seed; 150 others
are scored, and up to 2000 more are the test.  The SVC is tuned by SpanSearch on the training rows.
Ways to value the training rows:

- ``accuracy``, ``log_loss``: ``data_values`` by these scores; ``quick`` is the second with
  ``exact=False``;
- ``pydvl``: leave-one-out values of the accuracy, by training (pyDVL's ``LOOValuation``);
- ``neighbours``: Shapley values of 5 nearest neighbours (pyDVL's ``KNNShapleyValuation``).

The rows with the lowest values are removed, 10 and 20 %, and those with the highest, 20 %; the
model is trained again, and its error on the test rows is a ratio to that with all rows.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from reproduction.csv_files import Row
from spansvm import SpanSearch, SpanSVC, data_values

from . import keel
from .labels import GRID, SETS, SHIPPED
from .measure import RESULTS, write
from .opponents import PYDVL
from .resumed import Problem, Results, rounded

SIZE, MOST_TEST_ROWS, CHANGED = 150, 2000, 0.1

#: Which share of the rows is removed: the lowest values, or the highest.
REMOVED = {"worst_10": (0.1, 1), "worst_20": (0.2, 1), "best_20": (0.2, -1)}

WAYS = ("accuracy", "log_loss", "quick", "pydvl", "neighbours", "random")


def parts_of(name: str, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows to train on, to score and to test on, with labels; of the first some are changed."""
    X, y = SHIPPED[name](return_X_y=True) if name in SHIPPED else keel.load(name)
    y = np.unique(y, return_inverse=True)[1]
    rng = np.random.default_rng((seed, 3))
    order = rng.permutation(y.size)
    size = min(SIZE, y.size // 3)
    cuts = [order[:size], order[size : 2 * size], order[2 * size :][:MOST_TEST_ROWS]]
    scaler = StandardScaler().fit(X[cuts[0]])
    parts = [(scaler.transform(X[own]), y[own]) for own in cuts]
    changed = rng.permutation(size)[: round(CHANGED * size)]
    classes = int(y.max()) + 1
    labels = parts[0][1].copy()
    labels[changed] = (labels[changed] + rng.integers(1, classes, changed.size)) % classes
    return [(parts[0][0], labels), *parts[1:]]


def measure(name: str, seed: int) -> Row:
    """One row of the table."""
    (X, y), valid, (X_test, y_test) = parts_of(name, seed)
    search = SpanSearch(SpanSVC(), GRID).fit(X, y)
    model, best = search.best_estimator_, search.best_params_
    values, seconds = {}, {}
    ways = {"accuracy": (None, True), "log_loss": ("neg_log_loss", True),
            "quick": ("neg_log_loss", False)}  # fmt: skip
    for way, (scoring, exact) in ways.items():
        start = time.process_time()
        values[way] = data_values(model, *valid, scoring=scoring, exact=exact)
        seconds[way] = time.process_time() - start
    theirs = PYDVL.run(name, X=X, y=y, X_valid=valid[0], y_valid=valid[1], **best)
    for way, key in (("pydvl", "leave_one_out"), ("neighbours", "neighbours")):
        if theirs is not None:
            values[way], seconds[way] = np.array(theirs[key]["values"]), theirs[key]["seconds"]
    values["random"] = np.random.default_rng(seed).normal(size=y.size)
    error = 1.0 - SVC(**best).fit(X, y).score(X_test, y_test)
    row: Row = {"data_set": name, "seed": seed, "rows": y.size, "error": error}
    if theirs is not None:
        # LibSVM's tolerance of 0.001 decides near ties differently.
        row["same_as_pydvl"] = float(np.isclose(values["accuracy"], values["pydvl"]).mean())
    for way in WAYS:
        row[f"{way}_seconds"] = seconds.get(way, "")
        for removal, (share, sign) in REMOVED.items():
            row[f"{way}_{removal}"] = ""
            if way in values:
                order = np.argsort(sign * values[way], kind="stable")
                left = np.sort(order[round(share * y.size) :])
                again = SVC(**best).fit(X[left], y[left])
                row[f"{way}_{removal}"] = 1.0 - again.score(X_test, y_test)
    return rounded(row)


def summary(rows: list[Row]) -> Iterator[Row]:
    """Geometric means of the ratios to the error with all rows, and of times to pyDVL's."""
    own = [row for row in rows if row["pydvl_seconds"] != ""]
    for way in WAYS if own else ():
        result: Row = {"way": way, "problems": len(own)}
        for removal in REMOVED:
            logs = [
                np.log(float(str(row[f"{way}_{removal}"])) / float(str(row["error"])))
                for row in own
                if float(str(row[f"{way}_{removal}"])) > 0 and float(str(row["error"])) > 0
            ]
            result[removal] = float(np.exp(np.mean(logs)))
            result[f"{removal}_se"] = float(np.std(logs) / np.sqrt(len(logs)))
        times = [
            float(str(row["pydvl_seconds"])) / float(str(row[f"{way}_seconds"]))
            for row in own
            if way != "random"
        ]
        result["times_pydvl"] = float(np.exp(np.mean(np.log(times)))) if times else ""
        same = [float(str(row["same_as_pydvl"])) for row in own]
        result["same_as_pydvl"] = float(np.mean(same)) if way == "accuracy" else ""
        yield rounded(result)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worth", description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results(RESULTS / "worth_runs.csv", ("data_set", "seed"))
    problems: list[Problem] = [
        (name, seed) for seed in range(options.seeds) for name in SETS
    ]  # fmt: skip
    with threadpool_limits(1):
        results.complete(problems, measure)
    table = list(summary(results.rows))
    for row in table:
        print(row)
    write("worth", table)


if __name__ == "__main__":
    main()
