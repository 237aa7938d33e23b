from typing import Protocol

import numpy as np

from ..common.types import Array, Mask, Rows

class Trained(Protocol):
    """A trained machine; see :class:`spansvm.machine.dual.DualSolution`."""

    @property
    def y(self) -> Array: ...
    @property
    def C(self) -> Array: ...
    @property
    def alpha(self) -> Array: ...
    @property
    def decision(self) -> Array: ...

def follow_rows_of(
    K: np.ndarray, solution: Trained, first: Rows, sums: Array, rows: Rows
) -> tuple[Array, Array, Mask, float] | None: ...
