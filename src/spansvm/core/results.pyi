from ..common.types import Array, Mask, Rows

class Results:
    """What was found for each of several vectors of weights."""

    alpha: Array
    decision: Array
    span: Array
    left_out: Array
    drop: Array
    verified: Array
    shift: Array
    side: Array
    outside: Array
    moved: Array
    followed: Mask
    doubtful: Mask
    intercept: Array
    gap: Array
    error: Array
    epsilon: Array
    iterations: Rows
    n_in_bound: Rows
    n_bounded: Rows
    n_empty: Rows
    n_free: Rows
    done: Mask
    with_values: bool
    def __init__(
        self,
        steps: int,
        total: int,
        count: int,
        with_sides: bool = False,
        with_values: bool = False,
    ) -> None: ...
