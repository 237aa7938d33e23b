"""``python -m benchmarks.calibration``: probabilities from the span against those from folds.

`SpanSVC.predict_calibrated_proba` and scikit-learn's CalibratedClassifierCV around SVC (5 folds,
sigmoid), which either trains one more model on all rows (`folds`, ensemble=False) or averages those
of the folds (`ensemble`).  Every method gets the same splits and the same C and gamma.  A
difference is ours minus theirs, negative if ours is better, with its standard error over the
splits.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from spansvm import SpanSVC

from .datasets import MULTICLASS, NAMES, Split, splits
from .measure import geometric_mean, machine, seconds, write

#: C and gamma; "auto" is 1 / d, the heuristic of the paper.
SETTINGS = tuple(
    {"C": C, "gamma": gamma} for C, gamma in product((1.0, 16.0, 256.0), ("auto", "scale"))
)

METHODS: dict[str, Callable[..., ClassifierMixin]] = {
    "span": lambda **setting: SpanSVC(**setting),
    "folds": lambda **setting: CalibratedClassifierCV(SVC(**setting), ensemble=False),
    "ensemble": lambda **setting: CalibratedClassifierCV(SVC(**setting), ensemble=True),
}

PEERS = ("folds", "ensemble")
MEASURES = ("log_loss", "brier", "seconds")


def measure(model: ClassifierMixin, split: Split) -> tuple[float, ...]:
    """Log loss, Brier score (summed over the classes if more than two) and time."""
    X, y, X_test, y_test = split
    probabilities = np.empty(0)

    def work() -> None:
        nonlocal probabilities
        ours = isinstance(model.fit(X, y), SpanSVC)
        predict = model.predict_calibrated_proba if ours else model.predict_proba
        probabilities = predict(X_test)

    elapsed = seconds(work, shortest=0.0)
    labels = model.classes_
    return (
        log_loss(y_test, probabilities, labels=labels),
        brier_score_loss(
            y_test,
            probabilities if labels.size > 2 else probabilities[:, 1],
            labels=labels,
            pos_label=labels[1] if labels.size == 2 else None,
        ),
        elapsed,
    )


def measure_set(name: str, count: int) -> np.ndarray:
    """Results of shape (splits, settings, methods, measures), methods in turns."""
    return np.array(
        [
            [[measure(make(**setting), split) for make in METHODS.values()] for setting in SETTINGS]
            for split in splits(name, count)
        ]
    )


def summary(name: str, results: np.ndarray) -> dict[str, object]:
    """One row: means over splits and settings, differences with standard errors, time ratios."""
    row: dict[str, object] = {"data_set": name}
    by_split = dict(zip(METHODS, np.moveaxis(results.mean(axis=1), 1, 0), strict=True))
    for column, measured in enumerate(MEASURES[:2]):
        values = {method: numbers[:, column] for method, numbers in by_split.items()}
        row |= {f"{measured}_{method}": round(v.mean(), 5) for method, v in values.items()}
        for peer in PEERS:
            difference = values["span"] - values[peer]
            error = difference.std(ddof=1) / np.sqrt(difference.size)
            row[f"{measured}_minus_{peer}"] = round(difference.mean(), 5)
            row[f"{measured}_minus_{peer}_error"] = round(error, 5)
    times = {method: numbers[:, 2].mean() for method, numbers in by_split.items()}
    row |= {f"seconds_{method}": round(t, 5) for method, t in times.items()}
    row |= {f"{peer}_over_span": round(times[peer] / times["span"], 2) for peer in PEERS}
    return row


def report(group: str, rows: list[dict[str, object]]) -> None:
    """Print on how many of the data sets SpanSVC is better or worse, and the ratios."""
    print(f"\nSpanSVC on {len(rows)} data sets with {group}:")
    for peer, measured in product(PEERS, MEASURES[:2]):
        differences = np.array([row[f"{measured}_minus_{peer}"] for row in rows])
        noise = 2.0 * np.array([row[f"{measured}_minus_{peer}_error"] for row in rows])
        ratio = geometric_mean(
            [row[f"{measured}_span"] / row[f"{measured}_{peer}"] for row in rows]
        )
        print(
            f"  {measured} against {peer}: better on {(differences < 0).sum()}; by more than 2 "
            f"standard errors better on {(differences < -noise).sum()}, worse on "
            f"{(differences > noise).sum()}; geometric mean of the ratios {ratio:.3f}"
        )
    for peer in PEERS:
        times = [row[f"{peer}_over_span"] for row in rows]
        print(
            f"  time of {peer} over ours: geometric mean {geometric_mean(times):.1f}, "
            f"from {min(times)} to {max(times)}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--splits", type=int, default=10, help="splits per data set, 2 to 10")
    count = parser.parse_args().splits
    rows = []
    titles = f"{'span':>8} {'folds':>8} {'minus':>8}   {'error':6}"
    print(f"{'log loss, Brier':18}{titles}   {titles}   time of folds over ours")
    with threadpool_limits(1):
        measure(METHODS["span"](), next(splits("iris", 1)))  # compiles
        for name in NAMES + MULTICLASS:
            row = summary(name, measure_set(name, count))
            rows.append(row)
            cells = "   ".join(
                f"{row[m + '_span']:8.4f} {row[m + '_folds']:8.4f} "
                f"{row[m + '_minus_folds']:+8.4f} ± {row[m + '_minus_folds_error']:.4f}"
                for m in MEASURES[:2]
            )
            print(f"{name:18}{cells}   x{row['folds_over_span']}", flush=True)
    print(f"\n{machine()}")
    for group, names in (("two classes", NAMES), ("more classes", MULTICLASS)):
        report(group, [row for row in rows if row["data_set"] in names])
    print(f"written to {write('calibration', rows)}")


if __name__ == "__main__":
    main()
