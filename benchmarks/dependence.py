"""``python -m benchmarks.dependence``: which files are noticed to have rows that depend on others.

Files are public ones, in the order in which they are published: those below, which ``--list`` says
where to get, in the folder that the environment variable SPANSVM_PUBLIC_FILES names (none is part
of this project), and those of scikit-learn.  Generated are random walks of four sensors, whose
labels are equal in blocks of 30 to 50 rows or whose target wanders on its own, and independent
rows: noise, unequal classes, few rows, equal rows, outliers.

Columns: the left-out error of the selected model (of a regression 1 - R2); whether a dependence was
noticed in the order given, with the errors in blocks of neighbours and of exchanged rows, and the
difference over its noise; whether it was noticed when sorted by class or target, and by the first
feature; in how many of so many shuffled orders, and the largest difference over its noise there;
and by how much the processor time of the search grows, in the order given and shuffled (the least
of several, in turns).
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import datasets
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from reproduction.csv_files import read_rows, to_csv, write_text
from spansvm import SpanSearch
from spansvm_app.tables import Roles, build_pipeline, read_table

from .measure import RESULTS, command, machine
from .public_files import FOLDER

TABLE = RESULTS / "dependence.csv"

Rows = tuple[np.ndarray, np.ndarray, bool]

REPOSITORIES = {
    "renatopp/arff-datasets": "c59f172882592bb58982cc54d2d3c8a2b57e9b73",
    "loremo/AdaBoost": "0732aafde4aa10c6e0ae9a8f4554b41240fb688c",
}

#: Path in its repository, by name; the second repository has what the first one lacks.
FILES = {
    "renatopp/arff-datasets": {
        "classification": (
            "anneal", "autos", "balance.scale", "breast.cancer", "car", "cmc", "credit.a",
            "credit.g", "dermatology", "diabetes", "ecoli", "glass", "haberman", "heart.c",
            "heart.statlog", "hepatitis", "ionosphere", "lymph", "segment", "sonar", "soybean",
            "splice", "tae", "tic-tac-toe", "vehicle", "vote", "vowel",
        ),
        "regression": (
            "autompg", "autoprice", "bodyfat", "cpu", "fishcatch", "housing", "lowbwt", "pharynx",
            "pollution", "pwlinear", "pyrim", "sensory", "servo", "stock", "strike", "triazines",
        ),
    },
    "loremo/AdaBoost": {"data": ("sat.trn", "yeast.txt")},
}  # fmt: skip

BUILT_IN = {
    "iris": (datasets.load_iris, False),
    "wine": (datasets.load_wine, False),
    "digits": (datasets.load_digits, False),
    "wdbc": (datasets.load_breast_cancer, False),
    "diabetes (progression)": (datasets.load_diabetes, True),
}

#: Numbers of rows of generated data, and of walks of each.
SIZES, WALKS = (100, 200, 300, 1000), 5

#: How many orders are tried, and how many if there are more than a thousand rows.
SHUFFLED, SHUFFLED_OF_MANY, MANY = 40, 10, 1000


def of_file(path: Path) -> Rows:
    """Columns as ``spansvm tune`` reads them; the last one is the target."""
    if path.suffix != ".arff":
        comma = "," if "," in path.read_text()[:100] else None
        numbers = np.loadtxt(path, delimiter=comma)
        return numbers[:, :-1], numbers[:, -1].astype(int), False
    table = read_table(path, roles=Roles())
    X = build_pipeline(table, SVC(), scale="none")[:-1].fit_transform(table.X)
    X = X.toarray() if sparse.issparse(X) else X
    return X, np.asarray(table.y), table.task == "regression"


def walk(n: int, seed: int, *, regression: bool = False) -> Rows:
    """Sensors that wander, with labels that are equal for a while, or another that wanders."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4)).cumsum(axis=0)
    if regression:
        return X, random.normal(size=n).cumsum(), True
    lengths = random.integers(30, 51, size=n // 30 + 1)
    return X, np.repeat(np.arange(lengths.size) % 2, lengths)[:n], False


def independent(kind: str, n: int, seed: int = 0) -> Rows:
    """Rows of which none tells anything about another."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    if kind == "equal rows":
        X = X[random.integers(n // 4, size=n)]
    noise = random.standard_t(1.5, size=n) if kind == "outliers" else random.normal(size=n)
    value = noise if kind == "noise" else X[:, 0] + 0.7 * noise
    if kind in ("outliers", "quantity"):
        return X, value, True
    share = 0.94 if kind == "unequal" else 0.5
    return X, (value > np.quantile(value, share)).astype(int), False


def search_of(X: np.ndarray, y: np.ndarray, regression: bool) -> SpanSearch:
    """A search over 40 candidates around the usual scales."""
    spread = float(np.std(y)) if regression else 1.0
    name = "svr" if regression else "svc"
    grid = {
        f"{name}__C": [spread * 2.0**exponent for exponent in range(-3, 12, 2)],
        f"{name}__gamma": [2.0**exponent / X.shape[1] for exponent in range(-6, 3, 2)],
    }
    svm = SVR(epsilon=0.1 * spread) if regression else SVC()
    return SpanSearch(make_pipeline(StandardScaler(), svm), grid)


def processor_seconds(
    search: SpanSearch, X: np.ndarray, y: np.ndarray, repeats: int
) -> tuple[float, float]:
    """By how much looking for a dependence makes a search longer, and the time without that."""
    least = {True: np.inf, False: np.inf}
    for _ in range(repeats):
        for checks in (False, True):
            own = clone(search).set_params(check_dependence=checks)
            started = time.process_time()
            own.fit(X, y)
            least[checks] = min(least[checks], time.process_time() - started)
    return least[True] - least[False], least[False]


def measure(name: str, rows: Rows) -> dict[str, object]:
    """The row of a data set."""
    X, y, regression = rows
    n, random = y.size, np.random.default_rng(0)
    search = search_of(X, y, regression).fit(X, y)
    selected = {key: [value] for key, value in search.best_params_.items()}

    def found(order: np.ndarray) -> Any:
        one = SpanSearch(search.estimator, selected, refit=False)
        return one.fit(X[order], y[order]).dependence_

    given = search.dependence_
    at = list(given.block_size).index(min(25, n // 10))
    shuffle = random.permutation(n)
    # Within a class, or a value, rows are in random order.
    by_target = shuffle[np.argsort(y[shuffle], kind="stable")]
    by_feature = shuffle[np.argsort(X[shuffle, 0], kind="stable")]
    number = SHUFFLED if n <= MANY else SHUFFLED_OF_MANY
    others = [found(random.permutation(n)) for _ in range(number)]
    repeats = 5 if n <= MANY else 2
    longer, search_time = processor_seconds(search, X, y, repeats)
    longer_shuffled, _ = processor_seconds(search, X[shuffle], y[shuffle], repeats)
    sorted_by_target = found(by_target)
    return {
        "data_set": name,
        "task": "regression" if regression else "classification",
        "rows": n,
        "classes": None if regression else np.unique(y).size,
        "left_out": round(1.0 - float(search.best_score_), 4),
        "noticed": int(given.noticed),
        "block_size": int(given.block_size[at]),
        "error": round(float(given.error[at]), 4),
        "exchanged_error": round(float(given.exchanged_error[at]), 4),
        "times_noise": round(float(given.times_noise[at]), 2),
        "noticed_by_target": int(sorted_by_target is not None and sorted_by_target.noticed),
        "noticed_by_feature": int(found(by_feature).noticed),
        "shuffled": number,
        "noticed_shuffled": sum(one.noticed for one in others),
        "most_times_noise": round(max(float(one.times_noise[0]) for one in others), 2),
        "search_ms": round(1e3 * search_time, 1),
        "longer_ms": round(1e3 * longer, 1),
        "longer_shuffled_ms": round(1e3 * longer_shuffled, 1),
    }


def data_sets(folder: Path) -> Iterator[tuple[str, Callable[[], Rows]]]:
    """All data sets by name."""
    for kinds in FILES.values():
        for names in kinds.values():
            for name in names:
                file = name if "." in name and name[-4:] in (".trn", ".txt") else f"{name}.arff"
                yield name, partial(of_file, folder / file)
    for name, (load, regression) in BUILT_IN.items():
        yield name, lambda load=load, own=regression: (*load(return_X_y=True), own)
    for n in SIZES:
        for seed in range(WALKS):
            yield f"walk {seed}", partial(walk, n, seed)
            yield f"walk of a quantity {seed}", partial(walk, n, seed, regression=True)
    for n in (60, *SIZES):
        for kind in ("noise", "linear", "unequal", "equal rows", "quantity", "outliers"):
            yield kind, partial(independent, kind, n)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dependence", description=__doc__)
    parser.add_argument("--list", action="store_true", help="say where the files come from")
    parser.add_argument("--missing", action="store_true", help="keep the rows that there are")
    arguments = parser.parse_args()
    if arguments.list:
        for repository, kinds in FILES.items():
            where = f"https://github.com/{repository}/tree/{REPOSITORIES[repository]}"
            for kind, names in kinds.items():
                print(f"{where}/{kind}: {', '.join(names)}")
        return
    folder = os.environ.get(FOLDER)
    if not folder:
        raise SystemExit(f"{FOLDER} is not set: it names the folder with the files of --list.")
    warnings.simplefilter("ignore")  # what they say is measured
    rows, head = read_rows(TABLE) if arguments.missing else ([], [])
    known = len(rows)
    for name, load in list(data_sets(Path(folder)))[known:]:
        rows.append(measure(name, load()))
        write_text(TABLE, to_csv(rows, [*head, command(), machine()]))
        print(rows[-1], flush=True)


if __name__ == "__main__":
    main()
