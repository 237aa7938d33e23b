"""``python -m benchmarks.sets``: coverage of sets of labels on fresh rows, against MAPIE.

Random training sets, everything else is fresh (at most 2000 rows); features are standardised.  The
models: SVC's defaults (``default``), the same with balanced class weights (``balanced``, where
classes are unequal), and the C and gamma that SpanSearch selects among 24 on the training rows
(``searched``).  For levels of 0.8, 0.9 and 0.95:

- ``set`` and ``per_class``: ``SpanSVC.predict_set``, without and with ``per_class``;
- other scores of the same left-out probabilities, to choose among: ``aps`` (the sum of the
  probabilities from the largest down to the label), ``margin`` (by how much another label is more
  probable), and ``aps_per_class``; sets that would be empty hold the most probable label;
- ``mapie_split`` and ``mapie_cross``: MAPIE with the score of ``set``, a third of the rows for the
  scores or 5 folds, around CalibratedClassifierCV(SVC()) with the same parameters.  Its sets may be
  empty.

Columns: the share of fresh rows whose set contains their label, with its standard error over the
trainings; the same in the class where it is smallest; the mean size; the share of sets that are
empty, or would be; the share of sets without the label that ``predict`` returns; and processor
seconds, training included.  Last come rows that are not
independent: each twice, and the recordings of the same people (``groups``: with `groups` in
``fit``).
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from reproduction.datasets.loading import all_rows
from spansvm import SpanSearch, SpanSVC
from spansvm.estimators.conformal import conformal_rank

from . import keel
from .datasets import pool
from .measure import geometric_mean, machine, write
from .opponents import MAPIE

LEVELS = np.array([0.8, 0.9, 0.95])
TRAININGS, MOST_NEW_ROWS = 20, 2000
#: A class with fewer fresh rows, over all trainings, says little of its coverage.
FEWEST_OF_A_CLASS = 100

Pool = tuple[np.ndarray, np.ndarray]


def drawn(n_classes: int, weights: list[float] | None, flip: float) -> Pool:
    """Rows of overlapping classes; a share of the labels is random."""
    return datasets.make_classification(
        20_000, n_features=10, n_informative=6, n_redundant=0, n_classes=n_classes,
        n_clusters_per_class=2 if n_classes == 2 else 1, weights=weights, flip_y=flip,
        random_state=0,
    )  # fmt: skip


def noise(n_classes: int) -> Pool:
    rng = np.random.default_rng(0)
    return rng.standard_normal((5000, 5)), rng.integers(n_classes, size=5000)


#: How the rows are read, and how many are for training.
POOLS: dict[str, tuple[Callable[[], Pool], int]] = {
    "breast_cancer": (partial(datasets.load_breast_cancer, return_X_y=True), 200),
    "german": (partial(keel.load, "german"), 300),
    "phoneme": (partial(keel.load, "phoneme"), 300),
    "spambase": (partial(keel.load, "spambase"), 300),
    "splice": (partial(pool, "splice"), 300),
    "adult": (partial(pool, "adult"), 500),
    "bank_marketing": (partial(pool, "bank_marketing"), 500),
    "drawn, 5 % positive": (partial(drawn, 2, [0.95], 0.02), 300),
    "drawn, noisy": (partial(drawn, 2, None, 0.3), 200),
    "noise, 2 classes": (partial(noise, 2), 100),
    "wine": (partial(datasets.load_wine, return_X_y=True), 90),
    "digits": (partial(datasets.load_digits, return_X_y=True), 300),
    "glass": (partial(keel.load, "glass"), 107),
    "vowel": (partial(keel.load, "vowel"), 400),
    "satimage": (partial(keel.load, "satimage"), 300),
    "contraceptive": (partial(keel.load, "contraceptive"), 300),
    "letter": (partial(keel.load, "letter"), 600),
    "drawn, 4 unequal classes": (partial(drawn, 4, [0.7, 0.2, 0.07], 0.1), 300),
    "noise, 5 classes": (partial(noise, 5), 150),
}  # fmt: skip

UNEQUAL = ("bank_marketing", "drawn, 5 % positive", "glass", "drawn, 4 unequal classes")


@dataclass(frozen=True)
class Training:
    """Scaled training rows and fresh rows with their classes, and the parameters of the model."""

    X: np.ndarray
    y: np.ndarray
    new: np.ndarray
    truth: np.ndarray
    options: dict[str, Any]


@dataclass(frozen=True)
class Result:
    """Of one way on one training, by level: hits of each class, sums of sizes, empty sets.

    And how many sets lack the label that ``predict`` returns; NaN if that is not known.
    """

    hits: np.ndarray
    sizes: np.ndarray
    empty: np.ndarray
    seconds: float = np.nan
    outside: np.ndarray = field(default_factory=lambda: np.full(LEVELS.size, np.nan))


# Trainings --------------------------------------------------------------------------------


def trainings(name: str, model: str, count: int) -> Iterator[Training]:
    load, size = POOLS[name]
    X, labels = load()
    classes, y = np.unique(labels, return_inverse=True)
    for number in range(count):
        order = np.random.default_rng((11, number)).permutation(y.size)
        train, new = order[:size], order[size : size + MOST_NEW_ROWS]
        assert np.unique(y[train]).size == classes.size
        scaler = StandardScaler().fit(X[train])
        rows = scaler.transform(X[train])
        yield Training(
            rows, y[train], scaler.transform(X[new]), y[new], chosen(model, rows, y[train])
        )


def chosen(model: str, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    options: dict[str, Any] = {"C": 1.0, "gamma": 1.0 / (X.shape[1] * X.var())}
    if model == "balanced":
        options["class_weight"] = "balanced"
    if model == "searched":
        gammas = np.array([0.05, 0.2, 1.0, 4.0]) / X.shape[1]
        grid = {"C": 2.0 ** np.arange(-2, 10, 2), "gamma": gammas}
        options = dict(SpanSearch(SpanSVC(), grid).fit(X, y).best_params_)
    return options


# Ways -------------------------------------------------------------------------------------


def least_ambiguous(p: np.ndarray) -> np.ndarray:
    return 1.0 - p


def adaptive(p: np.ndarray) -> np.ndarray:
    order = np.argsort(-p, axis=1, kind="stable")
    scores = np.empty_like(p)
    np.put_along_axis(scores, order, np.take_along_axis(p, order, 1).cumsum(axis=1), 1)
    return scores


def margin(p: np.ndarray) -> np.ndarray:
    two = np.sort(p, axis=1)[:, -2:]
    return np.where(p == two[:, 1:], two[:, :1], two[:, 1:]) - p


#: Scores, and whether they are compared within classes; the first two are ours.
SCORES = {
    "set": (least_ambiguous, False),
    "per_class": (least_ambiguous, True),
    "aps": (adaptive, False),
    "aps_per_class": (adaptive, True),
    "margin": (margin, False),
}


def raw_sets(score: Callable, per_class: bool, model: SpanSVC, one: Training) -> np.ndarray:
    """Sets by a score of the left-out probabilities, which may be empty."""
    left_out, new = (
        model.left_out_.calibrated_probabilities,
        model.predict_calibrated_proba(one.new),
    )
    own = score(left_out)[np.arange(one.y.size), one.y]
    limits = np.full((new.shape[1], LEVELS.size), np.inf)
    for label in range(new.shape[1]):
        known = np.sort(own[one.y == label] if per_class else own)
        ranks = conformal_rank(known.size, LEVELS)
        few = ranks <= known.size
        limits[label, few] = known[ranks[few] - 1]
    return score(new)[:, :, None] <= limits


def filled(sets: np.ndarray, probability: np.ndarray) -> np.ndarray:
    row, level = np.nonzero(~sets.any(axis=1))
    result = sets.copy()
    result[row, probability[row].argmax(axis=1), level] = True
    return result


def contain(sets: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Whether the set of each row contains a label, by level."""
    return np.take_along_axis(sets, labels[:, None, None], axis=1)[:, 0]


def ours(one: Training, groups: np.ndarray | None = None) -> dict[str, Result]:
    start = time.process_time()
    model = SpanSVC(**one.options).fit(one.X, one.y, groups=groups)
    own = {"set": model.predict_set(one.new, LEVELS)}
    seconds = time.process_time() - start
    own["per_class"] = model.predict_set(one.new, LEVELS, per_class=True)
    predicted, results = model.predict(one.new), {}
    for way, (score, per_class) in SCORES.items():
        raw = raw_sets(score, per_class, model, one)
        sets = own[way] if way in own else filled(raw, model.predict_calibrated_proba(one.new))
        found = contain(sets, one.truth)
        results[way] = Result(
            np.array([found[one.truth == label].sum(axis=0) for label in range(sets.shape[1])]),
            sets.sum(axis=(0, 1)),
            (~raw.any(axis=1)).sum(axis=0),
            seconds if way == "set" else np.nan,
            (~contain(sets, predicted)).sum(axis=0),
        )
    return results


def theirs(name: str, every: list[Training]) -> dict[str, list[Result | None]]:
    arrays: dict[str, Any] = {
        "levels": LEVELS,
        "C": [one.options["C"] for one in every],
        "gamma": [one.options["gamma"] for one in every],
        "balanced": "class_weight" in every[0].options,
    }
    for k, one in enumerate(every):
        arrays |= {
            f"train_{k}": one.X,
            f"y_{k}": one.y,
            f"test_{k}": one.new,
            f"truth_{k}": one.truth,
        }
    found = MAPIE.run(name, **arrays) or {}
    return {
        way: [own and Result(*map(np.array, own[:3]), own[3]) for own in results]
        for way, results in found.items()
    }


# Tables -----------------------------------------------------------------------------------


def known_or_empty(value: float) -> float | str:
    return "" if np.isnan(value) else round(float(value), 4)


def rows_of(
    names: dict[str, Any], every: list[Training], results: dict[str, list[Result | None]]
) -> list[dict[str, object]]:
    """One row per way and level."""
    rows = []
    for way, found in results.items():
        known = [(one, own) for one, own in zip(every, found, strict=True) if own is not None]
        if not known:
            continue
        counts = np.array([np.bincount(one.truth, minlength=len(own.hits)) for one, own in known])
        hits = np.array([own.hits for _, own in known])
        shares = hits.sum(axis=1) / counts.sum(axis=1)[:, None]
        in_class = counts.sum(axis=0)
        common = in_class >= min(FEWEST_OF_A_CLASS, in_class.max())
        by_class = hits.sum(axis=0)[common] / in_class[common, None]
        total = counts.sum()
        for place, level in enumerate(LEVELS):
            rows.append({
                **names, "way": way, "level": level, "trainings": len(known),
                "coverage": round(shares[:, place].mean(), 4),
                "coverage_error": round(shares[:, place].std(ddof=1) / np.sqrt(len(known)), 4),
                "worst_class": round(by_class[:, place].min(), 4),
                "size": round(sum(own.sizes[place] for _, own in known) / total, 4),
                "empty": round(sum(own.empty[place] for _, own in known) / total, 4),
                "predicted_outside": known_or_empty(
                    sum(own.outside[place] for _, own in known) / total
                ),
                "seconds": known_or_empty(np.mean([own.seconds for _, own in known])),
            })  # fmt: skip
    return rows


def measure(name: str, model: str, count: int) -> list[dict[str, object]]:
    every = list(trainings(name, model, count))
    own = [ours(one) for one in every]
    results: dict[str, Any] = {way: [one[way] for one in own] for way in SCORES}
    results |= theirs(name, every)
    names = {
        "data_set": name, "classes": int(every[0].y.max()) + 1, "rows": every[0].y.size,
        "model": model,
    }  # fmt: skip
    return rows_of(names, every, results)


def dependent(count: int) -> list[dict[str, object]]:
    """Rows that are not independent, left out one by one and in their groups."""
    doubled, people = [], []
    for one in trainings("drawn, noisy", "default", count):
        X, y = np.repeat(one.X, 2, axis=0), np.repeat(one.y, 2)
        options = {"C": 100.0, "gamma": 1.0}
        doubled.append((Training(X, y, one.new, one.truth, options), np.arange(y.size) // 2))
    data = all_rows("parkinson_speech")
    assert data.groups is not None
    persons, labels = np.unique(data.groups), (data.y > 0).astype(int)
    for number in range(count):
        order = np.random.default_rng((12, number)).permutation(persons)
        train = np.isin(data.groups, order[: 3 * order.size // 4])
        scaler = StandardScaler().fit(data.X[train])
        X, new = scaler.transform(data.X[train]), scaler.transform(data.X[~train])
        options = {"C": 10.0, "gamma": 1.0 / X.shape[1]}
        one = Training(X, labels[train], new, labels[~train], options)
        people.append((one, data.groups[train]))
    rows = []
    for name, problems in (("each row twice", doubled), ("recordings of people", people)):
        every = [one for one, _ in problems]
        for model, grouped in (("rows", False), ("groups", True)):
            own = [ours(one, groups if grouped else None) for one, groups in problems]
            names = {"data_set": name, "classes": 2, "rows": every[0].y.size, "model": model}
            rows += rows_of(
                names, every, {way: [one[way] for one in own] for way in list(SCORES)[:2]}
            )
    return rows


def summary(own: list[dict[str, Any]]) -> dict[str, float]:
    """Of one way at one level, over the data sets."""
    level = own[0]["level"]
    below = [row["coverage"] < level - 2 * row["coverage_error"] for row in own]
    return {
        "coverage": float(np.mean([row["coverage"] for row in own])),
        "least": min(row["coverage"] for row in own),
        "below": sum(below),
        "worst_class": float(np.mean([row["worst_class"] for row in own])),
        "size": geometric_mean([row["size"] for row in own]),
        "empty": float(np.mean([row["empty"] for row in own])),
    }


def time_ratios(part: list[dict[str, Any]], way: str) -> list[float]:
    """Seconds of another way over ours, by data set."""
    times = {(row["data_set"], row["way"]): row["seconds"] for row in part}
    return [own / times[name, "set"] for (name, other), own in times.items() if other == way]


def report(rows: list[dict[str, Any]]) -> None:
    for model in ("default", "searched", "balanced"):
        part = [row for row in rows if row["model"] == model]
        print(f"\n{model}: on {len({row['data_set'] for row in part})} data sets")
        for way in (*SCORES, "mapie_split", "mapie_cross"):
            for level in LEVELS:
                own = [row for row in part if row["way"] == way and row["level"] == level]
                if own:
                    print(f"  {way:14} {level:4}:" + "".join(
                        f" {name} {value:.3f}" for name, value in summary(own).items()
                    ))  # fmt: skip
            ratios = time_ratios(part, way) if way.startswith("mapie") else []
            if ratios:
                print(
                    f"  {way}, time over ours: geometric mean {geometric_mean(ratios):.1f}, from "
                    f"{min(ratios):.1f} to {max(ratios):.1f}"
                )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sets", description=__doc__)
    parser.add_argument("names", nargs="*", help="data sets; all by default")
    parser.add_argument("--trainings", type=int, default=TRAININGS, help="per data set and model")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine())  # the commit that is measured
    rows: list[dict[str, object]] = []
    with threadpool_limits(1):
        for name in given.names or POOLS:
            for model in ("default", "searched", *(("balanced",) if name in UNEQUAL else ())):
                rows += measure(name, model, given.trainings)
            print(name, file=sys.stderr, flush=True)
        rows += dependent(given.trainings)
    report(rows)
    print(f"\nwritten to {write('sets', rows)}")


if __name__ == "__main__":
    main()
