"""Real data in repeated random splits, to measure selection and calibration on.

Two-class sets come from the folder that SPANSVM_DATA names; sets with more classes come with
scikit-learn.  Training sizes are those of the paper where it has the set, except those of
bank marketing and of the two digits.  Features that are not in [0, 1] are scaled to it by the
training part of each split.
"""

from __future__ import annotations

import csv
import gzip
import os
import tarfile
from collections.abc import Iterator
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import MinMaxScaler

Pool = tuple[np.ndarray, np.ndarray]
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

#: Test parts of sets that are split here are cut to this many rows, for speed.
MOST_TEST_ROWS = 5000


def splits(name: str, count: int = 10, seed: int = 0) -> Iterator[Split]:
    """Training rows, their labels, test rows and theirs: `count` times.

    The sets of the IDA benchmark have ten fixed splits, which `seed` does not change.  Labels
    are -1 and 1 where there are two classes, else integers from 0.
    """
    for split in range(count):
        if name in _FIXED:
            X, y, X_test, y_test = _fixed_split(name, split)
        else:
            X, y = _pool(name)
            size = _POOLS[name][1]
            order = np.random.default_rng((seed, split)).permutation(y.size)
            train, test = order[:size], order[size : size + MOST_TEST_ROWS]
            X, y, X_test, y_test = X[train], y[train], X[test], y[test]
        if X.min() < 0.0 or X.max() > 1.0:
            scaler = MinMaxScaler().fit(X)
            X, X_test = scaler.transform(X), scaler.transform(X_test)
        yield X, y, X_test, y_test


def _folder() -> Path:
    folder = os.environ.get("SPANSVM_DATA")
    if not folder:
        raise RuntimeError("SPANSVM_DATA must name the folder with the paper's data sets.")
    return Path(folder)


@cache
def _fixed_split(name: str, split: int) -> Split:
    """One split of the IDA benchmark, numbered from 0."""
    archive = _folder() / name / f"{name}_ida_splits_1-10.tar.xz"
    with tarfile.open(archive) as files:
        return tuple(
            np.loadtxt(files.extractfile(f"{name}/{name}_{part}_{kind}_{split + 1}.asc"))
            for part, kind in product(("train", "test"), ("data", "labels"))
        )


@cache
def _pool(name: str) -> Pool:
    """All rows of a set, with labels as `splits` gives them."""
    X, labels = _POOLS[name][0]()
    classes, y = np.unique(labels, return_inverse=True)
    return X, 2 * y - 1 if classes.size == 2 else y


def _breast_cancer() -> Pool:
    """The complete rows, without their ids."""
    file = _folder() / "breast_cancer/breast-cancer-wisconsin.data"
    rows = np.genfromtxt(file, delimiter=",", missing_values="?")
    rows = rows[~np.isnan(rows).any(axis=1)]
    return rows[:, 1:-1], rows[:, -1]


def _libsvm(*files: str) -> Pool:
    parts = datasets.load_svmlight_files([str(_folder() / file) for file in files])
    X = np.concatenate([rows.toarray() for rows in parts[::2]])
    return X, np.concatenate(parts[1::2])


def _skin_nonskin() -> Pool:
    rows = np.loadtxt(_folder() / "skin_nonskin/Skin_NonSkin.txt.gz")
    return rows[:, :-1], rows[:, -1]


def mnist_pair(first: int, second: int) -> Pool:
    """All training images of two digits; the first is -1, the second 1.

    Pixels in [0, 1]: scaled one by one, those that are hardly used would go far beyond.
    """
    images, digits = (
        np.frombuffer(gzip.decompress((_folder() / "mnist" / file).read_bytes())[head:], np.uint8)
        for file, head in (("train-images-idx3-ubyte.gz", 16), ("train-labels-idx1-ubyte.gz", 8))
    )
    chosen = np.isin(digits, (first, second))
    return images.reshape(-1, 784)[chosen] / 255.0, np.where(digits[chosen] == second, 1, -1)


def _parkinson_speech() -> Pool:
    """Recordings as if they were independent; the paper splits by speaker."""
    rows = np.loadtxt(_folder() / "parkinson_speech/train_data.txt", delimiter=",")
    return rows[:, 1:-2], rows[:, -1]


def _bank_marketing() -> Pool:
    """Numbers as they are, all other columns one-hot."""
    with gzip.open(_folder() / "bank_marketing/bank-additional-full.csv.gz", "rt") as file:
        columns = np.array(list(csv.reader(file, delimiter=";"))[1:]).T
    features = []
    for column in columns[:-1]:
        try:
            features.append(column.astype(float)[:, None])
        except ValueError:
            features.append((column[:, None] == np.unique(column)).astype(float))
    return np.hstack(features), columns[-1]


_FIXED = ("banana", "image", "waveform")

_MULTICLASS = {
    "iris": (partial(datasets.load_iris, return_X_y=True), 75),
    "wine": (partial(datasets.load_wine, return_X_y=True), 90),
    "digits": (partial(datasets.load_digits, return_X_y=True), 600),
}

#: How each pool of rows is read, and how many of them are for training.
_POOLS = {
    "breast_cancer": (_breast_cancer, 100),
    "mushrooms": (partial(_libsvm, "mushrooms/mushrooms"), 200),
    "parkinson_speech": (_parkinson_speech, 520),
    "skin_nonskin": (_skin_nonskin, 500),
    "splice": (partial(_libsvm, "splice/splice.gz", "splice/splice.t.gz"), 1000),
    "mnist_3_8": (partial(mnist_pair, 3, 8), 1000),
    "bank_marketing": (_bank_marketing, 1000),
    "adult": (partial(_libsvm, "adult_a1a/a1a", "adult_a1a/a1a.t.gz"), 1605),
    **_MULTICLASS,
}

#: Sets with two classes, and with more.
NAMES = (*_FIXED, *(name for name in _POOLS if name not in _MULTICLASS))
MULTICLASS = tuple(_MULTICLASS)
