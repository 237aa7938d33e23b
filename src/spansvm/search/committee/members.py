"""Trained members of a committee: those with the same kernel share its values.

Predicting costs one transformation of the rows for each setting of the transformers, and one kernel
matrix for each of these and each kernel: the coefficients of all members that share it are the
columns of one matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from ...common.types import Array
from ...kernels.expansion import Expansion
from ...kernels.functions import Kernel
from ..candidates.composite import transform
from ..candidates.fit_arguments import take_rows

__all__ = ["Members", "SharedExpansion", "shared_expansion"]


@dataclass(eq=False)
class SharedExpansion(Expansion):
    """Functions of several members, on the support vectors of all of them."""

    kernel: Kernel
    support: np.ndarray
    vectors: Any
    coefficients: Array
    intercepts: Array


def shared_expansion(X: Any, members: Sequence[Expansion]) -> SharedExpansion:
    """The functions of members that were trained on rows `X` with the same kernel."""
    kernel = members[0].kernel
    support = np.unique(np.concatenate([own.support for own in members]))
    width = [own.intercepts.size for own in members]
    coefficients, end = np.zeros((support.size, sum(width))), 0
    for own, size in zip(members, width, strict=True):
        places = np.searchsorted(support, own.support)
        coefficients[places, end : end + size] = own.coefficients
        end += size
    vectors = np.empty((0, 0)) if kernel.precomputed else take_rows(X, support)
    intercepts = np.concatenate([own.intercepts for own in members])
    return SharedExpansion(kernel, support, vectors, coefficients, intercepts)


@dataclass(eq=False)
class Members:
    """What the members of a committee predict by.

    Attributes
    ----------
    transformers : list of dict
        Fitted transformers by path, once for every setting.
    kernels : list of (int, SharedExpansion)
        Number of the setting of the transformers, and the functions of the members.
    places : list of (int, int)
        For every member, in the order of the committee, its kernel and the place of its functions.
    """

    transformers: list[Mapping[str, Any]]
    kernels: list[tuple[int, SharedExpansion]]
    places: list[tuple[int, int]]

    @property
    def n_kernels(self) -> int:
        """The number of kernel matrices that predicting takes."""
        return len(self.kernels)

    def values(self, X: Any) -> list[Array]:
        """Values of the functions of every member, in the order of the committee."""
        rows = [transform(own, X) for own in self.transformers]
        rows = [
            check_array(own, accept_sparse="csr", dtype=np.float64, order="C", input_name="X")
            for own in rows
        ]
        found = [own.decide(rows[number]) for number, own in self.kernels]
        n_members = np.bincount([kernel for kernel, _ in self.places])
        parts = [
            np.split(values, count, axis=1) for values, count in zip(found, n_members, strict=True)
        ]
        return [parts[kernel][place] for kernel, place in self.places]
