from collections.abc import Callable

from ..common.types import Array, Mask, Rows
from .following import Trained

def leave_out(
    solution: Trained,
    first: Rows,
    squared: Array,
    diagonal: Array,
    row_of: Callable[[int], Array],
) -> tuple[Array, Array]: ...
def span_exists(solution: Trained) -> Mask: ...
def entering(solution: Trained, sign: float, apart: int = -1) -> int: ...
