"""Finds, fetches, checks and splits the data sets: the package's public interface."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path

import numpy as np

from spansvm.common.types import Array

from .catalogue import DESCRIPTIONS, Description
from .files import DataSetError, PublishedFile, download, find, read_content
from .reading import POOLS, SPLITS, Contents, Parts, Rows, feature_names

__all__ = ["DataSet", "all_rows", "describe", "fetch", "load", "locate", "names", "read_files"]


@dataclass(frozen=True, eq=False, repr=False)
class DataSet:
    """A data set, split into training and test rows.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (rows, features)
        Features as published, not scaled.
    y_train, y_test : ndarray
        Labels, -1.0 and +1.0.
    scores_train, scores_test : ndarray or None
        The importance of each row, in [0, 1], if the data set has it.
    groups_train, groups_test : ndarray of int or None
        The person behind each row, if several rows come from one person.
    feature_names : tuple of str
    description : Description
    split : int
    """

    X_train: Array
    y_train: Array
    X_test: Array
    y_test: Array
    scores_train: Array | None
    scores_test: Array | None
    groups_train: np.ndarray | None
    groups_test: np.ndarray | None
    feature_names: tuple[str, ...]
    description: Description
    split: int

    def __repr__(self) -> str:
        return (
            f"<DataSet {self.description.name}, split {self.split}: {self.y_train.size} training "
            f"and {self.y_test.size} test rows, {self.X_train.shape[1]} features>"
        )

    def scaled(self) -> DataSet:
        """A copy with every feature scaled linearly, so that the training rows span [0, 1].

        Test rows may exceed that.  A feature that is constant over the training rows becomes 0 in
        all rows.  If the description gives a range for all features, as for pixels, that range
        becomes [0, 1] instead.
        """
        if self.description.feature_range is None:
            lowest, highest = self.X_train.min(axis=0), self.X_train.max(axis=0)
        else:
            lowest, highest = map(np.array, self.description.feature_range)
        width = highest - lowest
        # Divided by infinity, a constant feature becomes 0.
        divisor = np.where(width > 0, width, np.inf)
        return replace(
            self,
            X_train=(self.X_train - lowest) / divisor,
            X_test=(self.X_test - lowest) / divisor,
        )


def names() -> tuple[str, ...]:
    """Names of the data sets, in the order of the paper."""
    return tuple(DESCRIPTIONS)


def describe(name: str) -> Description:
    """The description of a data set; ValueError for an unknown name."""
    if name not in DESCRIPTIONS:
        near = get_close_matches(name, DESCRIPTIONS, n=1)
        advice = f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(DESCRIPTIONS)}."
        raise ValueError(f"There is no data set {name!r}; {advice}")
    return DESCRIPTIONS[name]


def locate(name: str) -> dict[str, Path | None]:
    """Where each file of a data set is on this computer; None for missing ones."""
    found = {file.path: find(file) for file in describe(name).files}
    return {path: None if place is None else place[1] for path, place in found.items()}


def fetch(name: str, force: bool = False) -> dict[str, Path]:
    """Download the missing files of a data set from their publisher into the cache.

    Only complete files with the known checksum enter the cache.  An altered file in the cache is
    downloaded again.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    force : bool, default=False
        Download files even if present.  Files in the folder named by ``SPANSVM_DATA`` still take
        precedence when the data set is loaded.

    Returns
    -------
    dict of str to Path
        Where each file is.

    Raises
    ------
    DataSetError
        If a file cannot be downloaded or differs from the published one.
    ImportError
        If pooch, from the extra ``data``, is not installed.
    """
    description = describe(name)
    return {file.path: download(file, description.homepage, force) for file in description.files}


def load(name: str, split: int = 0, seed: int = 0, *, balanced: bool = False) -> DataSet:
    """Load one of the paper's data sets, split into training and test rows.

    Files are looked up in the folder named by the environment variable ``SPANSVM_DATA``, then in
    the cache, where :func:`fetch` puts its downloads.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    split : int, default=0
        Which split.  Data sets with a fixed split have only split 0, those of the IDA benchmark 0
        to 9; the others are split at random, differently for every number.
    seed : int, default=0
        Seed of the random splits; the others ignore it.
    balanced : bool, default=False
        Draw equally many training rows of each class; only for data sets that are split at
        random.  All other rows are test rows.

    Returns
    -------
    DataSet
    """
    description = describe(name)
    _check_split(description, split, balanced)
    parsed = _read(description)
    if isinstance(parsed, Rows):
        train, test = _split_at_random(parsed, description.n_train, (seed, split), balanced)
    else:
        train, test = parsed[split]
    return DataSet(
        X_train=_own(train.X),
        y_train=_own(train.y),
        X_test=_own(test.X),
        y_test=_own(test.y),
        scores_train=None if train.scores is None else _own(train.scores),
        scores_test=None if test.scores is None else _own(test.scores),
        groups_train=None if train.groups is None else train.groups.copy(),
        groups_test=None if test.groups is None else test.groups.copy(),
        feature_names=feature_names(name),
        description=description,
        split=split,
    )


def all_rows(name: str) -> Rows:
    """All rows of a data set; if it comes split, the training rows of the first split first."""
    parsed = _read(describe(name))
    return parsed if isinstance(parsed, Rows) else Rows.joined(*parsed[0])


def read_files(name: str) -> Contents:
    """The contents of a data set's files, found and checked as in :func:`load`."""
    description = describe(name)
    return tuple(read_content(*_place(description, file)) for file in description.files)


def _parse(description: Description, contents: Contents) -> Rows | Parts:
    """Rows from the contents of the files, checked against the description.

    Raises
    ------
    DataSetError
        If they cannot be read, or their numbers of rows, features or labels are wrong.
    """
    name = description.name
    try:
        parsed = POOLS[name](contents) if name in POOLS else SPLITS[name](contents)
    except (ValueError, KeyError) as error:
        raise DataSetError(f"The files of {name} are not as published: {error}") from error
    published = (description.n_train, description.n_test)
    for parts in [(parsed,)] if isinstance(parsed, Rows) else parsed:
        sizes = tuple(part.y.size for part in parts)
        expected = (sum(published),) if len(parts) == 1 else published
        _check_fact(name, "rows", sizes, expected)
        _check_fact(name, "features", {part.X.shape[1] for part in parts}, {description.n_features})
        n_positive = sum(int((part.y == 1).sum()) for part in parts)
        _check_fact(name, "rows of class +1", n_positive, description.n_positive)
        n_negative = sum(int((part.y == -1).sum()) for part in parts)
        _check_fact(name, "rows of class -1", n_negative, sum(published) - description.n_positive)
    return parsed


def _check_fact(name: str, what: str, found: object, expected: object) -> None:
    if found != expected:
        raise DataSetError(
            f"The files of {name} are not as published: {what}: {found} instead of {expected}."
        )


def _read(description: Description) -> Rows | Parts:
    places = tuple(_place(description, file) for file in description.files)
    # A file replaced while the process runs is read again.
    versions = tuple((path.stat().st_mtime_ns, path.stat().st_size) for _, path in places)
    return _parsed(description.name, places, versions)


@cache
def _parsed(
    name: str, places: tuple[tuple[PublishedFile, Path], ...], versions: tuple[tuple[int, int], ...]
) -> Rows | Parts:
    return _parse(describe(name), tuple(read_content(file, path) for file, path in places))


def _place(description: Description, file: PublishedFile) -> tuple[PublishedFile, Path]:
    found = find(file)
    if found is None:
        name = description.name
        advice = file.by_hand or (
            f"`python -m reproduction.datasets --fetch {name}` downloads it from its publisher; or "
            f"set SPANSVM_DATA to a folder that holds {file.path}."
        )
        raise DataSetError(f"{name} is not on this computer: {file.path} is missing. {advice}")
    return found


def _check_split(description: Description, split: int, balanced: bool) -> None:
    last = description.n_splits
    if split < 0 or (last is not None and split >= last):
        allowed = "at least 0" if last is None else "0" if last == 1 else f"0 to {last - 1}"
        raise ValueError(f"split must be {allowed} for {description.name}; got {split}.")
    if balanced and description.split_kind != "random":
        raise ValueError(
            f"balanced=True is only for data sets that are split at random; {description.name} has "
            f"{description.split_kind} splits."
        )


def _split_at_random(
    pool: Rows, n_train: int, seeds: tuple[int, int], balanced: bool
) -> tuple[Rows, Rows]:
    order = np.random.default_rng(seeds).permutation(pool.y.size)
    chosen = np.zeros(order.size, dtype=bool)
    if balanced:
        for label in (-1.0, 1.0):
            chosen[np.flatnonzero(pool.y[order] == label)[: n_train // 2]] = True
    else:
        chosen[:n_train] = True
    return pool.take(order[chosen]), pool.take(order[~chosen])


def _own(array: np.ndarray) -> Array:
    """A copy as floats, which the caller may modify."""
    return np.array(array, dtype=np.float64)
