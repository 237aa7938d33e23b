import numpy as np

from ..common.types import Array, Rows

class Votes:
    """The machines of all pairs of classes, which vote on the class of a row."""

    def __init__(
        self,
        columns: np.ndarray,
        pair_of: np.ndarray,
        starts: Rows,
        places: Rows,
        signed: Array,
        intercepts: Array,
    ) -> None: ...
    def count(self, K: np.ndarray, rows: Rows, classes: np.ndarray, own: Array) -> Rows: ...
