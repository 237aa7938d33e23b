"""The training sets of the benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.preprocessing import minmax_scale

from reproduction import datasets


@dataclass(frozen=True)
class Problem:
    """A training set as in the paper: features in [0, 1], RBF kernel with gamma = 1 / d."""

    name: str
    X: np.ndarray
    y: np.ndarray

    @property
    def gamma(self) -> float:
        """The heuristic of the paper."""
        return 1.0 / self.X.shape[1]


def ringnorm(n: int, d: int, seed: int = 0, *, named: bool = False) -> Problem:
    """The synthetic data of Experiment 6."""
    X, y = datasets.ringnorm(n, d, seed=seed)
    name = f"ringnorm {n} x {d}" if named else f"ringnorm {n}"
    return Problem(name, minmax_scale(X), y)


def core_problems() -> Iterator[Problem]:
    """Ringnorm in two sizes, and splice and adult if they are on this computer."""
    yield ringnorm(1024, 20)
    yield ringnorm(4096, 20)
    for name in ("splice", "adult"):
        try:
            data = datasets.load(name)
        except datasets.DataSetError as error:
            print(f"{name} is left out: {error}")
            continue
        # Up to the last feature that any training row has: for adult, 119 of 123.
        d = np.flatnonzero(data.X_train.any(axis=0))[-1] + 1
        yield Problem(name, minmax_scale(data.X_train[:, :d]), data.y_train)
