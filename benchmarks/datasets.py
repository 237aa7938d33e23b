"""Real data in repeated random splits, for measuring selection and calibration.

Two-class sets are read by reproduction.datasets; sets with more classes come with scikit-learn.
Training sizes are those of the paper if it uses the set, except for bank marketing and the pair
of digits.  Features outside [0, 1] are scaled to it, fitted on the training part of each split.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import MinMaxScaler

from reproduction.datasets import load
from reproduction.datasets.loading import all_rows, read_files
from reproduction.datasets.reading import read_columns, read_idx

Pool = tuple[np.ndarray, np.ndarray]
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

#: Test parts of sets that are split here are limited to this many rows, for speed.
MOST_TEST_ROWS = 5000


def splits(name: str, count: int = 10, seed: int = 0) -> Iterator[Split]:
    """Training rows and labels, test rows and labels: `count` times.

    The sets of the IDA benchmark have ten fixed splits, which `seed` does not change.  Labels
    are -1 and 1 for two classes, otherwise integers from 0.
    """
    for split in range(count):
        if name in _FIXED:
            data = load(name, split)
            X, y, X_test, y_test = data.X_train, data.y_train, data.X_test, data.y_test
        else:
            X, y = pool(name)
            size = _POOLS[name][1]
            order = np.random.default_rng((seed, split)).permutation(y.size)
            train, test = order[:size], order[size : size + MOST_TEST_ROWS]
            X, y, X_test, y_test = X[train], y[train], X[test], y[test]
        if X.min() < 0.0 or X.max() > 1.0:
            scaler = MinMaxScaler().fit(X)
            X, X_test = scaler.transform(X), scaler.transform(X_test)
        yield X, y, X_test, y_test


@cache
def pool(name: str) -> Pool:
    """All rows of a set, with labels as in `splits`."""
    X, labels = _POOLS[name][0]()
    classes, y = np.unique(labels, return_inverse=True)
    return X, 2 * y - 1 if classes.size == 2 else y


def _as_published(name: str) -> Pool:
    rows = all_rows(name)
    return rows.X, rows.y


def _breast_cancer() -> Pool:
    """Without the sample numbers."""
    X, y = _as_published("breast_cancer")
    return X[:, 1:], y


def _skin_nonskin() -> Pool:
    """With nonskin pixels as the positive class."""
    X, y = _as_published("skin_nonskin")
    return X, -y


def mnist_pair(first: int, second: int) -> Pool:
    """All training images of two digits; the first is -1, the second 1.

    Pixels are in [0, 1]: scaled one by one, rarely used ones would go far beyond that.
    """
    # All pairs of digits are read from the same files, the training files first.
    images, digits = (read_idx(content) for content in read_files("mnist_1_7")[:2])
    chosen = np.isin(digits, (first, second))
    return images.reshape(-1, 784)[chosen] / 255.0, np.where(digits[chosen] == second, 1, -1)


def _parkinson_speech() -> Pool:
    """Recordings treated as independent; the paper splits by speaker."""
    rows = all_rows("parkinson_speech")
    order = np.argsort(rows.groups, kind="stable")
    return rows.X[order], rows.y[order]


def _bank_marketing() -> Pool:
    """Numbers as they are, all other columns one-hot."""
    columns = list(read_columns(read_files("bank_marketing")[0]).values())
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

#: How each pool of rows is read, and how many rows are used for training.
_POOLS = {
    "breast_cancer": (_breast_cancer, 100),
    "mushrooms": (partial(_as_published, "mushrooms"), 200),
    "parkinson_speech": (_parkinson_speech, 520),
    "skin_nonskin": (_skin_nonskin, 500),
    "splice": (partial(_as_published, "splice"), 1000),
    "mnist_3_8": (partial(mnist_pair, 3, 8), 1000),
    "bank_marketing": (_bank_marketing, 1000),
    "adult": (partial(_as_published, "adult"), 1605),
    **_MULTICLASS,
}

#: Sets with two classes, and sets with more.
NAMES = (*_FIXED, *(name for name in _POOLS if name not in _MULTICLASS))
MULTICLASS = tuple(_MULTICLASS)
