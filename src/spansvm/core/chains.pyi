import numpy as np

from ..common.types import Array, Mask, Rows
from .verdicts import Ballots

class Results:
    """What was found for each of several vectors of weights."""

    alpha: Array
    decision: Array
    span: Array
    left_out: Array
    drop: Array
    verified: Array
    shift: Array
    followed: Mask
    doubtful: Mask
    intercept: Array
    gap: Array
    error: Array
    iterations: Rows
    n_in_bound: Rows
    n_bounded: Rows
    n_empty: Rows
    n_free: Rows
    done: Mask
    def __init__(self, steps: int, total: int, count: int) -> None: ...

class Chains:
    """Machines on parts of one Gram matrix, each standing at its latest solution."""

    signed: Array
    gradient: Array
    low: Array
    high: Array
    squared: Array
    drift: Array
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
    def train(
        self,
        machines: Rows,
        weights: Array,
        wanted: tuple[float, bool, bool, bool],
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
