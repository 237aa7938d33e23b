"""From the bytes of the published files to rows, labels, scores and groups.

First the formats, independent of any data set; then the data sets, each read from its files; then
the names of their features.  Data sets that come split are a list of pairs of training and test
rows; those split at random are one pool of rows.  Whatever cannot be read raises a
:class:`ValueError` that says what was expected.
"""

from __future__ import annotations

import csv
import io
import lzma
import math
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from sklearn.datasets import load_svmlight_file

from spansvm.common.types import Array

__all__ = [
    "POOLS",
    "SPLITS",
    "Contents",
    "Parts",
    "Rows",
    "feature_names",
    "read_columns",
    "read_ida",
    "read_idx",
    "read_libsvm",
    "read_table",
]

#: Training rows and their labels, test rows and their labels.
Split = tuple[Array, Array, Array, Array]


def read_libsvm(content: bytes, n_features: int) -> tuple[Array, Array]:
    """Rows and labels of a LIBSVM (svmlight) file, dense, with zeros up to `n_features`."""
    X, y = load_svmlight_file(io.BytesIO(content), n_features=n_features)
    return X.toarray(), y


def read_table(content: bytes, n_columns: int, *, missing: bytes | None = None) -> Array:
    """Lines of numbers separated by commas or blanks.

    Parameters
    ----------
    content : bytes
    n_columns : int
        How many numbers each line has.
    missing : bytes, optional
        Marker of an unknown number, which becomes NaN.

    Returns
    -------
    ndarray of shape (lines, n_columns)
    """
    # Splitting everything at once is far faster than reading line by line.
    words = content.replace(b",", b" ").split()
    if missing is not None:
        words = [b"nan" if word == missing else word for word in words]
    n_lines = sum(1 for line in content.splitlines() if line.strip())
    if len(words) != n_lines * n_columns:
        raise ValueError(
            f"{n_lines} lines of {n_columns} numbers were expected; got {len(words)} numbers."
        )
    return np.array(words, dtype=np.float64).reshape(n_lines, n_columns)


def read_columns(content: bytes, delimiter: str = ";") -> dict[str, np.ndarray]:
    """Columns of a CSV file as text, by the names in its first line."""
    lines = csv.reader(io.StringIO(content.decode()), delimiter=delimiter)
    header = next(lines, [])
    rows = list(lines)
    if not rows or any(len(row) != len(header) for row in rows):
        raise ValueError(f"Every line must have {len(header)} fields, like the first one.")
    return {
        name: np.array(column) for name, column in zip(header, zip(*rows, strict=True), strict=True)
    }


def read_idx(content: bytes) -> np.ndarray:
    """An array of unsigned bytes in MNIST's idx format."""
    if content[:3] != b"\x00\x00\x08" or len(content) < 4:
        raise ValueError("An idx file of unsigned bytes must begin with the bytes 0, 0, 8.")
    head = 4 + 4 * content[3]
    shape = tuple(int.from_bytes(content[i : i + 4], "big") for i in range(4, head, 4))
    if len(content) != head + math.prod(shape):
        raise ValueError(
            f"The file announces the shape {shape}, but has {len(content) - head} values."
        )
    values = np.frombuffer(content, dtype=np.uint8, offset=head)
    return values.reshape(shape)


def read_ida(content: bytes, name: str, n_splits: int) -> list[Split]:
    """The first `n_splits` splits of an IDA benchmark data set.

    It reads two forms: a tar archive (compressed or not) with the original files
    ``NAME/NAME_{train,test}_{data,labels}_I.asc``, and ``benchmarks.mat``, which holds the same
    data sets today: one structure per data set, with the rows ``x``, the labels ``t`` and the row
    numbers ``train`` and ``test``, from 1, one line per split.
    """
    return (_ida_matlab if content.startswith(b"MATLAB") else _ida_archive)(content, name, n_splits)


def _ida_archive(content: bytes, name: str, n_splits: int) -> list[Split]:
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            # In one pass: jumping back in a compressed archive would unpack it every time.
            texts = {
                entry.name: member.read()
                for entry in archive
                if (member := archive.extractfile(entry))
            }
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        raise ValueError(f"It is not a complete tar archive: {error}.") from error
    return [_ida_split(texts, name, number) for number in range(1, n_splits + 1)]


def _ida_split(texts: dict[str, bytes], name: str, number: int) -> Split:
    parts: list[Array] = []
    for part, kind in product(("train", "test"), ("data", "labels")):
        member = f"{name}/{name}_{part}_{kind}_{number}.asc"
        if member not in texts:
            raise ValueError(f"The archive must contain {member}.")
        first_line = texts[member].lstrip().partition(b"\n")[0]
        table = read_table(texts[member], len(first_line.split()))
        parts.append(table if kind == "data" else table[:, 0])
    return parts[0], parts[1], parts[2], parts[3]


def _ida_matlab(content: bytes, name: str, n_splits: int) -> list[Split]:
    # Only three small data sets need this part of scipy.
    from scipy.io import loadmat

    try:
        variables = loadmat(io.BytesIO(content), variable_names=[name], simplify_cells=True)
    except Exception as error:  # scipy raises many kinds for a damaged file
        raise ValueError(f"It is not a complete MATLAB file: {error}.") from error
    if name not in variables:
        raise ValueError(f"The file must contain the structure {name!r}.")
    kept = variables[name]
    X, y = np.asarray(kept["x"], dtype=np.float64), np.ravel(kept["t"]).astype(np.float64)
    train, test = (np.atleast_2d(kept[part]).astype(np.intp) - 1 for part in ("train", "test"))
    if min(len(train), len(test)) < n_splits:
        raise ValueError(f"{n_splits} splits were expected; got {min(len(train), len(test))}.")
    return [(X[a], y[a], X[b], y[b]) for a, b in zip(train[:n_splits], test, strict=False)]


@dataclass(frozen=True)
class Rows:
    """Rows of a data set with their labels, scores and groups."""

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

    def joined(self, other: Rows) -> Rows:
        """These rows followed by the others."""
        pairs = ((self.scores, other.scores), (self.groups, other.groups))
        return Rows(
            np.concatenate((self.X, other.X)),
            np.concatenate((self.y, other.y)),
            *(None if a is None or b is None else np.concatenate((a, b)) for a, b in pairs),
        )


#: The contents of a data set's files, in the order of its description.
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


#: Numeric columns of bank marketing, and for the others the answer that counts as 1.
_BANK_NUMBERS = (
    "age",
    "previous",
    "emp.var.rate",
    "cons.price.idx",
    "cons.conf.idx",
    "euribor3m",
    "nr.employed",
)
_BANK_BOOLEANS = {"default": "yes", "housing": "yes", "loan": "yes", "marital": "married"}


def _bank_marketing(contents: Contents) -> Rows:
    columns = read_columns(contents[0])
    numbers = [columns[name].astype(np.float64) for name in _BANK_NUMBERS]
    booleans = [columns[name] == value for name, value in _BANK_BOOLEANS.items()]
    duration = columns["duration"].astype(np.float64)
    scores = (duration - duration.min()) / np.ptp(duration)
    return Rows(np.column_stack([*numbers, *booleans]), _signs(columns["y"] == "yes"), scores)


def _signs(positive: np.ndarray) -> Array:
    return np.where(positive, 1.0, -1.0)


#: Data sets that are split at random.
POOLS: dict[str, Callable[[Contents], Rows]] = {
    "breast_cancer": _breast_cancer,
    "mushrooms": _mushrooms,
    "skin_nonskin": _skin_nonskin,
    "bank_marketing": _bank_marketing,
}

#: Data sets that come split.
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


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split("; "))


_BREAST_CANCER = _names(
    "sample code number; clump thickness; uniformity of cell size; uniformity of cell shape; "
    "marginal adhesion; single epithelial cell size; bare nuclei; bland chromatin; normal "
    "nucleoli; mitoses"
)

#: The values that have a column, by attribute, as letters of the UCI file.
_MUSHROOMS = {
    "cap-shape": "cbfksx",
    "cap-surface": "ysgf",
    "cap-color": "cbegnpruwy",
    "bruises": "tf",
    "odor": "acfmlnpsy",
    "gill-attachment": "af",
    "gill-spacing": "cw",
    "gill-size": "bn",
    "gill-color": "beghkonpruwy",
    "stalk-shape": "et",
    "stalk-surface-above-ring": "yskf",
    "stalk-surface-below-ring": "yskf",
    "stalk-color-above-ring": "cbegonpwy",
    "stalk-color-below-ring": "cbegonpwy",
    "veil-type": "p",
    "veil-color": "yown",
    "ring-number": "ton",
    "ring-type": "pnelf",
    "spore-print-color": "bhkonruwy",
    "population": "acnsvy",
    "habitat": "dgmlpuw",
}

_IMAGE = _names(
    "region-centroid-col; region-centroid-row; short-line-density-5; short-line-density-2; "
    "vedge-mean; vedge-sd; hedge-mean; hedge-sd; intensity-mean; rawred-mean; rawblue-mean; "
    "rawgreen-mean; exred-mean; exblue-mean; exgreen-mean; value-mean; saturation-mean; hue-mean"
)

_PARKINSON_SPEECH = _names(
    "jitter (local); jitter (local, absolute); jitter (rap); jitter (ppq5); jitter (ddp); shimmer "
    "(local); shimmer (local, dB); shimmer (apq3); shimmer (apq5); shimmer (apq11); shimmer "
    "(dda); autocorrelation; noise-to-harmonic ratio; harmonic-to-noise ratio; median pitch; mean "
    "pitch; standard deviation of pitch; minimum pitch; maximum pitch; number of pulses; number "
    "of periods; mean period; standard deviation of period; fraction of locally unvoiced frames; "
    "number of voice breaks; degree of voice breaks"
)

_FEATURES = {
    "breast_cancer": _BREAST_CANCER,
    "mushrooms": tuple(
        f"{attribute}={value}" for attribute, values in _MUSHROOMS.items() for value in values
    ),
    "waveform": tuple(f"point {i}" for i in range(1, 22)),
    "banana": ("x1", "x2"),
    "skin_nonskin": ("blue", "green", "red"),
    "splice": tuple(f"position {i:+d}" for i in (*range(-30, 0), *range(1, 31))),
    "image": _IMAGE,
    "adult": tuple(f"feature {i}" for i in range(1, 124)),
    "parkinson_speech": _PARKINSON_SPEECH,
    "bank_marketing": (
        *_BANK_NUMBERS,
        *(f"{name}={answer}" for name, answer in _BANK_BOOLEANS.items()),
    ),
}


def feature_names(name: str) -> tuple[str, ...]:
    """Feature names of a data set; numbered from 1 where the publisher gives none."""
    if name.startswith("mnist"):
        return tuple(f"row {i // 28 + 1}, column {i % 28 + 1}" for i in range(780))
    return _FEATURES[name]
