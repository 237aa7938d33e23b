from typing import Protocol

import numpy as np

from ..common.types import Array, Rows

class Vertex(Protocol):
    """A solution with independent free vectors; see :mod:`spansvm.machine.following`."""

    @property
    def x(self) -> Array: ...
    @property
    def lo(self) -> Array: ...
    @property
    def hi(self) -> Array: ...
    @property
    def residual(self) -> Array: ...
    @property
    def free(self) -> Rows: ...

class Bordered(Protocol):
    """The inverse for its free vectors; see :mod:`spansvm.algebra.systems`."""

    @property
    def projected(self) -> Array: ...
    @property
    def weights(self) -> Array: ...

class Paths:
    """Removals from one solution; what they share is computed once."""

    def __init__(self, K: np.ndarray, vertex: Vertex, system: Bordered) -> None: ...
    def follow_rows(
        self, points: Rows, rest: Array, sums: Array, number: float
    ) -> tuple[Array, Array, float]: ...
    def follow_group(
        self, points: Rows, lo: Array, hi: Array
    ) -> tuple[Rows, Array, float] | None: ...
