"""LIBSVM (SVMlight) files: each line holds a label and the nonzero features."""

from __future__ import annotations

import codecs
import io
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from spansvm.errors import UserError

__all__ = ["LibsvmRows", "read_libsvm"]

#: Labels are read as floats, which cannot distinguish larger integers.
_LARGEST_LABEL = 2**53


@dataclass(frozen=True, eq=False)
class LibsvmRows:
    """What a LIBSVM file holds.

    Attributes
    ----------
    X : scipy.sparse.csr_matrix
        A feature's column is its number minus `base`.
    y : ndarray of float
        Labels, or targets of a regression.
    base : int
        0 if the file numbers its features from 0, else 1.
    """

    X: Any
    y: np.ndarray
    base: int

    def labels(self, name: str) -> np.ndarray:
        """The labels as integers; UserError, with the name of the file, if they are not."""
        parts = self.y != np.round(self.y)
        if parts.any():
            row = int(np.argmax(parts))
            raise UserError(
                f"{name} has the label '{self.y[row]:g}' in row {row + 1}; classes must be "
                "integers."
            )
        if (np.abs(self.y) >= _LARGEST_LABEL).any():
            raise UserError(
                f"{name} has labels of 2^53 or more, which cannot be told apart; use smaller "
                "numbers."
            )
        return self.y.astype(np.int64)


def read_libsvm(name: str, content: bytes, base: int | None = None) -> LibsvmRows:
    """The rows of a LIBSVM file.

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    content : bytes
    base : int, optional
        The number of the first feature; if not given, 0 if a feature 0 occurs, else 1.
    """
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        X, labels = load_svmlight_file(io.BytesIO(content), dtype=np.float64, zero_based=True)
    except (ValueError, OverflowError) as error:
        # The parser does not say where; searching is slow, but happens only once.
        _find_fault(name, content)
        raise UserError(f"{name} cannot be read as a LIBSVM file ({error}); correct it.") from error
    if X.shape[0] == 0:
        raise UserError(f"{name} has no rows; give a file with rows.")
    if not np.isfinite(X.data).all() or not np.isfinite(labels).all():
        _find_fault(name, content)
    first = int(X.indices.min()) if X.nnz else 1
    if base is None:
        base = 0 if first == 0 else 1
    if base == 1:
        if first == 0:
            raise UserError(
                f"{name} has a feature 0, but the model's features start at 1; renumber them."
            )
        X = X[:, 1:]
    return LibsvmRows(X, labels, base)


def _find_fault(name: str, content: bytes) -> None:
    """UserError for the first malformed line."""
    for number, line in enumerate(content.decode(errors="replace").splitlines(), 1):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        if _number(fields[0]) is None:
            raise UserError(
                f"{name} has the label '{fields[0]}' in line {number}; it must be a number."
            )
        before = -1
        for field in fields[1:]:
            if field.startswith("qid:"):
                continue
            index, colon, text = field.partition(":")
            if not colon or not index.isdecimal():
                raise UserError(
                    f"{name} has '{field}' in line {number}, where index:value is expected; "
                    "correct it, or pass --format if this is not a LIBSVM file."
                )
            if _number(text) is None:
                raise UserError(
                    f"{name} has the value '{text}' for feature {index} in line {number}; values "
                    "must be finite numbers."
                )
            if int(index) <= before:
                raise UserError(
                    f"{name} has feature {index} after {before} in line {number}; sort the "
                    "features in each line by number."
                )
            before = int(index)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
