"""What the plots share: colours, axes to draw on, labels."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLOURS", "axes_and_figure", "is_number", "short"]

#: Okabe and Ito's colours without yellow and black.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def axes_and_figure(ax: Axes | None, size: tuple[float, float]) -> tuple[Any, Any]:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('Plots need matplotlib: pip install "spansvm[plots]"') from error
    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    return ax, ax.figure


def is_number(value: Any) -> bool:
    return (
        isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))
    )


def short(value: Any) -> str:
    """A value as a label: numbers to three digits, long text without its middle."""
    if is_number(value):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:g}"
    if isinstance(value, Mapping):
        value = ", ".join(f"{short(key)}:{short(item)}" for key, item in value.items())
    text = " ".join(str(value).split())
    return text if len(text) <= 24 else f"{text[:11]}…{text[-12:]}"
