"""``python -m benchmarks.delivered``: models whose intercept nothing fixes, on new rows.

With ``class_weight="balanced"`` and a small C every multiplier is at its bound, and the KKT
conditions leave the intercept an interval (:mod:`spansvm.search.refit`).  On twenty data sets, from
200 training rows at most:

``delivered.csv``: the test balanced accuracy of the SVC that ``SpanSearch(cv=5)`` hands out, of the
model that it evaluated, of the same C refitted by LibSVM (which was handed out before), and of
GridSearchCV's, searched over small C only, and over all C.

``unfixed.csv``: leave-one-out scores against test scores of the same models, C from 1e-4 to 1e3.
For every score: the mean absolute difference of both over all C, and over those where nothing fixes
the intercept; and the test score of the model selected by it.  Labels are counted, as in
leave-one-out, or come from values without the shift of all rows, as in the scores of a search.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from spansvm import SpanSearch, SpanSVC
from spansvm.multiclass.left_out import LeftOutClasses, exact_left_out
from spansvm.multiclass.machines import TrainedMachines

from .datasets import MULTICLASS, NAMES, Split, splits
from .measure import write

ROWS, TEST_ROWS = 200, 3000

C_VALUES = tuple(float(C) for C in 10.0 ** np.arange(-4, 4))
GRIDS = {"small": C_VALUES[:3], "all": C_VALUES}

#: Shares of the classes in generated data; the last class has the rest.
SHARES = ((0.5,), (0.7,), (0.8,), (0.9,), (0.95,), (0.6, 0.3))


def f1_macro(y: np.ndarray, labels: np.ndarray) -> float:
    return float(f1_score(y, labels, average="macro"))


SCORES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "balanced_accuracy": balanced_accuracy_score,
    "f1_macro": f1_macro,
    "accuracy": accuracy_score,
}

METHODS = ("span_rule", "loo")


def problems() -> Iterator[tuple[str, Split]]:
    """Training rows and labels, test rows and labels of every data set."""
    for name in (*NAMES, *MULTICLASS):
        X, y, X_test, y_test = next(splits(name, 1))
        order = np.random.default_rng(0).permutation(y.size)
        train, rest = order[:ROWS], order[ROWS:]
        new, truth = np.vstack((X_test, X[rest])), np.concatenate((y_test, y[rest]))
        yield name, (X[train], y[train], new[:TEST_ROWS], truth[:TEST_ROWS])
    for seed, shares in enumerate(SHARES):
        X, y = make_classification(
            ROWS + TEST_ROWS, 10, n_informative=5, n_classes=len(shares) + 1, weights=shares,
            flip_y=0.05, random_state=seed,
        )  # fmt: skip
        X = scale(X)
        name = f"generated {' '.join(f'{share:.0%}' for share in shares)}"
        yield name, (X[:ROWS], y[:ROWS], X[ROWS:], y[ROWS:])


def delivered(name: str, split: Split) -> dict[str, object]:
    """Test scores of what searches with folds hand out."""
    X, y, new, truth = split
    row: dict[str, object] = {"data_set": name, "rows": y.size, "test_rows": truth.size}
    for grid, values in GRIDS.items():
        found = {
            kind: search(
                SVC(class_weight="balanced"), {"C": values}, cv=5, scoring="balanced_accuracy"
            ).fit(X, y)
            for kind, search in (("delivered", SpanSearch), ("grid_search_cv", GridSearchCV))
        }
        C = found["delivered"].best_params_["C"]
        models = {
            "libsvm": SVC(C=C, class_weight="balanced").fit(X, y),
            "evaluated": SpanSVC(C=C, class_weight="balanced").fit(X, y),
            **found,
        }
        for kind, model in models.items():
            row[f"{grid}_{kind}"] = round(balanced_accuracy_score(truth, model.predict(new)), 4)
        split_scores = [
            np.array([own.cv_results_[f"split{k}_test_score"] for k in range(5)])
            for own in found.values()
        ]
        row[f"{grid}_split_scores_differ"] = round(float(np.ptp(split_scores, axis=0).max()), 4)
        row[f"{grid}_C"] = C
    return row


def left_out(model: SpanSVC, method: str) -> LeftOutClasses:
    machines = model.machines_
    assert isinstance(machines, TrainedMachines)
    if method == "span_rule":
        return model.left_out_
    return exact_left_out(machines, np.ones(machines.indices.size, dtype=np.bool_))


def unfixed(name: str, split: Split) -> Iterator[dict[str, object]]:
    """Leave-one-out scores of models with all C, against their test scores."""
    X, y, new, truth = split
    models = [SpanSVC(C=C, class_weight="balanced").fit(X, y) for C in C_VALUES]
    predicted = [model.predict(new) for model in models]
    loose = np.array([model.machines_.unfixed.any() for model in models])
    for method in METHODS:
        every = [left_out(model, method) for model in models]
        labels = {
            "counted": [own.labels(models[0].classes_) for own in every],
            "unshifted": [own.unshifted().labels(models[0].classes_) for own in every],
        }
        for score, function in SCORES.items():
            test = np.array([function(truth, own) for own in predicted])
            row: dict[str, object] = {"data_set": name, "method": method, "score": score}
            row |= {"candidates": test.size, "unfixed": int(loose.sum())}
            for kind, said in labels.items():
                scores = np.array([function(y, own) for own in said])
                off = np.abs(scores - test)
                row[f"{kind}_off"] = round(off.mean(), 4)
                row[f"{kind}_off_unfixed"] = round(off[loose].mean(), 4)
                row[f"{kind}_selected"] = round(test[np.round(scores, 10).argmax()], 4)
            row["best"] = round(test.max(), 4)
            yield row


def summarise(rows: list[dict[str, object]], columns: list[str], title: str) -> dict[str, object]:
    means = {name: round(float(np.mean([row[name] for row in rows])), 4) for name in columns}
    print(title, ", ".join(f"{name} {value:.4f}" for name, value in means.items()), flush=True)
    return means


def main() -> None:
    warnings.filterwarnings("ignore", message="LibSVM's refit")
    handed, scored = [], []
    with threadpool_limits(1):
        for name, split in problems():
            handed.append(delivered(name, split))
            scored += unfixed(name, split)
            print(handed[-1], flush=True)
    columns = list(handed[0])[3:]
    means = summarise(handed, [name for name in columns if not name.endswith("_C")], "mean:")
    blank: dict[str, object] = dict.fromkeys(handed[0], "")
    handed.append(blank | {"data_set": "mean"} | means)
    columns = list(scored[0])[5:]
    for method in METHODS:
        for score in SCORES:
            part = [row for row in scored if (row["method"], row["score"]) == (method, score)]
            means = summarise(part, columns, f"{method}, {score}:")
            blank = dict.fromkeys(part[0], "")
            scored.append(blank | {"data_set": "mean", "method": method, "score": score} | means)
    print(f"written to {write('delivered', handed)} and {write('unfixed', scored)}")


if __name__ == "__main__":
    main()
