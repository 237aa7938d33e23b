"""From the published files of each data set to its rows, labels, scores and groups.

Sets whose split is fixed are returned as a list of pairs of training and test rows; sets that are
split at random, as all their rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from .._typing import Array
from .feature_names import BANK_BOOLEANS, BANK_NUMBERS
from .readers import read_columns, read_ida, read_idx, read_libsvm, read_table

__all__ = ["POOLS", "SPLITS", "Rows"]


@dataclass(frozen=True)
class Rows:
    """Rows of a data set with what belongs to each."""

    X: np.ndarray
    y: Array
    scores: Array | None = None
    groups: np.ndarray | None = None

    def take(self, chosen: np.ndarray) -> Rows:
        """The chosen rows, by number or mask, as copies."""
        return Rows(
            self.X[chosen],
            self.y[chosen],
            None if self.scores is None else self.scores[chosen],
            None if self.groups is None else self.groups[chosen],
        )


#: The contents of the files of a set, in the order of its description.
Contents = tuple[bytes, ...]
Parts = list[tuple[Rows, Rows]]


def _breast_cancer(contents: Contents) -> Rows:
    table = read_table(contents[0], 11, missing=b"?")
    table = table[~np.isnan(table).any(axis=1)]
    return Rows(table[:, :-1], _signs(table[:, -1] == 4))


def _mushrooms(contents: Contents) -> Rows:
    X, label = read_libsvm(contents[0], 112)
    return Rows(X, _signs(label == 2))


def _skin_nonskin(contents: Contents) -> Rows:
    table = read_table(contents[0], 4)
    return Rows(table[:, :-1], _signs(table[:, -1] == 1))


def _libsvm_parts(contents: Contents, *, n_features: int) -> Parts:
    train, test = (Rows(*read_libsvm(content, n_features)) for content in contents)
    return [(train, test)]


def _ida_parts(contents: Contents, *, name: str) -> Parts:
    splits = read_ida(contents[0], name, 10)
    return [(Rows(X, y), Rows(X_test, y_test)) for X, y, X_test, y_test in splits]


def _mnist_pair(contents: Contents, *, positive: int, negative: int) -> Parts:
    train, test = (
        _two_digits(read_idx(images), read_idx(digits), positive, negative)
        for images, digits in (contents[:2], contents[2:])
    )
    return [(train, test)]


def _two_digits(images: np.ndarray, digits: np.ndarray, positive: int, negative: int) -> Rows:
    pixels = images.reshape(len(images), -1)
    if pixels[:, 780:].any():
        raise ValueError("The last four pixels of MNIST's images must be zero.")
    chosen = np.isin(digits, (positive, negative))
    return Rows(pixels[chosen, :780], _signs(digits[chosen] == positive))


def _parkinson_speech(contents: Contents) -> Parts:
    table = read_table(contents[0], 29)
    subject, updrs = table[:, 0].astype(int), table[:, -2]
    ill = table[:, -1] == 1
    lowest, highest = updrs[ill].min(), updrs[ill].max()
    scores = np.where(ill, (updrs - lowest) / (highest - lowest), 1.0)
    rows = Rows(table[:, 1:-2], _signs(ill), scores, subject)
    training = np.isin(subject, (*range(1, 11), *range(21, 31)))
    return [(rows.take(training), rows.take(~training))]


def _bank_marketing(contents: Contents) -> Rows:
    columns = read_columns(contents[0])
    numbers = [columns[name].astype(np.float64) for name in BANK_NUMBERS]
    booleans = [columns[name] == value for name, value in BANK_BOOLEANS.items()]
    duration = columns["duration"].astype(np.float64)
    scores = (duration - duration.min()) / np.ptp(duration)
    return Rows(np.column_stack([*numbers, *booleans]), _signs(columns["y"] == "yes"), scores)


def _signs(positive: np.ndarray) -> Array:
    return np.where(positive, 1.0, -1.0)


#: Sets that are split at random.
POOLS: dict[str, Callable[[Contents], Rows]] = {
    "breast_cancer": _breast_cancer,
    "mushrooms": _mushrooms,
    "skin_nonskin": _skin_nonskin,
    "bank_marketing": _bank_marketing,
}

#: Sets that come split.
SPLITS: dict[str, Callable[[Contents], Parts]] = {
    "waveform": partial(_ida_parts, name="waveform"),
    "banana": partial(_ida_parts, name="banana"),
    "image": partial(_ida_parts, name="image"),
    "splice": partial(_libsvm_parts, n_features=60),
    "adult": partial(_libsvm_parts, n_features=123),
    "mnist_2_9": partial(_mnist_pair, positive=2, negative=9),
    "mnist_1_7": partial(_mnist_pair, positive=1, negative=7),
    "mnist_3_6": partial(_mnist_pair, positive=3, negative=6),
    "mnist_0_8": partial(_mnist_pair, positive=0, negative=8),
    "parkinson_speech": _parkinson_speech,
}
