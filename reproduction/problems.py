"""What the experiments train: data sets, grids of candidates, and variants of both.

The kernel is the paper's: RBF with gamma = 1/d on features scaled to [0, 1].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from spansvm.common.types import Array
from spansvm.estimators.weighting import (
    PAPER_CLASS_WEIGHTS,
    PAPER_SIGMOIDS,
    ClassWeighting,
    SigmoidWeighting,
    Weighting,
)
from spansvm.kernels.functions import Kernel, resolve_kernel

from .datasets import DataSet, describe, load, ringnorm

__all__ = [
    "GRIDS",
    "VARIATIONS",
    "WITH_SCORES",
    "Key",
    "Problem",
    "candidate_name",
    "n_training_rows",
    "problem",
]

#: The data sets of Experiment 2; all others belong to Experiment 1.
WITH_SCORES = ("parkinson_speech", "bank_marketing")

Candidate = Mapping[str, float]


@dataclass(frozen=True, order=True)
class Key:
    """Identifies a problem.

    Attributes
    ----------
    data_set : str
    split : int
    variant : str
        What differs from the paper; empty if nothing does.
    """

    data_set: str
    split: int = 0
    variant: str = ""


def _combined(axes: Mapping[str, Sequence[float]]) -> list[dict[str, float]]:
    return [dict(zip(axes, point, strict=True)) for point in product(*axes.values())]


_CLASS_WEIGHTS = {"negative": PAPER_CLASS_WEIGHTS, "positive": PAPER_CLASS_WEIGHTS}
_QUICK_STEPS = {"negative": 4, "positive": 4, "steepness": 3, "midpoint": 3, "ceiling": 4}

#: For each grid, the candidates with class weights and those with weights from scores.
GRIDS = {
    "paper": (_combined(_CLASS_WEIGHTS), _combined(PAPER_SIGMOIDS)),
    "quick": tuple(
        _combined({name: values[:: _QUICK_STEPS[name]] for name, values in axes.items()})
        for axes in (_CLASS_WEIGHTS, PAPER_SIGMOIDS)
    ),
}


def candidate_name(candidate: Candidate) -> str:
    """A candidate as a short text, the same in every run."""
    return " ".join(f"{name}={value!r}" for name, value in candidate.items())


def _as_in_the_paper(name: str, split: int) -> DataSet:
    # A plain sample of bank marketing cannot reproduce the paper's figures; see differences.py.
    return load(name, split, balanced=name == "bank_marketing").scaled()


def _plain_sample(name: str, split: int) -> DataSet:
    return load(name, split).scaled()


def _scaled_by_feature(name: str, split: int) -> DataSet:
    data = load(name, split)
    return replace(data, description=replace(data.description, feature_range=None)).scaled()


def _scaled_by_all_rows(name: str, split: int) -> DataSet:
    data = load(name, split)
    everything = np.concatenate((data.X_train, data.X_test))
    scaled = replace(data, X_train=everything).scaled().X_train
    n = data.y_train.size
    return replace(data, X_train=scaled[:n], X_test=scaled[n:])


def _test_rows_scaled_apart(name: str, split: int) -> DataSet:
    data = load(name, split)
    apart = replace(data, X_train=data.X_test).scaled().X_train
    return replace(data.scaled(), X_test=apart)


#: Variants of the data. Those named "tolerance ..." are not listed: the value is in the name.
_VARIANTS = {
    "": _as_in_the_paper,
    "plain sample": _plain_sample,
    "scaled by feature": _scaled_by_feature,
    "scaled by all rows": _scaled_by_all_rows,
    "test rows scaled apart": _test_rows_scaled_apart,
}

#: The variants that are run for each data set.
VARIATIONS = {
    "bank_marketing": ("plain sample",),
    "parkinson_speech": ("scaled by all rows", "test rows scaled apart"),
    "mnist_2_9": ("scaled by feature", "tolerance 1e-05"),
    **dict.fromkeys(
        ("splice", "adult", "mnist_1_7", "mnist_3_6", "mnist_0_8"), ("tolerance 1e-05",)
    ),
}


#: Test rows of the ringnorm data.
_RINGNORM_TEST = 1000


def _ringnorm(n: int, d: int, split: int) -> DataSet:
    """The data of Experiment 6."""
    X, y = ringnorm(n + _RINGNORM_TEST, d, seed=split)
    description = replace(
        describe("waveform"), name=f"ringnorm:{n}:{d}", title="ringnorm", n_train=n, n_features=d
    )
    names = tuple(f"x{i}" for i in range(d))
    none = (None, None, None, None)
    return DataSet(X[:n], y[:n], X[n:], y[n:], *none, names, description, split).scaled()


@dataclass(frozen=True, eq=False)
class Problem:
    """A split of a data set, with the candidates to train on it.

    Attributes
    ----------
    key : Key
    data : DataSet
        With scaled features.
    candidates : sequence of dict
        Parameters of the weighting.
    tol : float
        Tolerance of the KKT conditions; LibSVM's default.
    """

    key: Key
    data: DataSet
    candidates: Sequence[Candidate]
    tol: float = 1e-3

    @property
    def weighting(self) -> Weighting:
        """The family of weightings that the candidates belong to."""
        return SigmoidWeighting() if "ceiling" in self.candidates[0] else ClassWeighting()

    def weights(self, candidate: Candidate) -> Array:
        """``C_i`` of the training rows."""
        weighting = self.weighting.set_params(**candidate)
        return weighting.instance_weights(self.data.y_train, self.data.scores_train)

    @cached_property
    def kernel(self) -> Kernel:
        """RBF with gamma = 1/d."""
        return resolve_kernel("rbf", self.data.X_train, gamma="auto")


def n_training_rows(key: Key) -> int:
    """Number of training rows of a problem, without loading it."""
    name, *sizes = key.data_set.split(":")
    return int(sizes[0]) if sizes else describe(name).n_train


def problem(key: Key, grid: str) -> Problem:
    """The problem with this key, with the candidates of a grid."""
    name, *sizes = key.data_set.split(":")
    tight = key.variant.startswith("tolerance ")
    if sizes:
        data = _ringnorm(int(sizes[0]), int(sizes[1]), key.split)
    else:
        data = _VARIANTS["" if tight else key.variant](name, key.split)
    tol = float(key.variant.split()[-1]) if tight else 1e-3
    return Problem(key, data, GRIDS[grid][name in WITH_SCORES], tol)
