"""The formats in which the data sets are published: from the bytes of a file to arrays.

Each function reads one format and knows no data set.  What cannot be read is a
:class:`ValueError` that says what was expected.
"""

from __future__ import annotations

import csv
import io
import lzma
import math
import tarfile
import zlib
from itertools import product

import numpy as np
from sklearn.datasets import load_svmlight_file

from .._typing import Array

__all__ = ["read_columns", "read_ida", "read_idx", "read_libsvm", "read_table"]

#: Rows, their labels, test rows, their labels.
Split = tuple[Array, Array, Array, Array]


def read_libsvm(content: bytes, n_features: int) -> tuple[Array, Array]:
    """Rows and labels of a LIBSVM (svmlight) file, dense, with zeros up to `n_features`."""
    X, y = load_svmlight_file(io.BytesIO(content), n_features=n_features)
    return X.toarray(), y


def read_table(content: bytes, n_columns: int, *, missing: bytes | None = None) -> Array:
    """Numbers in lines, separated by commas or blanks.

    Parameters
    ----------
    content : bytes
    n_columns : int
        How many numbers each line has.
    missing : bytes, optional
        What stands for an unknown number; it becomes NaN.

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
            f"{n_lines} lines of {n_columns} numbers were expected; there are {len(words)} numbers."
        )
    return np.array(words, dtype=np.float64).reshape(n_lines, n_columns)


def read_columns(content: bytes, delimiter: str = ";") -> dict[str, np.ndarray]:
    """Columns of a CSV file by the names in its first line, as text."""
    lines = csv.reader(io.StringIO(content.decode()), delimiter=delimiter)
    header = next(lines, [])
    rows = list(lines)
    if not rows or any(len(row) != len(header) for row in rows):
        raise ValueError(f"Every line must have the {len(header)} fields of the first one.")
    return {
        name: np.array(column) for name, column in zip(header, zip(*rows, strict=True), strict=True)
    }


def read_idx(content: bytes) -> np.ndarray:
    """An array of unsigned bytes in the idx format, in which MNIST is published."""
    if content[:3] != b"\x00\x00\x08" or len(content) < 4:
        raise ValueError("An idx file of unsigned bytes begins with the bytes 0, 0, 8.")
    head = 4 + 4 * content[3]
    shape = tuple(int.from_bytes(content[i : i + 4], "big") for i in range(4, head, 4))
    if len(content) != head + math.prod(shape):
        raise ValueError(
            f"The file announces the shape {shape}, and has {len(content) - head} values."
        )
    values = np.frombuffer(content, dtype=np.uint8, offset=head)
    return values.reshape(shape)


def read_ida(content: bytes, name: str, n_splits: int) -> list[Split]:
    """The first `n_splits` splits of a set of the IDA benchmark.

    Two forms are read.  A tar archive (compressed or not) with the original files
    ``NAME/NAME_{train,test}_{data,labels}_I.asc``, and ``benchmarks.mat``, in which the same sets
    are kept today: one structure a set, with the rows ``x``, the labels ``t`` and the row
    numbers ``train`` and ``test``, from 1, one line a split.
    """
    return (_ida_matlab if content.startswith(b"MATLAB") else _ida_archive)(content, name, n_splits)


def _ida_archive(content: bytes, name: str, n_splits: int) -> list[Split]:
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            # In one pass: jumping back in a compressed archive would unpack it again and again.
            texts = {
                entry.name: member.read()
                for entry in archive
                if (member := archive.extractfile(entry))
            }
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        raise ValueError(f"It is not a whole tar archive: {error}.") from error
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
    # Only the form of three small sets needs this part of scipy.
    from scipy.io import loadmat

    try:
        variables = loadmat(io.BytesIO(content), variable_names=[name], simplify_cells=True)
    except Exception as error:  # scipy raises many kinds for a damaged file
        raise ValueError(f"It is not a whole MATLAB file: {error}.") from error
    if name not in variables:
        raise ValueError(f"The file must contain the structure {name!r}.")
    kept = variables[name]
    X, y = np.asarray(kept["x"], dtype=np.float64), np.ravel(kept["t"]).astype(np.float64)
    train, test = (np.atleast_2d(kept[part]).astype(np.intp) - 1 for part in ("train", "test"))
    if min(len(train), len(test)) < n_splits:
        raise ValueError(f"{n_splits} splits were expected; there are {len(train)}.")
    return [(X[a], y[a], X[b], y[b]) for a, b in zip(train[:n_splits], test, strict=False)]
