import numpy as np

from ..common.types import Array, Rows
from .following import Trained

def drops_of_bounded(
    kernel: Array, beta: Array, P: Array, weights: Array, x: Array, lo: Array, hi: Array
) -> tuple[Array, Array]: ...
def drops_of_in_bound(P: Array, x: Array, lo: Array, hi: Array) -> tuple[Array, Array]: ...
def drops_of_rows(K: np.ndarray, solution: Trained, first: Rows, merged: Array) -> Array: ...
