import numpy as np

from ..common.types import Array, Rows

class Ballots:
    """The rows of all pairs of classes, one pair after the other."""

    def __init__(
        self,
        columns: np.ndarray,
        pair_of: np.ndarray,
        by_row: np.ndarray,
        row: Rows,
        classes: np.ndarray,
        places: Rows,
        labels: Array,
    ) -> None: ...
