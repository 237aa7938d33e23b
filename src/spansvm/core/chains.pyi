import numpy as np

from ..common.types import Array, Rows
from .results import Results
from .verdicts import Ballots

class Chains:
    """Machines on parts of one Gram matrix, each standing at its latest solution."""

    signed: Array
    gradient: Array
    low: Array
    high: Array
    squared: Array
    drift: Array
    edges: Array
    def __init__(
        self,
        K: np.ndarray,
        diagonal: Array,
        places: Rows,
        labels: Array,
        first: Rows,
        starts: Rows,
        flat: Array,
        limits: Rows,
    ) -> None: ...
    def set_targets(self) -> None: ...
    def train(
        self,
        machines: Rows,
        weights: Array,
        wanted: tuple[float, bool, bool, bool, bool],
        results: Results,
        begin: int = 0,
    ) -> None: ...
    def remove(
        self, entries: Rows, weights: Array, results: Results, step: int
    ) -> tuple[Array, Array, float]: ...
    def verify(self, ballots: Ballots, weights: Array, results: Results, steps: Rows) -> Rows: ...
    def take(
        self,
        m: int,
        signed: Array,
        gradient: Array,
        measures: tuple[float, float],
        converged: bool,
    ) -> None: ...
