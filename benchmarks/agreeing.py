"""``python -m benchmarks.agreeing``: what it costs that probabilities agree with predictions.

With two classes `SpanSVC.predict_proba` agrees with `predict`; `predict_calibrated_proba` is what
the sigmoids give.  Both are scored on test rows, with equal weights, with class_weight="balanced",
and with the rarer class ten times as heavy.  With more classes nothing is moved: there, the share
of test rows is measured for which the most probable class is not the predicted one.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

from spansvm import SpanSVC

from . import keel
from .datasets import MULTICLASS, NAMES, Split, splits
from .measure import geometric_mean, machine, write

#: The first is the heuristic of the paper: gamma is 1 / d.
SETTINGS = tuple({"C": C, "gamma": gamma} for C, gamma in product((1.0, 16.0), ("auto", "scale")))

WEIGHTS = ("equal", "balanced", "ten")

#: Sets of KEEL with more than two classes, and how many rows to train on.
KEEL = {"glass": 107, "vowel": 500, "letter": 2000}

MEASURES = ("log_loss", "brier")


def rare_digit(count: int) -> Iterator[Split]:
    """The digit 8 against all others."""
    X, y = load_digits(return_X_y=True)
    for split in range(count):
        parts = train_test_split(X / 16.0, y == 8, train_size=600, random_state=split, stratify=y)
        X_train, X_test, y_train, y_test = parts
        yield X_train, np.where(y_train, 1, -1), X_test, np.where(y_test, 1, -1)


def keel_splits(name: str, count: int) -> Iterator[Split]:
    """Random splits with features scaled to [0, 1] on the training part."""
    X, y = keel.load(name)
    for split in range(count):
        parts = train_test_split(X, y, train_size=KEEL[name], random_state=split, stratify=y)
        X_train, X_test, y_train, y_test = parts
        scaler = MinMaxScaler().fit(X_train)
        yield scaler.transform(X_train), y_train, scaler.transform(X_test), y_test


def class_weight(kind: str, y: np.ndarray) -> dict[int, float] | str | None:
    if kind == "ten":
        labels, counts = np.unique(y, return_counts=True)
        return {int(labels[np.argmin(counts)]): 10.0}
    return "balanced" if kind == "balanced" else None


def scores(y: np.ndarray, probability: np.ndarray, classes: np.ndarray) -> tuple[float, float]:
    return (
        log_loss(y, probability, labels=classes),
        brier_score_loss(y, probability[:, 1], pos_label=classes[1]),
    )


def two_classes(name: str, kind: str, count: int) -> dict[str, object]:
    """Means over splits and settings."""
    results, rare = [], []
    for X, y, X_test, y_test in rare_digit(count) if name == "digit_8" else splits(name, count):
        rare.append(min(np.mean(y == label) for label in (-1, 1)))
        for setting in SETTINGS:
            model = SpanSVC(**setting, class_weight=class_weight(kind, y)).fit(X, y)
            calibrated = model.predict_calibrated_proba(X_test)
            agreeing = model.predict_proba(X_test)
            said = model.predict(X_test)
            assert (model.classes_[agreeing.argmax(axis=1)] == said).all()
            results.append(
                (
                    np.mean(model.classes_[calibrated.argmax(axis=1)] != said),
                    *scores(y_test, calibrated, model.classes_),
                    *scores(y_test, agreeing, model.classes_),
                )
            )
    moved, *means = np.mean(results, axis=0)
    row: dict[str, object] = {"data_set": name, "classes": 2, "weights": kind}
    row |= {"rarer_class": round(float(np.mean(rare)), 3), "disagree": round(float(moved), 4)}
    for column, measured in enumerate(MEASURES):
        before, after = means[column], means[column + len(MEASURES)]
        row |= {f"{measured}_calibrated": round(before, 5), f"{measured}_agreeing": round(after, 5)}
        row[f"{measured}_ratio"] = round(after / before, 4)
    return row


def more_classes(name: str, count: int) -> dict[str, object]:
    shares = []
    for X, y, X_test, _ in keel_splits(name, count) if name in KEEL else splits(name, count):
        for setting in SETTINGS:
            model = SpanSVC(**setting).fit(X, y)
            probable = model.classes_[model.predict_proba(X_test).argmax(axis=1)]
            shares.append(np.mean(probable != model.predict(X_test)))
    row: dict[str, object] = {"data_set": name, "classes": model.classes_.size, "weights": "equal"}
    row |= {"rarer_class": "", "disagree": round(float(np.mean(shares)), 4)}
    for measured, kind in product(MEASURES, ("calibrated", "agreeing", "ratio")):
        row[f"{measured}_{kind}"] = ""
    return row


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreeing", description=__doc__)
    parser.add_argument("--splits", type=int, default=5, help="splits per data set, 1 to 10")
    count = parser.parse_args().splits
    rows = []
    with threadpool_limits(1):
        for kind, name in product(WEIGHTS, (*NAMES, "digit_8")):
            row = two_classes(name, kind, count)
            rows.append(row)
            print(
                f"{name:18}{kind:10}disagree {row['disagree']:.4f}   log loss x"
                f"{row['log_loss_ratio']:.4f}   Brier x{row['brier_ratio']:.4f}",
                flush=True,
            )
        for name in (*MULTICLASS, *KEEL):
            rows.append(more_classes(name, count))
            print(f"{name:18}{rows[-1]['classes']} classes: disagree {rows[-1]['disagree']:.4f}")
    for kind in WEIGHTS:
        own = [row for row in rows if row["weights"] == kind and row["classes"] == 2]
        for measured in MEASURES:
            ratios = [row[f"{measured}_ratio"] for row in own]
            print(
                f"{kind}: {measured} agreeing over calibrated: geometric mean "
                f"{geometric_mean(ratios):.4f}, from {min(ratios)} to {max(ratios)}"
            )
    print(f"{machine()}\nwritten to {write('agreeing', rows)}")


if __name__ == "__main__":
    main()
