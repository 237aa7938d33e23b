"""``python -m benchmarks.tutorials``: the searches of tutorials, by the scores people ask for.

Thirty candidates, C and gamma of ``make_pipeline(StandardScaler(), SVC())``, on the data sets that
scikit-learn ships and on generated ones with two classes, against ``GridSearchCV`` with five folds
and the same score, in the same process on one thread.  Scores of probabilities are those of an
``SVC(probability=True)``.  Processor times: the least of three of ours, one of GridSearchCV, of
which ten candidates are run and extrapolated where it would take minutes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from spansvm import SpanSearch

from .measure import geometric_mean, write
from .users import spent

Data = tuple[np.ndarray, np.ndarray]

GRID = {
    "svc__C": [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0],
    "svc__gamma": [0.001, 0.01, 0.1, 1.0, 10.0],
}

#: How many candidates of GridSearchCV are run where it takes minutes: two of each gamma.
SAMPLED = [c for c in ParameterGrid(GRID) if c["svc__C"] in (0.1, 100.0)]


def _generated(rows: int) -> Data:
    return make_classification(rows, 20, n_informative=8, flip_y=0.1, random_state=0)


SHIPPED: dict[str, Callable[[], Data]] = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
}
GENERATED: dict[str, Callable[[], Data]] = {
    f"generated, {rows} rows": lambda rows=rows: _generated(rows)  # type: ignore[misc]
    for rows in (300, 1000, 2400)
}

SEVERAL = {"scoring": ["accuracy", "f1_macro", "balanced_accuracy"], "refit": "accuracy"}

#: What is searched, on which sets, and with which arguments.
SEARCHES: dict[str, tuple[dict[str, Callable[[], Data]], dict[str, Any]]] = {
    "default": (SHIPPED, {}),
    "cv=5": (SHIPPED, {"cv": 5}),
    "f1_macro": (SHIPPED, {"scoring": "f1_macro"}),
    "balanced_accuracy": (SHIPPED, {"scoring": "balanced_accuracy"}),
    "roc_auc_ovr": (SHIPPED, {"scoring": "roc_auc_ovr"}),
    "three scores": (SHIPPED, SEVERAL),
    "roc_auc": (GENERATED, {"scoring": "roc_auc"}),
    "neg_log_loss": (GENERATED, {"scoring": "neg_log_loss"}),
}


def compared(name: str, search: str) -> dict[str, object]:
    """One line of the table."""
    sets, arguments = SEARCHES[search]
    X, y = sets[name]()
    needs = arguments.get("scoring") in ("roc_auc_ovr", "neg_log_loss")
    model = make_pipeline(StandardScaler(), SVC(probability=needs))
    ours = [spent(lambda: SpanSearch(model, GRID, **arguments).fit(X, y))[0]]
    long = y.size > 1500 and (needs or y.size > 2000)
    sampled = [{k: [v] for k, v in c.items()} for c in SAMPLED] if long else GRID
    theirs = spent(lambda: GridSearchCV(model, sampled, **{"cv": 5, **arguments}).fit(X, y))[0]
    theirs *= len(ParameterGrid(GRID)) / len(ParameterGrid(sampled))
    ours += [spent(lambda: SpanSearch(model, GRID, **arguments).fit(X, y))[0] for _ in range(2)]
    return {
        "search": search, "data": name, "rows": y.size, "classes": np.unique(y).size,
        "ours_seconds": round(min(ours), 4), "gridsearchcv_seconds": round(theirs, 3),
        "ratio": round(theirs / min(ours), 1), "extrapolated": "yes" if long else "",
    }  # fmt: skip


def table(searches: list[str]) -> Iterator[dict[str, object]]:
    """A line for every search and set, then the geometric means."""
    for search in searches:
        lines = []
        for name in SEARCHES[search][0]:
            lines.append(compared(name, search))
            print(lines[-1], flush=True)
            yield lines[-1]
        mean = geometric_mean([float(str(line["ratio"])) for line in lines])
        print(f"{search}: {mean:.1f} times", flush=True)
        yield dict.fromkeys(lines[0], "") | {
            "search": search, "data": "geometric mean", "ratio": round(mean, 1)
        }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tutorials", description=__doc__)
    parser.add_argument("searches", nargs="*", help=f"of {', '.join(SEARCHES)}; by default all")
    parser.add_argument("--dry", action="store_true", help="do not write the table")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        SpanSearch(SVC(), {"C": [1.0, 2.0]}).fit(*load_iris(return_X_y=True))
        found = list(table(options.searches or list(SEARCHES)))
    if not options.dry:
        print(f"written to {write('tutorials', found)}")


if __name__ == "__main__":
    main()
