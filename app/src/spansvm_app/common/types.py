"""The types of arrays that the application passes around."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "Mask", "Rows"]

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]
